// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "app/load_types.hpp"
#include "app/scene_sections.hpp"
#include "attach/parameters.hpp"
#include "body/parameters.hpp"
#include "contact/parameters.hpp"
#include "diffsim/elastic/impl/elastic_term.hpp"
#include "dynamics/parameters.hpp"
#include "dynamics/time/explicit_model.hpp"
#include "load/parameters.hpp"
#include "mesh/cell_model.hpp"
#include "sensor/parameters.hpp"

namespace diffsim::app {
namespace {

using Per = ParameterEntry::Per;

/// Properties of a parameter that a scene may name.
struct Kind {
  std::vector<Per> per;  ///< possible values of the key `per`; the first is the default
  int components = 1;    ///< 0: the number of components depends on the scene
  bool of_material = false;
  ParameterSpec spec = {};
};

Kind kind_of(const ParameterSpec& spec) { return {per_of(spec), spec.components, is_of_material(spec), spec}; }

/// List of the parameters that a scene may name: the name of each parameter and its Kind. Each name occurs once.
class KindsByName {
 public:
  /// Adds a parameter with the name NAME or, if `label` is not empty, NAME:LABEL. Does nothing if the list already has
  /// this name.
  void add(const ParameterSpec& spec, const std::string& label = {}) {
    const std::string name = std::string(spec.name) + (label.empty() ? "" : ":" + label);
    if (std::none_of(kinds_.begin(), kinds_.end(), [&](const auto& kind) { return kind.first == name; }))
      kinds_.emplace_back(name, kind_of(spec));
  }
  const std::vector<std::pair<std::string, Kind>>& kinds() const { return kinds_; }

