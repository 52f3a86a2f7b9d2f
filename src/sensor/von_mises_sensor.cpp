// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "sensor/cell_sensor.hpp"
#include "sensor/cell_sensor_base.hpp"
#include "sensor/cell_stress.hpp"

namespace diffsim::sensor {
namespace {

/// Returns Q σ, the gradient of the squared von Mises stress s = ½ σᵀ Q σ = 3/2 dev σ : dev σ, with one entry for each
/// entry of `SymmetricTensor`.
SymmetricTensor times_Q(const SymmetricTensor& sigma) {
  const double trace = sigma[0] + sigma[1] + sigma[2];
  SymmetricTensor product{};
  for (std::size_t k = 0; k < 3; ++k) product[k] = 3.0 * sigma[k] - trace;
  for (std::size_t k = 3; k < 6; ++k) product[k] = 6.0 * sigma[k];
  return product;
}

double dot(const SymmetricTensor& a, const SymmetricTensor& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < 6; ++k) sum += a[k] * b[k];
  return sum;
}

/// Power mean M of the von Mises stresses over all ranks, and the current volume V; or derivatives of M and V.
struct Mean {
  double M = 0.0, V = 0.0;
};

/// Derivatives of M with respect to the squared von Mises stress s and the volume v of a tetrahedron.
struct Slopes {
  double by_s = 0.0, by_v = 0.0;
};

/// Sensor of the power mean M = (Σ v s^{P/2} / V)^{1/P} over the tetrahedra of a region, with V = Σ v.
class VonMisesSensor final : public CellSensor {
 public:
  VonMisesSensor(const Site& site, const Region& region, double power, const MakeElasticTerms& elastic_terms)
      : CellSensor(site, region), power_(power), stresses_(site, region, elastic_terms) {
    if (!stresses_.has_law()) throw without_law(region, "von_mises");
  }
  std::string name() const override { return "von Mises stress of region '" + region_ + "'"; }
  std::string unit() const override { return "Pa"; }
  std::vector<std::string> components() const override { return {"stress"}; }

  Numbers value(int n, const State& state) override {
    const Evaluation here(site_, n, state);
    return {mean_of(stresses(here, positions(state))).M};
  }
  Numbers tangent(int n, const State& state, const State& tangent, const ParameterSet& set) override {
    const Evaluation here(site_, n, state);
    const CellPositions at = positions(state);
    const std::vector<CellStress> stress = stresses(here, at);
    return {mean_tangent(stress, mean_of(stress), stress_tangents(here, at, stress, tangent, set)).M};
  }
  void add_adjoint(int n, const State& state, const Numbers& w, State& adjoint, ParameterSet& gradient) override;
  void add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& set, const Numbers& w,
                           const Numbers& dw, State& adjoint_tangent, ParameterSet& gradient_tangent) override;

 private:
  int nodes() const { return nodes_of_order(site_.mesh().order()); }
  const int* vertices_of(int cell) const {
    return &site_.mesh().cells()[static_cast<std::size_t>(cell) * static_cast<std::size_t>(nodes())];
  }
  /// Adds factor · W y_a to `result` for each node a of a tetrahedron. The symmetric matrix W satisfies Σ w_k σ_k = W :
  /// σ.
  void add_product(int cell, double factor, const SymmetricTensor& w, const Numbers& y, Numbers& result) const;
  /// Returns the stresses of this rank's tetrahedra, in the order of the sets.
  std::vector<CellStress> stresses(const Evaluation& here, const CellPositions& at) const {
    return stresses_.values(here, at);
  }
  std::vector<CellStress> stress_tangents(const Evaluation& here, const CellPositions& at,
                                          const std::vector<CellStress>& stress, const State& tangent,
                                          const ParameterSet& set) const;
  Mean mean_of(const std::vector<CellStress>& stress) const;
  Mean mean_tangent(const std::vector<CellStress>& stress, const Mean& mean,
                    const std::vector<CellStress>& change) const;
  Slopes slopes(const CellStress& cell, const Mean& mean) const;
  /// Returns the derivatives of the slopes along `change` and `mean_change`.
  Slopes slope_changes(const CellStress& cell, const Mean& mean, const CellStress& change,
                       const Mean& mean_change) const;
  /// Returns the ratio √s / M for M > 0.
  static double ratio(const CellStress& cell, const Mean& mean) {
    return std::sqrt(0.5 * dot(cell.sigma, times_Q(cell.sigma))) / mean.M;
  }

  double power_;  // P
  CellStresses stresses_;
};

