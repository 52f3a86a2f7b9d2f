# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Losses of velocities, of efforts and of joints, sums over experiments, Gauss–Newton matrices, options of checks."""

import diffsim
import numpy as np
import pytest
from scenes import difference, held_bar, largest
from test_bodies import STEPS, arm


def problem_of(loss, scene, steps=6):
    return diffsim.InverseProblem(scene, steps, loss, [diffsim.Unknown("gravity")])


def test_target_velocity():
    scene, mesh = held_bar()
    target = np.array([0.1, -0.2, 0.3])
    problem = problem_of(diffsim.TargetVelocityLoss(mesh, "x_max", target, 6), scene)
    assert problem.unit == "m²/s²"
    u = problem.start()

    def residual(u):
        problem.set(u)
        sensor = scene.sensor("velocity", region="x_max")
        return diffsim.Simulator(scene).rollout(6).measure(sensor)[6] - target

    value, gradient = problem.gradient(u)
    assert value == pytest.approx(0.5 * (residual(u) ** 2).sum(), rel=1e-12)
    for unit, slope in zip(np.eye(3), gradient):
        assert slope == pytest.approx(difference(lambda t: problem.value(u + t * unit), 0.0, 0.1), rel=1e-7)

    J = np.array([difference(lambda t: residual(u + t * unit), 0.0, 0.1) for unit in np.eye(3)]).T
    v = np.array([0.3, -0.2, 0.1])
    product = problem.hessian_product(u, v, gauss_newton=True)
    assert np.allclose(product, J.T @ (J @ v), rtol=1e-7, atol=1e-9 * largest(product))
    assert largest(problem.hessian_product(u, v) - product) > 1e-6 * largest(product)


def test_effort():
    scene, mesh = held_bar()
    problem = problem_of(diffsim.EffortLoss(scene, "gravity", 6), scene)
    u, v = problem.start(), np.array([1.0, 2.0, 3.0])
    value, gradient = problem.gradient(u)
    assert value == pytest.approx(0.5 * 6 * 0.01 * 9.8**2, rel=1e-12)
    assert gradient == pytest.approx(6 * 0.01 * u, rel=1e-12)
    assert problem.hessian_product(u, v) == pytest.approx(6 * 0.01 * v, rel=1e-12)
    with pytest.raises(diffsim.InputError, match="thrust"):
        problem_of(diffsim.EffortLoss(scene, "thrust", 6), scene).value(u)
    with pytest.raises(diffsim.InputError, match="another scene"):
        problem_of(diffsim.EffortLoss(scene, "gravity", 6), diffsim.DifferentiableScene(mesh, [rubber()]))


def rubber():
    values = {"density": 1000.0, "youngs_modulus": 2e4, "poisson_ratio": 0.3}
    return diffsim.DifferentiableMaterial("neo_hookean", values)


def test_targets_of_joints():
    made, mesh = arm(np.linspace(0.1, 0.5, STEPS))
    shoulder = diffsim.Joint("shoulder", "revolute", "upper", coordinate=0.4)
    assert shoulder.coordinate == 0.4
    loss = diffsim.JointLoss(mesh, shoulder, {STEPS: 0.1})
    problem = diffsim.InverseProblem(made.scene, STEPS, loss, [diffsim.Unknown("joint_torque:shoulder")])
    assert problem.unit == "rad²"
    u = problem.start()
    value, gradient = problem.gradient(u)
    made.step(STEPS)
    turned = made.joint_coordinates[0]  # the joint of the scene has the coordinate 0 at the rest positions
    assert value == pytest.approx(0.5 * (turned + 0.4 - 0.1) ** 2, rel=1e-9)
    unit = np.eye(problem.size)[3]
    assert gradient[3] == pytest.approx(difference(lambda t: problem.value(u + t * unit), 0.0, 1e-2), rel=1e-7)
    with pytest.raises(diffsim.InputError, match="revolute"):
        diffsim.JointLoss(mesh, diffsim.Joint("ball", "spherical", "upper"), {1: 0.0})


def test_options_of_checks():
    scene, mesh = held_bar()
    problem = problem_of(diffsim.TargetVelocityLoss(mesh, "x_max", [0.1, -0.2, 0.3], 6), scene)
    (found,) = problem.check()
    (other,) = problem.check(seed=2)
    assert found["passed"] and other["passed"] and found["slope"] != other["slope"]
    (strict,) = problem.check(slope_tolerance=0.0, resolution=1e-30)
    assert not strict["passed"]
    (fast,) = problem.check(differences=False)
    assert fast["difference"] != found["difference"] and fast["dot_product_error"] == found["dot_product_error"]


def test_options_of_linear_systems():
    options = diffsim.ImplicitOptions()
    assert options.held_iterations == 4 and options.linear.fast_paths
    options.held_iterations, options.linear.fast_paths = 2, False
    solver = diffsim.DifferentiableSolver(integrator="implicit_euler", implicit=options)
    assert solver.implicit.held_iterations == 2 and not solver.implicit.linear.fast_paths


def test_sum_over_experiments():
    """Two bars of one material with different initial velocities."""
    unknowns = [diffsim.Unknown("youngs_modulus", group="all", logarithmic=True), diffsim.Unknown("gravity")]

    def experiment(speed):
        scene, mesh = held_bar()
        scene.set_initial_velocity([0.0, speed, 0.0])
        loss = diffsim.TargetPositionLoss(mesh, "x_max", [0.4, 0.2 * speed, 0.05], 6)
        return diffsim.InverseProblem(scene, 6, loss, unknowns)

    parts = [experiment(speed) for speed in (-1.0, 0.5)]
    both = experiment(-1.0)
    both.add(experiment(0.5))
    u, v = both.start(), np.array([0.3, 0.5, -0.2, 0.1])
    assert both.value(u) == pytest.approx(sum(part.value(u) for part in parts), rel=1e-13)
    assert both.losses == pytest.approx([part.value(u) for part in parts], rel=1e-13)
    assert np.allclose(both.gradient(u)[1], sum(part.gradient(u)[1] for part in parts), rtol=1e-12)
    product = sum(part.hessian_product(u, v) for part in parts)
    assert np.allclose(both.hessian_product(u, v), product, rtol=1e-11, atol=1e-12 * largest(product))
    with pytest.raises(diffsim.InputError, match="several experiments"):
        parts[0].add(both)
    scene, _ = held_bar()
    one, same = (problem_of(diffsim.EffortLoss(scene, "gravity", 6), scene) for _ in range(2))
    with pytest.raises(diffsim.InputError, match="already has the scene"):
        one.add(same)
    with pytest.raises(diffsim.InputError, match="same unknowns"):
        both.add(one)
