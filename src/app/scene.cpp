// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/scene.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "app/load_types.hpp"
#include "app/objective_types.hpp"
#include "app/scene_sections.hpp"
#include "simulation/parameter_specs.hpp"

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

ParameterSpec spec_of(const std::string& parameter) {
  if (const std::optional<ParameterSpec> spec = find_parameter_spec(parameter)) return *spec;
  const std::string name = parameter.substr(0, parameter.find(':'));
  for (const ParameterSpec& spec : specs_of_loads())
    if (spec.name == name) return spec;
  return {};
}

std::vector<std::string> boundary_parameters() {
  std::vector<std::string> names;
  for (const ParameterSpec& spec : specs_of_loads()) names.emplace_back(spec.name);
  names.insert(names.end(), {"angular_velocity", "velocity", "attachment_stiffness"});
  return names;
}

bool is_of_boundary(const std::string& parameter) {
  const std::vector<std::string> names = boundary_parameters();
  return std::find(names.begin(), names.end(), parameter) != names.end();
}

std::string body_of_region(const Scene& scene, const std::string& region) {
  for (const BodyEntry& body : scene.bodies)
    if (region.starts_with(body.name + "/")) return body.name;
  for (const RegionEntry& entry : scene.regions)
    if (entry.name == region) return entry.body;
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
    case ParameterEntry::Per::segment:
      return "segment";
    case ParameterEntry::Per::step:
      return "step";
    case ParameterEntry::Per::vertex:
      return "vertex";
    case ParameterEntry::Per::vertex_step:
      return "vertex_step";
    case ParameterEntry::Per::segment_step:
      return "segment_step";
    case ParameterEntry::Per::triangle:
      return "triangle";
  }
  return {};
}

