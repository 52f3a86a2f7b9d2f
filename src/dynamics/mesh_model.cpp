// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/dynamics/mesh_model.hpp"

#include <algorithm>
#include <utility>

#include "diffsim/core/device.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/dynamics/parameters.hpp"
#include "dynamics/rigid_motion.hpp"

namespace diffsim {

struct MeshModel::Mask {
  DeviceArray<std::uint8_t> fixed;
};

namespace {

/// Zeroes what is not owned.
void clear_copies(Field& field) {
  double* const x = field.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::clear_copies", Range(static_cast<int>(field.owned_size()), static_cast<int>(field.size())),
      KOKKOS_LAMBDA(int i) { x[i] = 0.0; });
  Kokkos::fence();
}

}  // namespace

MeshModel::MeshModel(std::shared_ptr<const TetrahedralMesh> mesh, double dt)
    : mesh_(std::move(mesh)), dt_(dt), mass_(*mesh_), mask_(std::make_unique<Mask>()) {
  if (!(dt_ > 0.0)) throw Error("dt is " + std::to_string(dt_) + " s; it must be positive", ErrorKind::input);
  mask_->fixed = make_zeroed_device_array<std::uint8_t>("diffsim::dynamics::fixed",
                                                        static_cast<std::size_t>(mesh_->num_owned_vertices()));
  const MPI_Comm comm = mesh_->comm();
  parameters_.add(DynamicsParameters::density, mesh_->cell_entities());
  parameters_.add(DynamicsParameters::gravity, Entities::one_for_all(comm)).field.from_host({0.0, -9.8, 0.0});
  parameters_.add(DynamicsParameters::rest_positions, mesh_->vertex_entities())
      .field.from_host(mesh_->rest_positions());
}

MeshModel::~MeshModel() = default;

void MeshModel::add_term(std::unique_ptr<ForceTerm> term) { terms_.push_back(std::move(term)); }

void MeshModel::fix(const std::vector<int>& vertices, std::array<bool, 3> axes) {
  const auto host = host_view(mask_->fixed);
  for (const int v : vertices) {
    if (v >= mesh_->num_owned_vertices()) continue;
    for (std::size_t c = 0; c < 3; ++c)
      if (axes[c]) host(static_cast<std::size_t>(v)) |= static_cast<std::uint8_t>(1u << c);
  }
  Kokkos::deep_copy(mask_->fixed, host);
}

void MeshModel::move(const std::string& name, const std::vector<int>& vertices, std::array<double, 3> axis,
                     std::array<double, 3> origin, const std::vector<double>& angular_velocity,
                     const std::vector<double>& velocity) {
  const auto host = host_view(mask_->fixed);
  std::vector<int> owned;
  collectively(comm(), [&] {
    for (const int v : vertices) {
      if (v >= mesh_->num_owned_vertices()) continue;
      if (host(static_cast<std::size_t>(v)) != 0)
        throw Error("vertex " + std::to_string(mesh_->vertex_order().file_index()[static_cast<std::size_t>(v)]) +
                        " is fixed or moved already; a vertex can follow one of them only",
                    ErrorKind::input);
      owned.push_back(v);
    }
  });
  motions_.push_back(std::make_unique<dynamics::RigidMotion>(name, axis, origin, dt_, owned));
  const auto steps_of = [](const std::vector<double>& values, std::size_t a_step) {
    if (values.empty() || values.size() % a_step != 0)
      throw Error("a motion's rates need " + std::to_string(a_step) + " numbers, or so many a step", ErrorKind::input);
    return static_cast<int>(values.size() / a_step);
  };
  const auto one = Entities::one_for_all(comm());
  parameters_.add(DynamicsParameters::angular_velocity, one, steps_of(angular_velocity, 1), name)
      .field.from_host(angular_velocity);
  parameters_.add(DynamicsParameters::velocity, one, steps_of(velocity, 3), name).field.from_host(velocity);
  fix(owned, {true, true, true});
}

