# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Scenes that are written as scene files of the runner, and read again."""

import os
import pathlib
import subprocess
import textwrap

import diffsim
import numpy as np
import pytest
from saved_scenes import SCENES, expect_same_motion, expect_same_values, start
from scenes import held_bar, hold_link, read_scene

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "scenes"

BAR = """\
mesh: {box: {size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}}
material: {model: neo_hookean, density: 1000, youngs_modulus: 2.0e+4, poisson_ratio: 0.3, viscosity: 5}
solver: {dt: 0.01, steps: 6, substeps: 4, damping: 1}
boundary: [{region: x_min, fix: [x, y, z]}, {region: x_max, traction: [0, 0, 100]}]
"""


def read(tmp_path, more="", name="bar.yaml"):
    (tmp_path / name).write_text(BAR + textwrap.dedent(more))
    return read_scene(tmp_path / name)


def test_changed_parameters_and_initial_state_are_written(tmp_path):
    scene = read(tmp_path, "initial: {velocity: [1, 0, 0]}\n").scene()
    random = np.random.default_rng(1)
    cells = scene.mesh.num_local_cells
    scene.parameters["youngs_modulus"] = 2e4 + 1e3 * random.normal(size=cells)
    scene.parameters["density"] = 1100.0 / 3.0
    scene.parameters["traction:x_max"] = [1.0 / 3.0, 0.0, 70.0]
    scene.parameters["rest_positions"] = scene.parameters["rest_positions"] * 1.01
    scene.set_control("gravity", random.normal(size=(6, 3)))
    vertices = scene.mesh.num_owned_vertices
    scene.set_initial_displacement(1e-3 * random.normal(size=(vertices, 3)))
    scene.set_initial_velocity(random.normal(size=(vertices, 3)))
    folder = tmp_path / "results"
    folder.mkdir()
    scene.save(folder / "saved.yaml")
    file = diffsim.SceneFile(str(folder / "saved.yaml"))
    values = file.document["values"]
    assert values["density"] == 1100.0 / 3.0 and values["traction:x_max"] == [1.0 / 3.0, 0.0, 70.0]
    assert values["youngs_modulus"] == {"file": "saved-values.h5", "dataset": "/values/youngs_modulus"}
    assert np.shape(values["gravity"]) == (6, 3) and "viscosity" not in values
    assert sorted(path.name for path in folder.iterdir()) == ["saved-values.h5", "saved.yaml"]
    expect_same_values(file.scene(), scene)
    expect_same_motion(file.scene(), scene, 6)


def test_a_saved_scene_can_be_changed_and_saved_again(tmp_path):
    scene = read(tmp_path).scene()
    scene.parameters["youngs_modulus"] = np.linspace(1e4, 2e4, scene.mesh.num_local_cells)
    scene.save(tmp_path / "saved.yaml")
    again = diffsim.SceneFile(str(tmp_path / "saved.yaml")).scene()
    again.parameters["poisson_ratio"] = np.linspace(0.1, 0.2, scene.mesh.num_local_cells)
    again.save(tmp_path / "saved.yaml")
    last = diffsim.SceneFile(str(tmp_path / "saved.yaml")).scene()
    expect_same_values(last, again)
    last.parameters["youngs_modulus"] = 2e4
    last.parameters["poisson_ratio"] = 0.3
    last.save(tmp_path / "saved.yaml")
    assert "values" not in diffsim.SceneFile(str(tmp_path / "saved.yaml")).document


def test_an_unknown_starts_at_the_written_values(tmp_path):
    file = read(
        tmp_path,
        """\
        objective: [{type: target_position, region: x_max, target: [0.4, 0.0, 0.05]}]
        parameters: [{name: youngs_modulus, per: cell}]
        """,
    )
    problem = file.problem()
    problem.set(problem.start() + np.linspace(0.0, 0.1, problem.size))
    file.scene().save(tmp_path / "saved.yaml")
    again = diffsim.SceneFile(str(tmp_path / "saved.yaml"))
    assert again.problem().start() == pytest.approx(problem.start() + np.linspace(0.0, 0.1, problem.size), rel=1e-14)
    expect_same_values(again.scene(), file.scene())


