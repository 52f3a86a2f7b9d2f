// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include "direction.hpp"
#include "shared_objects.hpp"
#include "simulator.hpp"

namespace diffsim::python {

namespace nb = nanobind;

/// Runs `body`, a sweep, in a LibraryScope. If `body` throws, the simulator is reset to the initial state.
template <class Body>
auto run_sweep(SimulatorHandle& handle, const Body& body) {
  const LibraryScope scope;
  destroy_unused(handle.comm());
  Simulator& simulator = handle.get();
  ++handle.num_sweeps_;
  try {
    const Sweep sweep(*handle.scene());
    return body();
  } catch (...) {
    handle.last_.reset();
    simulator.reset();
    throw;
  }
}

/// Reads a direction on every rank. If a rank receives a wrong direction, all ranks throw. Collective.
Direction read_direction(const SimulatorHandle& handle, const nb::dict& changes);

}  // namespace diffsim::python
