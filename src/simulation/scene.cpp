// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/simulation/scene.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "adjoint/linked_model.hpp"
#include "body/joint_drive.hpp"
#include "body/parameters.hpp"
#include "body/rotor.hpp"
#include "core/nearest_word.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/sensor/feedback.hpp"
#include "dynamics/parameters.hpp"
#include "dynamics/system_model.hpp"
#include "dynamics/time/explicit_model.hpp"
#include "dynamics/time/implicit_model.hpp"
#include "io/trajectory_frame.hpp"
#include "mesh/directors.hpp"
#include "sensor/feedback_link.hpp"
#include "sensor/make_sensor.hpp"
#include "sensor/parameters.hpp"
#include "simulation/contact_terms.hpp"
#include "simulation/control_steps.hpp"

namespace diffsim {
namespace {

/// Returns the materials of all bodies, with names of regions in the mesh of all bodies: BODY/REGION.
Materials joint_materials(const std::vector<Body>& bodies) {
  Materials all;
  for (const Body& body : bodies)
    for (DifferentiableMaterial material : body.materials) {
      material.region = body.name + '/' + material.region;
      all.push_back(std::move(material));
    }
  return all;
}

/// Returns the work of the model with the largest work per cell among the models of a body's materials.
CellWork work_of_body(const Body& body, Integrator integrator) {
  CellWork work = work_of_model("", integrator, body.has_contact);
  for (const DifferentiableMaterial& material : body.materials)
    work.cell = std::max(work.cell, work_of_model(material.model, integrator, body.has_contact).cell);
  return work;
}

std::shared_ptr<TetrahedralMesh> joint_mesh(MPI_Comm comm, std::vector<Body>& bodies, Integrator integrator) {
  std::vector<NamedMesh> meshes;
  for (Body& body : bodies) {
    place(body.mesh, body.placement);
    if (body.mesh.work == CellWork{}) body.mesh.work = work_of_body(body, integrator);
    meshes.push_back({body.name, std::move(body.mesh)});
  }
  return std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(meshes)));
}

/// Throws Error (input) if a link computes the velocity of a region that turns. The position of the region's axis then
/// depends on all earlier states, and is not part of a trajectory.
void require_known_axes(const ParameterSet& parameters) {
  for (const Parameter& velocity : parameters) {
    if (!velocity.is_control || velocity.spec.name != DynamicsParameters::velocity.name) continue;
    const std::string region = velocity.name().substr(velocity.spec.name.size() + 1);
    const Parameter& rate = parameters.at(std::string(DynamicsParameters::angular_velocity.name) + ":" + region);
    const std::vector<double> rates = rate.field.to_host();
    if (!rate.is_control && std::all_of(rates.begin(), rates.end(), [](double value) { return value == 0.0; }))
      continue;
    throw Error(
        "a feedback or a link computes the velocity of the region '" + region +
            "', which also turns, and a trajectory does not contain the position of the axis; start from step 0",
        ErrorKind::input);
  }
}

}  // namespace

DifferentiableScene::DifferentiableScene(std::shared_ptr<TetrahedralMesh> mesh,
                                         std::vector<DifferentiableMaterial> materials, DifferentiableSolver solver)
    : mesh_(std::move(mesh)), materials_(std::move(materials)) {
  if (!(solver.damping >= 0.0 && solver.damping <= 1.0))
    throw Error("damping is " + std::to_string(solver.damping) + "; it is a factor in [0, 1]", ErrorKind::input);
  const auto system = std::make_shared<System>(mesh_);
  if (is_explicit(solver.integrator)) {
    integrator_ = std::make_unique<ExplicitModel>(system, solver.integrator, solver.dt, solver.substeps);
    if (Parameter* const damping = parameters().find("damping")) damping->field.fill(solver.damping);
  } else {
    if (!solver.use_implicit_diff) solver.implicit.implicit_differentiation = false;
    integrator_ = std::make_unique<ImplicitModel>(system, solver.integrator, solver.dt, solver.implicit);
  }
  parameters().at("gravity").field.from_host({solver.gravity.begin(), solver.gravity.end()});
  set_materials();
  release_free_memory();  // later allocations do not have to reuse fragments left by the set-up
}

DifferentiableScene::DifferentiableScene(MPI_Comm comm, std::vector<Body> bodies, DifferentiableSolver solver)
    : DifferentiableScene(joint_mesh(comm, bodies, solver.integrator), joint_materials(bodies), solver) {}

DifferentiableScene::~DifferentiableScene() = default;
DifferentiableScene::DifferentiableScene(DifferentiableScene&&) noexcept = default;

Model& DifferentiableScene::current_model() { return linked_ ? static_cast<Model&>(*linked_) : *integrator_; }

Model& DifferentiableScene::model() {
  has_given_model_ = true;
  return current_model();
}

