// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sensor/cell_sensor.hpp"

#include <string>
#include <utility>

#include "sensor/cell_sensor_base.hpp"

namespace diffsim::sensor {
namespace {

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

}  // namespace

std::unique_ptr<Sensor> make_volume_sensor(const Site& site, const Region& region) {
  return std::make_unique<VolumeSensor>(site, region);
}

std::unique_ptr<Sensor> make_strain_sensor(const Site& site, const Region& region) {
  return std::make_unique<StrainSensor>(site, region);
}

}  // namespace diffsim::sensor
