# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Inverse problems, priors and posteriors, and scenes of the runner."""

import textwrap

import diffsim
import numpy as np
import pytest
from scenes import difference, largest, read_scene

STEPS = 6


def bar(modulus=2e4, comm=None):
    """Return a cantilever that bends under its weight."""
    mesh = diffsim.TetrahedralMesh.box([0.4, 0.1, 0.1], [4, 1, 1], comm=comm)
    scene = diffsim.DifferentiableScene(
        mesh,
        diffsim.DifferentiableMaterial("neo_hookean", {"density": 1000.0, "youngs_modulus": modulus, "poisson_ratio": 0.3}),
        diffsim.DifferentiableSolver(dt=0.01, substeps=4, damping=1.0),
    )
    scene.fix("x_min")
    return scene, mesh


def observed(mesh, modulus=3e4):
    """Return the positions after the last step of a bar with Young's modulus `modulus`, with random errors of 0.1 mm."""
    truth, _ = bar(modulus)
    trajectory = diffsim.DifferentiableSimulator(truth).rollout(STEPS)
    return {STEPS: trajectory.positions(STEPS) + 1e-4 * np.random.default_rng(1).normal(size=mesh.rest_positions.shape)}


def problem(noise=1e-4):
    scene, mesh = bar()
    loss = diffsim.SumLoss()
    loss.add(diffsim.TrackLoss(mesh, observed(mesh)), noise=noise)
    return diffsim.InverseProblem(
        scene,
        STEPS,
        loss,
        [diffsim.Unknown("youngs_modulus", group="all", logarithmic=True), diffsim.Unknown("gravity")],
    )


def test_gradient_and_hessian_product():
    made = problem()
    assert made.size == 4 and made.names == ["youngs_modulus", "gravity"] and made.unit == "1"
    u = made.start()
    assert u == pytest.approx([np.log(2e4), 0.0, -9.8, 0.0])
    loss, gradient = made.gradient(u)
    assert loss == pytest.approx(made.value(u), rel=1e-14)
    v = np.array([0.3, 0.2, -0.5, 0.1])
    assert gradient @ v == pytest.approx(difference(lambda t: made.value(u + t * v), 0.0, 1e-3), rel=1e-8)
    product = made.hessian_product(u, v)
    for i in range(4):
        assert product[i] == pytest.approx(
            difference(lambda t, i=i: made.gradient(u + t * v)[1][i], 0.0, 1e-3), rel=1e-6, abs=1e-7 * largest(product)
        )
    assert all(check["passed"] for check in made.check())


def test_minimise_and_posterior():
    made = problem()
    made.add_prior("gravity", "normal", deviation=0.01)
    seen = []
    result = made.minimise("newton_cg", gradient_tolerance=1e-9, observer=lambda *iterate: seen.append(iterate))
    assert result["converged"], result["reason"]
    assert seen[0][0] == 0 and seen[-1][1] <= seen[0][1]
    assert made.physical("youngs_modulus", result["u"])[0] == pytest.approx(3e4, rel=0.02)
    found = made.posterior(result["u"])
    assert found["names"] == ["youngs_modulus", "gravity.x", "gravity.y", "gravity.z"]
    hessian = np.array([made.hessian_product(result["u"], row) for row in np.eye(4)])
    assert np.allclose(found["covariance"], np.linalg.inv(hessian), rtol=1e-6)
    assert np.allclose(found["deviation"], np.sqrt(np.diag(found["covariance"])))
    assert found["not_identified"] == []
    assert abs(made.physical("youngs_modulus", result["u"])[0] / 3e4 - 1.0) < 4.0 * found["deviation"][0]
    # The result's loss is the sum of the likelihood's loss and the prior.
    assert made.prior(result["u"]) == pytest.approx(result["loss"] - made.losses[0], rel=1e-6)


def test_low_rank_posterior():
    made = problem()
    for name in ("youngs_modulus", "gravity"):
        made.add_prior(name, "normal", deviation=0.01)
    u = made.start()
    try:
        found = made.low_rank_posterior(u, rank=4, samples=2000)
    except diffsim.InputError as error:
        assert "SLEPc" in str(error)
        pytest.skip("this build of diffsim has no SLEPc")
    assert np.all(np.diff(found["eigenvalues"]) <= 0.0)
    exact = made.posterior(u)["deviation"]
    if len(u) > 0:
        assert np.allclose(found["deviation"], exact, rtol=5.0 / np.sqrt(4000.0))


