// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "adjoint/forwarding_loss.hpp"
#include "adjoint/forwarding_model.hpp"

namespace diffsim {

/// Model whose step n is step `first` + n of another Model. Forward and reverse runs number their steps from 0; the
/// runs of a LaterSteps compute the steps `first`, `first` + 1, … of the other Model.
class LaterSteps : public ForwardingModel {
 public:
  LaterSteps(Model& model, int first) : ForwardingModel(model), first_(first) {}

  void step(int n, State& state, Record* record) override { model_.step(first_ + n, state, record); }
  void step_tangent(int n, const Record& record, const ParameterSet& direction, State& tangent) override {
    model_.step_tangent(first_ + n, record, direction, tangent);
  }
  void step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) override {
    model_.step_adjoint(first_ + n, record, adjoint, gradient);
  }
  void step_adjoint_tangent(int n, const Record& record, const StepTangent& tangent, const ParameterSet& direction,
                            const AdjointPair& pair) override {
    model_.step_adjoint_tangent(first_ + n, record, tangent, direction, pair);
  }
  void set_reversible(bool wanted) override { model_.set_reversible(wanted); }
  void step_back(int n, State& state, Record& record) override { model_.step_back(first_ + n, state, record); }

 private:
  int first_;
};

/// Loss whose state n is state `first` + n of another Loss. `loss` must outlive the LaterLoss.
class LaterLoss : public ForwardingLoss {
 public:
  LaterLoss(Loss& loss, int first) : ForwardingLoss(loss, first) {}
};

}  // namespace diffsim
