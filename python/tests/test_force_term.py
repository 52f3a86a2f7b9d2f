# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Force terms whose functions are functions of numpy, JAX and PyTorch, in explicit and in implicit steps."""

import importlib

import diffsim
import numpy as np
import pytest
from scenes import difference, largest

STEPS = 5
TARGET = [0.43, 0.06, 0.05]


def bar(integrator, comm=None, model="neo_hookean", youngs_modulus=2e4):
    """Return a scene of a bar that is fixed at one end, and the mesh."""
    mesh = diffsim.TetrahedralMesh.box([0.4, 0.1, 0.1], [4, 1, 1], comm=comm)
    solver = diffsim.DifferentiableSolver(dt=0.01, substeps=4 if integrator == "symplectic_euler" else 1, integrator=integrator)
    if integrator != "symplectic_euler":
        solver.implicit.newton.tolerance = 1e-12
        solver.implicit.linear.tolerance = 1e-12
    scene = diffsim.DifferentiableScene(
        mesh,
        diffsim.DifferentiableMaterial(
            model, {"density": 1000.0, "youngs_modulus": youngs_modulus, "poisson_ratio": 0.3}
        ),
        solver,
    )
    scene.fix("x_min")
    scene.add_parameter("spring", 30.0)
    scene.add_parameter("rest_length", [0.05, 0.08])
    return scene, mesh


def groups(mesh, comm=None):
    """Return the first three corners of each cell."""
    local = mesh.global_vertices[mesh.cells[:, :3]]
    return local if comm is None else np.concatenate(comm.allgather(local))


def energy(x, p):
    """Return the energy of two springs between three vertices."""
    lengths = ((x[1:] - x[0]) ** 2).sum(1) ** 0.5
    return 0.5 * p["spring"] * ((lengths - p["rest_length"]) ** 2).sum()


def drag(x, v, p):
    """Return a force that is not linear in the velocities and depends on the positions."""
    return -0.1 * p["spring"] * v * (1.0 + (v**2).sum()) ** 0.5 + p["rest_length"][0] * (x - x[:1])


def module_of(framework):
    """Return diffsim.jax or diffsim.torch. Skip the test if the framework is not installed."""
    library = pytest.importorskip(framework)
    if framework == "jax":
        library.config.update("jax_enable_x64", True)
    return importlib.import_module(f"diffsim.{framework}")


def problem_of(scene, mesh, names=("spring", "rest_length", "gravity")):
    loss = diffsim.TargetPositionLoss(mesh, "x_max", TARGET, STEPS)
    return diffsim.InverseProblem(scene, STEPS, loss, [diffsim.Unknown(name) for name in names])


def expect_derivatives(problem, second_order):
    u = problem.start()
    _, gradient = problem.gradient(u)
    for i, slope in enumerate(gradient):
        unit = np.eye(problem.size)[i]
        expected = difference(lambda t: problem.value(u + t * unit), 0.0, 1e-3 * max(abs(u[i]), 1.0))
        assert slope == pytest.approx(expected, rel=2e-6, abs=1e-7 * largest(gradient))
    if not second_order:
        return
    v = np.linspace(1.0, 2.0, problem.size) * np.maximum(np.abs(u), 0.1)
    expected = difference(lambda t: problem.gradient(u + t * v)[1], 0.0, 1e-3)
    assert np.allclose(problem.hessian_product(u, v), expected, rtol=1e-5, atol=1e-6 * largest(expected))


@pytest.mark.parametrize("framework", ["jax", "torch"])
@pytest.mark.parametrize("integrator", ["symplectic_euler", "implicit_euler", "newmark"])
def test_energy_of_a_framework(integrator, framework):
    module = module_of(framework)
    scene, mesh = bar(integrator)
    term = module.energy_term(energy, groups(mesh), ["spring", "rest_length"])
    assert term.name == "energy" and term.parameters == ["spring", "rest_length"]
    scene.add_force_term(term)
    problem = problem_of(scene, mesh)
    expect_derivatives(problem, True)
    with_springs = problem.value(problem.start())
    plain, mesh = bar(integrator)
    assert abs(problem_of(plain, mesh, ["gravity"]).value(np.array([0.0, -9.8, 0.0])) - with_springs) > 1e-6


