// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/inverse/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "adjoint/adjoint_sweep.hpp"
#include "adjoint/sweep_plan.hpp"
#include "checkpoint/from_options.hpp"
#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "checkpoint/sweep_journal.hpp"
#include "core/broadcast.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/inverse/prior.hpp"
#include "inverse/evaluation_log.hpp"
#include "inverse/parametrisation.hpp"
#include "inverse/process_groups.hpp"
#include "inverse/state_field.hpp"

namespace diffsim {

using namespace inverse;

namespace {

void check_map(const Unknown& unknown, std::size_t values) {
  if (unknown.map.size() != values * static_cast<std::size_t>(unknown.map_numbers) || !unknown.group.empty())
    throw Error("unknown '" + unknown.name() + "': its map needs a row of " + std::to_string(unknown.map_numbers) +
                    " values for each of " + std::to_string(values) + " entries, and no groups",
                ErrorKind::input);
}

/// Returns the values of `field`, of which the owned values are reduced by those of `other`.
std::vector<double> difference(const Field& field, const Field& other) {
  std::vector<double> values = field.to_host();
  const std::vector<double> subtracted = other.to_host();
  for (std::size_t i = 0; i < field.owned_size(); ++i) values[i] -= subtracted[i];
  return values;
}

/// Returns the values number m · size to (m + 1) · size - 1.
std::vector<double> slice(const std::vector<double>& values, std::size_t m, std::size_t size) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(m * size);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

/// Throws Error (run) if a rank found a value that is not finite. The message is `text`, followed by the location of
/// the value that the earliest operation of all ranks produced. Collective.
void throw_first(NotFinite finding, const std::string& text, MPI_Comm comm) {
  struct {
    double operation;
    int rank;
  } first{finding.where.empty() ? std::numeric_limits<double>::infinity() : static_cast<double>(finding.operation),
          rank_of(comm)};
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm));
  if (std::isinf(first.operation)) return;
  broadcast_text(finding.where, comm, first.rank);
  throw Error(text + finding.where, ErrorKind::run);
}

}  // namespace

InverseProblem::InverseProblem(Model& model, const State& initial, int num_steps, Loss& loss,
                               std::vector<Unknown> unknowns, ScheduleFactory make_schedule, Store& store)
    : model_(model),
      initial_(initial.clone()),
      num_steps_(num_steps),
      loss_(loss),
      unknowns_(std::move(unknowns)),
      make_schedule_(std::move(make_schedule)),
      store_(store) {
  set_blocks();
}

InverseProblem::InverseProblem(Model& model, const State& initial, int num_steps, Loss& loss,
                               std::vector<Unknown> unknowns, const CheckpointOptions& checkpoints)
    : model_(model),
      initial_(initial.clone()),
      num_steps_(num_steps),
      loss_(loss),
      unknowns_(std::move(unknowns)),
      checkpoints_(checkpoints),
      own_store_(make_store(checkpoints, model.comm())),
      store_(*own_store_) {
  // Without a memory budget, a gradient and the products with the Hessian that follow share the results of steps.
  constexpr std::size_t remembered_bytes = std::size_t{1} << 28;
  if (!checkpoints.memory.is_given()) model.remember_steps(remembered_bytes);
  set_blocks();
}

InverseProblem::~InverseProblem() = default;
InverseProblem::InverseProblem(InverseProblem&&) noexcept = default;

std::unique_ptr<Schedule> InverseProblem::make_schedule() {
  if (make_schedule_) return make_schedule_(num_steps_);
  if (checkpoints_.memory.is_given() && !plan_)
    plan_ = std::make_unique<SweepPlan>(plan_sweep(checkpoints_, model_, initial_, make_gradient(), num_steps_));
  return diffsim::make_schedule(checkpoints_, num_steps_, plan_ ? &plan_->checkpoints : nullptr);
}

std::unique_ptr<Schedule> InverseProblem::make_product_schedule() {
  if (make_product_schedule_) return make_product_schedule_(num_steps_);
  if (make_schedule_ || !checkpoints_.memory.is_given()) return make_schedule();
  if (!product_plan_)
    product_plan_ =
        std::make_unique<SweepPlan>(plan_product_sweep(checkpoints_, model_, initial_, make_gradient(), num_steps_));
  return diffsim::make_schedule(checkpoints_, num_steps_, &product_plan_->checkpoints);
}

