// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/core/field.hpp"

namespace diffsim::dynamics {

/// An iteration of Newton's method: y ← y + step · d.
struct NewtonIteration {
  Field y;  ///< where it began
  double step = 1.0;
  bool projected = false;  ///< d is that of the projected Jacobian
};

/// The latest of Newton's iterations, as many as there is room for.
class NewtonTrace {
 public:
  /// Throws nothing; `room` > 0.
  explicit NewtonTrace(int room) : room_(room) {}

  int room() const { return room_; }
  /// Iterations so far, those that are no longer held too.
  int count() const { return count_; }
  bool holds(int k) const { return k < count_ && k >= count_ - room_; }
  /// Iteration k, which is held.
  const NewtonIteration& operator[](int k) const { return held_[static_cast<std::size_t>(k % room_)]; }
  void clear() { count_ = 0; }
  void add(const Field& y, double step, bool projected);

 private:
  int room_;
  int count_ = 0;
  std::vector<NewtonIteration> held_;  // iteration k at k % room; memory once taken is kept
};

}  // namespace diffsim::dynamics
