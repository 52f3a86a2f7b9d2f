// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/kinematics.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim::dynamics {

/// Prescribed rigid motion of some owned vertices: a rotation with the angular velocity ω about an axis with the unit
/// vector a through an origin o, and a translation of the vertices and of the origin with the velocity V. In a time
/// span h, the origin moves from o to o' = o + h V, and a vertex moves from the position x to x' = o' + q with
/// q = R (x - o), where R is the rotation by the angle ω h about the axis. The velocity of the vertex at the end of the
/// time span is V + ω a × q.
///
/// The parameters of the motion are the angular velocity ω, `angular_velocity:NAME` (rad/s), and the velocity V of the
/// origin, `velocity:NAME` [3] (m/s), each with one value for all steps or one value per step. The state contains the
/// origin of the axis at the start of a step, `origin:NAME` [3] (m). Directors (mesh/directors.hpp) rotate but do not
/// translate: for directors, the formulas of positions and velocities apply with o = o' = 0 and V = 0.
class RigidMotion : public Kinematics {
 public:
  struct Frame;  ///< type that is public because nvcc does not allow kernels to capture objects of private types

  /// `axis`: direction of the axis of rotation, of any length > 0. `origin`: position (m) of the origin of the axis at
  /// the start of a rollout. `vertices`: moving owned vertices other than directors. `directors`: owned directors that
  /// rotate with the vertices. Throws Error (input) if `axis` has length 0.
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
  DeviceArray<int> vertices_;  // vertices other than directors first, then directors
  int num_places_;             // number of vertices other than directors
};

}  // namespace diffsim::dynamics
