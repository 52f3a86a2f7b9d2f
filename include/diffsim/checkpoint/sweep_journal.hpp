// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "diffsim/checkpoint/checkpoint_directory.hpp"

namespace diffsim {

/// A sweep ended early, as asked; how far it is stands in its checkpoint directory. Not an Error: nothing failed.
class SweepStopped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How far a sweep is, in a directory that outlives the program: of the forward run a state and the loss so far; of the
/// reverse sweep the adjoint, the gradient so far and the loss. Collective.
class SweepJournal {
 public:
  /// Of a reverse sweep: steps from `next` on are reversed.
  struct Reversal {
    int next = 0;
    int num_steps = 0;
    double loss = 0.0;  ///< over all ranks
  };
  /// Of a forward run.
  struct Progress {
    int step = 0;
    double loss_share = 0.0;
  };
  enum class Request { none, save, stop };

  /// `interval`: seconds between two entries, beyond what the schedule stores. `must_stop`: whether this rank was told
  /// to; not collective, and asked often.
  SweepJournal(std::shared_ptr<CheckpointDirectory> directory, RowOrder order, double interval,
               std::function<bool()> must_stop = {});

  const std::string& path() const { return directory_->path(); }
  void warn(const std::string& what) const { directory_->warn(what); }
  /// A sweep from `initial` begins; what is there of one from elsewhere is removed.
  void begin(const State& initial, const ParameterSet& parameters);

  /// The last whole entries of this sweep; what cannot be used is told, and dropped.
  /// `first`: steps before it are not to be reversed.
  std::optional<Reversal> load_reversal(int first, State& adjoint, ParameterSet& gradient);
  std::optional<Progress> load_progress(State& scratch);
  /// States of this sweep on the disk, in ascending order; of a reversal, with such as were rounded.
  std::vector<int> states() const;
  /// False where the state cannot be read; it is told, and dropped.
  bool load_state(int step, State& state);

  /// The loss up to the state that a store is about to keep.
  void note(double loss_share) { directory_->annotate({loss_share}); }
  void save_state(int step, const State& state, double loss_share);
  void save_reversal(const Reversal& reversal, const State& adjoint, const ParameterSet& gradient);
  /// Next action at this point; the same on all ranks. To be called once a step.
  Request poll();
  /// Waits until everything is on the disk, and throws SweepStopped.
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
  std::deque<int> saved_;   // states kept for this object alone
};

}  // namespace diffsim
