# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Tests of the Python classes, of their arguments and of the default values."""

import inspect

import diffsim
import numpy as np
import pytest
from scenes import largest, loss, simulator


def test_defaults_are_the_documented_ones():
    solver = diffsim.DifferentiableSolver()
    assert (solver.dt, solver.damping, solver.substeps) == (0.01, 0.99, 4)
    assert solver.use_implicit_diff is True and solver.integrator == "symplectic_euler"
    assert solver.gravity.tolist() == [0.0, -9.8, 0.0]
    assert diffsim.DifferentiableSolver(gravity=-1.6).gravity.tolist() == [0.0, -1.6, 0.0]
    assert diffsim.DifferentiableSolver(gravity=[1, 2, 3]).gravity.tolist() == [1.0, 2.0, 3.0]
    positional = diffsim.DifferentiableSolver(0.02, -1.0, 0.5, 2, False)
    assert (positional.dt, positional.damping, positional.substeps) == (0.02, 0.5, 2)
    assert positional.use_implicit_diff is False

    material = diffsim.DifferentiableMaterial(1e5, 0.4)
    assert material.requires_grad is True and material.model == "neo_hookean" and material.region == "all"
    assert material.values == {"youngs_modulus": 1e5, "poisson_ratio": 0.4}

    cube = diffsim.TetrahedralMesh.create_cube()
    assert (cube.num_vertices, cube.num_cells) == (11**3, 6 * 10**3)
    assert largest(cube.rest_positions) == 1.0

    made = diffsim.Simulator(diffsim.TetrahedralMesh.create_cube(1), material)
    assert set(made.parameters["density"]) == {1000.0}
    assert set(diffsim.Simulator(diffsim.TetrahedralMesh.create_cube(1), material, density=7.0).parameters["density"]) == {7.0}


def test_meshes_come_from_arrays(tmp_path):
    vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
    tets = np.array([[0, 1, 2, 3], [1, 4, 2, 3]])
    mesh = diffsim.TetrahedralMesh(vertices, tets)
    assert (mesh.num_vertices, mesh.num_cells, mesh.order) == (5, 2, 1)
    order = mesh.global_vertices
    assert np.array_equal(mesh.rest_positions, np.asarray(vertices, float)[order])
    for cell, number in zip(mesh.cells, mesh.global_cells):
        assert sorted(order[cell]) == sorted(tets[number])
    mesh.define_region("corner", vertices=[0, 2])
    assert sorted(order[mesh.region("corner")]) == [0, 2]
    mesh.define_region("ball", center=[1, 1, 1], radius=0.1)
    mesh.define_region("low", box=[[0, 0, 0], [1, 1, 0]])
    assert sorted(order[mesh.region("low")]) == [0, 1, 2]

    for wrong in (tets[:, [1, 0, 2, 3]], tets[:, :3], tets + 3, tets + 2**40, tets.astype(float)):
        with pytest.raises(diffsim.InputError):
            diffsim.TetrahedralMesh(vertices, wrong)
    with pytest.raises(diffsim.InputError, match="none.msh"):
        diffsim.TetrahedralMesh.from_file(str(tmp_path / "none.msh"))

    path = tmp_path / "two.msh"
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", "5"]
    lines += [f"{i + 1} {x} {y} {z}" for i, (x, y, z) in enumerate(vertices)]
    lines += ["$EndNodes", "$Elements", "2"]
    lines += [f"{i + 1} 4 2 1 1 " + " ".join(str(v + 1) for v in tet) for i, tet in enumerate(tets)]
    path.write_text("\n".join(lines + ["$EndElements", ""]))
    read = diffsim.TetrahedralMesh.from_file(str(path), scale=2.0)
    assert np.array_equal(read.rest_positions[np.argsort(read.global_vertices)], 2.0 * np.asarray(vertices))


