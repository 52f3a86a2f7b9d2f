// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "body/constraint_set.hpp"
#include "diffsim/core/field.hpp"
#include "dynamics/time/explicit_kernels.hpp"
#include "dynamics/time/explicit_rule.hpp"

namespace diffsim::dynamics {

using body::Assembly;
using body::ConstraintSet;
using body::NodeVectors;

/// Results of the computation of constraint forces at a stage: the multipliers λ of this rank's constraints
/// (`multipliers`), and the positions (m) or velocities (m/s) of the constrained nodes after the constraint forces have
/// been applied (`result`, [nodes, 3]). The multipliers of an assembly (rigid bodies that joints connect) are
/// contiguous in the array `multipliers`. A second object of type ConstraintValues stores the tangents of the
/// multipliers and of the positions or velocities.
struct ConstraintValues {
  std::vector<double> multipliers, result;
};

/// Read-only pointers to a field and to the derivative of the field along a direction. A pointer that is nullptr stands
/// for a field of zeros.
struct FieldPair {
  const Field* value = nullptr;
  const Field* derivative = nullptr;
};
struct FieldPairToChange {
  Field* value = nullptr;
  Field* derivative = nullptr;
};

/// Inputs for the computation of the constraint force at a stage of a substep. The scalar type T is double, or `Along`
/// for values with their derivatives along a direction.
template <class T>
struct ConstraintStage {
  int stage;
  FieldPair x, v;  ///< positions and velocities at the start of the substep
  FieldPair X;     ///< positions of the stage
  /// Force at the stage, without the constraint force. In `add_force_tangent`, however, `force.value` includes the
  /// constraint force, and may be nullptr if neither masses nor the damping factor change along the direction.
  FieldPair force;
  FieldPair mass;                     ///< [owned vertices]
  const std::vector<Field>* earlier;  ///< accelerations of earlier stages, or their tangents
  ExplicitUpdate<T> update;  ///< data of the step, of which only the members `h`, `gravity` and `damping` are read
};

/// Constraint forces of rigid bodies and joints in explicit steps.
///
/// Positions x must satisfy the constraints g(x) = 0 with the Jacobian G = ∂g/∂x. The force at stage i is f + G(X_i)ᵀ
/// λ_i, where X_i are the positions of stage i, λ_i are the multipliers of the constraints, and f are all forces other
/// than the constraint forces. The multipliers λ_i are determined by one of the following conditions:
///
/// - Stage before the last: the positions X_{i+1} of the next stage satisfy the constraints.
///
/// - Last stage of velocity Verlet, which is at the end of the substep: the velocities v' at the end of the substep
///   satisfy G(X_i) v' = 0.
///
/// - Last stage of symplectic Euler: the positions x' at the end of the substep satisfy the constraints.
///
/// Velocity Verlet with constraints is the method RATTLE (Andersen 1983; Hairer, Lubich & Wanner 2006, section
/// VII.1.4), which is symplectic and of second order. Symplectic Euler with constraints computes the same positions as
/// SHAKE (Ryckaert, Ciccotti & Berendsen 1977).
///
/// Derivatives of the constraint forces follow from the implicit function theorem for g(y) = 0 with y = b + C G(x)ᵀ λ.
/// Here x are the positions of the stage, y are the positions that the constraint force corrects, b is the value of y
/// without the constraint force, and λ are the multipliers. C is the diagonal matrix of the derivatives of y with
/// respect to the force (`factors`). The derivative of g(y) with respect to λ is S = G(y) C G(x)ᵀ. A bar over a symbol
/// denotes the adjoint of the quantity. The adjoint of a stage is computed in the following order:
///
/// 1. The adjoint p̄ of the force without regard to the constraints is computed from ȳ, and from the adjoints of all
///    other quantities that depend on the force.
///
/// 2. The adjoint of b is b̄ = ȳ - G(y)ᵀ z with z = S⁻ᵀ G(x) p̄.
///
/// 3. The adjoint f̄ of the force with regard to the constraints is computed in the same way as p̄, but from b̄
///    instead of ȳ.
///
/// 4. The product (Σ_k λ_k ∇²g_k) f̄ is added to the adjoint x̄ of the positions of the stage.
///
/// If the constraint force corrects velocities y instead of positions, the condition is G(x) y = 0 instead of g(y) = 0;
/// G(x) then replaces G(y), and -(Σ_k z_k ∇²g_k) y is also added to x̄.
///
/// If the constraints depend on parameters θ (PlacedJoints), ∂/∂θ [λᵀ G(x) f̄ - zᵀ g(y)] is added to the adjoint θ̄, or
/// ∂/∂θ [λᵀ G(x) f̄ - zᵀ G(x) y] if the constraint force corrects velocities.
class ExplicitConstraints {
 public:
  /// `h`: length of a substep (s). Throws Error (input) for time integrators other than symplectic Euler and velocity
  /// Verlet: with any other time integrator, the constraint force of some stage does not change the next positions,
  /// which may therefore violate the constraints.
  ExplicitConstraints(const ConstraintSet& set, const ExplicitRule& rule, double h);

