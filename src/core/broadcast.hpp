// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

namespace diffsim {

/// Replaces `text` on every rank by the text of rank `root`. Collective.
void broadcast_text(std::string& text, MPI_Comm comm, int root = 0);

}  // namespace diffsim
