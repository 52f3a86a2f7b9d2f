// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/adjoint/later_steps.hpp"
#include "diffsim/checkpoint/schedule.hpp"
#include "diffsim/checkpoint/store.hpp"
#include "diffsim/checkpoint/sweep_journal.hpp"
#include "diffsim/core/loss.hpp"
#include "diffsim/core/model.hpp"

namespace diffsim {

/// Called with each state of a forward run, the initial one (n = 0) included, once.
using StateObserver = std::function<void(int n, const State& state)>;
/// Whether a rollout of unknown length ends with state n; the same answer on all ranks.
using EndOfRollout = std::function<bool(int n, const State& state)>;

/// Told after each step of a sweep: how many it has taken, with repetitions; how many of the rollout are taken; from
/// which on they are reversed, -1 in the forward run.
using SweepWatcher = std::function<void(long taken, int reached, int reversed_from)>;

/// Work of a sweep.
struct SweepStatistics {
  long advances = 0;    ///< steps taken without a record, first visits and repetitions
  long recordings = 0;  ///< steps taken with a record
  long stores = 0;
  long restores = 0;
  std::int64_t bytes_written = 0;  ///< to disks, by all ranks
  double seconds_waiting = 0.0;    ///< for disks
  double forward_seconds = 0.0;
  double backward_seconds = 0.0;

  SweepStatistics& operator+=(const SweepStatistics& other);
};

/// `state` → the state after `num_steps` steps. Calls the Model's `prepare`. Returns the loss over all ranks, 0 without
/// one. Collective, as everything here.
double rollout(Model& model, State& state, int num_steps, Loss* loss = nullptr, const StateObserver& observer = {});
/// The same from `state`, which is that of step `steps.begin`, to step `steps.end`; loss and observer are told the
/// numbers of the whole rollout.
double rollout(Model& model, State& state, StepRange steps, Loss* loss = nullptr, const StateObserver& observer = {});

/// Forward mode: `state` as above, `tangent` (dx[0] → dx[N]) along it and `direction`. Returns dL, 0 without a loss.
double rollout_tangent(Model& model, State& state, State& tangent, const ParameterSet& direction, int num_steps,
                       Loss* loss = nullptr);

/// Reverse mode: one forward run and the reverse sweep that gives the loss's gradient, as a schedule says.
///
/// Sums that the steps' adjoints gather are handed to the gradient every `steps_of_block` steps, at fixed step numbers,
/// whatever the schedule: so the sums' order, and with it every bit of the gradient, does not depend on schedule, store
/// or interruptions.
///
/// With a journal the sweep goes on where an earlier one from the same state and parameters was interrupted. The
/// schedule is then followed from its beginning, but what is done already is passed over: a state is computed, from the
/// nearest one there is, when something asks for it. The same way a sweep does without a snapshot that turns out
/// damaged.
///
/// Where a schedule truncates the sweep, the gradient is what the steps from `first_reversed` on contribute, and the
/// adjoint is that of the state they begin with. A schedule that goes back sets the Model to be reversible.
class AdjointSweep {
 public:
  static constexpr int steps_of_block = 32;

  AdjointSweep(Model& model, Loss& loss, Schedule& schedule, Store& store, SweepJournal* journal = nullptr);

  /// Takes the model from `state` (x[0] → x[N], in place) and returns L over all ranks. `gradient` names the parameters
  /// asked for; it is filled by `backward` and must live until then. Where a journal shows the reverse sweep to have
  /// begun, `state` is not x[N] but of no meaning afterwards.
  ///
  /// An open schedule (OnlineSchedule) goes on until `ends` says so, asked at each state; others know the length and do
  /// not ask. Throws SweepStopped where the journal is told to stop.
  double forward(State& state, ParameterSet& gradient, const StateObserver& observer = {},
                 const EndOfRollout& ends = {});
  /// ∂L/∂p, summed over ranks where a parameter is global, and ∂L/∂x[0] (owned entries). Throws Error (system) where
  /// steps taken back did not return to where they came from.
  void backward(State& adjoint);

  void watch(SweepWatcher watcher) { watcher_ = std::move(watcher); }
  /// Number of the last state, once `forward` is over.
  int num_steps() const { return furthest_; }
  const SweepStatistics& statistics() const { return statistics_; }

 private:
  using Place = std::pair<int, int>;  // level and step of a snapshot

  void resume(State& state, ParameterSet& gradient);
  void ask(const EndOfRollout& ends);
  bool perform(const Action& action);
  void store(const Place& place);
  void restore(const Place& place);
  void advance(int begin, int end);
  void record(int begin, int end);
  void back(int begin, int end);
  void reverse(const Action& action, State& adjoint);
  std::unique_ptr<Record>& new_record();
  void step(Record* record);
  void watch_return();
  void visit(int n);
  void produce(int n);
  bool load(const Place& place);
  void fulfil();
  void end_block(int n, State& adjoint);
  void remember(int n, const State& adjoint);
  void poll();
  void save();
  void add_store_statistics();

  Model& model_;
  Loss& loss_;
  Schedule& schedule_;
  Store& store_;
  SweepJournal* journal_;
  SweepWatcher watcher_;
  ParameterSet* gradient_ = nullptr;
  State* state_ = nullptr;
  const StateObserver* observer_ = nullptr;
  Action pending_;
  int present_ = 0;                               // number of the state that the schedule believes to be present
  int held_ = 0;                                  // number of the one that is
  int furthest_ = 0;                              // states up to here have been visited
  int reversed_from_ = 0;                         // steps from here on are reversed; above all steps in the forward run
  bool passing_over_ = false;                     // what an earlier sweep has done
  std::optional<std::uint64_t> bits_;             // of the state at `watched_`
  int watched_ = -1;                              // where going back is compared with; -1: nowhere
  int asked_ = -1;                                // the last state that was asked whether it ends the rollout
  std::set<Place> kept_;                          // snapshots in the store
  std::set<Place> promised_;                      // snapshots that the schedule believes to be there
  std::string damage_;                            // why the last snapshot could not be used
  std::vector<double> loss_at_;                   // this rank's share of the loss up to each state
  double value_ = 0.0;                            // of the loss, over all ranks
  std::vector<std::unique_ptr<Record>> records_;  // of the steps before the next to be reversed, the last one last
  std::vector<std::unique_ptr<Record>> free_;
  State adjoint_;                // at the end of the last block, where there is a journal
  ParameterSet block_gradient_;  // likewise
  int block_ = -1;               // its step; -1: none yet
  SweepStatistics statistics_;
  StoreStatistics store_before_;
};

}  // namespace diffsim
