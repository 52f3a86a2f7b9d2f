// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

namespace diffsim {

/// Operation of a sweep, which a Schedule returns. Step n leads from state n to state n+1. The present state is the
/// state in memory that the next step starts from. A snapshot is a stored state.
struct Action {
  enum class Kind {
    store,    ///< store the present state, number `begin`, as a snapshot
    restore,  ///< make snapshot `begin` the present state
    discard,  ///< remove snapshot `begin`
    advance,  ///< advance from state `begin` to state `end` without records
    record,   ///< advance from state `begin` to state `end`, and store a record of each step for its adjoint
    reverse,  ///< run the adjoints of steps end-1 … begin from their records, which are released afterwards
    back,     ///< go back from state `end` to state `begin` = end-1, and store a record of this step for its adjoint
    done
  };
  Kind kind = Kind::done;
  int begin = 0;
  int end = 0;
  int level = 0;  ///< storage level of snapshot `begin`: 0 is memory, larger numbers are slower stores

  bool operator==(const Action&) const = default;
};

/// Sequence of operations that executes a rollout and computes the adjoints of its steps in reverse order, in bounded
/// memory. To reverse a step is to compute the adjoint of the step. A schedule decides which states are stored and
/// which steps are repeated. A schedule depends only on step numbers, not on the Model. Before the first operation, the
/// present state is state 0.
///
/// Each of the steps n-1, n-2, …, `first_reversed` is reversed once, in this order, where n is the number of steps.
/// State n, at which the adjoint starts, is the present state before the first `reverse` or `back`. The number n is
/// known beforehand, or passed to `finish`.
class Schedule {
 public:
  virtual ~Schedule() = default;
  virtual std::string name() const = 0;
  virtual Action next() = 0;
  /// Returns true if the schedule is open: the number of steps is still unknown, and the schedule advances until
  /// `finish` is called.
  virtual bool is_open() const { return false; }
  /// Ends the rollout at the present state, number `num_steps`. Throws Error if the number of steps was known
  /// beforehand.
  virtual void finish(int num_steps);
  /// Smallest number of a step that is reversed. If this number is not 0, the computed gradient is an approximation.
  virtual int first_reversed() const { return 0; }
  /// Returns true if the schedule contains the operation `back`. The Model must then support `Model::step_back`.
  virtual bool goes_back() const { return false; }
};

/// Schedule that records every step of the forward run. No step is repeated; memory is proportional to the number of
/// steps.
class AllSchedule : public Schedule {
 public:
  explicit AllSchedule(int num_steps) : num_steps_(num_steps) {}
  std::string name() const override { return "all"; }
  Action next() override;

 private:
  int num_steps_;
  int stage_ = 0;
};

/// Schedule with a snapshot every `every` steps. The snapshots divide the rollout into segments. The last segment is
/// recorded in the forward run. In the reverse sweep, each other segment is repeated once and recorded. For n steps,
/// the memory is at most `every` records and ⌈n/every⌉ - 1 snapshots.
class UniformSchedule : public Schedule {
 public:
  UniformSchedule(int num_steps, int every);
  std::string name() const override { return "uniform"; }
  Action next() override;

 private:
  int num_steps_;
  int every_;
  int segment_ = 0;  // number of the current segment
  int stage_ = 0;    // number of the next operation of the segment
  bool forward_ = true;
};

}  // namespace diffsim
