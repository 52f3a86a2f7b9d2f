// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "diffsim/checkpoint/schedule.hpp"
#include "diffsim/checkpoint/store.hpp"
#include "diffsim/core/loss.hpp"
#include "diffsim/core/model.hpp"

namespace diffsim {

/// Called with each state of a forward run, the initial one (n = 0) included, once.
using StateObserver = std::function<void(int n, const State& state)>;
/// Whether a rollout of unknown length ends with state n; the same answer on all ranks.
using EndOfRollout = std::function<bool(int n, const State& state)>;

/// What a sweep did.
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

/// `state` → the state after `num_steps` steps. Calls the Model's `prepare`. Returns the loss over all ranks, 0 without one.
/// Collective, as everything here.
double rollout(Model& model, State& state, int num_steps, Loss* loss = nullptr, const StateObserver& observer = {});

/// Forward mode: `state` as above, `tangent` (dx[0] → dx[N]) along it and `direction`. Returns dL, 0 without a loss.
double rollout_tangent(Model& model, State& state, State& tangent, const ParameterSet& direction, int num_steps,
                       Loss* loss = nullptr);

/// Reverse mode: one forward run and the reverse sweep that gives the loss's gradient, as a schedule says.
class AdjointSweep {
 public:
  AdjointSweep(Model& model, Loss& loss, Schedule& schedule, Store& store);

  /// Takes the model from `state` (x[0] → x[N], in place) and returns L over all ranks. `gradient` names the parameters asked
  /// for; it is filled by `backward` and must live until then.
  ///
  /// An open schedule (OnlineSchedule) goes on until `ends` says so, asked once at each state; others know the length and do
  /// not ask.
  double forward(State& state, ParameterSet& gradient, const StateObserver& observer = {}, const EndOfRollout& ends = {});
  /// ∂L/∂p, summed over ranks where a parameter is global, and ∂L/∂x[0] (owned entries).
  void backward(State& adjoint);

  /// Number of the last state, once `forward` is over.
  int num_steps() const { return furthest_; }
  const SweepStatistics& statistics() const { return statistics_; }

 private:
  void advance(int begin, int end, bool recording);
  void visit(int n);
  bool perform(const Action& action);
  void add_store_statistics();

  Model& model_;
  Loss& loss_;
  Schedule& schedule_;
  Store& store_;
  ParameterSet* gradient_ = nullptr;
  State* state_ = nullptr;
  const StateObserver* observer_ = nullptr;
  Action pending_;
  int present_ = 0;   // number of the present state
  int furthest_ = 0;  // states up to here have been visited
  double loss_share_ = 0.0;
  std::vector<std::unique_ptr<Record>> records_;  // of the steps before the next to be reversed, the last one last
  std::vector<std::unique_ptr<Record>> free_;
  SweepStatistics statistics_;
  StoreStatistics store_before_;
};

}  // namespace diffsim