double DifferentiableScene::dt() const { return integrator_->dt(); }
System& DifferentiableScene::system() { return integrator_->system(); }

bool DifferentiableScene::is_implicit() const {
  return dynamic_cast<const ImplicitModel*>(integrator_.get()) != nullptr;
}

void DifferentiableScene::fix(const std::string& region, std::array<bool, 3> axes) {
  system().fix(mesh_->region(region).vertices, axes);
}

void DifferentiableScene::clamp(const std::string& region, std::array<bool, 3> axes) {
  const auto count = std::count(axes.begin(), axes.end(), true);
  if (count != 1 && count != 3)
    throw Error("a clamp of region '" + region +
                    "' has two components; give all three, or the axis normal to a plane of symmetry",
                ErrorKind::input);
  system().clamp(mesh_->region(region).vertices, axes);
}

void DifferentiableScene::move(const std::string& region, std::array<double, 3> axis, std::array<double, 3> origin,
                               const std::vector<double>& angular_velocity, const std::vector<double>& velocity) {
  system().move(region, mesh_->region(region).vertices, axis, origin, angular_velocity, velocity);
}

void DifferentiableScene::join(const Joint& joint) { system().join(joint); }

void DifferentiableScene::drive(const std::string& name, const JointDrive& drive) {
  const std::vector<Joint> joints = system().joints();
  const auto joint = std::find_if(joints.begin(), joints.end(), [&](const Joint& j) { return j.name == name; });
  if (joint == joints.end()) {
    std::vector<std::string> names;
    for (const Joint& known : joints) names.push_back(known.name);
    const std::string close = nearest(name, names);
    throw Error("there is no joint '" + name + "'" + (close.empty() ? "" : "; did you mean '" + close + "'?"),
                ErrorKind::input);
  }
  if (parameters().find(std::string(JointParameters::torque.name) + ":" + name))
    throw Error("joint '" + name + "' is already driven; change its parameters instead, such as joint_torque:" + name,
                ErrorKind::input);
  const auto check = [&](const ParameterSpec& of_joints, const std::vector<double>& values) {
    const ParameterSpec spec = JointParameters::of_kind(of_joints, joint->kind);
    steps_of(values, 1, "the drive of a joint");
    for (const double value : values)
      if (const std::string fault = range_error(spec, value); !fault.empty())
        throw Error(std::string(spec.name) + ":" + name + ": " + fault, ErrorKind::input);
  };
  check(JointParameters::torque, drive.torque);
  check(JointParameters::stiffness, {drive.stiffness});
  check(JointParameters::damping, {drive.damping});
  check(JointParameters::target, drive.target);
  check(JointParameters::friction, {drive.friction});
  check(JointParameters::limit_stiffness, {drive.limit_stiffness});
  system().add_term(body::make_joint_drive(*mesh_, *joint, drive));
  const auto one = Entities::one_for_all(mesh_->comm());
  const auto add = [&](const ParameterSpec& of_joints, const std::vector<double>& values) {
    const ParameterSpec spec = JointParameters::of_kind(of_joints, joint->kind);
    parameters().add(spec, one, steps_of(values, 1, "the drive of a joint"), name).field.from_host(values);
  };
  add(JointParameters::torque, drive.torque);
  add(JointParameters::stiffness, {drive.stiffness});
  add(JointParameters::damping, {drive.damping});
  add(JointParameters::target, drive.target);
  add(JointParameters::friction, {drive.friction});
  add(JointParameters::limit_stiffness, {drive.limit_stiffness});
}

std::vector<double> DifferentiableScene::joint_coordinates(const State& state) {
  if (!joint_nodes_ || joint_nodes_->size() != system().joints().size())
    joint_nodes_ = std::make_shared<const std::vector<std::optional<body::JointNodes>>>(
        body::find_joint_nodes(*mesh_, system().joints()));
  return body::joint_coordinates(mesh_->comm(), system().joints(), *joint_nodes_, parameters(), state["positions"]);
}

void DifferentiableScene::set_control(const std::string& name, const std::vector<double>& values) {
  Parameter& parameter = parameters().at(name);
  if (parameter.is_control)
    throw Error("a feedback or a link computes '" + name + "', so its values cannot be given", ErrorKind::input);
  if (!parameter.is_global())
    throw Error("'" + name + "' is not one value for the whole body, so it cannot be given for each step",
                ErrorKind::input);
  const int components = parameter.field.components();
  const int steps = steps_of(values, static_cast<std::size_t>(components), "the control signal");
  parameter.field = Field(name, Entities::one_for_all(mesh_->comm()), components, steps);
  parameter.field.from_host(values);
}

void DifferentiableScene::set_initial_displacement(const std::vector<double>& displacement) {
  if (displacement.size() != 3 * static_cast<std::size_t>(mesh_->num_owned_vertices()))
    throw Error("the initial displacement needs three values per owned vertex", ErrorKind::input);
  initial_positions_.resize(displacement.size());
  for (std::size_t i = 0; i < displacement.size(); ++i)
    initial_positions_[i] = mesh_->rest_positions()[i] + displacement[i];
}

