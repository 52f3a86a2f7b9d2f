// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace diffsim::app {

/// Returns the path of the loaded library that contains the BLAS; empty if unknown.
std::string blas_library();

/// Returns one warning for each setting that makes this run slower than the machine allows. Such settings are the
/// reference BLAS, OpenBLAS kernels with narrower vectors than the processor has, and more threads of diffsim or of
/// OpenBLAS than cores. With too many threads, waiting threads occupy cores that other threads need. The result is for
/// the calling rank. Collective.
std::vector<std::string> machine_warnings(MPI_Comm comm);

}  // namespace diffsim::app
