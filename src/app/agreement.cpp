// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/agreement.hpp"

#include <thread>

#include "diffsim/core/error.hpp"

namespace diffsim::app {

Agreement::Agreement(MPI_Comm comm) { DIFFSIM_MPI(MPI_Comm_dup(comm, &comm_)); }

Agreement::~Agreement() {
  if (!broken_) MPI_Comm_free(&comm_);
}

bool Agreement::reached() {
  if (broken_) return false;
  broken_ = true;
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(comm_, &request) != MPI_SUCCESS) return false;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (int arrived = 0; !arrived; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
    if (MPI_Test(&request, &arrived, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (!arrived && std::chrono::steady_clock::now() > deadline) return false;
  }
  broken_ = false;
  return true;
}

int Agreement::largest(int code) const {
  MPI_Allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MAX, comm_);
  return code;
}

}  // namespace diffsim::app
