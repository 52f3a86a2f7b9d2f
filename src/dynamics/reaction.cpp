// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/dynamics/reaction.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/add_to_entries.hpp"
#include "core/exchange.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/runtime.hpp"
#include "dynamics/vector_kernels.hpp"

namespace diffsim {
namespace {

/// Returns a copy of a field [owned vertices, 3] on local vertices, with ghost values up to date.
Field on_local_vertices(const System& system, const Field& owned) {
  Field local = system.scratch_field("reaction::velocities");
  dynamics::copy_values(static_cast<int>(owned.size()), owned, local);
  system.mesh().vertex_exchange().copy_to_ghosts(local);
  return local;
}

/// Adds the owned entries of a field on local vertices to a field on local or owned vertices.
void add_owned(const Field& from, Field& to) { dynamics::add_scaled(static_cast<int>(to.owned_size()), 1.0, from, to); }

std::array<double, 3> times(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return {a[0] * b[0], a[1] * b[1], a[2] * b[2]};
}

/// Returns a scalar times a vector.
std::array<double, 3> times(double a, const std::array<double, 3>& b) { return {a * b[0], a * b[1], a * b[2]}; }

/// Returns gravity (m/s²) from `set`, multiplied by the load factor of the configuration. Returns zeros if `set` does
/// not contain gravity.
std::array<double, 3> gravity_at(const Configuration& at, const ParameterSet& set) {
  const Parameter* const gravity = set.find("gravity");
  if (!gravity) return {};
  const std::vector<double> g = gravity->field.to_host();
  const std::size_t first = 3 * gravity->offset(at.step);
  return times(at.factor_of(*gravity), {g[first], g[first + 1], g[first + 2]});
}

}  // namespace

/// Configuration at which the forces of state n are evaluated.
struct Reaction::Evaluation {
  Field velocities;
  Configuration at;
  Evaluation(const Reaction& of, int n, const State& state)
      : velocities(on_local_vertices(*of.system_, state["velocities"])),
        at{state["positions"], std::max(n - 1, 0), nullptr, &velocities, n * of.dt_} {
    if (of.ramp_steps_ > 0) at.load_factor = std::min(1.0, (at.step + 1.0) / of.ramp_steps_);
  }
};

Reaction::Reaction(System& system, const Region& region, double dt, int ramp_steps)
    : system_(&system), region_(region.name), dt_(dt), ramp_steps_(ramp_steps) {
  system.prepare();
  const auto owned = static_cast<std::size_t>(system.mesh().num_owned_vertices());
  std::vector<std::uint8_t> masks(owned);
  Kokkos::deep_copy(HostSpan<std::uint8_t>(masks.data(), owned), DeviceSpan<const std::uint8_t>(system.fixed(), owned));
  for (const int v : region.vertices) {
    if (static_cast<std::size_t>(v) >= owned) continue;
    const std::uint8_t mask = masks[static_cast<std::size_t>(v)];
    for (int c = 0; c < 3; ++c)
      if ((mask >> c & 1) != 0) entries_.push_back({3 * v + c, (mask & (System::weightless | System::massless)) == 0});
  }
  auto count = static_cast<std::int64_t>(entries_.size());
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_SUM, comm()));
  if (count == 0)
    throw Error("region '" + region_ + "' has no reaction, because none of its vertices is fixed or moved",
                ErrorKind::input);
}

/// Returns -Σ f - Σ w for each component. Σ f is the sum over the fixed or moved entries of all ranks, and Σ w is the
/// sum of `weight` over all ranks.
std::array<double, 3> Reaction::sum(const Field& force, const std::array<double, 3>& weight) const {
  const std::vector<double> f = force.to_host();
  std::array<double, 3> sum = times(-1.0, weight);
  for (const Entry& entry : entries_) sum[entry.component()] -= f[static_cast<std::size_t>(entry.at)];
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sum.data(), 3, MPI_DOUBLE, MPI_SUM, comm()));
  return sum;
}

