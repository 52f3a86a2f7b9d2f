# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Results on several ranks: mpirun -n 2 python -m pytest test_ranks.py. Each rank also computes the whole scene alone."""

import pathlib

import diffsim
import numpy as np
import pytest
from saved_scenes import SCENES, expect_same_motion, expect_same_values
from scenes import HELD, hanging_above_a_floor, held_bar, hold_link, largest, loss, read_scene, simulator

MPI = pytest.importorskip("mpi4py.MPI")


def gather(values, numbers, count):
    """Return the values of all ranks in the order of the mesh file. `numbers`: row of each value in this order."""
    result = np.zeros((count, *values.shape[1:]))
    for some, at in MPI.COMM_WORLD.allgather((values, numbers)):
        result[at] = some
    return result


def compare(ours, numbers, theirs, their_numbers, what, tolerance=1e-12):
    """Check that the values of all ranks agree with the values of a rank alone. `numbers`: as for `gather`."""
    gathered = gather(ours, numbers, len(theirs))
    expected = np.empty_like(gathered)
    expected[their_numbers] = theirs
    error = largest(gathered - expected) / largest(expected)
    assert error <= tolerance, what


def results(comm):
    made, mesh = simulator(comm=comm, resolution=4)
    made.require_gradient(["youngs_modulus", "gravity"])
    trajectory = made.rollout(15, 4)
    positions = trajectory.positions(15)
    value = made.backward(loss)
    return mesh, positions, value, made.gradient("youngs_modulus"), made.gradient("gravity"), made.initial_gradient


def test_ranks_agree_with_one_rank():
    mesh, x, value, by_cell, by_gravity, initial = results(MPI.COMM_WORLD)
    alone, x_alone, value_alone, by_cell_alone, by_gravity_alone, initial_alone = results(MPI.COMM_SELF)
    assert MPI.COMM_WORLD.allreduce(mesh.num_owned_vertices) == alone.num_vertices == mesh.num_vertices
    if MPI.COMM_WORLD.size > 1:
        assert mesh.num_owned_vertices < mesh.num_vertices

    owned = mesh.num_owned_vertices
    compare(x[:owned], mesh.global_vertices[:owned], x_alone, alone.global_vertices, "positions")
    compare(by_cell, mesh.global_cells, by_cell_alone, alone.global_cells, "youngs_modulus")
    for field in ("positions", "velocities"):
        compare(initial[field], mesh.global_vertices[:owned], initial_alone[field], alone.global_vertices, field)
    # Checks that the copies of other ranks' vertices are up to date.
    expected = np.empty_like(x_alone)
    expected[alone.global_vertices] = x_alone
    assert largest(x - expected[mesh.global_vertices]) <= 1e-12
    assert value == pytest.approx(value_alone, rel=1e-12)
    assert largest(by_gravity - by_gravity_alone) <= 1e-12 * largest(by_gravity_alone)


def test_derivatives_along_a_direction_agree_with_one_rank():
    def results(comm):
        made, mesh = simulator(comm=comm, resolution=4)
        made.require_gradient(["youngs_modulus", "gravity"])
        direction = {"youngs_modulus": 500.0, "gravity": [1.0, 2.0, 3.0], "initial_velocities": [0.1, 0.2, 0.3]}
        tangents = []
        made.rollout_tangent(15, direction, lambda n, state, tangent: tangents.append(tangent.positions))
        loss = diffsim.TargetPositionLoss(mesh, "y_min", [0.05, -0.02, 0.05], 15)
        return mesh, tangents, made.hessian_product(15, loss, direction, 4)

    mesh, tangents, product = results(MPI.COMM_WORLD)
    alone, tangents_alone, product_alone = results(MPI.COMM_SELF)
    assert len(tangents) == len(tangents_alone) == 16
    owned = mesh.num_owned_vertices
    vertices, all_vertices = mesh.global_vertices[:owned], alone.global_vertices
    compare(tangents[15][:owned], vertices, tangents_alone[15], all_vertices, "tangent", 1e-11)
    cells, all_cells = mesh.global_cells, alone.global_cells
    compare(product["youngs_modulus"], cells, product_alone["youngs_modulus"], all_cells, "youngs_modulus", 1e-10)
    for name in ("initial_positions", "initial_velocities"):
        compare(product[name], vertices, product_alone[name], all_vertices, name, 1e-10)
    difference = largest(product["gravity"] - product_alone["gravity"])
    assert difference <= 1e-10 * largest(product_alone["gravity"])


