// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_directory.hpp"

namespace diffsim {

/// Exception that ends a sweep (a forward run and the reverse run that computes the gradient) early on request. Before
/// SweepStopped is thrown, the progress of the forward or reverse run is stored in the checkpoint directory.
/// SweepStopped is not derived from Error, because a stop on request is not a failure.
class SweepStopped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Journal of a sweep (a forward run followed by the reverse run that computes the gradient): files from which an
/// interrupted sweep can resume, in a directory that remains when the program ends. The files of a SweepJournal are
/// called entries. A journal entry of the forward run contains a state and the loss up to this state. A journal entry
/// of the reverse run contains the adjoint, the gradient summed over the steps whose adjoints are already computed, and
/// the loss. All functions are collective.
class SweepJournal {
 public:
  /// Progress of a reverse run: the adjoints of all steps from step `next` on are already computed; the adjoint of step
  /// `next` - 1 is computed next.
  struct Reversal {
    int next = 0;
    int num_steps = 0;
    double loss = 0.0;  ///< sum over all ranks
  };
  /// Progress of a forward run.
  struct Progress {
    int step = 0;
    double loss_share = 0.0;  ///< this rank's contribution to the loss up to state `step`
  };
  /// Request to a forward or reverse run: to write an entry of the journal (`save`), to end (`stop`), or to continue
  /// (`none`).
  enum class Request { none, save, stop };

  /// Creates a journal. `interval`: wall time (s) between two writes of journal entries. Journal entries are written in
  /// addition to the snapshots of the checkpointing schedule. `must_stop`: function that returns true if this rank has
  /// received a request to stop; the function is called once per step and is not collective.
  SweepJournal(std::shared_ptr<CheckpointDirectory> directory, RowOrder order, double interval,
               std::function<bool()> must_stop = {});

  const std::string& path() const { return directory_->path(); }
  void warn(const std::string& what) const { directory_->warn(what); }
  /// Begins a sweep (forward run and reverse run) from the state `initial` with the parameters `parameters`. Removes
  /// the files of an earlier sweep that had another initial state or other parameters.
  void begin(const State& initial, const ParameterSet& parameters);

  /// Reads the newest valid journal entry of the reverse run into `adjoint` and `gradient`, and returns the progress of
  /// the reverse run and the loss. Returns nullopt if the journal has no valid entry of the reverse run. Removes
  /// damaged journal entries with a warning. Ignores journal entries with `Reversal::next` < `first`, which were
  /// written by a sweep that computed adjoints of steps before step `first`.
  std::optional<Reversal> load_reversal(int first, State& adjoint, ParameterSet& gradient);
  /// Returns the valid journal entry of the forward run with the largest step number, or nullopt if the journal has no
  /// valid entry of the forward run. On return of `load_progress`, the argument `scratch` contains the state of the
  /// returned journal entry. Removes damaged journal entries with a warning. Ignores journal entries whose states are
  /// rounded to float32.
  std::optional<Progress> load_progress(State& scratch);
  /// Returns the numbers of those states of this sweep that are on the disk, including states that are rounded to
  /// float32, in ascending order.
  std::vector<int> states() const;
  /// Reads state `step` from the disk. If the file of state `step` is damaged, removes the file with a warning and
  /// returns false.
  bool load_state(int step, State& state);

  /// Stores `loss_share`, this rank's contribution to the loss up to the next state that is written. Every checkpoint
  /// file that is written after the call of `note` contains the value of `loss_share`.
  void note(double loss_share) { directory_->annotate({loss_share}); }
  /// Writes a journal entry of the forward run, unless state `step` is already on the disk.
  void save_state(int step, const State& state, double loss_share);
  /// Writes a journal entry of the reverse run. Permits the CheckpointDirectory to remove the files of state
  /// `reversal.next` and of all later states, which the reverse run no longer needs.
  void save_reversal(const Reversal& reversal, const State& adjoint, const ParameterSet& gradient);
  /// Returns `stop` if `must_stop` returns true on any rank, else `save` if `interval` has elapsed since the last
  /// journal entry was written (at first, since `begin`), else `none`; the result is the same on all ranks. The caller
  /// must call `poll` once per time step.
  Request poll();
  /// Waits until all files of the journal are on the disk, and throws SweepStopped.
  [[noreturn]] void stop(const std::string& where);

 private:
  void hold(const char* kind, int step);
  void let_go(int step);
  void drop(const std::string& kind, int number, const std::string& why);

  std::shared_ptr<CheckpointDirectory> directory_;
  RowOrder order_;
  double interval_;
  std::function<bool()> must_stop_;
  double last_ = 0.0;
  std::vector<int> found_;  // numbers of states that an earlier run has stored
  std::deque<int> saved_;   // numbers of states that `save_state` has pinned, the oldest first
};

}  // namespace diffsim