void InverseProblem::require_one_start() const {
  for (std::size_t k = 0; k < unknowns_.size(); ++k)
    for (std::size_t other = 0; unknowns_[k].entry_map && other < unknowns_.size(); ++other) {
      const std::string& name = unknowns_[other].parameter;
      const bool moves_joints =
          name.starts_with("joint_point:") || name.starts_with("joint_axis:") || name.starts_with("joint_ratio:");
      if (other != k && (state_field(name) || moves_joints))
        throw Error("'" + unknowns_[k].name() + "' and '" + unknowns_[other].name() +
                        "' cannot both be unknowns; give all joints in one unknown, or remove one",
                    ErrorKind::input);
    }
}

void InverseProblem::set_blocks() {
  require_one_start();
  const bool first = rank_of(comm()) == 0;
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    Unknown& unknown = unknowns_[k];
    Block block;
    const Field& field_of_unknown = field(k);
    block.components = field_of_unknown.components();
    if (is_global(k) && unknown.group.empty() && unknown.map_numbers == 0) {
      // All ranks have the same entries, so each entry becomes a separate group.
      unknown.group.resize(field_of_unknown.extent());
      std::iota(unknown.group.begin(), unknown.group.end(), 0);
      unknown.group_names.assign(field_of_unknown.extent(), "");
    }
    const std::size_t entries = is_global(k) ? field_of_unknown.extent() : field_of_unknown.owned(),
                      num_values = entries * static_cast<std::size_t>(block.components);
    const bool has_map = unknown.map_numbers > 0;
    block.values = unknown.logarithmic && !has_map ? make_exponential() : make_identity();
    if (unknown.entry_map) {
      block.shared = static_cast<std::size_t>(unknown.map_numbers);
      block.entries = unknown.entry_map;
      block.components = 1;
    } else if (has_map) {
      collectively(comm(), [&] { check_map(unknown, num_values); });
      block.shared = static_cast<std::size_t>(unknown.map_numbers);
      std::vector<double> present = field_of_unknown.to_host();
      present.resize(num_values);
      std::unique_ptr<EntryMap> map = make_linear_map(
          unknown.map, block.shared, unknown.logarithmic ? std::vector<double>(num_values, 0.0) : present);
      if (unknown.logarithmic) map = make_scaled_exponential(std::move(map), std::move(present));
      block.entries = std::move(map);
      block.components = 1;
    } else if (!unknown.group_names.empty()) {
      const auto num_groups = static_cast<int>(unknown.group_names.size());
      collectively(comm(), [&] {
        if (unknown.group.size() != entries)
          throw Error("unknown '" + unknown.name() + "' has groups for " + std::to_string(unknown.group.size()) +
                          " entries of " + std::to_string(entries),
                      ErrorKind::input);
        for (const int group : unknown.group)
          if (group < -1 || group >= num_groups)
            throw Error("unknown '" + unknown.name() + "' has an entry of group " + std::to_string(group) + ", but " +
                            std::to_string(num_groups) + " groups; give -1 for entries that do not change",
                        ErrorKind::input);
      });
      block.shared = unknown.group_names.size() * static_cast<std::size_t>(block.components);
      block.entries = make_groups(unknown.group, unknown.group_names.size(), block.components);
    } else {
      block.entries = make_entries(num_values);
    }
    block.offset = size_;
    block.count = block.shared == 0 ? num_values : first ? block.shared : 0;
    size_ += block.count;
    if (!unknown.carries.empty()) block.carried = difference(initial_[unknown.carries], field_of_unknown);
    blocks_.push_back(block);
    if (unknown.distribution) set_distribution(k);
    if (unknown.shape_filter) set_shape_filter(k);
  }
}

bool InverseProblem::of_initial_state(std::size_t k) const { return state_field(unknowns_[k].parameter) != nullptr; }

bool InverseProblem::is_global(std::size_t k) const {
  return !of_initial_state(k) && model_.parameters().at(unknowns_[k].parameter).is_global();
}

