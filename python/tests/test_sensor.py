# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Sensors whose functions are functions of numpy, JAX and PyTorch: equal to sensors of the library, and derivatives."""

import importlib

import diffsim
import numpy as np
import pytest
from scenes import difference, expect_same, held_bar, hold_link, largest

STEPS = 6
OBSERVED = {3: [0.01, -0.02, 0.03], STEPS: [0.02, np.nan, -0.01]}
DIRECTION = np.array([2e3, 0.3, -0.2, 0.1])  # change of Young's modulus and of the gravity
LIBRARIES = ["numpy", "jax", "torch"]


def module_of(library):
    """Return `diffsim.jax` or `diffsim.torch`. Skip the test without JAX or PyTorch."""
    if library == "jax":
        pytest.importorskip("jax").config.update("jax_enable_x64", True)
    else:
        pytest.importorskip(library)
    return importlib.import_module(f"diffsim.{library}")


def arrays_of(library):
    """Return the functions that convert a numpy array, and that join numbers and vectors to a vector."""
    module_of(library)
    if library == "torch":
        torch = importlib.import_module("torch")
        return torch.tensor, lambda parts: torch.cat([part.reshape(-1) for part in parts])
    xp = importlib.import_module("jax.numpy")
    return xp.asarray, lambda parts: xp.concatenate([part.reshape(-1) for part in parts])


def owned_end(mesh, comm=None):
    """Return the weight of each owned vertex in the mean over the region x_max, [owned, 1]."""
    owned = mesh.num_owned_vertices
    inside = np.zeros((owned, 1))
    end = mesh.region("x_max")
    inside[end[end < owned]] = 1.0
    count = inside.sum()
    return inside / (comm.allreduce(count) if comm else count)


def mean_sensor(library, scene, mesh, field="positions", comm=None):
    """Return a sensor of the mean displacement or velocity of the region x_max."""
    weights, owned = owned_end(mesh, comm), mesh.num_owned_vertices
    rest = mesh.rest_positions[:owned] if field == "positions" else np.zeros((owned, 3))
    components = ["x", "y", "z"]
    if library != "numpy":
        array, _ = arrays_of(library)
        w, start = array(weights), array(rest)

        def mean(n, x, v, p):
            return (w * ((x if field == "positions" else v) - start)).sum(0)

        return scene.sensor(module_of(library).sensor(mean, components, unit="m"))
    return scene.sensor(
        diffsim.SensorFunctions(
            components,
            lambda n, state, p: (weights * (state[field][:owned] - rest)).sum(axis=0),
            lambda n, state, p, w: ({field: weights * w}, {}),
            lambda n, state, p, dstate, dp: (weights * dstate[field][:owned]).sum(axis=0),
            lambda n, state, p, dstate, dp, w, dw: ({field: weights * dw}, {}),
            unit="m",
        )
    )


def vertex_masses(mesh, density=1000.0):
    """Return the masses of the vertices of a mesh on one rank, kg."""
    x = mesh.rest_positions
    edges = x[mesh.cells[:, 1:4]] - x[mesh.cells[:, :1]]
    masses = np.zeros(len(x))
    np.add.at(masses, mesh.cells, (density * np.abs(np.linalg.det(edges)) / 24.0)[:, None])
    return masses[:, None]


def mass_sensor(library, scene, mesh):
    """Return a sensor of the centre of mass: the ratio of the sums Σ m x and Σ m."""
    m = vertex_masses(mesh)
    components = ["x", "y", "z"]
    if library != "numpy":
        array, join = arrays_of(library)
        masses = array(m)

        def sums(n, x, v, p):
            return join([(masses * x).sum(0), masses.sum()])

        return scene.sensor(module_of(library).sensor(sums, components, combine=lambda s: s[:3] / s[3]))

    def jacobian(s):
        return np.concatenate([np.eye(3), -s[:3, None] / s[3]], axis=1) / s[3]

    def hessian(s):
        second = np.zeros((3, 4, 4))
        for c in range(3):
            second[c, c, 3] = second[c, 3, c] = -1.0 / s[3] ** 2
            second[c, 3, 3] = 2.0 * s[c] / s[3] ** 3
        return second

    return scene.sensor(
        diffsim.SensorFunctions(
            components,
            lambda n, state, p: np.append((m * state.positions).sum(axis=0), m.sum()),
            lambda n, state, p, w: ({"positions": m * w[:3]}, {}),
            lambda n, state, p, dstate, dp: np.append((m * dstate.positions).sum(axis=0), 0.0),
            lambda n, state, p, dstate, dp, w, dw: ({"positions": m * dw[:3]}, {}),
            combine=lambda s: s[:3] / s[3],
            combine_jacobian=jacobian,
            combine_hessian=hessian,
        )
    )


