// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>

namespace diffsim::app {

/// While it lives, SIGTERM and SIGUSR1 do not end the program but ask it to stop at a checkpoint, and so does a time
/// limit. One at a time.
class StopRequest {
 public:
  /// `seconds` from now on, if `has_limit`.
  StopRequest(double seconds, bool has_limit);
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;
  ~StopRequest();

  bool is_there() const;

 private:
  double deadline_;
  struct sigaction before_[2];
};

}  // namespace diffsim::app
