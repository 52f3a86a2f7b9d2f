# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Simulators whose states are tensors, and whose steps PyTorch differentiates."""

from copy import copy
from functools import partial
from math import ceil
from warnings import warn

import numpy as np
import torch

from .. import _core
from .._core import InputError, RunError
from .._rollout import Rollout
from .._torch_rollout import Run

_CHECKPOINT_EVERY = 10
_MAX_REPETITIONS = 4  # repetitions of unstable steps, each with twice the number of substeps
_PARAMETERS = ("youngs_modulus", "poisson_ratio", "gravity")


class _Engine:
    """Simulator of the library for a mesh, a density, a solver and fixed vertices.

    refinement: factor of the solver's number of substeps; the damping per step does not depend on the refinement.
    ``vertices`` and ``cells`` are the numbers in the tensors of the library's vertices and cells.
    """

    def __init__(self, mesh, density, solver, fixed, refinement):
        if _core.num_ranks() > 1:
            raise InputError("diffsim.tensors runs on one rank; use diffsim.torch.rollout on several ranks")
        inner = _core.TetrahedralMesh(mesh._rest.cpu().numpy(), mesh._oriented())
        values = {"density": density, "youngs_modulus": 1e5, "poisson_ratio": 0.4}
        material = _core.DifferentiableMaterial("stable_neo_hookean", values)
        self.simulator = _core.DifferentiableSimulator(inner, material, solver.solver(refinement))
        if solver.contact_handler is not None:
            faces = inner.boundary_faces()[0]
            triangles = inner.rest_positions[faces]
            edges = triangles[:, 1:] - triangles[:, :1]
            area = 0.5 * np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1).sum()
            mean_area = area / len(np.unique(faces))
            self.simulator.scene.add_contact(solver.contact_handler.options(mean_area))
        if fixed is not None and len(fixed) > 0:
            self.simulator.set_fixed_vertices(fixed)
        self.vertices = torch.from_numpy(np.array(inner.global_vertices))
        self.cells = torch.from_numpy(np.array(inner.global_cells))
        self.inverse = torch.argsort(self.vertices)

    def run(self, values, positions, velocities, num_steps, steps=None, checkpoint_every=_CHECKPOINT_EVERY):
        """Return the positions and velocities after `num_steps` steps, or [len(steps), vertices, 3] at `steps`.

        values: E and nu, scalars or one value per tetrahedron, and the gravity, [3].
        """
        rollout = Rollout(self.simulator, num_steps, _PARAMETERS, True, steps, checkpoint_every)
        inputs = self._inputs(values)
        outputs = Run.apply(rollout, *inputs, positions[self.vertices], velocities[self.vertices])
        return tuple((output[0] if steps is None else output)[..., self.inverse, :] for output in outputs)

    def stable_substep(self, values):
        """Return a length of substeps, s, with which small motions about the rest shape are stable."""
        for name, value in zip(_PARAMETERS, self._inputs(values)):
            self.simulator.parameters[name] = value.detach().numpy()
        return self.simulator.scene.stable_substep()

    def _inputs(self, values):
        """Return the parameters of the library for E, nu and the gravity."""
        *of_material, gravity = values
        shape = self.simulator.parameters[_PARAMETERS[0]].shape
        on_cells = [value.expand(len(self.cells))[self.cells].expand(shape) for value in of_material]
        return [*on_cells, gravity]