 private:
  std::vector<std::pair<std::string, Kind>> kinds_;
};

void add_of_materials(const Scene& scene, KindsByName& kinds) {
  const auto is_solid = [](const MaterialEntry& material) { return !material.cells; };
  if (!scene.robots.empty() || std::any_of(scene.materials.begin(), scene.materials.end(), is_solid))
    kinds.add(DynamicsParameters::density);
  for (const MaterialEntry& material : scene.materials) {
    if (material.cells) {
      for (const ParameterSpec& spec : material.cells->parameters) kinds.add(spec);
      continue;
    }
    if (material.model == rigid_model) continue;
    const ElasticLaw& law = elastic_law(material.model);
    for (const ParameterSpec& spec : law.parameters) kinds.add(spec);
    for (const auto& [name, mechanism] : damping_parameters())
      if (material.values.count(name) > 0) kinds.add(spec_of(name));
    if (law.signal) kinds.add(*law.signal);
  }
}

/// Returns `spec`, the specification of a parameter of joints, with the unit for the joint `entry`. The joints of
/// robots are in files that are not read yet, so the returned ParameterSpec has no unit for these joints.
ParameterSpec spec_for(ParameterSpec spec, const JointEntry& entry, const Scene& scene) {
  for (const JointEntry& known : scene.joints)
    if (known.joint.name == entry.joint.name) return JointParameters::of_kind(spec, known.joint.kind);
  spec.unit = "1";
  return spec;
}

void add_of_joints(const Scene& scene, KindsByName& kinds) {
  for (const JointEntry& entry : scene.joints) {
    if (entry.joint.kind == JointKind::fixed) continue;
    kinds.add(JointParameters::point, entry.joint.name);
    if (entry.joint.kind != JointKind::spherical) kinds.add(JointParameters::axis, entry.joint.name);
    if (!entry.joint.follows.empty()) kinds.add(JointParameters::ratio, entry.joint.name);
  }
  for (const std::vector<JointEntry>& entries : {scene.joints, scene.drives})
    for (const JointEntry& entry : entries) {
      const auto add = [&](const ParameterSpec& spec) { kinds.add(spec_for(spec, entry, scene), entry.joint.name); };
      if (entry.joint.armature > 0.0) add(JointParameters::armature);
      if (!entry.is_driven) continue;
      for (const ParameterSpec& spec :
           {JointParameters::torque, JointParameters::stiffness, JointParameters::damping, JointParameters::target,
            JointParameters::friction, JointParameters::limit_stiffness})
        add(spec);
    }
  for (const RobotEntry& robot : scene.robots)
    for (const auto& [name, armature] : robot.options.armatures) {
      JointEntry joint;
      joint.joint.name = robot.name + "/" + name;
      kinds.add(spec_for(JointParameters::armature, joint, scene), joint.joint.name);
    }
}

void add_of_contact(const ContactSection& contact, KindsByName& kinds) {
  using Contact = ContactParameters;
  const ContactOptions& options = contact.options;
  const auto has_law = [&](ContactLawKind kind) {
    return options.law == kind || std::any_of(options.pairs.begin(), options.pairs.end(),
                                              [&](const ContactPair& pair) { return pair.law == kind; });
  };
  kinds.add(Contact::friction);
  if (has_law(ContactLawKind::barrier) || has_law(ContactLawKind::penalty))
    for (const ParameterSpec& spec :
         {Contact::barrier_distance, Contact::barrier_stiffness, Contact::friction_velocity})
      kinds.add(spec);
  if (has_law(ContactLawKind::penalty)) kinds.add(Contact::contact_damping);
  if (has_law(ContactLawKind::impact)) kinds.add(Contact::restitution);
  if (options.thickness) kinds.add(Contact::thickness);
  for (const BodyThickness& given : options.thicknesses) kinds.add(Contact::thickness, given.body);
  for (const std::string& label : contact.thick) kinds.add(Contact::thickness, label);
  for (const SurfaceScale& scale : options.scales) kinds.add(Contact::surface_scale, scale.body);
  for (const ContactPair& pair : options.pairs) {
    const auto values = pair.values();
    for (std::size_t k = 0; k < values.size(); ++k)
      if (values[k]) kinds.add(Contact::of_law()[k], pair.label());
  }
  for (const std::string& label : contact.labels) {
    kinds.add(Contact::obstacle_position, label);
    kinds.add(Contact::obstacle_velocity, label);
  }
  for (const std::string& label : contact.turning) kinds.add(Contact::obstacle_angular_velocity, label);
}

/// Returns the parameters of the scene's materials, solver, loads, joints, contact and initial state x[0].
std::vector<std::pair<std::string, Kind>> parameter_kinds(const Scene& scene) {
  using Dynamics = DynamicsParameters;
  KindsByName kinds;
  add_of_materials(scene, kinds);
  kinds.add(Dynamics::gravity);
  if (has_damping_factor(scene.solver.integrator)) kinds.add(Dynamics::damping);
  for (const ParameterSpec& spec : specs_of_loads()) kinds.add(spec);
  for (const ParameterSpec& spec :
       {Dynamics::angular_velocity, Dynamics::velocity, LoadParameters::nodal_load, Dynamics::rest_positions})
    kinds.add(spec);
  for (const BoundaryEntry& entry : scene.boundary)
    if (entry.kind == BoundaryEntry::Kind::attach) kinds.add(AttachmentParameters::stiffness);
  add_of_joints(scene, kinds);
  if (scene.contact) add_of_contact(*scene.contact, kinds);
  for (const FeedbackEntry& feedback : scene.feedback) kinds.add(FeedbackParameters::policy, feedback.name);
  if (!scene.joints.empty() || !scene.robots.empty())
    for (const ParameterSpec& spec : {JointParameters::initial_coordinates, JointParameters::initial_rates})
      kinds.add(spec);
  kinds.add(Dynamics::initial_positions);
  if (scene.solver.integrator != Integrator::quasi_static) kinds.add(Dynamics::initial_velocities);
  return kinds.kinds();
}

/// Throws InputError for an unknown that is an initial state in a scene with armatures: the initial states of the
/// rotors would not follow the unknown.
void check_initial_state(const ParameterEntry& entry, const Scene& scene) {
  if (entry.name != "initial_positions" && entry.name != "initial_velocities") return;
  const auto has_armature = [](const JointEntry& joint) { return joint.joint.armature > 0.0; };
  const auto robot_has = [](const RobotEntry& robot) { return !robot.options.armatures.empty(); };
  if (std::any_of(scene.joints.begin(), scene.joints.end(), has_armature) ||
      std::any_of(scene.robots.begin(), scene.robots.end(), robot_has))
    entry.place.fail("'" + entry.name + "' cannot be an unknown in a scene with armatures of joints");
}

/// Throws InputError for an unknown that a feedback computes.
void check_no_control(const ParameterEntry& entry, const Scene& scene) {
  const std::string name =
      is_of_boundary(entry.name) && entry.region ? entry.name + ":" + entry.region->name : entry.name;
  for (const FeedbackEntry& feedback : scene.feedback)
    if (std::find(feedback.controls.begin(), feedback.controls.end(), name) != feedback.controls.end())
      entry.place.fail("'" + name + "' is computed by the feedback '" + feedback.name +
                       "'; use policy:" + feedback.name);
}

Per parse_per(const Mapping& mapping, const Kind& kind) {
  const Value* value = mapping.find("per");
  if (!value) return kind.per.front();
  std::vector<std::string> words;
  for (const Per per : kind.per) words.push_back(to_string(per));
  const std::string word = to_choice(*value, words);
  return kind.per[static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin())];
}

/// Throws InputError if `numbers`, values of a parameter, are written in the scene and their shape is not allowed.
void check_shape(const Numbers& numbers, const ParameterEntry& entry, int components, std::int64_t steps) {
  const bool vector = components == 3;
  switch (entry.per) {
    case Per::region:
      return expect_shape(numbers, {{}, {-1}}, "a number, a list with one number per region, or {region: number, …}");
    case Per::step:
      if (vector) return expect_shape(numbers, {{3}, {steps, 3}}, "[x, y, z], or one for each of solver.steps");
      return expect_shape(numbers, {{}, {steps}}, "a number, or one for each of solver.steps");
    default:
      if (entry.name == "initial_positions" || entry.name == "rest_positions")
        return expect_shape(numbers, {},
                            entry.filter ? "{file:, dataset:} with one change of the position per vertex"
                                         : "{file:, dataset:} with one position per vertex");
      if (vector) return expect_shape(numbers, {{3}}, "[x, y, z], or {file:, dataset:}");
      if (components == 0)
        return expect_shape(numbers, {{}, {-1}}, "a number, a list of numbers, or {file:, dataset:}");
      return expect_shape(numbers, {{}}, "a number, or {file:, dataset:}");
  }
}

void check_value(const ParameterEntry& entry, double value, const Place& place) {
  if (const std::string fault = range_error(entry.spec, value); !fault.empty()) place.fail(fault);
  if (value < entry.lower || value > entry.upper)
    place.fail(
        fmt::format("{} is outside the bounds [{}, {}]; start inside the bounds", value, entry.lower, entry.upper));
}

void parse_initial(const Value& value, const Scene& scene, const Kind& kind, ParameterEntry& entry) {
  const auto is_dataset_key = [](const std::string& key) { return key == "file" || key == "dataset"; };
  const bool of_regions = value.is_mapping() && entry.per == Per::region &&
                          !std::all_of(value.keys.begin(), value.keys.end(), is_dataset_key);
  if (of_regions) {
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      entry.initial_by_region.push_back({{value.keys[i], value.items[i].place}, to_number(value.items[i])});
      check_value(entry, entry.initial_by_region.back().second, value.items[i].place);
    }
    return;
  }
  entry.initial = parse_numbers(value, scene);
  check_shape(*entry.initial, entry, kind.components, scene.solver.steps);
  if (const Array* array = entry.initial->array())
    for (const double number : array->values) check_value(entry, number, value.place);
}

