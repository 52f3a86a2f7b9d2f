// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/core/error.hpp"
#include "diffsim/core/parameters.hpp"
#include "diffsim/core/state.hpp"

namespace diffsim {

/// L = Σₙ ℓₙ(x[n], p), n = 0 … N. Verbs are collective over the Model's communicator, but return and add this rank's
/// share only: shares add up over the ranks to the whole.
class Loss {
 public:
  virtual ~Loss() = default;
  /// Unit of L, as "m²"; "1" for a number without unit.
  virtual std::string unit() const { return "1"; }
  /// Whether ℓₙ is there at all; the verbs below are called only for such n.
  virtual bool observes(int n) const = 0;
  /// This rank's share of ℓₙ.
  virtual double value(int n, const State& state, const ParameterSet& parameters) = 0;
  /// This rank's share of dℓₙ along `tangent` and `direction`.
  virtual double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                         const ParameterSet& direction) = 0;
  /// Adds ∂ℓₙ/∂x to the owned entries of `adjoint`, and ∂ℓₙ/∂p to `gradient` where it has p.
  virtual void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                            ParameterSet& gradient) = 0;
  /// Adds the derivatives of what `add_gradient` adds, along `tangent` and `direction`.
  virtual void add_gradient_tangent(int /*n*/, const State& /*state*/, const ParameterSet& /*parameters*/,
                                    const State& /*tangent*/, const ParameterSet& /*direction*/,
                                    State& /*adjoint_tangent*/, ParameterSet& /*gradient_tangent*/) {
    throw Error("no second derivative by this loss", ErrorKind::input);
  }
};

}  // namespace diffsim
