# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Small scenes that several tests use."""

import diffsim
import numpy as np


def simulator(requires_grad=True, integrator="symplectic_euler", comm=None, resolution=2):
    """Return a simulator of a cube of 0.1 m that hangs from its upper side."""
    mesh = diffsim.TetrahedralMesh.create_cube(resolution, 0.1, comm=comm)
    made = diffsim.DifferentiableSimulator(
        mesh,
        diffsim.DifferentiableMaterial(5e3, 0.4, requires_grad),
        diffsim.DifferentiableSolver(dt=0.005, substeps=4, integrator=integrator),
    )
    made.set_fixed_vertices("y_max")
    return made, mesh


def loss(n, state):
    """Return the loss Σ [(n + 1)/2 |x|² + ½ |v|²] over the owned vertices, and the derivatives of this loss."""
    v = state.velocities
    x = state.positions[: len(v)]
    return 0.5 * (n + 1) * (x**2).sum() + 0.5 * (v**2).sum(), {"positions": (n + 1) * x, "velocities": v}


def difference(function, x, h):
    """Return the derivative of a scalar function at x by fourth-order central differences with the step h."""
    return (8.0 * (function(x + h) - function(x - h)) - (function(x + 2.0 * h) - function(x - 2.0 * h))) / (12.0 * h)


def largest(array):
    """Return the largest absolute value of an array."""
    return np.abs(array).max()
