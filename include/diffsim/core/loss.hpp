// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "diffsim/core/error.hpp"
#include "diffsim/core/parameters.hpp"
#include "diffsim/core/state.hpp"

namespace diffsim {

/// Loss L = Σₙ ℓₙ(x[n], p) of a rollout with N time steps, where x[n] is the state after n time steps, n = 0 … N, and p
/// are the parameters. All functions of a Loss are collective over the Model's communicator. The functions `value`,
/// `tangent` and `add_…` compute the calling rank's contribution to the loss and to its derivatives; the loss is the
/// sum of the contributions of all ranks.
class Loss {
 public:
  virtual ~Loss() = default;
  /// Returns the unit of the loss, for example "m²"; "1" if the loss is dimensionless.
  virtual std::string unit() const { return "1"; }
  /// Returns the number of observations (for example measured positions) if the loss is a mean over observations, else
  /// 1.
  virtual double num_observations() const { return 1.0; }
  /// Multiplies the loss and all derivatives of the loss by a factor and returns true. The default implementation of
  /// `multiply` changes nothing and returns false, so that the caller must multiply the values and derivatives of the
  /// Loss by the factor. A loss whose `add_gradient` also adds to sums inside the Model, for example inside force
  /// terms, must override `multiply`, because the caller cannot multiply these sums.
  virtual bool multiply(double /*factor*/) { return false; }
  /// Returns true if the loss has a term ℓₙ for the state after n time steps. The functions `value`, `tangent` and
  /// `add_…` are called only for those n for which `observes(n)` is true.
  virtual bool observes(int n) const = 0;
  /// Returns this rank's contribution to the term ℓₙ of the loss.
  virtual double value(int n, const State& state, const ParameterSet& parameters) = 0;
  /// Returns this rank's contribution to the derivative ∂ℓₙ/∂x dx + ∂ℓₙ/∂p dp of the loss term ℓₙ, where dx is
  /// `tangent` and dp is `direction`.
  virtual double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                         const ParameterSet& direction) = 0;
  /// Adds the derivative ∂ℓₙ/∂x of the loss term ℓₙ to the values of `adjoint` at owned entities, and ∂ℓₙ/∂p to
  /// `gradient` for the parameters that `gradient` contains.
  virtual void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                            ParameterSet& gradient) = 0;
  /// Adds the derivatives, along `tangent` and `direction`, of the values that `add_gradient` adds: the derivatives of
  /// ∂ℓₙ/∂x to `adjoint_tangent`, and the derivatives of ∂ℓₙ/∂p to `gradient_tangent`.
  virtual void add_gradient_tangent(int /*n*/, const State& /*state*/, const ParameterSet& /*parameters*/,
                                    const State& /*tangent*/, const ParameterSet& /*direction*/,
                                    State& /*adjoint_tangent*/, ParameterSet& /*gradient_tangent*/) {
    throw Error("this loss has no second derivatives", ErrorKind::input);
  }
  /// Adds the Gauss–Newton product Jᵀ W dr to `adjoint` (components of the state x) and `gradient` (components of the
  /// parameters p), for a loss term ℓₙ = ½ rᵀ W r, where r(x, p) are residuals, W is a weight matrix, J is the
  /// derivative of r with respect to x and p, and dr is the derivative of r along `tangent` and `direction`. If the
  /// residuals r(x, p) are linear in x and p, `add_gauss_newton` gives the same results as `add_gradient_tangent`.
  virtual void add_gauss_newton(int /*n*/, const State& /*state*/, const ParameterSet& /*parameters*/,
                                const State& /*tangent*/, const ParameterSet& /*direction*/, State& /*adjoint*/,
                                ParameterSet& /*gradient*/) {
    throw Error("this loss is not a sum of squares, so it has no Gauss–Newton matrix", ErrorKind::input);
  }
};

/// Function ℓ(n, x) of the state x after n time steps. A StateLoss returns this rank's contribution to ℓ(n, x) and, if
/// `gradient` is not nullptr, adds ∂ℓ/∂x to the values of `gradient` at owned entities.
using StateLoss = std::function<double(int n, const State& state, State* gradient)>;

/// Loss L = Σ_n ℓ(n, x[n]) for a function ℓ that the caller provides, where x[n] is the state after n time steps.
/// Computes first derivatives only.
class FunctionLoss final : public Loss {
 public:
  /// Creates the loss Σ_n ℓ(n, x[n]) with ℓ = `function`. `unit`: unit of ℓ.
  explicit FunctionLoss(StateLoss function, std::string unit = "1");

  std::string unit() const override { return unit_; }
  bool observes(int n) const override;
  double value(int n, const State& state, const ParameterSet& parameters) override;
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;

 private:
  StateLoss function_;
  std::string unit_;
};

}  // namespace diffsim
