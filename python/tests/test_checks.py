# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Checks of gradients of scenes with Python functions, without and with tangents."""

import diffsim
import numpy as np
import pytest
from scenes import HELD, held_bar, hold_link

STEPS = 6


def link_problem(factor=1.0):
    """Return the problem of a link without a tangent, whose derivative with respect to the stiffness has a factor."""
    scene, mesh = held_bar()
    owned = mesh.num_owned_vertices
    rest = mesh.rest_positions[:owned]

    def evaluate(n, state, p):
        return {"nodal_load": -p["hold_stiffness"] * (state.positions[:owned] - rest)}

    def pullback(n, state, p, w):
        f = w["nodal_load"]
        by_k = -factor * (f * (state.positions[:owned] - rest)).sum()
        return {"positions": -p["hold_stiffness"] * f}, {"hold_stiffness": by_k}

    scene.add_link(diffsim.Link(["nodal_load"], evaluate, pullback, parameters=["hold_stiffness"]))
    loss = diffsim.TargetPositionLoss(mesh, "x_max", [0.43, 0.06, 0.05], STEPS)
    return diffsim.InverseProblem(scene, STEPS, loss, [diffsim.Unknown("hold_stiffness"), diffsim.Unknown("gravity")])


def policy_problem(factor=1.0):
    """Return the problem of a policy without a tangent, whose derivative with respect to the weights has a factor."""
    scene, mesh = held_bar()
    scene.add_traction("x_max", [0.0, 0.0, 0.0])
    policy = diffsim.Policy(
        3,
        3,
        [50.0, 20.0, 30.0],
        evaluate=lambda y, theta: theta * np.sin(10.0 * y),
        pullback=lambda y, theta, w: (10.0 * theta * np.cos(10.0 * y) * w, factor * np.sin(10.0 * y) * w),
    )
    scene.add_feedback("hand", [scene.sensor("displacement", region="x_max")], ["traction:x_max"], policy)
    loss = diffsim.TargetPositionLoss(mesh, "x_max", [0.43, 0.06, 0.05], STEPS)
    return diffsim.InverseProblem(scene, STEPS, loss, [diffsim.Unknown("policy:hand"), diffsim.Unknown("gravity")])


@pytest.mark.parametrize("problem_of, kind", [(link_problem, "link"), (policy_problem, "policy")])
def test_without_a_tangent_differences_are_compared(problem_of, kind):
    for one in problem_of().check():
        assert one["verdict"] == "passed" and one["passed"], one
        assert np.isnan(one["dot_product_error"]) and np.isnan(one["amplification"])
        assert f"only finite differences were compared: this {kind} has no function `tangent`" in one["note"]
        assert one["slope"] == pytest.approx(one["difference"], rel=1e-7)
    wrong, gravity = problem_of(1.01).check()
    assert wrong["verdict"] == "failed" and not wrong["passed"] and gravity["passed"]
    with pytest.raises(diffsim.InputError, match="no function `tangent`; create the .* with the argument `tangent`"):
        problem_of().check(differences=False)


def test_with_a_tangent_dot_products_are_tested():
    scene, mesh = held_bar()
    scene.add_link(hold_link(mesh))
    loss = diffsim.TargetPositionLoss(mesh, "x_max", [0.43, 0.06, 0.05], STEPS)
    problem = diffsim.InverseProblem(scene, STEPS, loss, [diffsim.Unknown(name) for name in HELD])
    for one in problem.check():
        assert one["passed"] and one["dot_product_error"] <= 1e-12 and one["note"] == ""


def test_an_exception_in_a_tangent_ends_a_check():
    scene, mesh = held_bar()

    def fail(*arguments):
        raise ZeroDivisionError

    evaluate = {"nodal_load": np.zeros((mesh.num_owned_vertices, 3))}
    scene.add_link(diffsim.Link(["nodal_load"], lambda n, x, p: evaluate, lambda n, x, p, w: ({}, {}), fail))
    loss = diffsim.TargetPositionLoss(mesh, "x_max", [0.43, 0.06, 0.05], 2)
    with pytest.raises(ZeroDivisionError):
        diffsim.InverseProblem(scene, 2, loss, [diffsim.Unknown("gravity")]).check()
