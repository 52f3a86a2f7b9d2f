// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/shooting_model.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::inverse {
namespace {

/// Adds `values` to the owned entries of `field`.
void add_owned(const std::vector<double>& values, Field& field) {
  std::vector<double> sum = field.to_host();
  for (std::size_t i = 0; i < values.size(); ++i) sum[i] += values[i];
  field.from_host(sum);
}

std::vector<double> owned_values(const Field& field) {
  std::vector<double> values = field.to_host();
  values.resize(field.owned_size());
  return values;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Record of a step. For the first step of a window, the record also has the state at the end of the previous window,
/// on which the loss depends.
class ShootingRecord final : public Record {
 public:
  explicit ShootingRecord(std::unique_ptr<Record> record) : of_model(std::move(record)) {}
  const State& initial() const override { return is_start ? *arrived : of_model->initial(); }

  std::unique_ptr<Record> of_model;
  bool is_start = false;
  std::optional<State> arrived;
};

const Record& of_model(const Record& record) { return *static_cast<const ShootingRecord&>(record).of_model; }

}  // namespace

ShootingModel::ShootingModel(Model& model, std::vector<int> starts, std::optional<int> first_step)
    : ForwardingModel(model), starts_(std::move(starts)), first_step_(first_step.value_or(0)) {
  const State state = model_.make_state();
  for (const Field& field : state.fields())
    if (first_step || !field.on().is_one_for_all()) fields_.push_back(field.name());
  for (std::size_t window = 0; window < starts_.size(); ++window)
    for (const std::string& name : fields_) {
      const Field& field = state[name];
      model_.parameters().add(
          parameter_of(name, window),
          field.on().is_one_for_all() ? field.shared_on() : Entities::without_copies(field.shared_on()),
          field.components());
    }
}

ShootingModel::~ShootingModel() {
  for (std::size_t i = 0; i < starts_.size() * fields_.size(); ++i) model_.parameters().remove_last();
}

std::optional<std::size_t> ShootingModel::window_at(int n) const {
  const auto found = std::lower_bound(starts_.begin(), starts_.end(), step_of_model(n));
  if (found == starts_.end() || *found != step_of_model(n)) return {};
  return static_cast<std::size_t>(found - starts_.begin());
}

std::vector<double> ShootingModel::start(const ParameterSet& set, const std::string& field, std::size_t window) const {
  const Parameter* const parameter = set.find(parameter_of(field, window));
  return parameter ? parameter->field.to_host() : std::vector<double>();
}

void ShootingModel::add_to_start(ParameterSet& set, const std::string& field, std::size_t window,
                                 const std::vector<double>& values) const {
  if (Parameter* const parameter = set.find(parameter_of(field, window))) add_owned(values, parameter->field);
}

void ShootingModel::replace(std::size_t window, const ParameterSet& set, State& state) const {
  for (const std::string& name : fields_) {
    std::vector<double> values = start(set, name, window);
    Field& field = state[name];
    values.resize(field.size());
    field.from_host(values);
  }
  synchronise(state);
}

void ShootingModel::move_to_start(std::size_t window, State& adjoint, ParameterSet& gradient) const {
  for (const std::string& name : fields_) {
    add_to_start(gradient, name, window, owned_values(adjoint[name]));
    adjoint[name].fill(0.0);
  }
}

std::unique_ptr<Record> ShootingModel::make_record() const {
  return std::make_unique<ShootingRecord>(model_.make_record());
}

void ShootingModel::step(int n, State& state, Record* record) {
  const auto window = window_at(n);
  auto* const kept = static_cast<ShootingRecord*>(record);
  if (kept) {
    kept->is_start = window.has_value();
    kept->arrived.reset();
    if (window) kept->arrived = state.clone();
  }
  if (window) replace(*window, parameters(), state);
  model_.step(step_of_model(n), state, kept ? kept->of_model.get() : nullptr);
}

void ShootingModel::step_tangent(int n, const Record& record, const ParameterSet& direction, State& tangent) {
  if (const auto window = window_at(n)) replace(*window, direction, tangent);
  model_.step_tangent(step_of_model(n), of_model(record), direction, tangent);
}

void ShootingModel::step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) {
  model_.step_adjoint(step_of_model(n), of_model(record), adjoint, gradient);
  if (const auto window = window_at(n)) move_to_start(*window, adjoint, gradient);
}

