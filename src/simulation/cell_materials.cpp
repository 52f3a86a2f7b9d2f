// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "simulation/cell_materials.hpp"

#include <algorithm>
#include <utility>

#include "core/file_order.hpp"
#include "core/nearest_word.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "mesh/bodies.hpp"
#include "mesh/cell_model.hpp"

namespace diffsim {
namespace {

/// Returns the name of a cell for messages, for example "segment 3 of net".
std::string name_of_cell(const TetrahedralMesh& mesh, CellKind kind, std::size_t cell) {
  return std::string(singular_of(kind)) + " " +
         cell_name(mesh.bodies(), mesh.cell_order(kind).file_index()[cell], kind);
}

/// Returns the index of the material of each local cell, or -1 for cells without a material. Throws Error (input) for a
/// region without cells of the given kind, or for a cell in two regions. Collective.
std::vector<int> materials_of_cells(const TetrahedralMesh& mesh, CellKind kind,
                                    const std::vector<DifferentiableMaterial>& materials) {
  std::vector<int> of_cell(mesh.cell_entities(kind)->local(), -1);
  for (std::size_t m = 0; m < materials.size(); ++m) {
    const std::vector<int>& cells = mesh.region(materials[m].region).cells_of(kind);
    if (sum_over_ranks(static_cast<std::int64_t>(cells.size()), mesh.comm()) == 0)
      throw Error(
          "material region '" + materials[m].region + "' has no " + name_of(kind) + "; name a region with such cells",
          ErrorKind::input);
    collectively(mesh.comm(), [&] {
      for (const int cell : cells) {
        int& owner = of_cell[static_cast<std::size_t>(cell)];
        if (owner >= 0)
          throw Error(name_of_cell(mesh, kind, static_cast<std::size_t>(cell)) + " is in two material regions, '" +
                          materials[static_cast<std::size_t>(owner)].region + "' and '" + materials[m].region + "'",
                      ErrorKind::input);
        owner = static_cast<int>(m);
      }
    });
  }
  return of_cell;
}

/// Values of a parameter, [steps, entities].
struct Values {
  std::size_t count = 0;  ///< number of entities
  int steps = 1;
  std::vector<double> numbers;
};

/// Returns the entities in a region on which a parameter has values: owned vertices, or cells.
std::vector<int> entities_of(const TetrahedralMesh& mesh, const CellModel& model, const ParameterSpec& spec,
                             const std::string& region) {
  const Region& of = mesh.region(region);
  if (spec.home != ParameterHome::vertices) return of.cells_of(model.cells);
  std::vector<int> owned = of.vertices;
  std::erase_if(owned, [&](int vertex) { return vertex >= mesh.num_owned_vertices(); });
  return owned;
}

/// Returns the number of steps for which the materials give values of a parameter; 1 if no material gives values per
/// step. Collective.
int steps_of(const TetrahedralMesh& mesh, const std::vector<DifferentiableMaterial>& materials,
             const ParameterSpec& spec, std::size_t count) {
  int steps = 1;
  for (const DifferentiableMaterial& material : materials) {
    const auto given = material.values.find(std::string(spec.name));
    if (given == material.values.end()) continue;
    const auto* const list = std::get_if<std::vector<double>>(&given->second);
    if (list && count > 0) steps = std::max(steps, static_cast<int>(list->size() / count));
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &steps, 1, MPI_INT, MPI_MAX, mesh.comm()));
  return steps;
}

/// Returns the value for an entity in a step. `values`: one value, a list [count], or a list [steps, count].
double value_of(const CellValues& values, std::size_t entity, std::size_t step, std::size_t count) {
  if (const double* const number = std::get_if<double>(&values)) return *number;
  const std::vector<double>& list = std::get<std::vector<double>>(values);
  return list.at(list.size() > count ? step * count + entity : entity);
}

/// Returns the values of a parameter that a material gives. If the material gives no values, returns the default value.
/// If there is no default value, returns the values that follow from the mesh's rest shape. Throws Error (input) if the
/// rest shape does not determine the values.
CellValues values_for(const TetrahedralMesh& mesh, const CellModel& model, const DifferentiableMaterial& material,
                      const ParameterSpec& spec) {
  const auto given = material.values.find(std::string(spec.name));
  if (given != material.values.end()) return given->second;
  if (spec.default_value) return *spec.default_value;
  const auto at_rest = model.values_at_rest.find(std::string(spec.name));
  if (at_rest == model.values_at_rest.end())
    throw Error("a body of kind " + model.name + " needs " + std::string(spec.name), ErrorKind::input);
  return at_rest->second(mesh);
}

Values values_of(const TetrahedralMesh& mesh, const CellModel& model,
                 const std::vector<DifferentiableMaterial>& materials, const ParameterSpec& spec) {
  const bool of_vertices = spec.home == ParameterHome::vertices;
  Values result;
  result.count =
      of_vertices ? static_cast<std::size_t>(mesh.num_owned_vertices()) : mesh.cell_entities(model.cells)->local();
  result.steps = steps_of(mesh, materials, spec, result.count);
  const auto steps = static_cast<std::size_t>(result.steps);
  result.numbers.assign(steps * result.count, 0.0);
  std::vector<char> is_set(result.count, 0);
  for (const DifferentiableMaterial& material : materials) {
    const CellValues values = values_for(mesh, model, material, spec);
    const std::vector<int> entities = entities_of(mesh, model, spec, material.region);
    collectively(mesh.comm(), [&] {
      for (const int entity : entities) {
        const auto e = static_cast<std::size_t>(entity);
        const auto name = [&] {
          return of_vertices ? "vertex " + vertex_name(mesh.bodies(), mesh.vertex_order().file_index()[e])
                             : name_of_cell(mesh, model.cells, e);
        };
        for (std::size_t n = 0; n < steps; ++n) {
          double& number = result.numbers[n * result.count + e];
          const double value = value_of(values, e, n, result.count);
          if (const std::string fault = range_error(spec, value); !fault.empty())
            throw Error(std::string(spec.name) + " of " + name() + ": " + fault, ErrorKind::input);
          if (is_set[e] && value != number)
            throw Error(std::string(spec.name) + " of " + name() + " has two values, " + std::to_string(number) +
                            " and " + std::to_string(value) + ", from overlapping regions",
                        ErrorKind::input);
          number = value;
        }
        is_set[e] = 1;
      }
    });
  }
  return result;
}

/// Returns the name of a material's law: the law that the material names, or the first law of the model if the material
/// names no law. Returns an empty string if the model has no laws. Throws Error (input) for an unknown law.
std::string law_of(const CellModel& model, const DifferentiableMaterial& material) {
  const std::vector<std::string>& laws = model.laws;
  if (material.law.empty()) return laws.empty() ? "" : laws.front();
  if (std::find(laws.begin(), laws.end(), material.law) != laws.end()) return material.law;
  std::string names;
  for (const std::string& law : laws) names += (names.empty() ? "" : ", ") + law;
  throw Error("a body of kind " + model.name + " has no law '" + material.law + "'" +
                  (laws.empty() ? "; omit the law" : "; name one of: " + names),
              ErrorKind::input);
}

/// Returns the cells on which the model's terms act. `material_of`: index of the material of each local cell, or -1.
ModelCells cells_of(const CellModel& model, const std::vector<DifferentiableMaterial>& materials,
                    const std::vector<int>& material_of) {
  ModelCells cells;
  std::vector<std::vector<int>*> of_law;  // [materials]: list of the cells of the material's law
  for (const DifferentiableMaterial& material : materials) of_law.push_back(&cells.of_law[law_of(model, material)]);
  for (std::size_t cell = 0; cell < material_of.size(); ++cell) {
    if (material_of[cell] < 0) continue;
    cells.all.push_back(static_cast<int>(cell));
    of_law[static_cast<std::size_t>(material_of[cell])]->push_back(static_cast<int>(cell));
  }
  cells.given = [&materials](std::string_view name) {
    return std::any_of(materials.begin(), materials.end(), [&](const DifferentiableMaterial& material) {
      return material.values.count(std::string(name)) > 0;
    });
  };
  return cells;
}

/// Returns the Error (input) for a parameter that the model does not have. The message suggests the parameter whose key
/// in scene files is `name`, or a parameter with a similar name.
Error unknown_parameter(const CellModel& model, const std::string& name) {
  std::vector<std::string> names;
  std::string close;
  for (const ParameterSpec& spec : model.parameters) {
    names.emplace_back(spec.name);
    if (model.key_of(names.back()) == name) close = names.back();
  }
  if (close.empty()) close = nearest(name, names);
  return Error("a body of kind " + model.name + " has no parameter '" + name + "'" +
                   (close.empty() ? "" : "; did you mean '" + close + "'?"),
               ErrorKind::input);
}

}  // namespace

void add_cell_materials(System& system, const CellModel& model, const std::vector<DifferentiableMaterial>& materials) {
  const TetrahedralMesh& mesh = system.mesh();
  const ModelCells cells = cells_of(model, materials, materials_of_cells(mesh, model.cells, materials));

  for (const DifferentiableMaterial& material : materials)
    for (const auto& [name, value] : material.values)
      if (!model.has_parameter(name)) throw unknown_parameter(model, name);
  for (const ParameterSpec& spec : model.parameters) {
    const Values values = values_of(mesh, model, materials, spec);
    const auto& on =
        spec.home == ParameterHome::vertices ? mesh.owned_vertex_entities() : mesh.cell_entities(model.cells);
    system.parameters().add(spec, on, values.steps).field.from_host(values.numbers);
  }
  if (model.check) collectively(mesh.comm(), [&] { model.check(mesh, cells.all, system.parameters()); });

  system.add_inertia(model.make_inertia(mesh));
  for (auto& term : model.make_terms(mesh, cells)) system.add_term(std::move(term));
}

}  // namespace diffsim
