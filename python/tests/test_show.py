# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Points, triangles and colours of pictures. Tests that draw are skipped without PyVista, matplotlib or a display."""

import os
import sys

import diffsim
import numpy as np
import pytest
from diffsim import _pictures
from scenes import largest, simulator
from test_bodies import BOX, SIDES


def volume(points, triangles):
    """Return the volume inside closed triangles whose normals point outwards."""
    a, b, c = (points[triangles[:, i]] for i in range(3))
    return (a * np.cross(b, c)).sum() / 6.0


def faces_of_one_cell(cells):
    """Return the sorted corners of the faces that occur in only one tetrahedron, a set of tuples."""
    corners = np.sort(cells[:, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]].reshape(-1, 3), axis=1)
    faces, counts = np.unique(corners, axis=0, return_counts=True)
    return {tuple(face) for face in faces[counts == 1].tolist()}


def test_boundary_faces_are_the_faces_of_one_cell():
    mesh = diffsim.TetrahedralMesh.create_cube(2, 1.0)
    faces, cells = mesh.boundary_faces()
    assert faces.shape == (48, 3) and cells.shape == (48,)
    assert {tuple(face) for face in np.sort(faces, axis=1).tolist()} == faces_of_one_cell(mesh.cells)
    assert all(set(face) <= set(mesh.cells[cell]) for face, cell in zip(faces.tolist(), cells))
    assert volume(mesh.rest_positions, faces) == pytest.approx(1.0, rel=1e-12)
    assert mesh.triangles.shape == (0, 3) and mesh.segments.shape == (0, 2) and mesh.affine_surfaces() == []


def test_second_order_faces_are_split():
    mesh = diffsim.TetrahedralMesh.box([2.0, 1.0, 1.0], [2, 1, 1], order=2)
    faces, _ = mesh.boundary_faces()
    x = mesh.rest_positions
    assert faces.shape == (20, 6)
    for middle, (i, j) in zip((3, 4, 5), ((0, 1), (1, 2), (2, 0))):
        assert largest(x[faces[:, middle]] - 0.5 * (x[faces[:, i]] + x[faces[:, j]])) < 1e-12
    surface = _pictures.Surface(mesh)
    assert surface.triangles.shape == (80, 3)
    assert volume(x, surface.triangles) == pytest.approx(2.0, rel=1e-12)
    assert all(np.array_equal(surface.cells[i::4], surface.cells[::4]) for i in range(4))


def test_colours_are_on_points_or_triangles():
    mesh = diffsim.TetrahedralMesh.create_cube(2, 1.0)
    surface = _pictures.Surface(mesh)
    x = mesh.rest_positions
    kind, numbers = surface.colours(x)
    assert kind == "points" and numbers == pytest.approx(np.linalg.norm(x, axis=1))
    kind, numbers = surface.colours(np.arange(mesh.num_cells))
    assert kind == "triangles" and np.array_equal(numbers, surface.cells)
    _, numbers = surface.colours(np.ones((mesh.num_cells, 3, 3)), "cells")
    assert numbers == pytest.approx(3.0)
    with pytest.raises(diffsim.InputError, match="one row for each of 27 vertices or 48 cells"):
        surface.colours(np.zeros(5))
    with pytest.raises(diffsim.InputError, match="one row for each"):
        surface.colours(np.zeros(27), on="cells")
    with pytest.raises(diffsim.InputError, match="on is vertices or cells"):
        surface.colours(np.zeros(27), on="faces")
    surface.num_cells = 27
    with pytest.raises(diffsim.InputError, match="have the same number, 27"):
        surface.colours(np.zeros(27))
    assert surface.colours(np.zeros(27), on="vertices")[0] == "points"


def test_affine_bodies_move_with_their_nodes():
    size, start = np.array([0.3, 0.2, 0.1]), np.array([1.0, 0.0, 0.5])
    mesh = diffsim.TetrahedralMesh.join(
        {"brick": diffsim.Body.affine(BOX * size, SIDES).place(translate=start), "cube": diffsim.Body.cube(1, 0.1)}
    )
    ((name, nodes, points, triangles),) = mesh.affine_surfaces()
    assert name == "brick" and len(nodes) == 4 and np.array_equal(triangles, SIDES)
    assert largest(points - (BOX * size + start)) < 1e-12
    surface = _pictures.Surface(mesh)
    assert surface.triangles.shape == (12 + 12, 3) and np.array_equal(surface.triangles[12:], SIDES + mesh.num_vertices)
    assert np.all(surface.cells[12:] == -1)
    rest = surface.extend(mesh.rest_positions)
    assert largest(rest[mesh.num_vertices :] - points) < 1e-12
    matrix = np.array([[1.1, 0.2, 0.0], [-0.1, 0.9, 0.3], [0.0, 0.1, 1.2]])
    moved = surface.extend(mesh.rest_positions @ matrix.T + 0.5)
    assert largest(moved - (rest @ matrix.T + 0.5)) < 1e-12
    kind, numbers = surface.colours(np.arange(mesh.num_cells, dtype=float))
    assert kind == "triangles" and np.all(np.isnan(numbers[12:])) and np.all(np.isfinite(numbers[:12]))
    centers = _pictures.body_centers(mesh, mesh.rest_positions)
    assert centers["brick"] == pytest.approx(start + 0.5 * size, rel=1e-12)
    assert centers["cube"] == pytest.approx([0.05, 0.05, 0.05])


