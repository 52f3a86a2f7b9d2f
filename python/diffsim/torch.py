# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Rollouts and losses for PyTorch.

The library computes in double precision on the host. Rollouts have derivatives in forward and in reverse mode, and second
derivatives in all combinations of these modes except forward over forward. ``torch.vmap`` computes one rollout after the
other.
"""

import torch

from ._core import InputError, Link, Policy, State
from ._rollout import Rollout
from ._torch_rollout import Run


def rollout(simulator, num_steps, parameters, *, initial=False, steps=None, checkpoint_every=10):
    """Return a differentiable function of parameters for a rollout of a DifferentiableSimulator.

    The function is called as ``f({name: tensor})`` or, with ``initial``, ``f({name: tensor}, positions, velocities)``. The
    function returns the positions (m) and velocities (m/s) of this rank's owned vertices as tensors of doubles. The tensors
    have the shape [owned, 3] (after the last step) or, if ``steps`` is given, [len(steps), owned, 3]. Values are broadcast
    to the parameter's shape.
    """
    inner = Rollout(simulator, num_steps, parameters, initial, steps, checkpoint_every)

    def call(parameters, positions=None, velocities=None):
        inputs = inner.flatten(parameters, positions, velocities)
        inputs = [
            torch.as_tensor(value).to("cpu", torch.float64).expand(shape) for value, shape in zip(inputs, inner.shapes)
        ]
        outputs = Run.apply(inner, *inputs)
        return tuple(output[0] if inner.one_step else output for output in outputs)

    return call


def loss(function):
    """Return a loss for ``backward`` that calls a PyTorch function (n, positions, velocities) -> scalar or None.

    The PyTorch function receives tensors [owned, 3]: the positions (m) and velocities (m/s) of this rank's owned vertices.
    """

    def call(n, state):
        velocities = torch.from_numpy(state.velocities).requires_grad_()
        positions = torch.from_numpy(state.positions[: len(velocities)]).requires_grad_()
        with torch.enable_grad():
            value = function(n, positions, velocities)
        if value is None:
            return None
        dx, dv = torch.autograd.grad(value, (positions, velocities), allow_unused=True)
        return value.item(), {
            "positions": None if dx is None else dx.numpy(),
            "velocities": None if dv is None else dv.numpy(),
        }

    return call


def policy(function, num_inputs, num_outputs, weights):
    """Return a Policy for `DifferentiableScene.add_feedback` that calls a PyTorch function (y, theta) -> u.

    y is a tensor [num_inputs], theta a tensor [weights] and u a tensor [num_outputs], all of doubles. ``weights`` are the
    initial weights. The function must support the transforms of ``torch.func``, and must give the same results on all
    ranks.
    """

    def pullback(y, theta, w):
        return torch.func.vjp(function, y, theta)[1](w)

    def tangent(y, theta, dy, dtheta):
        return torch.func.jvp(function, (y, theta), (dy, dtheta))[1]

    def pullback_tangent(y, theta, dy, dtheta, w, dw):
        return torch.func.jvp(pullback, (y, theta, w), (dy, dtheta, dw))[1]

    def of_arrays(of_tensors):
        def call(*arrays):
            results = of_tensors(*(torch.from_numpy(array.copy()) for array in arrays))
            if isinstance(results, tuple):
                return tuple(result.detach().numpy() for result in results)
            return results.detach().numpy()

        return call

    return Policy(
        num_inputs,
        num_outputs,
        torch.as_tensor(weights, dtype=torch.float64).detach().numpy(),
        evaluate=of_arrays(function),
        pullback=of_arrays(pullback),
        tangent=of_arrays(tangent),
        pullback_tangent=of_arrays(pullback_tangent),
    )


def link(function, controls, parameters=()):
    """Return a Link for `DifferentiableScene.add_link` that calls a PyTorch function of the state.

    The function is called as ``function(n, positions, velocities, parameters)``. The function returns a dict from the names
    in ``controls`` to tensors, which are broadcast to the shapes of the controls. n is the number of the step. Positions
    (m) and velocities (m/s) are those of this rank's owned vertices before step n, tensors [owned, 3] of doubles.
    ``parameters`` in the call is a dict of tensors: the values of the parameters whose names are in the argument
    ``parameters`` of this function. The function must support the transforms of ``torch.func``. A control with one
    value for the whole model is the sum of the values that the ranks return, so only one rank may return a part that does
    not depend on the vertices.
    """

    controls = [controls] if isinstance(controls, str) else list(controls)
    parameters = [parameters] if isinstance(parameters, str) else list(parameters)

    def evaluate(n, x, v, p):
        values = function(n, x, v, p)
        if not isinstance(values, dict):
            raise InputError("the function of a link must return a dict from controls to tensors")
        return {name: torch.as_tensor(value, dtype=torch.float64) for name, value in values.items()}

    def pullback(n, x, v, p, w):
        def broadcast(x, v, p):
            values = evaluate(n, x, v, p)
            return {name: values[name].expand(weight.shape) for name, weight in w.items()}

        return torch.func.vjp(broadcast, x, v, p)[1](w)

    def tangent(n, x, v, p, dx, dv, dp):
        return torch.func.jvp(lambda *at: evaluate(n, *at), (x, v, p), (dx, dv, dp))[1]

    def pullback_tangent(n, x, v, p, dx, dv, dp, w, dw):
        return torch.func.jvp(lambda *at: pullback(n, *at), (x, v, p, w), (dx, dv, dp, dw))[1]

    def tensor(array):
        return torch.tensor(array, dtype=torch.float64)

    def tensors(arguments):
        for argument in arguments:
            if isinstance(argument, State):
                velocities = argument.velocities
                yield tensor(argument.positions[: len(velocities)])
                yield tensor(velocities)
            elif isinstance(argument, dict):
                yield {name: tensor(array) for name, array in argument.items()}
            else:
                yield argument

    def to_arrays(of_names):
        return {name: value.detach().numpy() for name, value in of_names.items()}

    def of_states(of_tensors):
        def call(*arguments):
            results = of_tensors(*tensors(arguments))
            if isinstance(results, dict):
                return to_arrays(results)
            return to_arrays({"positions": results[0], "velocities": results[1]}), to_arrays(results[2])

        return call

    return Link(
        list(controls),
        evaluate=of_states(evaluate),
        pullback=of_states(pullback),
        tangent=of_states(tangent),
        pullback_tangent=of_states(pullback_tangent),
        parameters=list(parameters),
    )