namespace {

bool has_rigid(const Scene& scene) {
  return std::any_of(scene.materials.begin(), scene.materials.end(),
                     [](const MaterialEntry& material) { return material.model == rigid_model; });
}

/// Throws InputError if the optimiser does not support the constraints.
void check_optimiser(const Scene& scene, const Mapping& mapping) {
  const Optimiser method = scene.optimiser.method;
  const bool constrained = method == Optimiser::mma || method == Optimiser::almm;
  if (!scene.constraints.empty() && !constrained)
    mapping.place_of("constraints").fail("need the optimiser `method: mma` or `method: almm`");
  if (scene.constraints.empty() && method == Optimiser::almm)
    mapping.place_of("optimiser")
        .fail("has the method almm, but the scene has no `constraints`; use lbfgs or newton_cg");
  if (method == Optimiser::mma)
    for (const ConstraintEntry& constraint : scene.constraints)
      if (constraint.lower == constraint.upper)
        constraint.place.fail("is an equation, which mma does not support; use `method: almm`");
  const Place& windows = scene.shooting_place;
  if (scene.optimiser.shooting.windows > 0 && (!scene.joints.empty() || !scene.robots.empty() || has_rigid(scene)))
    windows.fail("is not available for scenes with rigid bodies, joints or robots");
  if (scene.optimiser.shooting.windows > 0 && scene.checkpoint.memory.is_given())
    windows.fail("cannot be combined with `checkpoint.memory`; give another schedule");
  if (!scene.constraints.empty() && scene.prior_factors)
    scene.prior_factors->place.fail("cannot be combined with `constraints`; remove one of them");
  if (!scene.constraints.empty() && scene.uncertainty) scene.uncertainty->fail("is not available with `constraints`");
}

/// Throws InputError for a body with keys of contact in a scene without contact, and for a body whose name is also the
/// name of an obstacle.
void check_contact_of_bodies(const Scene& scene) {
  for (const BodyEntry& body : scene.bodies) {
    if (!scene.contact && body.thickness && !has_thick_cells(body))
      body.place.fail("has a contact thickness, but the scene has no `contact`; add `contact` or remove `thickness`");
    if (!scene.contact && body.surface)
      body.surface->place.fail(
          "is a contact surface, but the scene has no `contact`; add `contact` or remove `surface`");
    if (scene.contact)
      for (const std::string& label : scene.contact->labels)
        if (label == body.name)
          scene.contact->place.fail("an obstacle and a body are both called '" + label + "'; rename one of them");
  }
}

/// Parses a scene of a single experiment. `experiment`: name of the experiment; empty for a scene without
/// `experiments`.
Scene parse_single(const Value& root, const std::string& file, const std::string& experiment = {}) {
  Scene scene;
  scene.file = file;
  scene.experiment = experiment;
  const Mapping mapping(
      root, {"mesh",          "bodies",      "regions",    "material",  "solver", "initial",   "boundary",   "attach",
             "joints",        "contact",     "sensors",    "feedback",  "values", "objective", "parameters", "priors",
             "prior_factors", "constraints", "checkpoint", "optimiser", "output", "petsc",     "experiments"});
  if (const Value* value = mapping.find("bodies")) {
    for (const char* other : {"mesh", "material"})
      if (mapping.has(other)) mapping.place_of(other).fail("cannot be combined with `bodies`; each body has its own");
    parse_bodies(*value, scene);
  } else {
    scene.mesh = parse_mesh(mapping.need("mesh", "{file: …} or {box: …}; or give `bodies`"), scene);
    require_tetrahedra(scene.mesh);
  }
  if (const Value* value = mapping.find("regions")) scene.regions = parse_regions(*value, scene);
  if (const Value* value = mapping.find("material")) parse_materials(*value, scene);
  scene.solver = parse_solver(mapping.find("solver"), scene);
  scene.solver.place = mapping.place_of("solver");
  if (const Value* value = mapping.find("initial")) scene.initial = parse_initial(*value, scene);
  if (const Value* value = mapping.find("boundary")) scene.boundary = parse_boundary(*value, scene);
  if (const Value* value = mapping.find("attach")) parse_attachments(*value, scene);
  if (const Value* value = mapping.find("joints")) scene.joints = parse_joints(*value, scene);
  if (const Value* value = mapping.find("boundary")) parse_drives(*value, scene);
  if (const Value* value = mapping.find("contact")) scene.contact = parse_contact(*value, scene);
  check_contact_of_bodies(scene);
  if (const Value* value = mapping.find("sensors")) scene.sensors = parse_sensors(*value);
  if (const Value* value = mapping.find("feedback")) scene.feedback = parse_feedback(*value, scene);
  if (const Value* value = mapping.find("values")) scene.values = parse_replacements(*value, scene);
  if (const Value* value = mapping.find("objective")) scene.objectives = parse_objectives(*value, scene);
  if (const Value* value = mapping.find("parameters")) scene.parameters = parse_parameters(*value, scene);
  if (const Value* value = mapping.find("priors")) scene.priors = parse_priors(*value, scene);
  if (const Value* value = mapping.find("prior_factors")) scene.prior_factors = parse_prior_factors(*value, scene);
  if (const Value* value = mapping.find("constraints")) scene.constraints = parse_constraints(*value, scene);
  if (const Value* value = mapping.find("checkpoint")) scene.checkpoint = parse_checkpoint(*value, scene.measure_error);
  scene.checkpoint_place = mapping.place_of("checkpoint");
  if (const Value* value = mapping.find("optimiser")) scene.optimiser = parse_optimiser(*value, scene);
  check_optimiser(scene, mapping);
  if (const Value* value = mapping.find("output"))
    scene.output = parse_output(*value, scene.solver.integrator);
  else
    scene.output.place = mapping.place_of("output");
  if (const Value* value = mapping.find("petsc")) scene.petsc = parse_petsc(*value);
  for (const ObjectiveEntry& objective : scene.objectives) {
    if (scene.uncertainty && objective.function->kind() == Objective::Kind::extremum)
      scene.uncertainty->fail("is not available with the objectives minimise and maximise, which are no likelihoods");
    if (scene.uncertainty && !objective.noise && !objective.function->has_covariance() &&
        objective.function->kind() != Objective::Kind::cost)
      objective.place.fail(
          "needs `noise`, the standard deviation of the observations, because optimiser.uncertainty is true");
  }
  return scene;
}

/// Sections that an experiment may contain, in place of the scene's sections of the same name.
const std::vector<std::string> sections_of_experiments{"solver", "initial", "boundary", "attach",
                                                       "joints", "contact", "values",   "objective"};

/// Throws InputError for a constraint of an experiment that does not exist. `scenes`: all experiments.
void check_constrained_experiments(const std::vector<Scene>& scenes) {
  std::vector<std::string> names;
  for (const Scene& scene : scenes) names.push_back(scene.experiment);
  for (const ConstraintEntry& constraint : scenes.front().constraints)
    if (const std::string& name = constraint.experiment;
        !name.empty() && std::find(names.begin(), names.end(), name) == names.end())
      constraint.experiment_place.fail("there is no experiment '" + name + "'; give one of: " + join(names));
}

/// Returns `root` without `experiments`; sections of `experiment` replace those of `root`.
Value with_sections(const Value& root, const Value& experiment) {
  Value merged = root;
  merged.keys.clear();
  merged.items.clear();
  const auto is_in = [](const Value& value, const std::string& key) {
    return std::find(value.keys.begin(), value.keys.end(), key) != value.keys.end();
  };
  for (const Value* from : {&root, &experiment})
    for (std::size_t i = 0; i < from->items.size(); ++i) {
      const std::string& key = from->keys[i];
      if (from == &root ? key == "experiments" || is_in(experiment, key) : key == "name") continue;
      merged.keys.push_back(key);
      merged.items.push_back(from->items[i]);
    }
  return merged;
}

}  // namespace

