// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sensor/cell_sensor.hpp"

#include <array>
#include <string>
#include <utility>

#include "core/exchange.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "sensor/cell_sums.hpp"

namespace diffsim::sensor {
namespace {

using Numbers = std::vector<double>;

const std::vector<std::string>& tensor_components() {
  static const std::vector<std::string> names{"xx", "yy", "zz", "xy", "yz", "xz"};
  return names;
}

double dot(const Numbers& a, const Numbers& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

/// Sensor of a region's tetrahedra.
class CellSensor : public Sensor {
 public:
  CellSensor(const Site& site, const Region& region) : site_(site), region_(region.name), cells_(region.cells) {
    if (region.num_cells == 0) throw Error("region '" + region_ + "' has no tetrahedra", ErrorKind::input);
  }
  MPI_Comm comm() const override { return site_.system->comm(); }

 protected:
  CellPositions positions(const State& state) const {
    return {state["positions"].to_host(), site_.system->parameters().at("rest_positions").field.to_host()};
  }
  CellPositions direction(const State& tangent, const ParameterSet& set) const {
    const Parameter* const rest = set.find("rest_positions");
    return {tangent["positions"].to_host(), rest ? rest->field.to_host() : Numbers()};
  }
  CellPositions zeros() const {
    const auto count = 3 * static_cast<std::size_t>(site_.mesh().num_vertices());
    return {Numbers(count, 0.0), Numbers(count, 0.0)};
  }
  /// Returns the sums over the ranks of this rank's `sums`.
  CellSums total(CellSums sums) const {
    Numbers values;
    for (const double* entry : sums.entries()) values.push_back(*entry);
    DIFFSIM_MPI(
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, comm()));
    for (std::size_t k = 0; k < values.size(); ++k) *sums.entries()[k] = values[k];
    return sums;
  }
  CellSums sums(const CellPositions& at) const { return total(cell_sums(site_.mesh(), cells_, at)); }
  CellSums sums_tangent(const CellPositions& at, const CellPositions& along) const {
    return total(cell_sums_tangent(site_.mesh(), cells_, at, along));
  }
  /// Adds this rank's adjoints of x and X, summed over the ranks for x, to `adjoint` and `gradient`.
  void add(const CellPositions& bar, State& adjoint, ParameterSet& gradient) const {
    add_summed(*site_.system, bar.x, adjoint["positions"]);
    Parameter* const rest = gradient.find("rest_positions");
    if (!rest) return;
    Numbers values = rest->field.to_host();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += bar.X[i];
    rest->field.from_host(values);
  }

  Site site_;
  std::string region_;
  std::vector<int> cells_;
};

class VolumeSensor final : public CellSensor {
 public:
  using CellSensor::CellSensor;
  std::string name() const override { return "volume of region '" + region_ + "'"; }
  std::string unit() const override { return "m³"; }
  std::vector<std::string> components() const override { return {"volume"}; }

  Numbers value(int, const State& state) override { return {sums(positions(state)).volume}; }
  Numbers tangent(int, const State& state, const State& tangent, const ParameterSet& set) override {
    return {sums_tangent(positions(state), direction(tangent, set)).volume};
  }
  void add_adjoint(int, const State& state, const Numbers& w, State& adjoint, ParameterSet& gradient) override {
    CellPositions bar = zeros();
    add_cell_sums_adjoint(site_.mesh(), cells_, positions(state), {.volume = w[0]}, bar);
    add(bar, adjoint, gradient);
  }
  void add_adjoint_tangent(int, const State& state, const State& tangent, const ParameterSet& set, const Numbers& w,
                           const Numbers& dw, State& adjoint_tangent, ParameterSet& gradient_tangent) override {
    CellPositions bar = zeros();
    add_cell_sums_adjoint_tangent(site_.mesh(), cells_, positions(state), direction(tangent, set), {.volume = w[0]},
                                  {.volume = dw[0]}, bar);
    add(bar, adjoint_tangent, gradient_tangent);
  }
};

class StrainSensor final : public CellSensor {
 public:
  using CellSensor::CellSensor;
  std::string name() const override { return "strain of region '" + region_ + "'"; }
  std::string unit() const override { return "1"; }
  std::vector<std::string> components() const override { return tensor_components(); }