@pytest.mark.parametrize("framework", ["jax", "torch"])
@pytest.mark.parametrize("integrator", ["symplectic_euler", "implicit_euler"])
def test_force_that_depends_on_velocities(integrator, framework):
    module = module_of(framework)
    scene, mesh = bar(integrator)
    scene.add_force_term(module.force_term(drag, groups(mesh), ["spring", "rest_length"], uses_velocities=True))
    expect_derivatives(problem_of(scene, mesh), True)


def law(x, p):
    """Return the energy of a tetrahedron with St. Venant-Kirchhoff's law and Poisson's ratio 0.3."""
    gradient = (x[1:] - x[0]).T @ p["inverse"]
    stretch = gradient.T @ gradient
    trace = stretch.trace()
    lame = p["stiffness"] * 0.3 / (1.3 * 0.4), p["stiffness"] / 2.6
    density = lame[0] / 8.0 * (trace - 3.0) ** 2 + lame[1] / 4.0 * ((stretch**2).sum() - 2.0 * trace + 3.0)
    return p["volume"] * density


def law_term(module, mesh, comm=None):
    """Return the term of `law` for all cells of the mesh."""
    edges = mesh.rest_positions[mesh.cells]
    edges = (edges[:, 1:] - edges[:, :1]).transpose(0, 2, 1)
    every = [mesh.global_vertices[mesh.cells], np.linalg.inv(edges), np.abs(np.linalg.det(edges)) / 6.0]
    if comm is not None:
        every = [np.concatenate(comm.allgather(array)) for array in every]
    cells, inverse, volume = every
    return module.energy_term(law, cells, ["stiffness"], data={"inverse": inverse, "volume": volume})


@pytest.mark.parametrize("framework", ["jax", "torch"])
@pytest.mark.parametrize("integrator", ["symplectic_euler", "implicit_euler"])
def test_law_of_cells(integrator, framework):
    """The forces of the library's law with the modulus 3e4 are those of the moduli 2e4 (library) and 1e4 (term)."""
    module = module_of(framework)
    results = []
    for of_library, of_term in ((3e4, 0.0), (2e4, 1e4)):
        scene, mesh = bar(integrator, model="st_venant_kirchhoff", youngs_modulus=of_library)
        if of_term > 0.0:
            scene.add_parameter("stiffness", of_term)
            scene.add_force_term(law_term(module, mesh))
        problem = problem_of(scene, mesh, ["gravity", "stiffness"][: 1 + (of_term > 0.0)])
        u = problem.start()
        v = np.array([1.0, -0.5, 0.3, 0.0][: len(u)])
        results.append((*problem.gradient(u), problem.hessian_product(u, v)))
    assert results[1][0] == pytest.approx(results[0][0], rel=1e-9)
    for found, expected in zip(results[1][1:], results[0][1:]):
        assert largest(found[:3] - expected) <= 1e-8 * largest(expected)
    expect_derivatives(problem, True)


def hold_term(mesh):
    """Return a ForceTerm of numpy functions: the force -k (x - X) at each vertex, with an energy."""
    rest = mesh.rest_positions[np.argsort(mesh.global_vertices)][:, None]
    return diffsim.ForceTerm(
        np.sort(mesh.global_vertices),
        force=lambda x, v, p: -p["spring"] * (x - rest),
        jacobians=lambda x, v, p: {
            "positions": np.broadcast_to(-p["spring"] * np.eye(3), (len(x), 3, 3)),
            "spring": -(x - rest).reshape(-1, 3, 1),
        },
        energy=lambda x, p: 0.5 * p["spring"] * ((x - rest) ** 2).sum(),
        parameters=["spring"],
    )


@pytest.mark.parametrize("integrator", ["symplectic_euler", "implicit_euler"])
def test_force_of_numpy(integrator):
    scene, mesh = bar(integrator)
    scene.add_force_term(hold_term(mesh))
    problem = problem_of(scene, mesh, ["spring", "gravity"])
    expect_derivatives(problem, False)
    with pytest.raises(diffsim.InputError, match="the term 'python' has no second derivatives"):
        problem.hessian_product(problem.start(), problem.start())


