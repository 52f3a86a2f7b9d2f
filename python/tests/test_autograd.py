# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Rollouts and losses within JAX and PyTorch."""

import numpy as np
import pytest
from scenes import difference, largest, simulator

STEPS = [5, 12]


def inputs(made):
    shape = made.velocities.shape
    weights = np.random.default_rng(1).normal(size=(len(STEPS), *shape))
    return np.log(5e3), np.array([0.0, -9.8, 1.0]), made.positions, np.zeros(shape), weights


def test_jax():
    jax = pytest.importorskip("jax")
    test_util = pytest.importorskip("jax.test_util")
    import diffsim.jax

    jax.config.update("jax_enable_x64", True)
    made, _ = simulator()
    names = ["youngs_modulus", "gravity"]
    rollout = diffsim.jax.rollout(made, 12, names, initial=True, steps=STEPS, checkpoint_every=4)
    *arguments, weights = inputs(made)

    def loss(log_modulus, gravity, x, v):
        x, v = rollout({"youngs_modulus": jax.numpy.exp(log_modulus), "gravity": gravity}, x, v)
        return 10.0 * (weights * x).sum() + (v**2).sum()

    # The step eps of the finite differences is small, because the cells are small: random changes of the positions cause
    # large strains.
    test_util.check_grads(loss, arguments, order=1, modes=["rev"], eps=1e-7, rtol=1e-8, atol=1e-8)
    slope = float(jax.grad(loss)(*arguments))
    assert slope == pytest.approx(difference(lambda a: float(loss(a, *arguments[1:])), arguments[0], 2e-3), rel=1e-8)
    assert float(jax.jit(jax.grad(loss))(*arguments)) == pytest.approx(float(slope), rel=1e-14)

    # The loss contains two rollouts of one simulator, which stores only the last rollout. The pullback of the first
    # rollout therefore repeats this rollout.
    last = diffsim.jax.rollout(made, 12, ["gravity"])

    def both(g):
        return (last({"gravity": g})[0] ** 2).sum() - (last({"gravity": 2.0 * g})[0] ** 3).sum()

    test_util.check_grads(both, (arguments[1],), order=1, modes=["rev"], eps=1e-4, rtol=1e-6, atol=1e-8)


def test_jax_without_double_precision():
    jax = pytest.importorskip("jax")
    import diffsim.jax

    made, _ = simulator()
    jax.config.update("jax_enable_x64", False)
    try:
        rollout = diffsim.jax.rollout(made, 4, "gravity")
        gradient = jax.grad(lambda g: rollout({"gravity": g})[0].sum())(jax.numpy.array([0.0, -9.8, 0.0]))
        assert gradient.dtype == np.float32 and gradient[1] > 0.0
    finally:
        jax.config.update("jax_enable_x64", True)


def test_torch():
    torch = pytest.importorskip("torch")
    import diffsim.torch

    made, _ = simulator()
    names = ["youngs_modulus", "gravity"]
    rollout = diffsim.torch.rollout(made, 12, names, initial=True, steps=STEPS, checkpoint_every=4)
    *arguments, weights = inputs(made)
    weights = torch.from_numpy(weights)
    arguments = [torch.tensor(a, dtype=torch.float64).requires_grad_() for a in arguments]

    def loss(log_modulus, gravity, x, v):
        x, v = rollout({"youngs_modulus": torch.exp(log_modulus), "gravity": gravity}, x, v)
        return 10.0 * (weights * x).sum() + (v**2).sum()

    assert torch.autograd.gradcheck(loss, arguments, eps=1e-6, atol=1e-6)
    slope = torch.autograd.grad(loss(*arguments), arguments[0])[0].item()

    def at(a):
        with torch.no_grad():
            return loss(torch.tensor(a, dtype=torch.float64), *arguments[1:]).item()

    assert slope == pytest.approx(difference(at, arguments[0].item(), 2e-3), rel=1e-8)


@pytest.mark.parametrize("framework", ["jax", "torch"])
def test_losses_of_a_framework(framework):
    library = pytest.importorskip(framework)
    if framework == "jax":
        import diffsim.jax as module

        library.config.update("jax_enable_x64", True)
    else:
        import diffsim.torch as module
    made, _ = simulator()

    def function(n, positions, velocities):
        return (n * positions**2).sum() + (velocities**2).sum() if n > 2 else None

    def in_numpy(n, state):
        x, v = state.positions, state.velocities
        return ((n * x**2).sum() + (v**2).sum(), {"positions": 2 * n * x, "velocities": 2 * v}) if n > 2 else None

    results = []
    for each in (module.loss(function), in_numpy):
        made.rollout(6, 2)
        results.append((made.backward(each), made.gradient("youngs_modulus")))
    assert results[0][0] == pytest.approx(results[1][0], rel=1e-14)
    assert largest(results[0][1] - results[1][1]) <= 1e-13 * largest(results[1][1])


def test_wrong_inputs_are_refused():
    import diffsim
    from diffsim._rollout import Rollout

    made, _ = simulator()
    with pytest.raises(KeyError):
        Rollout(made, 3, ["youngs_moduls"])
    with pytest.raises(diffsim.InputError, match="between 0 and 3"):
        Rollout(made, 3, ["gravity"], steps=[4])
    with pytest.raises(diffsim.InputError, match="initial=True"):
        Rollout(made, 3, ["gravity"]).flatten({"gravity": 1.0}, 1.0, 1.0)
    with pytest.raises(diffsim.InputError, match="parameters are"):
        Rollout(made, 3, ["gravity"]).flatten({"density": 1.0}, None, None)