Field& InverseProblem::field(std::size_t k) {
  const std::string& name = unknowns_[k].parameter;
  if (const char* in_state = state_field(name)) return initial_[in_state];
  return model_.parameters().at(name).field;
}

std::vector<double> InverseProblem::start() const {
  std::vector<double> u(size_);
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    const Unknown& unknown = unknowns_[k];
    const Block& block = blocks_[k];
    const std::size_t numbers = block.shared > 0 ? block.shared : block.count;
    std::vector<double> p(numbers, 0.0);
    if (unknown.start.size() == 1) {
      std::fill(p.begin(), p.end(), unknown.start[0]);
    } else if (!unknown.start.empty()) {
      if (unknown.start.size() != numbers)
        throw Error("unknown '" + unknown.name() + "' starts with " + std::to_string(unknown.start.size()) +
                        " values, but has " + std::to_string(numbers),
                    ErrorKind::input);
      p = unknown.start;
    } else if (unknown.distribution) {
      std::fill(p.begin(), p.end(), 1.0);
    } else if (unknown.map_numbers == 0 && !unknown.shape_filter) {
      // The start values are the Model's current values. For a group, the start value is the mean over the group's
      // entries on all ranks.
      const std::vector<double> present = const_cast<InverseProblem*>(this)->field(k).to_host();
      p = block.entries->adjoint(p, present);
      std::vector<double> count = block.entries->adjoint(p, std::vector<double>(present.size(), 1.0));
      if (block.shared > 0) {
        DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, p.data(), static_cast<int>(numbers), MPI_DOUBLE, MPI_SUM, comm()));
        DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, count.data(), static_cast<int>(numbers), MPI_DOUBLE, MPI_SUM, comm()));
      }
      for (std::size_t i = 0; i < numbers; ++i) p[i] /= std::max(count[i], 1.0);
    }
    collectively(comm(), [&] {
      for (const double value : p)
        if (std::isfinite(value) && !std::isfinite(block.values->inverse(value)))
          throw Error("'" + unknown.name() + "' is searched in the logarithm, but starts at " + std::to_string(value) +
                          "; start above 0 or search linearly",
                      ErrorKind::input);
    });
    for (std::size_t i = 0; i < block.count; ++i) u[block.offset + i] = block.values->inverse(p[i]);
  }
  set_prescribed(u);
  return groups_ ? groups_->of_first(std::move(u)) : u;
}

std::vector<double> InverseProblem::lower_bounds() const {
  std::vector<double> bounds(size_);
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    double lower = blocks_[k].values->inverse(unknowns_[k].lower);
    if (std::isnan(lower)) lower = -std::numeric_limits<double>::infinity();  // `lower` is below the range of p = exp u
    std::fill_n(bounds.begin() + static_cast<std::ptrdiff_t>(blocks_[k].offset), blocks_[k].count, lower);
  }
  set_prescribed(bounds);
  return bounds;
}

std::vector<double> InverseProblem::upper_bounds() const {
  std::vector<double> bounds(size_);
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    const double upper = blocks_[k].values->inverse(unknowns_[k].upper);
    std::fill_n(bounds.begin() + static_cast<std::ptrdiff_t>(blocks_[k].offset), blocks_[k].count, upper);
  }
  set_prescribed(bounds);
  return bounds;
}

std::vector<double> InverseProblem::complete(std::size_t k, const std::vector<double>& u) const {
  const Block& block = blocks_[k];
  std::vector<double> values = part(k, u);
  if (block.shared > 0) {
    values.resize(block.shared);
    DIFFSIM_MPI(MPI_Bcast(values.data(), static_cast<int>(block.shared), MPI_DOUBLE, 0, comm()));
  }
  return values;
}

std::vector<double> InverseProblem::part(std::size_t k, const std::vector<double>& u) const {
  const auto begin = u.begin() + static_cast<std::ptrdiff_t>(blocks_[k].offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(blocks_[k].count)};
}

std::vector<double> InverseProblem::physical(std::size_t k, const std::vector<double>& u) const {
  std::vector<double> p = complete(k, u);
  for (double& value : p) value = blocks_[k].values->value(value);
  return p;
}

