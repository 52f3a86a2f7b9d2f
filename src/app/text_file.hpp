// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

#include "app/yaml_value.hpp"

namespace diffsim::app {

/// Reads a text file on rank 0 and returns the text of the file on every rank. Throws InputError that names the file if
/// the file `path` cannot be read or is larger than 2²⁸ bytes. Collective.
std::string read_text(MPI_Comm comm, const std::string& path);
/// Throws InputError at the location `place` in the scene file unless rank 0 can read `path` as a file. Collective.
void require_readable(MPI_Comm comm, const std::string& path, const Place& place);

/// Returns true on all ranks if rank 0 finds a file or folder at `path`. Collective.
bool is_there(MPI_Comm comm, const std::string& path);

}  // namespace diffsim::app
