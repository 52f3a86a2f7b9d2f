// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/stop_request.hpp"

#include <mpi.h>

#include <limits>

namespace diffsim::app {
namespace {

constexpr int signals[] = {SIGTERM, SIGUSR1};
volatile std::sig_atomic_t signalled = 0;

void note_signal(int) { signalled = 1; }

}  // namespace

StopRequest::StopRequest(double seconds, bool has_limit)
    : deadline_(has_limit ? MPI_Wtime() + seconds : std::numeric_limits<double>::infinity()), before_{} {
  signalled = 0;
  struct sigaction action = {};
  action.sa_handler = note_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (int i = 0; i < 2; ++i) sigaction(signals[i], &action, &before_[i]);
}

StopRequest::~StopRequest() {
  for (int i = 0; i < 2; ++i) sigaction(signals[i], &before_[i], nullptr);
}

bool StopRequest::is_there() const { return signalled != 0 || MPI_Wtime() >= deadline_; }

}  // namespace diffsim::app
