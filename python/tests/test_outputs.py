# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Values of sensors and losses as outputs of rollouts within JAX and PyTorch."""

import diffsim
import numpy as np
import pytest
from diffsim._rollout import Rollout
from scenes import difference, largest, simulator

NUM_STEPS = 8
OBSERVED = [0, 3, 8]
NAMES = ["youngs_modulus", "density", "gravity"]


def supported_bar(comm=None):
    """Return a simulator of a bar with one fixed end, whose other end is pressed on a floor, and a dict of outputs."""
    mesh = diffsim.TetrahedralMesh.box([0.2, 0.1, 0.1], [2, 1, 1], comm=comm)
    made = diffsim.DifferentiableSimulator(
        mesh, diffsim.DifferentiableMaterial(2e4, 0.3), diffsim.DifferentiableSolver(dt=2e-3, substeps=10, damping=1.0)
    )
    scene = made.scene
    scene.fix("x_min")
    scene.add_contact(
        diffsim.ContactOptions(
            barrier_distance=2e-3,
            barrier_stiffness=300.0,
            friction=0.2,
            friction_velocity=0.2,
            planes=[diffsim.PlaneObstacle([0.0, -1.5e-3, 0.0], label="floor")],
        )
    )
    rest = mesh.rest_positions[: mesh.num_owned_vertices]
    tip = scene.sensor("displacement", region="x_max")
    total = diffsim.SumLoss()
    total.add(diffsim.TargetVelocityLoss(mesh, "x_max", [0.1, -0.2, 0.0], NUM_STEPS), weight=3.0)
    total.add(diffsim.SensorLoss(scene.sensor("kinetic_energy"), {3: [0.5]}), weight=0.5)
    outputs = {
        "reaction": scene.sensor("reaction", region="x_min"),
        "fit": diffsim.SensorLoss(tip, {2: [0.01, 0.0, 0.0], 6: [0.0, 0.01, 0.02]}),
        "force": scene.sensor("contact_force", between=("body", "floor")),
        "strain": scene.sensor("strain"),
        "center": scene.sensor("center_of_mass"),
        "energy": scene.sensor("kinetic_energy"),
        "track": diffsim.TrackLoss(mesh, {5: rest + 0.01}),
        "total": total,
    }
    return made, outputs


def inputs_of(made):
    """Return values of the parameters NAMES, and initial positions and velocities, at which the bar touches the floor."""
    owned = made.velocities.shape[0]
    velocities = made.scene.rest_positions[:owned, :1] * np.array([0.2, -0.5, 0.1])  # sliding along the floor
    values = [made.parameters[name] for name in NAMES]
    return [*values, made.scene.rest_positions[:owned].copy(), velocities]


def changes_of(at):
    """Return changes of the inputs, which change strains by about 0.1, and the other inputs by about a tenth."""
    random = np.random.default_rng(4)
    sizes = [0.1 * largest(value) for value in at[:3]] + [1e-4, 0.02]
    return [size * random.normal(size=value.shape) for size, value in zip(sizes, at)]


def flat(arrays):
    return np.concatenate([np.ravel(array) for array in arrays])


def rollout_of(made, outputs, **options):
    return Rollout(made, NUM_STEPS, NAMES, True, [NUM_STEPS], 3, outputs, OBSERVED, **options)


def test_values_are_those_of_sensors_and_losses():
    made, outputs = supported_bar()
    rollout = rollout_of(made, outputs)
    at = inputs_of(made)
    positions, velocities, found = rollout.arrange(rollout.run(*at))
    trajectory = made.rollout(NUM_STEPS)
    assert np.array_equal(positions[0], trajectory.positions(NUM_STEPS))
    assert list(found) == list(outputs)
    for name, value in outputs.items():
        if isinstance(value, diffsim.Sensor):
            assert np.array_equal(found[name], trajectory.measure(value)[OBSERVED]) and largest(found[name]) > 0.0
        else:
            assert found[name].shape == () and found[name] == made.compute_loss(value) and found[name] > 0.0
    assert found["force"][0, 1] > 0.0  # the tip touches the floor from the beginning
    # Without steps, outputs have no axis of steps.
    last = Rollout(made, NUM_STEPS, NAMES, observe=outputs)
    end, _, of_last = last.arrange(last.run(*at[:3]))
    assert end.shape == made.velocities.shape and of_last["strain"].shape == (6,)
    # With steps=[], states are not outputs.
    none = Rollout(made, NUM_STEPS, NAMES, steps=[], observe=outputs, observe_steps=[2])
    no_states, _, of_two = none.arrange(none.run(*at[:3]))
    assert no_states.shape == (0, *made.velocities.shape) and of_two["strain"].shape == (1, 6)


