// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/broadcast.hpp"

#include <cstddef>

#include "diffsim/core/error.hpp"

namespace diffsim {

void broadcast_text(std::string& text, MPI_Comm comm, int root) {
  auto size = static_cast<int>(text.size());
  DIFFSIM_MPI(MPI_Bcast(&size, 1, MPI_INT, root, comm));
  text.resize(static_cast<std::size_t>(size));
  DIFFSIM_MPI(MPI_Bcast(text.data(), size, MPI_CHAR, root, comm));
}

}  // namespace diffsim
