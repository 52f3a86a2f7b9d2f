# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Rollouts and losses within JAX and PyTorch."""

import numpy as np
import pytest
from scenes import HELD, difference, held_bar, largest, simulator

STEPS = [5, 12]


def inputs(made):
    shape = made.velocities.shape
    weights = np.random.default_rng(1).normal(size=(len(STEPS), *shape))
    return np.log(5e3), np.array([0.0, -9.8, 1.0]), made.positions, np.zeros(shape), weights


def directions(made):
    """Return changes of the arguments of a loss, which change strains and logarithms of moduli by less than one."""
    random = np.random.default_rng(2)
    shape = made.velocities.shape
    return [np.array(0.3), np.array([0.5, 1.0, -0.4]), *(a * random.normal(size=shape) for a in (1e-3, 0.1))]


def make_loss(rollout, exp, weights):
    """Return a loss of the logarithm of Young's modulus, of gravity and of the initial state."""

    def loss(log_modulus, gravity, x, v):
        x, v = rollout({"youngs_modulus": exp(log_modulus), "gravity": gravity}, x, v)
        return 10.0 * (weights * x).sum() + (v**2).sum()

    return loss


def expect_near(found, expected, tolerance):
    """Check that the entries of each array agree to `tolerance` times the largest entry of the array."""
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        assert np.shape(a) == np.shape(b)
        assert largest(np.asarray(a) - np.asarray(b)) <= tolerance * largest(np.asarray(b))


def expect_adjoint(outputs, weights, gradients, changes):
    """Check that ⟨J v, w⟩ = ⟨v, Jᵀ w⟩ up to rounding errors."""
    left = [np.asarray(a) * np.asarray(b) for a, b in zip(outputs, weights)]
    right = [np.asarray(a) * np.asarray(b) for a, b in zip(gradients, changes)]
    scale = max(sum(np.abs(terms).sum() for terms in side) for side in (left, right))
    assert abs(sum(terms.sum() for terms in left) - sum(terms.sum() for terms in right)) <= 1e-11 * scale


def test_derivatives_of_a_rollout():
    from diffsim._rollout import Rollout

    made, _ = simulator()
    rollout = Rollout(made, 12, ["youngs_modulus", "gravity"], True, STEPS, 4)
    at = [np.full(rollout.shapes[0], 5e3), *inputs(made)[1:4]]
    random = np.random.default_rng(3)
    along = [500.0 * random.normal(size=rollout.shapes[0]), *directions(made)[1:]]
    weights = [a * random.normal(size=shape) for a, shape in zip((1.0, 0.01), rollout.output_shapes)]

    def moved(a):
        return [x + a * d for x, d in zip(at, along)]

    # The changes are small, so the fourth-order error of the differences is far below the tolerances.
    tangents = rollout.push_forward(at, along)
    expect_near(tangents, difference(lambda a: np.array(rollout.run(*moved(a))), 0.0, 0.005), 1e-6)
    gradients = rollout.pull_back(at, *weights)
    expect_adjoint(tangents, weights, gradients, along)
    products = rollout.pull_back_tangent(at, along, *weights)
    for k, product in enumerate(products):
        expected = difference(lambda a: rollout.pull_back(moved(a), *weights)[k], 0.0, 0.005)
        expect_near([product], [expected], 1e-6)
    # The pullback after another derivative repeats the rollout.
    rollout.run(*at)
    rollout.push_forward(at, along)
    expect_near(rollout.pull_back(at, *weights), gradients, 0.0)