void parse_bounds(const Value& value, ParameterEntry& entry) {
  if (!value.is_list() || value.items.size() != 2)
    value.place.fail("give [lower, upper]; use -.inf or .inf for no bound");
  entry.lower = to_extended(value.items[0]);
  entry.upper = to_extended(value.items[1]);
  entry.bounds_place = value.place;
  for (const Value& item : value.items) {
    const double bound = to_extended(item);
    if (!std::isfinite(bound) || entry.map) continue;
    if (const std::string fault = range_error(entry.spec, bound); !fault.empty()) item.place.fail(fault);
  }
  if (!(entry.lower < entry.upper))
    value.place.fail(fmt::format("the lower bound, {}, is not below the upper bound, {}; exchange or widen the bounds",
                                 entry.lower, entry.upper));
}

void parse_region(const Mapping& mapping, const Scene& scene, const Kind& kind, ParameterEntry& entry) {
  const bool of_boundary = is_of_boundary(entry.name);
  if (const Value* region = mapping.find("region")) {
    entry.region = parse_region_name(*region);
    if (!of_boundary && !(kind.of_material && entry.per == Per::global))
      region->place.fail("is only allowed for " + join(boundary_parameters()) +
                         ", and for a material's parameter with `per: global`; remove it");
  }
  if (!of_boundary) return;
  using Of = BoundaryEntry::Kind;
  const auto load = std::find_if(load_types().begin(), load_types().end(),
                                 [&](const LoadType& type) { return type.has_parameter(entry.name); });
  const LoadType* const type = load == load_types().end() ? nullptr : &*load;
  const Of boundary_kind = type ? Of::load : entry.name == "attachment_stiffness" ? Of::attach : Of::move;
  const std::string what = type ? type->key() : boundary_kind == Of::attach ? "attachment" : "move";
  const std::string zero = !type ? "" : type->is_vector() ? "[0, 0, 0]" : "0";
  std::vector<std::string> there;
  for (const BoundaryEntry& boundary : scene.boundary)
    if (boundary.kind == boundary_kind && boundary.type == type) there.push_back(boundary.region.name);
  if (there.empty())
    mapping.place().fail(fmt::format("the scene has no {}; add one to `boundary`{}", what,
                                     zero.empty() ? "" : fmt::format(", for example with the value {}", zero)));
  if (!entry.region) {
    if (there.size() > 1)
      mapping.place_of("region").fail(
          fmt::format("is missing and there are several {}s; give one of: {}", what, join(there)));
    entry.region = RegionName{there.front(), mapping.place()};
  } else if (std::find(there.begin(), there.end(), entry.region->name) == there.end()) {
    entry.region->place.fail(
        fmt::format("'{}' has no {} in `boundary`; give one of: {}", entry.region->name, what, join(there)));
  }
}

