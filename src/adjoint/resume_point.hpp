// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/parameters.hpp"
#include "diffsim/core/state.hpp"

namespace diffsim {

/// Copies the values of each parameter of `from` to the parameter of the same name in `to`.
void copy_values(const ParameterSet& from, ParameterSet& to);

/// Copy of the adjoint and the gradient of a reverse sweep. The copy is made when the gradient is complete for all
/// steps reversed so far (`Model::prepare_adjoint`). An interrupted sweep continues from this copy.
class ResumePoint {
 public:
  /// Allocates the stored adjoint and gradient with the shapes of `shape` and `gradient`, and sets `step` to -1.
  void allocate(const State& shape, const ParameterSet& gradient);
  /// Stores copies of the adjoint of state `step`, and of the contribution of the steps from `step` on to the gradient.
  void set(int step, const State& adjoint, const ParameterSet& gradient);
  /// Copies the stored adjoint and gradient to the arguments.
  void get(State& adjoint, ParameterSet& gradient) const;

  int step = -1;          ///< number of the state of `adjoint`; -1 if nothing is stored
  State adjoint;          ///< ∂L/∂x[step]
  ParameterSet gradient;  ///< contribution to ∂L/∂p of the steps from `step` on
};

}  // namespace diffsim
