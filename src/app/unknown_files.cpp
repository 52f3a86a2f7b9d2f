// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/unknown_files.hpp"

#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "io/fields.hpp"

namespace diffsim::app {
namespace {

using Per = ParameterEntry::Per;

/// Unit of a parameter, or of the derivative of a loss with respect to the parameter. `of_loss`: unit of the loss; if
/// `of_loss` has no value, returns the unit of the parameter.
std::string unit_of_values(const std::string& parameter, const std::optional<std::string>& of_loss) {
  const std::string unit = in_ascii(unit_of(parameter));
  if (!of_loss) return unit;
  const std::string loss = unit_of_loss(*of_loss);
  return unit == "1" ? loss : loss + "/(" + unit + ")";
}

}  // namespace

std::string in_ascii(std::string unit) {
  for (const auto& [power, text] : {std::pair("²", "^2"), std::pair("³", "^3"), std::pair("⁴", "^4")})
    for (std::size_t found; (found = unit.find(power)) != std::string::npos;)
      unit.replace(found, std::strlen(power), text);
  return unit;
}

std::string unit_of_loss(const std::string& unit) { return in_ascii(unit); }

void write_unknowns(Hdf5File& file, const std::string& group, const Scene& scene, const TetrahedralMesh& mesh,
                    const InverseProblem& problem, const std::function<std::vector<double>(std::size_t k)>& values,
                    bool are_derivatives) {
  const std::optional<std::string> loss = are_derivatives ? std::optional(problem.unit()) : std::nullopt;
  for (std::size_t k = 0; k < scene.parameters.size(); ++k) {
    const ParameterEntry& entry = scene.parameters[k];
    const Unknown& unknown = problem.unknowns()[k];
    const std::string dataset = "/" + group + "/" + unknown.name(),
                      unit = entry.distribution ? loss ? unit_of_loss(*loss) : "1" : unit_of_values(entry.name, loss);
    const std::vector<double> numbers = values(k);
    const std::int64_t width = problem.components(k), count = static_cast<std::int64_t>(numbers.size());
    const Shape components = width == 1 ? Shape{} : Shape{width};
    if (unknown.map_numbers > 0) {
      file.write_array(dataset, numbers, {count}, loss ? unit_of_loss(*loss) : "1");
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