def test_derivatives_agree_with_differences():
    made, outputs = supported_bar()
    rollout = rollout_of(made, outputs)
    at = inputs_of(made)
    along = changes_of(at)
    values = rollout.run(*at)
    random = np.random.default_rng(5)
    weights = [random.normal(size=value.shape) / max(largest(value), 1e-3) for value in values]

    def moved(a):
        return [x + a * d for x, d in zip(at, along)]

    tangents = rollout.push_forward(at, along)
    for k, tangent in enumerate(tangents):
        expected = difference(lambda a: rollout.run(*moved(a))[k], 0.0, 3e-4)
        assert largest(tangent - expected) <= 1e-6 * largest(expected), k
    gradients = rollout.pull_back(at, *weights)
    left, right = flat(tangents) * flat(weights), flat(gradients) * flat(along)
    assert abs(left.sum() - right.sum()) <= 1e-11 * max(np.abs(left).sum(), np.abs(right).sum())
    # The derivative with respect to a single output: weights of the others are zero.
    for k in range(2, len(values)):
        single = [w if i == k else np.zeros(w.shape) for i, w in enumerate(weights)]
        slope = flat(rollout.pull_back(at, *single)) @ flat(along)
        assert slope == pytest.approx((weights[k] * tangents[k]).sum(), rel=1e-9, abs=1e-9), k
    products = rollout.pull_back_tangent(at, along, *weights)
    for k, product in enumerate(products):
        expected = difference(lambda a: rollout.pull_back(moved(a), *weights)[k], 0.0, 3e-4)
        assert largest(product - expected) <= 1e-5 * largest(expected), k
    # Neither losses nor derivatives depend on earlier derivatives.
    assert all(np.array_equal(a, b) for a, b in zip(rollout.run(*at), values))
    assert all(np.array_equal(a, b) for a, b in zip(rollout.pull_back(at, *weights), gradients))


def test_a_function_of_states_is_an_output():
    from scenes import loss

    made, _ = simulator()
    rollout = Rollout(made, 6, ["gravity"], observe={"loss": loss}, steps=[])
    g = np.array([0.0, -9.8, 1.0])
    value = rollout.run(g)[2]
    (gradient,) = rollout.pull_back([g], *(np.zeros((0, *made.velocities.shape)),) * 2, np.array(2.5))
    made.rollout(6)
    assert value == pytest.approx(made.backward(loss), rel=1e-14)
    assert np.allclose(gradient, 2.5 * made.gradient("gravity"), rtol=1e-13, atol=0.0)
    with pytest.raises(diffsim.Error, match="no second derivatives"):
        rollout.pull_back_tangent([g], [g], *(np.zeros((0, *made.velocities.shape)),) * 2, np.array(2.5))


def scaled_function(rollout, scales, exp, join, compiled=lambda function: function):
    """Return a function of logarithms of the modulus and the density, and of gravity, with results of the order 1."""
    factors = np.concatenate([np.full(size, 1.0 / scale) for size, scale in scales])

    @compiled
    def of_outputs(found):
        values = join([found[name].ravel() for name in sorted(found)]) * join([factors])
        return (values * values[::2].sum()) @ join([np.cos(np.arange(len(factors)))])

    def function(log_modulus, log_density, gravity):
        _, _, found = rollout({"youngs_modulus": exp(log_modulus), "density": exp(log_density), "gravity": gravity})
        return of_outputs(found)

    return function


