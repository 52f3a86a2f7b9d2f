// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <utility>

#include "adjoint/adjoint_sweep.hpp"
#include "checkpoint/row_order.hpp"
#include "checkpoint/sweep_journal.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {

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

AdjointSweep::AdjointSweep(Model& model, Loss& loss, Schedule& schedule, Store& store, SweepJournal* journal)
    : model_(model), loss_(loss), schedule_(schedule), store_(store), journal_(journal), snapshots_(store) {}

// ---- states --------------------------------------------------------------------------------------------------------

void AdjointSweep::visit(int n) {
  furthest_ = n;
  const double before = n > 0 ? loss_at_[static_cast<std::size_t>(n) - 1] : 0.0;
  loss_at_.resize(static_cast<std::size_t>(n) + 1, 0.0);
  loss_at_.back() = before + (loss_.observes(n) ? loss_.value(n, *state_, model_.parameters()) : 0.0);
  if (*observer_) (*observer_)(n, *state_);
}

void AdjointSweep::step(Record* record) {
  model_.step(held_, *state_, record);
  ++(record ? statistics_.recordings : statistics_.advances);
  ++held_;
  if (held_ > furthest_) visit(held_);
  watch_return();
  fulfil();
  poll();
}

/// Stores the signature of state `watched_` in the forward run. When the sweep goes back to this state, compares the
/// stored signature with the signature of the recomputed state. Throws Error (system) if the signatures differ.
void AdjointSweep::watch_return() {
  if (held_ != watched_) return;
  const std::uint64_t bits = RowOrder(model_.comm()).signature(*state_, {}).exact;
  if (bits_.value_or(bits) != bits)
    throw Error("reversed steps gave a state " + std::to_string(held_) +
                    " that is not bitwise identical to the state of the forward run; the steps are not reproducible, "
                    "so use a checkpoint schedule other than reversible",
                ErrorKind::system);
  bits_ = bits;
}

/// Stores the current state on each level of the store that lacks a snapshot of this state although the schedule
/// assumes the snapshot.
void AdjointSweep::fulfil() {
  for (const SnapshotLocation& location : snapshots_.missing_of(held_)) store(location);
}

bool AdjointSweep::load(const SnapshotLocation& location) {
  if (!snapshots_.get(location, *state_)) {
    if (journal_) journal_->warn(snapshots_.damage() + "; the steps before it are repeated");
    held_ = -1;
    return false;
  }
  held_ = location.step;
  ++statistics_.restores;
  return true;
}

/// Makes x[n] the current state by executing steps from the nearest available state x[m], m ≤ n: the current state, a
/// snapshot, or a state in the journal.
void AdjointSweep::produce(int n) {
  while (held_ != n) {
    int best = held_ <= n ? held_ : -1;
    const std::optional<SnapshotLocation> from = snapshots_.latest(n, best);
    if (from) best = from->step;
    bool journal = false;
    if (journal_)
      for (const int step : journal_->states())
        if (step <= n && step > best) {
          best = step;
          journal = true;
        }
    if (best < 0)
      throw Error(snapshots_.damage().empty()
                      ? "the checkpoint schedule needs state " + std::to_string(n) + ", which is not available"
                      : snapshots_.damage(),
                  ErrorKind::system);
    if (journal && journal_->load_state(best, *state_)) {
      held_ = best;
      ++statistics_.restores;
    } else if (journal) {
      held_ = -1;  // the failed read has overwritten *state_
    } else if (best != held_ && !load(*from)) {
      continue;
    }
    if (held_ < 0) continue;
    fulfil();
    while (held_ < n) step(nullptr);
  }
}

// ---- actions -------------------------------------------------------------------------------------------------------

void AdjointSweep::store(const SnapshotLocation& location) {
  if (held_ != location.step) {
    snapshots_.expect(location);
    return;
  }
  if (journal_) journal_->note(loss_at_[static_cast<std::size_t>(held_)]);
  snapshots_.put(location, *state_);
  ++statistics_.stores;
}

void AdjointSweep::restore(const SnapshotLocation& location) {
  present_ = location.step;
  const bool is_stored = snapshots_.is_stored(location);
  if (!is_stored && !snapshots_.is_missing(location))
    throw Error("the checkpoint schedule restores a snapshot that it did not store");
  if (!passing_over_ && is_stored) (void)load(location);
}

