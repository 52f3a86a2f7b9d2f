# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Small scenes that several tests use."""

import os

import diffsim
import numpy as np
import pytest


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


def hanging_above_a_floor(comm=None, resolution=2):
    """Return the simulator and the mesh of `simulator`, with contact forces of a floor below the cube in every state."""
    made, mesh = simulator(comm=comm, resolution=resolution)
    floor = diffsim.PlaneObstacle(point=[0.0, -1e-3, 0.0], label="floor")
    made.scene.add_contact(
        diffsim.ContactOptions(barrier_distance=1e-2, barrier_stiffness=100.0, friction=0.3, planes=[floor])
    )
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


HELD = ["hold_stiffness", "hold_damping"]  # names of the parameters of `hold_link`


def held_bar(comm=None):
    """Return a scene of a bar, and the mesh. The scene has the parameters and the control of `hold_link`."""
    mesh = diffsim.TetrahedralMesh.box([0.4, 0.1, 0.1], [4, 1, 1], comm=comm)
    scene = diffsim.DifferentiableScene(
        mesh,
        diffsim.DifferentiableMaterial("neo_hookean", {"density": 1000.0, "youngs_modulus": 2e4, "poisson_ratio": 0.3}),
        diffsim.DifferentiableSolver(dt=0.01, substeps=4, damping=1.0),
    )
    scene.fix("x_min")
    scene.add_nodal_load(0.0)
    scene.add_parameter("hold_stiffness", 20.0)
    scene.add_parameter("hold_damping", 0.5)
    return scene, mesh


def hold_link(mesh):
    """Return a Link with the force -k (x - X) - c v at each vertex, where k is `hold_stiffness` and c is `hold_damping`."""
    owned = mesh.num_owned_vertices
    rest = mesh.rest_positions[:owned]

    def parts(state, p):
        """Return x, v, k and c, or their changes."""
        return state.positions[:owned], state.velocities, p["hold_stiffness"], p["hold_damping"]

    def pair(by_x, by_v, by_k, by_c):
        return {"positions": by_x, "velocities": by_v}, {"hold_stiffness": by_k, "hold_damping": by_c}

    def evaluate(n, state, p):
        x, v, k, c = parts(state, p)
        return {"nodal_load": -k * (x - rest) - c * v}

    def pullback(n, state, p, w):
        x, v, k, c = parts(state, p)
        f = w["nodal_load"]
        return pair(-k * f, -c * f, -(f * (x - rest)).sum(), -(f * v).sum())

    def tangent(n, state, p, dstate, dp):
        x, v, k, c = parts(state, p)
        dx, dv, dk, dc = parts(dstate, dp)
        return {"nodal_load": -dk * (x - rest) - k * dx - dc * v - c * dv}

    def pullback_tangent(n, state, p, dstate, dp, w, dw):
        x, v, k, c = parts(state, p)
        dx, dv, dk, dc = parts(dstate, dp)
        f, df = w["nodal_load"], dw["nodal_load"]
        by_k = -(df * (x - rest)).sum() - (f * dx).sum()
        return pair(-dk * f - k * df, -dc * f - c * df, by_k, -(df * v).sum() - (f * dv).sum())

    return diffsim.Link(["nodal_load"], evaluate, pullback, tangent, pullback_tangent, parameters=HELD)


def expect_same(made, expected, v, rtol):
    """Compare the start values, the loss, the gradient and the product of the Hessian with v of two problems."""
    u = expected.start()
    assert np.array_equal(made.start(), u)
    loss, gradient = made.gradient(u)
    other_loss, other_gradient = expected.gradient(u)
    assert loss == pytest.approx(other_loss, rel=rtol)
    assert np.allclose(gradient, other_gradient, rtol=0.0, atol=rtol * largest(other_gradient))
    product = expected.hessian_product(u, v)
    assert np.allclose(made.hessian_product(u, v), product, rtol=0.0, atol=10.0 * rtol * largest(product))


def read_scene(path):
    """Read a scene file of the runner. Skip the test if the package was built without the runner's library."""
    try:
        return diffsim.SceneFile(str(path))
    except diffsim.InputError as error:
        if "does not read scenes" not in str(error):
            raise
        pytest.skip("this build does not read scenes of the runner")


def resident_bytes():
    """Return the resident memory of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