def test_a_pullback_repeats_the_rollout_on_all_ranks():
    from diffsim._rollout import Rollout

    made, _ = simulator(comm=MPI.COMM_WORLD)
    rollout = Rollout(made, 3, ["youngs_modulus"])
    modulus = np.full(rollout.shapes[0], 5e3)
    x, v = rollout.run(modulus)
    other = 1.1 * modulus if MPI.COMM_WORLD.rank == 0 else modulus  # the inputs change on the first rank only
    found = rollout.pull_back([other], np.ones_like(x), np.ones_like(v))
    assert np.array_equal(found[0], rollout.pull_back([other], np.ones_like(x), np.ones_like(v))[0])


def test_a_wrong_direction_on_one_rank_is_refused_on_all():
    made, _ = simulator(comm=MPI.COMM_WORLD)
    direction = {"gravity": np.ones(2 if MPI.COMM_WORLD.rank == 0 else 3)}
    with pytest.raises(diffsim.Error, match="gravity|another rank"):
        made.rollout_tangent(2, direction)


def test_a_loss_that_fails_on_one_rank_fails_on_all():
    made, _ = simulator(comm=MPI.COMM_WORLD)
    made.rollout(4)

    def fails_on_the_last(n, state):
        if MPI.COMM_WORLD.rank == MPI.COMM_WORLD.size - 1:
            raise ZeroDivisionError("on the last rank")
        return loss(n, state)

    with pytest.raises((ZeroDivisionError, diffsim.RunError)) as caught:
        made.backward(fails_on_the_last)
    failed = isinstance(caught.value, ZeroDivisionError)
    assert MPI.COMM_WORLD.allreduce(int(failed)) == 1
    made.rollout(4)
    assert made.backward(loss) > 0.0


def test_wrong_arrays_of_the_first_rank_are_refused_on_all():
    first = MPI.COMM_WORLD.rank == 0
    with pytest.raises(diffsim.InputError, match="vertices"):
        diffsim.TetrahedralMesh([[1.0, 2.0]] if first else None, [[0, 0, 0, 0]] if first else None, MPI.COMM_WORLD)


def test_problems_with_priors_agree_with_one_rank():
    def results(comm):
        made, mesh = simulator(comm=comm, resolution=3)
        loss = diffsim.SumLoss()
        loss.add(diffsim.TargetPositionLoss(mesh, "y_min", [0.05, -0.02, 0.05], 5), noise=1e-2)
        unknowns = [diffsim.Unknown("youngs_modulus", logarithmic=True), diffsim.Unknown("gravity")]
        problem = diffsim.InverseProblem(made.scene, 5, loss, unknowns)
        problem.add_prior("youngs_modulus", "matern", mean=6e3, deviation=0.5, length=0.05)
        problem.add_prior("youngs_modulus", "total_variation", weight=0.1, epsilon=1.0)
        problem.add_prior("gravity", "normal", mean=[0.0, -9.0, 0.0], deviation=[0.1, 0.2, 0.3])
        covariance = [[0.1, 0.02, 0.0], [0.02, 0.2, 0.0], [0.0, 0.0, 0.1]]
        problem.add_prior("gravity", "normal", mean=0.1, covariance=covariance)
        with pytest.raises((diffsim.InputError, diffsim.RunError)):
            problem.add_prior("gravity", "normal", mean=[1.0, 2.0], deviation=1.0)
        u = problem.start()
        value, gradient = problem.gradient(u)
        return value, problem.prior(u), problem.hessian_product(u, gradient)[problem.size - 3 :], gradient[-3:], problem

    value, prior, product, gradient, problem = results(MPI.COMM_WORLD)
    value_alone, prior_alone, product_alone, gradient_alone, _ = results(MPI.COMM_SELF)
    assert value == pytest.approx(value_alone, rel=1e-11) and prior == pytest.approx(prior_alone, rel=1e-11)
    if MPI.COMM_WORLD.rank == 0:  # the unknowns of the global parameter gravity are on the first rank
        assert gradient == pytest.approx(gradient_alone, rel=1e-10)
        assert product == pytest.approx(product_alone, rel=1e-9)


