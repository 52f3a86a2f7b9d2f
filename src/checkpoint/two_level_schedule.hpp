// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "checkpoint/revolve_schedule.hpp"

namespace diffsim {

/// Checkpointing schedule with a snapshot on disk (level 1) at the beginning of every segment of `segment` steps,
/// except the last segment. The adjoints of each segment are computed by a RevolveSchedule with `snapshots` snapshots
/// in memory (level 0), one of which is the first state of the segment. A snapshot on disk is removed only when the
/// adjoints of all steps of the segment that begins at the snapshot are computed, so an interrupted reverse run can
/// restart the segment.
///
/// A TwoLevelSchedule executes (k−1)·(segment + t(segment, s)) + t(m, s) steps without storing a record for the
/// adjoint, and reads k−1 snapshots from disk, where k is the number of segments, m the number of steps of the last
/// segment, s the number of snapshots in memory, and t(n, s) the number of steps that a RevolveSchedule for n steps
/// executes without storing a record.
class TwoLevelSchedule : public Schedule {
 public:
  TwoLevelSchedule(int num_steps, int segment, int snapshots);
  std::string name() const override { return "two-level"; }
  Action next() override;

 private:
  enum class Stage { store, advance, reverse, restore };
  bool is_last() const { return begin_ >= num_steps_ - segment_; }
  void begin_reversal();

  int num_steps_;
  int segment_;
  int snapshots_;
  int begin_ = 0;  // first step of the current segment
  Stage stage_ = Stage::store;
  RevolveSchedule inner_;
};

}  // namespace diffsim