def test_priors():
    scene, mesh = bar()
    loss = diffsim.TargetPositionLoss(mesh, "x_max", [0.4, 0.0, 0.05], STEPS)
    made = diffsim.InverseProblem(
        scene, STEPS, loss, [diffsim.Unknown("youngs_modulus", logarithmic=True), diffsim.Unknown("initial_velocities")]
    )
    u = made.start()
    plain = made.gradient(u)[1]
    made.add_prior("youngs_modulus", "matern", mean=3e4, deviation=0.5, length=0.2)
    made.add_prior("youngs_modulus", "total_variation", weight=2.0, epsilon=0.1)
    made.add_prior("initial_velocities", "smooth", weight=0.5)
    made.add_prior("initial_velocities", "normal", deviation=0.1, mean=0.05)
    u = u + 0.1 * np.random.default_rng(2).normal(size=u.shape)
    v = np.random.default_rng(3).normal(size=u.shape)
    assert made.gradient(u)[1] @ v != pytest.approx(plain @ v, rel=0.1)
    assert made.gradient(u)[1] @ v == pytest.approx(difference(lambda t: made.value(u + t * v), 0.0, 1e-4), rel=1e-7)
    values = []
    for made.prior_factor in (0.0, 1.0, 3.0):
        values.append(made.value(u))
    with pytest.raises(diffsim.InputError, match="the factor of the priors is -1"):
        made.prior_factor = -1.0
    assert values[2] - values[0] == pytest.approx(3.0 * (values[1] - values[0]), rel=1e-12)
    with pytest.raises(diffsim.InputError, match="the unknowns are: youngs_modulus, initial_velocities"):
        made.add_prior("density", "normal", deviation=1.0)
    with pytest.raises(diffsim.InputError, match="either `deviation` or `covariance`"):
        made.add_prior("youngs_modulus", "normal")
    with pytest.raises(diffsim.InputError, match="normal, smooth, total_variation or matern"):
        made.add_prior("youngs_modulus", "flat", deviation=1.0)
    with pytest.raises(diffsim.InputError, match="type smooth has no `length`"):
        made.add_prior("youngs_modulus", "smooth", weight=1.0, length=2.0)
    with pytest.raises(diffsim.InputError, match="type matern needs `length`"):
        made.add_prior("youngs_modulus", "matern", deviation=1.0)
    with pytest.raises(diffsim.InputError, match="must be above 0"):
        made.add_prior("youngs_modulus", "normal", deviation=1.0, mean=-1.0)
    with pytest.raises(diffsim.InputError, match="values that all ranks share"):
        made.add_prior("youngs_modulus", "normal", covariance=[[1.0]])
    with pytest.raises(diffsim.InputError, match="the weight of a prior is"):
        made.add_prior("initial_velocities", "smooth", weight=0.0)


def test_losses_of_functions_and_reactions():
    scene, mesh = bar()
    count = mesh.num_owned_vertices

    def sum_of_squares(n, state):
        if n != STEPS:
            return None
        x = state.positions[:count]
        return 0.5 * (x**2).sum(), {"positions": x}

    made = diffsim.InverseProblem(scene, STEPS, sum_of_squares, [diffsim.Unknown("density", group="all", logarithmic=True)])
    u = made.start()
    assert made.gradient(u)[1][0] == pytest.approx(difference(lambda t: made.value(u + t), 0.0, 1e-3), rel=1e-7)

    total = diffsim.SumLoss()
    reaction = diffsim.SensorLoss(scene.sensor("reaction", region="x_min"), {STEPS: [0.0, 1.0, np.nan]})
    assert reaction.unit == "N²"
    with pytest.raises(diffsim.InputError, match="added to itself"):
        total.add(total)
    with pytest.raises(diffsim.InputError, match="give a number above 0"):
        total.add(diffsim.TrackLoss(mesh, {1: mesh.rest_positions}), noise=0.0)
    total.add(reaction, weight=0.3)
    with pytest.raises(diffsim.InputError, match="part of a sum"):
        reaction.unit
    made = diffsim.InverseProblem(scene, STEPS, total, [diffsim.Unknown("density", group="all", logarithmic=True)])
    u = made.start()
    assert made.gradient(u)[1][0] == pytest.approx(difference(lambda t: made.value(u + t), 0.0, 1e-3), rel=1e-7)


