// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "adjoint/linked_model.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "adjoint/resume_point.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"

namespace diffsim {
namespace {

/// Calls `finish` with the sums `inner`, to which the values of `outer` are added before the call. The results in
/// `inner` replace the values of `outer`, and all values of `inner` become zero.
template <class Finish>
void finish_sums(ParameterSet& inner, ParameterSet& outer, const Finish& finish) {
  for (const Parameter& parameter : outer) axpy(1.0, parameter.field, inner.at(parameter.name()).field);
  finish(inner);
  for (Parameter& parameter : outer) parameter.field.copy_from(inner.at(parameter.name()).field);
  inner.fill(0.0);
}

/// Throws Error (input) if `set`, a gradient or a direction, contains a control of `all`, the parameters of the Model.
void refuse_controls(const ParameterSet& set, const ParameterSet& all) {
  for (const Parameter& parameter : set)
    if (const Parameter* const known = all.find(parameter.name()); known && known->is_control)
      throw Error("no derivative with respect to '" + parameter.name() +
                      "', which a feedback or a link computes; use the parameters of the link, such as policy:NAME",
                  ErrorKind::input);
}

}  // namespace

/// Sets the controls of a set of parameters, and sets these controls to zero at the end of its life.
class LinkedModel::Controls {
 public:
  Controls(ParameterSet& of, const std::deque<ParameterSet>& values) : of_(of), values_(values) {
    for (const ParameterSet& set : values_) copy_values(set, of_);
  }
  ~Controls() {
    for (const ParameterSet& set : values_)
      for (const Parameter& control : set) of_.at(control.name()).field.fill(0.0);
  }
  Controls(const Controls&) = delete;
  Controls& operator=(const Controls&) = delete;

