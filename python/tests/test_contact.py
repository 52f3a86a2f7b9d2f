# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Contact with obstacles of triangles, and separate values of single pairs."""

import diffsim
import numpy as np
import pytest
from scenes import difference

FLOOR = -1.9e-3  # m
STEPS = 20


def floor(**options):
    """Return an obstacle of two triangles, of which one is below the cube."""
    corners = [[-1, FLOOR, -1], [1.1, FLOOR, -1], [1.1, FLOOR, 3], [-1, FLOOR, 3]]
    return diffsim.MeshObstacle(corners, [[0, 2, 1], [0, 3, 2]], label="floor", **options)


def falling(meshes=(), pairs=(), friction=0.1, thicknesses=None, surfaces=()):
    """Return a simulator of a cube of 0.1 m that falls on obstacles and slides along x."""
    mesh = diffsim.TetrahedralMesh.create_cube(1, 0.1)
    made = diffsim.DifferentiableSimulator(
        mesh,
        diffsim.DifferentiableMaterial(2e4, 0.3),
        diffsim.DifferentiableSolver(dt=2e-3, substeps=10, damping=1.0),
    )
    made.scene.set_initial_velocity([0.3, 0.0, 0.0])
    made.scene.add_contact(
        diffsim.ContactOptions(
            barrier_distance=2e-3,
            barrier_stiffness=1e4,
            friction=friction,
            friction_velocity=0.01,
            meshes=list(meshes),
            pairs=list(pairs),
            thicknesses=thicknesses or {},
            surfaces=list(surfaces),
        )
    )
    return made


def lowest(made):
    """Return the smallest y of the vertices in all states."""
    trajectory = made.rollout(STEPS)
    return min(trajectory.positions(n)[:, 1].min() for n in range(STEPS + 1))


def distance(n, state):
    """Return the sum of x over the vertices in the last state, and the derivative of this sum."""
    if n != STEPS:
        return None
    derivative = np.zeros_like(state.positions)
    derivative[:, 0] = 1.0
    return state.positions[:, 0].sum(), {"positions": derivative}


def test_triangles_stop_a_body():
    made = falling([floor()])
    assert lowest(made) > FLOOR
    assert "obstacle_position:floor" in made.parameters
    free = falling([floor()], [diffsim.ContactPair("body", "floor", touch=False)])
    assert lowest(free) == pytest.approx(-0.5 * 9.8 * (2e-3 * STEPS) ** 2, rel=0.01)


def test_values_of_a_pair_replace_the_common_values():
    pair = diffsim.ContactPair("body", "floor", friction=0.4)
    assert pair.label == "body|floor" and pair.between == ["body", "floor"] and pair.barrier_distance is None
    made, common = falling([floor()], [pair]), falling([floor()], friction=0.4)
    assert made.parameters["friction:body|floor"] == 0.4 and made.parameters["friction"] == 0.1
    x, expected = made.rollout(STEPS).positions(STEPS), common.rollout(STEPS).positions(STEPS)
    assert x == pytest.approx(expected, rel=1e-9, abs=1e-12)
    faster = falling([floor()]).rollout(STEPS).positions(STEPS)
    assert x[:, 0].mean() < faster[:, 0].mean() - 1e-4


def test_a_penalty_is_a_finite_pressure():
    pair = diffsim.ContactPair("body", "floor", law="penalty", damping=0.5, thickness=1e-3, barrier_stiffness=5e2)
    assert pair.law == "penalty" and pair.damping == 0.5
    made = falling([floor()], [pair])
    assert made.parameters["contact_damping:body|floor"] == 0.5 and made.parameters["contact_damping"] == 0.0
    assert lowest(made) < FLOOR + 1e-3
    assert diffsim.ContactOptions(law="penalty", damping=0.1).damping == 0.1
    assert diffsim.ContactPair("body", "floor").law is None
    assert diffsim.ContactOptions(surface_scales={"ram": 1.1}).surface_scales == {"ram": 1.1}
    with pytest.raises(diffsim.InputError, match="spring"):
        diffsim.ContactOptions(law="spring")


def expect_slope(made, name, value):
    """Compare the derivative of `distance` with respect to a parameter, at `value`, with differences."""
    made.require_gradient([name])
    made.rollout(STEPS)
    made.backward(distance)
    slope = float(made.gradient(name))

    def at(offset):
        made.parameters[name] = value + offset
        made.rollout(STEPS)
        return made.compute_loss(distance)

    assert slope != 0.0
    assert slope == pytest.approx(difference(at, 0.0, 1e-3), rel=1e-4)


