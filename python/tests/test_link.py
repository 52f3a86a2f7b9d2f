# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Links whose functions are functions of numpy, JAX and PyTorch: forces on all vertices, and values for the whole model."""

import diffsim
import numpy as np
import pytest
from scenes import HELD, difference, expect_same, held_bar, hold_link, largest

STEPS = 6
TARGET = [0.43, 0.06, 0.05]
DIRECTION = np.array([5.0, 0.1, 0.3, -0.2, 0.1])  # change of the unknowns


def problem_of(scene, mesh, names):
    loss = diffsim.TargetPositionLoss(mesh, "x_max", TARGET, STEPS)
    return diffsim.InverseProblem(scene, STEPS, loss, [diffsim.Unknown(name) for name in names])


def problem_with(make_link):
    """Return the inverse problem of the stiffness and the damping of `hold_link`, and of the gravity."""
    scene, mesh = held_bar()
    scene.add_link(make_link(mesh))
    return problem_of(scene, mesh, [*HELD, "gravity"])


def expect_derivatives(problem, v, steps):
    """Compare the gradient and a product with the Hessian with differences. `steps`: steps of the unknowns."""
    u = problem.start()
    value, gradient = problem.gradient(u)
    assert value == pytest.approx(problem.value(u), rel=1e-14)
    for unit, h, slope in zip(np.eye(problem.size), steps, gradient):
        expected = difference(lambda t: problem.value(u + t * unit), 0.0, h)
        assert slope == pytest.approx(expected, rel=1e-7, abs=1e-9 * largest(gradient))
    expected = difference(lambda t: problem.gradient(u + t * v)[1], 0.0, 1e-2)
    product = problem.hessian_product(u, v)
    assert np.allclose(product, expected, rtol=1e-6, atol=1e-9 * largest(expected))


def hold(rest):
    """Return the function of `hold_link` for the libraries whose arrays have operators. `rest`: rest positions."""
    return lambda n, x, v, p: {"nodal_load": -p["hold_stiffness"] * (x - rest) - p["hold_damping"] * v}


def owned_rest(mesh):
    return mesh.rest_positions[: mesh.num_owned_vertices]


def test_derivatives_agree_with_differences():
    problem = problem_with(hold_link)
    assert problem.start() == pytest.approx([20.0, 0.5, 0.0, -9.8, 0.0])
    expect_derivatives(problem, np.array([5.0, 0.1, 0.3, -0.2, 0.1]), [1.0, 0.01, 0.1, 0.1, 0.1])


def test_a_simulator_has_the_same_forces_and_tangents():
    scene, mesh = held_bar()
    scene.add_link(hold_link(mesh))
    simulator = diffsim.DifferentiableSimulator(scene)
    simulator.step(STEPS)
    stepped = simulator.positions
    free = diffsim.DifferentiableSimulator(held_bar()[0])
    free.step(STEPS)
    assert largest(free.positions - stepped) > 1e-4  # the link has an effect

    def end(stiffness):
        simulator.parameters["hold_stiffness"] = stiffness
        return simulator.rollout(STEPS).positions(STEPS)

    assert largest(end(20.0) - stepped) <= 1e-14
    expected = difference(end, 20.0, 1.0)
    simulator.parameters["hold_stiffness"] = 20.0
    tangents = []
    simulator.rollout_tangent(STEPS, {"hold_stiffness": 1.0}, lambda n, x, dx: tangents.append(dx.positions))
    assert np.allclose(tangents[-1], expected, rtol=0.0, atol=1e-7 * largest(expected))


def test_functions_receive_the_step_and_its_time():
    seen = []

    def evaluate(n, state, p):
        seen.append((n, state.time, sorted(p)))
        return {"nodal_load": 0.0, "gravity": [0.0, -9.8, 0.0]}

    link = diffsim.Link(["nodal_load", "gravity"], evaluate, lambda n, state, p, w: ({}, {}), parameters=["hold_damping"])
    assert link.controls == ["nodal_load", "gravity"] and link.parameters == ["hold_damping"]
    scene, _ = held_bar()
    scene.add_link(link)
    simulator = diffsim.Simulator(scene)
    simulator.step(3)
    assert [n for n, _, _ in seen] == [0, 1, 2]
    assert [time for _, time, _ in seen] == pytest.approx([0.0, 0.01, 0.02])
    assert seen[0][2] == ["hold_damping"]
    free = diffsim.Simulator(held_bar()[0])  # the link gives the default gravity and no loads
    free.step(3)
    assert largest(simulator.positions - free.positions) <= 1e-14


def jax_with_doubles():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    import diffsim.jax

    return jax


def test_jax_link():
    jax_with_doubles()
    calls = []

    def make(mesh):
        function = hold(owned_rest(mesh))

        def counted(*arguments):
            calls.append(1)
            return function(*arguments)

        return diffsim.jax.link(counted, ["nodal_load"], HELD)

    made = problem_with(make)
    made.gradient(made.start())
    assert len(calls) < STEPS  # each function is compiled once
    expect_same(made, problem_with(hold_link), DIRECTION, 1e-11)