def test_links_agree_with_one_rank():
    """Forces at the vertices, and a gravity to which each vertex adds -r v / N, with the rate r and N vertices."""

    def gravity_link(mesh):
        count = mesh.num_vertices

        def pullback(n, state, p, w):
            by_v = np.broadcast_to(-p["rate"] / count * w["gravity"], state.velocities.shape)
            return {"velocities": by_v}, {"rate": -(state.velocities.sum(axis=0) / count) @ w["gravity"]}

        def evaluate(n, state, p):
            return {"gravity": -p["rate"] / count * state.velocities.sum(axis=0)}

        return diffsim.Link(["gravity"], evaluate, pullback, parameters=["rate"])

    def results(comm, with_gravity):
        scene, mesh = held_bar(comm)
        scene.add_parameter("rate", 30.0)
        scene.add_link(hold_link(mesh))
        if with_gravity:
            scene.set_initial_velocity([0.3, -1.0, 0.2])
            scene.add_link(gravity_link(mesh))
        loss = diffsim.TargetPositionLoss(mesh, "x_max", [0.43, 0.06, 0.05], 6)
        problem = diffsim.InverseProblem(scene, 6, loss, [diffsim.Unknown(name) for name in [*HELD, "rate"]])
        u = problem.start()
        value, gradient = problem.gradient(u)
        product = gradient if with_gravity else problem.hessian_product(u, np.array([5.0, 0.1, 0.0])[: problem.size])
        return value, gradient, product

    for with_gravity in (False, True):
        value, gradient, product = results(MPI.COMM_WORLD, with_gravity)
        value_alone, gradient_alone, product_alone = results(MPI.COMM_SELF, with_gravity)
        assert value == pytest.approx(value_alone, rel=1e-11)
        if MPI.COMM_WORLD.rank == 0:  # the unknowns are on the first rank
            assert largest(gradient - gradient_alone) <= 1e-10 * largest(gradient_alone)
            assert largest(product - product_alone) <= 1e-9 * largest(product_alone)
            assert (gradient_alone[2] != 0.0) == with_gravity


def test_a_link_that_depends_on_copies_is_refused():
    scene, mesh = held_bar(MPI.COMM_WORLD)
    scene.add_link(
        diffsim.Link(
            ["nodal_load"],
            lambda n, state, p: {"nodal_load": 0.0},
            lambda n, state, p, w: ({"positions": np.ones_like(state.positions)}, {}),
        )
    )
    loss = diffsim.TargetPositionLoss(mesh, "x_max", [0.43, 0.06, 0.05], 2)
    problem = diffsim.InverseProblem(scene, 2, loss, [diffsim.Unknown("gravity")])
    if MPI.COMM_WORLD.size > 1:
        with pytest.raises(diffsim.Error, match="copies|another rank"):
            problem.gradient(problem.start())


def test_a_communicator_without_this_rank_is_refused():
    with pytest.raises(diffsim.InputError, match="COMM_NULL"):
        diffsim.TetrahedralMesh.create_cube(1, comm=MPI.COMM_NULL)


def test_a_part_of_the_ranks_has_a_mesh_of_its_own():
    part = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank)
    mesh = diffsim.TetrahedralMesh.create_cube(2, comm=part)
    assert mesh.num_owned_vertices == mesh.num_vertices == 27


@pytest.mark.parametrize("framework", ["jax", "torch"])
def test_force_terms_agree_with_one_rank(framework):
    from test_force_term import bar, drag, energy, groups, law_term, module_of, problem_of

    module = module_of(framework)

    def gradient(comm, integrator):
        scene, mesh = bar(integrator, comm)
        names = ["spring", "rest_length"]
        scene.add_force_term(module.energy_term(energy, groups(mesh, comm), names))
        scene.add_force_term(module.force_term(drag, groups(mesh, comm), names, uses_velocities=True))
        scene.add_parameter("stiffness", 1e4)
        scene.add_force_term(law_term(module, mesh, comm))
        single = sorted(groups(mesh, comm).tolist())[:1]  # the other ranks have no groups
        data = {"factor": np.full(1, 0.7)}
        scene.add_force_term(module.energy_term(lambda x, p: p["factor"] * energy(x, p), single, names, data=data))
        problem = problem_of(scene, mesh)
        u = problem.start()
        value, slopes = problem.gradient(u)
        return value, slopes, problem.hessian_product(u, u)

    if MPI.COMM_WORLD.size > 1:
        scene, mesh = bar("symplectic_euler", MPI.COMM_WORLD)
        with pytest.raises(diffsim.InputError, match="the ranks pass different groups of vertices"):
            scene.add_force_term(module.energy_term(energy, groups(mesh), ["spring", "rest_length"]))
    for integrator in ("symplectic_euler", "implicit_euler"):
        found, alone = gradient(MPI.COMM_WORLD, integrator), gradient(MPI.COMM_SELF, integrator)
        tolerance = 1e-11 if integrator == "symplectic_euler" else 1e-9
        assert found[0] == pytest.approx(alone[0], rel=tolerance)
        if MPI.COMM_WORLD.rank == 0:  # the unknowns are on the first rank
            assert largest(found[1] - alone[1]) <= tolerance * largest(alone[1])
            assert largest(found[2] - alone[2]) <= 10.0 * tolerance * largest(alone[2])


