// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/checkpoint/schedule.hpp"

namespace diffsim {

/// Stores nothing: advances to the end and takes every step back, which undoes it. n steps are taken twice.
class ReversibleSchedule : public Schedule {
 public:
  explicit ReversibleSchedule(int num_steps) : num_steps_(num_steps), next_(num_steps) {}
  std::string name() const override { return "reversible"; }
  Action next() override;
  bool goes_back() const override { return true; }

 private:
  int num_steps_;
  int next_;  // steps from here on are reversed
  bool advanced_ = false, recorded_ = false;
};

}  // namespace diffsim