void VonMisesSensor::add_product(int cell, double factor, const SymmetricTensor& w, const Numbers& y,
                                 Numbers& result) const {
  for (int a = 0; a < nodes(); ++a) {
    const std::size_t i = 3 * static_cast<std::size_t>(vertices_of(cell)[a]);
    for (std::size_t k = 0; k < 6; ++k) {
      const double W = factor * (k < 3 ? 1.0 : 0.5) * w[k];
      result[i + tensor_rows[k]] += W * y[i + tensor_columns[k]];
      if (k > 2) result[i + tensor_columns[k]] += W * y[i + tensor_rows[k]];
    }
  }
}

std::vector<CellStress> VonMisesSensor::stress_tangents(const Evaluation& here, const CellPositions& at,
                                                        const std::vector<CellStress>& stress, const State& tangent,
                                                        const ParameterSet& set) const {
  const CellPositions along = direction(tangent, set);
  std::vector<CellStress> all;
  for (const CellStresses::Set& part : stresses_.sets()) {
    const Numbers f = part.forces.values(here.at), df = part.forces.tangents(here.at, tangent, set);
    for (const int cell : part.cells) {
      const CellStress& of = stress[all.size()];
      const SymmetricTensor by_f = stresses_.virial(cell, df, at.x), by_x = stresses_.virial(cell, f, along.x);
      CellStress change{{}, cell_sums_tangent(site_.mesh(), {cell}, at, along).volume};
      for (std::size_t k = 0; k < 6; ++k) change.sigma[k] = -(by_f[k] + by_x[k] + of.sigma[k] * change.v) / of.v;
      all.push_back(change);
    }
  }
  return all;
}

Mean VonMisesSensor::mean_of(const std::vector<CellStress>& stress) const {
  double largest = 0.0;  // of s
  for (const CellStress& cell : stress) largest = std::max(largest, 0.5 * dot(cell.sigma, times_Q(cell.sigma)));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, comm()));
  std::array<double, 2> sums{};
  for (const CellStress& cell : stress) {
    sums[0] += cell.v;
    if (largest > 0.0) sums[1] += cell.v * std::pow(0.5 * dot(cell.sigma, times_Q(cell.sigma)) / largest, 0.5 * power_);
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, comm()));
  return {std::sqrt(largest) * std::pow(sums[1] / sums[0], 1.0 / power_), sums[0]};
}

Mean VonMisesSensor::mean_tangent(const std::vector<CellStress>& stress, const Mean& mean,
                                  const std::vector<CellStress>& change) const {
  std::array<double, 2> sums{};
  for (std::size_t e = 0; e < stress.size(); ++e) {
    const Slopes slope = slopes(stress[e], mean);
    sums[0] += slope.by_s * dot(times_Q(stress[e].sigma), change[e].sigma) + slope.by_v * change[e].v;
    sums[1] += change[e].v;
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, comm()));
  return {sums[0], sums[1]};
}

// With r = √s/M: ∂M/∂s = v/V r^{P-2}/(2 M) and ∂M/∂v = M/(P V) (r^P - 1).
Slopes VonMisesSensor::slopes(const CellStress& cell, const Mean& mean) const {
  if (mean.M == 0.0) return {};
  const double r = ratio(cell, mean);
  return {cell.v / mean.V * std::pow(r, power_ - 2.0) / (2.0 * mean.M),
          mean.M / (power_ * mean.V) * (std::pow(r, power_) - 1.0)};
}

Slopes VonMisesSensor::slope_changes(const CellStress& cell, const Mean& mean, const CellStress& change,
                                     const Mean& mean_change) const {
  if (mean.M == 0.0) return {};
  const double r = ratio(cell, mean), dM = mean_change.M / mean.M, dV = mean_change.V / mean.V;
  const double ds = dot(times_Q(cell.sigma), change.sigma);
  // Where s = 0, the derivative of s is zero, and the derivative of r is replaced by zero.
  const double dr = r > 0.0 ? 0.5 * ds / (r * mean.M * mean.M) - r * dM : 0.0;
  const Slopes at = slopes(cell, mean);
  return {at.by_s * (change.v / cell.v - dV - dM + (r > 0.0 ? (power_ - 2.0) * dr / r : 0.0)),
          at.by_v * (dM - dV) + mean.M / mean.V * std::pow(r, power_ - 1.0) * dr};
}

