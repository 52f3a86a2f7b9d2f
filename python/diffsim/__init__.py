# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Differentiable mechanics: simulation of deformable bodies, and exact gradients of any loss.

Arrays are numpy arrays of doubles, in SI units. The modules ``diffsim.torch`` and ``diffsim.jax`` differentiate whole
rollouts within PyTorch and JAX.
"""

from ._core import (
    Body,
    ContactOptions,
    DifferentiableMaterial,
    DifferentiableScene,
    DifferentiableSimulator,
    DifferentiableSolver,
    Error,
    ImplicitOptions,
    InputError,
    Joint,
    LinearOptions,
    NewtonOptions,
    Parameters,
    PlaneObstacle,
    Robot,
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
    "Body",
    "ContactOptions",
    "DifferentiableMaterial",
    "DifferentiableScene",
    "DifferentiableSimulator",
    "DifferentiableSolver",
    "Error",
    "ImplicitOptions",
    "InputError",
    "Joint",
    "LinearOptions",
    "NewtonOptions",
    "Parameters",
    "PlaneObstacle",
    "Robot",
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
