# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Wind, moments of rods, and clamped edges of shells."""

import diffsim
import numpy as np
import pytest
from scenes import difference, held_bar, largest

STEPS = 6


def test_wind():
    def end(wind, drag):
        scene, mesh = held_bar()
        assert scene.add_wind("x_max", wind, drag) == "wind:x_max"
        assert "wind_drag:x_max" in scene.parameters
        return diffsim.Simulator(scene).rollout(STEPS).measure(scene.sensor("displacement", region="x_max"))[STEPS]

    still = end([0.0, 0.0, 0.0], 0.0)
    blown = end([3.0, 0.0, 0.0], 50.0)
    assert blown[0] > still[0] + 1e-4
    assert end([[3.0, 0.0, 0.0]] * STEPS, 50.0) == pytest.approx(blown, rel=1e-12)

    scene, mesh = held_bar()
    scene.add_wind("x_max", [3.0, 0.0, 0.0], 50.0)
    loss = diffsim.TargetPositionLoss(mesh, "x_max", [0.5, 0.0, 0.0], STEPS)
    problem = diffsim.InverseProblem(scene, STEPS, loss, [diffsim.Unknown("wind_drag:x_max")])
    slope = problem.gradient(problem.start())[1]
    assert slope == pytest.approx(difference(lambda drag: problem.value([drag]), 50.0, 0.1), rel=1e-7)


def test_a_clamped_shell_is_stiffer_than_a_fixed_one():
    """Strips that are held along one edge: a fixed edge is a hinge."""
    x, y = np.meshgrid(np.linspace(0.0, 0.3, 7), np.linspace(0.0, 0.05, 2), indexing="ij")
    vertices = np.stack([x.ravel(), y.ravel(), 0.0 * x.ravel()], axis=1)
    triangles = [t for i in range(0, 12, 2) for t in ([i, i + 2, i + 1], [i + 1, i + 2, i + 3])]

    def sag(hold):
        mesh = diffsim.TetrahedralMesh.join({"strip": diffsim.Body.surface(vertices, triangles)})
        mesh.define_region("edge", box=[[-0.01, -1, -1], [0.01, 1, 1]])
        mesh.define_region("tip", box=[[0.29, -1, -1], [0.31, 1, 1]])
        numbers = {"density": 1000.0, "youngs_modulus": 1e9, "poisson_ratio": 0.3, "thickness": 2e-3}
        values = {f"shell_{name}": number for name, number in numbers.items()}
        material = diffsim.DifferentiableMaterial("shell", values, "strip/all")
        solver = diffsim.DifferentiableSolver(dt=0.01, gravity=[0.0, 0.0, -9.8], integrator="implicit_euler")
        scene = diffsim.DifferentiableScene(mesh, [material], solver)
        getattr(scene, hold)("edge")
        return diffsim.Simulator(scene).rollout(12).measure(scene.sensor("displacement", region="tip"))[12, 2]

    fixed, clamped = sag("fix"), sag("clamp")
    assert fixed < 1.5 * clamped < 0.0
    scene, _ = held_bar()
    with pytest.raises(diffsim.InputError):
        scene.clamp("x_max", [True, True, False])


def test_a_moment_turns_a_rod(tmp_path):
    """A free rod of a scene file along x, whose segments turn about z."""
    points = "".join(f"v {0.05 * i} 0 0\n" for i in range(5))
    (tmp_path / "cane.obj").write_text(points + "".join(f"l {i} {i + 1}\n" for i in range(1, 5)))
    cane = {
        "kind": "rod",
        "mesh": {"file": "cane.obj"},
        "radius": 5e-3,
        "material": {"density": 900, "youngs_modulus": 1e6, "poisson_ratio": 0.4},
    }
    document = {
        "bodies": {"cane": cane},
        "solver": {"dt": 0.01, "steps": STEPS, "integrator": "implicit_euler", "gravity": [0, 0, 0]},
    }
    try:
        file = diffsim.SceneFile.from_dict(document, str(tmp_path))
    except diffsim.InputError as error:
        if "does not read scenes" not in str(error):
            raise
        pytest.skip("this build does not read scenes of the runner")
    scene = file.scene()
    assert scene.add_moment("cane/all", [0.0, 0.0, 1e-3]) == "moment:cane/all"
    x = diffsim.Simulator(scene).rollout(STEPS)
    assert largest(x.positions(STEPS) - x.positions(0)) > 1e-5
    solid, _ = held_bar()
    with pytest.raises(diffsim.InputError, match="no rod segment"):
        solid.add_moment("x_max", [0.0, 0.0, 1.0])