def expect_same_problem(of_comm, v):
    """Compare the loss, the gradient and the product of the Hessian with v of a problem on all ranks and on one rank.

    The unknowns, which have one value for the whole model, are on the first rank.
    """

    def results(comm):
        problem = of_comm(comm)
        u = problem.start()
        return (*problem.gradient(u), problem.hessian_product(u, v[: problem.size]))

    value, gradient, product = results(MPI.COMM_WORLD)
    value_alone, gradient_alone, product_alone = results(MPI.COMM_SELF)
    assert value == pytest.approx(value_alone, rel=1e-11)
    if MPI.COMM_WORLD.rank == 0:
        assert largest(gradient_alone) > 0.0
        assert largest(gradient - gradient_alone) <= 1e-10 * largest(gradient_alone)
        assert largest(product - product_alone) <= 1e-9 * largest(product_alone)


@pytest.mark.parametrize("library", ["numpy", "jax", "torch"])
def test_sensors_agree_with_one_rank(library):
    from test_sensor import bar, energy_problem, mean_sensor, module_of, problem_of, ratio_problem

    v = np.array([2.0, 0.3, -0.2, 0.1])
    if library == "numpy":
        for tangent in (True, False):
            expect_same_problem(lambda comm: energy_problem(comm=comm, tangent=tangent), v)
    else:
        expect_same_problem(lambda comm: ratio_problem(library, comm), np.array([1.0, 0.1, -0.1, *v[1:]]))

    def mean_problem(comm):
        scene, mesh = bar(comm)
        return problem_of(scene, mean_sensor(library, scene, mesh, comm=comm), ["gravity"])

    expect_same_problem(mean_problem, v[1:])
    scene, mesh = bar(MPI.COMM_WORLD)
    sensors = [mean_sensor(library, scene, mesh, comm=MPI.COMM_WORLD), scene.sensor("displacement", region="x_max")]
    made, expected = (diffsim.Simulator(scene).rollout(6).measure(sensor) for sensor in sensors)
    assert np.allclose(made, expected, rtol=0.0, atol=1e-14)


def last_rank(comm):
    return comm.rank == comm.size - 1


@pytest.mark.parametrize("function", ["evaluate", "pullback", "tangent", "combine", "combine_jacobian"])
def test_a_sensor_that_fails_on_one_rank_fails_on_all(function):
    from test_sensor import bar, functions_of, problem_of

    comm = MPI.COMM_WORLD

    def fail(*arguments):
        if last_rank(comm):
            raise ZeroDivisionError("on the last rank")
        return {"pullback": ({}, {})}.get(function, 1.0)

    scene, _ = bar(comm)
    functions = {"combine": lambda s: s, "combine_jacobian": lambda s: 1.0, "tangent": lambda *at: 0.0, function: fail}
    problem = problem_of(scene, scene.sensor(functions_of(**functions)), ["gravity"], {2: [0.0]})
    use = problem.hessian_product if function == "tangent" else problem.gradient
    arguments = [problem.start()] * (2 if function == "tangent" else 1)
    with pytest.raises((ZeroDivisionError, diffsim.RunError)) as caught:
        use(*arguments)
    failed = isinstance(caught.value, ZeroDivisionError)
    assert comm.allreduce(int(failed)) == 1
    assert failed or "failed on another rank" in str(caught.value)


