# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Scenes of several bodies: solids, rigid bodies, joints, robots."""

import diffsim
import numpy as np
import pytest
from scenes import difference

BOX = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
SIDES = np.array(
    [[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4], [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5]]
)
STEPS = 10


def box(size, start):
    """Return an affine body with the shape of a box."""
    return diffsim.Body.affine(BOX * size, SIDES).place(translate=start)


def rigid(body, density=700.0):
    return diffsim.DifferentiableMaterial("rigid", {"density": density}, f"{body}/all")


def arm(torques=0.0):
    """Return a simulator of two rigid links with a soft pad at the end."""
    mesh = diffsim.TetrahedralMesh.join(
        {
            "upper": box([0.3, 0.04, 0.04], [0, -0.02, -0.02]),
            "lower": box([0.25, 0.03, 0.03], [0.3, -0.015, -0.015]),
            "pad": diffsim.Body.box([0.02, 0.03, 0.03], [1, 1, 1]).place(translate=[0.551, -0.015, -0.015]),
        }
    )
    assert mesh.body_names == ["upper", "lower", "pad"]
    mesh.define_region("glue", box=[[0.55, -1, -1], [0.552, 1, 1]], body="pad")
    pad = diffsim.DifferentiableMaterial(
        "stable_neo_hookean", {"youngs_modulus": 2e5, "poisson_ratio": 0.3, "density": 500.0}, "pad/all"
    )
    scene = diffsim.DifferentiableScene(
        mesh,
        [rigid("upper"), rigid("lower"), pad],
        diffsim.DifferentiableSolver(dt=2e-3, substeps=5, integrator="velocity_verlet"),
    )
    scene.join(diffsim.Joint("shoulder", "revolute", "upper"))
    scene.join(diffsim.Joint("elbow", "revolute", "lower", "upper", point=[0.3, 0, 0]))
    scene.drive("shoulder", torque=torques, damping=0.02)
    scene.drive("elbow", target=0.3, stiffness=0.5, friction=1e-3, friction_velocity=0.5, limits=(-0.5, 1.0), limit_stiffness=0.1)
    scene.attach("glue", "lower/all", 500.0)
    return diffsim.DifferentiableSimulator(scene), mesh


def height(n, state):
    if n != STEPS:
        return None
    x = state.positions
    derivative = np.zeros_like(x)
    owned = len(state.velocities)
    derivative[:owned, 1] = 1.0
    return x[:owned, 1].sum(), {"positions": derivative}


@pytest.mark.parametrize("name, entry", [("joint_torque:shoulder", 3), ("joint_stiffness:elbow", ...), ("joint_target:elbow", ...)])
def test_gradient_with_respect_to_drives(name, entry):
    made, _ = arm(np.linspace(0.1, 0.5, STEPS))
    made.require_gradient([name])
    made.rollout(STEPS)
    made.backward(height)
    slope = np.asarray(made.gradient(name))[entry].sum()
    start = np.array(made.parameters[name])

    def at(offset):
        values = start.copy()
        values[entry] += offset
        made.parameters[name] = values
        made.rollout(STEPS)
        return made.compute_loss(height)

    assert slope != 0.0
    assert slope == pytest.approx(difference(at, 0.0, 1e-2), rel=1e-7)


def test_joints_have_coordinates():
    made, _ = arm(0.3)
    assert made.joint_coordinates == pytest.approx([0.0, 0.0], abs=1e-14)
    made.step(5)
    shoulder, elbow = made.joint_coordinates
    assert shoulder != 0.0 and elbow > 0.0


