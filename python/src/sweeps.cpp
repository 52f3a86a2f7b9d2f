// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sweeps.hpp"

#include "all_ranks.hpp"

namespace diffsim::python {

Direction read_direction(const SimulatorHandle& handle, const nb::dict& changes) {
  return read_on_all_ranks(handle.comm(), [&] { return Direction(changes, handle.scene()->get()); });
}

}  // namespace diffsim::python
