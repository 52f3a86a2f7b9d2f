# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Rollouts of a part of the steps: a rollout in two parts is compared with the whole rollout."""

import diffsim
import numpy as np
import pytest
from scenes import largest, loss

STEPS, MIDDLE = 12, 5
SELECTED = ["youngs_modulus", "gravity", "velocity:x_max", "traction:y_max"]


def bar(kind=diffsim.DifferentiableSimulator, integrator="symplectic_euler"):
    """Return a simulator of a bar with gravity, a prescribed velocity and a traction that change in each step."""
    mesh = diffsim.TetrahedralMesh.box([1.0, 0.3, 0.2], [4, 1, 1])
    implicit = diffsim.ImplicitOptions() if integrator in ("bdf2", "newmark") else None
    scene = diffsim.DifferentiableScene(
        mesh,
        diffsim.DifferentiableMaterial("neo_hookean", {"youngs_modulus": 2e4, "poisson_ratio": 0.35, "density": 900.0}),
        diffsim.DifferentiableSolver(dt=0.004, substeps=2, integrator=integrator, implicit=implicit),
    )
    scene.fix("x_min")
    n = np.arange(STEPS)
    scene.set_control("gravity", np.stack([0.2 * n, -9.8 + 0 * n, 0.1 * n], axis=1))
    velocity = np.stack([0.5 + 0 * n, -0.2 * n, 0.1 + 0 * n], axis=1)
    scene.move("x_max", axis=[1, 0, 0], origin=[1, 0.15, 0.1], angular_velocity=2.0, velocity=velocity)
    scene.add_traction("y_max", np.stack([30.0 * n, -40.0 + 0 * n, 20.0 * np.sin(n)], axis=1))
    return kind(scene)


def same(found, expected):
    assert list(found.keys()) == list(expected.keys())
    return all(np.array_equal(found[name], expected[name]) for name in expected.keys())


def up_to(last, further=None):
    """Return the part of the loss of the states before `last`, plus a linear function of state `last`, or zero."""

    def part(n, state):
        if n < last:
            return loss(n, state)
        return None if further is None else (0.0, further)

    return part


@pytest.mark.parametrize("integrator", ["symplectic_euler", "velocity_verlet", "bdf2", "newmark"])
def test_parts_make_the_whole(integrator):
    made = bar(integrator=integrator)
    made.require_gradient(SELECTED)
    whole = made.rollout(STEPS, 3)
    states = [whole.state(n) for n in range(STEPS + 1)]
    value = made.backward(loss)
    gradients = {name: made.gradient(name) for name in SELECTED}
    initial = made.initial_gradient

    made.set_state(states[MIDDLE], MIDDLE)
    seen = []
    later = made.rollout(STEPS - MIDDLE, 3, lambda n, state: seen.append((n, state.time)), first_step=MIDDLE)
    assert [n for n, _ in seen] == list(range(MIDDLE, STEPS + 1)) and seen[0][1] == pytest.approx(0.004 * MIDDLE)
    assert later.first_step == MIDDLE and later.num_steps == STEPS - MIDDLE and len(later) == STEPS - MIDDLE + 1
    assert made.step_number == STEPS and made.time == pytest.approx(0.004 * STEPS)
    for n in list(range(MIDDLE, STEPS + 1)) + [MIDDLE, STEPS - 1]:
        assert same(later.state(n), states[n]) and later.state(n).time == states[n].time
    for n in (MIDDLE - 1, STEPS + 1):
        with pytest.raises(diffsim.InputError, match=f"give a step from {MIDDLE} to {STEPS}"):
            later.state(n)
    later_loss = made.compute_loss(loss)
    assert made.backward(loss) == pytest.approx(later_loss, rel=1e-14)
    sums = {name: made.gradient(name) for name in SELECTED}
    assert largest(sums["gravity"][:MIDDLE]) == 0.0 and largest(sums["gravity"][MIDDLE:]) > 0.0
    at_middle = made.initial_gradient

    made.reset()
    earlier = made.rollout(MIDDLE, 2, first_step=0)
    assert all(same(earlier.state(n), states[n]) for n in range(MIDDLE + 1))
    earlier_loss = made.backward(up_to(MIDDLE, at_middle))
    assert earlier_loss + later_loss == pytest.approx(value, rel=1e-13)
    tolerance = 1e-8 if integrator in ("bdf2", "newmark") else 1e-12
    for name in SELECTED:
        total = sums[name] + made.gradient(name)
        assert largest(total - gradients[name]) <= tolerance * largest(gradients[name]), name
        assert largest(made.gradient(name)) > tolerance * largest(gradients[name]), name
    for name, expected in initial.items():
        assert largest(made.initial_gradient[name] - expected) <= tolerance * largest(expected), name


def test_the_next_part_begins_at_the_end_of_the_last_part():
    made = bar()
    end = made.rollout(STEPS).state(STEPS)
    made.rollout(MIDDLE)
    assert same(made.rollout(STEPS - MIDDLE, first_step=made.step_number).state(STEPS), end)
    # Without gradients.
    plain = bar(diffsim.Simulator)
    plain.step(MIDDLE)
    trajectory = plain.rollout(STEPS - MIDDLE, 2, first_step=plain.step_number)
    assert same(trajectory.state(STEPS), end) and same(plain.state, end)
    assert same(trajectory.state(MIDDLE), made.rollout(MIDDLE).state(MIDDLE))
    # The scene's initial state is the start again.
    assert same(plain.rollout(STEPS).state(STEPS), end)


def test_checkpoint_options_and_sensors():
    made = bar()
    sensor = made.scene.sensor("center_of_mass", region="all")
    whole = made.rollout(STEPS)
    measured, middle = whole.measure(sensor), whole.state(MIDDLE)
    made.require_gradient(SELECTED)
    made.set_state(middle, MIDDLE)
    later = made.rollout(STEPS - MIDDLE, first_step=MIDDLE)
    assert np.array_equal(later.measure(sensor), measured[MIDDLE:])
    value = made.backward(loss)
    expected = {name: made.gradient(name) for name in SELECTED}
    initial = made.initial_gradient
    for checkpoints in (None, diffsim.CheckpointOptions("revolve", snapshots=2)):
        made.set_state(middle, MIDDLE)
        found = made.compute_gradient(STEPS - MIDDLE, loss, checkpoints, first_step=MIDDLE)
        assert found == pytest.approx(value, rel=1e-14)
        for name in SELECTED:
            assert np.array_equal(made.gradient(name), expected[name])
        for name in initial:
            assert np.array_equal(made.initial_gradient[name], initial[name])


def test_a_range_that_is_not_possible_is_refused():
    made = bar()
    state = made.rollout(3).state(3)
    for run in (made.rollout, lambda count, first_step: made.compute_gradient(count, loss, first_step=first_step)):
        with pytest.raises(diffsim.InputError, match="first_step is -1; the first step is 0"):
            run(3, first_step=-1)
        with pytest.raises(diffsim.InputError, match="num_steps is -2"):
            run(-2, first_step=3)
    assert made.step_number == 3 and same(made.state, state)  # the simulator has not changed
    with pytest.raises(diffsim.InputError, match="interval of at least 1"):
        made.rollout(2, 0, first_step=3)