def test_wrong_results_of_sensors_on_one_rank_are_refused_on_all():
    from test_sensor import bar, functions_of, problem_of

    comm = MPI.COMM_WORLD
    if comm.size == 1:
        pytest.skip("the ranks cannot differ")
    scene, mesh = bar(comm)

    def use(**functions):
        problem = problem_of(scene, scene.sensor(functions_of(**functions)), ["gravity"], {2: [0.0]})
        problem.gradient(problem.start())

    different = {"combine": lambda s: s[0], "combine_jacobian": lambda s: np.ones(len(s))}
    with pytest.raises(diffsim.InputError, match="1 values on one rank and 2 on another"):
        use(evaluate=lambda n, state, p: np.ones(2 if last_rank(comm) else 1), **different)
    with pytest.raises(diffsim.Error, match="has 2 values; give 1|another rank"):
        use(evaluate=lambda n, state, p: np.ones(2 if last_rank(comm) else 1))
    with pytest.raises(diffsim.Error, match="a sensor depends on positions at copies|another rank"):
        use(pullback=lambda n, state, p, w: ({"positions": np.ones_like(state.positions)}, {}))


def test_a_state_is_set_on_all_ranks():
    made, mesh = simulator(comm=MPI.COMM_WORLD, resolution=3)
    made.step(3)
    state = made.state
    made.step(2)
    expected = made.positions
    made.set_state(state, 3)
    made.step(2)
    assert np.array_equal(made.positions, expected)
    wrong = {"positions": np.zeros((2, 3)), "velocities": 0.0} if last_rank(MPI.COMM_WORLD) else state
    with pytest.raises(diffsim.Error, match="positions|another rank"):
        made.set_state(wrong)


def test_outputs_of_rollouts_agree_with_one_rank():
    from test_outputs import inputs_of, rollout_of, supported_bar

    def results(comm):
        made, outputs = supported_bar(comm)
        rollout = rollout_of(made, outputs)
        at = inputs_of(made)
        along = [0.1 * value for value in at[:3]] + [1e-3 * at[4], 0.2 * at[4]]
        values = rollout.run(*at)
        # The weights of an output that all ranks have are the sums of the weights of the ranks.
        part = (comm.rank + 1) / sum(range(comm.size + 1))
        weights = [np.ones(value.shape) for value in values[:2]]
        weights += [part * np.cos(np.arange(value.size)).reshape(value.shape) / largest(value) for value in values[2:]]
        gradients = rollout.pull_back(at, *weights)
        tangents = rollout.push_forward(at, along)
        products = rollout.pull_back_tangent(at, along, *weights)
        # Derivatives with respect to values per cell and per vertex, along a direction: sums over all ranks.
        local = (0, 1, 3, 4)
        sums = [comm.allreduce(sum((each[i] * along[i]).sum() for i in local)) for each in (gradients, products)]
        return [*values[2:], *tangents[2:], gradients[2], products[2], *sums]

    found, alone = results(MPI.COMM_WORLD), results(MPI.COMM_SELF)
    for k, (ours, theirs) in enumerate(zip(found, alone)):
        assert largest(theirs) > 0.0 and largest(ours - theirs) <= 1e-9 * largest(theirs), k


@pytest.mark.parametrize("framework", ["jax", "torch"])
def test_wrong_arguments_of_rollouts_on_one_rank_are_refused_on_all(framework):
    from test_force_term import module_of

    module = module_of(framework)
    comm = MPI.COMM_WORLD
    made, _ = simulator(comm=comm)
    wrong = last_rank(comm)

    def expect_refused(call, *errors):
        with pytest.raises((*errors, diffsim.RunError)) as caught:
            call()
        failed = not isinstance(caught.value, diffsim.RunError)
        assert failed == wrong and (failed or "failed on another rank" in str(caught.value))

    expect_refused(lambda: module.rollout(made, 4, ["gravty" if wrong else "gravity"]), KeyError)
    expect_refused(lambda: module.rollout(made, 4, ["gravity"], steps=[5 if wrong else 4]), diffsim.InputError)
    if comm.size > 1:
        with pytest.raises(diffsim.InputError, match="the ranks pass different arguments .num_steps, parameters"):
            module.rollout(made, 4, ["gravity"], steps=[3 if wrong else 4])
    rollout = module.rollout(made, 4, ["gravity"])
    right = np.array([0.0, -9.8, 0.0])
    for value in (right[:2], 1j * right):
        expect_refused(lambda: rollout({"gravity": value if wrong else right}), diffsim.InputError)
    expect_refused(lambda: rollout({"gravity": "down" if wrong else right}), TypeError, ValueError)
    expect_refused(lambda: rollout({"gravty" if wrong else "gravity": right}), diffsim.InputError)
    if framework == "jax":  # an error while one rank compiles
        import jax

        with pytest.raises(Exception, match="has the shape|on another rank" if comm.size > 1 else "has the shape"):
            jax.jit(lambda g: rollout({"gravity": g})[0])(right[:2] if wrong else right)
    assert np.asarray(rollout({"gravity": right})[0]).shape == made.velocities.shape


