// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "adjoint/directional.hpp"

#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"

namespace diffsim {
namespace {

/// Record of a step of a DirectionalModel: the record of the underlying Model, the joined state (x, dx) before the
/// step, and the derivative dx after the step.
class DirectionalRecord : public Record {
 public:
  DirectionalRecord(std::unique_ptr<Record> of_model, State initial, State after)
      : model(std::move(of_model)), joined(std::move(initial)), tangent_after(std::move(after)) {}
  const State& initial() const override { return joined; }

  std::unique_ptr<Record> model;
  State joined, tangent_after;
};

[[noreturn]] void refuse_third() { throw Error("there are no third derivatives"); }

}  // namespace

State JoinedState::make_joined() const {
  State joined;
  for (const Field& field : first.fields()) joined.add(field.like(field.name()));
  for (const Field& field : second.fields()) joined.add(field.like(field.name() + "_tangent"));
  return joined;
}

void JoinedState::split(const State& joined) {
  const std::size_t count = first.fields().size();
  for (std::size_t i = 0; i < count; ++i) {
    first.fields()[i].copy_from(joined.fields()[i]);
    second.fields()[i].copy_from(joined.fields()[count + i]);
  }
}

void JoinedState::join(State& joined) const {
  const std::size_t count = first.fields().size();
  for (std::size_t i = 0; i < count; ++i) {
    joined.fields()[i].copy_from(first.fields()[i]);
    joined.fields()[count + i].copy_from(second.fields()[i]);
  }
}

DirectionalModel::DirectionalModel(Model& model, const ParameterSet& direction)
    : model_(model), direction_(direction), halves_(model.make_state()) {}

ParameterSet& DirectionalModel::sum_gradient() {
  sum_globals(gradient_, comm());
  return gradient_;
}

void DirectionalModel::prepare() {
  model_.prepare();
  model_.prepare_tangent(direction_);
}

void DirectionalModel::prepare_tangent(const ParameterSet&) { refuse_third(); }

void DirectionalModel::begin_adjoint(const ParameterSet& gradient) {
  if (!begun_) gradient_ = gradient.zero_like(gradient.names());
  begun_ = true;
  model_.begin_adjoint(gradient_);
  model_.begin_adjoint_tangent(gradient_, direction_);
}

void DirectionalModel::prepare_adjoint(ParameterSet& gradient) {
  model_.prepare_adjoint(gradient_);
  model_.prepare_adjoint_tangent(direction_, gradient);
}

std::unique_ptr<Record> DirectionalModel::make_record() const {
  return std::make_unique<DirectionalRecord>(model_.make_record(), make_state(), halves_.first.zero_like());
}

std::size_t DirectionalModel::record_bytes() const { return model_.record_bytes() + 3 * halves_.first.bytes(); }

void DirectionalModel::step(int n, State& state, Record* record) {
  const ProfilingRegion region("diffsim::adjoint::directional_step");
  halves_.split(state);
  auto* const kept = static_cast<DirectionalRecord*>(record);
  if (!kept && !unrecorded_) unrecorded_ = model_.make_record();
  Record& of_model = kept ? *kept->model : *unrecorded_;
  if (kept) kept->joined.copy_from(state);
  model_.step(n, halves_.first, &of_model);
  model_.step_tangent(n, of_model, direction_, halves_.second);
  if (kept) kept->tangent_after.copy_from(halves_.second);
  halves_.join(state);
}

void DirectionalModel::step_tangent(int, const Record&, const ParameterSet&, State&) { refuse_third(); }

void DirectionalModel::step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) {
  const auto& kept = static_cast<const DirectionalRecord&>(record);
  halves_.split(kept.joined);
  const State before = halves_.second.clone();
  halves_.split(adjoint);
  model_.step_adjoint_tangent(n, *kept.model, {before, kept.tangent_after}, direction_,
                              {halves_.second, halves_.first, gradient_, gradient});
  halves_.join(adjoint);
}

double DirectionalLoss::value(int n, const State& state, const ParameterSet& parameters) {
  halves_.split(state);
  return loss_.tangent(n, halves_.first, parameters, halves_.second, model_.direction_);
}

double DirectionalLoss::tangent(int, const State&, const ParameterSet&, const State&, const ParameterSet&) {
  refuse_third();
}

void DirectionalLoss::add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                                   ParameterSet& gradient) {
  halves_.split(state);
  JoinedState& sums = model_.halves_;
  sums.split(adjoint);
  loss_.add_gradient(n, halves_.first, parameters, sums.second, model_.gradient_);
  loss_.add_gradient_tangent(n, halves_.first, parameters, halves_.second, model_.direction_, sums.first, gradient);
  sums.join(adjoint);
}

}  // namespace diffsim
