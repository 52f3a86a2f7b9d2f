// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

#include "diffsim/core/device.hpp"
#include "diffsim/core/parameters.hpp"
#include "diffsim/core/small_tensor.hpp"

namespace diffsim::dynamics {

/// A rigid motion prescribed to some owned vertices: they turn about an axis a through an origin that travels with
/// them.
///
///   x(t + h) = o' + q,   v(t + h) = V + ω a × q,   q = R(ω h) (x(t) - o),   o' = o + h V
///
/// Its parameters, each one value or one a step: `angular_velocity:NAME` ω, rad/s, and `velocity:NAME` V [3], m/s. At
/// step n, and t after its beginning, o = origin + dt Σ_{m<n} V_m + t V_n.
class RigidMotion {
 public:
  struct Frame;  ///< public for nvcc: kernels may not capture private types

  /// `axis` of any length; `vertices`: owned.
  RigidMotion(const std::string& name, std::array<double, 3> axis, std::array<double, 3> origin, double dt,
              const std::vector<int>& vertices);

  std::string angular_velocity() const { return "angular_velocity:" + name_; }
  std::string velocity() const { return "velocity:" + name_; }

  /// Sets y and v at the vertices; `x` may be `y`. Fields [owned or local vertices, 3].
  void apply(const ParameterSet& parameters, int n, double t, double h, const Field& x, Field& y, Field& v) const;
  /// Sets dy and dv at the vertices; `dx` may be `dy`.
  void apply_tangent(const ParameterSet& parameters, const ParameterSet& direction, int n, double t, double h,
                     const Field& x, const Field& dx, Field& dy, Field& dv) const;
  /// Turns ȳ at the vertices into x̄, adds this rank's share to the parameters' gradients, zeroes v̄ there.
  void apply_adjoint(const ParameterSet& parameters, int n, double t, double h, const Field& x, Field& y_bar,
                     Field& v_bar, ParameterSet& gradient) const;

 private:
  Frame frame(const ParameterSet& parameters, int n, double t, double h) const;

  std::string name_;
  Vec3<double> axis_, origin_;
  double dt_;
  DeviceArray<int> vertices_;
};

}  // namespace diffsim::dynamics
