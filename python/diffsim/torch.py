# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Rollouts and losses for PyTorch. The library computes in double precision on the host."""

import torch

from ._rollout import Rollout


class _Function(torch.autograd.Function):
    """Autograd function that runs a Rollout and its pullback."""

    @staticmethod
    def forward(ctx, inner, *inputs):
        ctx.inner = inner
        ctx.save_for_backward(*inputs)
        outputs = inner.run(*(value.detach().cpu().numpy() for value in inputs))
        return tuple(torch.from_numpy(output) for output in outputs)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, positions, velocities):
        inputs = [value.detach().cpu().numpy() for value in ctx.saved_tensors]
        gradients = ctx.inner.pull_back(inputs, positions.cpu().numpy(), velocities.cpu().numpy())
        return (None, *(torch.from_numpy(gradient) for gradient in gradients))


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
        outputs = _Function.apply(inner, *inputs)
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
