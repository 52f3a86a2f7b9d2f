// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "diffsim/checkpoint/schedule.hpp"

namespace diffsim {

/// How a rollout is to be reversed in the memory there is.
struct CheckpointPlan {
  int num_steps = 0;
  int snapshots = 0;                ///< states kept at a time, none where every step's record is
  int records = 0;                  ///< records kept at a time
  std::int64_t bytes = 0;           ///< of both together, at most
  std::int64_t recomputations = 0;  ///< steps taken beyond the n that are recorded
  double ratio = 1.0;               ///< steps taken per step of the rollout, 1 + recomputations/n

  std::unique_ptr<Schedule> make_schedule() const;
  /// One line: "revolve: 12 snapshots, 3 records, 1.2 GiB; 13100 steps repeated, 2.31 forward steps for each of 10000"
  std::string summary() const;
};

/// The plan with the fewest repeated steps that stays within `budget_bytes`; among equals, the one with the fewest
/// bytes. All numbers are of one rank, or of all ranks. Every record is kept where they fit; otherwise snapshots and
/// records share the budget as is best for RevolveSchedule, which never repeats more than UniformSchedule in the same
/// memory.
///
/// The budget is for snapshots and records only: the present state and the adjoint come on top. Throws Error (input),
/// naming the least that would do, where not even one snapshot and one record fit.
CheckpointPlan plan_checkpoints(int num_steps, std::int64_t state_bytes, std::int64_t record_bytes,
                                std::int64_t budget_bytes);

}  // namespace diffsim
