// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "diffsim/core/parameters.hpp"
#include "diffsim/core/state.hpp"

namespace diffsim::python {

namespace nb = nanobind;

/// State after n steps, its time (s), and all parameters of the model, at which Python functions are evaluated.
struct Moment {
  int n;
  double time;
  const State& state;
  const ParameterSet& parameters;
};

/// Changes of the state and of the parameters. Parameters that `parameters` lacks do not change.
struct Change {
  const State& state;
  const ParameterSet& parameters;
};

/// Python function y = f(n, x, p) of the number n of steps, of the state x and of some parameters p of the model, with
/// the derivatives of f: the functions of a link or of a sensor. The result y and vectors w of the same kind are Python
/// objects, which the owner of the functions converts. On several ranks, the functions of a rank may depend on entities
/// that the rank owns only. The callers must hold the GIL and be in a LibraryScope.
class StateFunctions {
 public:
  /// Python functions. `tangent` and `pullback_tangent` may be None.
  struct Functions {
    nb::object evaluate, pullback, tangent, pullback_tangent;
  };

  StateFunctions() = default;
  /// `owner`: "link" or "sensor", for messages. `parameters`: names of the parameters p. Throws InputError if
  /// `evaluate` or `pullback` is not a function, or if `tangent` or `pullback_tangent` is neither a function nor None.
  StateFunctions(std::string owner, Functions functions, std::vector<std::string> parameters);

  const std::vector<std::string>& parameters() const { return parameters_; }
  bool has_tangent() const { return !functions_.tangent.is_none(); }

  /// Returns y.
  nb::object evaluate(const Moment& at) const;
  /// Returns ∂f/∂x dx + ∂f/∂p dp, where dx and dp are `change`. Throws InputError without the function `tangent`.
  nb::object tangent(const Moment& at, const Change& change) const;
  /// Adds (∂f/∂x)ᵀ w to `adjoint` at owned entities, and (∂f/∂p)ᵀ w to the parameters that `gradient` contains.
  void add_pullback(const Moment& at, const nb::object& w, State& adjoint, ParameterSet& gradient) const;
  /// Adds the derivatives of the results of `add_pullback` along `change` and along the change dw of w. Throws
  /// InputError without the function `pullback_tangent`.
  void add_pullback_tangent(const Moment& at, const Change& change, const nb::object& w, const nb::object& dw,
                            State& adjoint_tangent, ParameterSet& gradient_tangent) const;

 private:
  void require(const nb::object& function, const char* name) const;
  /// Returns the arrays of the parameters p in `set`: values, or changes. A parameter that `set` lacks is zero. `all`:
  /// parameters of the model, which have the shapes of the arrays.
  nb::dict arguments(const ParameterSet& set, const ParameterSet& all) const;
  /// Adds the derivatives in `pair`, the result of the Python function `function`, to `adjoint` and `gradient`.
  void add_pair(nb::handle pair, const std::string& function, State& adjoint, ParameterSet& gradient) const;
  /// Adds derivatives with respect to a field to `field`. `used`: number of values at the start of the field that
  /// derivatives can be added to. The other values are at copies of other ranks' entities; the derivatives with respect
  /// to these values must be zero.
  void add_derivatives(nb::handle object, std::size_t used, Field& field) const;

  std::string owner_;
  Functions functions_;
  std::vector<std::string> parameters_;
};

}  // namespace diffsim::python
