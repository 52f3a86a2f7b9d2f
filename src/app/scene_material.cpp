// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "app/scene_sections.hpp"
#include "diffsim/elastic/impl/elastic_term.hpp"
#include "mesh/cell_model.hpp"

namespace diffsim::app {
namespace {

MaterialEntry parse_material(const Value& value, Scene& scene, const std::string& body) {
  std::vector<std::string> models;
  std::vector<std::string> all_keys{"model", "region", "dilatation", "density"};
  for (const ElasticLaw& law : elastic_laws()) {
    models.push_back(law.name);
    std::vector<std::string> names = law.parameter_names();
    if (law.signal) names.emplace_back(law.signal->name);
    for (const std::string& name : names)
      if (std::find(all_keys.begin(), all_keys.end(), name) == all_keys.end()) all_keys.push_back(name);
  }
  for (const auto& [name, mechanism] : damping_parameters()) all_keys.push_back(name);
  MaterialEntry material;
  const Mapping any(value, all_keys);
  material.place = any.place();
  material.model = to_choice(any.need("model", "one of: " + join(models)), models);

  const ElasticLaw& law = elastic_law(material.model);
  std::vector<std::string> names = law.parameter_names();
  names.emplace_back("density");
  std::vector<std::string> keys{"model", "region", "dilatation"};
  keys.insert(keys.end(), names.begin(), names.end());
  for (const auto& [name, mechanism] : damping_parameters()) {
    keys.push_back(name);
    if (any.has(name)) names.push_back(name);
  }
  const std::string signal_name = law.signal_name();
  if (law.signal) keys.push_back(signal_name);
  const Mapping mapping(value, keys);
  if (const Value* signal = law.signal ? mapping.find(signal_name) : nullptr) {
    if (scene.signals.count(signal_name) > 0)
      signal->place.fail("is also given by another material; the signal acts on all materials, so give it once");
    scene.signals.emplace(signal_name, parse_numbers(*signal, scene));
  }
  material.body = body;
  if (!body.empty()) material.region = RegionName{body + "/all", material.place};
  if (const Value* region = mapping.find("region")) {
    material.region = parse_region_name(*region);
    if (!body.empty() && !material.region->name.starts_with(body + "/")) material.region->name.insert(0, body + "/");
  }
  if (const Value* dilatation = mapping.find("dilatation"))
    material.nodal_dilatation = to_choice(*dilatation, {"cell", "nodal"}) == "nodal";
  for (const std::string& name : names) {
    const Value& given = mapping.need(name, "a number, or {file:, dataset:} with one value per cell");
    Numbers numbers = parse_numbers(given, scene);
    expect_shape(numbers, {{}}, "one number, or {file:, dataset:} with one value per cell");
    if (const Array* array = numbers.array())
      if (const std::string fault = range_error(spec_of(name), array->values[0]); !fault.empty())
        given.place.fail(fault);
    material.values.emplace(name, std::move(numbers));
  }
  return material;
}

/// Description, for messages, of the forms in which a parameter of a model may be given.
std::string expected_of(const ParameterSpec& spec, CellKind cells) {
  const std::string one = spec.home == ParameterHome::vertices ? "vertex" : singular_of(cells);
  return "one number, or {file:, dataset:} with one value per " + one +
         (spec.by_step ? ", or as many values for each step" : "");
}

MaterialEntry parse_one_cell_material(const Value& value, const Scene& scene, const std::string& body,
                                      const Mapping& beside, const CellModel& model) {
  std::vector<std::string> keys{"region"};
  if (!model.laws.empty()) keys.emplace_back("model");
  for (const ParameterSpec& spec : model.parameters)
    if (const std::string name(spec.name); !model.is_beside_material(name)) keys.push_back(model.key_of(name));
  const Mapping mapping(value, keys);
  MaterialEntry material;
  if (const Value* law = mapping.find("model")) material.law = to_choice(*law, model.laws);
  material.place = mapping.place();
  material.model = model.name;
  material.cells = &model;
  material.body = body;
  material.region = RegionName{body + "/all", material.place};
  if (const Value* region = mapping.find("region")) {
    material.region = parse_region_name(*region);
    if (!material.region->name.starts_with(body + "/")) material.region->name.insert(0, body + "/");
  }
  for (const ParameterSpec& spec : model.parameters) {
    const std::string name(spec.name);
    const Mapping& place = model.is_beside_material(name) ? beside : mapping;
    const std::string key = model.key_of(name);
    const Value* given = place.find(key);
    if (!given && !spec.default_value && !model.has_value_at_rest(name))
      given = &place.need(key, expected_of(spec, model.cells));
    if (!given) continue;
    Numbers numbers = parse_numbers(*given, scene);
    expect_shape(numbers, {{}}, expected_of(spec, model.cells));
    if (const Array* array = numbers.array())
      if (const std::string fault = range_error(spec, array->values[0]); !fault.empty()) given->place.fail(fault);
    material.values.emplace(name, std::move(numbers));
  }
  return material;
}

void add_material(MaterialEntry material, Scene& scene) {
  for (const MaterialEntry& other : scene.materials)
    if (other.region_name() == material.region_name())
      material.place.fail("the region '" + material.region_name() + "' already has a material; give each region once");
  scene.materials.push_back(std::move(material));
}

}  // namespace

void parse_cell_material(const Value& value, Scene& scene, const std::string& body, const Mapping& beside,
                         const CellModel& model) {
  if (value.is_list() && value.items.empty()) value.place.fail("is an empty list; give at least one material");
  for (const Value* item : to_items(value))
    add_material(parse_one_cell_material(*item, scene, body, beside, model), scene);
}

void parse_materials(const Value& value, Scene& scene, const std::string& body) {
  scene.material_list = value.is_list();
  if (value.is_list() && value.items.empty()) value.place.fail("is an empty list; give at least one material");
  for (const Value* item : to_items(value)) add_material(parse_material(*item, scene, body), scene);
}

}  // namespace diffsim::app
