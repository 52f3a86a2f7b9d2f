// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/unknown_files.hpp"

#include "diffsim/core/error.hpp"

namespace diffsim::app {
namespace {

using Per = ParameterEntry::Per;

std::string unit_of(const std::string& parameter) {
  if (parameter == "youngs_modulus" || parameter == "traction") return "Pa";
  if (parameter == "density") return "kg/m^3";
  if (parameter == "gravity") return "m/s^2";
  if (parameter == "nodal_load") return "N";
  if (parameter == "initial_positions") return "m";
  if (parameter == "initial_velocities") return "m/s";
  return "1";
}

std::string units(const std::string& parameter, bool per_unit) {
  const std::string unit = unit_of(parameter);
  if (!per_unit) return unit;
  return unit == "1" ? "m^2" : "m^2/(" + unit + ")";
}

/// Rows of owned local entities to the file's order; entities that no rank has are zero.
std::vector<double> file_block(const FileOrder& order, const std::vector<double>& local, int components) {
  std::vector<double> block(static_cast<std::size_t>(order.block_size()) * static_cast<std::size_t>(components), 0.0);
  order.to_file(local, components, block);
  return block;
}

}  // namespace

void write_unknowns(Hdf5File& file, const std::string& group, const Scene& scene, const TetrahedralMesh& mesh,
                    const InverseProblem& problem, const std::function<std::vector<double>(std::size_t k)>& values,
                    bool per_unit) {
  for (std::size_t k = 0; k < scene.parameters.size(); ++k) {
    const ParameterEntry& entry = scene.parameters[k];
    const Unknown& unknown = problem.unknowns()[k];
    const std::string dataset = "/" + group + "/" + unknown.name(), unit = units(entry.name, per_unit);
    const std::vector<double> numbers = values(k);
    const std::int64_t width = problem.components(k), count = static_cast<std::int64_t>(numbers.size());
    const Shape components = width == 1 ? Shape{} : Shape{width};
    switch (entry.per) {
      case Per::global: file.write_array(dataset, numbers, components, unit); break;
      case Per::region:
        file.write_array(dataset, numbers, {count}, unit);
        file.write_strings(dataset + ".regions", unknown.group_names);
        break;
      case Per::step:
        file.write_array(dataset, numbers, width == 1 ? Shape{count} : Shape{count / width, width}, unit);
        break;
      case Per::cell: file.write_rows(dataset, file_block(mesh.cell_order(), numbers, 1), {}, unit); break;
      case Per::vertex:
        file.write_rows(dataset, file_block(mesh.vertex_order(), numbers, 3), components, unit);
        break;
      case Per::vertex_step: {
        file.create_series<double>(dataset, {mesh.num_global_vertices(), width}, unit);
        const auto row = static_cast<std::ptrdiff_t>(width) * mesh.num_owned_vertices();
        for (std::ptrdiff_t n = 0; n < scene.solver.steps; ++n)
          file.append(dataset, file_block(mesh.vertex_order(),
                                          {numbers.begin() + n * row, numbers.begin() + (n + 1) * row}, 3));
        break;
      }
    }
  }
}

std::vector<std::string> value_names(const InverseProblem& problem, std::size_t k) {
  const Unknown& unknown = problem.unknowns()[k];
  std::vector<std::string> names;
  for (std::size_t g = 0; g < unknown.group_names.size(); ++g) {
    std::string name = unknown.name();
    if (!unknown.group_names[g].empty()) name += "[" + unknown.group_names[g] + "]";
    else if (unknown.group_names.size() > 1) name += "[" + std::to_string(g) + "]";
    if (problem.components(k) == 1) names.push_back(name);
    else
      for (const char* axis : {".x", ".y", ".z"}) names.push_back(name + axis);
  }
  return names;
}

}  // namespace diffsim::app
