# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Messages about wrong arguments and about calls in a wrong order."""

import importlib
import sys

import diffsim
import numpy as np
import pytest
from scenes import loss, simulator


def test_negative_numbers_of_steps_are_refused():
    made, _ = simulator()
    with pytest.raises(diffsim.InputError, match="count is -1; give a number of steps of at least 0"):
        made.step(-1)
    made.step(0)
    assert made.step_number == 0


def test_the_nearest_name_of_a_field_is_named():
    made, _ = simulator()
    trajectory = made.rollout(2)
    copy = made.state

    def read(n, state):
        return state["postions"]

    for call in (
        lambda: copy["postions"],
        lambda: made.view("postions"),
        lambda: trajectory.view("postions", 1),
        lambda: made.rollout(1, observer=read),
    ):
        with pytest.raises(diffsim.InputError, match="no field 'postions'; did you mean 'positions'?"):
            call()
    for call in (lambda: copy["mass"], lambda: made.view("mass")):
        with pytest.raises(diffsim.InputError, match="no field 'mass'; fields: positions, velocities"):
            call()


def test_a_gradient_needs_a_reverse_sweep():
    made, _ = simulator()
    readers = (
        lambda: made.gradient("youngs_modulus"),
        lambda: made.gradient_view("youngs_modulus"),
        lambda: made.gradient_view("initial_positions"),
        lambda: made.initial_gradient,
    )

    def expect_no_gradient():
        for read in readers:
            with pytest.raises(diffsim.InputError, match=r"call backward\(loss\)"):
                read()

    expect_no_gradient()
    made.rollout(3)
    expect_no_gradient()
    made.backward(loss)
    for read in readers:
        read()
    made.step()
    assert np.abs(made.gradient("youngs_modulus")).max() > 0.0  # the gradient of the last rollout is kept
    made.rollout(3)
    expect_no_gradient()
    made.compute_gradient(3, loss)
    for read in readers:
        read()
    made.require_gradient(["gravity"])
    expect_no_gradient()


def test_a_wrong_state_is_refused():
    made, _ = simulator()
    for wrong in (3, [1.0]):
        with pytest.raises(diffsim.InputError, match="set_state needs a State, a dict of arrays or the path"):
            made.set_state(wrong)


@pytest.mark.parametrize("module, package", [("jax", "jax"), ("torch", "torch"), ("tensors", "torch")])
def test_a_missing_package_is_named(monkeypatch, module, package):
    monkeypatch.setitem(sys.modules, package, None)
    for name in [name for name in sys.modules if name.startswith(f"diffsim.{module}")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=f"diffsim.{module} needs .*pip install {package}"):
        importlib.import_module(f"diffsim.{module}")


def test_a_reverse_sweep_after_a_failed_one_needs_a_rollout():
    made, _ = simulator()
    made.rollout(2)
    with pytest.raises(ZeroDivisionError):
        made.backward(lambda n, state: 1 / 0)
    assert not made.has_rollout
    for _ in range(2):
        with pytest.raises(diffsim.Error, match="needs a rollout"):
            made.backward(loss)
    made.rollout(2)
    assert made.backward(loss) > 0.0
