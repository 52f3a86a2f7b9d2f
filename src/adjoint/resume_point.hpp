// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/parameters.hpp"
#include "diffsim/core/state.hpp"

namespace diffsim {

/// Copies field by field the values of the parameters of `from` to those of `to`, which has the same parameters.
void copy_values(const ParameterSet& from, ParameterSet& to);

/// Adjoint and gradient of a reverse sweep at the last step at which the Model held no sums that were still to be added
/// to the gradient. An interrupted sweep continues at this point.
class ResumePoint {
 public:
  /// Allocates fields of zeros with the shapes of a state and a gradient, and sets `step` to -1.
  void allocate(const State& shape, const ParameterSet& gradient);
  /// Sets the point: the adjoint of state `step`, and the gradient that the steps from `step` on contribute.
  void set(int step, const State& adjoint, const ParameterSet& gradient);
  /// Copies the adjoint and the gradient to the arguments.
  void get(State& adjoint, ParameterSet& gradient) const;

  int step = -1;          ///< number of the state of `adjoint`; -1: no point yet
  State adjoint;          ///< ∂L/∂x[step]
  ParameterSet gradient;  ///< contribution to ∂L/∂p of the steps from `step` on
};

}  // namespace diffsim