// φ = w M. With W = w ∂M/∂s Q σ, the derivative of φ with respect to the stress of a tetrahedron, and σ = -(1/v) Σ_a
// sym(f_a ⊗ x_a): ∂φ/∂f_a = -(1/v) W x_a, ∂φ/∂x_a = -(1/v) W f_a, and ∂φ/∂v = w ∂M/∂v - W : σ / v.
void VonMisesSensor::add_adjoint(int n, const State& state, const Numbers& w, State& adjoint, ParameterSet& gradient) {
  const Evaluation here(site_, n, state);
  const CellPositions at = positions(state);
  const std::vector<CellStress> stress = stresses(here, at);
  const Mean mean = mean_of(stress);
  CellPositions bar = zeros();
  std::size_t e = 0;
  for (const CellStresses::Set& set : stresses_.sets()) {
    const Numbers f = set.forces.values(here.at);
    Numbers f_bar(at.x.size(), 0.0);
    for (const int cell : set.cells) {
      const CellStress& of = stress[e++];
      const Slopes slope = slopes(of, mean);
      SymmetricTensor W = times_Q(of.sigma);
      for (double& value : W) value *= w[0] * slope.by_s;
      add_product(cell, -1.0 / of.v, W, at.x, f_bar);
      add_product(cell, -1.0 / of.v, W, f, bar.x);
      add_cell_sums_adjoint(site_.mesh(), {cell}, at, {.volume = w[0] * slope.by_v - dot(W, of.sigma) / of.v}, bar);
    }
    set.forces.add_adjoint(here, f_bar, bar, gradient);
  }
  add(bar, adjoint, gradient);
}

void VonMisesSensor::add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& set,
                                         const Numbers& w, const Numbers& dw, State& adjoint_tangent,
                                         ParameterSet& gradient_tangent) {
  const Evaluation here(site_, n, state);
  const CellPositions at = positions(state), along = direction(tangent, set);
  const std::vector<CellStress> stress = stresses(here, at);
  const std::vector<CellStress> changes = stress_tangents(here, at, stress, tangent, set);
  const Mean mean = mean_of(stress), mean_change = mean_tangent(stress, mean, changes);
  CellPositions bar = zeros();
  std::size_t e = 0;
  for (const CellStresses::Set& part : stresses_.sets()) {
    const Numbers f = part.forces.values(here.at), df = part.forces.tangents(here.at, tangent, set);
    Numbers f_bar(at.x.size(), 0.0), df_bar = f_bar;
    for (const int cell : part.cells) {
      const CellStress &of = stress[e], &change = changes[e];
      ++e;
      const Slopes slope = slopes(of, mean), dslope = slope_changes(of, mean, change, mean_change);
      SymmetricTensor W = times_Q(of.sigma), dW = times_Q(change.sigma);
      for (std::size_t k = 0; k < 6; ++k) {
        dW[k] = w[0] * slope.by_s * dW[k] + (dw[0] * slope.by_s + w[0] * dslope.by_s) * W[k];
        W[k] *= w[0] * slope.by_s;
      }
      const double per_v = 1.0 / of.v, growth = change.v / of.v;
      add_product(cell, -per_v, W, at.x, f_bar);
      add_product(cell, -per_v, dW, at.x, df_bar);
      add_product(cell, -per_v, W, along.x, df_bar);
      add_product(cell, growth * per_v, W, at.x, df_bar);
      add_product(cell, -per_v, dW, f, bar.x);
      add_product(cell, -per_v, W, df, bar.x);
      add_product(cell, growth * per_v, W, f, bar.x);
      const double by_sigma = dot(W, of.sigma);
      add_cell_sums_adjoint_tangent(site_.mesh(), {cell}, at, along, {.volume = w[0] * slope.by_v - by_sigma * per_v},
                                    {.volume = dw[0] * slope.by_v + w[0] * dslope.by_v -
                                               (dot(dW, of.sigma) + dot(W, change.sigma) - by_sigma * growth) * per_v},
                                    bar);
    }
    part.forces.add_adjoint_tangent(here, tangent, set, f_bar, df_bar, bar, gradient_tangent);
  }
  add(bar, adjoint_tangent, gradient_tangent);
}

}  // namespace

std::unique_ptr<Sensor> make_von_mises_sensor(const Site& site, const Region& region, double power,
                                              const MakeElasticTerms& elastic_terms) {
  if (!(power >= 2.0 && std::isfinite(power)))
    throw Error("the power of a von Mises stress is " + std::to_string(power) + "; give a number of at least 2",
                ErrorKind::input);
  return std::make_unique<VonMisesSensor>(site, region, power, elastic_terms);
}

}  // namespace diffsim::sensor