void parse_search(const Mapping& mapping, const Kind& kind, ParameterEntry& entry) {
  const Value* search = mapping.find("search");
  if (!search) return;
  entry.logarithmic = to_choice(*search, {"logarithm", "linear"}) == "logarithm";
  if (*entry.logarithmic && kind.components != 1)
    search->place.fail("a vector's components may have any sign; use search: linear");
  if (*entry.logarithmic && std::isfinite(entry.lower) && entry.lower <= 0.0)
    search->place.fail("the lower bound, " + format_number(entry.lower) +
                       ", has no logarithm; raise the bound above 0 or use search: linear");
}

void parse_map(const Mapping& mapping, const Value& value, const Scene& scene, const Kind& kind,
               ParameterEntry& entry) {
  entry.map = parse_numbers(value, scene);
  if (!entry.map->dataset()) value.place.fail("must be a dataset of modes; give {file:, dataset:}");
  if (mapping.has("per") || mapping.has("region"))
    mapping.place().fail("`map` already defines the effect on each cell or vertex; remove `per` and `region`");
  if (!kind.of_material && entry.per != Per::vertex)
    value.place.fail("is only allowed for parameters of cells or vertices; remove it");
  // For a material's parameter, the first three values of `kind.per` are global, region, and one of cell, segment,
  // triangle and vertex.
  if (kind.of_material) entry.per = kind.per[2];
}

/// Returns true if a distribution can set the parameter: a parameter of tetrahedra whose values are positive.
bool is_distributable(const ParameterSpec& spec) {
  return is_of_material(spec) && spec.home == ParameterHome::cells && spec.search() == Search::logarithmic;
}

double to_penalty(const Value& value) {
  const double penalty = to_number(value);
  if (penalty < 1.0) value.place.fail(value.text + " is less than 1; give a number of at least 1");
  return penalty;
}

/// Parses ε, the property of void relative to the material.
double to_minimum(const Value& value) {
  const double minimum = to_positive(value, "");
  if (minimum >= 1.0) value.place.fail(value.text + " is not below 1; give a number between 0 and 1");
  return minimum;
}

/// Parses a further parameter of a distribution.
DistributedEntry parse_distributed(const Value& value, const Scene& scene) {
  const Mapping mapping(value, {"name", "penalty", "minimum"});
  DistributedEntry made;
  made.place = mapping.place();
  std::vector<std::string> names;
  for (const auto& [name, kind] : parameter_kinds(scene))
    if (is_distributable(spec_of(name))) names.push_back(name);
  made.name = to_choice(mapping.need("name", "one of: " + join(names)), names);
  if (const Value* penalty = mapping.find("penalty")) made.penalty = to_penalty(*penalty);
  if (const Value* minimum = mapping.find("minimum")) made.minimum = to_minimum(*minimum);
  return made;
}

