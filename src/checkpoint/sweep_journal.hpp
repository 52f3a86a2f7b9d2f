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

/// Exception that ends a sweep early on request. The progress of the sweep is stored in the sweep's checkpoint
/// directory. The class is not derived from Error because nothing failed.
class SweepStopped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Journal of a sweep: files from which an interrupted sweep can resume, in a directory that remains when the program
/// ends. The files are called entries. An entry of the forward run contains a state and the loss up to this state. An
/// entry of the reverse sweep contains the adjoint, the gradient of the steps reversed so far, and the loss. All
/// functions are collective.
class SweepJournal {
 public:
  /// Progress of a reverse sweep: all steps from `next` on have already been reversed; step `next` - 1 is reversed
  /// next.
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
  /// Request to the sweep: to write an entry of the journal (`save`), to end (`stop`), or to continue (`none`).
  enum class Request { none, save, stop };

  /// Creates a journal. `interval`: wall time (s) between two writes of entries. Entries are written in addition to the
  /// schedule's snapshots. `must_stop`: function, called once per step, that returns true if this rank has received a
  /// request to stop; not collective.
  SweepJournal(std::shared_ptr<CheckpointDirectory> directory, RowOrder order, double interval,
               std::function<bool()> must_stop = {});

  const std::string& path() const { return directory_->path(); }
  void warn(const std::string& what) const { directory_->warn(what); }
  /// Begins a sweep from `initial` with `parameters`. Removes the files of an earlier sweep that had another initial
  /// state or other parameters.
  void begin(const State& initial, const ParameterSet& parameters);

  /// Loads the newest valid entry of the reverse sweep: reads `adjoint` and `gradient`, and returns the other values.
  /// Returns nullopt if no entry is valid. Removes damaged entries with a warning. Ignores entries with
  /// `Reversal::next` < `first`, which belong to a sweep that reversed more steps.
  std::optional<Reversal> load_reversal(int first, State& adjoint, ParameterSet& gradient);
  /// Returns the valid entry of the forward run with the largest step number, or nullopt if no entry is valid. On
  /// return, `scratch` is the state of this entry. Removes damaged entries with a warning. Ignores states that are
  /// rounded to float32.
  std::optional<Progress> load_progress(State& scratch);
  /// Returns the numbers of the states of this sweep that are on the disk, in ascending order. States in single
  /// precision are included.
  std::vector<int> states() const;
  /// Reads state `step` from the disk. If the file of the state is damaged, removes the file with a warning and returns
  /// false.
  bool load_state(int step, State& state);

  /// Sets the value that is stored in files of states written after this call: this rank's contribution to the loss up
  /// to the next state that is written.
  void note(double loss_share) { directory_->annotate({loss_share}); }
  /// Writes an entry of the forward run, unless state `step` is already on the disk.
  void save_state(int step, const State& state, double loss_share);
  /// Writes an entry of the reverse sweep. Permits the removal of the files of the states from state `reversal.next`
  /// on, which the reverse sweep no longer needs.
  void save_reversal(const Reversal& reversal, const State& adjoint, const ParameterSet& gradient);
  /// Returns `stop` if `must_stop` returns true on any rank, else `save` if the interval since the last entry has
  /// elapsed, else `none`; the result is the same on all ranks. Call this function once per step.
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
  std::vector<int> found_;  // numbers of states that an earlier run has stored
  std::deque<int> saved_;   // numbers of states that `save_state` has pinned, the oldest first
};

}  // namespace diffsim
