// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "adjoint/gauss_newton.hpp"

#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"

namespace diffsim {
namespace {

/// Record of a step of a GaussNewtonModel: the record of the underlying Model, and the joined state (x, dx) before the
/// step.
class GaussNewtonRecord : public Record {
 public:
  GaussNewtonRecord(std::unique_ptr<Record> of_model, State initial)
      : model(std::move(of_model)), joined(std::move(initial)) {}
  const State& initial() const override { return joined; }

  std::unique_ptr<Record> model;
  State joined;
};

[[noreturn]] void refuse() { throw Error("the derivative of the Gauss–Newton matrix is not available"); }

}  // namespace

GaussNewtonModel::GaussNewtonModel(Model& model, const ParameterSet& direction)
    : model_(model), direction_(direction), halves_(model.make_state()) {}

void GaussNewtonModel::prepare() {
  model_.prepare();
  model_.prepare_tangent(direction_);
}

void GaussNewtonModel::prepare_tangent(const ParameterSet&) { refuse(); }

std::unique_ptr<Record> GaussNewtonModel::make_record() const {
  return std::make_unique<GaussNewtonRecord>(model_.make_record(), make_state());
}

void GaussNewtonModel::step(int n, State& state, Record* record) {
  const ProfilingRegion region("diffsim::adjoint::gauss_newton_step");
  halves_.split(state);
  auto* const kept = static_cast<GaussNewtonRecord*>(record);
  if (!kept && !unrecorded_) unrecorded_ = model_.make_record();
  Record& of_model = kept ? *kept->model : *unrecorded_;
  if (kept) kept->joined.copy_from(state);
  model_.step(n, halves_.first, &of_model);
  model_.step_tangent(n, of_model, direction_, halves_.second);
  halves_.join(state);
}

void GaussNewtonModel::step_tangent(int, const Record&, const ParameterSet&, State&) { refuse(); }

void GaussNewtonModel::step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) {
  halves_.split(adjoint);
  model_.step_adjoint(n, *static_cast<const GaussNewtonRecord&>(record).model, halves_.first, gradient);
  halves_.join(adjoint);
}

double GaussNewtonLoss::value(int n, const State& state, const ParameterSet& parameters) {
  halves_.split(state);
  return loss_.tangent(n, halves_.first, parameters, halves_.second, model_.direction_);
}

double GaussNewtonLoss::tangent(int, const State&, const ParameterSet&, const State&, const ParameterSet&) { refuse(); }

void GaussNewtonLoss::add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                                   ParameterSet& gradient) {
  halves_.split(state);
  JoinedState& sums = model_.halves_;
  sums.split(adjoint);
  loss_.add_gauss_newton(n, halves_.first, parameters, halves_.second, model_.direction_, sums.first, gradient);
  sums.join(adjoint);
}

}  // namespace diffsim