def test_shells_and_ropes_have_triangles_and_segments():
    sheet = diffsim.Body.surface([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    rope = diffsim.Body.segments([[0, 0, 2], [1, 0, 2], [2, 0, 2]], [[0, 1], [1, 2]])
    mesh = diffsim.TetrahedralMesh.join({"sheet": sheet, "rope": rope})
    surface = _pictures.Surface(mesh)
    assert surface.triangles.shape == (2, 3) and surface.segments.shape == (2, 2) and np.all(surface.cells == -1)
    numbers = mesh.global_vertices
    assert sorted(sorted(row) for row in numbers[surface.triangles].tolist()) == [[0, 1, 2], [0, 2, 3]]
    assert sorted(sorted(row) for row in numbers[surface.segments].tolist()) == [[4, 5], [5, 6]]
    with pytest.raises(diffsim.InputError):
        surface.colours(0.0)


def test_obstacles_move_and_rotate():
    quarter = diffsim.Rotation(axis=[0, 0, 2], angular_velocity=0.5 * np.pi)
    plane = diffsim.PlaneObstacle(point=[0, -1, 0], normal=[0, 3, 0], velocity=[1, 0, 0], rotation=quarter)
    assert _pictures.move([[0, -1, 0]], plane, 1.0) == pytest.approx(np.array([[2.0, 0.0, 0.0]]), abs=1e-15)
    assert np.array_equal(_pictures.rotate([[1, 2, 3]], [0, 0, 0], 1.0), [[1, 2, 3]])
    corners = _pictures.plane_square(plane, 1.0, [5.0, 3.0, 0.0], 2.0)
    assert corners[:, 0] == pytest.approx(2.0)
    assert corners.mean(axis=0) == pytest.approx([2.0, 3.0, 0.0], abs=1e-15)
    assert np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1) == pytest.approx(2.0)


def touching():
    """Return a simulator of a cube slightly above a plane and above an obstacle of triangles that is farther away."""
    made, mesh = simulator(resolution=1)
    far = diffsim.MeshObstacle([[-1, -1, -1], [1, -1, -1], [0, -1, 1]], [[0, 1, 2]], label="far", velocity=[0, -1, 0])
    floor = diffsim.PlaneObstacle(point=[0.0, -1e-3, 0.0], label="floor")
    made.scene.add_contact(
        diffsim.ContactOptions(barrier_distance=2e-3, barrier_stiffness=1e3, planes=[floor], meshes=[far])
    )
    return made, mesh


def test_contact_forces_are_arrows():
    made, mesh = touching()
    forces = {other: force for body, other, force in made.contact_forces if body == "body"}
    assert set(forces) == {"floor", "far"} and forces["floor"][1] > 0.0 and not np.any(forces["far"])
    centers = _pictures.body_centers(mesh, made.positions)
    origins, vectors = _pictures.contact_arrows(made.contact_forces, centers)
    assert origins == pytest.approx(np.array([[0.05, 0.05, 0.05]])) and np.array_equal(vectors, [forces["floor"]])
    assert _pictures.contact_arrows([], centers)[0].shape == (0, 3)
    (square, quad), (points, triangles) = _pictures.obstacles(made.scene, 2.0, [0, 0, 0], 1.0)
    assert square[:, 1] == pytest.approx(-1e-3) and quad.shape == (1, 4)
    assert points[:, 1] == pytest.approx(-3.0) and triangles.tolist() == [[0, 1, 2]]
    free, _ = simulator()
    assert free.contact_forces == [] and free.scene.contact is None
    assert _pictures.obstacles(free.scene, 0.0, [0, 0, 0], 1.0) == []


def test_subjects_are_simulators_scenes_and_meshes():
    made, mesh = simulator()
    made.step(2)
    of, positions, scene, time = _pictures.subject_of(made)
    assert np.array_equal(positions, made.positions) and time == made.time and scene is not None
    assert np.array_equal(of.cells, mesh.cells)
    assert np.array_equal(_pictures.subject_of(made.scene)[1], mesh.rest_positions)
    assert _pictures.subject_of(mesh)[2] is None
    with pytest.raises(diffsim.InputError, match="not an object of the type int"):
        _pictures.subject_of(3)


def test_frames_of_a_trajectory():
    made, mesh = simulator()
    trajectory = made.rollout(5, 2)
    surface = _pictures.Surface(trajectory.scene.mesh)
    frames = _pictures.frames(trajectory, surface, 2, lambda n, state: state.velocities)
    assert [time for time, _, _ in frames] == pytest.approx([0.0, 0.01, 0.02])
    for n, (_, points, (kind, numbers)) in zip((0, 2, 4), frames):
        assert np.array_equal(points, trajectory.positions(n)) and kind == "points"
        assert numbers == pytest.approx(np.linalg.norm(trajectory.state(n).velocities, axis=1))
    assert all(colours is None for _, _, colours in _pictures.frames(trajectory, surface))
    with pytest.raises(diffsim.InputError, match="every is 0"):
        _pictures.frames(trajectory, surface, 0)


def result():
    """Return the result of a short optimisation, and the calls of its observer."""
    made, mesh = simulator()
    loss = diffsim.TargetPositionLoss(mesh, "y_min", [0.05, -0.001, 0.05], 4)
    problem = diffsim.InverseProblem(made.scene, 4, loss, [diffsim.Unknown("gravity")])
    seen = []
    return problem.minimise("lbfgs", max_iterations=3, observer=lambda *row: seen.append(row)), seen


def test_histories_are_read(tmp_path):
    found, seen = result()
    assert found["history"] == pytest.approx(np.array(seen))
    iterations, losses, norms = _pictures.history_of(found)
    assert np.array_equal(np.column_stack([iterations, losses, norms]), found["history"]) and iterations[0] == 0
    path = tmp_path / "history.csv"
    path.write_text("iteration,loss,gradient_norm,evaluations,seconds,relative_gradient,gravity.x\n0,2.5,1e-3,1,0.1,1,0\n")
    assert [column.tolist() for column in _pictures.history_of(path)] == [[0.0], [2.5], [1e-3]]
    path.write_text("step,time,positions,velocities\n2,0.2,1.0,3.0\n1,0.1,2.0,4.0\n")
    times, positions, velocities = _pictures.adjoint_norms_of(str(path))
    assert times.tolist() == [0.2, 0.1] and positions.tolist() == [1.0, 2.0] and velocities.tolist() == [3.0, 4.0]
    with pytest.raises(diffsim.InputError, match="no column iteration"):
        _pictures.history_of(path)
    with pytest.raises(diffsim.InputError, match="give the columns step, time"):
        _pictures.adjoint_norms_of([[1.0, 2.0]])


def test_missing_packages_are_named(monkeypatch):
    for name in ("pyvista", "matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    made, mesh = simulator()
    with pytest.raises(ImportError, match="diffsim.show needs the package pyvista; run `pip install pyvista`"):
        diffsim.show(made)
    with pytest.raises(ImportError, match="pyvista"):
        diffsim.animate(made.rollout(1), "motion.gif")
    with pytest.raises(ImportError, match="matplotlib"):
        diffsim.plot_history([[0.0, 1.0, 1.0]])
    with pytest.raises(ImportError, match="matplotlib"):
        diffsim.plot_gradient_norms([[0.0, 0.0, 1.0, 1.0]])


def test_pictures_are_written(tmp_path):
    pytest.importorskip("pyvista")
    pytest.importorskip("imageio")
    if not os.environ.get("DISPLAY"):
        pytest.skip("no display: set DISPLAY to draw pictures")
    made, mesh = touching()
    made.step(2)
    diffsim.show(made, made.positions - mesh.rest_positions, name="displacement", screenshot=tmp_path / "state.png")
    diffsim.animate(made.rollout(3), tmp_path / "motion.gif", lambda n, state: state.velocities)
    assert (tmp_path / "state.png").stat().st_size > 0 and (tmp_path / "motion.gif").stat().st_size > 0


def test_plots_are_drawn():
    pytest.importorskip("matplotlib").use("Agg")
    found, _ = result()
    axes = diffsim.plot_history(found)
    assert np.array_equal(axes[0].lines[0].get_ydata(), found["history"][:, 1])
    norms = diffsim.plot_gradient_norms([[0.0, 0.0, 1.0, 2.0], [1.0, 0.1, 3.0, 4.0]])
    assert len(norms.lines) == 2