/// Parses the keys of a mapping `distribution`.
DistributionEntry parse_distribution_keys(const Value& value, const Scene& scene) {
  const Mapping given(value, {"penalty", "minimum", "filter", "solid", "void", "also"});
  DistributionEntry made;
  if (const Value* penalty = given.find("penalty")) {
    made.penalties.clear();
    for (const Value* item : penalty->is_scalar() ? std::vector<const Value*>{penalty} : to_items(*penalty)) {
      made.penalties.push_back(to_penalty(*item));
    }
    if (made.penalties.empty()) penalty->place.fail("is an empty list; give a number, or a list of numbers");
  }
  if (const Value* minimum = given.find("minimum")) made.minimum = to_minimum(*minimum);
  if (const Value* filter = given.find("filter")) made.filter = to_positive(*filter, "m");
  if (const Value* solid = given.find("solid"))
    for (const Value* item : to_items(*solid)) made.solid.push_back(parse_region_name(*item));
  if (const Value* voids = given.find("void"))
    for (const Value* item : to_items(*voids)) made.voids.push_back(parse_region_name(*item));
  if (const Value* also = given.find("also"))
    for (const Value* item : to_items(*also)) made.also.push_back(parse_distributed(*item, scene));
  return made;
}

/// Parses the distribution of a material, with the keys `initial` and `bounds`, which are densities.
void parse_distribution(const Mapping& mapping, const Value& value, const Scene& scene, const Kind& kind,
                        ParameterEntry& entry) {
  for (const char* key : {"map", "search", "region", "fixed", "axes"})
    if (mapping.has(key)) mapping.place_of(key).fail("cannot be combined with `distribution`; remove one of them");
  if (mapping.has("filter"))
    mapping.place_of("filter").fail("of densities belongs into `distribution`: {filter: radius}; move it there");
  if (!kind.of_material || !is_distributable(entry.spec))
    value.place.fail("is only allowed for a parameter of tetrahedra that must be positive, such as youngs_modulus");
  if (mapping.has("per") && entry.per != Per::cell) mapping.place_of("per").fail("must be `cell`, or left out");
  entry.per = Per::cell;
  entry.distribution = parse_distribution_keys(value, scene);
  entry.lower = 0.0;
  entry.upper = 1.0;
  if (const Value* bounds = mapping.find("bounds")) {
    if (!bounds->is_list() || bounds->items.size() != 2)
      bounds->place.fail("give [lower, upper], densities from 0 to 1");
    entry.lower = to_number(bounds->items[0]);
    entry.upper = to_number(bounds->items[1]);
    if (entry.lower < 0.0 || entry.upper > 1.0 || entry.lower >= entry.upper)
      bounds->place.fail("give [lower, upper], densities from 0 to 1");
  }
  if (const Value* initial = mapping.find("initial")) {
    entry.initial = parse_numbers(*initial, scene);
    expect_shape(*entry.initial, {{}}, "a density from 0 to 1, or {file:, dataset:}");
  }
  if (const Value* direction = mapping.find("direction")) entry.direction = parse_numbers(*direction, scene);
}

/// Parses the filter of the changes of a shape, with the keys `initial` and `bounds`, which are changes.
void parse_shape_filter(const Mapping& mapping, const Scene& scene, ParameterEntry& entry) {
  const Value& radius = *mapping.find("filter");
  for (const char* key : {"map", "search"})
    if (mapping.has(key)) mapping.place_of(key).fail("cannot be combined with `filter`; remove one of them");
  if (entry.name != "rest_positions" && entry.name != "initial_positions")
    radius.place.fail("is only allowed for rest_positions and initial_positions, and in a `distribution`; remove it");
  ShapeFilterEntry& made = entry.filter.emplace();
  made.radius = to_positive(radius, "m");
  if (const Value* fixed = mapping.find("fixed"))
    for (const Value* item : to_items(*fixed)) made.fixed.push_back(parse_region_name(*item));
  if (const Value* axes = mapping.find("axes")) made.moves = parse_axes(*axes);
  if (const Value* bounds = mapping.find("bounds")) parse_bounds(*bounds, entry);
  if (entry.lower > 0.0 || entry.upper < 0.0)
    entry.bounds_place.fail("are bounds of changes, which must include 0, the shape of the mesh");
  if (const Value* initial = mapping.find("initial")) parse_initial(*initial, scene, {per_of(entry.spec), 3}, entry);
  if (const Value* direction = mapping.find("direction")) entry.direction = parse_values(*direction, entry, scene);
}

