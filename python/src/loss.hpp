// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <optional>
#include <vector>

#include "diffsim/core/loss.hpp"

namespace diffsim::python {

namespace nb = nanobind;

/// Runs a body that calls Python on every rank. If the body fails on some ranks, these ranks throw their own exceptions
/// and the others throw an Error. Collective; the caller is in a LibraryScope.
void call_on_all_ranks(MPI_Comm comm, const std::function<void()>& body);
/// Throws the exception of a pending signal, such as KeyboardInterrupt. The caller has the GIL.
void check_signals();

/// Loss that is a Python function loss(n, state) -> None or (value, {field: derivative}).
class PythonLoss final : public Loss {
 public:
  /// `values_only`: a value without derivatives is accepted.
  PythonLoss(nb::object function, MPI_Comm comm, double dt, bool values_only);
  ~PythonLoss() override;

  bool observes(int /*n*/) const override { return true; }
  double value(int n, const State& state, const ParameterSet& parameters) override;
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;

 private:
  void evaluate(int n, const State& state);
  void read(nb::handle result, const State& state);

  nb::object function_;
  MPI_Comm comm_;
  double dt_;
  bool values_only_;
  int step_ = -1;  // number of the state at which the members below were evaluated
  double value_ = 0.0;
  std::vector<std::vector<double>> derivatives_;  // for each field of the state; empty: zero
};

}  // namespace diffsim::python
