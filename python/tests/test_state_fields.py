# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Stresses and strains of tetrahedra, contact forces and reactions of vertices, and the pictures' colours by name."""

import diffsim
import numpy as np
import pytest
from diffsim import _pictures, _quantities
from scenes import hanging_above_a_floor, largest, simulator

F = np.array([[1.2, 0.1, -0.05], [0.03, 0.9, 0.2], [-0.1, 0.02, 1.1]])


def neo_hookean(F, E=5e3, nu=0.4):
    """Return the Cauchy stress (µ (F Fᵀ - 1) + λ ln J 1)/J."""
    mu, lam, J = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu)), np.linalg.det(F)
    return (mu * (F @ F.T - np.eye(3)) + lam * np.log(J) * np.eye(3)) / J


def test_stresses_and_strains_of_a_homogeneous_deformation():
    made, mesh = simulator()
    turn = np.linalg.qr(np.array([[1.0, 2.0, 0.5], [0.2, 1.0, -1.0], [0.7, -0.3, 1.0]]))[0]
    turn *= np.linalg.det(turn)
    assert largest(made.cell_stresses()) < 1e-9 and largest(made.cell_strains()) < 1e-14
    for at in (F, turn @ F):
        made.set_state({"positions": mesh.rest_positions @ at.T, "velocities": np.zeros_like(made.velocities)}, 3)
        stresses = made.cell_stresses()
        assert stresses.shape == (mesh.num_local_cells, 3, 3)
        assert largest(stresses - neo_hookean(at)) < 1e-8
        assert largest(made.cell_strains() - 0.5 * (at.T @ at - np.eye(3))) < 1e-12
        one, two, three = np.linalg.eigvalsh(neo_hookean(at))
        expected = np.sqrt(0.5 * ((one - two) ** 2 + (two - three) ** 2 + (three - one) ** 2))
        assert diffsim.von_mises(stresses) == pytest.approx(expected, rel=1e-10)
    with pytest.raises(diffsim.InputError, match=r"give an array of the shape \[n, 3, 3\]"):
        diffsim.von_mises(stresses[0])


def test_fields_of_a_trajectory_are_those_of_its_states():
    made, mesh = hanging_above_a_floor()
    trajectory = made.rollout(4, 2)
    state = trajectory.state(3)
    fields = {
        name: getattr(trajectory, name)(3)
        for name in ("cell_stresses", "cell_strains", "vertex_contact_forces", "vertex_reactions")
    }
    made.set_state(state, 3)
    for name, values in fields.items():
        assert largest(values) > 0.0 and np.array_equal(getattr(made, name)(), values), name
    total = sum(force for _, _, force in made.contact_forces)
    assert fields["vertex_contact_forces"].sum(axis=0) == pytest.approx(total, rel=1e-12)
    top = mesh.region("y_max")
    reaction = made.scene.sensor("reaction", region="y_max")
    assert np.array_equal(np.flatnonzero(np.any(fields["vertex_reactions"] != 0.0, axis=1)), np.sort(top))
    again = made.rollout(4, 2)
    assert again.vertex_reactions(3).sum(axis=0) == pytest.approx(again.measure(reaction)[3], rel=1e-10)


def test_quantities_have_names():
    made, mesh = hanging_above_a_floor()
    trajectory = made.rollout(3)
    surface = _pictures.Surface(mesh)
    for name, kind in [
        ("von_mises", "triangles"),
        ("stress", "triangles"),
        ("strain", "triangles"),
        ("displacement", "points"),
        ("velocity", "points"),
        ("contact_force", "points"),
        ("reaction", "points"),
    ]:
        values = _quantities.of_simulator(name, made)
        shown, numbers = surface.colours(values, _quantities.kind_of(name))
        assert shown == kind and largest(numbers) > 0.0, name
        state = trajectory.state(3)
        assert np.array_equal(_quantities.of_trajectory(name, trajectory, 3, state), values), name
    assert np.array_equal(_quantities.of_simulator("von_mises", made), diffsim.von_mises(made.cell_stresses()))
    assert np.array_equal(_quantities.of_simulator("displacement", made), made.positions - mesh.rest_positions)
    assert _quantities.title_of("von_mises") == "von Mises stress (Pa)"
    with pytest.raises(diffsim.InputError, match="did you mean 'von_mises'"):
        diffsim.show(made, "vonmises")
    with pytest.raises(diffsim.InputError, match="one of: von_mises, stress"):
        diffsim.animate(trajectory, "motion.gif", "entropy")
    with pytest.raises(diffsim.InputError, match="stress is a quantity of a state; give a simulator"):
        diffsim.show(mesh, "stress")


def test_gradients_are_colours():
    made, mesh = simulator()
    made.rollout(3)
    made.backward(diffsim.TargetPositionLoss(mesh, "y_min", [0.05, -0.1, 0.05], 3))
    surface = _pictures.Surface(mesh)
    kind, numbers = surface.colours(made.gradient("youngs_modulus"))
    assert kind == "triangles" and np.array_equal(numbers, made.gradient("youngs_modulus")[surface.cells])
    kind, numbers = surface.colours(made.initial_gradient["positions"])
    assert kind == "points" and numbers == pytest.approx(np.linalg.norm(made.initial_gradient["positions"], axis=1))
