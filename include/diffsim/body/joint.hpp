// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/loss.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Relative motions that a joint allows.
enum class JointKind {
  fixed,      ///< no relative motion
  revolute,   ///< rotation about the axis
  prismatic,  ///< translation along the axis
  spherical,  ///< all rotations about the joint's point
  universal,  ///< rotations about the axis a, which is fixed to the first body, and about an axis that is fixed to the
              ///< other body: a × e_i, where e_i is the coordinate direction with the smallest |a_i|
  planar,     ///< translations normal to the axis and rotation about the axis
};

/// Joint between two rigid bodies, or between a rigid body and the world. `point` and `axis` are given in world
/// coordinates, for the bodies at the rest positions (`rest_positions` of the mesh).
struct Joint {
  std::string name;                           ///< name of the joint, used in messages and in the names of parameters
  JointKind kind = JointKind::revolute;       ///< relative motions that remain free
  std::string body;                           ///< name of the first body
  std::string other{};                        ///< name of the other body; an empty name means the world
  std::array<double, 3> point{};              ///< position of the joint, m
  std::array<double, 3> axis{0.0, 0.0, 1.0};  ///< direction of the axis, a vector of any non-zero length
  double coordinate = 0.0;                    ///< coordinate q (see JointDrive) at the rest positions, rad or m
  /// Armature a of a revolute (kg m²) or prismatic (kg) joint: inertia of a motor's rotor with respect to the joint's
  /// coordinate q. The kinetic energy is ½ a (dq/dt)². For a rotor with the moment of inertia I and the gear ratio n, a
  /// = n² I. A value of 0 means that there is no rotor. For a value a > 0, the mesh must contain a body with the name
  /// `rotor()` and the mesh `rotor_mesh`.
  double armature = 0.0;

  /// Returns the name of the body that represents the rotor of the joint: NAME.rotor, where NAME is the name of the
  /// joint with a dot in place of each slash.
  std::string rotor() const;
};

/// Actuation, spring, friction and limits of a revolute or prismatic joint: the generalised force on the joint's
/// coordinate q. The coordinate q of a revolute joint is `Joint::coordinate` plus the rotation of `Joint::body`
/// relative to `Joint::other` about the axis (rad). The coordinate q of a prismatic joint is `Joint::coordinate` plus
/// the displacement of `Joint::body` relative to `Joint::other` along the axis (m). The generalised force (N m or N) is
///
///   torque + stiffness · (target - q) - damping · dq/dt - friction · s(dq/dt / friction_velocity)
///     + limit_stiffness · (B(q - lower) - B(upper - q))
///
/// `lower` and `upper` are the two values of `limits`. s is the friction function s(y) = 2y - y |y| for |y| < 1,
/// otherwise s(y) = sign(y). The magnitude of the friction is constant for |dq/dt| above `friction_velocity`, and is
/// approximately proportional to |dq/dt| for small |dq/dt|; contact uses the same function s (Li et al. 2020, eq. 13).
/// B is the force of a logarithmic barrier that begins at the distance D = `limit_distance` from a limit and grows
/// without bound towards the limit: B(d) = (D - d)²/d - 2 (D - d) ln(d/D) for d < D, otherwise 0 (Li et al. 2020, eq.
/// 6).
///
/// A rotation is computed modulo 2π; therefore target - q is reduced to [-π, π). `torque` and `target` have one value
/// for all time steps, or one value per time step. For a position servo, `stiffness` and `damping` are the gains. A
/// spring is a servo whose target is constant.
struct JointDrive {
  std::vector<double> torque{0.0};  ///< torque or force of the actuator: N m, or N for prismatic joints
  std::vector<double> target{0.0};  ///< value of q at which the spring has no force: rad, or m
  double stiffness = 0.0;           ///< stiffness of the spring: N m/rad, or N/m
  double damping = 0.0;             ///< N m s/rad, or N s/m
  double friction = 0.0;            ///< magnitude of the friction for large |dq/dt|: N m, or N
  double friction_velocity = 0.01;  ///< |dq/dt| above which the friction is constant: rad/s, or m/s; > 0
  /// Lower and upper limit of q, rad or m. An infinite value means that there is no limit. A revolute joint has either
  /// two finite limits within π of `Joint::coordinate`, or no limits.
  std::array<double, 2> limits{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  double limit_stiffness = 0.0;  ///< factor of the barrier force B: N m, or N/m; > 0 if there are limits
  double limit_distance = 0.0;   ///< D, rad or m; the value 0 selects D = 1 % of upper - lower

  /// Returns the distance D from a limit at which the barrier force begins: `limit_distance`, or 1 % of upper - lower
  /// if `limit_distance` is 0.
  double barrier_distance() const { return limit_distance > 0.0 ? limit_distance : 0.01 * (limits[1] - limits[0]); }
};

/// Returns the kind of joint for the names fixed, revolute, prismatic, spherical, universal and planar. Throws Error
/// (input) for any other name; the message suggests the nearest name.
JointKind joint_kind(const std::string& name);
/// Returns the names of all kinds of joints, in the order of JointKind.
const std::vector<std::string>& joint_kinds();

/// Loss ½ Σ_n (q_n - target_n)² / N (rad² or m²). The sum is over the N observed time steps n, and q_n is the
/// coordinate of a revolute or prismatic joint (see JointDrive) after n time steps. For revolute joints, the difference
/// q_n - target_n is reduced modulo 2π to (-π, π].
class JointLoss : public Loss {
 public:
  /// Constructs the loss for `joint` between bodies of `mesh`. `targets`: value target_n (rad or m) for each observed
  /// time step n. Throws Error (input) if the joint is neither revolute nor prismatic, if a body of the joint is
  /// neither rigid nor affine, if the axis has zero or infinite length, or if `targets` is empty. Collective.
  JointLoss(const TetrahedralMesh& mesh, const Joint& joint, std::map<int, double> targets);
  ~JointLoss() override;
  std::string unit() const override;
  double num_observations() const override { return static_cast<double>(targets_.size()); }
  bool observes(int n) const override { return targets_.count(n) > 0; }
  double value(int n, const State& state, const ParameterSet& parameters) override;
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;
  void add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                            const ParameterSet& direction, State& adjoint_tangent,
                            ParameterSet& gradient_tangent) override;
  void add_gauss_newton(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                        const ParameterSet& direction, State& adjoint, ParameterSet& gradient) override;

 private:
  struct Nodes;
  MPI_Comm comm_;
  std::map<int, double> targets_;
  std::unique_ptr<Nodes> nodes_;
};

}  // namespace diffsim