def test_an_experiment_is_written_alone(tmp_path):
    file = read(
        tmp_path,
        """\
        experiments:
          - {name: one}
          - {name: two, solver: {dt: 0.005, steps: 3, damping: 1}}
        """,
    )
    scene = file.scene("two")
    scene.parameters["gravity"] = [0.0, 0.0, -5.0]
    scene.save(tmp_path / "two.yaml")
    again = diffsim.SceneFile(str(tmp_path / "two.yaml"))
    assert again.experiments == [""] and again.num_steps() == 3
    expect_same_motion(again.scene(), scene, 3)


def test_parts_that_a_program_adds_to_a_read_scene_are_written(tmp_path):
    scene = read(tmp_path, "regions: {left: {box: {min: [-1, -1, -1], max: [0.101, 1, 1]}}}\n").scene()
    scene.mesh.define_region("tip", center=[0.4, 0.1, 0.1], radius=0.05)
    scene.fix("tip", [False, True, False])
    scene.add_pressure("y_max", np.linspace(0.0, 5.0, 6))
    scene.add_contact(diffsim.ContactOptions(1e-3, 2e3, planes=[diffsim.PlaneObstacle([0, -0.0009, 0])]))
    scene.save(tmp_path / "saved.yaml")
    expect_same_motion(diffsim.SceneFile(str(tmp_path / "saved.yaml")).scene(), scene, 6)


@pytest.mark.parametrize("name", ["gripper", "stiff_beam", "walker", "two_link_arm", "hook"])
def test_examples_with_changed_parameters(name, tmp_path):
    scene = read_scene(EXAMPLES / f"{name}.yaml").scene()
    for parameter in scene.parameters:
        try:
            scene.parameters[parameter] = scene.parameters[parameter] * (1.0 + 1.0 / 1024.0)
        except diffsim.InputError:  # values of cells without the parameter, or of a control
            pass
    scene.set_initial_velocity(start(scene)["velocities"][: scene.mesh.num_owned_vertices] + 0.125)
    scene.save(tmp_path / "saved.yaml")
    expect_same_values(diffsim.SceneFile(str(tmp_path / "saved.yaml")).scene(), scene)


def test_changes_of_directors_are_refused(tmp_path):
    scene = read_scene(EXAMPLES / "coil_spring.yaml").scene()
    scene.parameters["gravity"] = [0.0, 0.0, -3.0]
    scene.save(tmp_path / "saved.yaml")
    expect_same_values(diffsim.SceneFile(str(tmp_path / "saved.yaml")).scene(), scene)
    scene.parameters["rest_positions"] = scene.parameters["rest_positions"] * 1.125
    with pytest.raises(diffsim.InputError, match="'rest_positions' cannot be written exactly, because .* directors"):
        scene.save(tmp_path / "other.yaml")


@pytest.mark.parametrize("name", SCENES)
def test_scenes_of_a_program(name, tmp_path):
    scene, num_steps = SCENES[name](tmp_path)
    scene.save(tmp_path / "saved.yaml", num_steps=num_steps)
    file = read_scene(tmp_path / "saved.yaml")
    assert file.num_steps() == num_steps
    expect_same_values(file.scene(), scene)
    expect_same_motion(file.scene(), scene, num_steps)


@pytest.mark.parametrize("name", ["arrays", "loads", "contact"])
def test_the_runner_computes_the_same_motion(name, tmp_path):
    runner = pathlib.Path(diffsim.__file__).parents[2] / "bin" / "diffsim"
    if not runner.exists():
        pytest.skip("the runner is not built")
    scene, num_steps = SCENES[name](tmp_path)
    scene.save(tmp_path / "saved.yaml", num_steps=num_steps)
    command = [str(runner), "simulate", "saved.yaml", "--output", str(tmp_path / "out")]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env=dict(os.environ, OMP_NUM_THREADS="1"))
    simulator = diffsim.Simulator(scene)
    last = simulator.rollout(num_steps).positions(num_steps)
    assert simulator.set_state(str(tmp_path / "out" / "trajectory.h5")) == num_steps
    assert np.array_equal(simulator.positions, last)