def test_materials_by_name_and_region():
    mesh = diffsim.TetrahedralMesh.box([2.0, 1.0, 1.0], [2, 1, 1])
    mesh.define_region("left", box=[[0, 0, 0], [1, 1, 1]])
    mesh.define_region("right", box=[[1, 0, 0], [2, 1, 1]])
    per_cell = np.linspace(1e5, 2e5, mesh.num_local_cells)
    made = diffsim.Simulator(
        mesh,
        [
            diffsim.DifferentiableMaterial("stable_neo_hookean", {"youngs_modulus": 3e5, "poisson_ratio": 0.3}, "left"),
            diffsim.DifferentiableMaterial(
                "st_venant_kirchhoff", {"youngs_modulus": per_cell, "poisson_ratio": 0.2, "density": 9.0}, region="right"
            ),
        ],
    )
    right, left = mesh.region_cells("right"), mesh.region_cells("left")
    assert len(right) == len(left) == 6
    modulus = [name for name in made.parameters if "youngs_modulus" in name]
    density = made.parameters["density"]
    assert set(density[right]) == {9.0} and set(density[left]) == {1000.0}
    values = made.parameters[modulus[0]]
    assert np.array_equal(values[right], per_cell[right]) and set(values[left]) == {3e5}


def test_steps_are_those_of_a_rollout():
    made, mesh = simulator()
    trajectory = made.rollout(6, 3)
    assert len(trajectory) == 7 and trajectory.num_steps == 6 and trajectory.time(6) == pytest.approx(0.03)
    assert made.time == pytest.approx(0.03) and made.step_number == 6
    seen = {}
    made.rollout(6, 3, lambda n, state: seen.setdefault(n, state.positions))
    trajectory = made.rollout(6, 3)
    plain = diffsim.Simulator(mesh, diffsim.DifferentiableMaterial(5e3, 0.4), diffsim.DifferentiableSolver(dt=0.005))
    plain.set_fixed_vertices([int(v) for v in mesh.global_vertices[mesh.region("y_max")]])
    for n in range(7):
        assert np.array_equal(trajectory.positions(n), plain.positions)
        assert np.array_equal(trajectory.state(n).velocities, plain.velocities)
        assert np.array_equal(seen[n], plain.positions)
        plain.step()
    assert largest(seen[6] - seen[0]) > 1e-4
    plain.reset()
    plain.step(6)
    assert np.array_equal(plain.positions, seen[6])
    with pytest.raises(diffsim.InputError, match="outside the trajectory"):
        trajectory.state(7)


def test_simulators_without_gradients_have_rollouts():
    made, mesh = simulator()
    plain = diffsim.Simulator(mesh, diffsim.DifferentiableMaterial(5e3, 0.4), diffsim.DifferentiableSolver(dt=0.005))
    plain.set_fixed_vertices("y_max")
    seen = []
    trajectory = plain.rollout(5, 2, lambda n, state: seen.append(n))
    expected = made.rollout(5, 2)
    assert seen == list(range(6)) and len(trajectory) == 6 and plain.step_number == 5
    for n in (5, 3, 0, 4, 1, 2):
        assert np.array_equal(trajectory.positions(n), expected.positions(n))
        assert np.array_equal(trajectory.state(n).velocities, expected.state(n).velocities)
    with pytest.raises(diffsim.InputError):
        plain.rollout(2, 0)
    assert plain.step_number == 0
    later = plain.rollout(2)
    plain.parameters["youngs_modulus"] = 6e3
    with pytest.raises(diffsim.RunError, match="changed since the rollout"):
        later.state(1)