/// Returns this rank's sum Σ m w for each component, over the entries on which gravity acts.
std::array<double, 3> Reaction::weights(const Field& mass, const std::array<double, 3>& w) const {
  const std::vector<double> m = mass.to_host();
  std::array<double, 3> sums{};
  for (const Entry& entry : entries_)
    if (entry.weighs) sums[entry.component()] += m[entry.vertex()] * w[entry.component()];
  return sums;
}

/// Subtracts `weight` times the load factor from the gradient with respect to gravity, if `gradient` contains gravity.
void Reaction::add_to_gravity(const Configuration& at, const std::array<double, 3>& weight, ParameterSet& gradient) {
  Parameter* const gravity = gradient.find("gravity");
  if (!gravity) return;
  const std::array<double, 3> sum = times(-at.factor_of(*gravity), weight);
  add_to_entries(gravity->field, 3 * gravity->offset(at.step), {sum[0], sum[1], sum[2]});
}

/// Subtracts `vector` from the adjoint of the masses [owned vertices, 3] at the entries on which gravity acts.
void Reaction::add_to_masses(const std::array<double, 3>& vector, Field& mass_adjoint) const {
  std::vector<double> values = mass_adjoint.to_host();
  for (const Entry& entry : entries_)
    if (entry.weighs) values[static_cast<std::size_t>(entry.at)] -= vector[entry.component()];
  mass_adjoint.from_host(values);
}

/// Returns w̄ = (∂R/∂f)ᵀ w on local vertices, with ghost values up to date.
Field Reaction::seed(const std::array<double, 3>& w) const {
  Field seed = system_->scratch_field("reaction::seed");
  std::vector<double> values(seed.size(), 0.0);
  for (const Entry& entry : entries_) values[static_cast<std::size_t>(entry.at)] = -w[entry.component()];
  seed.from_host(values);
  system_->mesh().vertex_exchange().copy_to_ghosts(seed);
  return seed;
}

std::array<double, 3> Reaction::value(int n, const State& state) {
  const Evaluation here(*this, n, state);
  Field force = system_->scratch_field("reaction::force");
  system_->compute_force(here.at, force);
  return sum(force, weights(system_->mass(), gravity_at(here.at, system_->parameters())));
}

std::array<double, 3> Reaction::tangent(int n, const State& state, const State& tangent,
                                        const ParameterSet& direction) {
  const Evaluation here(*this, n, state);
  const Field velocities = on_local_vertices(*system_, tangent["velocities"]);
  Field force = system_->scratch_field("reaction::force");
  system_->compute_force_tangent(here.at, {tangent["positions"], &velocities}, direction, force);
  std::array<double, 3> weight = weights(system_->mass(), gravity_at(here.at, direction));
  if (system_->changes_mass(direction)) {
    const std::array<double, 3> change = weights(system_->mass_tangent(), gravity_at(here.at, system_->parameters()));
    for (std::size_t c = 0; c < 3; ++c) weight[c] += change[c];
  }
  return sum(force, weight);
}

void Reaction::add_adjoint(int n, const State& state, const std::array<double, 3>& w, State& adjoint,
                           ParameterSet& gradient) {
  const Evaluation here(*this, n, state);
  Field x = system_->scratch_field("reaction::positions"), v = system_->scratch_field("reaction::velocities");
  system_->compute_force_adjoint(here.at, seed(w), {x, &v}, gradient);
  add_owned(x, adjoint["positions"]);
  add_owned(v, adjoint["velocities"]);
  add_to_gravity(here.at, weights(system_->mass(), w), gradient);
  if (system_->changes_mass(gradient))
    add_to_masses(times(w, gravity_at(here.at, system_->parameters())), system_->mass_gradient());
}

