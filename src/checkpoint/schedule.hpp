// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

namespace diffsim {

/// Operation that a checkpointing Schedule returns and that the forward or reverse run executes. A sweep is a forward
/// run followed by the reverse run that computes the gradient. Step n leads from state n to state n+1. The present
/// state is the state in memory that the next step starts from. A snapshot is a stored state.
struct Action {
  enum class Kind {
    store,    ///< store the present state, number `begin`, as a snapshot
    restore,  ///< make snapshot `begin` the present state
    discard,  ///< remove snapshot `begin`
    advance,  ///< advance from state `begin` to state `end` without records
    record,   ///< advance from state `begin` to state `end`, and store a record of each step for the step's adjoint
    reverse,  ///< compute the adjoints of steps end-1 … begin from the records of these steps, then release the records
    back,     ///< go back from state `end` to state `begin` = end-1, and store a record for the adjoint of step `begin`
    done
  };
  Kind kind = Kind::done;
  int begin = 0;
  int end = 0;
  int level = 0;  ///< storage level of snapshot `begin`: 0 is memory, larger numbers are slower stores

  bool operator==(const Action&) const = default;
};

/// Sequence of operations that executes a rollout and computes the adjoints of the rollout's steps in reverse order. To
/// reverse a step is to compute the adjoint of the step. A schedule determines which states are stored and which steps
/// are repeated. A schedule depends only on step numbers, not on the Model. Before the first operation of a schedule,
/// the state in memory is the initial state, number 0.
///
/// The adjoint of each of the steps n-1, n-2, …, `first_reversed` is computed once, in this order, where n is the
/// number of steps. The final state of the rollout, from which the adjoint starts, is the state in memory before the
/// first operation `reverse` or `back`. The number of steps is known when the schedule is created, or is passed to
/// `finish`.
class Schedule {
 public:
  virtual ~Schedule() = default;
  virtual std::string name() const = 0;
  virtual Action next() = 0;
  /// Returns true if the schedule is open: the number of steps is still unknown, and the schedule advances until
  /// `finish` is called.
  virtual bool is_open() const { return false; }
  /// Ends the rollout at the state in memory, whose number is `num_steps`. Throws Error if the number of steps was
  /// known when the schedule was created.
  virtual void finish(int num_steps);
  /// Number of the earliest time step whose adjoint is computed. If `first_reversed` does not return 0, the computed
  /// gradient is an approximation.
  virtual int first_reversed() const { return 0; }
  /// Returns true if the schedule contains the operation `back`, which requires that the Model supports
  /// `Model::step_back`.
  virtual bool goes_back() const { return false; }
};

/// Schedule that records every step of the forward run. No step is repeated; the memory for the records is proportional
/// to the number of steps.
class AllSchedule : public Schedule {
 public:
  explicit AllSchedule(int num_steps) : num_steps_(num_steps) {}
  std::string name() const override { return "all"; }
  Action next() override;

 private:
  int num_steps_;
  int stage_ = 0;
};

/// Schedule with a snapshot every `every` steps. The snapshots of a UniformSchedule divide the rollout into segments.
/// The steps of the last segment of the rollout are recorded in the forward run. The steps of each segment of the
/// rollout except the last are executed without records in the forward run, and repeated once with records in the
/// reverse run. For n steps, the memory of a UniformSchedule is at most `every` records and ⌈n/every⌉ - 1 snapshots.
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