 private:
  ParameterSet& of_;
  const std::deque<ParameterSet>& values_;
};

void LinkedModel::add(std::shared_ptr<Link> link) {
  const std::vector<std::string> names = link->controls();
  for (const std::string& name : names) {
    const Parameter& control = parameters().at(name);
    if (control.is_control) throw Error("'" + name + "' is a control of two links", ErrorKind::input);
    if (std::count(names.begin(), names.end(), name) > 1)
      throw Error("'" + name + "' occurs twice in the controls of a link; remove one", ErrorKind::input);
    if (!control.spec.by_step)
      throw Error("'" + name + "' cannot be a control of a link, because the parameter has no values for single steps",
                  ErrorKind::input);
  }
  for (const std::string& name : names) {
    Parameter& control = parameters().at(name);
    if (control.steps() > 1) control.field = Field(name, control.field.shared_on(), control.field.components());
    control.field.fill(0.0);
    control.is_control = true;
  }
  links_.push_back(std::move(link));
}

std::vector<std::string> LinkedModel::with_controls(std::vector<std::string> names) const {
  for (const auto& link : links_)
    for (const std::string& name : link->controls()) names.push_back(name);
  return names;
}

std::deque<ParameterSet> LinkedModel::controls_at(int n, const State& state, const State* tangent) {
  std::deque<ParameterSet> all;
  for (const auto& link : links_) {
    ParameterSet& values = all.emplace_back(parameters().zero_like(link->controls()));
    if (tangent)
      link->tangent(n, state, parameters(), *tangent, direction_, values);
    else
      link->evaluate(n, state, parameters(), values);
  }
  return all;
}

std::deque<ParameterSet> LinkedModel::take_adjoints(ParameterSet& gradient) const {
  std::deque<ParameterSet> all;
  for (const auto& link : links_) {
    ParameterSet& adjoints = all.emplace_back(parameters().zero_like(link->controls()));
    for (Parameter& adjoint : adjoints) adjoint.field.copy_from(gradient.at(adjoint.name()).field);
    sum_globals(adjoints, comm());
  }
  clear_controls(gradient);
  return all;
}

void LinkedModel::clear_controls(ParameterSet& gradient) const {
  for (const std::string& name : with_controls({})) gradient.at(name).field.fill(0.0);
}

void LinkedModel::prepare() {
  for (const auto& link : links_)
    for (const std::string& name : link->controls()) {
      Parameter& control = parameters().at(name);
      if (control.steps() > 1)
        throw Error("'" + name + "' is a control of a link and cannot be given for each step", ErrorKind::input);
      control.field.fill(0.0);
    }
  model_.prepare();
}

void LinkedModel::prepare_tangent(const ParameterSet& direction) {
  refuse_controls(direction, parameters());
  direction_ = parameters().zero_like(with_controls(direction.names()));
  copy_values(direction, direction_);
  model_.prepare_tangent(direction_);
}

void LinkedModel::begin_adjoint(const ParameterSet& gradient) {
  refuse_controls(gradient, parameters());
  gradient_ = parameters().zero_like(with_controls(gradient.names()));
  model_.begin_adjoint(gradient_);
}

void LinkedModel::prepare_adjoint(ParameterSet& gradient) {
  finish_sums(gradient_, gradient, [&](ParameterSet& sums) { model_.prepare_adjoint(sums); });
}

void LinkedModel::step(int n, State& state, Record* record) {
  const ProfilingRegion region("diffsim::adjoint::linked_step");
  const std::deque<ParameterSet> values = controls_at(n, state);
  const Controls controls(parameters(), values);
  model_.step(n, state, record);
}

void LinkedModel::step_tangent(int n, const Record& record, const ParameterSet&, State& tangent) {
  synchronise(tangent);  // links read values at copies of other ranks' entities
  const std::deque<ParameterSet> values = controls_at(n, record.initial()),
                                 changes = controls_at(n, record.initial(), &tangent);
  const Controls controls(parameters(), values), control_tangents(direction_, changes);
  model_.step_tangent(n, record, direction_, tangent);
}

void LinkedModel::step_adjoint(int n, const Record& record, State& adjoint, ParameterSet&) {
  const std::deque<ParameterSet> values = controls_at(n, record.initial());
  {
    const Controls controls(parameters(), values);
    model_.step_adjoint(n, record, adjoint, gradient_);
  }
  const std::deque<ParameterSet> adjoints = take_adjoints(gradient_);
  for (std::size_t i = 0; i < links_.size(); ++i)
    links_[i]->add_adjoint(n, record.initial(), parameters(), adjoints[i], adjoint, gradient_);
  clear_controls(gradient_);
}

void LinkedModel::begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet&) {
  gradient_tangent_ = parameters().zero_like(with_controls(gradient.names()));
  model_.begin_adjoint_tangent(gradient_, direction_);
}

void LinkedModel::prepare_adjoint_tangent(const ParameterSet&, ParameterSet& gradient_tangent) {
  finish_sums(gradient_tangent_, gradient_tangent,
              [&](ParameterSet& sums) { model_.prepare_adjoint_tangent(direction_, sums); });
}

void LinkedModel::step_adjoint_tangent(int n, const Record& record, const StepTangent& tangent, const ParameterSet&,
                                       const AdjointPair& pair) {
  const State& state = record.initial();
  const std::deque<ParameterSet> values = controls_at(n, state), changes = controls_at(n, state, &tangent.before);
  {
    const Controls controls(parameters(), values), control_tangents(direction_, changes);
    model_.step_adjoint_tangent(n, record, tangent, direction_,
                                {pair.adjoint, pair.adjoint_tangent, gradient_, gradient_tangent_});
  }
  const std::deque<ParameterSet> adjoints = take_adjoints(gradient_),
                                 adjoint_tangents = take_adjoints(gradient_tangent_);
  for (std::size_t i = 0; i < links_.size(); ++i) {
    links_[i]->add_adjoint(n, state, parameters(), adjoints[i], pair.adjoint, gradient_);
    links_[i]->add_adjoint_tangent(n, state, parameters(), tangent.before, direction_, adjoints[i], adjoint_tangents[i],
                                   pair.adjoint_tangent, gradient_tangent_);
  }
  clear_controls(gradient_);
  clear_controls(gradient_tangent_);
}

}  // namespace diffsim
