// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/inverse/losses.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "core/add_to_entries.hpp"
#include "core/squared_unit.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Returns the sum Σ (x - x̂) dx over the observed components of this rank, with the positions x, the observed positions
/// x̂ and dx = `tangent`. Returns Σ (x - x̂)² if `tangent` is nullptr.
double misfit_product(const Field& observed, const Field& positions, const Field* tangent) {
  const double* const target = observed.data();
  const double* const x = positions.data();
  const double* const y = tangent ? tangent->data() : nullptr;
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::inverse::misfit", Range(0, static_cast<int>(observed.size())),
      KOKKOS_LAMBDA(int i, double& s) {
        const double r = x[i] - target[i];
        if (target[i] == target[i]) s += r * (y ? y[i] : r);
      },
      sum);
  return sum;
}

/// Adds `weight` · (x - x̂) to `adjoint` in the observed components, with the positions x and the observed positions x̂.
void add_misfit(double weight, const Field& observed, const Field& positions, Field& adjoint) {
  const double* const target = observed.data();
  const double* const x = positions.data();
  double* const x_bar = adjoint.data();
  Kokkos::parallel_for(
      "diffsim::inverse::misfit_gradient", Range(0, static_cast<int>(observed.size())), KOKKOS_LAMBDA(int i) {
        if (target[i] == target[i]) x_bar[i] += weight * (x[i] - target[i]);
      });
  Kokkos::fence();
}

/// Adds `weight` · `tangent` to `adjoint` in the observed components.
void add_misfit_tangent(double weight, const Field& observed, const Field& tangent, Field& adjoint) {
  const double* const target = observed.data();
  const double* const dx = tangent.data();
  double* const x_bar = adjoint.data();
  Kokkos::parallel_for(
      "diffsim::inverse::misfit_gradient_tangent", Range(0, static_cast<int>(observed.size())), KOKKOS_LAMBDA(int i) {
        if (target[i] == target[i]) x_bar[i] += weight * dx[i];
      });
  Kokkos::fence();
}

/// Adds `weights[v]` · `vector` to `adjoint[v]` for each owned vertex v.
void add_outer(const Field& weights, std::array<double, 3> vector, Field& adjoint) {
  const double* const w = weights.data();
  double* const x_bar = adjoint.data();
  const double a = vector[0], b = vector[1], c = vector[2];
  Kokkos::parallel_for(
      "diffsim::inverse::target_gradient", Range(0, static_cast<int>(weights.size())), KOKKOS_LAMBDA(int i) {
        x_bar[3 * i] += w[i] * a;
        x_bar[3 * i + 1] += w[i] * b;
        x_bar[3 * i + 2] += w[i] * c;
      });
  Kokkos::fence();
}

/// Returns Σ_v w_v x_v over the owned vertices v of this rank, with w = `weights` and component `component` of the
/// positions x.
double weighted_component(const Field& weights, const Field& positions, int component) {
  const double* const w = weights.data();
  const double* const x = positions.data();
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::inverse::weighted_mean", Range(0, static_cast<int>(weights.size())),
      KOKKOS_LAMBDA(int i, double& s) { s += w[i] * x[3 * i + component]; }, sum);
  return sum;
}

/// Adds `a` · `x_field` to `y_field` on the owned entries.
void add_owned(double a, const Field& x_field, Field& y_field) {
  const double* const x = x_field.data();
  double* const y = y_field.data();
  Kokkos::parallel_for(
      "diffsim::inverse::add_owned", Range(0, static_cast<int>(x_field.owned_size())),
      KOKKOS_LAMBDA(int i) { y[i] += a * x[i]; });
  Kokkos::fence();
}

}  // namespace

void SumLoss::add(std::shared_ptr<Loss> loss, double weight) {
  std::string unit = loss->unit();
  if (loss->multiply(weight)) weight = 1.0;
  losses_.push_back({std::move(loss), weight, std::move(unit)});
}

void SumLoss::add_likelihood(std::shared_ptr<Loss> loss, double deviation, double weight) {
  if (!(deviation > 0.0) || !std::isfinite(deviation))
    throw Error("the standard deviation of observations is " + std::to_string(deviation) + "; give a number above 0",
                ErrorKind::input);
  const double factor = loss->num_observations() / (deviation * deviation);
  add(std::move(loss), factor * weight);
  losses_.back().unit = "1";
}

bool SumLoss::multiply(double factor) {
  for (auto& [loss, weight, unit] : losses_)
    if (!loss->multiply(factor)) weight *= factor;
  return true;
}

std::string SumLoss::unit() const {
  if (losses_.empty()) return "1";
  for (const Item& item : losses_)
    if (item.unit != losses_.front().unit) return "1";
  return losses_.front().unit;
}

double SumLoss::num_observations() const {
  throw Error("a sum of losses has no common number of observations; give the standard deviation of each loss",
              ErrorKind::input);
}

bool SumLoss::observes(int n) const {
  for (const auto& [loss, weight, unit] : losses_)
    if (loss->observes(n)) return true;
  return false;
}

