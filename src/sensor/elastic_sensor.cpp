// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <utility>

#include "sensor/cell_sensor.hpp"
#include "sensor/cell_sensor_base.hpp"
#include "sensor/elastic_forces.hpp"

namespace diffsim::sensor {
namespace {

/// Sensor of the elastic forces of a region's tetrahedra.
class ElasticSensor : public CellSensor {
 public:
  ElasticSensor(const Site& site, const Region& region, std::vector<std::unique_ptr<ForceTerm>> terms)
      : CellSensor(site, region), forces_(site, std::move(terms)) {}

 protected:
  ElasticForces forces_;
};

class StressSensor final : public ElasticSensor {
 public:
  using ElasticSensor::ElasticSensor;
  std::string name() const override { return "stress of region '" + region_ + "'"; }
  std::string unit() const override { return "Pa"; }
  std::vector<std::string> components() const override { return tensor_components(); }

  Numbers value(int n, const State& state) override {
    forces_.prepare();
    const Evaluation here(site_, n, state);
    const CellPositions at = positions(state);
    return stress(forces_.values(here.at), at.x, sums(at).volume);
  }
  Numbers tangent(int n, const State& state, const State& tangent, const ParameterSet& set) override;
  void add_adjoint(int n, const State& state, const Numbers& w, State& adjoint, ParameterSet& gradient) override;
  void add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& set, const Numbers& w,
                           const Numbers& dw, State& adjoint_tangent, ParameterSet& gradient_tangent) override;

 private:
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
};

Numbers StressSensor::tangent(int n, const State& state, const State& tangent, const ParameterSet& set) {
  forces_.prepare();
  const Evaluation here(site_, n, state);
  const CellPositions at = positions(state), along = direction(tangent, set);
  const double v = sums(at).volume, dv = sums_tangent(at, along).volume;
  const Numbers f = forces_.values(here.at), y = stress(f, at.x, v);
  Numbers dy = virial(forces_.tangents(here.at, tangent, set), at.x);
  const Numbers by_x = virial(f, along.x);
  for (std::size_t k = 0; k < 6; ++k) dy[k] = (dy[k] + by_x[k] - y[k] * dv) / v;
  return dy;
}

void StressSensor::add_adjoint(int n, const State& state, const Numbers& w, State& adjoint, ParameterSet& gradient) {
  forces_.prepare();
  const Evaluation here(site_, n, state);
  const CellPositions at = positions(state);
  const Numbers f = forces_.values(here.at);
  const double v = sums(at).volume;
  // φ = w · σ = -(1/v) Σ_a f_aᵀ W x_a
  CellPositions bar = zeros();
  Numbers seed(at.x.size(), 0.0);
  add_product(1.0 / v, w, at.x, seed);
  add_product(1.0 / v, w, f, bar.x);
  add_cell_sums_adjoint(site_.mesh(), cells_, at, {.volume = -dot(w, stress(f, at.x, v)) / v}, bar);
  forces_.add_adjoint(here, seed, bar, gradient);
  add(bar, adjoint, gradient);
}

void StressSensor::add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& set,
                                       const Numbers& w, const Numbers& dw, State& adjoint_tangent,
                                       ParameterSet& gradient_tangent) {
  forces_.prepare();
  const Evaluation here(site_, n, state);
  const CellPositions at = positions(state), along = direction(tangent, set);
  const Numbers f = forces_.values(here.at), df = forces_.tangents(here.at, tangent, set);
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
  forces_.add_adjoint_tangent(here, tangent, set, seed, dseed, bar, gradient_tangent);
  add(bar, adjoint_tangent, gradient_tangent);
}

/// Work W = -Σ_a f_a · u_a of the elastic forces f_a, with the displacements u = x - X of the vertices.
class WorkSensor final : public ElasticSensor {
 public:
  using ElasticSensor::ElasticSensor;
  std::string name() const override { return "work of region '" + region_ + "'"; }
  std::string unit() const override { return "J"; }
  std::vector<std::string> components() const override { return {"work"}; }

  Numbers value(int n, const State& state) override {
    forces_.prepare();
    const Evaluation here(site_, n, state);
    return {total(-dot(forces_.values(here.at), displacements(positions(state))))};
  }
  Numbers tangent(int n, const State& state, const State& tangent, const ParameterSet& set) override {
    forces_.prepare();
    const Evaluation here(site_, n, state);
    return {total(-dot(forces_.tangents(here.at, tangent, set), displacements(positions(state))) -
                  dot(forces_.values(here.at), displacements(direction(tangent, set))))};
  }
  void add_adjoint(int n, const State& state, const Numbers& w, State& adjoint, ParameterSet& gradient) override {
    forces_.prepare();
    const Evaluation here(site_, n, state);
    CellPositions bar;
    add_products(-w[0], forces_.values(here.at), bar.x);
    add_products(w[0], forces_.values(here.at), bar.X);
    Numbers f_bar;
    add_products(-w[0], displacements(positions(state)), f_bar);
    forces_.add_adjoint(here, f_bar, bar, gradient);
    add(bar, adjoint, gradient);
  }
  void add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& set, const Numbers& w,
                           const Numbers& dw, State& adjoint_tangent, ParameterSet& gradient_tangent) override {
    forces_.prepare();
    const Evaluation here(site_, n, state);
    const Numbers f = forces_.values(here.at), df = forces_.tangents(here.at, tangent, set);
    const Numbers u = displacements(positions(state)), du = displacements(direction(tangent, set));
    CellPositions bar;
    Numbers f_bar, df_bar;
    add_products(-dw[0], f, bar.x);
    add_products(-w[0], df, bar.x);
    add_products(dw[0], f, bar.X);
    add_products(w[0], df, bar.X);
    add_products(-w[0], u, f_bar);
    add_products(-dw[0], u, df_bar);
    add_products(-w[0], du, df_bar);
    forces_.add_adjoint_tangent(here, tangent, set, f_bar, df_bar, bar, gradient_tangent);
    add(bar, adjoint_tangent, gradient_tangent);
  }

 private:
  /// Returns x - X. An empty X stands for zeros.
  static Numbers displacements(const CellPositions& at) {
    Numbers u = at.x;
    for (std::size_t i = 0; i < at.X.size(); ++i) u[i] -= at.X[i];
    return u;
  }
  /// Adds factor · values to `sum`; an empty `sum` stands for zeros.
  static void add_products(double factor, const Numbers& values, Numbers& sum) {
    sum.resize(values.size(), 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) sum[i] += factor * values[i];
  }
  double total(double part) const {
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &part, 1, MPI_DOUBLE, MPI_SUM, comm()));
    return part;
  }
};

}  // namespace

std::unique_ptr<Sensor> make_stress_sensor(const Site& site, const Region& region,
                                           std::vector<std::unique_ptr<ForceTerm>> terms) {
  return std::make_unique<StressSensor>(site, region, std::move(terms));
}

std::unique_ptr<Sensor> make_work_sensor(const Site& site, const Region& region,
                                         std::vector<std::unique_ptr<ForceTerm>> terms) {
  return std::make_unique<WorkSensor>(site, region, std::move(terms));
}

}  // namespace diffsim::sensor
