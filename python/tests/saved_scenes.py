# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Scenes that Python programs make, for the tests of scenes that are saved, and comparisons of scenes."""

import diffsim
import numpy as np

TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
FACES = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]  # of the tetrahedron, with outward normals


RUBBER = {"density": 1000.0, "youngs_modulus": 1e4, "poisson_ratio": 0.3}


def start(scene):
    """Return the initial state of a scene."""
    simulator = diffsim.Simulator(scene)
    return {name: simulator.state[name] for name in ("positions", "velocities")}


def expect_same_values(scene, expected):
    """Compare the bits of all parameters and of the initial states of two scenes with the same partition."""
    assert list(scene.parameters) == list(expected.parameters)
    for name in expected.parameters:
        assert np.array_equal(scene.parameters[name], expected.parameters[name]), name
    for field, values in start(expected).items():
        assert np.array_equal(start(scene)[field], values), field


def expect_same_motion(scene, expected, num_steps):
    """Compare the bits of the positions after `num_steps` steps of two scenes with the same partition."""
    last = diffsim.Simulator(expected).rollout(num_steps).positions(num_steps)
    assert not np.array_equal(last, start(expected)["positions"])
    assert np.array_equal(diffsim.Simulator(scene).rollout(num_steps).positions(num_steps), last)