def unknown(name):
    return diffsim.Unknown(name, group="all" if name == "youngs_modulus" else None)


def problem_of(scene, sensor, names=("youngs_modulus", "gravity"), observed=OBSERVED, noise=None):
    loss = diffsim.SumLoss()
    loss.add(diffsim.SensorLoss(sensor, observed), noise=noise)
    return diffsim.InverseProblem(scene, STEPS, loss, [unknown(name) for name in names])


def bar(comm=None):
    """Return a bar that falls with an initial velocity, and the mesh."""
    scene, mesh = held_bar(comm)
    scene.set_initial_velocity([0.3, -1.0, 0.2])
    return scene, mesh


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("quantity", ["displacement", "velocity", "center_of_mass"])
def test_equal_to_a_sensor_of_the_library(library, quantity):
    def problem(of_library):
        scene, mesh = bar()
        if of_library:
            sensor = scene.sensor(quantity, region="all" if quantity == "center_of_mass" else "x_max")
        elif quantity == "center_of_mass":
            sensor = mass_sensor(library, scene, mesh)
        else:
            sensor = mean_sensor(library, scene, mesh, "positions" if quantity == "displacement" else "velocities")
        values = diffsim.Simulator(scene).rollout(STEPS).measure(sensor)
        return problem_of(scene, sensor), values, sensor.components

    made, values, components = problem(False)
    expected, expected_values, expected_components = problem(True)
    assert components == expected_components
    assert np.allclose(values, expected_values, rtol=0.0, atol=1e-14 * largest(expected_values))
    assert largest(np.diff(values, axis=0)) > 1e-4
    expect_same(made, expected, DIRECTION, 1e-11)


def moments(n, x, v, p, once):
    """Return three sums of nonlinear functions of the state, of the step and of the parameters. `once`: 1 on one rank."""
    a, b = p["hold_stiffness"], p["extra"]
    constant = once * b[1] * (n + 1)
    return [a * (x[:, 0] * x[:, 1]).sum(), b[0] * (v**2).sum() + constant, (x[:, 2] * v[:, 1] ** 2).sum() + once * a * b[0]]


def ratio(s):
    return [s[0] / (1.0 + s[1] ** 2), s[1] * s[2]]


def ratio_problem(library, comm=None):
    scene, _ = bar(comm)
    scene.add_parameter("extra", [0.2, 0.3])
    _, join = arrays_of(library)
    names = ["hold_stiffness", "extra"]
    once = 1.0 if comm is None or comm.rank == 0 else 0.0
    functions = module_of(library).sensor(
        lambda *at: join(moments(*at, once)), ["a", "b"], names, combine=lambda s: join(ratio(s)), name="ratio"
    )
    sensor = scene.sensor(functions)
    assert functions.components == sensor.components == ["a", "b"] and functions.parameters == names
    assert functions.name == sensor.name == "ratio" and functions.unit == sensor.unit == "1"
    return problem_of(scene, sensor, [*names, "gravity"], {2: [1.0, 2.0], STEPS: [0.5, np.nan]})


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_derivatives_agree_with_differences(library):
    problem = ratio_problem(library)
    u = problem.start()
    assert u == pytest.approx([20.0, 0.2, 0.3, 0.0, -9.8, 0.0])
    value, gradient = problem.gradient(u)
    assert value == pytest.approx(problem.value(u), rel=1e-14)
    for unit, h, slope in zip(np.eye(problem.size), [0.1, 0.01, 0.01, 0.1, 0.1, 0.1], gradient):
        expected = difference(lambda t: problem.value(u + t * unit), 0.0, h)
        assert expected != 0.0 and slope == pytest.approx(expected, rel=1e-7)
    v = np.array([1.0, 0.1, -0.1, 0.3, -0.2, 0.1])
    expected = difference(lambda t: problem.gradient(u + t * v)[1], 0.0, 1e-2)
    assert np.allclose(problem.hessian_product(u, v), expected, rtol=1e-6, atol=1e-9 * largest(expected))