def test_unknowns_in_groups_and_of_modes():
    scene, mesh = bar()
    loss = diffsim.TargetPositionLoss(mesh, "x_max", [0.4, 0.0, 0.05], STEPS)
    cells = mesh.num_cells
    halves = (np.arange(cells) >= cells // 2).astype(int)
    grouped = diffsim.InverseProblem(
        scene, STEPS, loss, [diffsim.Unknown("youngs_modulus", group=halves, group_names=["low", "high"], start=[2e4, 3e4])]
    )
    assert grouped.start().tolist() == [2e4, 3e4]
    by_group = grouped.gradient(grouped.start())[1]
    each = diffsim.InverseProblem(scene, STEPS, loss, [diffsim.Unknown("youngs_modulus")])
    by_cell = each.gradient(each.start())[1]  # at the current parameters, which `grouped` has set
    assert by_group == pytest.approx([by_cell[halves == 0].sum(), by_cell[halves == 1].sum()], rel=1e-12)
    modes = np.stack([np.ones(cells), halves], axis=1)
    mapped = diffsim.InverseProblem(scene, STEPS, loss, [diffsim.Unknown("youngs_modulus", map=modes)])
    assert mapped.gradient(np.zeros(2))[1] == pytest.approx([by_group.sum(), by_group[1]], rel=1e-12)
    with pytest.raises(diffsim.InputError, match="give group_names"):
        diffsim.Unknown("youngs_modulus", group=halves)
    wrong = diffsim.Unknown("youngs_modulus", group=halves + 1, group_names=["low", "high"])
    with pytest.raises(diffsim.InputError, match="entry of group 2, but 2 groups"):
        diffsim.InverseProblem(scene, STEPS, loss, [wrong])


def test_losses_of_other_meshes_and_steps_are_refused():
    scene, mesh = bar()
    _, other = bar()
    unknowns = [diffsim.Unknown("density", group="all")]
    with pytest.raises(diffsim.InputError, match="for another mesh"):
        diffsim.InverseProblem(scene, STEPS, diffsim.TargetPositionLoss(other, "x_max", [0, 0, 0], STEPS), unknowns)
    with pytest.raises(diffsim.InputError, match="observes none of the steps"):
        diffsim.InverseProblem(scene, STEPS, diffsim.TargetPositionLoss(mesh, "x_max", [0, 0, 0], STEPS + 1), unknowns)
    with pytest.raises(diffsim.InputError, match="must have the shape"):
        diffsim.TrackLoss(mesh, {1: np.zeros((3 * mesh.num_vertices, 3))})
    used = diffsim.TargetPositionLoss(mesh, "x_max", [0, 0, 0], STEPS)
    problem = diffsim.InverseProblem(scene, STEPS, used, unknowns)
    with pytest.raises(diffsim.InputError, match="used by a problem"):
        diffsim.SumLoss().add(used)
    assert problem.value(problem.start()) > 0.0


def test_a_shape_carries_the_initial_positions():
    scene, mesh = bar()
    loss = diffsim.TargetPositionLoss(mesh, "x_max", [0.5, 0.05, 0.05], 0)
    made = diffsim.InverseProblem(scene, 1, loss, [diffsim.Unknown("rest_positions")])
    assert largest(made.gradient(made.start())[1]) > 0.0


def scene_text(more):
    return textwrap.dedent(
        """\
        mesh: {box: {size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}}
        material: {model: neo_hookean, density: 1000, youngs_modulus: 2.0e+4, poisson_ratio: 0.3}
        solver: {dt: 0.01, steps: 6, substeps: 4, damping: 1}
        boundary: [{region: x_min, fix: [x, y, z]}]
        """
    ) + textwrap.dedent(more)


def scene_file(tmp_path, more):
    path = tmp_path / "scene.yaml"
    path.write_text(scene_text(more))
    return read_scene(path)


def test_scene_file(tmp_path):
    file = scene_file(
        tmp_path,
        """\
        objective: [{type: target_position, region: x_max, target: [0.4, 0.0, 0.05], noise: 1.0e-3}]
        parameters: [{name: youngs_modulus, per: cell}, {name: density}]
        priors: [{parameter: density, type: normal, deviation: 0.1, mean: 1100}]
        """,
    )
    assert file.experiments == [""] and file.num_steps() == 6 and file.mesh.num_cells == 24 and file.warnings == []
    simulator = diffsim.DifferentiableSimulator(file.scene())
    simulator.require_gradient(["density"])
    simulator.rollout(6)
    loss = simulator.backward(file.loss())
    problem = file.problem()
    assert problem.names == ["youngs_modulus", "density"]
    value, gradient = problem.gradient(problem.start())
    prior = 0.5 * (np.log(1.1) / 0.1) ** 2
    assert value == pytest.approx(loss + prior, rel=1e-13)
    # u = ln ρ, so the derivative with respect to u is ρ times that with respect to ρ.
    assert gradient[-1] == pytest.approx(1000.0 * simulator.gradient("density").sum() - np.log(1.1) / 0.01, rel=1e-11)


def test_scene_file_with_experiments(tmp_path):
    file = scene_file(
        tmp_path,
        """\
        parameters: [{name: youngs_modulus}]
        experiments:
          - {name: one, objective: [{type: target_position, region: x_max, target: [0.4, 0, 0.05]}]}
          - {name: two, objective: [{type: reaction, region: x_min, target: [0, 1, 0]}], solver: {dt: 0.005, steps: 3}}
        """,
    )
    assert file.experiments == ["one", "two"] and file.num_steps("two") == 3
    problem = file.problem()
    total = problem.value(problem.start())
    assert len(problem.losses) == 2 and sum(problem.losses) == total
    with pytest.raises(diffsim.InputError, match="the experiments are: one, two"):
        file.scene("three")


def test_constraints_of_experiments(tmp_path):
    file = scene_file(
        tmp_path,
        """\
        parameters: [{name: youngs_modulus, bounds: [1.0e+3, 1.0e+6]}]
        objective: [{type: target_position, region: x_max, target: [0.4, 0, 0.05]}]
        experiments:
          - {name: one}
          - {name: two, solver: {dt: 0.005, steps: 3}}
        """,
    )
    problem = file.problem()
    scene = file.scene("two")
    tip = diffsim.SensorValueLoss(scene.sensor("displacement", region="x_max"), [0.0, 1.0, 0.0], [3])
    result = problem.minimise(
        "mma", max_iterations=1, constraints=[diffsim.Constraint(tip, at_least=-1.0, at_most=1.0, experiment=1)]
    )
    # The constraint is the displacement after the last step of the second experiment.
    alone = diffsim.InverseProblem(scene, 3, tip, [diffsim.Unknown("youngs_modulus", group="all", logarithmic=True)])
    assert result["constraints"] == pytest.approx([alone.value(result["u"])], rel=1e-10)
    with pytest.raises(diffsim.InputError, match="there is no experiment 2"):
        problem.minimise("mma", constraints=[diffsim.Constraint(tip, at_most=1.0, experiment=2)])
    with pytest.raises(diffsim.InputError, match="belongs to a loss"):
        problem.minimise("mma", constraints=[diffsim.Constraint("youngs_modulus", at_most=1e5, experiment=1)])


def test_wrong_scene_files_name_the_place(tmp_path):
    with pytest.raises(diffsim.InputError, match="scene.yaml:5: objectiv: unknown key"):
        scene_file(tmp_path, "objectiv: []\n")
    file = scene_file(tmp_path, "")
    with pytest.raises(diffsim.InputError, match="no `objective`"):
        file.loss()
    with pytest.raises(diffsim.InputError, match="objective: is missing"):
        file.problem()


def test_problems_outlive_the_names_of_their_parts(tmp_path):
    made = problem()
    u = made.start()
    value = made.value(u)
    file = scene_file(
        tmp_path,
        "objective: [{type: target_position, region: x_max, target: [0.4, 0, 0.05]}]\nparameters: [{name: density}]\n",
    )
    of_file = file.problem()
    del file
    assert made.value(u) == value
    assert of_file.value(of_file.start()) > 0.0


def test_sensors():
    scene, mesh = bar()
    middle = [0.2, 0.05, 0.05]
    tip = scene.sensor("position", point=middle)
    assert (tip.unit, tip.components) == ("m", ["x", "y", "z"])
    assert "point (0.2, 0.05, 0.05)" in repr(tip)
    momentum = scene.sensor("momentum", region="all")
    gap = scene.sensor("distance", point=middle, to_region="x_min")
    with pytest.raises(diffsim.InputError, match="did you mean 'strain'"):
        scene.sensor("strian")
    with pytest.raises(diffsim.InputError, match="needs two places"):
        scene.sensor("distance")

    loss = diffsim.SumLoss()
    loss.add(diffsim.SensorLoss(tip, {1: middle, STEPS: [0.2, np.nan, 0.0]}), weight=100.0)
    loss.add(diffsim.SensorLoss(momentum, {STEPS: [0.1, 0.0, 0.0]}, covariance=np.diag([1.0, 4.0, 9.0])))
    loss.add(diffsim.SensorLoss(gap, {STEPS: 0.3}, huber=0.01))
    made = diffsim.InverseProblem(scene, STEPS, loss, [diffsim.Unknown("youngs_modulus", group="all", logarithmic=True)])
    u = made.start()
    assert made.gradient(u)[1][0] == pytest.approx(difference(lambda t: made.value(u + t), 0.0, 1e-3), rel=1e-7)
    with pytest.raises(diffsim.InputError, match="must have the shape"):
        diffsim.SensorLoss(scene.sensor("momentum"), {1: 1.0})


def test_sensors_of_contact():
    mesh = diffsim.TetrahedralMesh.create_cube(1, 0.1)
    simulator = diffsim.DifferentiableSimulator(
        mesh, diffsim.DifferentiableMaterial(2e4, 0.3), diffsim.DifferentiableSolver(dt=0.002, substeps=10)
    )
    scene = simulator.scene
    scene.add_contact(
        diffsim.ContactOptions(
            barrier_distance=2e-3,
            barrier_stiffness=1e5,
            friction=0.3,
            friction_velocity=0.01,
            planes=[diffsim.PlaneObstacle(point=[0.0, -0.001, 0.0], label="floor")],
        )
    )
    on_body = scene.sensor("contact_force", between=("body", "floor"))
    on_floor = scene.sensor("contact_force", between=["floor", "body"])
    friction = scene.sensor("friction_force", between=("body", "floor"))
    pressure = scene.sensor("contact_pressure", between=("body", "all"))
    assert (pressure.unit, pressure.components) == ("Pa", ["pressure"])
    trajectory = simulator.rollout(3)
    forces = trajectory.measure(on_body)
    assert forces[0, 1] > 0.0
    assert trajectory.measure(on_floor) == pytest.approx(-forces)
    assert trajectory.measure(friction).shape == (4, 3)
    assert trajectory.measure(pressure)[0, 0] > 0.0
    with pytest.raises(diffsim.InputError, match="did you mean 'floor'"):
        scene.sensor("contact_force", between=("body", "flor"))
    with pytest.raises(diffsim.InputError, match="name two bodies"):
        scene.sensor("contact_pressure")


def test_silhouettes():
    scene, mesh = bar()
    camera = diffsim.Camera([0.21, 0.043, 2.0], [0.21, 0.043, 0.0], view_height=0.31, width=61, height=37)
    assert (camera.width, camera.up) == (61, [0.0, 1.0, 0.0])
    trajectory = diffsim.DifferentiableSimulator(scene).rollout(STEPS)
    mask, start = trajectory.silhouette(camera, STEPS), trajectory.silhouette(camera, 0)
    assert mask.shape == (37, 61)
    assert mask.min() == 0.0 and mask.max() == pytest.approx(1.0)
    assert start.sum() * (0.31 / 37) ** 2 == pytest.approx(0.04)

    stiffness = [diffsim.Unknown("youngs_modulus", group="all", logarithmic=True)]
    own = diffsim.InverseProblem(scene, STEPS, diffsim.SilhouetteLoss(mesh, camera, {STEPS: mask}), stiffness)
    assert own.value(own.start()) == pytest.approx(0.0, abs=1e-15)
    assert own.value(own.start() + 0.5) > 1e-8
    made = diffsim.InverseProblem(
        scene, STEPS, diffsim.SilhouetteLoss(mesh, camera, {STEPS: start}, filter=3), stiffness
    )
    u = made.start()
    assert made.gradient(u)[1][0] == pytest.approx(difference(lambda t: made.value(u + t), 0.0, 1e-4), rel=1e-4)
    with pytest.raises(diffsim.InputError, match="a mask: .*shape"):
        diffsim.SilhouetteLoss(mesh, camera, {1: np.zeros((3, 3))})
    with pytest.raises(diffsim.InputError, match="give an odd number"):
        diffsim.SilhouetteLoss(mesh, camera, {1: mask}, filter=2)


def test_depth_maps():
    scene, mesh = bar()
    camera = diffsim.Camera([0.21, 2.0, 0.043], [0.21, 0.0, 0.043], up=[1, 0, 0], view_height=0.6, width=31, height=57)
    trajectory = diffsim.DifferentiableSimulator(scene).rollout(STEPS)
    depth, start = trajectory.depth_image(camera, STEPS), trajectory.depth_image(camera, 0)
    assert depth.shape == (57, 31)
    assert np.nanmin(start) == pytest.approx(1.9) and np.nanmax(start) == pytest.approx(1.9)
    assert np.isnan(start[0, 0]) and np.nanmax(np.abs(depth - start)) > 1e-5

    stiffness = [diffsim.Unknown("youngs_modulus", group="all", logarithmic=True)]
    own = diffsim.InverseProblem(scene, STEPS, diffsim.DepthLoss(mesh, camera, {STEPS: depth}), stiffness)
    assert own.value(own.start()) == pytest.approx(0.0, abs=1e-20)
    made = diffsim.InverseProblem(scene, STEPS, diffsim.DepthLoss(mesh, camera, {STEPS: start}, huber=1.0), stiffness)
    u = made.start()
    assert made.gradient(u)[1][0] == pytest.approx(difference(lambda t: made.value(u + t), 0.0, 1e-4), rel=1e-4)
    with pytest.raises(diffsim.InputError, match="a depth image: .*shape"):
        diffsim.DepthLoss(mesh, camera, {1: np.zeros((3, 3))})


def test_sensors_of_a_trajectory():
    mesh = diffsim.TetrahedralMesh.create_cube(2, 0.1)
    simulator = diffsim.DifferentiableSimulator(mesh, diffsim.DifferentiableMaterial(1e5, 0.3))
    trajectory = simulator.rollout(5)
    center = simulator.scene.sensor("center_of_mass")
    velocity = simulator.scene.sensor("velocity")
    heights, speeds = trajectory.measure(center)[:, 1], trajectory.measure(velocity)[:, 1]
    assert heights.shape == (6,)
    assert heights[0] == pytest.approx(0.05)
    assert np.all(np.diff(heights) < 0.0) and speeds[-1] < speeds[1] < 0.0
    other, _ = bar()
    with pytest.raises(diffsim.InputError, match="another scene"):
        trajectory.measure(other.sensor("velocity"))


def test_observed_points():
    scene, mesh = bar()
    points = np.array([[0.21, 0.03, 0.06], [0.4, 0.05, 0.05]])
    loss = diffsim.PointTrackLoss(mesh, points, {3: points, STEPS: points + [[0.0, np.nan, 0.0], [0.01, 0.0, 0.0]]})
    assert loss.unit == "m²"
    made = diffsim.InverseProblem(scene, STEPS, loss, [diffsim.Unknown("youngs_modulus", group="all", logarithmic=True)])
    u = made.start()
    assert made.gradient(u)[1][0] == pytest.approx(difference(lambda t: made.value(u + t), 0.0, 1e-3), rel=1e-7)
    with pytest.raises(diffsim.InputError, match="outside the body"):
        diffsim.PointTrackLoss(mesh, [[0.41, 0.05, 0.05]], {1: [[0.4, 0.0, 0.0]]})
    with pytest.raises(diffsim.InputError, match="shape"):
        diffsim.PointTrackLoss(mesh, [0.1, 0.05, 0.05], {1: [0.4, 0.0, 0.0]})


def design():
    """Return a cantilever in static equilibrium, and the loss that is its compliance."""
    mesh = diffsim.TetrahedralMesh.box([0.4, 0.1, 0.1], [4, 1, 1])
    scene = diffsim.DifferentiableScene(
        mesh,
        diffsim.DifferentiableMaterial("neo_hookean", {"density": 1000.0, "youngs_modulus": 1e6, "poisson_ratio": 0.3}),
        diffsim.DifferentiableSolver(dt=1.0, integrator="quasi_static"),
    )
    scene.fix("x_min")
    return scene, diffsim.SensorValueLoss(scene.sensor("work"), 1.0, [1])


def test_density_design_with_a_volume():
    scene, compliance = design()
    distribution = diffsim.MaterialDistribution(penalty=1.0, filter=0.1)
    unknown = diffsim.Unknown("youngs_modulus", start=0.5, distribution=distribution)
    made = diffsim.InverseProblem(scene, 1, compliance, [unknown])
    assert all(np.allclose(bound, value) for bound, value in zip(made.bounds(), (0.0, 1.0)))
    u = made.start()
    value, gradient = made.gradient(u)
    direction = np.cos(np.arange(len(u)))
    slope = difference(lambda t: made.value(u + t * direction), 0.0, 1e-3)
    assert gradient @ direction == pytest.approx(slope, rel=1e-8)
    result = made.minimise(
        "mma",
        max_iterations=30,
        gradient_tolerance=1e-2,
        constraints=[diffsim.Constraint("youngs_modulus", at_most=0.5)],
        constraint_tolerance=1e-3,
    )
    assert result["loss"] < 0.8 * value and result["violation"] <= 1e-3
    assert result["constraints"] == pytest.approx([0.5], abs=1e-3)
    # The support needs more material than the free end.
    densities = made.physical("youngs_modulus", result["u"])
    assert densities.min() < 0.2 and densities.max() > 0.8


def test_density_design_with_prescribed_densities():
    scene, compliance = design()
    scene.mesh.define_region("grip", box=[[-1, -1, -1], [0.101, 1, 1]])
    scene.mesh.define_region("hole", box=[[0.199, -1, -1], [0.301, 1, 1]])
    distribution = diffsim.MaterialDistribution(minimum=0.3, filter=0.1, solid=["grip"], void=["hole"])
    unknown = diffsim.Unknown("youngs_modulus", start=0.5, distribution=distribution)
    made = diffsim.InverseProblem(scene, 1, compliance, [unknown])
    u = made.start()
    lower, upper = made.bounds()
    fixed = lower == upper
    # Each of the regions has one of the four boxes.
    assert 4 * np.sum(u == 1.0) == len(u) and 4 * np.sum(u == 0.0) == len(u) and 2 * np.sum(fixed) == len(u)
    assert np.array_equal(u[fixed], lower[fixed])
    _, gradient = made.gradient(u)
    assert np.all(gradient[fixed] == 0.0) and np.all(gradient[~fixed] != 0.0)
    overlapping = diffsim.MaterialDistribution(solid=["grip"], void=["all"])
    with pytest.raises(diffsim.InputError, match="name disjoint regions"):
        diffsim.InverseProblem(scene, 1, compliance, [diffsim.Unknown("youngs_modulus", distribution=overlapping)])


def test_one_design_for_two_parameters():
    scene, compliance = design()
    both = diffsim.MaterialDistribution(penalty=1.0, also=[("density", 2.0, 0.1)])
    made = diffsim.InverseProblem(scene, 1, compliance, [diffsim.Unknown("youngs_modulus", distribution=both)])
    u = np.full(len(made.start()), 0.6)
    direction = np.cos(np.arange(len(u)))
    slope = difference(lambda t: made.value(u + t * direction), 0.0, 1e-3)
    assert made.gradient(u)[1] @ direction == pytest.approx(slope, rel=1e-7)


def test_shape_of_least_stress():
    scene, _ = design()
    stress = diffsim.SensorValueLoss(scene.sensor("von_mises", power=6.0), [1.0], [1])
    shape = diffsim.ShapeFilter(0.2, fixed=["x_min", "x_max"], axes="xy")
    unknown = diffsim.Unknown("rest_positions", bounds=(-0.02, 0.02), shape_filter=shape)
    made = diffsim.InverseProblem(scene, 1, stress, [unknown])
    start = made.start()
    assert (start == 0.0).all()
    first = made.value(start)
    result = made.minimise(
        "mma",
        max_iterations=5,
        constraints=[
            diffsim.Constraint("rest_positions", quantity="relative_volume", at_most=1.0),
            diffsim.Constraint("rest_positions", quantity="distortion", power=8.0, at_most=1.5),
        ],
        move_limit=0.3,
    )
    assert result["loss"] < 0.95 * first
    assert result["violation"] < 1e-2
    assert abs(result["u"]).max() <= 0.02
    with pytest.raises(diffsim.InputError, match="letters of 'xyz'"):
        diffsim.ShapeFilter(0.2, axes="xw")
    with pytest.raises(diffsim.InputError, match="quantity is mean"):
        diffsim.Constraint("rest_positions", quantity="volume", at_most=1.0)
    with pytest.raises(diffsim.InputError, match="power belongs to quantity='distortion'"):
        diffsim.Constraint("rest_positions", power=2.0, at_most=1.0)
    with pytest.raises(diffsim.InputError, match="belongs to the name"):
        made.minimise("mma", constraints=[diffsim.Constraint(stress, quantity="distortion", at_most=1.0)])


def test_constraint_of_a_loss():
    scene, compliance = design()
    deflection = diffsim.SensorValueLoss(scene.sensor("displacement", region="x_max"), [0.0, 0.0, -1.0], [1])
    down = diffsim.SensorValueLoss(scene.sensor("displacement", region="x_max"), [0.0, -1.0, 0.0], [1])
    unknown = diffsim.Unknown("youngs_modulus", group="all", logarithmic=True, bounds=(1e4, 1e8))
    made = diffsim.InverseProblem(scene, 1, compliance, [unknown])
    made.value(made.start())
    for method in ("mma", "almm"):
        # The compliance prefers a stiff bar; the deflection must be at least 1 mm.
        result = made.minimise(
            method, gradient_tolerance=1e-6, constraints=[diffsim.Constraint(down, at_least=1e-3)], max_iterations=200
        )
        assert result["constraints"] == pytest.approx([1e-3], rel=1e-5), method
    with pytest.raises(diffsim.InputError, match="there is no unknown 'density'"):
        made.minimise("mma", constraints=[diffsim.Constraint("density", at_most=1.0)])
    with pytest.raises(diffsim.InputError, match="either `equals`"):
        diffsim.Constraint(deflection, equals=1.0, at_most=2.0)
    with pytest.raises(diffsim.InputError, match="no equations"):
        made.minimise("mma", constraints=[diffsim.Constraint(deflection, equals=0.0)])
    with pytest.raises(diffsim.InputError, match="does not support constraints"):
        made.minimise(constraints=[diffsim.Constraint(deflection, at_most=0.0)])


def test_multiple_shooting():
    scene, mesh = bar(2e4)
    truth, _ = bar(3e4)
    trajectory = diffsim.DifferentiableSimulator(truth).rollout(STEPS)
    loss = diffsim.TrackLoss(mesh, {n: trajectory.positions(n) for n in range(1, STEPS + 1)})
    unknown = diffsim.Unknown("youngs_modulus", group="all", logarithmic=True)
    made = diffsim.InverseProblem(scene, STEPS, loss, [unknown])
    result = made.minimise("newton_cg", gauss_newton=True, gradient_tolerance=1e-6, windows=3)
    assert result["converged"] and result["violation"] <= 1e-4
    if result["u"].size:
        assert np.exp(result["u"]) == pytest.approx([3e4], rel=1e-5)
    with pytest.raises(diffsim.InputError, match="cannot be divided into 7 windows"):
        made.minimise("newton_cg", windows=STEPS + 1)
