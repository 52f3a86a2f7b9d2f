// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace diffsim::app {

/// Path of the loaded library that has the BLAS; empty where it cannot be told.
std::string blas_library();

/// One line for each thing that makes this run slower than the machine allows: the reference BLAS, or
/// kernels of OpenBLAS for narrower vectors; more threads than cores that spin while they wait. Collective; those of
/// the calling rank.
std::vector<std::string> machine_warnings(MPI_Comm comm);

}  // namespace diffsim::app