class _State:
    """Positions and velocities that steps change. The steps are computed when a program reads the state.

    A program often takes many steps between two uses of the state. The library computes these steps by one rollout, which
    has bounded memory, and which is one operation in PyTorch's graph.
    """

    def __init__(self, mesh, material, solver, density, device):
        self.mesh = mesh
        self.material = material
        self.solver = solver
        self.device = torch.device(device)
        self.density = float(density)
        if not self.density > 0:
            raise InputError("density must be positive")
        shares = torch.full((mesh.num_elements,), 0.25 * self.density, dtype=torch.float64).to(mesh.device)
        self.masses = torch.zeros(mesh.num_vertices, dtype=torch.float64, device=mesh.device).index_add(
            0, mesh.tetrahedra.reshape(-1), (shares * mesh.rest_volume).repeat_interleave(4)
        )
        self.fixed_vertices = None
        self._made = None  # key of the library's simulator, function that makes it, and simulators by refinement
        self.reset()

    def reset(self):
        """Return to the vertices of the mesh, at rest, and to the time 0."""
        self._positions = self._initial_positions()
        self._velocities = torch.zeros_like(self._positions)
        self._pending = 0
        self.time = 0.0

    def _initial_positions(self):
        return self.mesh.vertices.to(self.device, torch.float64).clone()

    @property
    def positions(self):
        """Positions of the vertices, a tensor [vertices, 3], m."""
        self._finish()
        return self._positions

    @positions.setter
    def positions(self, values):
        self._finish()
        self._positions = torch.as_tensor(values, dtype=torch.float64, device=self.device)

    @property
    def velocities(self):
        """Velocities of the vertices, a tensor [vertices, 3], m/s."""
        self._finish()
        return self._velocities

    @velocities.setter
    def velocities(self, values):
        self._finish()
        self._velocities = torch.as_tensor(values, dtype=torch.float64, device=self.device)

    def set_fixed_vertices(self, vertex_indices):
        """Fix vertices at their positions. vertex_indices: a list or a tensor of numbers, or None for no vertices."""
        self._finish()
        if vertex_indices is not None:
            vertex_indices = torch.as_tensor(vertex_indices, dtype=torch.int64).reshape(-1)
        self.fixed_vertices = vertex_indices

    def step(self):
        """Take a step of the length ``solver.dt``."""
        if self._pending > 0 and self._has_changed():
            self._finish()
        if self._pending == 0:
            self._begin()
        self._pending += 1
        self.time += self.solver.dt

    def _begin(self):
        """Copy the inputs of the next steps, because a program may change the inputs in place before it reads the state."""
        tensors = self._parameters()
        self._inputs = tensors, [tensor._version for tensor in tensors], self._key()
        self._values = self._input_values()
        self._start = self._positions.clone(), self._velocities.clone()
        self._engine()  # reports errors of the mesh and of the options

    def _has_changed(self):
        """Return whether the material or the solver has changed since the last call of `_begin`.

        The values are compared, too, because not every change in place has a new version, for example one of `.data`.
        """
        tensors, versions, key = self._inputs
        now = self._parameters()
        same = len(now) == len(tensors) and all(a is b for a, b in zip(now, tensors))
        if not same or [tensor._version for tensor in now] != versions or self._key() != key:
            return True
        return not all(torch.equal(a, b) for a, b in zip(self._input_values(), self._values))

    def _parameters(self):
        """Return the tensors on which E and nu of the material and the gravity depend."""
        gravity = [self.solver.gravity] if isinstance(getattr(self.solver, "gravity", None), torch.Tensor) else []
        if isinstance(self.material, torch.nn.Module):
            return [*self.material.parameters(), *gravity]
        return [value for value in (self.material.E, self.material.nu) if isinstance(value, torch.Tensor)] + gravity

    def _input_values(self):
        """Return copies of E, nu and the gravity."""
        values = (self.material.E, self.material.nu, self.solver.gravity_vector())
        return [torch.as_tensor(value, dtype=torch.float64).cpu().clone() for value in values]

    def _key(self):
        fixed = None if self.fixed_vertices is None else tuple(self.fixed_vertices.tolist())
        numbers = [value for value in (self.material.E, self.material.nu) if not isinstance(value, torch.Tensor)]
        return (self.mesh._generation, self.solver.key(), fixed), numbers

    def _engine(self):
        """Return the library's simulator for the present rest shape, solver and fixed vertices."""
        key = self._key()[0]
        if self._made is None or self._made[0] != key:
            make = partial(_Engine, self.mesh, self.density, copy(self.solver), self.fixed_vertices)
            self._made = key, make, {1: make(1)}
            self._refined = 1, None
        return self._made[2][1]

    def _run(self, values, *arguments):
        """Run steps of the last simulator that `_engine` returned, with more substeps if the steps are unstable."""
        _, make, engines = self._made
        refinement = self._refinement_of(values)
        for repetition in range(_MAX_REPETITIONS + 1):
            if refinement not in engines:
                engines[refinement] = make(refinement)
            try:
                result = engines[refinement].run(values, *arguments)
                self._refined = refinement, values
                return result
            except RunError as error:
                if repetition == _MAX_REPETITIONS:
                    raise
                refinement *= 2
                self._warn_of(refinement, error)

    def _refinement_of(self, values):
        """Return the factor of the number of substeps for steps of a material with these values.

        Steps that exceed twice the length with which small motions are certainly stable are nearly always unstable.
        """
        refinement, of = self._refined
        if of is not None and all(torch.equal(a, b) for a, b in zip(values[:2], of[:2])):  # E and nu
            return refinement
        ratio = self.solver.dt / (self.solver.substeps * self._engine().stable_substep(values))
        if ratio <= 2.0:
            return 1
        self._warn_of(ceil(ratio), f"small motions are stable with {ceil(ratio * self.solver.substeps)} substeps")
        return ceil(ratio)

    def _warn_of(self, refinement, reason):
        count = self.solver.substeps
        warn(f"{count} substeps are unstable; {refinement * count} are used instead: {reason}", stacklevel=5)

    def _finish(self):
        """Compute the pending steps."""
        if self._pending == 0:
            return
        self._positions, self._velocities = self._run(self._values, *self._start, self._pending)
        self._pending = 0  # after an error, the next reading reports the error again