def scales_of(made, outputs, steps):
    """Return the number of values and the largest value of each output at the given steps, sorted by name."""
    rollout = Rollout(made, NUM_STEPS, NAMES, observe=outputs, observe_steps=steps)
    found = rollout.arrange(rollout.run(*inputs_of(made)[:3]))[2]
    return [(found[name].size, largest(found[name])) for name in sorted(found)]


AT = (np.log(2e4), np.log(1000.0), np.array([0.5, -9.8, 1.0]))


def test_jax():
    jax = pytest.importorskip("jax")
    test_util = pytest.importorskip("jax.test_util")
    import diffsim.jax

    jax.config.update("jax_enable_x64", True)
    made, outputs = supported_bar()
    rollout = diffsim.jax.rollout(made, NUM_STEPS, NAMES, steps=[], observe=outputs, observe_steps=OBSERVED)
    join = jax.numpy.concatenate
    function = scaled_function(rollout, scales_of(made, outputs, OBSERVED), jax.numpy.exp, join, jax.jit)
    arguments = tuple(jax.numpy.asarray(a) for a in AT)
    test_util.check_grads(function, arguments, order=1, modes=["fwd", "rev"], eps=1e-5, rtol=1e-6, atol=1e-6)
    gradient = jax.grad(function, (0, 1, 2))
    along = (0.3, -0.2, jax.numpy.array([0.5, 1.0, -0.4]))
    along = tuple(jax.numpy.asarray(a) for a in along)
    product = flat(jax.jvp(gradient, arguments, along)[1])  # forward over reverse
    other = flat(jax.grad(lambda *at: jax.jvp(function, at, along)[1], (0, 1, 2))(*arguments))
    assert largest(product - other) <= 1e-9 * largest(product)
    expected = difference(lambda a: flat(gradient(*(x + a * d for x, d in zip(arguments, along)))), 0.0, 1e-3)
    assert largest(product - expected) <= 1e-6 * largest(product)
    compiled = flat(jax.jit(gradient)(*arguments))
    assert largest(compiled - flat(gradient(*arguments))) <= 1e-12 * largest(compiled)


def test_torch():
    torch = pytest.importorskip("torch")
    import diffsim.torch

    made, outputs = supported_bar()
    rollout = diffsim.torch.rollout(made, NUM_STEPS, NAMES, observe=outputs)

    def join(arrays):
        return torch.cat([torch.as_tensor(array) for array in arrays])

    function = scaled_function(rollout, scales_of(made, outputs, [NUM_STEPS]), torch.exp, join)
    arguments = [torch.tensor(a, dtype=torch.float64).requires_grad_() for a in AT]
    assert torch.autograd.gradcheck(function, arguments, eps=1e-5, atol=1e-6, rtol=1e-6, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, arguments, eps=1e-4, atol=1e-5, rtol=1e-5, check_fwd_over_rev=True)


def test_wrong_outputs_are_refused():
    made, outputs = supported_bar()
    other, others = supported_bar()
    for options, message in (
        ({"observe": outputs["force"]}, "must be a dict"),
        ({"observe": {"force": 3.0}}, r"observe\['force'\] must be a Sensor or a loss"),
        ({"observe": outputs, "observe_steps": [NUM_STEPS + 1]}, "observe_steps must be between 0 and 8"),
        ({"observe_steps": [1]}, "needs observe"),
        ({"observe": {"force": others["force"]}}, "another scene"),
        ({"observe": {"total": others["total"]}}, "another"),
    ):
        with pytest.raises(diffsim.InputError, match=message):
            Rollout(made, NUM_STEPS, NAMES, **options)
    rollout = rollout_of(made, {"fit": outputs["fit"]})
    at = inputs_of(made)
    zeros = [np.zeros(shape) for shape in rollout.output_shapes]
    rollout.run(*at)
    with pytest.raises(diffsim.RunError, match="derivative with respect to a loss .* is nan"):
        rollout.pull_back(at, *zeros[:2], np.array(np.nan))
    with pytest.raises(diffsim.InputError, match="the weight of output 2"):
        rollout.pull_back(at, *zeros[:2], np.zeros(2))
    with pytest.raises(diffsim.InputError, match="3 outputs, but 2 arrays"):
        rollout.pull_back(at, *zeros[:2])