void MeshModel::apply_motions(int n, double t, double h, const Field& x, Field& y, Field& v) const {
  for (const auto& motion : motions_) motion->apply(parameters_, n, t, h, x, y, v);
}

void MeshModel::apply_motions_tangent(int n, double t, double h, const Field& x, const ParameterSet& direction,
                                      const Field& dx, Field& dy, Field& dv) const {
  for (const auto& motion : motions_) motion->apply_tangent(parameters_, direction, n, t, h, x, dx, dy, dv);
}

void MeshModel::apply_motions_adjoint(int n, double t, double h, const Field& x, Field& y_bar, Field& v_bar,
                                      ParameterSet& gradient) const {
  for (const auto& motion : motions_) motion->apply_adjoint(parameters_, n, t, h, x, y_bar, v_bar, gradient);
}

const std::uint8_t* MeshModel::fixed() const { return mask_->fixed.data(); }

Field MeshModel::local_field(const char* name) const { return {name, mesh_->vertex_entities(), 3}; }

State MeshModel::make_state() const {
  State state;
  state.add(local_field("positions"));
  state.add(Field("velocities", mesh_->owned_vertex_entities(), 3));
  return state;
}

bool MeshModel::any_term_uses_velocities() const {
  return std::any_of(terms_.begin(), terms_.end(), [](const auto& term) { return term->uses_velocities(); });
}

void MeshModel::prepare() {
  mass_.compute(parameters_.at("density").field, parameters_.at("rest_positions").field);
  for (const auto& term : terms_) term->prepare(parameters_);
}

void MeshModel::prepare_tangent(const ParameterSet& direction) {
  const Parameter* const density = direction.find("density");
  const Parameter* const rest = direction.find("rest_positions");
  if (density || rest)
    mass_.compute_tangent(parameters_.at("density").field, parameters_.at("rest_positions").field,
                          density ? &density->field : nullptr, rest ? &rest->field : nullptr);
  for (const auto& term : terms_) term->prepare_tangent(parameters_, direction);
}

void MeshModel::begin_adjoint(const ParameterSet& gradient) {
  for (const auto& term : terms_) term->begin_adjoint(gradient);
  if (changes_mass(gradient)) mass_gradient_ = Field("mass_gradient", mesh_->owned_vertex_entities(), 3);
}

void MeshModel::prepare_adjoint(ParameterSet& gradient) {
  for (const auto& term : terms_) term->prepare_adjoint(parameters_, gradient);
  Parameter* const density = gradient.find("density");
  Parameter* const rest = gradient.find("rest_positions");
  if (density || rest)
    mass_.add_gradient(parameters_.at("density").field, parameters_.at("rest_positions").field, mass_gradient_,
                       density ? &density->field : nullptr, rest ? &rest->field : nullptr);
  // Shares at copies of other ranks' vertices belong to their owners, who get them once: more may be gathered and added
  // later.
  if (!rest) return;
  mesh_->vertex_exchange().add_to_owners(rest->field);
  clear_copies(rest->field);
}

void MeshModel::begin_terms_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) {
  if (gradient.find("rest_positions") || direction.find("rest_positions"))
    throw Error("no second derivative by 'rest_positions'; use an optimiser that needs gradients only",
                ErrorKind::input);
  for (const auto& term : terms_) term->begin_adjoint_tangent(gradient, direction);
}

void MeshModel::begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) {
  for (const ParameterSet* set : {&gradient, &direction})
    for (const Parameter& parameter : *set)
      if (!parameter.spec.has_second_derivative)
        throw Error("no second derivative by '" + parameter.name() + "'; use an optimiser that needs gradients only",
                    ErrorKind::input);
  begin_terms_adjoint_tangent(gradient, direction);
  if (changes_mass(gradient)) mass_gradient_tangent_ = mass_gradient_.like("mass_gradient_tangent");
}

void MeshModel::prepare_adjoint_tangent(const ParameterSet& direction, ParameterSet& gradient_tangent) {
  for (const auto& term : terms_) term->prepare_adjoint_tangent(parameters_, direction, gradient_tangent);
  // Masses are linear in the density.
  if (Parameter* density = gradient_tangent.find("density"))
    mass_.add_gradient(parameters_.at("density").field, parameters_.at("rest_positions").field, mass_gradient_tangent_,
                       &density->field, nullptr);
}

