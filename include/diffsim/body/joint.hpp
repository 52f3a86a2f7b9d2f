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
  revolute,   ///< rotation about `Joint::axis`
  prismatic,  ///< translation along `Joint::axis`
  spherical,  ///< all rotations about `Joint::point`
  universal,  ///< rotations about two axes: a = `Joint::axis`, fixed to `Joint::body`, and a × e_i, fixed to
              ///< `Joint::other`, where e_i is the unit vector of the coordinate direction with the smallest |a_i|
  planar,     ///< translations normal to `Joint::axis` and rotation about `Joint::axis`
};

/// Joint between two rigid bodies, or between a rigid body and the world. The members `point` and `axis` are given in
/// world coordinates, for the bodies at the rest positions (`rest_positions` of the mesh); `point` and `axis` are the
/// initial values of the parameters `joint_point:NAME` and `joint_axis:NAME` of a joint NAME. The member `ratio` is the
/// initial value of the parameter `joint_ratio:NAME`, which exists if the joint NAME follows another joint.
struct Joint {
  std::string name;                           ///< name of the joint, used in messages and in the names of parameters
  JointKind kind = JointKind::revolute;       ///< relative motions of the two bodies that the joint allows
  std::string body;                           ///< name of the joint's first body
  std::string other{};                        ///< name of the joint's second body; an empty name means the world
  std::array<double, 3> point{};              ///< position of the joint in space, m
  std::array<double, 3> axis{0.0, 0.0, 1.0};  ///< direction of the joint's axis, a vector of any non-zero length
  double coordinate = 0.0;                    ///< joint's coordinate q (JointDrive) at the rest positions, rad or m
  /// Armature a of a revolute (kg m²) or prismatic (kg) joint: inertia of a motor's rotor with respect to the joint's
  /// coordinate q. The rotor's kinetic energy is ½ a (dq/dt)²; a = n² I if the rotor has the moment of inertia I and
  /// the gear ratio n. A joint with the armature 0 has no rotor. If the armature is positive, the mesh of the scene
  /// must contain a body that has the name `rotor()` and consists of the mesh that the function `rotor_mesh` returns.
  double armature = 0.0;
  /// Name of the joint that this joint follows (gears, racks, screws, fingers that move together); an empty name means
  /// that this joint follows no joint. Both joints must be revolute or prismatic. Let q and q' be the coordinates of
  /// this joint and of the followed joint, and q₀ and q₀' the values of q and q' at the rest positions. A constraint
  /// keeps q - q₀ = ratio · (q' - q₀'). If both joints are revolute and the ratio is not a fraction of integers with a
  /// denominator of at most 50, both coordinates must stay within π of their values at the rest positions; time steps
  /// beyond throw Error (run). Derivatives with respect to the ratio of two revolute joints have the same limit for
  /// every ratio.
  std::string follows{};
  double ratio = 1.0;  ///< ratio of the changes of the two coordinates, not 0; unit: 1, rad/m or m/rad

  /// Returns the name of the body that represents the rotor of the joint: NAME.rotor, where NAME is the name of the
  /// joint with a dot in place of each slash.
  std::string rotor() const;
};

/// Actuation, spring, damping, friction and limits of a revolute or prismatic joint, as a generalised force on the
/// joint's coordinate q. The coordinate q of a revolute joint is `Joint::coordinate` plus the rotation of `Joint::body`
/// relative to `Joint::other` about the axis (rad). The coordinate q of a prismatic joint is `Joint::coordinate` plus
/// the displacement of `Joint::body` relative to `Joint::other` along the axis (m). The generalised force Q (N m or N)
/// on the coordinate q is
///   Q = torque + stiffness · (target - q) - damping · dq/dt - friction · s(dq/dt / friction_velocity) +
///       limit_stiffness · (B(q - lower) - B(upper - q)),
/// where `lower` and `upper` are the two values of `limits`, s is a friction function, and B is a barrier force.
///
/// The friction function of joints and of contact is s(y) = 2y - y |y| for |y| < 1, and s(y) = sign(y) otherwise (Li et
/// al. 2020, eq. 13). The magnitude of the joint friction is constant for joint velocities |dq/dt| above
/// `friction_velocity`, and is approximately proportional to |dq/dt| for small |dq/dt|. At the distance d of the
/// joint's coordinate from a limit, the logarithmic barrier has the force B(d) = (D - d)²/d - 2 (D - d) ln(d/D) for
/// d < D = `barrier_distance()`, otherwise 0; B grows without bound towards the limit (Li et al. 2020, eq. 6).
///
/// The coordinate q of a revolute joint is computed modulo 2π; therefore the difference target - q is reduced modulo 2π
/// to [-π, π). `torque` and `target` have one value for all time steps, or one value per time step. `stiffness` and
/// `damping` are the gains of a position servo. A spring is a position servo whose target is constant.
struct JointDrive {
  std::vector<double> torque{0.0};  ///< torque or force of the actuator: N m, or N for prismatic joints
  std::vector<double> target{0.0};  ///< joint's coordinate q at which the spring force is zero: rad, or m
  double stiffness = 0.0;           ///< stiffness of the spring: N m/rad, or N/m
  double damping = 0.0;             ///< coefficient of viscous damping: N m s/rad, or N s/m
  double friction = 0.0;            ///< magnitude of the friction for high joint velocities |dq/dt|: N m, or N
  double friction_velocity = 0.01;  ///< joint velocity |dq/dt| above which the friction is constant: rad/s, or m/s; > 0
  /// Lower and upper limit of the joint's coordinate q, rad or m; -∞ or ∞ stands for no limit. A revolute joint has
  /// either two finite limits within π of `Joint::coordinate`, or no limits.
  std::array<double, 2> limits{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  double limit_stiffness = 0.0;  ///< factor of the barrier force at limits: N m/rad, or N/m; > 0 if there are limits
  /// Distance from a limit of the joint's coordinate at which the barrier force begins, rad or m; 0 stands for 1 % of
  /// the difference of the two limits. A joint with only one finite limit needs a positive `limit_distance`.
  double limit_distance = 0.0;

  /// Returns the distance from a limit of the joint's coordinate at which the barrier force begins: `limit_distance`,
  /// or 1 % of the difference of the two limits if `limit_distance` is 0.
  double barrier_distance() const { return limit_distance > 0.0 ? limit_distance : 0.01 * (limits[1] - limits[0]); }
};

/// Returns the kind of joint with the given name: fixed, revolute, prismatic, spherical, universal or planar. Throws
/// Error (input) if no kind of joint has the name `name`; the message suggests the most similar name.
JointKind joint_kind(const std::string& name);
/// Returns the names of all kinds of joints, in the order of JointKind.
const std::vector<std::string>& joint_kinds();

/// Loss ½ Σ_n (q_n - target_n)² / N (rad² or m²), where q_n is the coordinate of a revolute or prismatic joint (see
/// JointDrive) after n time steps, target_n is the target of q_n, and the sum is over the N values of n with a target.
/// If parameters `joint_point:NAME` and `joint_axis:NAME` exist for the joint's name NAME, their values replace the
/// joint's point and axis. For revolute joints, q_n - target_n is reduced modulo 2π to (-π, π].
class JointLoss : public Loss {
 public:
  /// Constructs the loss for `joint` between bodies of `mesh`. `targets`: map from n to the target coordinate (rad or
  /// m) after n time steps. Throws Error (input) if the joint is neither revolute nor prismatic, if a body of the joint
  /// is neither rigid nor affine, if the axis has zero or infinite length, or if `targets` is empty. Collective.
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