void DifferentiableScene::set_initial_velocity(const std::vector<double>& velocity) {
  if (velocity.size() != 3 * static_cast<std::size_t>(mesh_->num_owned_vertices()))
    throw Error("the initial velocity needs three values per owned vertex", ErrorKind::input);
  initial_velocities_ = velocity;
}

std::shared_ptr<Sensor> DifferentiableScene::sensor(const SensorSpec& spec) {
  return sensor::make_sensor({&system(), dt(), integrator_->ramp_steps()}, spec,
                             {[this](const Region& region) { return elastic_terms(region); },
                              [this](const std::array<std::string, 2>& between, sensor::ContactPart part) {
                                if (!has_contact())
                                  throw Error(
                                      "the scene has no contact, so contact forces cannot be measured; add "
                                      "contact before the sensor",
                                      ErrorKind::input);
                                return make_contact_between(*contact_, *mesh_, between, part);
                              }});
}

void DifferentiableScene::add_feedback(const Feedback& feedback) {
  if (!feedback.policy)
    throw Error("feedback '" + feedback.name + "' has no policy; give one, such as make_perceptron(…)",
                ErrorKind::input);
  ParameterSpec spec = FeedbackParameters::policy;
  if (parameters().find(std::string(spec.name) + ":" + feedback.name))
    throw Error("two feedbacks are called '" + feedback.name + "'; rename one of them", ErrorKind::input);
  spec.components = static_cast<int>(feedback.policy->num_weights());
  Parameter& weights = parameters().add(spec, Entities::one_for_all(mesh_->comm()), 1, feedback.name);
  try {
    weights.field.from_host(feedback.policy->initial_weights());
    add_link(std::make_shared<sensor::FeedbackLink>(feedback, weights.name(), parameters(), dt()));
  } catch (...) {
    parameters().remove_last();
    throw;
  }
}

void DifferentiableScene::add_link(std::shared_ptr<Link> link) {
  if (!linked_ && has_given_model_)
    throw Error(
        "the Model of the scene is already in use; create the scene again, and add links and feedbacks before problems "
        "and rollouts",
        ErrorKind::input);
  auto linked = linked_ ? nullptr : std::make_unique<LinkedModel>(*integrator_);
  (linked ? *linked : *linked_).add(std::move(link));
  if (linked) linked_ = std::move(linked);
}

State DifferentiableScene::initial_state() const {
  State state = integrator_->make_state();
  std::vector<double> positions = mesh_->rest_positions();
  std::copy(initial_positions_.begin(), initial_positions_.end(), positions.begin());
  state["positions"].from_host(positions);
  if (mesh_->num_global_directors() > 0) {
    synchronise(state);
    positions = state["positions"].to_host();
    turn_directors(*mesh_, positions);
    state["positions"].from_host(positions);
  }
  if (!initial_velocities_.empty()) state["velocities"].from_host(initial_velocities_);
  if (state.has("velocities")) turn_rotors(state);
  synchronise(state);
  return state;
}

void DifferentiableScene::turn_rotors(State& state) const {
  const std::vector<Joint> joints = integrator_->system().joints();
  if (std::all_of(joints.begin(), joints.end(), [](const Joint& joint) { return joint.armature == 0.0; })) return;
  std::vector<double> positions = state["positions"].to_host(), velocities = state["velocities"].to_host();
  body::turn_rotors(*mesh_, joints, positions, velocities);
  state["positions"].from_host(positions);
  state["velocities"].from_host(velocities);
}

int DifferentiableScene::read_frame(const std::string& trajectory, int step, State& state) const {
  state = initial_state();
  const int found = read_trajectory_frame(*mesh_, trajectory, step, state);
  if (found > 0) require_known_axes(integrator_->system().parameters());
  for (int n = 0; n < found; ++n) integrator_->system().advance_motions(n, integrator_->dt(), state);
  return found;
}

std::uint64_t DifferentiableScene::revision() { return system().revision(); }
bool DifferentiableScene::changed_since(std::uint64_t earlier) { return system().changed_since(earlier); }

void DifferentiableScene::prepare_if_changed() {
  if (!changed_since(prepared_)) return;
  current_model().prepare();
  prepared_ = revision();
}

void DifferentiableScene::step(int n, State& state) {
  prepare_if_changed();
  current_model().step(n, state, nullptr);
}

double DifferentiableScene::stable_substep() {
  auto* const stepper = dynamic_cast<ExplicitModel*>(integrator_.get());
  if (!stepper) return std::numeric_limits<double>::infinity();
  stepper->prepare();
  return stepper->stable_substep();
}

}  // namespace diffsim