def test_jax():
    jax = pytest.importorskip("jax")
    test_util = pytest.importorskip("jax.test_util")
    import diffsim.jax

    jax.config.update("jax_enable_x64", True)
    made, _ = simulator()
    names = ["youngs_modulus", "gravity"]
    rollout = diffsim.jax.rollout(made, 12, names, initial=True, steps=STEPS, checkpoint_every=4)
    *arguments, weights = inputs(made)
    loss = make_loss(rollout, jax.numpy.exp, weights)

    # The step eps of the finite differences is small, because the cells are small: random changes of the positions cause
    # large strains.
    test_util.check_grads(loss, arguments, order=1, modes=["fwd", "rev"], eps=1e-7, rtol=1e-8, atol=1e-8)
    slope = float(jax.grad(loss)(*arguments))
    assert slope == pytest.approx(difference(lambda a: float(loss(a, *arguments[1:])), arguments[0], 2e-3), rel=1e-8)
    assert float(jax.jit(jax.grad(loss))(*arguments)) == pytest.approx(float(slope), rel=1e-14)

    # The loss contains two rollouts of one simulator, which stores only the last rollout. The pullback of the first
    # rollout therefore repeats this rollout.
    last = diffsim.jax.rollout(made, 12, ["gravity"])

    def both(g):
        return (last({"gravity": g})[0] ** 2).sum() - (last({"gravity": 2.0 * g})[0] ** 3).sum()

    test_util.check_grads(both, (arguments[1],), order=1, modes=["fwd", "rev"], eps=1e-4, rtol=1e-6, atol=1e-8)


def test_second_derivatives_of_jax():
    jax = pytest.importorskip("jax")
    import diffsim.jax

    jax.config.update("jax_enable_x64", True)
    made, _ = simulator()
    names = ["youngs_modulus", "gravity"]
    rollout = diffsim.jax.rollout(made, 12, names, initial=True, steps=STEPS, checkpoint_every=4)
    *arguments, weights = inputs(made)
    arguments = tuple(jax.numpy.asarray(a) for a in arguments)
    along = tuple(jax.numpy.asarray(a) for a in directions(made))
    loss = make_loss(rollout, jax.numpy.exp, weights)
    gradient = jax.grad(loss, (0, 1, 2, 3))

    def slope(*at):
        return jax.jvp(loss, at, along)[1]

    def slope_of_gradient(*at):
        return sum((g * d).sum() for g, d in zip(gradient(*at), along))

    def product(*at):
        return jax.jvp(gradient, at, along)[1]

    products = product(*arguments)  # forward over reverse
    for other in (slope, slope_of_gradient):  # reverse over forward, reverse over reverse
        expect_near(jax.grad(other, (0, 1, 2, 3))(*arguments), products, 1e-9)
    for k, found in enumerate(products):
        expected = difference(lambda a: gradient(*(x + a * d for x, d in zip(arguments, along)))[k], 0.0, 0.005)
        expect_near([found], [expected], 1e-6)

    def states(log_modulus, gravity, x, v):
        return rollout({"youngs_modulus": jax.numpy.exp(log_modulus), "gravity": gravity}, x, v)

    outputs, pull_back = jax.vjp(states, *arguments)
    w = tuple(jax.numpy.asarray(weights) * a for a in (1.0, 0.01))
    expect_adjoint(jax.jvp(states, arguments, along)[1], w, pull_back(w), along)