def test_jax_and_torch_agree():
    jax, torch = ratio_problem("jax"), ratio_problem("torch")
    expect_same(jax, torch, np.array([1.0, 0.1, -0.1, 0.3, -0.2, 0.1]), 1e-11)


def energy_sensor(scene, owned, tangent=True, pullback_tangent=True):
    """Return a sensor of k Σ |v|²/2 and Σ x·v with the parameter k = `hold_stiffness`, with or without derivatives."""

    def parts(state, p):
        return state.positions[:owned], state.velocities, p["hold_stiffness"]

    def pair(by_x, by_v, by_k):
        return {"positions": by_x, "velocities": by_v}, {"hold_stiffness": by_k}

    def evaluate(n, state, p):
        x, v, k = parts(state, p)
        return [0.5 * k * (v**2).sum(), (x * v).sum()]

    def pullback(n, state, p, w):
        x, v, k = parts(state, p)
        return pair(w[1] * v, w[0] * k * v + w[1] * x, 0.5 * w[0] * (v**2).sum())

    def along(n, state, p, dstate, dp):
        x, v, k = parts(state, p)
        dx, dv, dk = parts(dstate, dp)
        return [k * (v * dv).sum() + 0.5 * dk * (v**2).sum(), (dx * v).sum() + (x * dv).sum()]

    def pullback_along(n, state, p, dstate, dp, w, dw):
        x, v, k = parts(state, p)
        dx, dv, dk = parts(dstate, dp)
        by_v = w[0] * (dk * v + k * dv) + dw[0] * k * v + w[1] * dx + dw[1] * x
        by_k = 0.5 * dw[0] * (v**2).sum() + w[0] * (v * dv).sum()
        return pair(dw[1] * v + w[1] * dv, by_v, by_k)

    return scene.sensor(
        diffsim.SensorFunctions(
            ["energy", "virial"],
            evaluate,
            pullback,
            along if tangent else None,
            pullback_along if pullback_tangent else None,
            parameters=["hold_stiffness"],
        )
    )


ENERGIES = {4: [0.5, 0.1], STEPS: [np.nan, 0.2]}


def energy_problem(noise=None, comm=None, **functions):
    scene, mesh = bar(comm)
    sensor = energy_sensor(scene, mesh.num_owned_vertices, **functions)
    return problem_of(scene, sensor, ["hold_stiffness", "gravity"], ENERGIES, noise)


def test_without_tangent():
    """The pullback gives the derivatives along a direction."""
    made, expected = energy_problem(tangent=False), energy_problem()
    v = np.array([2.0, 0.3, -0.2, 0.1])
    expect_same(made, expected, v, 1e-12)
    u = made.start()
    product = difference(lambda t: made.gradient(u + t * v)[1], 0.0, 1e-2)
    assert np.allclose(made.hessian_product(u, v), product, rtol=1e-6, atol=1e-9 * largest(product))


def test_gauss_newton_and_posterior():
    """A Gauss–Newton matrix needs neither `tangent` nor `pullback_tangent`."""
    made = energy_problem(0.1, tangent=False, pullback_tangent=False)
    u = made.start()
    made.add_prior("hold_stiffness", "normal", mean=20.0, deviation=2.0)
    made.add_prior("gravity", "normal", mean=[0.0, -9.8, 0.0], deviation=0.5)
    scene, mesh = bar()
    sensor = energy_sensor(scene, mesh.num_owned_vertices)

    def measured(t, unit):
        scene.parameters["hold_stiffness"] = u[0] + t * unit[0]
        scene.parameters["gravity"] = u[1:] + t * unit[1:]
        values = diffsim.Simulator(scene).rollout(STEPS).measure(sensor)
        return np.array([*values[4], values[STEPS, 1]])

    steps = [1.0, 0.1, 0.1, 0.1]
    J = np.array([difference(lambda t: measured(t, unit), 0.0, h) for unit, h in zip(np.eye(4), steps)]).T
    precision = J.T @ J / 0.1**2 + np.diag([2.0**-2, 4.0, 4.0, 4.0])
    found = made.posterior(u, gauss_newton=True)
    assert np.allclose(found["deviation"], np.sqrt(np.diag(np.linalg.inv(precision))), rtol=1e-6)
    with pytest.raises(diffsim.InputError, match="no function `pullback_tangent`; create the sensor with the argument"):
        made.posterior(u)