def test_impacts_have_a_restitution():
    pair = diffsim.ContactPair("body", "floor", law="impact", restitution=0.4)
    assert pair.law == "impact" and pair.restitution == 0.4
    made = diffsim.DifferentiableSimulator(
        diffsim.TetrahedralMesh.create_cube(1, 0.1),
        diffsim.DifferentiableMaterial(2e4, 0.3),
        diffsim.DifferentiableSolver(dt=2e-3, substeps=10, damping=1.0),
    )
    made.scene.add_contact(
        diffsim.ContactOptions(
            law="impact", restitution=0.8, friction=0.3, planes=[diffsim.PlaneObstacle([0, FLOOR, 0])]
        )
    )
    assert made.parameters["restitution"] == 0.8 and "barrier_distance" not in made.parameters
    assert lowest(made) > FLOOR - 1e-12
    expect_slope(made, "restitution", 0.8)


@pytest.mark.parametrize("name, step", [("friction:body|floor", 1e-3), ("barrier_stiffness:body|floor", 10.0)])
def test_gradient_with_respect_to_the_values_of_a_pair(name, step):
    made = falling([floor()], [diffsim.ContactPair("body", "floor", friction=0.4, barrier_stiffness=2e4)])
    made.require_gradient([name])
    made.rollout(STEPS)
    made.backward(distance)
    slope = float(made.gradient(name))
    start = float(made.parameters[name])

    def at(offset):
        made.parameters[name] = start + offset
        made.rollout(STEPS)
        return made.compute_loss(distance)

    assert slope != 0.0
    assert slope == pytest.approx(difference(at, 0.0, step), rel=1e-4)


def test_options_have_members():
    turn = diffsim.Rotation([0, 1, 0], 2.0, origin=[0.05, 0, 0.05])
    obstacle = floor(velocity=[0, 0.1, 0], solid=False, rotation=turn, thickness=1e-4)
    assert obstacle.vertices.shape == (4, 3) and obstacle.triangles.tolist() == [[0, 2, 1], [0, 3, 2]]
    assert obstacle.velocity == [0, 0.1, 0] and obstacle.solid is False and obstacle.thickness == 1e-4
    assert obstacle.rotation.angular_velocity == 2.0 and obstacle.rotation.origin == [0.05, 0, 0.05]
    made = falling([obstacle], thicknesses={"body": 1e-4})
    assert "thickness:body" in made.parameters and "thickness:floor" in made.parameters
    assert "obstacle_angular_velocity:floor" in made.parameters
    contact = made.scene.contact
    assert [mesh.label for mesh in contact.meshes] == ["floor"] and contact.thicknesses == {"body": 1e-4}
    assert contact.pairs == [] and contact.friction == 0.1


def skin(lower=0.0):
    """Return the boundary of the cube of `falling` as a separate surface, whose lower side is moved down by `lower`."""
    mesh = diffsim.TetrahedralMesh.create_cube(1, 0.1)
    vertices = mesh.rest_positions
    vertices[vertices[:, 1] < 0.01, 1] -= lower
    return diffsim.BodySurface("body", vertices, mesh.boundary_faces()[0])


def test_a_surface_replaces_the_boundary_of_a_body():
    surface = skin()
    assert surface.body == "body" and surface.vertices.shape == (8, 3) and surface.triangles.shape == (12, 3)
    made, expected = falling([floor()], surfaces=[surface]), falling([floor()])
    assert [own.body for own in made.scene.contact.surfaces] == ["body"]
    x = made.rollout(STEPS).positions(STEPS)
    assert np.allclose(x, expected.rollout(STEPS).positions(STEPS), rtol=0.0, atol=1e-13)
    assert made.contact_state == expected.contact_state
    lower = falling([floor()], surfaces=[skin(1e-3)])
    assert lower.contact_state["min_distance"] == pytest.approx(-FLOOR - 1e-3)
    assert lower.rollout(STEPS).positions(STEPS)[:, 1].mean() > x[:, 1].mean() + 1e-5


def test_gradient_with_a_surface():
    made = falling([floor()], surfaces=[skin(1e-3)])
    expect_slope(made, "friction", 0.1)


def test_a_surface_of_a_file(tmp_path):
    path = tmp_path / "skin.obj"
    path.write_text("v 0 0 0\nv 100 0 0\nv 0 0 100\nf 1 3 2\n")
    surface = diffsim.BodySurface.from_file("body", str(path), scale=1e-3)
    assert surface.body == "body" and surface.vertices == pytest.approx(np.array([[0, 0, 0], [0.1, 0, 0], [0, 0, 0.1]]))
    with pytest.raises(diffsim.InputError, match="missing.obj"):
        diffsim.BodySurface.from_file("body", "missing.obj")


