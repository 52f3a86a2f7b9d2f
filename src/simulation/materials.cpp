// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Materials of a DifferentiableScene: laws of elasticity for tetrahedra, and models of other cells.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/elastic/impl/common_parameters.hpp"
#include "diffsim/elastic/impl/elastic_term.hpp"
#include "diffsim/simulation/scene.hpp"
#include "dynamics/lumped_mass.hpp"
#include "dynamics/parameters.hpp"
#include "elastic/viscous_term.hpp"
#include "load/nodal_damping.hpp"
#include "load/parameters.hpp"
#include "mesh/bodies.hpp"
#include "mesh/cell_model.hpp"
#include "simulation/cell_materials.hpp"
#include "simulation/parameter_specs.hpp"

namespace diffsim {
namespace {

double value_at(const CellValues& values, std::size_t cell) {
  if (const double* number = std::get_if<double>(&values)) return *number;
  return std::get<std::vector<double>>(values).at(cell);
}

/// Returns the indices, in the mesh's list of bodies, of the bodies without a cell in any material's region. The rotors
/// of joints are not included. Collective.
std::vector<std::size_t> bodies_without(const TetrahedralMesh& mesh,
                                        const std::vector<DifferentiableMaterial>& materials) {
  std::vector<int> has(mesh.bodies().size(), 0);
  for (const DifferentiableMaterial& material : materials) {
    const CellModel* const model = find_cell_model(material.model);
    const CellKind kind = model ? model->cells : CellKind::tetrahedron;
    const auto& numbers = mesh.cell_order(kind).file_index();
    for (const int cell : mesh.region(material.region).cells_of(kind))
      if (!has.empty())
        has[static_cast<std::size_t>(body_of_cell(mesh.bodies(), numbers[static_cast<std::size_t>(cell)], kind))] = 1;
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, has.data(), static_cast<int>(has.size()), MPI_INT, MPI_MAX, mesh.comm()));
  std::vector<std::size_t> without;
  for (std::size_t body = 0; body < has.size(); ++body)
    if (!has[body] && !is_rotor(mesh.bodies()[body])) without.push_back(body);
  return without;
}

std::string name_of_cell(const TetrahedralMesh& mesh, std::size_t cell) {
  return "cell " + cell_name(mesh.bodies(), mesh.cell_order().file_index()[cell]);
}

/// Throws Error (input) if a tetrahedron does not have exactly one material. Collective.
void require_one_material(const TetrahedralMesh& mesh, const std::vector<DifferentiableMaterial>& materials) {
  const auto num_cells = static_cast<std::size_t>(mesh.num_cells());
  std::vector<int> material_of(num_cells, -1);
  for (std::size_t m = 0; m < materials.size(); ++m) {
    const Region& region = mesh.region(materials[m].region);
    if (region.num_cells == 0)
      throw Error("material region '" + materials[m].region + "' has no cells; name a volume group or `all`",
                  ErrorKind::input);
    collectively(mesh.comm(), [&] {
      for (const int cell : region.cells) {
        int& owner = material_of[static_cast<std::size_t>(cell)];
        if (owner >= 0)
          throw Error(name_of_cell(mesh, static_cast<std::size_t>(cell)) + " is in two material regions, '" +
                          materials[static_cast<std::size_t>(owner)].region + "' and '" + materials[m].region + "'",
                      ErrorKind::input);
        owner = static_cast<int>(m);
      }
    });
  }
  collectively(mesh.comm(), [&] {
    for (std::size_t cell = 0; cell < num_cells; ++cell)
      if (material_of[cell] < 0)
        throw Error(name_of_cell(mesh, cell) + " has no material; the materials' regions must cover the mesh",
                    ErrorKind::input);
  });
}

bool is_rigid(const DifferentiableMaterial& material) { return material.model == rigid_model; }

/// Returns the parameters that an elastic or rigid material has. Throws Error (input) if the material has a value of
/// any other parameter.
std::vector<ParameterSpec> specs_of(const DifferentiableMaterial& material) {
  std::vector<ParameterSpec> specs;
  if (!is_rigid(material)) specs = elastic_law(material.model).parameters;
  specs.push_back(DynamicsParameters::density);
  for (const auto& [name, group] : damping_parameters())
    if (material.values.count(name) > 0 && !is_rigid(material)) specs.push_back(*find_parameter_spec(name));
  for (const auto& [name, value] : material.values)
    if (std::none_of(specs.begin(), specs.end(), [&](const ParameterSpec& spec) { return spec.name == name; }))
      throw Error("material " + material.model + " has no parameter '" + name + "'", ErrorKind::input);
  return specs;
}

/// Sets the values of an elastic material's parameters in `fields`, which has a vector [cells] for each parameter.
/// Throws Error (input) for missing and for invalid values. Collective.
void set_values(const TetrahedralMesh& mesh, const DifferentiableMaterial& material,
                const std::vector<ParameterSpec>& specs, std::map<std::string, std::vector<double>>& fields) {
  const auto num_cells = static_cast<std::size_t>(mesh.num_cells());
  for (const ParameterSpec& spec : specs) {
    const std::string name(spec.name);
    const auto given = material.values.find(name);
    if (given == material.values.end() && !spec.default_value)
      throw Error("material " + material.model + " needs " + name, ErrorKind::input);
    const CellValues values = given == material.values.end() ? CellValues(*spec.default_value) : given->second;
    std::vector<double>& field = fields.try_emplace(name, num_cells, 0.0).first->second;
    collectively(mesh.comm(), [&] {
      for (const int cell : mesh.region(material.region).cells) {
        const auto c = static_cast<std::size_t>(cell);
        field[c] = value_at(values, c);
        if (const std::string fault = range_error(spec, field[c]); !fault.empty())
          throw Error(
              name + (std::holds_alternative<double>(values) ? ": " : " in " + name_of_cell(mesh, c) + ": ") + fault,
              ErrorKind::input);
      }
    });
  }
}

/// Throws Error (input) if the law of a material is not defined for the parameters of a cell in the material's region.
/// `fields`: values of each parameter, [cells]. Collective.
void require_law_defined(const TetrahedralMesh& mesh, const std::string& region, const ElasticLaw& law,
                         const std::map<std::string, std::vector<double>>& fields) {
  if (!law.parameters_error) return;
  std::vector<double> values(law.parameters.size());
  collectively(mesh.comm(), [&] {
    for (const int cell : mesh.region(region).cells) {
      const auto c = static_cast<std::size_t>(cell);
      for (std::size_t k = 0; k < values.size(); ++k) values[k] = fields.at(std::string(law.parameters[k].name))[c];
      if (const std::string fault = law.parameters_error(values); !fault.empty())
        throw Error("material " + law.name + " in " + name_of_cell(mesh, c) + ": " + fault, ErrorKind::input);
    }
  });
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& damping_parameters() {
  static const std::vector<std::pair<std::string, std::string>> parameters{
      {std::string(ElasticParameters::viscosity.name), "viscosity"},
      {std::string(ElasticParameters::bulk_viscosity.name), "viscosity"},
      {std::string(LoadParameters::rayleigh_damping.name), "nodal_damping"},
      {std::string(LoadParameters::drag.name), "nodal_damping"}};
  return parameters;
}

void DifferentiableScene::set_materials() {
  if (materials_.empty()) throw Error("the body has no material; give at least one material", ErrorKind::input);
  std::vector<DifferentiableMaterial> elastic;
  std::map<const CellModel*, std::vector<DifferentiableMaterial>> of_cells;
  for (const DifferentiableMaterial& material : materials_)
    if (const CellModel* const model = find_cell_model(material.model))
      of_cells[model].push_back(material);
    else
      elastic.push_back(material);
  if (!elastic.empty() || mesh_->num_global_cells() > 0) set_elastic_materials(elastic);
  obstacle_bodies_ = bodies_without(*mesh_, materials_);
  for (const CellModel* const model : cell_models())
    if (const auto found = of_cells.find(model); found != of_cells.end())
      add_cell_materials(system(), *model, found->second);
}

std::vector<std::unique_ptr<ForceTerm>> DifferentiableScene::elastic_terms(const Region& region) const {
  std::vector<std::unique_ptr<ForceTerm>> terms;
  for (const DifferentiableMaterial& material : materials_) {
    if (find_cell_model(material.model)) continue;
    const std::vector<int>& of_material = mesh_->region(material.region).cells;
    std::vector<int> cells;
    std::set_intersection(region.cells.begin(), region.cells.end(), of_material.begin(), of_material.end(),
                          std::back_inserter(cells));
    if (sum_over_ranks(static_cast<std::int64_t>(cells.size()), mesh_->comm()) == 0) continue;
    if (is_rigid(material)) throw Error("a rigid body has no stress", ErrorKind::input);
    if (material.nodal_dilatation)
      throw Error("the stress of a material with dilatation: nodal is not available", ErrorKind::input);
    terms.push_back(elastic_law(material.model).make_term(*mesh_, cells));
  }
  return terms;
}

std::vector<int> DifferentiableScene::cells_with_stress() const {
  std::vector<int> cells;
  for (const DifferentiableMaterial& material : materials_) {
    if (find_cell_model(material.model) || is_rigid(material) || material.nodal_dilatation) continue;
    const std::vector<int>& of_material = mesh_->region(material.region).cells;
    cells.insert(cells.end(), of_material.begin(), of_material.end());
  }
  std::sort(cells.begin(), cells.end());
  return cells;
}

void DifferentiableScene::set_elastic_materials(const std::vector<DifferentiableMaterial>& materials) {
  system().parameters().add(DynamicsParameters::density, mesh_->cell_entities());
  system().add_inertia(std::make_unique<LumpedMass>(*mesh_));
  const auto num_cells = static_cast<std::size_t>(mesh_->num_cells());
  require_one_material(*mesh_, materials);
  std::map<std::string, std::vector<double>> fields;
  for (const DifferentiableMaterial& material : materials) {
    if (!material.law.empty())
      throw Error("material " + material.model + " has no selectable laws; remove law '" + material.law + "'",
                  ErrorKind::input);
    set_values(*mesh_, material, specs_of(material), fields);
    if (is_rigid(material)) {
      system().add_rigid_bodies(mesh_->region(material.region).cells);
      continue;
    }
    const ElasticLaw& law = elastic_law(material.model);
    require_law_defined(*mesh_, material.region, law, fields);
    if (law.signal && !parameters().find(law.signal->name))
      parameters().add(*law.signal, Entities::one_for_all(mesh_->comm()));
    const auto& make_term = material.nodal_dilatation ? law.make_nodal_term : law.make_term;
    if (!make_term) throw Error("material " + material.model + " does not support dilatation: nodal", ErrorKind::input);
    system().add_term(make_term(*mesh_, mesh_->region(material.region).cells));
  }
  // If one material has a damping mechanism, the mechanism exists in all cells. In cells without given values, the
  // parameters have their default values, which mean no damping.
  std::set<std::string> mechanisms;
  for (const auto& [name, group] : damping_parameters())
    if (fields.count(name) > 0) mechanisms.insert(group);
  for (const auto& [name, group] : damping_parameters())
    if (mechanisms.count(group) > 0) fields.try_emplace(name, num_cells, *find_parameter_spec(name)->default_value);
  if (mechanisms.count("viscosity") > 0) system().add_term(make_viscous_term(*mesh_));
  if (mechanisms.count("nodal_damping") > 0) system().add_term(make_nodal_damping(*mesh_));
  for (auto& [name, values] : fields) {
    Parameter* parameter = parameters().find(name);
    if (!parameter) parameter = &parameters().add(*find_parameter_spec(name), mesh_->cell_entities());
    parameter->field.from_host(values);
    values = {};
  }
}

}  // namespace diffsim
