# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Feedbacks whose policies are networks of the library and functions of numpy, JAX and PyTorch."""

import diffsim
import numpy as np
import pytest
from scenes import difference, expect_same, largest

STEPS = 6
TARGET = [0.43, 0.06, 0.05]


def scene_with(policy, weights=None):
    """Return a bar whose end is pulled by a traction that `policy` computes, and a loss of the end's position."""
    mesh = diffsim.TetrahedralMesh.box([0.4, 0.1, 0.1], [4, 1, 1])
    scene = diffsim.DifferentiableScene(
        mesh,
        diffsim.DifferentiableMaterial("neo_hookean", {"density": 1000.0, "youngs_modulus": 2e4, "poisson_ratio": 0.3}),
        diffsim.DifferentiableSolver(dt=0.01, substeps=4, damping=1.0),
    )
    scene.fix("x_min")
    scene.add_traction("x_max", [0.0, 0.0, 0.0])
    sensors = [scene.sensor("displacement", region="x_max"), scene.sensor("velocity", region="x_max")]
    scene.add_feedback("hand", sensors, ["traction:x_max"], policy, scales=[0.1] * 3 + [1.0] * 3, frequencies=[3.0])
    if weights is not None:
        scene.parameters["policy:hand"] = weights
    return scene, mesh


def problem_with(policy, weights=None):
    """Return the inverse problem of the weights and of the gravity."""
    scene, mesh = scene_with(policy, weights)
    loss = diffsim.TargetPositionLoss(mesh, "x_max", TARGET, STEPS)
    return diffsim.InverseProblem(scene, STEPS, loss, [diffsim.Unknown("policy:hand"), diffsim.Unknown("gravity")])


def wave(count):
    return np.cos(1.7 * np.arange(count) + 0.3)


def network(xp, y, theta):
    """Return the outputs of a network with one hidden layer of 4 neurons, as `diffsim.perceptron(8, 3, [4])`."""
    hidden = xp.tanh(theta[:32].reshape(4, 8) @ y + theta[32:36])
    return 300.0 * xp.tanh((theta[36:48].reshape(3, 4) @ hidden + theta[48:]) / 300.0)


def test_perceptron():
    policy = diffsim.perceptron(8, 3, hidden=[4], limits=[300.0] * 3)
    assert policy.num_weights == 51
    theta = wave(51)
    theta[36:] *= 100.0
    y = wave(8)
    assert policy.evaluate(y, theta) == pytest.approx(network(np, y, theta), rel=1e-13)
    made = problem_with(policy, theta)
    u = made.start()
    assert u == pytest.approx([*theta, 0.0, -9.8, 0.0])
    v = wave(made.size)
    v[36:51] *= 100.0
    loss, gradient = made.gradient(u)
    assert loss == pytest.approx(made.value(u), rel=1e-14)
    assert gradient @ v == pytest.approx(difference(lambda t: made.value(u + t * v), 0.0, 1e-3), rel=1e-8)
    assert largest(gradient[:51]) > 0.0
    result = made.minimise("lbfgs", max_iterations=8)
    assert result["loss"] < 0.5 * loss


def test_numpy_policy():
    def pullback(y, theta, w):
        matrix = theta[:24].reshape(3, 8)
        return matrix.T @ w, np.concatenate([np.outer(w, y).ravel(), w])

    def tangent(y, theta, dy, dtheta):
        return theta[:24].reshape(3, 8) @ dy + dtheta[:24].reshape(3, 8) @ y + dtheta[24:]

    def pullback_tangent(y, theta, dy, dtheta, w, dw):
        by_y = theta[:24].reshape(3, 8).T @ dw + dtheta[:24].reshape(3, 8).T @ w
        return by_y, np.concatenate([(np.outer(dw, y) + np.outer(w, dy)).ravel(), dw])

    policy = diffsim.Policy(
        8,
        3,
        30.0 * wave(27),
        evaluate=lambda y, theta: theta[:24].reshape(3, 8) @ y + theta[24:],
        pullback=pullback,
        tangent=tangent,
        pullback_tangent=pullback_tangent,
    )
    assert policy.num_weights == 27
    expect_same(problem_with(policy), problem_with(diffsim.perceptron(8, 3), 30.0 * wave(27)), 0.1 * wave(30), 1e-12)


def weights_of_network():
    theta = wave(51)
    theta[36:] *= 100.0
    return theta


def test_jax_policy():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    import diffsim.jax

    theta = weights_of_network()
    policy = diffsim.jax.policy(lambda y, weights: network(jax.numpy, y, weights["all"]), 8, {"all": theta})
    expect_same(problem_with(policy), problem_with(diffsim.perceptron(8, 3, [4], [300.0] * 3), theta), 0.1 * wave(54), 1e-11)
    # Weights that are integers do not round the inputs.
    gain = diffsim.jax.policy(lambda y, weight: weight * y, 1, 2)
    assert np.asarray(gain.evaluate(np.array([0.25]), np.array([1.5]))) == pytest.approx([0.375])
    # Weights in float32, with outputs in float64.
    single = jax.numpy.ones(1, dtype="float32")
    made = problem_with(diffsim.jax.policy(lambda y, weight: wave(3) * (weight * y[:3]), 8, single))
    assert made.gradient(made.start())[1][0] != 0.0


def test_torch_policy():
    torch = pytest.importorskip("torch")
    import diffsim.torch

    theta = weights_of_network()
    policy = diffsim.torch.policy(lambda y, weights: network(torch, y, weights), 8, 3, theta)
    expect_same(problem_with(policy), problem_with(diffsim.perceptron(8, 3, [4], [300.0] * 3), theta), 0.1 * wave(54), 1e-11)


def test_errors():
    with pytest.raises(diffsim.InputError, match="8 inputs, but its policy has 7"):
        scene_with(diffsim.perceptron(7, 3))
    with pytest.raises(diffsim.InputError, match="limits"):
        diffsim.perceptron(8, 3, limits=[1.0])

    class Mistake(Exception):
        pass

    def fail(y, theta):
        raise Mistake("in a policy")

    first_only = {"evaluate": lambda y, theta: theta, "pullback": lambda y, theta, w: (np.zeros(8), w)}
    with pytest.raises(Mistake, match="in a policy"):
        problem_with(diffsim.Policy(8, 3, np.ones(3), evaluate=fail, pullback=fail)).value(np.zeros(6))
    with pytest.raises(diffsim.InputError, match="has 2 values, not 3"):
        problem_with(diffsim.Policy(8, 3, np.ones(2), **first_only)).value(np.zeros(5))
    made = problem_with(diffsim.Policy(8, 3, np.ones(3), **first_only))
    made.gradient(made.start())
    with pytest.raises(diffsim.InputError, match="no function `tangent`"):
        made.hessian_product(made.start(), np.ones(6))
