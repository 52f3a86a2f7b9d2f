// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/unknown_files.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "inverse/parametrisation.hpp"
#include "io/fields.hpp"

namespace diffsim::app {
namespace {

using Per = ParameterEntry::Per;

/// Returns the unit of the derivative of a loss with respect to a value. `loss`, `unit`: units of the loss and of the
/// value.
std::string unit_of_derivative(const std::string& loss, const std::string& unit) {
  return unit == "1" ? loss : loss + "/(" + unit + ")";
}

/// Returns the unit of the values of unknown k of `problem`.
std::vector<std::string> units_of_values(const InverseProblem& problem, std::size_t k) {
  const Unknown& unknown = problem.unknowns()[k];
  if (unknown.entry_map) {
    std::vector<std::string> units = unknown.entry_map->units();
    for (std::string& unit : units) unit = in_ascii(unit);
    if (!units.empty()) return units;
  }
  const bool has_coefficients = unknown.map_numbers > 0 || unknown.distribution;
  return {has_coefficients ? "1" : unit_of(problem, unknown.parameter)};
}

}  // namespace

std::string in_ascii(std::string unit) {
  for (const auto& [power, text] : {std::pair("²", "^2"), std::pair("³", "^3"), std::pair("⁴", "^4")})
    for (std::size_t found; (found = unit.find(power)) != std::string::npos;)
      unit.replace(found, std::strlen(power), text);
  return unit;
}

std::string unit_of_loss(const std::string& unit) { return in_ascii(unit); }

std::string unit_of(const InverseProblem& problem, const std::string& parameter) {
  const Parameter* const found = problem.model().parameters().find(parameter);
  // The fields of the initial state are no parameters of the model.
  return in_ascii(std::string(found ? found->spec.unit : spec_of(parameter).unit));
}

std::string joined_units(const std::vector<std::string>& units) {
  if (std::adjacent_find(units.begin(), units.end(), std::not_equal_to<>()) == units.end()) return units.at(0);
  return join(units);
}

void write_unknowns(Hdf5File& file, const std::string& group, const Scene& scene, const TetrahedralMesh& mesh,
                    const InverseProblem& problem, const std::function<std::vector<double>(std::size_t k)>& values,
                    bool are_derivatives) {
  for (std::size_t k = 0; k < scene.parameters.size(); ++k) {
    const ParameterEntry& entry = scene.parameters[k];
    const Unknown& unknown = problem.unknowns()[k];
    std::vector<std::string> units = units_of_values(problem, k);
    if (are_derivatives)
      for (std::string& unit : units) unit = unit_of_derivative(unit_of_loss(problem.unit()), unit);
    const std::string dataset = "/" + group + "/" + unknown.name(), unit = joined_units(units);
    const std::vector<double> numbers = values(k);
    const std::int64_t width = problem.components(k), count = static_cast<std::int64_t>(numbers.size());
    const Shape components = width == 1 ? Shape{} : Shape{width};
    if (unknown.map_numbers > 0) {
      file.write_array(dataset, numbers, {count}, unit);
      continue;
    }
    switch (entry.per) {
      case Per::global:
        file.write_array(dataset, numbers, components, unit);
        break;
      case Per::region:
        file.write_array(dataset, numbers, {count}, unit);
        file.write_strings(dataset + ".regions", unknown.group_names);
        break;
      case Per::step:
        file.write_array(dataset, numbers, width == 1 ? Shape{count} : Shape{count / width, width}, unit);
        break;
      case Per::cell:
        write_cell_field(file, mesh, dataset, numbers, unit);
        break;
      case Per::vertex:
        write_vertex_field(file, mesh, dataset, numbers, static_cast<int>(width), unit);
        break;
      case Per::vertex_step:
        write_vertex_field(file, mesh, dataset, numbers, static_cast<int>(width), unit, scene.solver.steps);
        break;
      case Per::segment:
        write_cell_steps(file, mesh, dataset, numbers, CellKind::segment, unit);
        break;
      case Per::triangle:
        write_cell_steps(file, mesh, dataset, numbers, CellKind::triangle, unit);
        break;
      case Per::segment_step:
        write_cell_steps(file, mesh, dataset, numbers, CellKind::segment, unit, scene.solver.steps);
        break;
    }
  }
}

}  // namespace diffsim::app
