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

/// Constraint forces of a stage: the multipliers λ of this rank's constraints, and the positions (m) or velocities
/// (m/s) of the constrained nodes that satisfy the constraints (`result`, [nodes, 3]). The multipliers of an assembly
/// (rigid bodies that joints connect) are contiguous. An object of this struct may also contain the tangents of these
/// values.
struct ConstraintValues {
  std::vector<double> multipliers, result;
};

/// Pointers to a field and to the derivative of the field along a direction, both read-only. A pointer of nullptr
/// stands for a field of zeros.
struct FieldPair {
  const Field* value = nullptr;
  const Field* derivative = nullptr;
};
struct FieldPairToChange {
  Field* value = nullptr;
  Field* derivative = nullptr;
};

/// Inputs for the computation of the constraint force at a stage of a substep. T is double, or `Along` for values with
/// their derivatives along a direction.
template <class T>
struct ConstraintStage {
  int stage;
  FieldPair x, v;                     ///< positions and velocities at the start of the substep
  FieldPair X;                        ///< positions of the stage
  FieldPair force;                    ///< force at the stage without the constraint force
  FieldPair mass;                     ///< [owned vertices]
  const std::vector<Field>* earlier;  ///< accelerations of earlier stages, or their tangents
  ExplicitUpdate<T> update;           ///< only the members h, gravity and damping are read
};

/// Forces of rigid bodies and joints (constraint forces) in explicit steps.
///
/// Positions x must satisfy the constraints g(x) = 0; G = ∂g/∂x. The force at stage i is f + G(X_i)ᵀ λ_i, where X_i are
/// the positions of the stage, and f are the other forces. The multipliers λ_i are determined by one of the following
/// conditions:
///
/// - Stage before the last: the positions X_{i+1} of the next stage satisfy the constraints.
/// - Last stage of a rule whose last stage is at the end of the substep (velocity Verlet): the velocities v' at the end
///   of the substep satisfy G(X_i) v' = 0.
/// - Last stage of another rule (symplectic Euler): the positions x' at the end of the substep satisfy the constraints.
///
/// With velocity Verlet, this method is RATTLE (Andersen 1983; Hairer, Lubich & Wanner 2006, section VII.1.4), which is
/// symplectic and of second order. With symplectic Euler, the positions equal the positions of SHAKE (Ryckaert,
/// Ciccotti & Berendsen 1977).
///
/// Derivatives follow from the implicit function theorem. Let x be the positions of the stage, y the positions that the
/// force of the stage corrects, b the value of y without the constraint force, and C the diagonal matrix of the
/// derivatives of y with respect to the force (`factors`). Then g(y) = 0 with y = b + C G(x)ᵀ λ. Let S = G(y) C G(x)ᵀ.
/// Adjoints have bars. The adjoint is computed in the following order:
///
/// 1. p̄ is the adjoint of the force without regard to the constraints. p̄ follows from ȳ and from the adjoints of the
///    other quantities that depend on the force.
/// 2. With z = S⁻ᵀ G(x) p̄, the adjoint of b is b̄ = ȳ - G(y)ᵀ z.
/// 3. f̄ is the adjoint of the force with regard to the constraints. f̄ is computed as p̄, but from b̄ instead of ȳ.
/// 4. (Σ_k λ_k ∇²g_k) f̄ is added to x̄.
///
/// If y are velocities, the condition is G(x) y = 0. In this case G(x) replaces G(y), and -(Σ_k z_k ∇²g_k) y is added
/// to x̄, too.
class ExplicitConstraints {
 public:
  /// `h`: length of a substep (s). Throws Error (input) for rules other than symplectic Euler and velocity Verlet. With
  /// other rules, the force of some stage does not change the positions of the next stage, which must satisfy the
  /// constraints.
  ExplicitConstraints(const ConstraintSet& set, const ExplicitRule& rule, double h);