class Simulator(_State):
    """Simulator without derivatives.

    mesh: TetrahedralMesh. material: StableNeoHookean. solver: SemiImplicitSolver. density: kg/m³. device: device of the
    state's tensors. use_compile: ignored; the library's steps are compiled. The arguments are those of the constructor.
    """

    def __init__(self, mesh, material, solver, density=1000.0, device="cpu", use_compile=False):
        super().__init__(mesh, material, solver, density, device)

    def _finish(self):
        with torch.no_grad():
            super()._finish()

    def fix_bottom_vertices(self, threshold=0.05):
        """Fix the vertices at most `threshold` (m) above the lowest vertex."""
        height = self.positions[:, 1]
        self.set_fixed_vertices(torch.nonzero(height <= height.min() + threshold).reshape(-1))

    def add_velocity(self, vertex_indices, velocity):
        """Add a velocity (m/s), [3], to the velocities of vertices."""
        self.velocities[vertex_indices] += torch.as_tensor(velocity, dtype=torch.float64, device=self.device)

    def warmstart(self, num_steps=10):
        """Take steps of 1 ms with the damping 0.9, and set the time to 0."""
        dt, damping = self.solver.dt, self.solver.damping
        self.solver.dt, self.solver.damping = 1e-3, 0.9
        try:
            for _ in range(num_steps):
                self.step()
            self._finish()
        finally:
            self.solver.dt, self.solver.damping = dt, damping
        self.time = 0.0

    def get_surface_mesh(self):
        """Return the positions, [vertices, 3], and the vertex numbers of the boundary's triangles, as numpy arrays."""
        mesh = _core.TetrahedralMesh(self.mesh._rest.cpu().numpy(), self.mesh._oriented())
        return self.positions.cpu().numpy(), mesh.global_vertices[mesh.boundary_faces()[0]]

    def compute_energy(self):
        """Return the kinetic, the elastic and the gravitational energy, J. The last is zero at y = 0."""
        kinetic = 0.5 * (self.masses[:, None] * self.velocities**2).sum()
        density = self.material.energy_density(self.mesh.compute_deformation_gradient(self.positions))
        gravitational = -self.solver.gravity_vector()[1] * (self.masses * self.positions[:, 1]).sum()
        return kinetic.item(), (density * self.mesh.rest_volume).sum().item(), gravitational.item()


class DifferentiableSimulator(_State):
    """Simulator whose states have gradients with respect to the material's parameters, the initial state and the gravity.

    mesh: TetrahedralMesh. material: DifferentiableMaterial or SpatiallyVaryingMaterial. solver: DifferentiableSolver.
    density: kg/m³. device: device of the state's tensors.
    """

    def __init__(self, mesh, material, solver, density=1000.0, device="cpu"):
        super().__init__(mesh, material, solver, density, device)

    def _initial_positions(self):
        return super()._initial_positions().requires_grad_()

    def rollout(self, num_steps, checkpoint_every=_CHECKPOINT_EVERY):
        """Return the states of `num_steps` steps from the present state, a list of pairs (positions, velocities).

        The first pair is the present state, which the rollout does not change. The reverse sweep stores one checkpoint
        every `checkpoint_every` steps.
        """
        self._finish()
        self._engine()
        positions, velocities = self._run(
            self._input_values(), self._positions, self._velocities, num_steps, range(num_steps + 1), checkpoint_every
        )
        return [(self._positions, self._velocities), *zip(positions[1:], velocities[1:])]

    def compute_loss(self, target_positions, loss_type="mse"):
        """Return a loss of the positions.

        loss_type: "mse", the mean squared difference from the target's coordinates, m²; or "chamfer", the sum of the mean
        distances from the vertices to the nearest target point and from the target points to the nearest vertex, m.
        """
        target = torch.as_tensor(target_positions, dtype=torch.float64, device=self.device)
        if loss_type == "mse":
            return ((self.positions - target) ** 2).mean()
        if loss_type == "chamfer":
            distances = torch.cdist(self.positions, target)
            return distances.min(1).values.mean() + distances.min(0).values.mean()
        raise InputError(f"loss_type must be 'mse' or 'chamfer', not '{loss_type}'")
