// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <csignal>
#include <string>

namespace diffsim::app {

/// Request to stop the run at a point where results can be saved. During the object's lifetime, SIGINT, SIGTERM and
/// SIGUSR1 request a stop instead of ending the program; a time limit requests a stop, too. A second SIGINT ends the
/// program. Only one object may exist at a time.
class StopRequest {
 public:
  /// Installs the signal handlers. If `has_limit` is true, the time limit is `seconds` from this call.
  StopRequest(double seconds, bool has_limit);
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;
  ~StopRequest();

  bool is_there() const { return cause() != 0; }
  /// Returns the cause of a stop request on this rank: 0 for none, a signal's number, or `time_limit`.
  int cause() const;
  /// Returns the name of a cause, for example "SIGTERM" or "the time limit".
  static std::string name(int cause);

  static constexpr int time_limit = 1000;  ///< larger than all signal numbers

 private:
  static constexpr std::array<int, 3> signals_{SIGINT, SIGTERM, SIGUSR1};
  double deadline_;
  std::array<struct sigaction, 3> before_;
};

}  // namespace diffsim::app
