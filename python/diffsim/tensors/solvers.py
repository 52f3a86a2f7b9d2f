# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Options of time stepping with symplectic Euler, and of contact with the ground, the plane y = 0."""

import torch

from .. import _core
from .._core import InputError


class DifferentiableBarrierContact:
    """Penalty of the ground with the force barrier_stiffness (barrier_width - y)² on a vertex at the height y, N.

    barrier_stiffness: N/m². barrier_width: m. The library distributes the force over the surface: the force on a vertex is
    proportional to the area of the vertex's part of the surface, and barrier_stiffness is that of a vertex with the mean
    area. Friction has Coulomb's coefficient ``friction``, smoothed below the sliding speed 2 friction/``viscosity``; at small
    speeds v, the friction force is ``viscosity`` v times the normal force.
    """

    friction = 0.3
    viscosity = 0.3  # s/m

    def __init__(self, barrier_stiffness=1e4, barrier_width=0.01):
        if not barrier_stiffness > 0 or not barrier_width > 0:
            raise InputError("barrier_stiffness and barrier_width must be positive")
        self.kappa = float(barrier_stiffness)
        self.d_hat = float(barrier_width)

    def barrier_potential(self, d):
        """Return the energy of a vertex of the mean area at the height d, J."""
        return self.kappa / 3.0 * torch.clamp(self.d_hat - d, min=0.0) ** 3

    def options(self, mean_area):
        """Return the library's options of contact, for the mean area of a vertex's part of the surface, m²."""
        return _core.ContactOptions(
            law="penalty",
            planes=[_core.PlaneObstacle()],
            self_contact=False,
            barrier_distance=self.d_hat,
            barrier_stiffness=self.kappa * self.d_hat**2 / mean_area,
            friction=self.friction,
            friction_velocity=2.0 * self.friction / self.viscosity,
        )


class _Impacts:
    """Impacts on the ground without restitution, with Coulomb friction of the coefficient 0.3."""

    @staticmethod
    def options(mean_area):
        return _core.ContactOptions(
            law="impact", planes=[_core.PlaneObstacle()], self_contact=False, friction=0.3, restitution=0.0
        )


class _SymplecticEuler:
    """Options of symplectic Euler steps. dt: s. gravity: along y, m/s². damping: factor of velocities per substep."""

    contact_handler = None

    def __init__(self, dt, gravity, damping, substeps):
        self.dt = dt
        self.damping = damping
        self.substeps = substeps
        self.gravity_value = gravity

    def key(self):
        """Return the values on which the library's simulator depends, without gravity, an input of the steps."""
        contact = self.contact_handler
        return (self.dt, self.damping, self.substeps, contact and tuple(vars(contact).items()))

    def gravity_vector(self):
        """Return the gravity, a tensor [3], m/s²."""
        return torch.tensor([0.0, float(self.gravity_value), 0.0], dtype=torch.float64)

    def solver(self, refinement):
        """Return the library's solver with `refinement` times the number of substeps, and the same damping per step."""
        return _core.DifferentiableSolver(
            dt=self.dt,
            gravity=self.gravity_vector().tolist(),
            damping=self.damping ** (1.0 / refinement),
            substeps=self.substeps * refinement,
        )


class DifferentiableSolver(_SymplecticEuler):
    """Options of differentiable steps. ``contact_handler`` is the penalty of the ground, or None for no ground.

    dt: s. gravity: along y, m/s²; the attribute ``gravity`` is a tensor [3], with respect to which steps have gradients.
    damping: factor of the velocities per substep.
    """

    def __init__(self, dt=0.01, gravity=-9.8, damping=0.99, substeps=4, use_implicit_diff=False):
        if use_implicit_diff:
            raise InputError("explicit steps need no implicit differentiation; set use_implicit_diff=False")
        super().__init__(dt, gravity, damping, substeps)
        self.gravity = torch.tensor([0.0, float(gravity), 0.0], dtype=torch.float64)
        self.use_implicit_diff = False
        self.contact_handler = DifferentiableBarrierContact(barrier_stiffness=1e4, barrier_width=0.02)

    def gravity_vector(self):
        gravity = torch.as_tensor(self.gravity).to("cpu", torch.float64)
        if gravity.shape != (3,):
            raise InputError(f"gravity must have the shape [3], not {list(gravity.shape)}")
        return gravity


class SemiImplicitSolver(_SymplecticEuler):
    """Options of steps with impacts on the ground. dt: s. gravity: along y, m/s². damping: factor per substep."""

    def __init__(
        self,
        dt=0.01,
        gravity=-9.8,
        damping=0.99,
        substeps=4,
        enable_self_collision=False,
        collision_method="simplified",
    ):
        if enable_self_collision:
            raise InputError("self-contact is not available here; use diffsim.ContactOptions with the classes of diffsim")
        super().__init__(dt, gravity, damping, substeps)
        self.enable_self_collision = False
        self.collision_method = collision_method
        self.contact_handler = _Impacts()
