# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Classes of meshes, materials, solvers and simulators whose arrays are PyTorch tensors.

The classes have the names, arguments and defaults of the PyTorch package torch-diffsim: a program for torch-diffsim needs
other ``import`` lines only. The library computes all steps and their derivatives; the results are tensors of doubles in
PyTorch's graph. A program runs on one rank.
"""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError("diffsim.tensors needs PyTorch 2.1 or later: pip install torch") from error

from .materials import DifferentiableMaterial, SpatiallyVaryingMaterial, StableNeoHookean
from .mesh import TetrahedralMesh
from .simulators import DifferentiableSimulator, Simulator
from .solvers import DifferentiableBarrierContact, DifferentiableSolver, SemiImplicitSolver
from .visualizer import PolyscopeVisualizer

__all__ = [
    "DifferentiableBarrierContact",
    "DifferentiableMaterial",
    "DifferentiableSimulator",
    "DifferentiableSolver",
    "PolyscopeVisualizer",
    "SemiImplicitSolver",
    "Simulator",
    "SpatiallyVaryingMaterial",
    "StableNeoHookean",
    "TetrahedralMesh",
]