  Numbers value(int, const State& state) override { return mean(sums(positions(state))); }
  Numbers tangent(int, const State& state, const State& tangent, const ParameterSet& set) override {
    const CellPositions at = positions(state);
    return mean_tangent(sums(at), sums_tangent(at, direction(tangent, set)));
  }
  void add_adjoint(int, const State& state, const Numbers& w, State& adjoint, ParameterSet& gradient) override {
    const CellPositions at = positions(state);
    const CellSums now = sums(at);
    CellPositions bar = zeros();
    add_cell_sums_adjoint(site_.mesh(), cells_, at, weights(w, mean(now), now.rest_volume), bar);
    add(bar, adjoint, gradient);
  }
  void add_adjoint_tangent(int, const State& state, const State& tangent, const ParameterSet& set, const Numbers& w,
                           const Numbers& dw, State& adjoint_tangent, ParameterSet& gradient_tangent) override {
    const CellPositions at = positions(state), along = direction(tangent, set);
    const CellSums now = sums(at), change = sums_tangent(at, along);
    const Numbers y = mean(now), dy = mean_tangent(now, change);
    const double V = now.rest_volume, ratio = change.rest_volume / V;
    // Derivatives of w_k/V and -(w · y)/V.
    CellSums dweights = weights(dw, y, V);
    const CellSums ours = weights(w, y, V);
    for (std::size_t k = 0; k < 6; ++k) dweights.strain[k] -= ours.strain[k] * ratio;
    dweights.rest_volume -= dot(w, dy) / V + ours.rest_volume * ratio;
    CellPositions bar = zeros();
    add_cell_sums_adjoint_tangent(site_.mesh(), cells_, at, along, ours, dweights, bar);
    add(bar, adjoint_tangent, gradient_tangent);
  }

 private:
  static Numbers mean(const CellSums& sums) {
    Numbers y(sums.strain.begin(), sums.strain.end());
    for (double& value : y) value /= sums.rest_volume;
    return y;
  }
  static Numbers mean_tangent(const CellSums& sums, const CellSums& change) {
    Numbers dy = mean(sums);
    for (std::size_t k = 0; k < 6; ++k) dy[k] = (change.strain[k] - dy[k] * change.rest_volume) / sums.rest_volume;
    return dy;
  }
  /// Returns the derivatives of w · y with respect to the sums, for the mean y and the rest volume V.
  static CellSums weights(const Numbers& w, const Numbers& y, double V) {
    CellSums by;
    for (std::size_t k = 0; k < 6; ++k) by.strain[k] = w[k] / V;
    by.rest_volume = -dot(w, y) / V;
    return by;
  }
};

class StressSensor final : public CellSensor {
 public:
  StressSensor(const Site& site, const Region& region, std::vector<std::unique_ptr<ForceTerm>> terms)
      : CellSensor(site, region), terms_(std::move(terms)) {}
  std::string name() const override { return "stress of region '" + region_ + "'"; }
  std::string unit() const override { return "Pa"; }
  std::vector<std::string> components() const override { return tensor_components(); }

  Numbers value(int n, const State& state) override {
    prepare();
    const Evaluation here(site_, n, state);
    const CellPositions at = positions(state);
    return stress(forces(here.at), at.x, sums(at).volume);
  }
  Numbers tangent(int n, const State& state, const State& tangent, const ParameterSet& set) override;
  void add_adjoint(int n, const State& state, const Numbers& w, State& adjoint, ParameterSet& gradient) override;
  void add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& set, const Numbers& w,
                           const Numbers& dw, State& adjoint_tangent, ParameterSet& gradient_tangent) override;

