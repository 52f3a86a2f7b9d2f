// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/section_of_object.hpp"

#include <type_traits>
#include <variant>

#include "app/made_values.hpp"
#include "diffsim/core/error.hpp"
#include "mesh/cell_model.hpp"
#include "simulation/parameter_specs.hpp"

namespace diffsim::app {
namespace {

/// Adds the entry `key: value` unless `value` is the default.
template <class T>
void put_changed(Value& mapping, const std::string& key, T value, T standard) {
  if (value == standard) return;
  if constexpr (std::is_same_v<T, int>)
    put(mapping, key, static_cast<std::int64_t>(value));
  else
    put(mapping, key, value);
}

void put_given(Value& mapping, const std::string& key, const std::optional<double>& value) {
  if (value) put(mapping, key, *value);
}

Value newton_section(const NewtonOptions& newton) {
  const NewtonOptions defaults;
  Value section = made_mapping();
  put_changed(section, "tolerance", newton.tolerance, defaults.tolerance);
  put_changed(section, "linear_tolerance", newton.linear_tolerance, defaults.linear_tolerance);
  put_changed(section, "max_iterations", newton.max_iterations, defaults.max_iterations);
  put_changed(section, "max_stalled", newton.max_stalled, defaults.max_stalled);
  put_changed(section, "max_cuts", newton.max_cuts, defaults.max_cuts);
  return section;
}

Value linear_section(const LinearOptions& linear) {
  const LinearOptions defaults;
  if (linear.fast_paths != defaults.fast_paths) refuse_scene("scene files have no option `fast_paths` of the solver");
  Value section = made_mapping();
  put_changed(section, "tolerance", linear.tolerance, defaults.tolerance);
  put_changed(section, "direct_below", linear.direct_below, defaults.direct_below);
  if (linear.matrix_free) put(section, "operator", std::string("matrix_free"));
  return section;
}

void put_implicit(Value& section, const DifferentiableSolver& solver, std::optional<int> steps) {
  const ImplicitOptions &options = solver.implicit, defaults;
  if (!solver.use_implicit_diff || !options.implicit_differentiation) put(section, "implicit_differentiation", false);
  if (options.held_iterations != defaults.held_iterations)
    refuse_scene("scene files have no option `held_iterations` of the solver");
  for (auto& [key, part] :
       {std::pair("newton", newton_section(options.newton)), std::pair("linear", linear_section(options.linear))})
    if (!part.items.empty()) put(section, key, part);
  if (solver.integrator == Integrator::newmark) {
    put_changed(section, "beta", options.beta, defaults.beta);
    put_changed(section, "gamma", options.gamma, defaults.gamma);
  }
  if (solver.integrator == Integrator::generalised_alpha)
    put_changed(section, "spectral_radius", options.spectral_radius, defaults.spectral_radius);
  if (options.ramp_steps > 0 && options.ramp_steps != steps.value_or(-1))
    refuse_scene("`ramp_steps` of the solver is " + std::to_string(options.ramp_steps) +
                 ", but loads of scene files grow over all steps; give this number of steps");
  const bool ramps = options.ramp_steps > 0;
  if (ramps != (solver.integrator == Integrator::quasi_static && steps.value_or(0) > 0))
    put(section, "ramp_loads", ramps);
}

/// Returns a value of a material: the given number or, for an array, a number that is allowed.
double one_value(const std::string& name, const CellValues& values) {
  if (const double* const number = std::get_if<double>(&values)) return *number;
  const std::optional<ParameterSpec> spec = find_parameter_spec(name);
  return spec ? spec->sample : 1.0;
}

void put_common(Value& obstacle, const std::string& label, const std::array<double, 3>& velocity,
                const Rotation& rotation, const std::optional<double>& thickness) {
  if (!label.empty()) put(obstacle, "name", label);
  if (velocity != std::array<double, 3>{}) put(obstacle, "velocity", made_list(velocity));
  put_given(obstacle, "thickness", thickness);
  if (!rotation.turns()) return;
  Value turn = made_mapping();
  put(turn, "axis", made_list(rotation.axis));
  put(turn, "origin", made_list(rotation.origin));
  put(turn, "angular_velocity", rotation.angular_velocity);
  put(obstacle, "rotation", std::move(turn));
}

Value pair_section(const ContactPair& pair) {
  Value section = made_mapping();
  put(section, "between", made_list({scalar_with(pair.between[0]), scalar_with(pair.between[1])}));
  put_given(section, "barrier_distance", pair.barrier_distance);
  put_given(section, "barrier_stiffness", pair.barrier_stiffness);
  put_given(section, "friction", pair.friction);
  put_given(section, "friction_velocity", pair.friction_velocity);
  put_given(section, "thickness", pair.thickness);
  put_given(section, "damping", pair.damping);
  put_given(section, "restitution", pair.restitution);
  if (pair.law) put(section, "law", std::string(contact_laws()[static_cast<std::size_t>(*pair.law)]));
  if (!pair.touch) put(section, "touch", false);
  return section;
}

/// Returns true if contact of some surfaces is by a pressure: a barrier or a penalty.
bool has_pressure(const ContactOptions& options) {
  if (options.law != ContactLawKind::impact) return true;
  for (const ContactPair& pair : options.pairs)
    if (pair.touch && pair.law.value_or(options.law) != ContactLawKind::impact) return true;
  return false;
}

Value scales_section(const ContactOptions& options) {
  Value section = made_mapping();
  for (const SurfaceScale& scale : options.scales) {
    Value one = made_mapping();
    put(one, "value", scale.value);
    if (scale.centre) put(one, "centre", made_list(*scale.centre));
    put(section, scale.body, std::move(one));
  }
  return section;
}

Value obstacles_section(const ContactOptions& options,
                        const std::function<std::string(const std::string&, const TriangleMesh&)>& write_surface) {
  Value list = made_list();
  for (const PlaneObstacle& plane : options.planes) {
    Value shape = made_mapping(), obstacle = made_mapping();
    put(shape, "point", made_list(plane.point));
    put(shape, "normal", made_list(plane.normal));
    put(obstacle, "plane", std::move(shape));
    put_common(obstacle, plane.label, plane.velocity, plane.rotation, plane.thickness);
    list.items.push_back(std::move(obstacle));
  }
  for (const MeshObstacle& mesh : options.meshes) {
    const std::string name = mesh.label.empty() ? std::to_string(list.items.size()) : mesh.label;
    Value shape = made_mapping(), obstacle = made_mapping();
    put(shape, "file", write_surface("obstacle-" + name, mesh.mesh));
    if (mesh.solid) put(shape, "solid", *mesh.solid);
    put(obstacle, "mesh", std::move(shape));
    put_common(obstacle, mesh.label, mesh.velocity, mesh.rotation, mesh.thickness);
    list.items.push_back(std::move(obstacle));
  }
  return list;
}

}  // namespace

void refuse_scene(const std::string& what) { throw InputError("the scene cannot be written: " + what); }

Value section_of(const DifferentiableSolver& solver, std::optional<int> steps) {
  Value section = made_mapping();
  put(section, "integrator", std::string(name_of(solver.integrator)));
  put(section, "dt", solver.dt);
  if (steps) put(section, "steps", std::int64_t{*steps});
  if (is_explicit(solver.integrator)) put(section, "substeps", std::int64_t{solver.substeps});
  if (has_damping_factor(solver.integrator)) put(section, "damping", solver.damping);
  put(section, "gravity", made_list(solver.gravity));
  if (!is_explicit(solver.integrator)) put_implicit(section, solver, steps);
  return section;
}

Value section_of(const DifferentiableMaterial& material, Value& beside) {
  Value section = made_mapping();
  const CellModel* const model = find_cell_model(material.model);
  if (material.model == rigid_model) {
    for (const auto& [name, values] : material.values) put(beside, name, one_value(name, values));
    return section;
  }
  if (!model) put(section, "model", material.model);
  if (model && !material.law.empty()) put(section, "model", material.law);
  if (material.nodal_dilatation) put(section, "dilatation", std::string("nodal"));
  for (const auto& [name, values] : material.values) {
    const bool is_beside = model && model->is_beside_material(name);
    put(is_beside ? beside : section, model ? model->key_of(name) : name, one_value(name, values));
  }
  return section;
}

Value section_of(const ContactOptions& options,
                 const std::function<std::string(const std::string&, const TriangleMesh&)>& write_surface) {
  const ContactOptions defaults;
  Value section = made_mapping();
  put(section, "law", std::string(contact_laws()[static_cast<std::size_t>(options.law)]));
  if (has_pressure(options)) {
    put(section, "barrier_distance", options.barrier_distance);
    if (options.adaptive_stiffness)
      put(section, "barrier_stiffness", std::string("adaptive"));
    else
      put(section, "barrier_stiffness", options.barrier_stiffness);
    put(section, "friction_velocity", options.friction_velocity);
    if (options.lagged_friction) put(section, "lagged_friction", true);
  }
  if (options.with_friction || options.friction != 0.0) put(section, "friction", options.friction);
  put_changed(section, "damping", options.damping, defaults.damping);
  put_changed(section, "restitution", options.restitution, defaults.restitution);
  put_given(section, "thickness", options.thickness);
  if (options.self) put(section, "self", true);
  if (options.max_pairs > 0) put(section, "max_pairs", options.max_pairs);
  if (!options.scales.empty()) put(section, "surface_scales", scales_section(options));
  if (!options.pairs.empty()) {
    Value pairs = made_list();
    for (const ContactPair& pair : options.pairs) pairs.items.push_back(pair_section(pair));
    put(section, "pairs", std::move(pairs));
  }
  if (Value obstacles = obstacles_section(options, write_surface); !obstacles.items.empty())
    put(section, "obstacles", std::move(obstacles));
  return section;
}

Value section_of(const Joint& joint) {
  if (joint.coordinate != 0.0)
    refuse_scene("the joint '" + joint.name +
                 "' has a coordinate at the rest positions, which scene files do not have");
  Value section = made_mapping();
  put(section, "kind", joint_kinds()[static_cast<std::size_t>(joint.kind)]);
  put(section, "body", joint.body);
  if (!joint.other.empty()) put(section, "to", joint.other);
  put(section, "point", made_list(joint.point));
  put(section, "axis", made_list(joint.axis));
  if (joint.armature > 0.0) put(section, "armature", joint.armature);
  if (joint.follows.empty()) return section;
  Value follows = made_mapping();
  put(follows, "joint", joint.follows);
  put(follows, "ratio", joint.ratio);
  put(section, "follows", std::move(follows));
  return section;
}

void put_drive(Value& section, const JointDrive& drive) {
  for (const char* const key : {"torque", "target"}) put(section, key, 0.0);
  put(section, "stiffness", drive.stiffness);
  put(section, "damping", drive.damping);
  put(section, "friction", drive.friction);
  put(section, "friction_velocity", drive.friction_velocity);
  if (drive.limit_stiffness == 0.0) return;
  put(section, "limits", made_list(drive.limits.data(), drive.limits.size()));
  put(section, "limit_stiffness", drive.limit_stiffness);
  if (drive.limit_distance > 0.0) put(section, "limit_distance", drive.limit_distance);
}

Value section_of(const Placement& placement) {
  Value section = made_mapping(), rotation = made_mapping();
  put(section, "scale", made_list(placement.scale));
  put(rotation, "axis", made_list(placement.axis));
  put(rotation, "angle", placement.angle);
  put(section, "rotate", std::move(rotation));
  put(section, "translate", made_list(placement.translate));
  return section;
}

Value section_of(const RegionShape& shape) {
  Value section = made_mapping(), given = made_mapping();
  if (const BoxShape* const box = std::get_if<BoxShape>(&shape)) {
    put(given, "min", made_list(box->min));
    put(given, "max", made_list(box->max));
    put(section, "box", std::move(given));
  } else if (const SphereShape* const sphere = std::get_if<SphereShape>(&shape)) {
    put(given, "center", made_list(sphere->center));
    put(given, "radius", sphere->radius);
    put(section, "sphere", std::move(given));
  } else {
    Value numbers = made_list();
    for (const std::int64_t vertex : std::get<VertexList>(shape).vertices) numbers.items.push_back(scalar_with(vertex));
    put(section, "vertices", std::move(numbers));
  }
  return section;
}

}  // namespace diffsim::app
