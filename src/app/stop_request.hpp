// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <csignal>
#include <string>

namespace diffsim::app {

/// A wish that the run stops where its results can be kept. While it lives, SIGINT, SIGTERM and SIGUSR1 do not end the
/// program but ask it to stop, and so does a time limit; a second SIGINT ends the program. One at a time.
class StopRequest {
 public:
  /// `seconds` from now on, if `has_limit`.
  StopRequest(double seconds, bool has_limit);
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;
  ~StopRequest();

  bool is_there() const { return cause() != 0; }
  /// Cause that asks this rank to stop: 0 for none, a signal's number, or `time_limit`.
  int cause() const;
  /// "SIGTERM", "the time limit".
  static std::string name(int cause);

  static constexpr int time_limit = 1000;  ///< above all signals

 private:
  static constexpr std::array<int, 3> signals_{SIGINT, SIGTERM, SIGUSR1};
  double deadline_;
  std::array<struct sigaction, 3> before_;
};

}  // namespace diffsim::app