void Reaction::add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& direction,
                                   const std::array<double, 3>& w, const std::array<double, 3>& dw,
                                   State& adjoint_tangent, ParameterSet& gradient_tangent) {
  const Evaluation here(*this, n, state);
  const Field velocities = on_local_vertices(*system_, tangent["velocities"]);
  Field x = system_->scratch_field("reaction::positions"), v = system_->scratch_field("reaction::velocities");
  const Field along_w = seed(w), along_dw = seed(dw);
  system_->compute_force_adjoint_tangent(here.at, {tangent["positions"], &velocities}, direction, &along_w, &along_dw,
                                         {x, &v}, gradient_tangent);
  add_owned(x, adjoint_tangent["positions"]);
  add_owned(v, adjoint_tangent["velocities"]);
  // Derivatives of the products m w and w g that `add_adjoint` adds to the adjoints of gravity and masses.
  add_to_gravity(here.at, weights(system_->mass(), dw), gradient_tangent);
  if (system_->changes_mass(direction)) add_to_gravity(here.at, weights(system_->mass_tangent(), w), gradient_tangent);
  if (!system_->changes_mass(gradient_tangent)) return;
  add_to_masses(times(dw, gravity_at(here.at, system_->parameters())), system_->mass_gradient_tangent());
  add_to_masses(times(w, gravity_at(here.at, direction)), system_->mass_gradient_tangent());
}

// ---- the loss ---------------------------------------------------------------------------------------------------

ReactionLoss::ReactionLoss(Reaction reaction, std::map<int, std::array<double, 3>> observed)
    : reaction_(std::move(reaction)), observed_(std::move(observed)) {
  std::erase_if(observed_, [](const auto& entry) {
    return std::all_of(entry.second.begin(), entry.second.end(), [](double value) { return std::isnan(value); });
  });
  if (observed_.empty())
    throw Error("no component of the reaction of region '" + reaction_.region() + "' is observed", ErrorKind::input);
}

bool ReactionLoss::multiply(double factor) {
  factor_ *= factor;
  return true;
}

std::array<double, 3> ReactionLoss::observed_part(int n, std::array<double, 3> vector) const {
  const std::array<double, 3>& observed = observed_.at(n);
  for (std::size_t c = 0; c < 3; ++c)
    if (std::isnan(observed[c])) vector[c] = 0.0;
  return vector;
}

std::array<double, 3> ReactionLoss::weighted(const std::array<double, 3>& vector) const {
  return times(factor_ / static_cast<double>(observed_.size()), vector);
}

std::array<double, 3> ReactionLoss::residual(int n, const State& state) {
  std::array<double, 3> difference = reaction_.value(n, state);
  for (std::size_t c = 0; c < 3; ++c) difference[c] -= observed_.at(n)[c];
  return observed_part(n, difference);
}

double ReactionLoss::value(int n, const State& state, const ParameterSet&) {
  const std::array<double, 3> r = residual(n, state), w = weighted(r);
  return is_first_rank(reaction_.comm()) ? 0.5 * (w[0] * r[0] + w[1] * r[1] + w[2] * r[2]) : 0.0;
}

double ReactionLoss::tangent(int n, const State& state, const ParameterSet&, const State& tangent,
                             const ParameterSet& direction) {
  const std::array<double, 3> w = weighted(residual(n, state)), dR = reaction_.tangent(n, state, tangent, direction);
  return is_first_rank(reaction_.comm()) ? w[0] * dR[0] + w[1] * dR[1] + w[2] * dR[2] : 0.0;
}

void ReactionLoss::add_gradient(int n, const State& state, const ParameterSet&, State& adjoint,
                                ParameterSet& gradient) {
  reaction_.add_adjoint(n, state, weighted(residual(n, state)), adjoint, gradient);
}

void ReactionLoss::add_gradient_tangent(int n, const State& state, const ParameterSet&, const State& tangent,
                                        const ParameterSet& direction, State& adjoint_tangent,
                                        ParameterSet& gradient_tangent) {
  const std::array<double, 3> dR = observed_part(n, reaction_.tangent(n, state, tangent, direction));
  reaction_.add_adjoint_tangent(n, state, tangent, direction, weighted(residual(n, state)), weighted(dR),
                                adjoint_tangent, gradient_tangent);
}

void ReactionLoss::add_gauss_newton(int n, const State& state, const ParameterSet&, const State& tangent,
                                    const ParameterSet& direction, State& adjoint, ParameterSet& gradient) {
  const std::array<double, 3> dR = observed_part(n, reaction_.tangent(n, state, tangent, direction));
  reaction_.add_adjoint(n, state, weighted(dR), adjoint, gradient);
}

}  // namespace diffsim