def test_hessians_and_batches_of_jax():
    jax = pytest.importorskip("jax")
    test_util = pytest.importorskip("jax.test_util")
    import diffsim.jax

    jax.config.update("jax_enable_x64", True)
    made, _ = simulator()
    rest = made.positions
    last = diffsim.jax.rollout(made, 12, "gravity")
    g, d = jax.numpy.array([0.0, -9.8, 1.0]), jax.numpy.array([0.5, 1.0, -0.4])

    def loss(gravity):
        return ((100.0 * (last({"gravity": gravity})[0] - rest)) ** 2).sum()

    def slope(gravity):
        return jax.jvp(loss, (gravity,), (d,))[1]

    # The loss is nearly a quadratic function of gravity, and its derivatives are of the order 1 … 100.
    tolerances = {"eps": 1e-4, "rtol": 1e-6, "atol": 1e-6}
    test_util.check_grads(loss, (g,), order=2, modes=["rev"], **tolerances)
    test_util.check_grads(jax.grad(loss), (g,), order=1, modes=["fwd"], **tolerances)
    test_util.check_grads(slope, (g,), order=1, modes=["rev"], **tolerances)
    hessian = jax.hessian(loss)(g)
    expect_near([hessian.T], [hessian], 1e-10)
    for other in (jax.jacrev(jax.jacrev(loss)), jax.jacrev(jax.jacfwd(loss))):
        expect_near([other(g)], [hessian], 1e-10)
    with pytest.raises(diffsim.InputError, match="forward-over-forward"):
        jax.jvp(slope, (g,), (d,))
    with pytest.raises(diffsim.InputError, match="third derivatives"):
        jax.jacrev(jax.hessian(loss))(g)

    several = jax.numpy.stack([g, 2.0 * g])
    for function in (loss, jax.grad(loss), slope):
        expect_near([jax.vmap(function)(several)], [jax.numpy.stack([function(each) for each in several])], 1e-12)
    expect_near([jax.grad(lambda every: jax.vmap(loss)(every).sum())(several)], [jax.vmap(jax.grad(loss))(several)], 1e-12)


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
    arguments = [torch.tensor(a, dtype=torch.float64).requires_grad_() for a in arguments]
    loss = make_loss(rollout, torch.exp, torch.from_numpy(weights))

    assert torch.autograd.gradcheck(loss, arguments, eps=1e-6, atol=1e-6, check_forward_ad=True)
    slope = torch.autograd.grad(loss(*arguments), arguments[0])[0].item()

    def at(a):
        with torch.no_grad():
            return loss(torch.tensor(a, dtype=torch.float64), *arguments[1:]).item()

    assert slope == pytest.approx(difference(at, arguments[0].item(), 2e-3), rel=1e-8)

    # Reverse over reverse, and forward over reverse.
    last = diffsim.torch.rollout(made, 12, names)

    def states(log_modulus, gravity):
        x, v = last({"youngs_modulus": torch.exp(log_modulus), "gravity": gravity})
        return 10.0 * x, v

    assert torch.autograd.gradgradcheck(states, arguments[:2], eps=1e-4, atol=1e-6, check_fwd_over_rev=True)
    found = torch.autograd.functional.vhp(loss, tuple(arguments), tuple(torch.from_numpy(d) for d in directions(made)))[1]
    for k, product in enumerate(found):

        def gradient(a):
            moved = [(x + a * torch.from_numpy(d)).detach() for x, d in zip(arguments, directions(made))]
            moved = [x.requires_grad_() for x in moved]
            return torch.autograd.grad(loss(*moved), moved)[k].numpy()

        expect_near([product.numpy()], [difference(gradient, 0.0, 0.005)], 1e-6)


def test_torch_with_functions_of_torch_in_the_scene():
    """Forward mode of a rollout, during which functions of PyTorch are differentiated."""
    torch = pytest.importorskip("torch")
    import diffsim.torch

    scene, mesh = held_bar()
    rest = torch.tensor(mesh.rest_positions[: mesh.num_owned_vertices])

    def push(n, x, v, p):
        return {"nodal_load": -p["hold_stiffness"] * (x - rest) - p["hold_damping"] * v * (v**2).sum()}

    def energy(x, p):
        return p["hold_stiffness"] * ((x[1] - x[0]) ** 4).sum()

    scene.add_link(diffsim.torch.link(push, ["nodal_load"], HELD))
    scene.add_force_term(diffsim.torch.energy_term(energy, mesh.global_vertices[mesh.cells[:, :2]], HELD))
    scene.add_traction("x_max", [0.0, 0.0, 0.0])
    policy = diffsim.torch.policy(lambda y, theta: theta * torch.sin(10.0 * y), 3, 3, [50.0, 20.0, 30.0])
    scene.add_feedback("hand", [scene.sensor("displacement", region="x_max")], ["traction:x_max"], policy)
    rollout = diffsim.torch.rollout(diffsim.DifferentiableSimulator(scene), 6, [HELD[0], "policy:hand"])

    def loss(stiffness, weights):
        x, v = rollout({HELD[0]: stiffness, "policy:hand": weights})
        return 1e3 * ((x - rest) ** 2).sum() + (v**2).sum()

    at = [torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in (20.0, [50.0, 20.0, 30.0])]
    assert torch.autograd.gradcheck(loss, at, eps=1e-3, atol=1e-8, rtol=1e-6, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(loss, at, eps=1e-3, atol=1e-8, rtol=1e-5, check_fwd_over_rev=True)


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
