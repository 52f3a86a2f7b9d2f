// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/parameters.hpp"
#include "diffsim/core/state.hpp"

namespace diffsim {

/// Copies the values of each parameter of `from` to the parameter of the same name in `to`.
void copy_values(const ParameterSet& from, ParameterSet& to);

/// Copy of the adjoint and the gradient of a reverse sweep. `ResumePoint::set` is called at the beginning of the
/// reverse sweep, and after each block of steps (AdjointSweep::steps_of_block), when `Model::prepare_adjoint` has
/// completed the gradient of all steps reversed so far. An interrupted reverse sweep continues from the ResumePoint.
class ResumePoint {
 public:
  /// Allocates the stored adjoint with the fields of the State `shape`, allocates the stored gradient with the
  /// parameters of `gradient`, and sets `step` to -1.
  void allocate(const State& shape, const ParameterSet& gradient);
  /// Stores a copy of `adjoint`, which is ∂L/∂x[step] for the loss L, and of `gradient`, which is the contribution of
  /// step `step` and all later steps to ∂L/∂p.
  void set(int step, const State& adjoint, const ParameterSet& gradient);
  /// Copies the stored adjoint to the argument `adjoint`, and the stored gradient to the argument `gradient`.
  void get(State& adjoint, ParameterSet& gradient) const;

  int step = -1;          ///< number n of the state x[n] whose adjoint is stored; -1 if no adjoint is stored
  State adjoint;          ///< ∂L/∂x[step]
  ParameterSet gradient;  ///< contribution of step `step` and all later steps to ∂L/∂p
};

}  // namespace diffsim