 private:
  void prepare() {
    for (const auto& term : terms_) term->prepare(site_.system->parameters());
  }
  /// Returns the forces of the region's tetrahedra on this rank, [local vertices, 3].
  Numbers forces(const Configuration& at) const {
    Field f = site_.system->scratch_field("sensor::force");
    for (const auto& term : terms_) term->add_force(at, site_.system->parameters(), f);
    return f.to_host();
  }
  Numbers force_tangents(const Configuration& at, const State& tangent, const ParameterSet& set) const {
    const Field velocities = on_local_vertices(*site_.system, tangent["velocities"]);
    Field df = site_.system->scratch_field("sensor::force");
    for (const auto& term : terms_) {
      term->prepare_tangent(site_.system->parameters(), set);
      term->add_force_tangent(at, {tangent["positions"], &velocities}, set, df);
    }
    return df.to_host();
  }
  /// Returns -Σ sym(f ⊗ x) over all ranks.
  Numbers virial(const Numbers& f, const Numbers& x) const {
    Numbers sum(6, 0.0);
    for (std::size_t i = 0; i < f.size(); i += 3)
      for (std::size_t k = 0; k < 6; ++k)
        sum[k] -= 0.5 * (f[i + row(k)] * x[i + column(k)] + f[i + column(k)] * x[i + row(k)]);
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sum.data(), 6, MPI_DOUBLE, MPI_SUM, comm()));
    return sum;
  }
  /// Returns the mean stress of the region with the current volume v.
  Numbers stress(const Numbers& f, const Numbers& x, double v) const {
    Numbers sigma = virial(f, x);
    for (double& value : sigma) value /= v;
    return sigma;
  }
  static std::size_t row(std::size_t k) { return k < 3 ? k : k == 4 ? 1 : 0; }
  static std::size_t column(std::size_t k) { return k < 3 ? k : k == 3 ? 1 : 2; }
  /// Subtracts factor · W x_a from `result` for each local vertex a. The symmetric matrix W satisfies Σ w_k σ_k = W :
  /// σ.
  static void add_product(double factor, const Numbers& w, const Numbers& x, Numbers& result) {
    for (std::size_t i = 0; i < x.size(); i += 3)
      for (std::size_t k = 0; k < 6; ++k) {
        const double W = factor * (k < 3 ? 1.0 : 0.5) * w[k];
        result[i + row(k)] -= W * x[i + column(k)];
        if (k > 2) result[i + column(k)] -= W * x[i + row(k)];
      }
  }
  Field local(const Numbers& values) const {
    Field field = site_.system->scratch_field("sensor::seed");
    field.from_host(values);
    return field;
  }

  std::vector<std::unique_ptr<ForceTerm>> terms_;
};

Numbers StressSensor::tangent(int n, const State& state, const State& tangent, const ParameterSet& set) {
  prepare();
  const Evaluation here(site_, n, state);
  const CellPositions at = positions(state), along = direction(tangent, set);
  const double v = sums(at).volume, dv = sums_tangent(at, along).volume;
  const Numbers f = forces(here.at), y = stress(f, at.x, v);
  Numbers dy = virial(force_tangents(here.at, tangent, set), at.x);
  const Numbers by_x = virial(f, along.x);
  for (std::size_t k = 0; k < 6; ++k) dy[k] = (dy[k] + by_x[k] - y[k] * dv) / v;
  return dy;
}