def test_stable_substep_knows_the_stiffness():
    scene, mesh = bar("symplectic_euler")
    before = scene.stable_substep()
    scene, mesh = bar("symplectic_euler")
    scene.add_parameter("stiff", 3e6)
    rest = mesh.rest_positions[:1, None]
    scene.add_force_term(
        diffsim.ForceTerm(
            mesh.global_vertices[:1],
            force=lambda x, v, p: -p["stiff"] * (x - rest),
            jacobians=lambda x, v, p: {"positions": -p["stiff"] * np.eye(3)[None], "stiff": -(x - rest).reshape(1, 3, 1)},
            parameters=["stiff"],
        )
    )
    assert scene.stable_substep() < 0.1 * before


def test_bad_input():
    scene, mesh = bar("symplectic_euler")

    def nothing(*arguments):
        return np.zeros((1, 1, 3))

    def term(vertices=(0,), force=nothing, jacobians=nothing, **options):
        return diffsim.ForceTerm(vertices, force, jacobians, **options)

    with pytest.raises(diffsim.InputError, match="vertices must have the shape"):
        term(np.zeros((0, 2), dtype=int))
    with pytest.raises(diffsim.InputError, match="must be functions"):
        term(force=3)
    with pytest.raises(diffsim.InputError, match="have no energy"):
        term(energy=nothing, uses_velocities=True)
    with pytest.raises(diffsim.InputError, match="acts on vertex 999, which the mesh does not have"):
        scene.add_force_term(term([999]))
    with pytest.raises(diffsim.Error, match="no_such"):
        scene.add_force_term(term(parameters=["no_such"]))
    with pytest.raises(diffsim.InputError, match="does not have one value for the whole model"):
        scene.add_force_term(term(parameters=["youngs_modulus"]))
    with pytest.raises(diffsim.InputError, match="'positions' cannot be a parameter of a force term"):
        term(parameters=["positions"])
    with pytest.raises(diffsim.InputError, match="must be functions or None"):
        term(energy=3)
    with pytest.raises(diffsim.InputError, match="data of a force term must be a dict"):
        term(data=[1.0])
    for rows in (np.ones(2), np.ones((2, 3))):
        with pytest.raises(diffsim.InputError, match="'rest' of data must have one row for each of the 1 groups"):
            term(data={"rest": rows})
    with pytest.raises(diffsim.InputError, match="'spring' is a parameter and an entry of data"):
        term(parameters=["spring"], data={"spring": [1.0]})
    indices = scene.add_force_term(term(force=lambda x, v, p: np.zeros((2, 2))))
    assert indices.tolist() == [0]
    with pytest.raises(diffsim.InputError, match="result of `force`"):
        problem_of(scene, mesh, ["gravity"]).value(np.array([0.0, -9.8, 0.0]))


def test_values_for_each_step_are_refused():
    scene, mesh = bar("symplectic_euler")
    scene.add_force_term(hold_term(mesh))
    scene.set_control("spring", np.arange(1.0, STEPS + 1.0))
    with pytest.raises(diffsim.InputError, match="needs one value of 'spring' for the whole model and all steps"):
        problem_of(scene, mesh, ["gravity"]).value(np.array([0.0, -9.8, 0.0]))


@pytest.mark.parametrize("framework", ["jax", "torch"])
def test_compressed_springs_in_implicit_steps(framework):
    """The Jacobian of a compressed spring is indefinite; Newton's method then uses the projected Jacobian."""
    module = module_of(framework)
    scene, mesh = bar("implicit_euler")
    scene.parameters["spring"] = 3000.0
    scene.parameters["rest_length"] = [0.3, 0.3]
    scene.add_force_term(module.energy_term(energy, groups(mesh), ["spring", "rest_length"]))
    simulator = diffsim.Simulator(scene)
    simulator.step(3)
    assert np.isfinite(simulator.positions).all()