def test_parameters_are_set_and_checked():
    made, _ = simulator()
    parameters = made.parameters
    assert "youngs_modulus" in parameters and len(parameters) == len(list(parameters)) == len(parameters.keys())
    assert parameters.unit("youngs_modulus") == "Pa"
    before = parameters["youngs_modulus"]
    before[:] = 1.0  # changes a copy of the parameter
    assert set(parameters["youngs_modulus"]) == {5e3}
    trajectory = made.rollout(3)
    parameters["youngs_modulus"] = 6e3
    assert set(made.parameters["youngs_modulus"]) == {6e3}
    with pytest.raises(diffsim.RunError, match="changed since the rollout"):
        trajectory.state(1)
    with pytest.raises(diffsim.Error, match="needs a rollout"):
        made.backward(loss)
    for wrong in (-1.0, np.nan, [1.0, 2.0], "soft"):
        with pytest.raises(diffsim.InputError, match="youngs_modulus"):
            parameters["youngs_modulus"] = wrong
    with pytest.raises(KeyError):
        parameters["youngs_moduls"]
    with pytest.raises(diffsim.Error, match="youngs_modulus"):
        made.require_gradient(["youngs_moduls"])


def test_a_scene_is_shared_by_its_simulators():
    mesh = diffsim.TetrahedralMesh.create_cube(1, 0.1)
    material = diffsim.DifferentiableMaterial("neo_hookean", {"youngs_modulus": 5e3, "poisson_ratio": 0.4, "density": 1e3})
    scene = diffsim.DifferentiableScene(mesh, material, diffsim.DifferentiableSolver(dt=0.005))
    scene.fix("y_max")
    scene.add_traction("x_max", [1.0, 0.0, 0.0])
    scene.move("y_min", velocity=[0.01, 0.0, 0.0])
    first, second = diffsim.Simulator(scene), diffsim.Simulator(scene)
    first.step()
    second.step()
    assert np.array_equal(first.positions, second.positions)
    scene.parameters["youngs_modulus"] = 8e3
    first.step()
    second.reset()
    second.step()
    assert not np.array_equal(first.positions, second.positions)
    assert scene.stable_substep() > 0.0
    assert "traction:x_max" in scene.parameters and "velocity:y_min" in scene.parameters


def test_a_device_that_the_build_lacks_is_refused():
    mesh = diffsim.TetrahedralMesh.create_cube(1)
    with pytest.raises(diffsim.InputError, match="device 'tpu' is not available"):
        diffsim.Simulator(mesh, diffsim.DifferentiableMaterial(1e5, 0.4), device="tpu")


def test_every_class_and_function_has_a_docstring():
    for name in diffsim.__all__:
        item = getattr(diffsim, name)
        assert inspect.getdoc(item), name
        if not inspect.isclass(item) or issubclass(item, Exception):
            continue
        for member, value in vars(item).items():
            if not member.startswith("_"):
                assert inspect.getdoc(value), f"{name}.{member}"


def test_a_state_can_be_set():
    made, mesh = simulator()
    made.step(3)
    state = made.state
    made.step(2)
    expected = made.positions
    made.reset()
    made.set_state(state, 3)
    assert made.step_number == 3 and np.array_equal(made.positions, state.positions)
    made.step(2)
    assert made.step_number == 5 and np.array_equal(made.positions, expected)
    made.set_state({"positions": mesh.rest_positions, "velocities": [0.1, 0.0, 0.0]})
    assert made.step_number == 0 and np.array_equal(made.velocities, np.full_like(made.velocities, 1.0) * [0.1, 0.0, 0.0])
    with pytest.raises(diffsim.InputError, match="no field 'velocities'"):
        made.set_state({"positions": mesh.rest_positions})
    with pytest.raises(diffsim.InputError, match="positions"):
        made.set_state({"positions": np.zeros((2, 3)), "velocities": 0.0})
    with pytest.raises(diffsim.InputError, match="the first step is 0"):
        made.set_state(state, -1)
    with pytest.raises(diffsim.Error, match="missing.h5"):
        made.set_state("missing.h5")
    assert made.step_number == 0
    made.rollout(2)
    made.set_state(state, 3)
    with pytest.raises(diffsim.Error, match="needs a rollout"):
        made.compute_loss(lambda n, state: 0.0)
