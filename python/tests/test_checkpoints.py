# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Gradients with checkpoints in memory and on a disk."""

import diffsim
import numpy as np
import pytest
from scenes import largest, loss, simulator

STEPS = 12


def options(kind, folder):
    """Return the options of a kind of checkpoints, whose files are in `folder`."""
    make, on_disk = diffsim.CheckpointOptions, {"store": "hdf5", "directory": str(folder)}
    levels = [diffsim.CheckpointLevel(2), diffsim.CheckpointLevel(4, write=1.0, read=0.5)]
    return {
        "all": make(),
        "uniform": make("uniform", every=5),
        "revolve": make("revolve", snapshots=3),
        "uniform in files": make("uniform", every=4, **on_disk),
        "revolve in files": make("revolve", snapshots=3, compressed=True, **on_disk),
        "two_level": make("two_level", every=4, snapshots=2, store="tiered", directory=str(folder)),
        "multi_level": make("multi_level", levels=levels, store="tiered", directory=str(folder)),
    }[kind]


@pytest.mark.parametrize(
    "kind", ["all", "uniform", "revolve", "uniform in files", "revolve in files", "two_level", "multi_level"]
)
def test_gradients_do_not_depend_on_checkpoints(kind, tmp_path):
    made, _ = simulator()
    made.require_gradient(["youngs_modulus", "gravity"])
    made.rollout(STEPS)
    value = made.backward(loss)
    expected = {name: made.gradient(name) for name in ("youngs_modulus", "gravity")}
    initial = made.initial_gradient
    assert made.compute_gradient(STEPS, loss, options(kind, tmp_path / "snapshots")) == pytest.approx(value, rel=1e-13)
    for name, gradient in expected.items():
        assert largest(made.gradient(name) - gradient) <= 1e-12 * largest(gradient)
    for field, gradient in initial.items():
        assert largest(made.initial_gradient[field] - gradient) <= 1e-12 * largest(gradient)
    if kind != "all":
        assert made.statistics["stores"] > 0
    with pytest.raises(diffsim.Error, match="needs a rollout"):
        made.backward(loss)


def test_rounded_checkpoints_change_the_gradient_a_little():
    made, _ = simulator()
    made.compute_gradient(STEPS, loss)
    exact = made.gradient("youngs_modulus")
    made.compute_gradient(STEPS, loss, diffsim.CheckpointOptions("uniform", every=5, single=True))
    error = largest(made.gradient("youngs_modulus") - exact)
    assert 0.0 < error < 1e-3 * largest(exact)


def test_problems_accept_checkpoints(tmp_path):
    made, mesh = simulator()
    observed = diffsim.TargetPositionLoss(mesh, "y_min", [0.05, -0.02, 0.05], STEPS)
    unknowns = [diffsim.Unknown("youngs_modulus", logarithmic=True), diffsim.Unknown("gravity")]
    on_disk = options("uniform in files", tmp_path / "snapshots")
    value, gradient = None, None
    for checkpoints in (None, on_disk):
        problem = diffsim.InverseProblem(made.scene, STEPS, observed, unknowns, checkpoints=checkpoints)
        found = problem.gradient(problem.start())
        if value is None:
            value, gradient = found
        assert found[0] == pytest.approx(value, rel=1e-13)
        assert largest(found[1] - gradient) <= 1e-12 * largest(gradient)


def test_wrong_options_are_refused():
    with pytest.raises(diffsim.InputError, match="no schedule 'unifrom'; use one of: all, uniform"):
        diffsim.CheckpointOptions("unifrom")
    with pytest.raises(diffsim.InputError, match="no store 'disk'; use one of: memory, hdf5, tiered"):
        diffsim.CheckpointOptions(store="disk")
    for wrong in (0.0, -1.0, np.nan):
        with pytest.raises(diffsim.InputError, match="memory must be a fraction"):
            diffsim.CheckpointOptions(memory=wrong)
    made = diffsim.CheckpointOptions("revolve", snapshots=7)
    assert (made.schedule, made.snapshots, made.store, made.every) == ("revolve", 7, "memory", 10)
    simulated, _ = simulator()
    with pytest.raises(diffsim.InputError):
        simulated.compute_gradient(4, loss, diffsim.CheckpointOptions("uniform", every=0))