std::vector<double> InverseProblem::physical_gradient(std::size_t k, const std::vector<double>& u,
                                                      const std::vector<double>& gradient) const {
  std::vector<double> g = complete(k, gradient);
  const std::vector<double> at = complete(k, u);
  for (std::size_t i = 0; i < g.size(); ++i) g[i] /= blocks_[k].values->derivative(at[i]);
  return g;
}

std::vector<double> InverseProblem::search_direction(std::size_t k, const std::vector<double>& u,
                                                     const std::vector<double>& dp) const {
  const std::vector<double> at = part(k, u);
  std::vector<double> du(at.size());
  for (std::size_t i = 0; i < du.size(); ++i) du[i] = dp[i] / blocks_[k].values->derivative(at[i]);
  return du;
}

void InverseProblem::set(const std::vector<double>& u) {
  for (InverseProblem* experiment : experiments_) experiment->set(u);
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    const Unknown& unknown = unknowns_[k];
    const std::vector<double> p = physical(k, u);
    Field& target = field(k);
    std::vector<double> values = target.to_host();
    const std::size_t size = values.size();
    const std::vector<std::string> names = unknown.parameters();
    values.resize(size * names.size());
    blocks_[k].entries->set(p, values);
    for (std::size_t m = 1; m < names.size(); ++m)
      model_.parameters().at(names[m]).field.from_host(slice(values, m, size));
    values.resize(size);
    target.from_host(values);
    if (unknown.carries.empty()) continue;
    std::vector<double> carried = blocks_[k].carried;
    for (std::size_t i = 0; i < initial_[unknown.carries].owned_size(); ++i) carried[i] += values[i];
    initial_[unknown.carries].from_host(carried);
  }
  synchronise(initial_);
  synchronise(model_.parameters());
}

ParameterSet InverseProblem::make_gradient() const {
  std::vector<std::string> names;
  for (const Unknown& unknown : unknowns_)
    for (const std::string& name : unknown.parameters())
      if (!state_field(name) && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return model_.parameters().zero_like(names);
}

double InverseProblem::sweep(Loss& loss, const std::vector<double>& u, std::vector<double>& gradient,
                             const StateObserver& observer, SweepJournal* journal) {
  set(u);
  // The plan of the schedule already includes an estimate of the memory of the objects below, so these objects are
  // allocated after the call of `make_schedule`.
  const std::unique_ptr<Schedule> schedule = make_schedule();
  ParameterSet parameters = make_gradient();
  State state = initial_.clone();
  State adjoint = state.zero_like();
  for (std::size_t k = 0; k < unknowns_.size(); ++k)
    if (schedule->first_reversed() > 0 && (of_initial_state(k) || !unknowns_[k].carries.empty()))
      throw Error("'" + unknowns_[k].name() +
                      "' acts through the initial state, which a sweep of the last steps only does not reach; reverse "
                      "all steps",
                  ErrorKind::input);
  double result = 0.0;
  {
    // The sweep's records are released at the end of this block.
    AdjointSweep adjoint_sweep(model_, loss, *schedule, store_, journal);
    adjoint_sweep.watch(watcher_);
    adjoint_sweep.observe_adjoint(adjoint_observer_);
    result =
        adjoint_sweep.forward(state, parameters, observer, [this](int n, const State&) { return n == num_steps_; });
    adjoint_sweep.backward(adjoint);
    set_statistics(adjoint_sweep.statistics());
  }
  gradient = by_unknowns(u, parameters, adjoint);
  return result;
}

void InverseProblem::locate_not_finite(const std::vector<double>& u) {
  // Enables the diagnosis of the model, and disables the diagnosis at the end of the scope, also after an Error.
  struct Diagnosing {
    explicit Diagnosing(Model& of) : model(of) { model.set_diagnosis(true); }
    ~Diagnosing() { model.set_diagnosis(false); }
    Model& model;
  };
  set(u);
  const std::unique_ptr<Schedule> schedule = make_schedule();
  ParameterSet parameters = make_gradient();
  State state = initial_.clone();
  State adjoint = state.zero_like();
  {
    const Diagnosing diagnosing(model_);
    AdjointSweep sweep(model_, loss_, *schedule, store_);
    sweep.use_single_steps();
    sweep.observe_adjoint([&](int n, const State& at, bool is_complete) {
      NotFinite finding = model_.diagnosis();
      for (const Field& field : at.fields()) {
        std::vector<double> values = field.to_host();
        values.resize(field.owned_size());
        const bool finite = std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
        if (finite || !finding.where.empty()) continue;
        const std::string origin =
            is_complete && loss_.observes(n) ? "the loss" : "the step that begins there, outside of its force terms";
        finding = {origin + ", in '" + field.name() + "'", std::numeric_limits<std::int64_t>::max()};
      }
      throw_first(std::move(finding),
                  "a derivative is not finite; the first one in the reverse sweep is that with respect to the state of "
                  "step " +
                      std::to_string(n) + ", from ",
                  comm());
    });
    sweep.forward(state, parameters, {}, [this](int n, const State&) { return n == num_steps_; });
    sweep.backward(adjoint);
    throw_first(model_.diagnosis(), "a derivative is not finite, in the sums over steps, from ", comm());
  }
  throw Error("the gradient is not finite, but a repetition of the reverse sweep did not find the first such value",
              ErrorKind::run);
}

std::vector<double> InverseProblem::by_entries(std::size_t k, const ParameterSet& by_parameters,
                                               const State& by_initial) const {
  const Unknown& unknown = unknowns_[k];
  const Field& source =
      of_initial_state(k) ? by_initial[state_field(unknown.parameter)] : by_parameters.at(unknown.parameter).field;
  std::vector<double> values = source.to_host();
  const std::vector<std::string> names = unknown.parameters();
  for (std::size_t m = 1; m < names.size(); ++m) {
    const std::vector<double> further = by_parameters.at(names[m]).field.to_host();
    values.insert(values.end(), further.begin(), further.end());
  }
  if (unknown.carries.empty()) return values;
  const std::vector<double> moved = by_initial[unknown.carries].to_host();
  for (std::size_t i = 0; i < by_initial[unknown.carries].owned_size(); ++i) values[i] += moved[i];
  return values;
}

void InverseProblem::sum_shared(std::size_t k, std::vector<double>& g) const {
  // Derivatives with respect to global parameters are already summed over ranks, and identical on all ranks.
  if (blocks_[k].shared > 0 && !is_global(k))
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, g.data(), static_cast<int>(g.size()), MPI_DOUBLE, MPI_SUM, comm()));
}

