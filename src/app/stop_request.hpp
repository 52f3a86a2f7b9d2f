// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <csignal>
#include <string>

namespace diffsim::app {

/// Request to stop the run at a point where results can be saved. During the lifetime of a StopRequest, the signals
/// SIGINT, SIGTERM and SIGUSR1 request a stop instead of ending the program, and the end of the time limit requests a
/// stop. A second SIGINT ends the program. Only one StopRequest may exist at a time.
class StopRequest {
 public:
  /// Installs the signal handlers. If `has_limit` is true, the time limit expires `seconds` seconds after the
  /// construction of the StopRequest.
  StopRequest(double seconds, bool has_limit);
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;
  ~StopRequest();

  bool is_there() const { return cause() != 0; }
  /// Returns the cause of the stop request on the calling rank: the number of a signal, or `time_limit`; 0 if no stop
  /// is requested.
  int cause() const;
  /// Returns the name of the cause of a stop request, for example "SIGTERM" or "the time limit".
  static std::string name(int cause);

  static constexpr int time_limit = 1000;  ///< value of `cause()` after the time limit; larger than all signal numbers

 private:
  static constexpr std::array<int, 3> signals_{SIGINT, SIGTERM, SIGUSR1};
  double deadline_;
  std::array<struct sigaction, 3> before_;
};

}  // namespace diffsim::app
