// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

namespace diffsim {

/// One thing a sweep has to do next. Steps are numbered as in Model: step n leads from state n to state n+1.
struct Action {
  enum class Kind {
    store,    ///< keep the present state, `begin`, as a snapshot
    restore,  ///< make snapshot `begin` the present state
    discard,  ///< snapshot `begin` is not needed any more
    advance,  ///< from state `begin` to state `end`
    record,   ///< advance, keeping what the adjoint of each step needs
    reverse,  ///< adjoint of steps end-1 … begin, from their records, which end with it
    back,     ///< from state `end` to state `begin`, one before, keeping what the adjoint of that step needs
    done
  };
  Kind kind = Kind::done;
  int begin = 0;
  int end = 0;
  int level = 0;  ///< where snapshot `begin` lies: 0 is memory, a larger number a slower store

  bool operator==(const Action&) const = default;
};

/// Pure integer logic that says how to reverse a rollout in bounded memory: which states to keep, which steps to
/// repeat. It knows no physics; it starts with state 0 present and ends when step 0 is reversed.
///
/// Steps are reversed in order, n-1 first, each once, down to `first_reversed`; state n, where the adjoint starts, is
/// present just before the first `reverse` or `back`. The length n is known beforehand, or told by `finish`.
class Schedule {
 public:
  virtual ~Schedule() = default;
  virtual std::string name() const = 0;
  virtual Action next() = 0;
  /// Whether it goes on until `finish` is called.
  virtual bool is_open() const { return false; }
  /// The rollout ends with the present state, `num_steps`. Throws where the schedule was made for a known length.
  virtual void finish(int num_steps);
  /// Steps before this one are not reversed: what comes out is an approximation of the gradient, if this is not 0.
  virtual int first_reversed() const { return 0; }
  /// Whether it takes steps `back`, which a Model must be able to.
  virtual bool goes_back() const { return false; }
};

/// Records every step on the way forward: no step is repeated, memory grows with the number of steps.
class AllSchedule : public Schedule {
 public:
  explicit AllSchedule(int num_steps) : num_steps_(num_steps) {}
  std::string name() const override { return "all"; }
  Action next() override;

 private:
  int num_steps_;
  int stage_ = 0;
};

/// A snapshot every `every` steps; on the way back each segment is repeated once, recording: at most `every` records,
/// and ⌈n/every⌉ - 1 snapshots (the last segment is recorded on the way forward).
class UniformSchedule : public Schedule {
 public:
  UniformSchedule(int num_steps, int every);
  std::string name() const override { return "uniform"; }
  Action next() override;

 private:
  int num_steps_;
  int every_;
  int segment_ = 0;  // the one at hand
  int stage_ = 0;    // what is next in it
  bool forward_ = true;
};

}  // namespace diffsim