  /// Returns the size (bytes) of the vectors in the `ConstraintValues` of a stage.
  std::size_t record_bytes() const;
  /// Adds the constraint force of the stage `at` to `force`. Returns the multipliers, and the positions or velocities
  /// that satisfy the constraints. Throws Error on all ranks if the constraints cannot be satisfied. Collective.
  ConstraintValues add_force(const ConstraintStage<double>& at, Field& force) const;
  /// Adds the tangent of the constraint force to `force_tangent`, which contains the tangent of the other forces.
  /// `recorded`: result of `add_force` for the stage. Returns the tangent of `recorded`. Collective.
  ConstraintValues add_force_tangent(const ConstraintStage<Along>& at, const ConstraintValues& recorded,
                                     Field& force_tangent) const;
  /// Adds the constraint force G(X)ᵀ λ to `force`, with positions X and the multipliers λ of `recorded`. If T has
  /// derivatives, also adds the derivative of this force. `tangent`: derivatives of `recorded`. Collective.
  template <class T>
  void add_recorded_force(const FieldPair& X, const ConstraintValues& recorded, const ConstraintValues* tangent,
                          const FieldPairToChange& force) const;

  /// Adjoint of the constraint force of one stage. T is double, or `Along` for values with their derivatives along a
  /// direction.
  template <class T>
  class Reverse;

 private:
  bool is_on_velocities(int stage) const;
  /// Returns, for each constrained node, the derivative of the position or velocity that must satisfy the constraints
  /// with respect to the force on the node at the stage, [nodes].
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
  /// Copies the values. `mass`: [owned vertices]. `update`: device addresses of gravity and damping factor.
  HostUpdate(const ConstraintSet& set, const FieldPair& mass, const ExplicitUpdate<T>& update);
  /// Returns the host addresses of the values. The addresses are valid as long as this object exists.
  ExplicitUpdate<T> operator()() const;

 private:
  double h_;
  std::vector<double> gravity_, damping_, mass_;                          // [3], [1], [nodes]
  std::vector<double> gravity_tangent_, damping_tangent_, mass_tangent_;  // an empty vector stands for zeros
  std::vector<std::uint8_t> fixed_;  // [nodes], `System::weightless` or 0: nodes are never fixed
};

template <class T>
class ExplicitConstraints::Reverse {
 public:
  Reverse(const ExplicitConstraints& constraints, int stage, const FieldPair& X, const ConstraintValues& recorded,
          const ConstraintValues* tangent, const FieldPair& mass, const ExplicitUpdate<T>& update);
  /// Adds the correction -G(y)ᵀ z (step 2 in the comment of ExplicitConstraints) to `x_bar` or `v_bar`, the adjoints of
  /// the positions and velocities at the end of the substep. The stage must be the last of the substep. Collective.
  void correct_end(const FieldPairToChange& x_bar, const FieldPairToChange& v_bar);
  /// Adds the correction -G(y)ᵀ z (step 2 in the comment of ExplicitConstraints) to `x_bar`, the adjoint of the next
  /// stage's positions. The stage must not be the last of the substep. `v_bar`: adjoint of the next stage's velocities;
  /// the fields of `v_bar` are nullptr if the adjoint is zero. `acceleration_bar`: contributions of the end of the
  /// substep, and of the stages after the next stage, to the adjoint of the stage's acceleration. Collective.
  void correct_next(const FieldPairToChange& x_bar, const FieldPair& v_bar, const FieldPair& acceleration_bar);
  /// Adds the contributions of the constraint force to `x_bar`, the adjoint of the stage's positions. `f_bar`: adjoint
  /// f̄ of the stage's force (step 3 in the comment of ExplicitConstraints). Collective.
  void add_to_positions(const FieldPair& f_bar, const FieldPairToChange& x_bar) const;

 private:
  /// Computes z and returns the correction -G(y)ᵀ z of step 2 in the comment of ExplicitConstraints. `force_bar`:
  /// adjoint p̄ of the force without regard to the constraints (step 1).
  NodeVectors<T> correction(const NodeVectors<T>& force_bar);

  const ExplicitConstraints& constraints_;
  const ConstraintSet& set_;
  int stage_;
  HostUpdate<T> update_;
  NodeVectors<T> X_, result_;
  std::vector<std::vector<T>> multipliers_, z_;  // one vector per assembly
};

}  // namespace diffsim::dynamics
