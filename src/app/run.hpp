// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <iosfwd>

#include "app/command_line.hpp"

namespace diffsim::app {

/// Executes the command line and returns the exit code, the same on every rank. Never throws. Collective.
///
/// Rank 0 writes results to `out`, and to `err` at most one line `diffsim: error: …` and lines `diffsim: warning: …`.
/// If some rank does not finish within `Agreement::patience` after the other ranks, each of the waiting ranks writes an
/// error line to `err` and aborts the program. MPI, PETSc and Kokkos must be initialised.
int run(MPI_Comm comm, const CommandLine& line, std::ostream& out, std::ostream& err);

}  // namespace diffsim::app