def test_armature_adds_to_the_inertia_of_a_wheel():
    joint = diffsim.Joint("hinge", "revolute", "wheel", armature=5e-3)
    assert (joint.rotor, joint.armature) == ("hinge.rotor", 5e-3)
    mesh = diffsim.TetrahedralMesh.join(
        {"wheel": box([0.2, 0.1, 0.05], [-0.1, -0.05, -0.025]), joint.rotor: diffsim.Body.rotor()}
    )
    scene = diffsim.DifferentiableScene(
        mesh, [rigid("wheel")], diffsim.DifferentiableSolver(dt=1e-3, gravity=0.0, substeps=1, integrator="velocity_verlet")
    )
    scene.join(joint)
    scene.drive("hinge", torque=0.02)
    made = diffsim.DifferentiableSimulator(scene)
    assert np.asarray(made.parameters["joint_armature:hinge"]) == pytest.approx(5e-3)
    made.step(20)
    inertia = 700.0 * 0.2 * 0.1 * 0.05 * (0.2**2 + 0.1**2) / 12 + 5e-3
    assert made.joint_coordinates == pytest.approx([0.5 * 0.02 / inertia * 0.02**2], rel=1e-5)


def test_a_joint_follows_another():
    turn = diffsim.Joint("turn", "revolute", "wheel", follows="slide", ratio=-3.0)
    assert (turn.follows, turn.ratio) == ("slide", -3.0)
    mesh = diffsim.TetrahedralMesh.join(
        {
            "wheel": box([0.2, 0.1, 0.05], [-0.1, -0.05, -0.025]),
            "rack": box([0.4, 0.05, 0.05], [-0.2, 0.3, -0.025]),
        }
    )
    scene = diffsim.DifferentiableScene(
        mesh,
        [rigid("wheel"), rigid("rack")],
        diffsim.DifferentiableSolver(dt=1e-3, gravity=0.0, substeps=1, integrator="velocity_verlet"),
    )
    scene.join(turn)
    scene.join(diffsim.Joint("slide", "prismatic", "rack", point=[0, 0.3, 0], axis=[1, 0, 0]))
    scene.drive("slide", torque=5.0)
    made = diffsim.DifferentiableSimulator(scene)
    assert made.parameters.unit("joint_ratio:turn") == "1/m"
    assert made.parameters.unit("joint_torque:slide") == "N"
    assert diffsim.InverseProblem(
        scene, 5, diffsim.EffortLoss(scene, "joint_torque:slide", 5), [diffsim.Unknown("joint_torque:slide")]
    ).unit == "N² s"
    made.step(20)
    angle, way = made.joint_coordinates
    wheel = 700.0 * 0.2 * 0.1 * 0.05 * (0.2**2 + 0.1**2) / 12
    assert way == pytest.approx(0.5 * 5.0 / (700.0 * 0.4 * 0.05 * 0.05 + 9.0 * wheel) * 0.02**2, rel=1e-5)
    assert angle == pytest.approx(-3.0 * way, abs=1e-13)
    made.parameters["joint_ratio:turn"] = 2.0
    made.step(20)
    angle, way = made.joint_coordinates
    assert angle == pytest.approx(2.0 * way, abs=1e-13)


def test_wrong_bodies_and_joints_are_refused():
    with pytest.raises(diffsim.InputError, match="there is no vertex 8"):
        diffsim.Body.affine(BOX, SIDES + 2)
    with pytest.raises(diffsim.InputError, match="did you mean 'revolute'"):
        diffsim.Joint("j", "revolut", "upper")
    with pytest.raises(diffsim.InputError, match="cells is 'cubes'"):
        diffsim.Body.from_file("x.obj", cells="cubes")
    with pytest.raises(diffsim.InputError, match="inward normals"):
        diffsim.TetrahedralMesh.join({"a": diffsim.Body.affine(BOX, SIDES[:, ::-1])})
    made, _ = arm()
    with pytest.raises(diffsim.InputError, match="did you mean 'elbow'"):
        made.scene.drive("elbo", torque=1.0)


def test_surfaces_and_segments_are_bodies():
    mesh = diffsim.TetrahedralMesh.join(
        {
            "sheet": diffsim.Body.surface([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]]),
            "rope": diffsim.Body.segments([[0, 0, 1], [1, 0, 1]], [[0, 1]]).place(scale=[2, 1, 1], translate=[0, 0, 1]),
            "tet": diffsim.Body.solid([[3, 0, 0], [4, 0, 0], [3, 1, 0], [3, 0, 1]], [[0, 1, 2, 3]]),
        }
    )
    assert (mesh.num_vertices, mesh.num_cells) == (10, 1)
    order = np.argsort(mesh.global_vertices)
    assert np.array_equal(mesh.rest_positions[order][4:6], [[0, 0, 2], [2, 0, 2]])


