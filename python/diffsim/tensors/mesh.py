# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Tetrahedral meshes whose arrays are tensors."""

import numpy as np
import torch

from .. import _core
from .._core import InputError

# Vertex numbers of the six tetrahedra around the diagonal (0, 0, 0)-(1, 1, 1) of a grid cell. Each tetrahedron follows
# three edges of the grid cell from one end of the diagonal to the other; the order of the axes identifies the tetrahedron.
_ORDERS_OF_AXES = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))


class TetrahedralMesh:
    """Mesh of linear tetrahedra.

    vertices: positions, [vertices, 3], m, stored as doubles. tetrahedra: vertex numbers, [tetrahedra, 4]; both orientations
    are valid. A program may change ``vertices`` in place; simulators begin at ``vertices``. The rest shape is that of the
    last call of ``compute_rest_state``, which the constructor calls.

    Attributes: vertices; tetrahedra; num_vertices; num_elements; Dm, the edges of each tetrahedron from its first vertex in
    the columns of a matrix, [tetrahedra, 3, 3], m; Dm_inv, its inverse; rest_volume, [tetrahedra], m³; device.
    """

    def __init__(self, vertices, tetrahedra, device="cpu"):
        self._generation = 0  # number of calls of compute_rest_state
        self.device = torch.device(device)
        self.vertices = torch.as_tensor(vertices).detach().to(self.device, torch.float64).clone()
        self.tetrahedra = torch.as_tensor(tetrahedra).to(self.device, torch.int64).clone()
        for name, array, width in (("vertices", self.vertices, 3), ("tetrahedra", self.tetrahedra, 4)):
            if array.ndim != 2 or array.shape[1] != width or len(array) == 0:
                raise InputError(f"{name} must have the shape [n, {width}] with n > 0, not {list(array.shape)}")
        self.num_vertices = len(self.vertices)
        self.num_elements = len(self.tetrahedra)
        if self.tetrahedra.min() < 0 or self.tetrahedra.max() >= self.num_vertices:
            raise InputError(f"tetrahedra contain vertex numbers outside of 0 to {self.num_vertices - 1}")
        self.compute_rest_state()

    def compute_rest_state(self):
        """Make the present vertices the rest shape, and compute Dm, Dm_inv and rest_volume."""
        self.Dm = self._edges(self.vertices)
        determinant = torch.linalg.det(self.Dm)
        flat = torch.nonzero(determinant == 0.0)
        if len(flat) > 0:
            raise InputError(f"tetrahedron {int(flat[0])} has no volume")
        self.Dm_inv = torch.linalg.inv(self.Dm)
        self.rest_volume = determinant.abs() / 6.0
        self._rest = self.vertices.detach().clone()
        self._generation += 1

    _compute_rest_state = compute_rest_state

    def compute_deformation_gradient(self, current_vertices):
        """Return the deformation gradient of each tetrahedron, [tetrahedra, 3, 3], at positions [vertices, 3]."""
        return self._edges(current_vertices.to(self.Dm_inv.dtype)) @ self.Dm_inv

    def _edges(self, vertices):
        corners = vertices[self.tetrahedra]
        return (corners[:, 1:] - corners[:, :1]).transpose(1, 2)

    @classmethod
    def from_file(cls, filename, device="cpu", dtype=torch.float64):
        """Read a mesh file: Gmsh, VTU, HDF5, MED or Exodus. Vertices keep the file's order. dtype: ignored; always double."""
        mesh = _core.TetrahedralMesh.from_file(str(filename))
        vertices = np.empty((mesh.rest_positions.shape[0], 3))
        vertices[mesh.global_vertices] = mesh.rest_positions
        cells = np.empty(mesh.cells.shape, dtype=np.int64)
        cells[mesh.global_cells] = mesh.global_vertices[mesh.cells]
        return cls(vertices, cells, device)

    @classmethod
    def create_cube(cls, resolution=5, size=1.0, device="cpu"):
        """Return a cube of the edge length ``size`` (m), with ``resolution`` vertices on each edge."""
        if resolution < 2 or not size > 0:
            raise InputError("a cube needs a resolution of at least 2 and a positive size")
        n = int(resolution)
        axis = np.linspace(0.0, size, n)
        vertices = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
        strides = np.array([n * n, n, 1])
        first = np.stack(np.meshgrid(*[np.arange(n - 1)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) @ strides
        walks = np.array([np.cumsum([0, *strides[list(order)]]) for order in _ORDERS_OF_AXES])
        return cls(vertices, (first[:, None, None] + walks).reshape(-1, 4), device)

    def _oriented(self):
        """Return the vertex numbers of the tetrahedra, with two vertices exchanged where the orientation is negative."""
        cells = self.tetrahedra.cpu().numpy().copy()
        negative = torch.linalg.det(self.Dm).cpu().numpy() < 0.0
        cells[negative, 2], cells[negative, 3] = cells[negative, 3], cells[negative, 2].copy()
        return cells