/// Map from keys in materials of CellModels to parameter names, for keys that differ from the parameter's name. If
/// `region` is given, only the materials of this region's body are considered, otherwise all materials.
std::map<std::string, std::string> names_of_keys(const Scene& scene, const Value* region) {
  std::map<std::string, std::string> names;
  for (const MaterialEntry& material : scene.materials)
    if (material.cells && (!region || region->text.starts_with(material.body + "/")))
      for (const ParameterSpec& spec : material.cells->parameters) {
        const std::string name(spec.name), key = material.cells->key_of(name);
        if (key != name && !material.cells->is_beside_material(name)) names.emplace(key, name);
      }
  return names;
}

/// Sets `entry.name` and `entry.label` from the key `name`, whose value is a parameter name or a key in a material.
void parse_name(const Mapping& mapping, const Scene& scene, const std::vector<std::pair<std::string, Kind>>& kinds,
                ParameterEntry& entry) {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kinds) names.push_back(name);
  const auto is_name = [&](const std::string& key) {
    return std::find(names.begin(), names.end(), key) != names.end();
  };
  const Value* const region = mapping.find("region");
  std::map<std::string, std::string> keys = names_of_keys(scene, region);
  if (!region) std::erase_if(keys, [&](const auto& key) { return is_name(key.first); });
  for (const auto& [key, name] : keys)
    if (!is_name(key)) names.push_back(key);
  entry.label = to_choice(mapping.need("name", "one of: " + join(names)), names);
  const auto found = keys.find(entry.label);
  entry.name = found == keys.end() ? entry.label : found->second;
}

/// Throws InputError if a further parameter of a distribution is also the parameter of another entry or distribution.
void refuse_repetition(const std::vector<ParameterEntry>& parameters) {
  std::vector<std::string> names;
  for (const ParameterEntry& entry : parameters) names.push_back(entry.name);
  for (const ParameterEntry& entry : parameters) {
    if (!entry.distribution) continue;
    for (const DistributedEntry& also : entry.distribution->also) {
      if (std::find(names.begin(), names.end(), also.name) != names.end())
        also.place.fail("'" + also.name + "' is given twice; remove one");
      names.push_back(also.name);
    }
  }
}

/// Returns the parameters of the scene that the entry `mapping` of `parameters` may name. The joints of a robot are in
/// the robot's file, which is not read yet, so any name `joint_point:ROBOT/…`, `joint_axis:ROBOT/…` or
/// `joint_ratio:ROBOT/…` is allowed.
std::vector<std::pair<std::string, Kind>> kinds_for(const Mapping& mapping, const Scene& scene) {
  auto kinds = parameter_kinds(scene);
  const Value* const name = mapping.find("name");
  if (!name || !name->is_scalar()) return kinds;
  for (const RobotEntry& robot : scene.robots)
    for (const ParameterSpec& spec : {JointParameters::point, JointParameters::axis, JointParameters::ratio})
      if (name->text.starts_with(std::string(spec.name) + ":" + robot.name + "/"))
        kinds.emplace_back(name->text, kind_of(spec));
  return kinds;
}