Value document_of_experiment(const Value& root, const std::string& name) {
  const auto key = std::find(root.keys.begin(), root.keys.end(), "experiments");
  if (key == root.keys.end()) return root;
  for (const Value* item : to_items(root.items[static_cast<std::size_t>(key - root.keys.begin())]))
    if (to_text(Mapping(*item, item->keys).need("name", "a name")) == name) return with_sections(root, *item);
  return root;
}

Scene parse_scene(const std::string& text, const std::string& file) {
  return parse_scene(parse_yaml(text, file), file);
}

Scene parse_scene(const Value& root, const std::string& file) {
  const auto key = std::find(root.keys.begin(), root.keys.end(), "experiments");
  if (key == root.keys.end()) return parse_single(root, file);
  const Value& list = root.items[static_cast<std::size_t>(key - root.keys.begin())];
  std::vector<std::string> known = sections_of_experiments;
  known.insert(known.begin(), "name");
  std::vector<Scene> scenes;
  for (const Value* item : to_items(list)) {
    const Mapping mapping(*item, known);
    const Value& name = mapping.need("name", "a name, which is also that of a folder");
    const std::string text_of_name = to_text(name);
    if (text_of_name.find_first_of("/\\.") != std::string::npos)
      name.place.fail("'" + text_of_name + "' is not the name of a folder; give a name without / \\ and .");
    for (const Scene& other : scenes)
      if (other.experiment == text_of_name)
        name.place.fail("another experiment is called '" + text_of_name + "'; give each a unique name");
    scenes.push_back(parse_single(with_sections(root, *item), file, text_of_name));
  }
  if (scenes.empty()) list.place.fail("is an empty list; give at least one experiment, or remove `experiments`");
  check_constrained_experiments(scenes);
  Scene first = std::move(scenes.front());
  first.further_experiments.assign(std::make_move_iterator(scenes.begin() + 1), std::make_move_iterator(scenes.end()));
  return first;
}

}  // namespace diffsim::app