std::vector<double> InverseProblem::by_unknowns(const std::vector<double>& u, const ParameterSet& by_parameters,
                                                const State& by_initial) {
  std::vector<double> result(size_, 0.0);
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    const Block& block = blocks_[k];
    const std::vector<double> g = unknown_gradient(k, u, by_entries(k, by_parameters, by_initial));
    std::copy(g.begin(), g.end(), result.begin() + static_cast<std::ptrdiff_t>(block.offset));
  }
  return result;
}

std::vector<double> InverseProblem::unknown_gradient(std::size_t k, const std::vector<double>& u,
                                                     const std::vector<double>& by_entries) const {
  const Block& block = blocks_.at(k);
  std::vector<double> g = block.entries->adjoint(physical(k, u), by_entries);
  sum_shared(k, g);
  g.resize(block.count);
  for (std::size_t j = 0; j < block.count; ++j) g[j] *= block.values->derivative(u[block.offset + j]);
  return g;
}

double InverseProblem::gradient(const std::vector<double>& u, std::vector<double>& gradient,
                                const StateObserver& observer) {
  if (!log_) {
    const double loss = sweep_all(u, gradient, observer);
    note_dependence(gradient);
    return loss;
  }
  if (const auto known = log_->replay(*this, u)) {
    if (!known->failure.empty()) throw Error(known->failure, ErrorKind::run);
    gradient = known->gradient;
    note_dependence(gradient);
    return known->loss;
  }
  EvaluationLog::Evaluation evaluation;
  try {
    evaluation.loss = sweep_all(u, evaluation.gradient, observer);
  } catch (const Error& error) {
    gradient = evaluation.gradient;
    if (error.kind() != ErrorKind::run) throw;
    evaluation.failure = error.what();
    log_->add(*this, u, evaluation);
    throw;
  }
  log_->add(*this, u, evaluation);
  gradient = evaluation.gradient;
  note_dependence(gradient);
  return evaluation.loss;
}

