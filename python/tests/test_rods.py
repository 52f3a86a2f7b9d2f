# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Rods and beams whose bodies are made in Python."""

import diffsim
import numpy as np
import pytest
from scenes import difference, largest, read_scene

NUM = 12  # number of segments
LINE = np.column_stack([np.linspace(0.0, 1.0, NUM + 1), np.zeros((NUM + 1, 2))])
SEGMENTS = np.column_stack([np.arange(NUM), np.arange(NUM) + 1])

BEAM = {
    "beam_axial_stiffness": 1e3,
    "beam_bending_stiffness1": 0.1,
    "beam_bending_stiffness2": 0.3,
    "beam_torsional_stiffness": 0.05,
    "beam_density": 0.3,
    "beam_rotary_inertia": 1e-4,
}
ROD = {"rod_youngs_modulus": 1e7, "rod_poisson_ratio": 0.4, "rod_radius": 0.01, "rod_density": 900.0}


def cantilever(values, solver, body=None):
    """Return a scene of a rod or beam that is clamped at its first vertex. The region `tip` is the last segment."""
    model = next(iter(values)).split("_")[0]
    line = body or diffsim.Body.segments(LINE, SEGMENTS).with_directors([0, 0, 1])
    mesh = diffsim.TetrahedralMesh.join({"cane": line}, models={"cane": model})
    mesh.define_region("root", vertices=[0], body="cane")
    mesh.define_region("tip", vertices=[NUM - 1, NUM], body="cane")
    scene = diffsim.DifferentiableScene(mesh, diffsim.DifferentiableMaterial(model, values, "cane/all"), solver)
    scene.clamp("root")
    return scene, mesh


EXPLICIT = diffsim.DifferentiableSolver(
    dt=0.002, substeps=4, damping=1.0, gravity=[0.0, 0.0, -9.8], integrator="symplectic_euler"
)

DOCUMENT = """\
bodies:
  cane:
    kind: {kind}
    mesh: {{file: line.obj}}
    placement: {{rotate: {{axis: [0, 1, 1], angle: 0.4}}, translate: [0.1, 0.2, 0.3]}}
    director: [0.2, 0, 1]
    material: {{{material}}}
    {more}
regions: {{root: {{body: cane, vertices: [0]}}, tip: {{body: cane, vertices: [11, 12]}}}}
boundary:
  - {{region: root, fix: [x, y, z], clamp: true}}
  - {{region: tip, moment: [0.01, 0.02, -0.01]}}
solver: {{integrator: symplectic_euler, dt: 0.002, steps: 20, substeps: 4, damping: 1, gravity: [0, 0, -9.8]}}
"""


@pytest.mark.parametrize("kind, values", [("rod", ROD), ("beam", BEAM)])
def test_rods_move_as_those_of_scene_files(tmp_path, kind, values):
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in LINE.tolist()] + [f"l {a + 1} {b + 1}" for a, b in SEGMENTS.tolist()]
    (tmp_path / "line.obj").write_text("\n".join(lines) + "\n")
    material = ", ".join(f"{name[len(kind) + 1 :]}: {value!r}" for name, value in values.items() if name != "rod_radius")
    more = "radius: 0.01" if kind == "rod" else ""
    (tmp_path / "scene.yaml").write_text(DOCUMENT.format(kind=kind, material=material.replace("e-", ".0e-"), more=more))
    expected = diffsim.Simulator(read_scene(tmp_path / "scene.yaml").scene())
    start, end = expected.positions, expected.rollout(20).positions(20)
    placement = {"axis": [0, 1, 1], "angle": 0.4, "translate": [0.1, 0.2, 0.3]}
    for body in (
        diffsim.Body.segments(LINE, SEGMENTS).place(**placement).with_directors([0.2, 0, 1]),
        diffsim.Body.from_file(str(tmp_path / "line.obj"), cells="segments").with_directors([0.2, 0, 1]).place(**placement),
    ):
        scene, mesh = cantilever(values, EXPLICIT, body)
        scene.add_moment("tip", [0.01, 0.02, -0.01])
        made = diffsim.Simulator(scene)
        assert np.array_equal(made.positions, start)
        assert largest(end - mesh.rest_positions) > 1e-3 and np.array_equal(made.rollout(20).positions(20), end)


def test_gradient_with_respect_to_a_stiffness():
    scene, mesh = cantilever(BEAM, EXPLICIT)
    simulator = diffsim.DifferentiableSimulator(scene)
    simulator.require_gradient(["beam_bending_stiffness1"])
    loss = diffsim.TargetPositionLoss(mesh, "tip", [1.0, 0.0, 0.1], 20)
    simulator.rollout(20)
    simulator.backward(loss)
    gradient = simulator.gradient("beam_bending_stiffness1")
    assert gradient.shape == (NUM,)
    start = np.array(simulator.parameters["beam_bending_stiffness1"])

    def at(offset):
        simulator.parameters["beam_bending_stiffness1"] = start + offset
        simulator.rollout(20)
        return simulator.compute_loss(loss)

    slope = difference(at, 0.0, 1e-3)
    assert slope != 0.0 and gradient.sum() == pytest.approx(slope, rel=1e-7)


@pytest.mark.parametrize("axis, stiffness", [(2, 0.1), (1, 0.3)])
def test_deflection_of_a_cantilever(axis, stiffness):
    """The load is across the director or along the director; bending_stiffness1 resists bending towards the director."""
    solver = diffsim.DifferentiableSolver(dt=1.0, gravity=0.0, integrator="quasi_static")
    scene, mesh = cantilever(BEAM, solver)
    force = 1e-4
    load = np.zeros((mesh.num_owned_vertices, 3))
    load[mesh.global_vertices[: len(load)] == NUM, axis] = force
    scene.add_nodal_load(load)
    simulator = diffsim.Simulator(scene)
    simulator.step()
    displacement = (simulator.positions - mesh.rest_positions)[mesh.global_vertices == NUM][0]
    assert displacement[axis] == pytest.approx(force / (3.0 * stiffness), rel=5e-3)
    assert largest(np.delete(displacement, axis)) < 1e-6


def test_wrong_rods_are_refused():
    line = diffsim.Body.segments(LINE, SEGMENTS)
    with pytest.raises(diffsim.InputError, match=r"has no director; .* Body.with_directors\(\)"):
        cantilever(ROD, EXPLICIT, line)
    with pytest.raises(diffsim.InputError, match="has no parameter 'radius'; did you mean 'rod_radius'"):
        cantilever({**ROD, "radius": 0.01}, EXPLICIT)
    with pytest.raises(diffsim.InputError, match="did you mean 'beam_density'"):
        cantilever({**BEAM, "beam_densty": 0.3}, EXPLICIT)
    with pytest.raises(diffsim.InputError, match="the director is along segment 0"):
        diffsim.TetrahedralMesh.join({"cane": line.with_directors([1, 0, 0])})
    with pytest.raises(diffsim.InputError, match="directors belong to segments, but the cells of the mesh are tetrahedra"):
        diffsim.TetrahedralMesh.join({"cube": diffsim.Body.cube(1).with_directors()})
