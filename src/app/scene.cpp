// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/scene.hpp"

#include <cmath>
#include <map>
#include <set>

#include "app/scene_sections.hpp"

namespace diffsim::app {

std::string beside_scene(const std::string& path, const Scene& scene) {
  const std::filesystem::path given(path);
  if (given.is_absolute()) return path;
  return (std::filesystem::path(scene.file).parent_path() / given).lexically_normal().string();
}

RegionName parse_region_name(const Value& value) { return {to_text(value), value.place}; }

RegionName parse_region_or_all(const Mapping& mapping) {
  if (const Value* region = mapping.find("region")) return parse_region_name(*region);
  return {"all", mapping.place_of("region")};
}

Numbers parse_numbers(const Value& value, const Scene& scene) {
  if (!value.is_mapping()) return {to_array(value), value.place};
  const Mapping mapping(value, {"file", "dataset"});
  const std::string path = to_text(mapping.need("file", "the path of an HDF5 file"));
  const std::string name = to_text(mapping.need("dataset", "the name of a dataset in it, such as /density"));
  return {Dataset{beside_scene(path, scene), name}, value.place};
}

void expect_shape(const Numbers& numbers, const std::vector<Shape>& shapes, const std::string& expected) {
  const Array* array = numbers.array();
  if (!array) return;
  for (const Shape& shape : shapes) {
    bool same = shape.size() == array->shape.size();
    for (std::size_t i = 0; same && i < shape.size(); ++i) same = shape[i] < 0 || shape[i] == array->shape[i];
    if (same) return;
  }
  numbers.place.fail("has the shape " + shape_text(array->shape) + "; give " + expected);
}

std::string unit_of(const std::string& parameter) {
  static const std::map<std::string, std::string> units{
      {"density", "kg/m³"},
      {"youngs_modulus", "Pa"},
      {"shear_modulus", "Pa"},
      {"bulk_modulus", "Pa"},
      {"c10", "Pa"},
      {"c01", "Pa"},
      {"mu_1", "Pa"},
      {"mu_2", "Pa"},
      {"mu_3", "Pa"},
      {"k1", "Pa"},
      {"active_tension", "Pa"},
      {"viscosity", "Pa s"},
      {"bulk_viscosity", "Pa s"},
      {"rayleigh_damping", "1/s"},
      {"drag", "N s/m⁴"},
      {"rest_positions", "m"},
      {"traction", "Pa"},
      {"angular_velocity", "rad/s"},
      {"velocity", "m/s"},
      {"nodal_load", "N"},
      {"gravity", "m/s²"},
      {"barrier_distance", "m"},
      {"barrier_stiffness", "Pa"},
      {"friction_velocity", "m/s"},
      {"initial_positions", "m"},
      {"initial_velocities", "m/s"},
  };
  if (parameter.starts_with("obstacle_position:")) return "m";
  if (parameter.starts_with("obstacle_velocity:")) return "m/s";
  if (parameter.starts_with("obstacle_angular_velocity:")) return "rad/s";
  const auto found = units.find(parameter);
  return found == units.end() ? std::string("1") : found->second;
}

bool is_of_boundary(const std::string& parameter) {
  return parameter == "traction" || parameter == "angular_velocity" || parameter == "velocity";
}

bool is_positive(const std::string& parameter) {
  for (const char* name : {"density", "youngs_modulus", "shear_modulus", "bulk_modulus", "k2", "barrier_distance",
                           "barrier_stiffness", "friction_velocity"})
    if (parameter == name) return true;
  return false;
}

std::string fault_of(const std::string& parameter, double value) {
  const std::string number = format_number(value);
  const std::string unit = unit_of(parameter);
  if (!std::isfinite(value)) return number + " is not finite; give a finite number";
  if (is_positive(parameter) && !(value > 0.0)) return number + " is not positive; give " + number_above_zero(unit);
  static const std::set<std::string> not_negative{"k1",   "active_tension",   "viscosity", "bulk_viscosity",
                                                  "drag", "rayleigh_damping", "friction"};
  if (not_negative.count(parameter) > 0 && value < 0.0) return number + " is negative; give " + number_from_zero(unit);
  if (parameter == "poisson_ratio" && !(value > -1.0 && value < 0.5))
    return number + " is outside (-1, 0.5); give a ratio inside";
  if (parameter == "damping" && !(value > 0.0 && value <= 1.0))
    return number + " is outside (0, 1]; give a factor inside, 1 for none";
  if (parameter == "kappa" && !(value >= 0.0 && value <= 1.0 / 3.0))
    return number + " is outside [0, 1/3]; give a number inside";
  if (parameter == "activation" && !(value >= 0.0 && value <= 1.0))
    return number + " is outside [0, 1]; give a number inside";
  if (parameter.starts_with("alpha_") && value == 0.0) return "0 is no exponent; give another number";
  return {};
}

std::string to_string(ParameterEntry::Per per) {
  switch (per) {
    case ParameterEntry::Per::global:
      return "global";
    case ParameterEntry::Per::region:
      return "region";
    case ParameterEntry::Per::cell:
      return "cell";
    case ParameterEntry::Per::step:
      return "step";
    case ParameterEntry::Per::vertex:
      return "vertex";
    case ParameterEntry::Per::vertex_step:
      return "vertex_step";
  }
  return {};
}

Scene parse_scene(const std::string& text, const std::string& file) {
  Scene scene;
  scene.file = file;
  const Value root = parse_yaml(text, file);
  const Mapping mapping(root, {"mesh", "regions", "material", "solver", "initial", "boundary", "contact", "objective",
                               "parameters", "checkpoint", "optimiser", "output", "petsc"});
  scene.mesh = parse_mesh(mapping.need("mesh", "{file: …} or {box: …}"), scene);
  if (const Value* value = mapping.find("regions")) scene.regions = parse_regions(*value);
  if (const Value* value = mapping.find("material")) parse_materials(*value, scene);
  scene.solver = parse_solver(mapping.find("solver"), scene);
  scene.solver.place = mapping.place_of("solver");
  if (const Value* value = mapping.find("initial")) scene.initial = parse_initial(*value, scene);
  if (const Value* value = mapping.find("boundary")) scene.boundary = parse_boundary(*value, scene);
  if (const Value* value = mapping.find("contact")) scene.contact = parse_contact(*value, scene);
  if (const Value* value = mapping.find("objective")) scene.objectives = parse_objectives(*value, scene);
  if (const Value* value = mapping.find("parameters")) scene.parameters = parse_parameters(*value, scene);
  if (const Value* value = mapping.find("checkpoint")) scene.checkpoint = parse_checkpoint(*value, scene.measure_error);
  scene.checkpoint_place = mapping.place_of("checkpoint");
  if (const Value* value = mapping.find("optimiser")) scene.optimiser = parse_optimiser(*value);
  if (const Value* value = mapping.find("output"))
    scene.output = parse_output(*value);
  else
    scene.output.place = mapping.place_of("output");
  if (const Value* value = mapping.find("petsc")) scene.petsc = parse_petsc(*value);
  return scene;
}

}  // namespace diffsim::app