  /// Returns the size (bytes) of the `ConstraintValues` of a stage.
  std::size_t record_bytes() const;
  /// Adds the constraint force of the stage `at` to `force`. Returns the multipliers of the constraints, and the
  /// positions or velocities that satisfy the constraints. Throws Error on all ranks if the constraints cannot be
  /// satisfied. Collective.
  ConstraintValues add_force(const ConstraintStage<double>& at, Field& force) const;
  /// Adds the tangent of the constraint force to `force_tangent`, which contains the tangent of the other forces.
  /// `recorded`: result of `add_force` for the same stage. Returns the tangent of the result of `add_force`.
  /// Collective.
  ConstraintValues add_force_tangent(const ConstraintStage<Along>& at, const ConstraintValues& recorded,
                                     Field& force_tangent) const;
  /// Adds the constraint force G(X)ᵀ λ to `force`, with the Jacobian G of the constraints at the positions X and the
  /// multipliers λ of `recorded`. If T is `Along`, the derivative of the constraint force is added to
  /// `force.derivative`. `tangent`: derivatives of `recorded`; ignored if T is double. Collective.
  template <class T>
  void add_recorded_force(const FieldPair& X, const ConstraintValues& recorded, const ConstraintValues* tangent,
                          const FieldPairToChange& force) const;

  /// Adjoint of the constraint force of one stage. The scalar type T is double, or `Along` for values with their
  /// derivatives along a direction.
  template <class T>
  class Reverse;

 private:
  bool is_on_velocities(int stage) const;
  /// Returns, for each constrained node, the derivative ∂y/∂f, where y is the position or velocity that must satisfy
  /// the constraints, and f is the force on the node at the stage, [nodes].
  template <class T>
  std::vector<T> factors(int stage, const ExplicitUpdate<T>& update) const;

  const ConstraintSet& set_;
  const ExplicitRule& rule_;
  double h_;
};

/// Masses of the constrained nodes, gravity and damping factor in host memory.
template <class T>
class HostUpdate {
 public:
  /// Copies gravity, the damping factor and the masses of the constrained nodes to host memory. `mass`: [owned
  /// vertices]. `update`: device addresses of gravity and damping factor.
  HostUpdate(const ConstraintSet& set, const FieldPair& mass, const ExplicitUpdate<T>& update);
  /// Returns the host addresses of masses, gravity and damping factor, which are valid as long as the HostUpdate
  /// exists.
  ExplicitUpdate<T> operator()() const;

 private:
  double h_;
  std::vector<double> gravity_, damping_, mass_;                          // [3], [1], [nodes]
  std::vector<double> gravity_tangent_, damping_tangent_, mass_tangent_;  // an empty vector stands for zeros
  std::vector<std::uint8_t> fixed_;  // [nodes], `System::weightless` or 0: constrained nodes are never fixed
};

template <class T>
class ExplicitConstraints::Reverse {
 public:
  Reverse(const ExplicitConstraints& constraints, int stage, const FieldPair& X, const ConstraintValues& recorded,
          const ConstraintValues* tangent, const FieldPair& mass, const ExplicitUpdate<T>& update);
  /// Adds the correction -G(y)ᵀ z (step 2 in the comment of ExplicitConstraints) to `x_bar` or `v_bar`, the adjoints of
  /// the positions and velocities at the end of the substep. The stage of this Reverse object must be the last stage of
  /// the substep. Collective.
  void correct_end(const FieldPairToChange& x_bar, const FieldPairToChange& v_bar);
  /// Adds the correction -G(y)ᵀ z (step 2 in the comment of ExplicitConstraints) to `x_bar`, the adjoint of the next
  /// stage's positions. The stage of this Reverse object must not be the last stage of the substep. `v_bar`: adjoint of
  /// the next stage's velocities; the pointers in `v_bar` are nullptr if the adjoint is zero. `acceleration_bar`:
  /// contributions of the end of the substep, and of the stages after the next stage, to the adjoint of the stage's
  /// acceleration. Collective.
  void correct_next(const FieldPairToChange& x_bar, const FieldPair& v_bar, const FieldPair& acceleration_bar);
  /// Adds the contributions of the constraint force to `x_bar`, the adjoint of the stage's positions X_i, and to the
  /// adjoints of the placements of joints (ConstraintSet::placed_joints). `f_bar`: the adjoint f̄ of the stage's force
  /// (step 3 in the comment of ExplicitConstraints). Collective.
  void add_to_positions(const FieldPair& f_bar, const FieldPairToChange& x_bar) const;

 private:
  /// Computes z and -G(y)ᵀ z, which step 2 in the comment of ExplicitConstraints defines, and returns -G(y)ᵀ z.
  /// `force_bar`: adjoint p̄ of the force without regard to the constraints (step 1 in the comment of
  /// ExplicitConstraints).
  NodeVectors<T> correction(const NodeVectors<T>& force_bar);

  const ExplicitConstraints& constraints_;
  const ConstraintSet& set_;
  int stage_;
  HostUpdate<T> update_;
  NodeVectors<T> X_, result_;
  std::vector<std::vector<T>> multipliers_, z_;  // one vector per assembly
};

}  // namespace diffsim::dynamics