def test_wrong_surfaces_are_refused():
    with pytest.raises(diffsim.InputError, match="there is no vertex 3"):
        diffsim.BodySurface("body", np.eye(3), [[0, 1, 3]])
    with pytest.raises(diffsim.InputError, match="there is no such body"):
        falling([floor()], surfaces=[diffsim.BodySurface("crate", np.eye(3), [[0, 1, 2]])])
    with pytest.raises(diffsim.InputError, match="already has a surface"):
        falling([floor()], surfaces=[skin(), skin()])


def test_scales_of_surfaces_have_a_centre():
    """The surface of a rigid cube is twice as large about a point, so that its lower side is lower or the same."""
    scales = {"ram": 1.1, "crate": (2.0, [0.05, 0.0, 0.05])}
    assert diffsim.ContactOptions(surface_scales=scales).surface_scales == scales
    with pytest.raises(diffsim.InputError, match="'ram' must be a number or a pair"):
        diffsim.ContactOptions(surface_scales={"ram": "large"})

    def height(scale):
        cube = diffsim.TetrahedralMesh.create_cube(1, 0.1)
        body = diffsim.Body.affine(cube.rest_positions, cube.boundary_faces()[0])
        mesh = diffsim.TetrahedralMesh.join({"crate": body})
        solver = diffsim.DifferentiableSolver(dt=2e-3, substeps=10, damping=1.0)
        scene = diffsim.DifferentiableScene(mesh, diffsim.DifferentiableMaterial("rigid", {"density": 700.0}), solver)
        planes = [diffsim.PlaneObstacle([0, -0.06, 0])]
        scene.add_contact(diffsim.ContactOptions(barrier_distance=2e-3, planes=planes, surface_scales={"crate": scale}))
        state = diffsim.Simulator(scene).contact_state
        return state["min_distance"]

    assert height(1.0) == pytest.approx(0.06)
    assert height(2.0) == pytest.approx(0.01)
    assert height((2.0, [0.05, 0.0, 0.05])) == pytest.approx(0.06)


def test_contact_state():
    made = falling([floor()])
    assert made.contact_state["min_distance"] == pytest.approx(-FLOOR)
    made.step(STEPS)
    state = made.contact_state
    assert 0.0 < state["min_distance"] == pytest.approx(made.positions[:, 1].min() - FLOOR, rel=1e-9)
    assert state["active_pairs"] > 0 and state["intersections"] == 0 and state["friction_power"] > 0.0
    free = diffsim.Simulator(diffsim.TetrahedralMesh.create_cube(1, 0.1), diffsim.DifferentiableMaterial(2e4, 0.3))
    assert free.contact_state["min_distance"] == np.inf


def test_numbers_of_pairs_are_limited():
    assert diffsim.ContactOptions(max_pairs=7).max_pairs == 7 and diffsim.ContactOptions().max_pairs == 0
    made = diffsim.DifferentiableSimulator(
        diffsim.TetrahedralMesh.create_cube(1, 0.1), diffsim.DifferentiableMaterial(2e4, 0.3)
    )
    made.scene.add_contact(diffsim.ContactOptions(barrier_distance=2e-3, meshes=[floor()], max_pairs=1))
    with pytest.raises(diffsim.Error, match="pairs"):
        made.step(STEPS)


def test_triangles_of_a_file(tmp_path):
    path = tmp_path / "floor.obj"
    path.write_text("v 0 0 0\nv 1000 0 0\nv 0 0 1000\nf 1 3 2\n")
    obstacle = diffsim.MeshObstacle.from_file(str(path), scale=1e-3, label="tile")
    assert obstacle.label == "tile" and sorted(obstacle.triangles.tolist()[0]) == [0, 1, 2]
    assert obstacle.vertices == pytest.approx(np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1]]))


def test_wrong_arguments_are_refused():
    with pytest.raises(diffsim.InputError, match="there is no vertex 3"):
        diffsim.MeshObstacle([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 3]])
    with pytest.raises(diffsim.InputError, match="must be an array of shape"):
        diffsim.MeshObstacle([[0, 0], [1, 0]], [[0, 1, 0]])
    with pytest.raises(diffsim.InputError, match="flor"):
        falling([floor()], [diffsim.ContactPair("body", "flor", friction=0.4)])
    with pytest.raises(diffsim.InputError):
        diffsim.MeshObstacle.from_file("missing.obj")
