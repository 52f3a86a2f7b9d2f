// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "adjoint/resume_point.hpp"
#include "adjoint/snapshot_tracker.hpp"
#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/adjoint/sweep.hpp"

namespace diffsim {

class SweepJournal;

/// Computation of the gradient of a loss in reverse mode: one forward run and one reverse sweep. A checkpoint Schedule
/// gives the order in which states are stored and restored, and steps are executed, recorded and reversed. To record a
/// step is to store the data that the adjoint of the step needs. To reverse a step is to compute the adjoint of the
/// step.
///
/// `Model::step_adjoint` accumulates derivatives in the Model, for example with respect to masses. The reverse sweep
/// adds the contribution of the accumulated derivatives to the gradient (`Model::prepare_adjoint`) at the last state,
/// at every step number that is a multiple of `steps_of_block`, and at the end of the sweep. The order of summation
/// therefore does not depend on the checkpoint schedule. For explicit steps, and for implicit steps with factored
/// linear systems, the gradient is bitwise identical with and without interruptions, with all stores that do not round
/// values, and with all schedules that do not undo steps.
///
/// With a SweepJournal, an AdjointSweep resumes where an earlier sweep from the same state and parameters was
/// interrupted. A resumed sweep reads the checkpoint schedule from the beginning and skips the actions that the
/// interrupted sweep executed. If an action of the schedule needs a state that the resumed sweep does not have, the
/// sweep computes the state from the nearest earlier state in memory or on the disk. If a snapshot is damaged, the
/// sweep computes the state of the snapshot from the nearest earlier undamaged state.
///
/// If the checkpoint schedule reverses only the steps from step `first_reversed` on, the computed gradient is the
/// contribution of these steps, and the computed adjoint is the derivative of the loss with respect to the state before
/// step `first_reversed`. If the checkpoint schedule undoes steps instead of restoring states (`Schedule::goes_back`),
/// the sweep calls `Model::set_reversible(true)`.
class AdjointSweep {
 public:
  static constexpr int steps_of_block = 32;

  AdjointSweep(Model& model, Loss& loss, Schedule& schedule, Store& store, SweepJournal* journal = nullptr);

  /// Executes the forward run: advances `state` from x[0] to x[N] and returns the loss L, summed over all ranks. The
  /// ParameterSet `gradient` contains the parameters whose gradient is requested; `backward` fills `gradient`, so
  /// `gradient` must outlive the call of `backward`. If a call of `forward` resumes a computation that was interrupted
  /// during the reverse sweep, the contents of `state` are unspecified after the call.
  ///
  /// If the number of steps is not known beforehand (`Schedule::is_open`), `ends` is called for each state, and the
  /// rollout ends when `ends` returns true; otherwise `ends` is not called. `forward` and `backward` throw SweepStopped
  /// if the SweepJournal receives a request to stop.
  double forward(State& state, ParameterSet& gradient, const StateObserver& observer = {},
                 const EndOfRollout& ends = {});
  /// Executes the reverse sweep: computes ∂L/∂p in the `gradient` passed to `forward`, summed over ranks for global
  /// parameters, and ∂L/∂x[0] in the entries of `adjoint` at owned vertices. Throws Error (system) if undoing steps
  /// does not reproduce the state before step max(1, `first_reversed`) bitwise.
  void backward(State& adjoint);

  void watch(SweepWatcher watcher) { watcher_ = std::move(watcher); }
  /// Sets the function that receives the adjoint of each state in the reverse sweep. A resumed sweep does not call the
  /// adjoint observer for steps that the interrupted sweep has reversed.
  void observe_adjoint(AdjointObserver observer) { adjoint_observer_ = std::move(observer); }
  /// Makes the reverse sweep call `Model::prepare_adjoint` in every step instead of every `steps_of_block` steps,
  /// before the adjoint observer receives the complete adjoint (`is_complete` = true).
  void use_single_steps() { single_steps_ = true; }
  /// Returns the number N of steps of the rollout; the result is valid only after `forward`.
  int num_steps() const { return furthest_; }
  const SweepStatistics& statistics() const { return statistics_; }

 private:
  void resume(State& state, ParameterSet& gradient);
  void ask(const EndOfRollout& ends);
  bool perform(const Action& action);
  void store(const SnapshotLocation& location);
  void restore(const SnapshotLocation& location);
  void advance(int begin, int end);
  void record(int begin, int end);
  void back(int begin, int end);
  void reverse(const Action& action, State& adjoint);
  std::unique_ptr<Record>& new_record();
  void step(Record* record);
  void watch_return();
  void visit(int n);
  void produce(int n);
  bool load(const SnapshotLocation& location);
  void fulfil();
  void end_block(int n, State& adjoint);
  void poll();
  void save();
  void add_store_statistics();

  Model& model_;
  Loss& loss_;
  Schedule& schedule_;
  Store& store_;
  SweepJournal* journal_;
  SweepWatcher watcher_;
  AdjointObserver adjoint_observer_;
  bool single_steps_ = false;
  ParameterSet* gradient_ = nullptr;
  State* state_ = nullptr;
  const StateObserver* observer_ = nullptr;
  Action pending_;
  int present_ = 0;            // number of the current state according to the schedule
  int held_ = 0;               // number of the state in *state_; -1 if *state_ is not valid
  int furthest_ = 0;           // number of the last state visited
  int reversed_from_ = 0;      // smallest number of a reversed step; larger than all steps during the forward run
  bool passing_over_ = false;  // true: actions that an earlier sweep executed are skipped
  std::optional<std::uint64_t> bits_;  // signature of state `watched_`
  int watched_ = -1;  // state whose recomputation backwards in time is verified; -1 if no state is verified
  int asked_ = -1;    // last state for which `ends` was called
  SnapshotTracker snapshots_;
  std::vector<double> loss_at_;                   // [n]: this rank's contribution to ℓ₀ + … + ℓₙ
  double value_ = 0.0;                            // loss, summed over all ranks
  std::vector<std::unique_ptr<Record>> records_;  // records of the steps to be reversed next, by ascending step
  std::vector<std::unique_ptr<Record>> free_;     // records to be reused
  ResumePoint resume_point_;                      // with a journal: adjoint and gradient after the last block
  SweepStatistics statistics_;
  StoreStatistics store_before_;
};

}  // namespace diffsim