void ShootingModel::step_adjoint_tangent(int n, const Record& record, const StepTangent& tangent,
                                         const ParameterSet& direction, const AdjointPair& pair) {
  const auto window = window_at(n);
  if (!window) {
    model_.step_adjoint_tangent(step_of_model(n), of_model(record), tangent, direction, pair);
    return;
  }
  State before = tangent.before.clone();
  replace(*window, direction, before);
  model_.step_adjoint_tangent(step_of_model(n), of_model(record), {before, tangent.after}, direction, pair);
  move_to_start(*window, pair.adjoint, pair.gradient);
  move_to_start(*window, pair.adjoint_tangent, pair.gradient_tangent);
}

ShootingLoss::Values ShootingLoss::difference(std::size_t window, const State& state, const ParameterSet& set) const {
  Values d;
  for (const std::string& field : model_.fields()) {
    std::vector<double> values = owned_values(state[field]);
    const std::vector<double> z = model_.start(set, field, window);
    for (std::size_t i = 0; i < std::min(values.size(), z.size()); ++i) values[i] -= z[i];
    d.emplace(field, std::move(values));
  }
  return d;
}

void ShootingLoss::add(std::size_t window, const Values& g, State& adjoint, ParameterSet& gradient) const {
  for (const auto& [field, values] : g) {
    add_owned(values, adjoint[field]);
    std::vector<double> opposite = values;
    for (double& value : opposite) value = -value;
    model_.add_to_start(gradient, field, window, opposite);
  }
}

ShootingLoss::Values ShootingLoss::curvature_product(const Values& dd) const {
  Values product = dd;
  for (auto& [field, values] : product)
    for (double& value : values) value *= mu_ * weights_.at(field);
  return product;
}

const std::vector<double>& ShootingLoss::multipliers(std::size_t window, const std::string& field,
                                                     std::size_t size) const {
  std::vector<double>& values = multipliers_[window][field];
  values.resize(size);
  return values;
}

double ShootingLoss::squared_defects() const {
  double sum = 0.0;
  for (const auto& [window, d] : defects_)
    for (const auto& [field, values] : d) sum += weights_.at(field) * dot(values, values);
  return sum_over_ranks(sum, model_.comm());
}

void ShootingLoss::update_multipliers() {
  for (const auto& [window, d] : defects_)
    for (const auto& [field, values] : curvature_product(d)) {
      std::vector<double>& lambda = multipliers_[window][field];
      lambda.resize(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) lambda[i] += values[i];
    }
}

double ShootingLoss::value(int n, const State& state, const ParameterSet& parameters) {
  double sum = is_observed(n) ? loss_.value(model_.step_of_model(n), state, parameters) : 0.0;
  const auto window = ends_window(n);
  if (!window) return sum;
  const Values& d = defects_[*window] = difference(*window, state, parameters);
  for (const auto& [field, values] : d)
    sum +=
        dot(multipliers(*window, field, values.size()), values) + 0.5 * mu_ * weights_.at(field) * dot(values, values);
  return sum;
}

double ShootingLoss::tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                             const ParameterSet& direction) {
  double sum = is_observed(n) ? loss_.tangent(model_.step_of_model(n), state, parameters, tangent, direction) : 0.0;
  const auto window = ends_window(n);
  if (!window) return sum;
  const Values d = difference(*window, state, parameters), dd = difference(*window, tangent, direction);
  for (const auto& [field, values] : curvature_product(d))
    sum += dot(multipliers(*window, field, values.size()), dd.at(field)) + dot(values, dd.at(field));
  return sum;
}

void ShootingLoss::add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                                ParameterSet& gradient) {
  if (is_observed(n)) loss_.add_gradient(model_.step_of_model(n), state, parameters, adjoint, gradient);
  const auto window = ends_window(n);
  if (!window) return;
  Values g = curvature_product(difference(*window, state, parameters));
  for (auto& [field, values] : g) {
    const std::vector<double>& lambda = multipliers(*window, field, values.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += lambda[i];
  }
  add(*window, g, adjoint, gradient);
}

void ShootingLoss::add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                                        const ParameterSet& direction, State& adjoint_tangent,
                                        ParameterSet& gradient_tangent) {
  if (is_observed(n))
    loss_.add_gradient_tangent(model_.step_of_model(n), state, parameters, tangent, direction, adjoint_tangent,
                               gradient_tangent);
  if (const auto window = ends_window(n))
    add(*window, curvature_product(difference(*window, tangent, direction)), adjoint_tangent, gradient_tangent);
}

void ShootingLoss::add_gauss_newton(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                                    const ParameterSet& direction, State& adjoint, ParameterSet& gradient) {
  if (is_observed(n))
    loss_.add_gauss_newton(model_.step_of_model(n), state, parameters, tangent, direction, adjoint, gradient);
  if (const auto window = ends_window(n))
    add(*window, curvature_product(difference(*window, tangent, direction)), adjoint, gradient);
}

}  // namespace diffsim::inverse