@pytest.mark.parametrize("library", LIBRARIES)
def test_feedback(library):
    def problem(of_library):
        mesh = diffsim.TetrahedralMesh.box([0.4, 0.1, 0.1], [4, 1, 1])
        values = {"density": 1000.0, "youngs_modulus": 2e4, "poisson_ratio": 0.3}
        material = diffsim.DifferentiableMaterial("neo_hookean", values)
        scene = diffsim.DifferentiableScene(mesh, material, diffsim.DifferentiableSolver(dt=0.01, substeps=4, damping=1.0))
        scene.fix("x_min")
        scene.add_traction("x_max", [0.0, 0.0, 0.0])
        if of_library:
            sensors = [scene.sensor("displacement", region="x_max"), scene.sensor("center_of_mass")]
        else:
            sensors = [mean_sensor(library, scene, mesh), mass_sensor(library, scene, mesh)]
        policy = diffsim.perceptron(6, 3, hidden=[4], limits=[300.0] * 3, seed=2)
        scene.add_feedback("hand", sensors, ["traction:x_max"], policy, scales=[0.1] * 6)
        loss = diffsim.TargetPositionLoss(mesh, "x_max", [0.43, 0.06, 0.05], STEPS)
        return diffsim.InverseProblem(scene, STEPS, loss, [diffsim.Unknown("policy:hand"), diffsim.Unknown("gravity")])

    made, expected = problem(False), problem(True)
    expect_same(made, expected, np.cos(1.7 * np.arange(made.size)), 1e-10)
    assert largest(made.gradient(made.start())[1][:-3]) > 0.0


def test_values_in_losses_and_constraints():
    def result(of_library):
        scene, mesh = bar()
        sensor = scene.sensor("displacement", region="x_max") if of_library else mean_sensor("numpy", scene, mesh)
        loss = diffsim.SensorLoss(sensor, {STEPS: [0.02, -0.1, 0.0]})
        lower = [diffsim.Unknown("gravity", bounds=(-15.0, 5.0))]
        problem = diffsim.InverseProblem(scene, STEPS, loss, lower)
        sag = diffsim.SensorValueLoss(sensor, [0.0, -100.0, 0.0], [STEPS])
        limit = diffsim.Constraint(sag, at_most=6.0)
        return problem.minimise("mma", max_iterations=8, constraints=[limit])

    made, expected = result(False), result(True)
    assert made["loss"] == pytest.approx(expected["loss"], rel=1e-9)
    assert made["constraints"] == pytest.approx(expected["constraints"], rel=1e-9)
    assert made["u"] == pytest.approx(expected["u"], rel=1e-6, abs=1e-8)


def test_functions_receive_the_step_and_its_time():
    scene, _ = bar()
    name = "hold_damping"
    functions = functions_of(["n", "time"], lambda n, state, p: [n, state.time + p[name]], parameters=[name])
    values = diffsim.Simulator(scene).rollout(3).measure(scene.sensor(functions))
    assert values == pytest.approx(np.array([[0, 0.5], [1, 0.51], [2, 0.52], [3, 0.53]]))


def test_a_link_and_a_sensor_share_a_parameter():
    scene, mesh = bar()
    scene.add_link(hold_link(mesh))
    sensor = energy_sensor(scene, mesh.num_owned_vertices)
    problem = problem_of(scene, sensor, ["hold_stiffness", "hold_damping"], ENERGIES)
    u = problem.start()
    gradient = problem.gradient(u)[1]
    for unit, h, slope in zip(np.eye(2), [0.1, 0.01], gradient):
        assert slope == pytest.approx(difference(lambda t: problem.value(u + t * unit), 0.0, h), rel=1e-7)


class Mistake(Exception):
    pass


def fail(*arguments):
    raise Mistake("in a sensor")


