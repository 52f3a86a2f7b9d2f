// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "diffsim/checkpoint/forecast.hpp"
#include "diffsim/core/loss.hpp"

namespace diffsim::app {

/// Tells how far long work is, on stderr: on a terminal one line that is rewritten, elsewhere a line every half minute.
class Progress {
 public:
  enum class Style { none, line, log };
  /// Style for rank `rank` of a run: none but on rank 0.
  static Style style_for(int rank);

  /// `label`: "simulate"; `unit`: "steps".
  Progress(Style style, std::string label, std::string unit);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void set_label(std::string label) { label_ = std::move(label); }
  void restart() { start_ = Clock::now(); }  ///< rates are from here on
  void clear();                              ///< takes the line off the terminal

  /// `done` of `total` units are done; `note` is added to the line.
  void update(long done, long total, const std::string& note = "");
  /// A line of other text after the label, made where it is time for one.
  void update(const std::function<std::string()>& text);
  /// The text of a line: "simulate: 120 of 1000 steps, 35.2 steps/s, 0:25 left".
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

/// How far an adjoint sweep is, by its schedule: the time left counts the steps that will be repeated, and steps of the
/// reverse sweep at their own pace.
class SweepProgress {
 public:
  SweepProgress(Progress& progress, SweepForecast forecast);
  void operator()(long taken, int reached, int reversed_from);

  /// Seconds left, by the mean times of what was done; `reversed_from` as in SweepWatcher.
  double seconds_left(long taken, int reversed_from) const;
  /// Counts `seconds` for what was done since the last time.
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

/// A loss that tells a Progress how far a sweep is: a sweep asks `observes` at every state, forward from 0 and back
/// again.
class WatchedLoss : public Loss {
 public:
  WatchedLoss(Loss& loss, Progress& progress, int num_steps)
      : loss_(loss), progress_(progress), num_steps_(num_steps) {}

  std::string unit() const override { return loss_.unit(); }
  bool observes(int n) const override;
  double value(int n, const State& state, const ParameterSet& parameters) override {
    return loss_.value(n, state, parameters);
  }
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override {
    return loss_.tangent(n, state, parameters, tangent, direction);
  }
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override {
    loss_.add_gradient(n, state, parameters, adjoint, gradient);
  }
  void add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                            const ParameterSet& direction, State& adjoint_tangent,
                            ParameterSet& gradient_tangent) override {
    loss_.add_gradient_tangent(n, state, parameters, tangent, direction, adjoint_tangent, gradient_tangent);
  }

 private:
  Loss& loss_;
  Progress& progress_;
  int num_steps_;
  mutable int last_ = -1;
};

}  // namespace diffsim::app