def test_cubes_are_bodies_and_inverted_cells_are_refused():
    mesh = diffsim.TetrahedralMesh.join(
        {"fine": diffsim.Body.cube(2, 0.1), "coarse": diffsim.Body.cube(1).place(translate=[2, 0, 0])}
    )
    assert (mesh.num_vertices, mesh.num_cells) == (35, 54)
    assert "fine/x_min" in mesh.region_names
    with pytest.raises(diffsim.InputError):
        diffsim.TetrahedralMesh.join({"tet": diffsim.Body.solid([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 0, 2, 3]])})


def test_robot(tmp_path):
    inertial = '<inertial><mass value="0.4"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial>'
    path = tmp_path / "pendulum.urdf"
    path.write_text(
        f'<robot name="p"><link name="base"/><link name="bob">{inertial}</link><joint name="pivot" type="continuous">'
        '<parent link="base"/><child link="bob"/><axis xyz="0 0 1"/><origin xyz="0 1 0"/></joint></robot>'
    )
    try:
        robot = diffsim.Robot.from_urdf(str(path), "p", coordinates={"pivot": 0.2}, velocities={"pivot": 0.5})
    except diffsim.InputError as error:
        assert "does not read URDF files" in str(error)
        pytest.skip("this build does not read URDF files")
    assert robot.joints == ["p/pivot"] and list(robot.bodies) == ["p.bob"] and robot.warnings == []
    mesh = diffsim.TetrahedralMesh.join(robot.bodies)
    scene = diffsim.DifferentiableScene(
        mesh, robot.materials, diffsim.DifferentiableSolver(dt=1e-3, substeps=1, gravity=0.0, integrator="velocity_verlet")
    )
    scene.add_joints(robot)
    scene.set_initial_velocity(robot.initial_velocity(mesh))
    scene.drive("p/pivot", torque=2e-3)
    made = diffsim.Simulator(scene)
    made.step(10)
    # The moment of inertia about the pivot is 1e-3 kg m², so q = q₀ + 0.5 t + t²·2e-3/(2·1e-3).
    assert made.joint_coordinates == pytest.approx([0.2 + 0.5 * 0.01 + 0.01**2], abs=1e-7)


def test_initial_coordinates_and_rates_are_unknowns():
    mesh = diffsim.TetrahedralMesh.join(
        {"upper": box([0.3, 0.04, 0.04], [0, -0.02, -0.02]), "lower": box([0.25, 0.03, 0.03], [0.3, -0.015, -0.015])}
    )
    scene = diffsim.DifferentiableScene(
        mesh,
        [rigid("upper"), rigid("lower")],
        diffsim.DifferentiableSolver(dt=0.01, substeps=2, integrator="velocity_verlet"),
    )
    scene.join(diffsim.Joint("shoulder", "revolute", "upper"))
    scene.join(diffsim.Joint("elbow", "revolute", "lower", "upper", point=[0.3, 0, 0]))
    loss = diffsim.TargetPositionLoss(mesh, "lower/all", [0.1, -0.1, 0], 10)
    for name, start in [("initial_coordinates", 0.4), ("initial_rates", -2.0)]:
        unknown = diffsim.Unknown(name, joints=["elbow"], start=[start])
        problem = diffsim.InverseProblem(scene, 10, loss, [unknown])
        u = problem.start()
        assert u.tolist() == ([start] if len(u) else [])
        value, slope = problem.gradient(u)
        assert slope[0] == pytest.approx(difference(lambda h: problem.value(u + h), 0.0, 1e-3), rel=1e-8)
        assert value > 0.0
    with pytest.raises(diffsim.InputError, match="needs joints"):
        diffsim.Unknown("initial_rates")
    with pytest.raises(diffsim.InputError, match="joints belong"):
        diffsim.Unknown("gravity", joints=["elbow"])
    with pytest.raises(diffsim.InputError, match="'knee' does not exist"):
        diffsim.InverseProblem(scene, 10, loss, [diffsim.Unknown("initial_rates", joints=["knee"])])
