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

/// Exception that ends a sweep early on request. The progress of the sweep is in its checkpoint directory. The class is
/// not derived from Error because nothing failed.
class SweepStopped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Progress of a sweep, stored in a directory that outlives the program. An entry of the forward run is a state and the
/// loss so far. An entry of the reverse sweep is the adjoint, the gradient so far and the loss. Collective.
class SweepJournal {
 public:
  /// Progress of a reverse sweep: all steps from `next` on have already been reversed.
  struct Reversal {
    int next = 0;
    int num_steps = 0;
    double loss = 0.0;  ///< over all ranks
  };
  /// Progress of a forward run.
  struct Progress {
    int step = 0;
    double loss_share = 0.0;  ///< this rank's contribution to the loss up to state `step`
  };
  enum class Request { none, save, stop };

  /// Creates a journal. `interval`: seconds between two entries, which are written in addition to the schedule's
  /// snapshots. `must_stop`: returns true if this rank has received a request to stop; called once per step, not
  /// collective.
  SweepJournal(std::shared_ptr<CheckpointDirectory> directory, RowOrder order, double interval,
               std::function<bool()> must_stop = {});

  const std::string& path() const { return directory_->path(); }
  void warn(const std::string& what) const { directory_->warn(what); }
  /// Begins a sweep from `initial` with `parameters`. Removes the entries of an earlier sweep that had another initial
  /// state or other parameters.
  void begin(const State& initial, const ParameterSet& parameters);

  /// Loads the last valid entry of this sweep's reversal, or returns nullopt. Drops damaged entries with a warning.
  /// Ignores entries of a sweep that has reversed steps before `first`.
  std::optional<Reversal> load_reversal(int first, State& adjoint, ParameterSet& gradient);
  /// Returns the last valid entry of this sweep's forward run, or nullopt. Reads states into `scratch`. Drops damaged
  /// entries with a warning. Ignores rounded states.
  std::optional<Progress> load_progress(State& scratch);
  /// Step numbers of this sweep's states on the disk, in ascending order, including states stored in single precision.
  std::vector<int> states() const;
  /// Loads state `step`. If the state cannot be read, drops the state with a warning and returns false.
  bool load_state(int step, State& state);

  /// Sets this rank's contribution to the loss up to the state that a store writes next.
  void note(double loss_share) { directory_->annotate({loss_share}); }
  /// Writes an entry of the forward run, unless state `step` is on the disk already.
  void save_state(int step, const State& state, double loss_share);
  /// Writes an entry of the reverse sweep. Releases the states of steps that are reversed.
  void save_reversal(const Reversal& reversal, const State& adjoint, const ParameterSet& gradient);
  /// Returns the current request, which is the same on all ranks. Call this function once per step.
  Request poll();
  /// Waits until all files are on the disk, and throws SweepStopped.
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
  std::vector<int> found_;  // states that an earlier run has left
  std::deque<int> saved_;   // states that `save_state` keeps, the oldest first
};

}  // namespace diffsim