def row_of_bricks(n):
    """Return the vertices and the tetrahedra of n bricks, six tetrahedra each, in a row along x."""
    points = np.array([[x, y, z] for x in range(n + 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    steps = np.array([4, 2, 1])  # from a vertex to the next along x, y and z
    paths = [np.cumsum([0, *steps[list(order)]]) for order in ((0, 1, 2), (1, 2, 0), (2, 0, 1))]
    odd = [np.cumsum([0, *steps[list(order)]])[[0, 2, 1, 3]] for order in ((0, 2, 1), (1, 0, 2), (2, 1, 0))]
    return points, np.array([4 * x + path for x in range(n) for path in paths + odd])


def arrays(folder, comm=None):
    """A mesh from arrays, materials with values per cell in two regions, and fixed vertices by number."""
    points, cells = row_of_bricks(3)
    points = points**1.1 / 30.0
    mesh = diffsim.TetrahedralMesh(points, cells, comm=comm)
    is_left = points[:, 0] < 0.05
    mesh.define_region("left", box=[[-1, -1, -1], [0.05, 1, 1]])
    mesh.define_region("rest", vertices=np.unique(cells[~is_left[cells].all(axis=1)]))
    modulus = np.linspace(1e4, 2e4, len(cells))[mesh.global_cells]
    values = {"density": 1000.0, "youngs_modulus": modulus, "poisson_ratio": 0.3}
    other = {"density": 900.0, "youngs_modulus": 1e4 / 3.0, "poisson_ratio": 0.2, "viscosity": 1.0}
    simulator = diffsim.Simulator(
        mesh,
        [
            diffsim.DifferentiableMaterial("neo_hookean", values, "left"),
            diffsim.DifferentiableMaterial("st_venant_kirchhoff", other, "rest"),
        ],
        diffsim.DifferentiableSolver(dt=0.002, gravity=[0.1, -9.0, 1.0 / 3.0], damping=0.98, substeps=3),
    )
    simulator.set_fixed_vertices([0, 1, 2])
    return simulator.scene, 4


def loads(folder, comm=None):
    """Loads of all kinds, constant and per step, a motion, and an initial state."""
    mesh = diffsim.TetrahedralMesh.box([0.4, 0.1, 0.1], [4, 1, 1], comm=comm)
    material = diffsim.DifferentiableMaterial("neo_hookean", RUBBER)
    scene = diffsim.DifferentiableScene(mesh, material, diffsim.DifferentiableSolver(dt=0.005, substeps=2))
    random = np.random.default_rng(2)
    owned = mesh.global_vertices[: mesh.num_owned_vertices]
    count = mesh.num_vertices
    scene.move("x_min", axis=[1, 0, 0], origin=[0, 0.05, 0.05], angular_velocity=random.normal(size=5))
    scene.add_traction("x_max", 20.0 * random.normal(size=(5, 3)))
    scene.add_pressure("y_max", 30.0 / 7.0)
    scene.add_wind("z_max", [0.0, 0.0, 3.0], drag=1.3)
    scene.add_nodal_load(1e-3 * random.normal(size=(5, count, 3))[:, owned])
    scene.set_initial_displacement(1e-3 * random.normal(size=(count, 3))[owned])
    scene.set_initial_velocity(0.1 * random.normal(size=(count, 3))[owned])
    return scene, 5


def contact(folder, comm=None):
    """A block that slides on a plane and touches an obstacle of triangles."""
    mesh = diffsim.TetrahedralMesh.create_cube(2, 0.1, comm=comm)
    scene = diffsim.DifferentiableScene(
        mesh,
        diffsim.DifferentiableMaterial("neo_hookean", RUBBER, nodal_dilatation=True),
        diffsim.DifferentiableSolver(dt=0.001, substeps=8),
    )
    wall = diffsim.MeshObstacle(TETRAHEDRON / 3.0 + [0.1 + 0.002 / 3.0, -0.1, -0.1], FACES, label="wall")
    floor = diffsim.PlaneObstacle([0, -0.0005, 0], [0, 1, 0])
    pair = diffsim.ContactPair("body", "wall", friction=0.25)
    scene.add_contact(
        diffsim.ContactOptions(1e-3, 3e4, friction=0.3, friction_velocity=1e-3, planes=[floor], meshes=[wall], pairs=[pair])
    )
    scene.set_initial_velocity(np.full((mesh.num_owned_vertices, 3), [0.05, 0.0, 0.0]))
    return scene, 5


def bodies(folder, comm=None):
    """Several bodies of all kinds, with placements, attachments, and contact between bodies."""
    sheet = np.array([[x, 0.2, z] for z in (0.0, 0.05, 0.1) for x in (0.0, 0.05, 0.1)])
    triangles = [[i, i + 3, i + 1] for i in (0, 1, 3, 4)] + [[i + 1, i + 3, i + 4] for i in (0, 1, 3, 4)]
    net = np.array([[0.0, 0.11, 0.0], [0.0, 0.14, 0.0], [0.0, 0.17, 0.0]])
    placed = diffsim.Body.box([0.1, 0.1, 0.1], [1, 1, 1]).place(translate=[0.0, 0.01, 0.0])
    solver = diffsim.DifferentiableSolver(dt=0.001, substeps=2, damping=1.0)
    models = {"sheet": "cloth", "net": "springs"}
    mesh = diffsim.TetrahedralMesh.join(
        {
            "crate": placed,
            "soft": diffsim.Body.solid(TETRAHEDRON / 7.0, [[0, 1, 2, 3]]).place(0.3, [0, 1, 0], 0.2, [0.02, 0.1105, 0.02]),
            "twice": diffsim.Body.cube(1, 0.1).place(angle=0.1).place(translate=[1.0, 0.0, 0.0]),
            "die": diffsim.Body.affine(TETRAHEDRON / 30.0, FACES).place(translate=[0.3, 0.0, 0.0]),
            "sheet": diffsim.Body.surface(sheet, triangles),
            "net": diffsim.Body.segments(net, [[0, 1], [1, 2]]),
            "ground": diffsim.Body.surface(TETRAHEDRON / 3.0 - [0.1, 0.35, 0.1], FACES),
        },
        comm=comm,
        models=models,
        contact=True,
        solver=solver,
    )
    mesh.define_region("edge", box=[[-0.01, 0.19, -0.01], [0.001, 0.21, 0.2]], body="sheet")
    mesh.define_region("hook", vertices=[0], body="net")
    materials = [
        diffsim.DifferentiableMaterial("neo_hookean", RUBBER, "crate/all"),
        diffsim.DifferentiableMaterial("neo_hookean", dict(RUBBER, drag=1.0), "soft/all"),
        diffsim.DifferentiableMaterial("neo_hookean", RUBBER, "twice/all"),
        diffsim.DifferentiableMaterial("st_venant_kirchhoff", dict(RUBBER, youngs_modulus=1e5), "die/all"),
        diffsim.DifferentiableMaterial("cloth", {"cloth_stiffness": 50.0, "cloth_density": 0.2}, "sheet/all"),
        diffsim.DifferentiableMaterial("springs", {"spring_stiffness": 20.0, "point_mass": 0.01}, "net/all"),
    ]
    scene = diffsim.DifferentiableScene(mesh, materials, solver)
    scene.fix("edge")
    scene.fix("twice/x_min")
    scene.attach("hook", "crate/all", 40.0)
    pairs = [diffsim.ContactPair("net", "crate", touch=False), diffsim.ContactPair("soft", "crate", friction=0.2)]
    scene.add_contact(
        diffsim.ContactOptions(2e-3, 1e3, pairs=pairs, thicknesses={"net": 1e-3}, surface_scales={"die": 0.9})
    )
    return scene, 3


def solver_options(folder, comm=None):
    """Options of an implicit solver, second-order cells, and a box."""
    options = diffsim.ImplicitOptions()
    options.spectral_radius, options.newton.tolerance, options.linear.direct_below = 0.7, 1e-9, 4000
    mesh = diffsim.TetrahedralMesh.box([0.3, 0.1, 0.1], [2, 1, 1], order=2, comm=comm)
    solver = diffsim.DifferentiableSolver(
        dt=0.02, integrator="generalised_alpha", implicit=options, use_implicit_diff=False
    )
    simulator = diffsim.Simulator(mesh, diffsim.DifferentiableMaterial(1e5, 0.4), solver, density=1200.0)
    simulator.set_fixed_vertices("x_min")
    return simulator.scene, 2


def static(folder, comm=None):
    """Quasi-static steps with loads that grow, on a mesh from a file."""
    options = diffsim.ImplicitOptions()
    options.ramp_steps = 2
    solver = diffsim.DifferentiableSolver(dt=1.0, integrator="quasi_static", implicit=options)
    first, _ = arrays(folder, comm)
    first.save(folder / "first.yaml")
    mesh = diffsim.TetrahedralMesh.from_file(str(folder / "first-mesh.h5"), scale=2.0, comm=comm)
    mesh.define_region("side", box=[[-1, -1, -1], [1e-6, 1, 1]])
    simulator = diffsim.Simulator(mesh, diffsim.DifferentiableMaterial(1e5, 0.4), solver)
    simulator.set_fixed_vertices("side")
    return simulator.scene, 2


def lagged(folder, comm=None):
    """Implicit steps with lagged friction on a plane, and a stiffness of contact that the library computes."""
    mesh = diffsim.TetrahedralMesh.create_cube(2, 0.1, comm=comm)
    solver = diffsim.DifferentiableSolver(dt=0.01, integrator="implicit_euler", gravity=[1.0, -9.8, 0.0])
    scene = diffsim.DifferentiableScene(mesh, diffsim.DifferentiableMaterial("neo_hookean", RUBBER), solver)
    plane = diffsim.PlaneObstacle([0, -0.0005, 0], [0, 2, 0], label="slope")
    scene.add_contact(
        diffsim.ContactOptions(1e-3, adaptive_stiffness=True, friction=0.05, lagged_friction=True, planes=[plane])
    )
    return scene, 3


def joints(folder, comm=None):
    """Rigid bodies with joints: a motor with a rotor, a joint that follows the motor, limits, and an initial velocity."""
    arm = diffsim.Joint("hip", "revolute", "arm", point=[0, 0.5, 0], axis=[0, 0, 1], armature=0.02)
    cart = diffsim.Joint("rail", "prismatic", "cart", point=[1, 0, 0], axis=[1, 0, 0], follows="hip", ratio=0.1)
    hand = diffsim.Joint("wrist", "revolute", "hand", "arm", point=[0.3, 0.5, 0], axis=[0, 0, 1])
    die = diffsim.Body.affine(TETRAHEDRON / 3.0, FACES)
    bodies = {
        "arm": die.place(translate=[0, 0.4, 0]),
        "cart": die.place(translate=[1, 0, 0]),
        "hand": die.place(translate=[0.3, 0.4, 0]),
        arm.rotor: diffsim.Body.rotor(),
    }
    mesh = diffsim.TetrahedralMesh.join(bodies, comm=comm)
    materials = [diffsim.DifferentiableMaterial("rigid", {"density": 500.0}, f"{name}/all") for name in list(bodies)[:3]]
    scene = diffsim.DifferentiableScene(mesh, materials, diffsim.DifferentiableSolver(dt=0.01, integrator="velocity_verlet"))
    for joint in (arm, cart, hand):
        scene.join(joint)
    scene.drive("hip", torque=np.linspace(0.0, 3.0, 4), damping=0.1)
    scene.drive("wrist", target=0.3, stiffness=2.0, friction=0.1, limits=[-1.0, 0.5], limit_stiffness=4.0)
    return scene, 4


SCENES = {made.__name__: made for made in (arrays, loads, contact, bodies, solver_options, static, lagged, joints)}
