// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/progress.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace diffsim::app {
namespace {

constexpr std::chrono::milliseconds line_interval(100);
constexpr std::chrono::seconds log_interval(30);

std::string duration(double seconds) {
  const auto s = static_cast<long>(seconds + 0.5);
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

/// Truncates `line` to the terminal's width, so that a carriage return moves the cursor to the start of the line.
std::string fitted(const std::string& line) {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return line;
  return line.substr(0, size.ws_col - 1U);
}

}  // namespace

Progress::Style Progress::style_for(int rank) {
  if (rank != 0) return Style::none;
  return isatty(STDERR_FILENO) ? Style::line : Style::log;
}

Progress::Progress(Style style, std::string label, std::string unit)
    : style_(style), label_(std::move(label)), unit_(std::move(unit)), start_(Clock::now()), shown_(start_) {}

void Progress::clear() {
  if (on_screen_) std::fputs("\r\033[K", stderr);
  on_screen_ = false;
}

std::string Progress::text(const std::string& label, const std::string& unit, long done, long total, double seconds,
                           const std::string& note) {
  std::string line = fmt::format("{}: {} of {} {}", label, done, total, unit);
  if (!note.empty()) line += ", " + note;
  if (done > 0 && seconds > 0.0) {
    const double rate = static_cast<double>(done) / seconds;
    line += fmt::format(", {:.3g} {}/s, {} left", rate, unit, duration(static_cast<double>(total - done) / rate));
  }
  return line;
}

void Progress::update(long done, long total, const std::string& note) {
  const Clock::time_point now = Clock::now();
  if (is_due(now))
    show(text(label_, unit_, done, total, std::chrono::duration<double>(now - start_).count(), note), now);
}

void Progress::update(const std::function<std::string()>& text) {
  const Clock::time_point now = Clock::now();
  if (is_due(now)) show(label_ + ": " + text(), now);
}

bool Progress::is_due(Clock::time_point now) const {
  if (style_ == Style::none) return false;
  return now - shown_ >= (style_ == Style::line ? Clock::duration(line_interval) : Clock::duration(log_interval));
}

void Progress::show(const std::string& line, Clock::time_point now) {
  shown_ = now;
  if (style_ == Style::line) {
    std::fputs(("\r\033[K" + fitted(line)).c_str(), stderr);
    on_screen_ = true;
  } else {
    std::fputs(("diffsim: " + line + "\n").c_str(), stderr);
  }
  std::fflush(stderr);
}

SweepProgress::SweepProgress(Progress& progress, SweepForecast forecast)
    : progress_(progress), forecast_(std::move(forecast)), last_(std::chrono::steady_clock::now()) {}

void SweepProgress::count(long taken, int reversed_from, double seconds) {
  if (taken > taken_) {
    step_seconds_ += seconds;
    steps_ += taken - taken_;
  } else if (reversed_from >= 0) {
    reverse_seconds_ += seconds;
    ++reversals_;
  }
  taken_ = taken;
  reversed_from_ = reversed_from;
}

double SweepProgress::seconds_left(long taken, int reversed_from) const {
  const int n = forecast_.num_steps;
  const double step = step_seconds_ / static_cast<double>(std::max(steps_, 1L));
  const double reverse = reversals_ > 0 ? reverse_seconds_ / static_cast<double>(reversals_) : step;
  const int first = forecast_.first;
  if (reversed_from < 0 || reversed_from >= n)
    return static_cast<double>(std::max(forecast_.steps - taken, 0L)) * step + (n - first) * reverse;
  return static_cast<double>(forecast_.left[static_cast<std::size_t>(reversed_from)]) * step +
         (reversed_from - first) * reverse;
}

void SweepProgress::operator()(long taken, int reached, int reversed_from) {
  const auto now = std::chrono::steady_clock::now();
  count(taken, reversed_from, std::chrono::duration<double>(now - last_).count());
  last_ = now;
  progress_.update([&] {
    const int n = forecast_.num_steps;
    return fmt::format("{} {} of {} steps, {} left", reversed_from < 0 ? "forward" : "backward",
                       reversed_from < 0 ? reached : n - reversed_from, reversed_from < 0 ? n : n - forecast_.first,
                       duration(seconds_left(taken, reversed_from)));
  });
}

bool WatchedLoss::observes(int n) const {
  const bool back = n != 0 ? n < last_ : last_ == 1;
  if (n == 0 && !back) progress_.restart();
  progress_.update(back ? 2L * num_steps_ - n : n, 2L * num_steps_, back ? "backward" : "forward");
  last_ = n;
  return ForwardingLoss::observes(n);
}

}  // namespace diffsim::app
