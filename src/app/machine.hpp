// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace diffsim::app {

/// Returns the path of the loaded library that contains the BLAS; empty if unknown.
std::string blas_library();

/// Returns one warning for each of the following causes that makes this run slower than the machine allows:
/// - The BLAS is Netlib's reference BLAS.
/// - OpenBLAS uses kernels with vectors of 128 bits on a processor with wider vectors.
/// - The ranks on a node have more threads, of diffsim or of OpenBLAS, than cores. Waiting threads then occupy cores
///   that other threads need.
///
/// The result is for the calling rank. Collective.
std::vector<std::string> machine_warnings(MPI_Comm comm);

}  // namespace diffsim::app
