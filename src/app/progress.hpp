// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "adjoint/forwarding_loss.hpp"
#include "checkpoint/forecast.hpp"

namespace diffsim::app {

/// Shows the progress of long work on stderr: on a terminal one line that is rewritten, otherwise one line every 30 s.
class Progress {
 public:
  enum class Style { none, line, log };
  /// Returns the style of the progress display on a rank: on rank 0 `line` if stderr is a terminal and `log` otherwise,
  /// and `none` on all other ranks.
  static Style style_for(int rank);

  /// Creates a progress display. `label`: name of the work, such as "simulate". `unit`: plural name of the units of
  /// work that are counted, such as "steps".
  Progress(Style style, std::string label, std::string unit);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void set_label(std::string label) { label_ = std::move(label); }
  void restart() { start_ = Clock::now(); }  ///< restarts the clock from which the displayed rate is computed
  void clear();                              ///< erases the progress line on the terminal

  /// Shows a line which says that `done` of `total` units of work are done. Does nothing if the style is `none`, or if
  /// less than 0.1 s (on a terminal) or 30 s (otherwise) have passed since the previous progress line or, before the
  /// first line, since the construction. `note`: text that follows `done` and `total` in the progress line.
  void update(long done, long total, const std::string& note = "");
  /// Shows a line with the label of the work, followed by the result of the function `text`. Does nothing, and does not
  /// call `text`, if `update(done, total, note)` would do nothing.
  void update(const std::function<std::string()>& text);
  /// Returns the text of a progress line, such as "simulate: 120 of 1000 steps, 35.2 steps/s, 0:25 left".
  static std::string text(const std::string& label, const std::string& unit, long done, long total, double seconds,
                          const std::string& note);

 private:
  using Clock = std::chrono::steady_clock;
  void show(const std::string& line, Clock::time_point now);
  bool is_due(Clock::time_point now) const;

  Style style_;
  std::string label_, unit_;
  Clock::time_point start_, shown_;
  bool on_screen_ = false;
};

/// Progress of a forward run and the reverse run that follows. The number of steps that are still to be executed,
/// repeated steps included, is taken from a SweepForecast. The remaining time is computed from the number of remaining
/// steps, the mean run time of a forward step and the mean run time of the adjoint of a step.
class SweepProgress {
 public:
  SweepProgress(Progress& progress, SweepForecast forecast);
  /// Shows the progress. The arguments `taken`, `reached` and `reversed_from` have the same meanings as the arguments
  /// of a SweepWatcher with the same names.
  void operator()(long taken, int reached, int reversed_from);

  /// Returns the remaining run time (seconds), computed from the mean run times of the steps executed so far. The
  /// arguments `taken` and `reversed_from` have the same meanings as the arguments of a SweepWatcher with the same
  /// names.
  double seconds_left(long taken, int reversed_from) const;
  /// Adds `seconds`, the run time since the last call of `count`, to the total run time of forward steps if a forward
  /// step was executed since the last call. If no forward step was executed since the last call of `count` and the
  /// reverse run has begun, adds the run time `seconds` to the total run time of the adjoints of steps.
  void count(long taken, int reversed_from, double seconds);

 private:
  Progress& progress_;
  SweepForecast forecast_;
  std::chrono::steady_clock::time_point last_;
  long taken_ = 0;
  int reversed_from_ = -1;
  double step_seconds_ = 0.0, reverse_seconds_ = 0.0;
  long steps_ = 0, reversals_ = 0;
};

/// Loss that forwards all calls to another Loss and shows the progress of a gradient computation. The forward run calls
/// `observes(n)` for every state with ascending n from 0; the reverse run calls `observes(n)` with descending n. A
/// WatchedLoss derives the progress from the arguments n of the calls of `observes`.
class WatchedLoss : public ForwardingLoss {
 public:
  WatchedLoss(Loss& loss, Progress& progress, int num_steps)
      : ForwardingLoss(loss), progress_(progress), num_steps_(num_steps) {}

  bool observes(int n) const override;

 private:
  Progress& progress_;
  int num_steps_;
  mutable int last_ = -1;
};

}  // namespace diffsim::app
