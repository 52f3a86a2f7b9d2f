# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Differentiable mechanics: simulation of deformable bodies, and exact gradients of any loss.

Arrays are numpy arrays of doubles, in SI units. The modules ``diffsim.torch`` and ``diffsim.jax`` differentiate whole
rollouts within PyTorch and JAX.
"""

from ._core import (
    ContactOptions,
    DifferentiableMaterial,
    DifferentiableScene,
    DifferentiableSimulator,
    DifferentiableSolver,
    Error,
    ImplicitOptions,
    InputError,
    LinearOptions,
    NewtonOptions,
    Parameters,
    PlaneObstacle,
    RunError,
    Simulator,
    State,
    TargetPositionLoss,
    TetrahedralMesh,
    Trajectory,
    back_end,
    num_ranks,
    rank,
)

__version__ = "0.1.0"

__all__ = [
    "ContactOptions",
    "DifferentiableMaterial",
    "DifferentiableScene",
    "DifferentiableSimulator",
    "DifferentiableSolver",
    "Error",
    "ImplicitOptions",
    "InputError",
    "LinearOptions",
    "NewtonOptions",
    "Parameters",
    "PlaneObstacle",
    "RunError",
    "Simulator",
    "State",
    "TargetPositionLoss",
    "TetrahedralMesh",
    "Trajectory",
    "back_end",
    "num_ranks",
    "rank",
]
