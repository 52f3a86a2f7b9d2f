// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace diffsim::app {

/// Returns the path of the loaded library that contains the BLAS; empty if unknown.
std::string blas_library();

/// Returns one warning for each of the following causes that makes a run slower than the machine allows:
/// - The BLAS is Netlib's reference BLAS.
/// - OpenBLAS uses kernels with vectors of 128 bits on a processor with wider vectors.
/// - Several ranks on a node have in total more threads of OpenBLAS than available cores.
/// - The ranks on a node have several OpenMP threads each, and in total more OpenMP threads than available cores, so
///   that waiting threads may occupy cores that other threads need. The environment variable OMP_WAIT_POLICY suppresses
///   the warning about OpenMP threads.
///
/// The returned warnings are about the libraries and the node of the calling rank. Collective.
std::vector<std::string> machine_warnings(MPI_Comm comm);

}  // namespace diffsim::app