def test_contact_surfaces_and_experiments_agree_with_one_rank():
    def problem(comm, speed):
        mesh = diffsim.TetrahedralMesh.box([0.2, 0.1, 0.1], [4, 2, 2], comm=comm)
        scene = diffsim.DifferentiableScene(
            mesh, diffsim.DifferentiableMaterial(2e4, 0.3), diffsim.DifferentiableSolver(dt=2e-3, substeps=10, damping=1.0)
        )
        scene.set_initial_velocity([speed, -0.5, 0.0])
        skin = diffsim.TetrahedralMesh.box([0.2, 0.1, 0.1], [5, 3, 3], comm=MPI.COMM_SELF)
        surface = diffsim.BodySurface("body", skin.rest_positions, skin.boundary_faces()[0])
        planes = [diffsim.PlaneObstacle([0, -1.9e-3, 0])]
        values = {"barrier_distance": 2e-3, "barrier_stiffness": 1e4, "friction": 0.1, "friction_velocity": 0.01}
        scene.add_contact(diffsim.ContactOptions(planes=planes, surfaces=[surface], **values))
        loss = diffsim.TargetPositionLoss(mesh, "x_max", [0.2, 0.0, 0.05], 10)
        return diffsim.InverseProblem(scene, 10, loss, [diffsim.Unknown("friction"), diffsim.Unknown("barrier_stiffness")])

    def both(comm):
        made = problem(comm, 0.3)
        made.add(problem(comm, -0.2))
        return made

    expect_same_problem(both, np.array([0.1, 300.0]))


FACE = 40.0  # work of contact per surface triangle in explicit steps (`work_of_model`)


def plate_sheet_and_block(**options):
    """Return the mesh of a thin plate, a sheet of triangles, and a thick block of nearly as many tetrahedra as the plate."""
    x, y = np.meshgrid(np.linspace(0.0, 1.0, 13), np.linspace(0.0, 1.0, 11))
    corner = (13 * np.arange(10)[:, None] + np.arange(12)).ravel()
    triangles = np.concatenate(
        [np.stack([corner, corner + 1, corner + 14], axis=1), np.stack([corner, corner + 14, corner + 13], axis=1)]
    )
    bodies = {
        "plate": diffsim.Body.box([1.0, 1.0, 0.02], [20, 20, 1]),
        "sheet": diffsim.Body.surface(np.stack([x.ravel(), y.ravel(), 2.0 + 0.0 * x.ravel()], axis=1), triangles),
        "block": diffsim.Body.box([0.5, 0.5, 0.5], [8, 7, 7]).place(translate=[0.0, 0.0, 1.0]),
    }
    return diffsim.TetrahedralMesh.join(bodies, MPI.COMM_WORLD, **options)


def part_of_work(mesh, of_triangle, of_face):
    """Return the work of this rank, relative to the mean of all ranks."""
    faces, _ = mesh.boundary_faces()
    work = mesh.num_local_cells + of_face * len(faces) + (of_triangle + of_face) * len(mesh.triangles)
    return work * MPI.COMM_WORLD.size / MPI.COMM_WORLD.allreduce(work)


def test_ranks_have_the_same_work_of_cells_and_of_contact():
    of_shell = 50.0  # CellModel::work of shells
    mesh = plate_sheet_and_block(models={"sheet": "shell"})
    assert part_of_work(mesh, of_shell, 0.0) == pytest.approx(1.0, abs=0.1)
    mesh = plate_sheet_and_block(models={"sheet": "shell", "block": "neo_hookean"}, contact=True)
    assert part_of_work(mesh, of_shell, FACE) == pytest.approx(1.0, abs=0.1)
    implicit = diffsim.DifferentiableSolver(integrator="bdf2", implicit=diffsim.ImplicitOptions())
    mesh = plate_sheet_and_block(models={"sheet": "shell"}, contact=True, solver=implicit)
    assert part_of_work(mesh, of_shell, 1.0) == pytest.approx(1.0, abs=0.1)
    with pytest.raises(diffsim.InputError, match="models: there is no body 'sheeet'"):
        plate_sheet_and_block(models={"sheeet": "shell"})
    with pytest.raises(diffsim.InputError, match="unknown material model 'shel'; known models: .*shell"):
        plate_sheet_and_block(models={"sheet": "shel"})