void AdjointSweep::advance(int begin, int end) {
  if (begin != present_) throw Error("the checkpoint schedule advances from a state that is not present");
  present_ = end;
  if (passing_over_ && end <= furthest_) return;
  // After a resume, steps up to the last visited state are not repeated.
  produce(passing_over_ ? std::max(begin, furthest_) : begin);
  passing_over_ = false;
  while (held_ < end) step(nullptr);
}

void AdjointSweep::record(int begin, int end) {
  if (begin != present_) throw Error("the checkpoint schedule advances from a state that is not present");
  present_ = end;
  if (begin >= reversed_from_) return;
  passing_over_ = false;
  produce(begin);
  for (const int last = std::min(end, reversed_from_); held_ < last;) step(new_record().get());
}

std::unique_ptr<Record>& AdjointSweep::new_record() {
  if (free_.empty()) free_.push_back(model_.make_record());
  records_.push_back(std::move(free_.back()));
  free_.pop_back();
  return records_.back();
}

void AdjointSweep::back(int begin, int end) {
  if (end != present_ || begin != end - 1)
    throw Error("the checkpoint schedule goes back from a state that is not present");
  present_ = begin;
  if (begin >= reversed_from_) return;
  passing_over_ = false;
  produce(end);
  model_.step_back(begin, *state_, *new_record());
  ++statistics_.recordings;
  held_ = begin;
  watch_return();
  poll();
}

bool AdjointSweep::perform(const Action& action) {
  const SnapshotLocation location{action.level, action.begin};
  switch (action.kind) {
    case Action::Kind::store:
      store(location);
      return true;
    case Action::Kind::restore:
      restore(location);
      return true;
    case Action::Kind::discard:
      snapshots_.discard(location);
      return true;
    case Action::Kind::advance:
      advance(action.begin, action.end);
      return true;
    case Action::Kind::record:
      record(action.begin, action.end);
      return true;
    case Action::Kind::back:
      if (reversed_from_ > furthest_) return false;  // the forward run ends before the first action `back`
      back(action.begin, action.end);
      return true;
    case Action::Kind::reverse:
    case Action::Kind::done:
      break;
  }
  return false;
}

// ---- forward -------------------------------------------------------------------------------------------------------

void AdjointSweep::resume(State& state, ParameterSet& gradient) {
  journal_->begin(state, model_.parameters());
  resume_point_.allocate(state, gradient);
  State scratch = state.zero_like();
  if (const auto reversal =
          journal_->load_reversal(schedule_.first_reversed(), resume_point_.adjoint, resume_point_.gradient)) {
    reversed_from_ = resume_point_.step = reversal->next;
    furthest_ = reversal->num_steps;
    value_ = reversal->loss;
    passing_over_ = true;
    loss_at_.assign(static_cast<std::size_t>(furthest_) + 1, 0.0);
  } else if (const auto progress = journal_->load_progress(scratch); progress && progress->step > 0) {
    furthest_ = progress->step;
    loss_at_.assign(static_cast<std::size_t>(furthest_) + 1, progress->loss_share);
    passing_over_ = true;
  }
}

/// Calls `ends` for the current state of an open schedule, and finishes the schedule if the rollout ends there.
void AdjointSweep::ask(const EndOfRollout& ends) {
  if (!schedule_.is_open() || present_ != furthest_ || asked_ >= furthest_) return;
  asked_ = furthest_;
  bool is_over = reversed_from_ <= furthest_;  // true in a resumed reverse sweep, where the end of the rollout is known
  if (!is_over) {
    produce(present_);
    is_over = ends(present_, *state_);
  }
  if (is_over) schedule_.finish(furthest_);
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
  present_ = held_ = furthest_ = 0;
  reversed_from_ = std::numeric_limits<int>::max();
  asked_ = resume_point_.step = watched_ = -1;
  bits_.reset();
  passing_over_ = false;
  snapshots_.clear();
  loss_at_.clear();
  statistics_ = {};
  store_before_ = store_.statistics();
  if (schedule_.goes_back()) {
    model_.set_reversible(true);
    watched_ = std::max(1, schedule_.first_reversed());
  }
  model_.prepare();
  gradient.fill(0.0);
  model_.begin_adjoint(gradient);
  if (journal_) resume(state, gradient);
  if (furthest_ == 0) visit(0);
  // Each action of an open schedule executes at most one step, so `ask` is called for every state.
  do {
    ask(ends);
  } while (perform(pending_ = schedule_.next()));
  observer_ = nullptr;
  if (reversed_from_ > furthest_) {
    produce(furthest_);
    value_ = sum_over_ranks(loss_at_.back(), model_.comm());
  }
  statistics_.forward_seconds = MPI_Wtime() - start;
  add_store_statistics();
  return value_;
}