ParameterEntry parse_parameter(const Value& value, const Scene& scene) {
  const Mapping mapping(value, {"name", "per", "initial", "bounds", "region", "search", "map", "direction",
                                "distribution", "filter", "fixed", "axes", "joints"});
  const auto kinds = kinds_for(mapping, scene);
  ParameterEntry entry;
  entry.place = mapping.place();
  parse_name(mapping, scene, kinds, entry);
  const Kind& kind =
      std::find_if(kinds.begin(), kinds.end(), [&](const auto& other) { return other.first == entry.name; })->second;
  entry.spec = kind.spec;
  if (is_start_of_joints(entry.name)) {
    parse_start_of_joints(mapping, scene, entry);
    if (const Value* bounds = mapping.find("bounds")) parse_bounds(*bounds, entry);
    return entry;
  }
  if (mapping.has("joints"))
    mapping.place_of("joints").fail("belongs to initial_coordinates and initial_rates; remove it");
  entry.per = parse_per(mapping, kind);
  parse_region(mapping, scene, kind, entry);
  if (const Value* value_of = mapping.find("distribution")) {
    parse_distribution(mapping, *value_of, scene, kind, entry);
    return entry;
  }
  if (mapping.has("filter")) {
    parse_shape_filter(mapping, scene, entry);
    return entry;
  }
  for (const char* key : {"fixed", "axes"})
    if (mapping.has(key)) mapping.place_of(key).fail("belongs to `filter`; give the radius of a filter, or remove it");
  const Value* const map = mapping.find("map");
  if (map) parse_map(mapping, *map, scene, kind, entry);
  if (const Value* bounds = mapping.find("bounds")) parse_bounds(*bounds, entry);
  if (!map) parse_search(mapping, kind, entry);
  if (const Value* direction = mapping.find("direction")) entry.direction = parse_values(*direction, entry, scene);
  const Value* const initial = mapping.find("initial");
  if (map) {
    if (const Value* search = mapping.find("search"))
      entry.logarithmic = to_choice(*search, {"logarithm", "linear"}) == "logarithm";
    if (initial) entry.initial = parse_numbers(*initial, scene);
    if (entry.initial) expect_shape(*entry.initial, {{}, {-1}}, "a number, or a list with one number per mode");
  } else if (initial) {
    parse_initial(*initial, scene, kind, entry);
  }
  return entry;
}

}  // namespace

Numbers parse_values(const Value& value, const ParameterEntry& entry, const Scene& scene) {
  Numbers numbers = parse_numbers(value, scene);
  if (numbers.array() && numbers.array()->shape.empty()) return numbers;
  if (entry.map)
    expect_shape(numbers, {{}, {-1}}, "a number, or a list with one number per mode");
  else if (!entry.joints.empty())
    expect_shape(numbers, {{}, {static_cast<std::int64_t>(entry.joints.size())}},
                 "a number, or a list with one number per joint");
  else
    check_shape(numbers, entry, entry.spec.components, scene.solver.steps);
  return numbers;
}

bool is_of_material(const ParameterSpec& spec) {
  if (spec.home == ParameterHome::cells) return true;
  return std::any_of(cell_models().begin(), cell_models().end(),
                     [&](const CellModel* model) { return model->has_parameter(spec.name); });
}

std::vector<Per> per_of(const ParameterSpec& spec) {
  std::vector<Per> per;
  switch (spec.home) {
    case ParameterHome::one:
      per = {Per::global};
      if (spec.by_step) per.push_back(Per::step);
      break;
    case ParameterHome::cells:
      per = {Per::global, Per::region, Per::cell};
      break;
    case ParameterHome::segments:
      per = {Per::global, Per::region, Per::segment};
      if (spec.by_step) per.push_back(Per::segment_step);
      break;
    case ParameterHome::triangles:
      per = {Per::global, Per::region, Per::triangle};
      break;
    case ParameterHome::vertices:
      if (is_of_material(spec)) return {Per::global, Per::region, Per::vertex};
      per = {Per::vertex};
      if (spec.by_step) per.push_back(Per::vertex_step);
      if (spec.uniform) per.push_back(Per::global);
      break;
  }
  return per;
}

std::vector<ParameterEntry> parse_parameters(const Value& value, const Scene& scene) {
  const auto region = [](const ParameterEntry& entry) { return entry.region ? entry.region->name : "all"; };
  std::vector<ParameterEntry> parameters;
  for (const Value* item : to_items(value)) {
    ParameterEntry entry = parse_parameter(*item, scene);
    check_initial_state(entry, scene);
    check_no_control(entry, scene);
    for (const ParameterEntry& other : parameters)
      if (other.name == entry.name && region(other) == region(entry))
        entry.place.fail("'" + entry.name + "' is given twice; remove one");
    parameters.push_back(std::move(entry));
  }
  if (parameters.empty()) value.place.fail("is an empty list; give at least one parameter");
  refuse_repetition(parameters);
  check_starts_of_joints(parameters);
  return parameters;
}

}  // namespace diffsim::app
