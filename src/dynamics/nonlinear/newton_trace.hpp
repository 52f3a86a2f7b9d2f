// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/core/field.hpp"

namespace diffsim::dynamics {

/// Iteration of Newton's method, y ← y + `step` · d, with the direction d.
struct NewtonIteration {
  Field y;  ///< iterate before the iteration
  double step = 1.0;
  /// True if the direction d was computed with a Jacobian in which element contributions of contact or of all force
  /// terms were made positive semidefinite.
  bool projected = false;
};

/// Latest iterations of Newton's method, up to a maximum number.
class NewtonTrace {
 public:
  /// `room`: maximum number of stored iterations, > 0.
  explicit NewtonTrace(int room) : room_(room) {}

  int room() const { return room_; }
  /// Number of iterations since the last call of `clear`, including iterations that are no longer stored.
  int count() const { return count_; }
  bool holds(int k) const { return k < count_ && k >= count_ - room_; }
  /// Returns iteration k. Requires `holds(k)`.
  const NewtonIteration& operator[](int k) const { return held_[static_cast<std::size_t>(k % room_)]; }
  void clear() { count_ = 0; }
  void add(const Field& y, double step, bool projected);

 private:
  int room_;
  int count_ = 0;
  std::vector<NewtonIteration> held_;  // iteration k at index k % room; `clear` keeps the memory
};

}  // namespace diffsim::dynamics