// ---- backward ------------------------------------------------------------------------------------------------------

void AdjointSweep::backward(State& adjoint) {
  const ProfilingRegion region("diffsim::adjoint::backward");
  const double start = MPI_Wtime();
  if (reversed_from_ <= furthest_) {
    if (resume_point_.step < 0)
      throw Error("the rollout is already reversed; each reverse sweep needs another rollout", ErrorKind::input);
    resume_point_.get(adjoint, *gradient_);
  } else {
    adjoint.fill(0.0);
    reversed_from_ = furthest_;  // `adjoint` is the adjoint of state furthest_
    if (loss_.observes(furthest_)) loss_.add_gradient(furthest_, *state_, model_.parameters(), adjoint, *gradient_);
    end_block(furthest_, adjoint);
    if (adjoint_observer_) adjoint_observer_(furthest_, adjoint, true);
  }
  for (Action action = pending_; action.kind != Action::Kind::done; action = schedule_.next())
    if (!perform(action)) reverse(action, adjoint);
  if (const int first = schedule_.first_reversed(); reversed_from_ != first)
    throw Error("the checkpoint schedule ended before step " + std::to_string(first) + " was reversed");
  model_.prepare_adjoint(*gradient_);
  sum_globals(*gradient_, model_.comm());
  statistics_.backward_seconds = MPI_Wtime() - start;
  add_store_statistics();
}

void AdjointSweep::reverse(const Action& action, State& adjoint) {
  for (int n = std::min(action.end, reversed_from_) - 1; n >= action.begin; --n) {
    if (n + 1 != reversed_from_ || records_.empty()) throw Error("the checkpoint schedule reverses steps out of order");
    const Record& record = *records_.back();
    model_.step_adjoint(n, record, adjoint, *gradient_);
    const bool observed = loss_.observes(n);
    if (adjoint_observer_ && observed) adjoint_observer_(n, adjoint, false);
    if (observed) loss_.add_gradient(n, record.initial(), model_.parameters(), adjoint, *gradient_);
    const bool ends_block = single_steps_ || (n > 0 && n % steps_of_block == 0);
    if (ends_block && single_steps_) end_block(n, adjoint);
    if (adjoint_observer_) adjoint_observer_(n, adjoint, true);
    free_.push_back(std::move(records_.back()));
    records_.pop_back();
    reversed_from_ = n;
    if (ends_block && !single_steps_) end_block(n, adjoint);
    if (n > 0) poll();
  }
}

void AdjointSweep::end_block(int n, State& adjoint) {
  model_.prepare_adjoint(*gradient_);
  model_.begin_adjoint(*gradient_);
  if (journal_) resume_point_.set(n, adjoint, *gradient_);
}

// ---- interruptions -------------------------------------------------------------------------------------------------

void AdjointSweep::save() {
  if (reversed_from_ > furthest_) {
    if (held_ == furthest_) journal_->save_state(held_, *state_, loss_at_.back());
  } else if (resume_point_.step > 0) {
    journal_->save_reversal({resume_point_.step, furthest_, value_}, resume_point_.adjoint, resume_point_.gradient);
  }
}

void AdjointSweep::poll() {
  if (watcher_)
    watcher_(statistics_.advances + statistics_.recordings, furthest_,
             reversed_from_ > furthest_ ? -1 : reversed_from_);
  if (!journal_) return;
  const SweepJournal::Request request = journal_->poll();
  if (request == SweepJournal::Request::none) return;
  save();
  if (request != SweepJournal::Request::stop) return;
  const bool forward = reversed_from_ > furthest_;
  journal_->stop((forward ? "at step " : "in the reverse sweep at step ") +
                 std::to_string(forward ? furthest_ : reversed_from_));
}

void AdjointSweep::add_store_statistics() {
  const StoreStatistics now = store_.statistics();
  statistics_.bytes_written = now.bytes_written - store_before_.bytes_written;
  statistics_.seconds_waiting = now.seconds_waiting - store_before_.seconds_waiting;
}

}  // namespace diffsim
