// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/adjoint/sweep.hpp"

#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/profiling.hpp"

namespace diffsim {
namespace {

double sum_over_ranks(double share, MPI_Comm comm) {
  double sum = 0.0;
  DIFFSIM_MPI(MPI_Allreduce(&share, &sum, 1, MPI_DOUBLE, MPI_SUM, comm));
  return sum;
}

}  // namespace

double rollout(Model& model, State& state, int num_steps, Loss* loss, const StateObserver& observer) {
  const ProfilingRegion region("diffsim::adjoint::rollout");
  model.prepare();
  double share = 0.0;
  for (int n = 0; n <= num_steps; ++n) {
    if (loss && loss->observes(n)) share += loss->value(n, state, model.parameters());
    if (observer) observer(n, state);
    if (n < num_steps) model.step(n, state, nullptr);
  }
  return sum_over_ranks(share, model.comm());
}

double rollout_tangent(Model& model, State& state, State& tangent, const ParameterSet& direction, int num_steps,
                       Loss* loss) {
  const ProfilingRegion region("diffsim::adjoint::rollout_tangent");
  model.prepare();
  model.prepare_tangent(direction);
  const std::unique_ptr<Record> record = model.make_record();
  double share = 0.0;
  for (int n = 0; n <= num_steps; ++n) {
    if (loss && loss->observes(n)) share += loss->tangent(n, state, model.parameters(), tangent, direction);
    if (n == num_steps) break;
    model.step(n, state, record.get());
    model.step_tangent(n, *record, direction, tangent);
  }
  return sum_over_ranks(share, model.comm());
}

SweepStatistics& SweepStatistics::operator+=(const SweepStatistics& other) {
  advances += other.advances;
  recordings += other.recordings;
  stores += other.stores;
  restores += other.restores;
  bytes_written += other.bytes_written;
  seconds_waiting += other.seconds_waiting;
  forward_seconds += other.forward_seconds;
  backward_seconds += other.backward_seconds;
  return *this;
}

AdjointSweep::AdjointSweep(Model& model, Loss& loss, Schedule& schedule, Store& store)
    : model_(model), loss_(loss), schedule_(schedule), store_(store) {}

void AdjointSweep::visit(int n) {
  if (loss_.observes(n)) loss_share_ += loss_.value(n, *state_, model_.parameters());
  if (*observer_) (*observer_)(n, *state_);
}

void AdjointSweep::advance(int begin, int end, bool recording) {
  if (begin != present_) throw Error("the checkpoint schedule advances from a state that is not present");
  for (int n = begin; n < end; ++n) {
    Record* record = nullptr;
    if (recording) {
      if (free_.empty()) free_.push_back(model_.make_record());
      records_.push_back(std::move(free_.back()));
      free_.pop_back();
      record = records_.back().get();
    }
    model_.step(n, *state_, record);
    ++(recording ? statistics_.recordings : statistics_.advances);
    present_ = n + 1;
    if (present_ > furthest_) visit(furthest_ = present_);
  }
}

bool AdjointSweep::perform(const Action& action) {
  switch (action.kind) {
    case Action::Kind::store:
      store_.at_level(action.level).put(action.begin, *state_);
      ++statistics_.stores;
      return true;
    case Action::Kind::restore:
      store_.at_level(action.level).get(action.begin, *state_);
      present_ = action.begin;
      ++statistics_.restores;
      return true;
    case Action::Kind::discard: store_.at_level(action.level).erase(action.begin); return true;
    case Action::Kind::advance: advance(action.begin, action.end, false); return true;
    case Action::Kind::record: advance(action.begin, action.end, true); return true;
    case Action::Kind::reverse:
    case Action::Kind::done: break;
  }
  return false;
}

double AdjointSweep::forward(State& state, ParameterSet& gradient, const StateObserver& observer,
                             const EndOfRollout& ends) {
  const ProfilingRegion region("diffsim::adjoint::forward");
  if (schedule_.is_open() && !ends)
    throw Error("the " + schedule_.name() + " schedule does not know the number of steps; say where the rollout ends");
  const double start = MPI_Wtime();
  gradient_ = &gradient;
  state_ = &state;
  observer_ = &observer;
  present_ = furthest_ = 0;
  loss_share_ = 0.0;
  statistics_ = {};
  model_.prepare();
  gradient.fill(0.0);
  model_.begin_adjoint(gradient);
  store_before_ = store_.statistics();
  visit(0);
  // An open schedule takes one step at a time, so every state is asked about.
  int asked = -1;
  do {
    if (schedule_.is_open() && present_ == furthest_ && asked < furthest_ && ends(asked = furthest_, state))
      schedule_.finish(furthest_);
  } while (perform(pending_ = schedule_.next()));
  observer_ = nullptr;
  const double loss = sum_over_ranks(loss_share_, model_.comm());
  statistics_.forward_seconds = MPI_Wtime() - start;
  add_store_statistics();
  return loss;
}

void AdjointSweep::backward(State& adjoint) {
  const ProfilingRegion region("diffsim::adjoint::backward");
  const double start = MPI_Wtime();
  adjoint.fill(0.0);
  if (loss_.observes(furthest_)) loss_.add_gradient(furthest_, *state_, model_.parameters(), adjoint, *gradient_);
  int next = furthest_;  // the adjoint is that of this state
  for (Action action = pending_; action.kind != Action::Kind::done; action = schedule_.next()) {
    if (perform(action)) continue;
    for (int n = action.end - 1; n >= action.begin; --n) {
      if (n + 1 != next || records_.empty()) throw Error("the checkpoint schedule reverses steps out of order");
      const Record& record = *records_.back();
      model_.step_adjoint(n, record, adjoint, *gradient_);
      if (loss_.observes(n)) loss_.add_gradient(n, record.initial(), model_.parameters(), adjoint, *gradient_);
      free_.push_back(std::move(records_.back()));
      records_.pop_back();
      next = n;
    }
  }
  if (next != 0) throw Error("the checkpoint schedule ended before step 0 was reversed");
  model_.prepare_adjoint(*gradient_);
  sum_globals(*gradient_, model_.comm());
  statistics_.backward_seconds = MPI_Wtime() - start;
  add_store_statistics();
}

void AdjointSweep::add_store_statistics() {
  const StoreStatistics now = store_.statistics();
  statistics_.bytes_written = now.bytes_written - store_before_.bytes_written;
  statistics_.seconds_waiting = now.seconds_waiting - store_before_.seconds_waiting;
}

}  // namespace diffsim