def functions_of(components=("a",), evaluate=None, pullback=None, **options):
    return diffsim.SensorFunctions(
        list(components), evaluate or (lambda n, state, p: 1.0), pullback or (lambda n, state, p, w: ({}, {})), **options
    )


@pytest.mark.parametrize(
    "options, message",
    [
        ({"components": []}, "no components"),
        ({"evaluate": 1.0}, "must be functions"),
        ({"tangent": 1.0}, "must be functions or None"),
        ({"combine": 1.0, "combine_jacobian": fail}, "must be functions or None"),
        ({"combine": fail}, "both combine and combine_jacobian"),
        ({"combine_jacobian": fail}, "both combine and combine_jacobian"),
    ],
)
def test_wrong_functions_are_refused(options, message):
    with pytest.raises(diffsim.InputError, match=message):
        functions_of(**options)


def test_wrong_parameters_are_refused():
    scene, mesh = bar()
    with pytest.raises(diffsim.InputError, match="thrust"):
        scene.sensor(functions_of(parameters=["thrust"]))
    early = scene.sensor(functions_of(parameters=["nodal_load"]))
    scene.add_link(hold_link(mesh))
    with pytest.raises(diffsim.InputError, match="is a control"):
        scene.sensor(functions_of(parameters=["nodal_load"]))
    with pytest.raises(diffsim.InputError, match="a parameter of one sensor and a control"):
        diffsim.Simulator(scene).rollout(1).measure(early)


COMBINED = {"combine": lambda s: s[0] / s[1], "combine_jacobian": lambda s: [1.0 / s[1], -s[0] / s[1] ** 2]}


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"evaluate": fail}, Mistake, "in a sensor"),
        ({"evaluate": lambda n, state, p: None}, diffsim.InputError, "`evaluate` of a sensor is None"),
        ({"evaluate": lambda n, state, p: [1.0, 2.0]}, diffsim.InputError, "`evaluate` of a sensor has 2 values; give 1"),
        ({"pullback": fail}, Mistake, "in a sensor"),
        ({"pullback": lambda n, state, p, w: None}, diffsim.InputError, "of a sensor must return a pair"),
        ({"pullback": lambda n, state, p, w: ({"positions": np.zeros(2)}, {})}, diffsim.InputError, "has 2 entries"),
        ({"pullback": lambda n, state, p, w: ({}, {"gravity": w})}, diffsim.InputError, "list of parameters"),
        ({**COMBINED, "evaluate": lambda *at: [1.0, 2.0], "combine": fail}, Mistake, "in a sensor"),
        ({**COMBINED, "evaluate": lambda *at: [1.0, 2.0], "combine": lambda s: s}, diffsim.InputError, "`combine` of a"),
        (
            {**COMBINED, "evaluate": lambda *at: [1.0, 2.0], "combine_jacobian": lambda s: 1.0},
            diffsim.InputError,
            "`combine_jacobian` of a sensor has 1 values; give 2",
        ),
    ],
)
def test_wrong_results_are_refused(options, error, message):
    scene, _ = bar()
    problem = problem_of(scene, scene.sensor(functions_of(**options)), ["gravity"], {2: [0.0]})
    with pytest.raises(error, match=message):
        problem.gradient(problem.start())


def test_second_derivatives_need_all_functions():
    scene, _ = bar()
    functions = functions_of(
        evaluate=lambda n, state, p: [1.0, 2.0], pullback_tangent=lambda *at: ({}, {}), **COMBINED
    )
    problem = problem_of(scene, scene.sensor(functions), ["gravity"], {2: [0.0]})
    with pytest.raises(diffsim.InputError, match="no function `combine_hessian`; create the sensor with the argument"):
        problem.hessian_product(problem.start(), np.ones(3))


def test_a_sensor_must_not_use_its_scene():
    scene, mesh = bar()
    simulator = diffsim.Simulator(scene)
    sensor = scene.sensor(functions_of(evaluate=lambda n, state, p: simulator.step()))
    with pytest.raises(diffsim.Error, match="must not use its own simulator"):
        simulator.rollout(2).measure(sensor)
    other, _ = bar()
    with pytest.raises(diffsim.Error, match="another scene"):
        simulator.rollout(2).measure(energy_sensor(other, mesh.num_owned_vertices))