double SumLoss::value(int n, const State& state, const ParameterSet& parameters) {
  double sum = 0.0;
  for (const auto& [loss, weight, unit] : losses_)
    if (loss->observes(n)) sum += weight * loss->value(n, state, parameters);
  return sum;
}

double SumLoss::tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                        const ParameterSet& direction) {
  double sum = 0.0;
  for (const auto& [loss, weight, unit] : losses_)
    if (loss->observes(n)) sum += weight * loss->tangent(n, state, parameters, tangent, direction);
  return sum;
}

void SumLoss::add_weighted(int n, State& adjoint, ParameterSet& gradient,
                           const std::function<void(Loss&, State&, ParameterSet&)>& add) {
  if (scratch_.fields().empty()) scratch_ = adjoint.zero_like();
  for (const auto& [loss, weight, unit] : losses_) {
    if (!loss->observes(n)) continue;
    if (weight == 1.0) {
      add(*loss, adjoint, gradient);
      continue;
    }
    scratch_.fill(0.0);
    ParameterSet scaled = gradient.zero_like(gradient.names());
    add(*loss, scratch_, scaled);
    axpy(weight, scratch_, adjoint);
    for (const Parameter& parameter : scaled) axpy(weight, parameter.field, gradient.at(parameter.name()).field);
  }
}

void SumLoss::add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                           ParameterSet& gradient) {
  add_weighted(n, adjoint, gradient, [&](Loss& loss, State& to, ParameterSet& to_gradient) {
    loss.add_gradient(n, state, parameters, to, to_gradient);
  });
}

void SumLoss::add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                                   const ParameterSet& direction, State& adjoint_tangent,
                                   ParameterSet& gradient_tangent) {
  add_weighted(n, adjoint_tangent, gradient_tangent, [&](Loss& loss, State& adjoint, ParameterSet& gradient) {
    loss.add_gradient_tangent(n, state, parameters, tangent, direction, adjoint, gradient);
  });
}

void SumLoss::add_gauss_newton(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                               const ParameterSet& direction, State& adjoint, ParameterSet& gradient) {
  add_weighted(n, adjoint, gradient, [&](Loss& loss, State& to, ParameterSet& to_gradient) {
    loss.add_gauss_newton(n, state, parameters, tangent, direction, to, to_gradient);
  });
}

TrackLoss::TrackLoss(const TetrahedralMesh& mesh, const std::map<int, std::vector<double>>& observed,
                     const Region& region) {
  std::vector<char> inside(static_cast<std::size_t>(mesh.num_vertices()), 0);
  for (const int v : region.vertices) inside[static_cast<std::size_t>(v)] = 1;
  double count = 0.0;
  for (const auto& [step, positions] : observed) {
    std::vector<double> values = positions;
    for (std::size_t v = 0; v < values.size() / 3; ++v) {
      bool any = false;
      for (std::size_t c = 0; c < 3; ++c) {
        double& value = values[3 * v + c];
        if (!inside[v]) value = nan;
        any = any || !std::isnan(value);
      }
      if (any) count += 1.0;
    }
    Field field("observed", mesh.owned_vertex_entities(), 3);
    field.from_host(values);
    observed_.emplace(step, std::move(field));
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_DOUBLE, MPI_SUM, mesh.comm()));
  if (count == 0.0)
    throw Error("nothing is observed: no vertex of region '" + region.name + "' has a position at any wanted step",
                ErrorKind::input);
  weight_ = 1.0 / count;
}

bool TrackLoss::observes(int n) const { return observed_.count(n) > 0; }

double TrackLoss::value(int n, const State& state, const ParameterSet&) {
  return 0.5 * weight_ * misfit_product(observed_.at(n), state["positions"], nullptr);
}

double TrackLoss::tangent(int n, const State& state, const ParameterSet&, const State& tangent, const ParameterSet&) {
  return weight_ * misfit_product(observed_.at(n), state["positions"], &tangent["positions"]);
}

void TrackLoss::add_gradient(int n, const State& state, const ParameterSet&, State& adjoint, ParameterSet&) {
  add_misfit(weight_, observed_.at(n), state["positions"], adjoint["positions"]);
}

void TrackLoss::add_gradient_tangent(int n, const State&, const ParameterSet&, const State& tangent,
                                     const ParameterSet&, State& adjoint_tangent, ParameterSet&) {
  add_misfit_tangent(weight_, observed_.at(n), tangent["positions"], adjoint_tangent["positions"]);
}

TargetLoss::TargetLoss(const TetrahedralMesh& mesh, const Region& region, std::string field, std::string unit,
                       std::array<double, 3> target, int step)
    : comm_(mesh.comm()),
      field_(std::move(field)),
      unit_(std::move(unit)),
      weights_("weights", static_cast<std::size_t>(mesh.num_owned_vertices())),
      target_(target),
      step_(step) {
  rank_ = rank_of(comm_);
  std::vector<double> weights(weights_.size(), 0.0);
  for (const int v : region.vertices)
    if (v < mesh.num_owned_vertices())
      weights[static_cast<std::size_t>(v)] = 1.0 / static_cast<double>(region.num_vertices);
  weights_.from_host(weights);
}

