// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/stop_request.hpp"

#include <mpi.h>

#include <limits>

namespace diffsim::app {
namespace {

volatile std::sig_atomic_t signalled = 0;

void note_signal(int number) { signalled = number; }

}  // namespace

StopRequest::StopRequest(double seconds, bool has_limit)
    : deadline_(has_limit ? MPI_Wtime() + seconds : std::numeric_limits<double>::infinity()), before_{} {
  signalled = 0;
  struct sigaction action = {};
  action.sa_handler = note_signal;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < signals_.size(); ++i) {
    // SA_RESETHAND restores the default action after the first SIGINT, so a second SIGINT ends the program.
    action.sa_flags = SA_RESTART | (signals_[i] == SIGINT ? static_cast<int>(SA_RESETHAND) : 0);
    sigaction(signals_[i], &action, &before_[i]);
  }
}

StopRequest::~StopRequest() {
  for (std::size_t i = 0; i < signals_.size(); ++i) sigaction(signals_[i], &before_[i], nullptr);
}

int StopRequest::cause() const { return signalled != 0 ? signalled : MPI_Wtime() >= deadline_ ? time_limit : 0; }

std::string StopRequest::name(int cause) {
  if (cause == time_limit) return "the time limit";
  return cause == SIGINT ? "SIGINT" : cause == SIGTERM ? "SIGTERM" : "SIGUSR1";
}

}  // namespace diffsim::app