def test_parts_without_a_form_in_scene_files_are_refused(tmp_path):
    path = tmp_path / "saved.yaml"
    scene, mesh = held_bar()
    read(tmp_path)  # skips the test without the runner
    with pytest.raises(diffsim.InputError, match="parameter 'hold_stiffness'"):
        scene.save(path)
    scene.add_link(hold_link(mesh))
    with pytest.raises(diffsim.InputError, match="the link that computes 'nodal_load'"):
        scene.save(path)
    options = diffsim.ImplicitOptions()
    options.held_iterations = 2
    material = diffsim.DifferentiableMaterial(1e4, 0.3)
    implicit = diffsim.DifferentiableSolver(integrator="implicit_euler", implicit=options)
    with pytest.raises(diffsim.InputError, match="`held_iterations`"):
        diffsim.Simulator(mesh, material, implicit).scene.save(path)
    ramp = diffsim.ImplicitOptions()
    ramp.ramp_steps = 5
    static = diffsim.Simulator(mesh, material, diffsim.DifferentiableSolver(integrator="quasi_static", implicit=ramp))
    with pytest.raises(diffsim.InputError, match="`ramp_steps` of the solver is 5"):
        static.scene.save(path, num_steps=3)
    controlled = diffsim.Simulator(mesh, material).scene
    controlled.set_control("gravity", np.zeros((4, 3)))
    with pytest.raises(diffsim.InputError, match="'gravity' has values for 4 steps"):
        controlled.save(path, num_steps=3)
    assert not path.exists()


def test_files_that_the_scene_reads_are_not_overwritten(tmp_path):
    scene, _ = SCENES["arrays"](tmp_path)
    scene.save(tmp_path / "one.yaml")
    mesh = diffsim.TetrahedralMesh.from_file(str(tmp_path / "one-mesh.h5"))
    other = diffsim.Simulator(mesh, diffsim.DifferentiableMaterial(1e4, 0.3)).scene
    (tmp_path / "one-mesh.h5").rename(tmp_path / "two-values.h5")
    mesh = diffsim.TetrahedralMesh.from_file(str(tmp_path / "two-values.h5"))
    other = diffsim.Simulator(mesh, diffsim.DifferentiableMaterial(1e4, 0.3)).scene
    with pytest.raises(diffsim.InputError, match="two-values.h5', which would be overwritten"):
        other.save(tmp_path / "two.yaml")


def test_wrong_values_name_the_entry(tmp_path):
    for text, message in (
        ("{youngs_moduls: 1}", "values.youngs_moduls: there is no parameter of this name; did you mean 'youngs_modulus'?"),
        ("{'traction:x_mx': [0, 0, 1]}", "no parameter 'traction:x_mx'; did you mean 'traction:x_max'?"),
        ("{youngs_modulus: -1}", "values.youngs_modulus: -1 is not positive"),
        ("{gravity: [1, 2]}", r"has the shape \[2\]; give \[3\], or one for each of solver.steps"),
        ("{youngs_modulus: [1, 2]}", "one value per tetrahedron"),
        ("{density: [1, 2, 3, 4, 5, 6]}", "one value per tetrahedron"),
        ("{'traction:x_max': [[0, 0, 1], [0, 0, 2]]}", r"has the shape \[2, 3\]"),
        ("{initial_positions: [0, 0, 0]}", "the position of each vertex"),
        ("[1]", "give a mapping from names of parameters to values"),
    ):
        with pytest.raises(diffsim.InputError, match=message):
            read(tmp_path, f"values: {text}\n")
    contact = "{barrier_distance: 1.0e-3, barrier_stiffness: 1.0e+3, friction: 0.1, obstacles: [{plane: PLANE}]}"
    plane = "{point: [0, -1, 0], normal: [0, 1, 0]}"
    with pytest.raises(diffsim.InputError, match="values.friction: cannot have a value for each step"):
        read(tmp_path, f"contact: {contact.replace('PLANE', plane)}\nvalues: {{friction: [0, 0, 0, 0, 0, 0]}}\n")