std::array<double, 3> TargetLoss::mean(const Field& values) const {
  std::array<double, 3> sums{};
  for (int c = 0; c < 3; ++c) sums[static_cast<std::size_t>(c)] = weighted_component(weights_, values, c);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 3, MPI_DOUBLE, MPI_SUM, comm_));
  return sums;
}

double TargetLoss::value(int, const State& state, const ParameterSet&) {
  const std::array<double, 3> at = mean(state[field_]);
  double sum = 0.0;
  for (std::size_t c = 0; c < 3; ++c) sum += 0.5 * (at[c] - target_[c]) * (at[c] - target_[c]);
  return rank_ == 0 ? sum : 0.0;
}

double TargetLoss::tangent(int, const State& state, const ParameterSet&, const State& tangent, const ParameterSet&) {
  const std::array<double, 3> at = mean(state[field_]);
  const std::array<double, 3> along = mean(tangent[field_]);
  double sum = 0.0;
  for (std::size_t c = 0; c < 3; ++c) sum += (at[c] - target_[c]) * along[c];
  return rank_ == 0 ? sum : 0.0;
}

void TargetLoss::add_gradient(int, const State& state, const ParameterSet&, State& adjoint, ParameterSet&) {
  std::array<double, 3> miss = mean(state[field_]);
  for (std::size_t c = 0; c < 3; ++c) miss[c] -= target_[c];
  add_outer(weights_, miss, adjoint[field_]);
}

void TargetLoss::add_gradient_tangent(int, const State&, const ParameterSet&, const State& tangent, const ParameterSet&,
                                      State& adjoint_tangent, ParameterSet&) {
  add_outer(weights_, mean(tangent[field_]), adjoint_tangent[field_]);
}

EffortLoss::EffortLoss(MPI_Comm comm, std::string parameter, double dt, int steps, const std::string& unit)
    : parameter_(std::move(parameter)),
      unit_(unit == "1" ? "s" : squared_unit(unit) + " s"),
      dt_(dt),
      steps_(steps),
      counts_(is_first_rank(comm)) {}

std::vector<double> EffortLoss::entries(int n, const ParameterSet& set) const {
  const Parameter& control = set.at(parameter_);
  if (!control.is_global())
    throw Error("'" + parameter_ + "' is not one value for the whole model, so it has no effort", ErrorKind::input);
  if (control.is_control)
    throw Error("a feedback or a link computes '" + parameter_ +
                    "', so no effort of it is available; remove the effort, or limit the outputs of the feedback",
                ErrorKind::input);
  const std::vector<double> all = control.field.to_host();
  const auto width = static_cast<std::size_t>(control.field.components());
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(width * control.offset(n));
  return {begin, begin + static_cast<std::ptrdiff_t>(width)};
}

double EffortLoss::value(int n, const State&, const ParameterSet& parameters) {
  double sum = 0.0;
  for (const double u : entries(n, parameters)) sum += 0.5 * dt_ * u * u;
  return counts_ ? sum : 0.0;
}

double EffortLoss::tangent(int n, const State&, const ParameterSet& parameters, const State&,
                           const ParameterSet& direction) {
  if (!counts_ || !direction.find(parameter_)) return 0.0;
  const std::vector<double> u = entries(n, parameters), du = entries(n, direction);
  double sum = 0.0;
  for (std::size_t c = 0; c < u.size(); ++c) sum += dt_ * u[c] * du[c];
  return sum;
}

void EffortLoss::add(int n, const ParameterSet& from, ParameterSet& to) const {
  Parameter* const sum = to.find(parameter_);
  if (!sum || !counts_ || !from.find(parameter_)) return;
  std::vector<double> u = entries(n, from);
  for (double& entry : u) entry *= dt_;
  add_to_entries(sum->field, u.size() * sum->offset(n), u);
}

void EffortLoss::add_gradient(int n, const State&, const ParameterSet& parameters, State&, ParameterSet& gradient) {
  add(n, parameters, gradient);
}

void EffortLoss::add_gradient_tangent(int n, const State&, const ParameterSet&, const State&,
                                      const ParameterSet& direction, State&, ParameterSet& gradient_tangent) {
  add(n, direction, gradient_tangent);
}

double TerminalLoss::value(int, const State& state, const ParameterSet&) { return local_dot(*weights_, state); }

double TerminalLoss::tangent(int, const State&, const ParameterSet&, const State& tangent, const ParameterSet&) {
  return local_dot(*weights_, tangent);
}

void TerminalLoss::add_gradient(int, const State&, const ParameterSet&, State& adjoint, ParameterSet&) {
  for (std::size_t i = 0; i < adjoint.fields().size(); ++i) add_owned(1.0, weights_->fields()[i], adjoint.fields()[i]);
}

void TerminalLoss::add_gradient_tangent(int, const State&, const ParameterSet&, const State&, const ParameterSet&,
                                        State&, ParameterSet&) {}

}  // namespace diffsim
