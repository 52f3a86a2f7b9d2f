// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

#include "diffsim/core/device.hpp"
#include "diffsim/core/kinematics.hpp"
#include "diffsim/core/small_tensor.hpp"

namespace diffsim::dynamics {

/// Rigid motion prescribed to some owned vertices: they turn about an axis a through an origin o that travels with
/// them. Over a span of length h
///
///   x(t + h) = o' + q,   v(t + h) = V + ω a × q,   q = R(ω h) (x(t) - o),   o' = o + h V
///
/// Its parameters, each one value or one a step: `angular_velocity:NAME` ω, rad/s, and `velocity:NAME` V [3], m/s. The
/// origin at the start of a step is `origin:NAME` [3], m, of the state. Directors (mesh/directors.hpp) turn, but do not
/// travel: o, o' and V are zero for them.
class RigidMotion : public Kinematics {
 public:
  struct Frame;  ///< public for nvcc: kernels may not capture private types

  /// `axis` of any length, the origin at the start of a rollout in m; `vertices`, and `directors` among them: owned.
  RigidMotion(const std::string& name, std::array<double, 3> axis, std::array<double, 3> origin, MPI_Comm comm,
              const std::vector<int>& vertices, const std::vector<int>& directors);

  std::string name() const override { return "motion of " + name_; }
  void add_state(State& state) const override;
  void advance(const ParameterSet& parameters, int step, double dt, State& state) const override;
  void advance_tangent(const ParameterSet& parameters, const ParameterSet& direction, int step, double dt,
                       State& tangent) const override;
  void advance_adjoint(const ParameterSet& parameters, int step, double dt, State& adjoint,
                       ParameterSet& gradient) const override;
  void apply(const ParameterSet& parameters, const MotionSpan& span, const State& start, const Field& x, Field& y,
             Field& v) const override;
  void apply_tangent(const ParameterSet& parameters, const ParameterSet& direction, const MotionSpan& span,
                     const State& start, const State& start_tangent, const Field& x, const Field& dx, Field& dy,
                     Field& dv) const override;
  void apply_adjoint(const ParameterSet& parameters, const MotionSpan& span, const State& start, const Field& x,
                     Field& y_bar, Field& v_bar, State& start_adjoint, ParameterSet& gradient) const override;

 private:
  Frame frame(const ParameterSet& parameters, const MotionSpan& span, const State& start) const;
  std::string angular_velocity() const { return "angular_velocity:" + name_; }
  std::string velocity() const { return "velocity:" + name_; }
  std::string origin() const { return "origin:" + name_; }

  std::string name_;
  Vec3<double> axis_, origin_;
  MPI_Comm comm_;
  DeviceArray<int> vertices_;  // places first, then directors
  int num_places_;
};

}  // namespace diffsim::dynamics