void StressSensor::add_adjoint(int n, const State& state, const Numbers& w, State& adjoint, ParameterSet& gradient) {
  prepare();
  System& system = *site_.system;
  const Evaluation here(site_, n, state);
  const CellPositions at = positions(state);
  const Numbers f = forces(here.at);
  const double v = sums(at).volume;
  // φ = w · σ = -(1/v) Σ_a f_aᵀ W x_a
  CellPositions bar = zeros();
  Numbers seed(at.x.size(), 0.0);
  add_product(1.0 / v, w, at.x, seed);
  add_product(1.0 / v, w, f, bar.x);
  add_cell_sums_adjoint(site_.mesh(), cells_, at, {.volume = -dot(w, stress(f, at.x, v)) / v}, bar);
  const Field f_bar = local(seed);
  Field x_bar = local(bar.x), v_bar = system.scratch_field("sensor::velocities");
  for (const auto& term : terms_) {
    term->begin_adjoint(gradient);
    term->add_force_adjoint(here.at, f_bar, {x_bar, &v_bar}, gradient);
    term->prepare_adjoint(system.parameters(), gradient);
  }
  bar.x = x_bar.to_host();
  add(bar, adjoint, gradient);
}

void StressSensor::add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& set,
                                       const Numbers& w, const Numbers& dw, State& adjoint_tangent,
                                       ParameterSet& gradient_tangent) {
  prepare();
  System& system = *site_.system;
  const ParameterSet& parameters = system.parameters();
  const Evaluation here(site_, n, state);
  const CellPositions at = positions(state), along = direction(tangent, set);
  const Numbers f = forces(here.at), df = force_tangents(here.at, tangent, set);
  const double v = sums(at).volume, ratio = sums_tangent(at, along).volume / v;
  const Numbers y = stress(f, at.x, v), dy = this->tangent(n, state, tangent, set);
  Numbers seed(at.x.size(), 0.0), dseed = seed;
  CellPositions bar = zeros();
  add_product(1.0 / v, w, at.x, seed);
  add_product(1.0 / v, dw, at.x, dseed);
  add_product(1.0 / v, w, along.x, dseed);
  add_product(-ratio / v, w, at.x, dseed);
  add_product(1.0 / v, dw, f, bar.x);
  add_product(1.0 / v, w, df, bar.x);
  add_product(-ratio / v, w, f, bar.x);
  const double phi = dot(w, y);
  add_cell_sums_adjoint_tangent(site_.mesh(), cells_, at, along, {.volume = -phi / v},
                                {.volume = -(dot(dw, y) + dot(w, dy) - phi * ratio) / v}, bar);
  const Field f_bar = local(seed), df_bar = local(dseed);
  const Field velocities = on_local_vertices(system, tangent["velocities"]);
  Field x_bar = local(bar.x), v_bar = system.scratch_field("sensor::velocities");
  Field unused = system.scratch_field("sensor::unused");
  ParameterSet first = gradient_tangent.zero_like(gradient_tangent.names());
  for (const auto& term : terms_) {
    term->begin_adjoint(gradient_tangent);
    term->begin_adjoint_tangent(gradient_tangent, set);
    // First derivatives, because `prepare_adjoint_tangent` uses their sums.
    term->add_force_adjoint(here.at, f_bar, {unused, &v_bar}, first);
    term->add_force_adjoint_tangent(here.at, {tangent["positions"], &velocities}, set, &f_bar, &df_bar, {x_bar, &v_bar},
                                    gradient_tangent);
    term->prepare_adjoint_tangent(parameters, set, gradient_tangent);
  }
  bar.x = x_bar.to_host();
  add(bar, adjoint_tangent, gradient_tangent);
}

}  // namespace

std::unique_ptr<Sensor> make_volume_sensor(const Site& site, const Region& region) {
  return std::make_unique<VolumeSensor>(site, region);
}

std::unique_ptr<Sensor> make_strain_sensor(const Site& site, const Region& region) {
  return std::make_unique<StrainSensor>(site, region);
}

std::unique_ptr<Sensor> make_stress_sensor(const Site& site, const Region& region,
                                           std::vector<std::unique_ptr<ForceTerm>> terms) {
  return std::make_unique<StressSensor>(site, region, std::move(terms));
}

}  // namespace diffsim::sensor
