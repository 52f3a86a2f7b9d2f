// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

/// `line` cut to the terminal's width, so that one \r takes it back.
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
  if (style_ == Style::none) return;
  const Clock::time_point now = Clock::now();
  if (now - shown_ < (style_ == Style::line ? Clock::duration(line_interval) : Clock::duration(log_interval))) return;
  shown_ = now;
  const std::string line = text(label_, unit_, done, total, std::chrono::duration<double>(now - start_).count(), note);
  if (style_ == Style::line) {
    std::fputs(("\r\033[K" + fitted(line)).c_str(), stderr);
    on_screen_ = true;
  } else {
    std::fputs(("diffsim: " + line + "\n").c_str(), stderr);
  }
  std::fflush(stderr);
}

bool WatchedLoss::observes(int n) const {
  const bool back = n != 0 ? n < last_ : last_ == 1;
  if (n == 0 && !back) progress_.restart();
  progress_.update(back ? 2L * num_steps_ - n : n, 2L * num_steps_, back ? "backward" : "forward");
  last_ = n;
  return loss_.observes(n);
}

}  // namespace diffsim::app