def test_fields_of_states_agree_with_one_rank():
    def results(comm):
        made, mesh = hanging_above_a_floor(comm, 4)
        trajectory = made.rollout(5, 2)
        by_cell = [trajectory.cell_stresses(5), trajectory.cell_strains(5)]
        return mesh, by_cell, [trajectory.vertex_contact_forces(5), trajectory.vertex_reactions(5)]

    mesh, by_cell, by_vertex = results(MPI.COMM_WORLD)
    alone, by_cell_alone, by_vertex_alone = results(MPI.COMM_SELF)
    owned = mesh.global_vertices[: mesh.num_owned_vertices]
    for ours, theirs, name in zip(by_cell, by_cell_alone, ("stresses", "strains")):
        assert largest(theirs) > 0.0
        compare(ours, mesh.global_cells, theirs, alone.global_cells, name, 1e-9)
    for ours, theirs, name in zip(by_vertex, by_vertex_alone, ("contact forces", "reactions")):
        assert largest(theirs) > 0.0
        compare(ours, owned, theirs, alone.global_vertices, name, 1e-9)


def test_files_of_meshio_are_distributed(tmp_path):
    folder = pathlib.Path(MPI.COMM_WORLD.bcast(str(tmp_path)))
    missing = str(folder / "missing.inp")
    with pytest.raises(diffsim.InputError, match="missing.inp: cannot be opened"):
        diffsim.TetrahedralMesh.from_file(missing)
    meshio = pytest.importorskip("meshio")
    box = diffsim.TetrahedralMesh.box([1.0, 0.5, 0.25], [3, 2, 2], comm=MPI.COMM_SELF)
    path = str(folder / "box.vtk")
    side = (np.arange(len(box.cells)) < 20).astype(int)
    if MPI.COMM_WORLD.rank == 0:
        meshio.write_points_cells(path, box.rest_positions, [("tetra", box.cells)], cell_data={"side": [side]})
    MPI.COMM_WORLD.Barrier()
    mesh = diffsim.TetrahedralMesh.from_file(path)
    owned = mesh.num_owned_vertices
    x = gather(mesh.rest_positions[:owned], mesh.global_vertices[:owned], mesh.num_vertices)
    assert np.array_equal(x, box.rest_positions)
    assert np.array_equal(gather(mesh.global_vertices[mesh.cells], mesh.global_cells, mesh.num_cells), box.cells)
    cells = MPI.COMM_WORLD.allgather(mesh.global_cells[mesh.region_cells("side=1")])
    assert sorted(np.concatenate(cells).tolist()) == list(range(20))


@pytest.mark.parametrize("name", ["arrays", "loads", "contact", "bodies"])
def test_saved_scenes_do_not_depend_on_the_ranks(name, tmp_path_factory):
    comm = MPI.COMM_WORLD
    folder = pathlib.Path(comm.bcast(str(tmp_path_factory.mktemp("saved")) if comm.rank == 0 else None))
    scene, num_steps = SCENES[name](folder, comm)
    scene.save(folder / "saved.yaml", num_steps)
    again = read_scene(folder / "saved.yaml").scene()
    again.save(folder / "again.yaml")
    if name in ("arrays", "loads"):
        expect_same_values(again, scene)
        expect_same_motion(again, scene, num_steps)
    alone = diffsim.SceneFile(str(folder / "saved.yaml"), comm=MPI.COMM_SELF).scene()
    expected, _ = SCENES[name](folder, MPI.COMM_SELF)
    expect_same_values(alone, expected)
    expect_same_motion(alone, expected, num_steps)
    last = diffsim.Simulator(again).rollout(num_steps).positions(num_steps)
    last_alone = diffsim.Simulator(alone).rollout(num_steps).positions(num_steps)
    compare(last, again.mesh.global_vertices, last_alone, alone.mesh.global_vertices, "positions")
    comm.barrier()
