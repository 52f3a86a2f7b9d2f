# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Comparison of gradients with finite differences and with gradients of the library's own losses."""

import diffsim
import numpy as np
import pytest
from scenes import difference, largest, loss, simulator

NUM_STEPS = 12


def value(made):
    made.rollout(NUM_STEPS, 5)
    return made.compute_loss(loss)


@pytest.mark.parametrize("integrator", ["symplectic_euler", "velocity_verlet", "implicit_euler"])
@pytest.mark.parametrize(
    "name, entry, step",
    [
        ("youngs_modulus", ..., 20.0),
        ("youngs_modulus", 7, 50.0),
        ("poisson_ratio", ..., 1e-3),
        ("density", ..., 5.0),
        ("gravity", 1, 0.1),
        ("gravity", 2, 0.1),
        ("damping", ..., 2e-4),
    ],
)
def test_gradient_is_that_of_differences(name, entry, step, integrator):
    made, _ = simulator(integrator=integrator)
    if name not in made.parameters:
        assert name == "damping" and integrator != "symplectic_euler"
        pytest.skip(f"{integrator} has no {name}")
    made.require_gradient([name])
    made.rollout(NUM_STEPS, 5)
    total = made.backward(loss)
    slope = made.gradient(name)[entry].sum()
    start = made.parameters[name]

    def at(offset):
        values = start.copy()
        values[entry] += offset
        made.parameters[name] = values
        return value(made)

    assert at(0.0) == pytest.approx(total, rel=1e-14)
    assert slope == pytest.approx(difference(at, 0.0, step), rel=1e-8)


@pytest.mark.parametrize("field", ["positions", "velocities"])
def test_gradient_of_the_initial_state(field):
    made, mesh = simulator()
    made.rollout(NUM_STEPS, 5)
    made.backward(loss)
    direction = np.random.default_rng(1).normal(size=(mesh.num_owned_vertices, 3))
    slope = (made.initial_gradient[field] * direction).sum()

    def at(offset):
        if field == "positions":
            made.scene.set_initial_displacement(offset * direction)
        else:
            made.scene.set_initial_velocity(offset * direction)
        return value(made)

    assert slope == pytest.approx(difference(at, 0.0, 2e-5 if field == "positions" else 2e-3), rel=1e-8)


def test_a_loss_in_python_is_that_of_the_library():
    made, mesh = simulator()
    target = np.array([0.05, -0.02, 0.04])
    region = mesh.region("y_min")

    def in_python(n, state):
        if n != NUM_STEPS:
            return None
        x = state.positions
        offset = x[region].mean(axis=0) - target
        derivative = np.zeros_like(x)
        derivative[region] = offset / len(region)
        return 0.5 * offset @ offset, {"positions": derivative}

    results = []
    for each in (in_python, diffsim.TargetPositionLoss(mesh, "y_min", target, NUM_STEPS)):
        made.rollout(NUM_STEPS, 5)
        results.append((made.backward(each), made.gradient("youngs_modulus"), made.gradient("poisson_ratio")))
    for in_python, in_library in zip(*results):
        assert largest(in_python) > 0.0
        assert largest(in_python - in_library) <= 1e-14 * largest(in_library)


def test_gradient_of_a_control_and_of_friction_on_a_plane():
    mesh = diffsim.TetrahedralMesh.create_cube(1, 0.1)
    made = diffsim.DifferentiableSimulator(
        mesh, diffsim.DifferentiableMaterial(2e4, 0.3), diffsim.DifferentiableSolver(dt=0.002, substeps=10)
    )
    scene = made.scene
    gravity = np.zeros((20, 3))
    gravity[:, 0], gravity[:, 1] = 2.0, -9.8
    scene.set_control("gravity", gravity)
    scene.add_contact(
        diffsim.ContactOptions(
            barrier_distance=2e-3,
            barrier_stiffness=1e5,
            friction=0.3,
            friction_velocity=0.01,
            planes=[diffsim.PlaneObstacle(point=[0.0, -0.001, 0.0])],
        )
    )
    assert made.parameters["gravity"].shape == (20, 3)
    made.require_gradient(["friction", "gravity"])

    def at(friction):
        made.parameters["friction"] = friction
        made.rollout(20, 6)
        return made.compute_loss(loss)

    at(0.3)
    made.backward(loss)
    assert made.gradient("gravity").shape == (20, 3)
    slope = float(made.gradient("friction"))
    assert abs(slope) > 1e-6
    assert slope == pytest.approx(difference(at, 0.3, 1e-4), rel=1e-6)