bool MeshModel::changes_mass(const ParameterSet& set) { return set.find("density") || set.find("rest_positions"); }

void MeshModel::compute_force(const Configuration& at, Field& force) {
  force.fill(0.0);
  if (mesh_->vertex_exchange().is_alone()) {
    for (const auto& term : terms_) term->add_force(at, parameters_, force);
    return;
  }
  for (const auto& term : terms_) term->add_force_of(CellPart::shared, at, parameters_, force);
  mesh_->vertex_exchange().begin_add_to_owners(force);
  for (const auto& term : terms_) term->add_force_of(CellPart::inner, at, parameters_, force);
  mesh_->vertex_exchange().end_add_to_owners(force);
}

void MeshModel::compute_force_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                      const ParameterSet& direction, Field& force_tangent) {
  force_tangent.fill(0.0);
  for (const auto& term : terms_) term->add_force_tangent(at, tangent, direction, force_tangent);
  mesh_->vertex_exchange().add_to_owners(force_tangent);
}

void MeshModel::compute_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                                      ParameterSet& gradient) {
  adjoint.positions.fill(0.0);
  if (adjoint.velocities) adjoint.velocities->fill(0.0);
  if (mesh_->vertex_exchange().is_alone()) {
    for (const auto& term : terms_) term->add_force_adjoint(at, w, adjoint, gradient);
    return;
  }
  for (const auto& term : terms_) term->add_force_adjoint_of(CellPart::shared, at, w, adjoint, gradient);
  mesh_->vertex_exchange().begin_add_to_owners(adjoint.positions);
  for (const auto& term : terms_) term->add_force_adjoint_of(CellPart::inner, at, w, adjoint, gradient);
  mesh_->vertex_exchange().end_add_to_owners(adjoint.positions);
  if (adjoint.velocities) mesh_->vertex_exchange().add_to_owners(*adjoint.velocities);
}

void MeshModel::compute_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                              const ParameterSet& direction, const Field* w, const Field* dw,
                                              const ConfigurationAdjoint& adjoint_tangent,
                                              ParameterSet& gradient_tangent) {
  adjoint_tangent.positions.fill(0.0);
  if (adjoint_tangent.velocities) adjoint_tangent.velocities->fill(0.0);
  for (const auto& term : terms_)
    term->add_force_adjoint_tangent(at, tangent, direction, w, dw, adjoint_tangent, gradient_tangent);
  mesh_->vertex_exchange().add_to_owners(adjoint_tangent.positions);
  if (adjoint_tangent.velocities) mesh_->vertex_exchange().add_to_owners(*adjoint_tangent.velocities);
}

double MeshModel::kinetic_energy(const State& state) const {
  const double* const m = mass_.mass().data();
  const double* const v = state["velocities"].data();
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::dynamics::kinetic_energy", Range(0, static_cast<int>(state["velocities"].size())),
      KOKKOS_LAMBDA(int i, double& s) { s += 0.5 * m[i / 3] * v[i] * v[i]; }, sum);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, mesh_->comm()));
  return sum;
}

double MeshModel::potential_energy(const State& state, int n) {
  const Field& positions = state["positions"];
  double sum = 0.0;
  for (const auto& term : terms_) sum += term->energy({positions, n}, parameters_);
  const Parameter& gravity = parameters_.at("gravity");
  const double* const g = gravity.field.data() + 3 * gravity.offset(n);
  const double* const m = mass_.mass().data();
  const double* const x = positions.data();
  double weight = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::dynamics::gravity_energy", Range(0, static_cast<int>(positions.owned_size())),
      KOKKOS_LAMBDA(int i, double& s) { s -= m[i / 3] * g[i % 3] * x[i]; }, weight);
  sum += weight;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, mesh_->comm()));
  return sum;
}

}  // namespace diffsim
