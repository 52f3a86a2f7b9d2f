// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <iosfwd>

#include "app/command_line.hpp"

namespace diffsim::app {

/// Executes the command `line` and returns the exit code, which is the same on every rank. Never throws. Collective.
///
/// Rank 0 writes results to `out`, and at most one line `diffsim: error: …` to `err`. Rank 0 and, with the option
/// `--groups`, the first rank of each group write warnings to `err`, as lines `diffsim: warning: …`. If some rank does
/// not finish within the time `Agreement::patience` after the other ranks, each of the waiting ranks writes an error
/// line to `err` and aborts the program. MPI, PETSc and Kokkos must be initialised before `run` is called.
int run(MPI_Comm comm, const CommandLine& line, std::ostream& out, std::ostream& err);

}  // namespace diffsim::app
