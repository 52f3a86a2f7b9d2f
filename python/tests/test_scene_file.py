# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Scene documents: changes, saved files, and values found by an inverse problem."""

import pathlib
import textwrap

import diffsim
import numpy as np
import pytest
from scenes import read_scene

SCENE = """\
# A comment, which is lost.
mesh: {box: {size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}}
regions:
  left: {box: {min: [-1, -1, -1], max: [0.2001, 1, 1]}}
  right: {box: {min: [0.1999, -1, -1], max: [1, 1, 1]}}
material:
  - {region: left, model: neo_hookean, density: 1000, youngs_modulus: 2.0e+4, poisson_ratio: 0.3}
  - {region: right, model: neo_hookean, density: 1000, youngs_modulus: 2.5e+4, poisson_ratio: 0.3}
solver: {dt: 0.01, steps: 6, substeps: 4, damping: 1}
boundary: [{region: x_min, fix: [x, y, z]}]
objective: [{type: target_position, region: x_max, target: [0.4, 0.0, 0.05], noise: 1.0e-3}]
"""


def read(tmp_path, more="", name="scene.yaml"):
    path = tmp_path / name
    path.write_text(SCENE + textwrap.dedent(more))
    return read_scene(path)


def evaluate(file):
    problem = file.problem()
    return problem.gradient(problem.start())


def test_a_saved_scene_has_the_same_losses_and_gradients(tmp_path):
    file = read(
        tmp_path,
        """\
        parameters: [{name: youngs_modulus, per: cell, bounds: [1.0, .inf]}, {name: gravity}]
        priors: [{parameter: gravity, type: normal, deviation: 0.1}]
        experiments:
          - {name: one}
          - {name: "2", solver: {dt: 0.005, steps: 3, gravity: [0, -5, 0.1]}}
        """,
    )
    assert file.document is file.document and file.folder == str(tmp_path)
    assert file.document["material"][0]["youngs_modulus"] == 2e4 and file.document["solver"]["steps"] == 6
    assert file.document["boundary"] == [{"region": "x_min", "fix": ["x", "y", "z"]}]
    assert file.document["experiments"][1]["name"] == "2" and file.document["parameters"][0]["bounds"] == [1, np.inf]
    file.save(tmp_path / "saved.yaml")
    again = diffsim.SceneFile(str(tmp_path / "saved.yaml"))
    assert again.document == file.document and again.experiments == ["one", "2"]
    value, gradient = evaluate(file)
    value_again, gradient_again = evaluate(again)
    assert value_again == value and np.array_equal(gradient_again, gradient)


def test_a_changed_document_is_a_scene(tmp_path):
    file = read(tmp_path, "parameters: [{name: density}]\n")
    copy = file.to_dict()
    assert copy == file.document and copy is not file.document
    copy["material"][0]["youngs_modulus"] = np.float64(3e4)
    copy["solver"].update({"steps": np.int64(4), "gravity": np.array([0.0, -9.8, 0.5])})
    copy["boundary"] = ({"region": "x_min", "fix": ("x", "y", "z")},)
    assert file.document["material"][0]["youngs_modulus"] == 2e4
    changed = diffsim.SceneFile.from_dict(copy, file.folder)
    assert changed.num_steps() == 4 and changed.document["solver"]["gravity"] == [0, -9.8, 0.5]
    text = SCENE.replace("2.0e+4", "30000").replace("steps: 6", "steps: 4, gravity: [0, -9.8, 0.5]")
    (tmp_path / "expected.yaml").write_text(text + "parameters: [{name: density}]\n")
    value, gradient = evaluate(diffsim.SceneFile(str(tmp_path / "expected.yaml")))
    value_changed, gradient_changed = evaluate(changed)
    assert value_changed == value and np.array_equal(gradient_changed, gradient)


def test_texts_that_look_like_numbers_stay_texts(tmp_path):
    file = read(tmp_path)
    file.document["petsc"] = {"first_option": "12", "other_option": "true", "third_option": "two words: and #more"}
    file.save(str(tmp_path / "saved.yaml"))
    assert diffsim.SceneFile(str(tmp_path / "saved.yaml")).document["petsc"] == file.document["petsc"]


