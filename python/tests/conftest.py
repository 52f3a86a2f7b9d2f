# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Environment of the tests: one thread per rank, which is not bound to a core."""

import os

for name, value in {
    "OMP_NUM_THREADS": "1",
    "OMP_PROC_BIND": "false",
    "KOKKOS_DISABLE_WARNINGS": "true",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "JAX_PLATFORMS": "cpu",
}.items():
    os.environ.setdefault(name, value)
