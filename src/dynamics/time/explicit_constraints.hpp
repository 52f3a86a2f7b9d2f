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

/// Multipliers of all assemblies of a rank, and the positions or velocities that satisfy the constraints (`result`,
/// [nodes, 3]). An object of this struct may also contain the tangents of these values.
struct ConstraintValues {
  std::vector<double> multipliers, result;
};

/// Field and its derivative along a direction, both read-only. A pointer of nullptr stands for a field of zeros.
struct FieldPair {
  const Field* value = nullptr;
  const Field* derivative = nullptr;
};
struct FieldPairToChange {
  Field* value = nullptr;
  Field* derivative = nullptr;
};

/// Inputs of the constraints at a stage of a substep. T is double, or `Along` for values with their derivative along a
/// direction.
template <class T>
struct ConstraintStage {
  int stage;
  FieldPair x, v;                     ///< at the start of the substep
  FieldPair X;                        ///< positions of the stage
  FieldPair force;                    ///< force at the stage
  FieldPair mass;                     ///< [owned vertices]
  const std::vector<Field>* earlier;  ///< accelerations of earlier stages, or their tangents
  ExplicitUpdate<T> update;           ///< only gravity and damping factor are read
};

/// Constraint forces of explicit steps.
///
/// The force of each stage i is f + G(X_i)ᵀ λ_i. λ_i is such that the positions of the next stage satisfy the
/// constraints. For a rule with a single stage, λ_1 is such that the positions at the end of the substep satisfy the
/// constraints. If a rule's last stage is at the end of the substep (velocity Verlet), λ_i of the last stage is such
/// that the velocities at the end of the substep satisfy G v = 0. With velocity Verlet this method is RATTLE (Andersen
/// 1983; Hairer, Lubich & Wanner 2006, section VII.1.4): symplectic and of second order. With symplectic Euler, the
/// positions equal the positions of SHAKE (Ryckaert, Ciccotti & Berendsen 1977).
///
/// Derivatives follow from the implicit function theorem. Consider g(y) = 0 with y = b + C G(x)ᵀ λ, and let
/// S(y, x) = G(y) C G(x)ᵀ. The adjoint ȳ of y determines a preliminary adjoint p̄ of the force and z = S(y, x)⁻ᵀ G(x) p̄.
/// The adjoint of b is the corrected adjoint ȳ - G(y)ᵀ z, which determines the final adjoint f̄ of the force. The vector
/// (Σ_k λ_k ∇²g_k) f̄ is added to x̄.
class ExplicitConstraints {
 public:
  /// `h`: length of a substep (s). Throws Error (input) for rules other than symplectic Euler and velocity Verlet,
  /// because with other rules the force of some stage does not change the positions that this force must correct.
  ExplicitConstraints(const ConstraintSet& set, const ExplicitRule& rule, double h);

  /// Returns the size (bytes) of the `ConstraintValues` of a stage.
  std::size_t record_bytes() const;
  /// Adds the constraint force to `force` and returns the multipliers. Throws Error on all ranks if the constraints
  /// cannot be satisfied. Collective.
  ConstraintValues add_force(const ConstraintStage<double>& at, Field& force) const;
  /// Adds the tangent of the constraint force to `force_tangent`, which contains the tangent of the other forces.
  /// Returns the tangents of the multipliers and of the result. Collective.
  ConstraintValues add_force_tangent(const ConstraintStage<Along>& at, const ConstraintValues& recorded,
                                     Field& force_tangent) const;
  /// Adds the recorded constraint force, and its tangent if T has derivatives, to `force`. Collective.
  template <class T>
  void add_recorded_force(const FieldPair& X, const ConstraintValues& recorded, const ConstraintValues* tangent,
                          const FieldPairToChange& force) const;

  /// Adjoint of the constraints of one stage. T: as in `ConstraintStage`.
  template <class T>
  class Reverse;

 private:
  bool is_on_velocities(int stage) const;
  /// Returns the diagonal of C, [nodes]: derivative of a node's constrained position or velocity with respect to the
  /// force on the node in the stage.
  template <class T>
  std::vector<T> factors(int stage, const ExplicitUpdate<T>& update) const;

  const ConstraintSet& set_;
  const ExplicitRule& rule_;
  double h_;
};

/// Masses at the nodes, gravity and damping factor in host memory.
template <class T>
class HostUpdate {
 public:
  /// `update`: device addresses of gravity and damping factor.
  HostUpdate(const ConstraintSet& set, const FieldPair& mass, const ExplicitUpdate<T>& update);
  /// Returns host addresses, which are valid as long as this object exists.
  ExplicitUpdate<T> operator()() const;

 private:
  double h_;
  std::vector<double> gravity_, damping_, mass_;                          // [3], [1], [nodes]
  std::vector<double> gravity_tangent_, damping_tangent_, mass_tangent_;  // an empty vector stands for zeros
  std::vector<std::uint8_t> fixed_;                                       // [nodes], all zero: nodes are never fixed
};

template <class T>
class ExplicitConstraints::Reverse {
 public:
  Reverse(const ExplicitConstraints& constraints, int stage, const FieldPair& X, const ConstraintValues& recorded,
          const ConstraintValues* tangent, const FieldPair& mass, const ExplicitUpdate<T>& update);
  /// Adds the correction -G(y)ᵀ z to x̄' or v̄' at the end of the substep. Requires the last stage. Collective.
  void correct_end(const FieldPairToChange& x_bar, const FieldPairToChange& v_bar);
  /// Adds the correction -G(y)ᵀ z to X̄ of the next stage. Requires a stage before the last. `acceleration_bar`:
  /// contributions of the end of the substep, and of the stages after the next stage, to the adjoint of the stage's
  /// acceleration. `v_bar`: V̄ of the next stage, or nullptr. Collective.
  void correct_next(const FieldPairToChange& x_bar, const FieldPair& v_bar, const FieldPair& acceleration_bar);
  /// Adds the contributions of the constraint force to X̄ of the stage. `f_bar`: final adjoint f̄ of the stage's force.
  /// Collective.
  void add_to_positions(const FieldPair& f_bar, const FieldPairToChange& x_bar) const;

 private:
  /// Computes z and returns the correction -G(y)ᵀ z. `force_bar`: preliminary adjoint p̄ of the force.
  NodeVectors<T> correction(const NodeVectors<T>& force_bar);

  const ExplicitConstraints& constraints_;
  const ConstraintSet& set_;
  int stage_;
  HostUpdate<T> update_;
  NodeVectors<T> X_, result_;
  std::vector<std::vector<T>> multipliers_, z_;  // one vector per assembly
};

}  // namespace diffsim::dynamics