def test_paths_follow_the_folder_of_a_saved_scene(tmp_path):
    (tmp_path / "floor.obj").write_text("v -1 -0.5 -1\nv 1 -0.5 -1\nv 1 -0.5 1\nv -1 -0.5 1\nf 1 3 2\nf 1 4 3\n")
    file = read(
        tmp_path,
        """\
        contact: {barrier_distance: 2.0e-3, barrier_stiffness: 1.0e+4, obstacles: [{mesh: {file: floor.obj}}]}
        parameters: [{name: density}]
        """,
    )
    folder = tmp_path / "results"
    folder.mkdir()
    file.save(folder / "saved.yaml")
    again = diffsim.SceneFile(str(folder / "saved.yaml"))
    assert again.document["contact"]["obstacles"][0]["mesh"]["file"] == str(pathlib.Path("..", "floor.obj"))
    assert file.document["contact"]["obstacles"][0]["mesh"]["file"] == "floor.obj"
    assert evaluate(again)[0] == evaluate(file)[0]


def test_found_values_are_stored_in_the_document(tmp_path):
    file = read(
        tmp_path,
        """\
        parameters:
          - {name: youngs_modulus, per: region, bounds: [1.0e+3, 1.0e+5]}
          - {name: gravity, per: step}
          - {name: poisson_ratio, initial: 0.3}
        """,
    )
    problem = file.problem()
    u = problem.start() + 0.01 * np.random.default_rng(1).normal(size=problem.size)
    u[0] = problem.bounds()[1][0]  # a value at its bound
    file.set_found(problem, u)
    moduli, gravity, ratio = (entry["initial"] for entry in file.document["parameters"])
    assert list(moduli) == ["left", "right"] and np.shape(gravity) == (6, 3) and np.shape(ratio) == ()
    assert moduli["left"] <= 1e5 and moduli["left"] == pytest.approx(1e5, rel=1e-12)
    assert moduli["right"] == pytest.approx(problem.physical("youngs_modulus", u)[1], rel=1e-15)
    file.save(tmp_path / "found.yaml")
    again = diffsim.SceneFile(str(tmp_path / "found.yaml")).problem()
    assert again.start() == pytest.approx(u, rel=1e-12, abs=1e-12)
    value, gradient = problem.gradient(u)
    value_again, gradient_again = again.gradient(again.start())
    assert value_again == pytest.approx(value, rel=1e-10)
    assert gradient_again == pytest.approx(gradient, rel=1e-8, abs=1e-8 * np.abs(gradient).max())


def test_found_fields_are_stored_in_a_file(tmp_path):
    file = read(tmp_path, "parameters: [{name: youngs_modulus, per: cell}, {name: initial_velocities}]\n")
    problem = file.problem()
    u = problem.start() + 0.1 * np.random.default_rng(2).normal(size=problem.size)
    with pytest.raises(diffsim.InputError, match="'youngs_modulus' has values per cell; give the path"):
        file.set_found(problem, u)
    assert "initial" not in file.document["parameters"][0]
    file.set_found(problem, u, str(tmp_path / "found.h5"))
    entries = file.document["parameters"]
    assert entries[0]["initial"] == {"file": "found.h5", "dataset": "/parameters/youngs_modulus"}
    file.save(tmp_path / "found.yaml")
    again = diffsim.SceneFile(str(tmp_path / "found.yaml")).problem()
    assert again.start() == pytest.approx(u, rel=1e-12, abs=1e-12)
    assert again.value(again.start()) == pytest.approx(problem.value(u), rel=1e-10)
    with pytest.raises(diffsim.InputError, match="not one that problem"):
        file.set_found(again, u)
    del file.document["parameters"][1]
    with pytest.raises(diffsim.InputError, match="`parameters` of the document has been changed"):
        file.set_found(problem, u, str(tmp_path / "found.h5"))


def test_wrong_documents_name_the_key(tmp_path):
    file = read(tmp_path)
    for change, message in (
        (lambda document: document.update(objectiv=[]), "objectiv: unknown key"),
        (lambda document: document["solver"].update(dt={1.0}), "solver.dt: is a value of the type set"),
        (lambda document: document["solver"].update(dt="0.01"), "solver.dt: \"0.01\" is text"),
        (lambda document: document.update(solver=document), "is nested too deeply"),
    ):
        document = file.to_dict()
        change(document)
        with pytest.raises(diffsim.InputError, match=message):
            diffsim.SceneFile.from_dict(document)
    with pytest.raises(diffsim.InputError, match="a scene is a dict"):
        diffsim.SceneFile.from_dict([1])
    file.document["solver"]["steps"] = -1
    with pytest.raises(diffsim.InputError, match="solver.steps"):
        file.save(tmp_path / "saved.yaml")
    assert not (tmp_path / "saved.yaml").exists()
    file.document["solver"]["steps"] = 1
    with pytest.raises(diffsim.InputError, match="cannot be written"):
        file.save(tmp_path / "missing" / "saved.yaml")