void InverseProblem::note_dependence(const std::vector<double>& gradient) {
  has_slope_.resize(unknowns_.size(), 0);
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    const auto first = gradient.begin() + static_cast<std::ptrdiff_t>(offset(k));
    if (std::any_of(first, first + static_cast<std::ptrdiff_t>(count(k)), [](double slope) { return slope != 0.0; }))
      has_slope_[k] = 1;
  }
}

bool InverseProblem::depends_on(std::size_t k) const {
  int found = k < has_slope_.size() ? has_slope_[k] : 0;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_MAX, comm()));
  return found != 0;
}

void InverseProblem::add_direction(const std::vector<double>& u, const std::vector<double>& du, ParameterSet& direction,
                                   State& tangent) {
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    const Unknown& unknown = unknowns_[k];
    const std::vector<double> at = complete(k, u);
    std::vector<double> dp = complete(k, du);
    for (std::size_t i = 0; i < dp.size(); ++i) dp[i] *= blocks_[k].values->derivative(at[i]);
    Field& target =
        of_initial_state(k) ? tangent[state_field(unknown.parameter)] : direction.at(unknown.parameter).field;
    const std::vector<std::string> names = unknown.parameters();
    std::vector<double> change(target.size() * names.size(), 0.0);
    blocks_[k].entries->tangent(physical(k, u), dp, change);
    for (std::size_t m = 0; m < names.size(); ++m) {
      Field& of = m == 0 ? target : direction.at(names[m]).field;
      std::vector<double> values = of.to_host();
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += change[m * target.size() + i];
      of.from_host(values);
    }
    if (unknown.carries.empty()) continue;
    std::vector<double> carried = tangent[unknown.carries].to_host();
    for (std::size_t i = 0; i < tangent[unknown.carries].owned_size(); ++i) carried[i] += change[i];
    tangent[unknown.carries].from_host(carried);
  }
}

double InverseProblem::tangent(const std::vector<double>& u, const std::vector<double>& du,
                               const TangentObserver& observer) {
  set(u);
  State state = initial_.clone(), tangent = initial_.zero_like();
  ParameterSet direction = make_gradient();
  add_direction(u, du, direction, tangent);
  synchronise(direction);
  synchronise(tangent);
  return rollout_tangent(model_, state, tangent, direction, num_steps_, &loss_, observer);
}

void InverseProblem::final_state(const std::vector<double>& u, const std::vector<double>& du, State& state,
                                 State& tangent) {
  set(u);
  state = initial_.clone();
  tangent = initial_.zero_like();
  ParameterSet direction = make_gradient();
  add_direction(u, du, direction, tangent);
  synchronise(direction);
  rollout_tangent(model_, state, tangent, direction, num_steps_);
}

std::vector<double> InverseProblem::final_state_adjoint(const std::vector<double>& u, const State& w) {
  TerminalLoss loss(w, num_steps_);
  std::vector<double> gradient;
  sweep(loss, u, gradient, {}, nullptr);
  return gradient;
}

std::vector<std::string> value_names(const InverseProblem& problem, std::size_t k) {
  const Unknown& unknown = problem.unknowns()[k];
  std::vector<std::string> names;
  for (int m = 0; m < unknown.map_numbers && !unknown.entry_map; ++m)
    names.push_back(unknown.name() + "[" + std::to_string(m) + "]");
  for (std::size_t g = 0; g < unknown.group_names.size(); ++g) {
    std::string name = unknown.name();
    if (!unknown.group_names[g].empty())
      name += "[" + unknown.group_names[g] + "]";
    else if (unknown.group_names.size() > 1)
      name += "[" + std::to_string(g) + "]";
    const int components = problem.components(k);
    if (components == 1)
      names.push_back(name);
    else if (components == 3)
      for (const char* axis : {".x", ".y", ".z"}) names.push_back(name + axis);
    else
      for (int c = 0; c < components; ++c) names.push_back(name + "[" + std::to_string(c) + "]");
  }
  return names;
}

}  // namespace diffsim
