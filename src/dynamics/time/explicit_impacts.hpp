// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/impact.hpp"
#include "diffsim/dynamics/system.hpp"

namespace diffsim::dynamics {

/// State of the owned vertices before the impacts at the end of a substep, or the derivative of this state along a
/// direction.
struct BeforeImpacts {
  bool has_impacts = false;  ///< false if no vertex of this rank had an impact; the fields are then not valid
  Field positions{}, velocities{}, accelerations{};  ///< [owned vertices, 3]; see FieldsOfImpact

  /// Copies the values of owned vertices.
  void save(const Field& x, const Field& v, const Field& a);
  FieldsOfImpact<const Field> fields() const { return {positions, velocities, accelerations}; }
};

/// Impacts of a System at the end of explicit substeps (core/impact.hpp), with all derivatives. The impacts are applied
/// one after the other, and change only components that are neither fixed nor prescribed. Fields of positions and
/// velocities are [n, 3], where n is at least the number of owned vertices; ghost values are not changed.
///
/// The acceleration is a = (v - v_0)/h with the velocities v_0 at the start and v at the end of the substep of length
/// h. A caller therefore passes v_0, or derivatives with respect to v_0, to `start` and `start_tangent` before the
/// substep.
class ExplicitImpacts {
 public:
  /// Length of the substeps: `h` (s). `system` must outlive the ExplicitImpacts.
  ExplicitImpacts(System& system, double h) : system_(system), h_(h) {}

  /// Substep that ends at `time` (s) in time step `step`.
  struct End {
    int step;
    double time;
  };

  void start(const Field& v) { keep(v, start_); }
  void start_tangent(const Field& dv) { keep(dv, start_tangent_); }

  /// Applies all impacts to the positions x and the velocities v. `before`: if not nullptr, receives the state before
  /// the impacts, or `has_impacts` = false.
  void apply(const End& end, Field& x, Field& v, BeforeImpacts* before);
  /// Applies the tangent of `apply` to dx and dv, along the change `direction` of the parameters. `tangent_before`: if
  /// not nullptr, receives the derivative of the state before the impacts.
  void apply_tangent(const End& end, const BeforeImpacts& before, const ParameterSet& direction, Field& dx, Field& dv,
                     BeforeImpacts* tangent_before);

  /// Adjoints x̄ and v̄ of positions and velocities, or derivatives of these adjoints along a direction.
  struct Adjoint {
    Field &x, &v;
    ParameterSet& gradient;
  };
  /// Applies the adjoint of `apply` to `bar`, and adds this rank's contributions to the gradient.
  void apply_adjoint(const End& end, const BeforeImpacts& before, const Adjoint& bar);
  /// Applies `apply_adjoint` to `bar`. Computes in `bar_tangent` the derivative of `bar` along the change
  /// `tangent_before` of the state before the impacts and the change `direction` of the parameters.
  void apply_adjoint_tangent(const End& end, const BeforeImpacts& before, const BeforeImpacts& tangent_before,
                             const ParameterSet& direction, const Adjoint& bar, const Adjoint& bar_tangent);
  /// Adds to v̄_0 the adjoint of the velocities at the start of the substep of the last call of `apply_adjoint` or
  /// `apply_adjoint_tangent`. `tangent`: derivative of v̄_0, or nullptr.
  void finish_adjoint(Field& v_bar, Field* tangent);

 private:
  PlaceOfImpact place(const End& end, const FieldsOfImpact<const Field>& at) const {
    return {at, end.step, end.time, h_};
  }
  /// Copies `values` to `copy`, whose size is adjusted.
  void keep(const Field& values, Field& copy) const;
  /// Allocates the temporary fields.
  void allocate(const Field& like);
  /// Computes the states before each impact, `states_`, from the state before the first impact.
  void replay(const End& end, const BeforeImpacts& before);
  /// Computes the derivatives of `states_`, `tangents_`.
  void replay_tangents(const End& end, const BeforeImpacts& tangent_before, const ParameterSet& direction);

  System& system_;
  double h_;
  Field start_, start_tangent_;          // velocities at the start of the substep, and their derivatives
  Field accelerations_;                  // accelerations, or their derivatives
  Field dx_, dv_;                        // changes by one impact, zero between calls
  Field wx_, wv_, dwx_, dwv_;            // masked adjoints and their derivatives
  Field a_bar_, a_bar_tangent_;          // adjoints of the accelerations, zero before `apply_adjoint`
  bool has_adjoint_ = false;             // true if `a_bar_` is not zero
  std::vector<BeforeImpacts> states_;    // states before each impact
  std::vector<BeforeImpacts> tangents_;  // derivatives of the states before each impact
};

}  // namespace diffsim::dynamics
