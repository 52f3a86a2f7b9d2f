// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sensor/point_sensor.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "sensor/place.hpp"

namespace diffsim::sensor {
namespace {

using Numbers = std::vector<double>;

double length(const Numbers& u) { return std::hypot(u[0], u[1], u[2]); }

/// Sensor of u = Σ_i a_i (q_i - s X_i) or of |u|, where q_i are the positions or velocities of vertices, a_i are
/// weights, X_i are rest positions, and s is 1 for displacements, else 0.
class PointSensor final : public Sensor {
 public:
  PointSensor(const Site& site, PointQuantity quantity, std::string place, std::vector<VertexWeight> weights)
      : site_(site), quantity_(quantity), place_(std::move(place)), weights_(std::move(weights)) {}

  std::string name() const override {
    static const char* const names[] = {"position", "velocity", "displacement", "distance"};
    return names[static_cast<int>(quantity_)] + (" of " + place_);
  }
  std::string unit() const override { return quantity_ == PointQuantity::velocity ? "m/s" : "m"; }
  std::vector<std::string> components() const override {
    if (is_distance()) return {"distance"};
    return {"x", "y", "z"};
  }
  MPI_Comm comm() const override { return site_.system->comm(); }

  std::vector<double> value(int, const State& state) override {
    const Numbers u = vector(state, site_.system->parameters());
    return is_distance() ? Numbers{length(u)} : u;
  }
  std::vector<double> tangent(int, const State& state, const State& tangent, const ParameterSet& direction) override {
    const Numbers du = vector(tangent, direction);
    return is_distance() ? Numbers{along(unit_vector(state), du)} : du;
  }
  void add_adjoint(int, const State& state, const Numbers& w, State& adjoint, ParameterSet& gradient) override {
    add(is_distance() ? scaled(w[0], unit_vector(state)) : w, adjoint, gradient);
  }
  void add_adjoint_tangent(int, const State& state, const State& tangent, const ParameterSet& direction,
                           const Numbers& w, const Numbers& dw, State& adjoint_tangent,
                           ParameterSet& gradient_tangent) override {
    if (!is_distance()) return add(dw, adjoint_tangent, gradient_tangent);
    // The derivative of the unit vector e = u/|u| is (du - e (e · du))/|u|.
    const double size = length(vector(state, site_.system->parameters()));
    const Numbers e = unit_vector(state), du = vector(tangent, direction);
    Numbers change = scaled(dw[0], e);
    for (std::size_t c = 0; c < 3; ++c) change[c] += w[0] * (du[c] - e[c] * along(e, du)) / size;
    add(change, adjoint_tangent, gradient_tangent);
  }

 private:
  bool is_distance() const { return quantity_ == PointQuantity::distance; }
  const char* field() const { return quantity_ == PointQuantity::velocity ? "velocities" : "positions"; }
  static double along(const Numbers& e, const Numbers& u) { return e[0] * u[0] + e[1] * u[1] + e[2] * u[2]; }
  static Numbers scaled(double factor, Numbers u) {
    for (double& value : u) value *= factor;
    return u;
  }
  /// Returns u/|u|. Throws Error of kind `run` if u is zero.
  Numbers unit_vector(const State& state) const {
    const Numbers u = vector(state, site_.system->parameters());
    const double size = length(u);
    if (!(size > 0.0)) throw Error("the " + name() + " is zero, so it has no derivative", ErrorKind::run);
    return scaled(1.0 / size, u);
  }

  /// Returns u, or the derivative of u if `state` and `set` are directions. `set` may lack the rest positions.
  Numbers vector(const State& state, const ParameterSet& set) const {
    const Numbers q = state[field()].to_host();
    const Parameter* const rest = quantity_ == PointQuantity::displacement ? set.find("rest_positions") : nullptr;
    const Numbers X = rest ? rest->field.to_host() : Numbers();
    Numbers u(3, 0.0);
    for (const auto& [vertex, weight] : weights_)
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t i = 3 * static_cast<std::size_t>(vertex) + c;
        u[c] += weight * (q[i] - (rest ? X[i] : 0.0));
      }
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, u.data(), 3, MPI_DOUBLE, MPI_SUM, comm()));
    return u;
  }
  /// Adds the products of the weights with w to the adjoint of the field and, for displacements, subtracts the products
  /// from the gradient with respect to the rest positions.
  void add(const Numbers& w, State& adjoint, ParameterSet& gradient) const {
    add_to(w, 1.0, adjoint[field()]);
    if (quantity_ != PointQuantity::displacement) return;
    if (Parameter* const rest = gradient.find("rest_positions")) add_to(w, -1.0, rest->field);
  }
  void add_to(const Numbers& w, double sign, Field& to) const {
    Numbers values = to.to_host();
    for (const auto& [vertex, weight] : weights_)
      for (std::size_t c = 0; c < 3; ++c) values[3 * static_cast<std::size_t>(vertex) + c] += sign * weight * w[c];
    to.from_host(values);
  }

  Site site_;
  PointQuantity quantity_;
  std::string place_;
  std::vector<VertexWeight> weights_;
};

}  // namespace

std::unique_ptr<Sensor> make_point_sensor(const Site& site, PointQuantity quantity, const SensorPlace& place,
                                          const SensorPlace& other) {
  std::vector<VertexWeight> weights = weights_of(site.mesh(), place);
  std::string name = name_of(place);
  if (quantity == PointQuantity::distance) {
    for (const auto& [vertex, weight] : weights_of(site.mesh(), other)) weights.push_back({vertex, -weight});
    name += " to " + name_of(other);
  }
  return std::make_unique<PointSensor>(site, quantity, std::move(name), std::move(weights));
}

}  // namespace diffsim::sensor