def test_jax_link_of_the_whole_model():
    """Values for the whole model, values that are broadcast to the vertices, and a dependence on the step."""
    jax = jax_with_doubles()

    def function(n, x, v, p):
        fall = jax.numpy.array([0.0, -9.8, 0.0]) - p["drag"] * v.mean(axis=0)
        return {"gravity": fall, "nodal_load": jax.numpy.cos(0.5 * n) * p["push"]}

    scene, mesh = held_bar()
    scene.add_parameter("drag", 2.0)
    scene.add_parameter("push", [0.05, 0.1, -0.02])
    scene.add_link(diffsim.jax.link(function, ["gravity", "nodal_load"], ["drag", "push"]))
    problem = problem_of(scene, mesh, ["drag", "push"])
    assert problem.start() == pytest.approx([2.0, 0.05, 0.1, -0.02])
    expect_derivatives(problem, np.array([0.5, 0.02, 0.01, 0.03]), [0.1, 0.01, 0.01, 0.01])


def test_torch_link():
    torch = pytest.importorskip("torch")
    import diffsim.torch

    def make(mesh):
        return diffsim.torch.link(hold(torch.tensor(owned_rest(mesh))), ["nodal_load"], HELD)

    expect_same(problem_with(make), problem_with(hold_link), DIRECTION, 1e-11)


def link_of(controls=("nodal_load",), parameters=(), evaluate=None, pullback=None):
    return diffsim.Link(
        list(controls),
        evaluate or (lambda n, state, p: {"nodal_load": 0.0}),
        pullback or (lambda n, state, p, w: ({}, {})),
        parameters=list(parameters),
    )


def test_wrong_links_and_parameters_are_refused():
    scene, _ = held_bar()
    for controls, parameters, message in (
        ([], [], "no controls"),
        (["thrust"], [], "thrust"),
        (["youngs_modulus"], [], "no values for single steps"),
        (["nodal_load", "nodal_load"], [], "occurs twice"),
        (["nodal_load"], ["nodal_load"], "is a control"),
        (["nodal_load"], ["thrust"], "thrust"),
    ):
        with pytest.raises(diffsim.InputError, match=message):
            scene.add_link(link_of(controls, parameters))
    with pytest.raises(diffsim.InputError, match="already has a parameter 'gravity'"):
        scene.add_parameter("gravity", 1.0)
    with pytest.raises(diffsim.InputError, match="cannot have the name"):
        scene.add_parameter("initial_positions", 1.0)
    with pytest.raises(diffsim.InputError, match="a number or a vector"):
        scene.add_parameter("matrix", np.eye(2))
    with pytest.raises(diffsim.InputError, match="steps, owned vertices, 3"):
        scene.add_nodal_load(np.zeros((2, 1, 3)))
    scene.add_link(link_of())
    with pytest.raises(diffsim.InputError, match="control of two links"):
        scene.add_link(link_of())


class Mistake(Exception):
    pass


def fail(*arguments):
    raise Mistake("in a link")


@pytest.mark.parametrize(
    "evaluate, pullback, error, message",
    [
        (fail, None, Mistake, "in a link"),
        (lambda n, state, p: None, None, diffsim.InputError, "must return a dict"),
        (lambda n, state, p: {}, None, diffsim.InputError, "returns no 'nodal_load'"),
        (lambda n, state, p: {"nodal_load": 0, "wind": 0}, None, diffsim.InputError, "are not controls"),
        (lambda n, state, p: {"nodal_load": np.zeros(2)}, None, diffsim.InputError, "'nodal_load' of the function"),
        (None, fail, Mistake, "in a link"),
        (None, lambda n, state, p, w: None, diffsim.InputError, "must return a pair"),
        (None, lambda n, state, p, w: ({"forces": 0.0}, {}), diffsim.Error, "forces"),
        (None, lambda n, state, p, w: ({"positions": np.zeros(2)}, {}), diffsim.InputError, "has 2 entries"),
        (None, lambda n, state, p, w: ({}, {"gravity": np.zeros(3)}), diffsim.InputError, "list of parameters"),
    ],
)
def test_wrong_results_are_refused(evaluate, pullback, error, message):
    scene, mesh = held_bar()
    scene.add_link(link_of(evaluate=evaluate, pullback=pullback))
    problem = problem_of(scene, mesh, ["gravity"])
    with pytest.raises(error, match=message):
        problem.gradient(problem.start())


def test_functions_and_values_of_controls_are_checked():
    with pytest.raises(diffsim.InputError, match="must be functions"):
        diffsim.Link(["nodal_load"], 1.0, fail)
    scene, _ = held_bar()
    scene.add_link(link_of(parameters=["gravity"]))
    with pytest.raises(diffsim.InputError, match="computes 'nodal_load'"):
        scene.parameters["nodal_load"] = 1.0
    # A control of a later link is not a parameter of this link.
    scene.add_link(link_of(["gravity"], evaluate=lambda n, state, p: {"gravity": 0.0}))
    with pytest.raises(diffsim.InputError, match="a parameter of one link and a control of another"):
        diffsim.DifferentiableSimulator(scene).step()


def test_second_derivatives_need_all_functions():
    scene, mesh = held_bar()
    scene.add_link(link_of())
    problem = problem_of(scene, mesh, ["gravity"])
    problem.gradient(problem.start())
    with pytest.raises(diffsim.InputError, match="no function `tangent`"):
        problem.hessian_product(problem.start(), np.ones(3))
