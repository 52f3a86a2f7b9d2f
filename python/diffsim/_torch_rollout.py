# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Autograd functions of PyTorch for the values and the derivatives of a Rollout.

F is the function of the Rollout, x are the inputs of F, J is the Jacobian F'(x), t and u are changes of the inputs, and w
are weights of the outputs: positions, velocities, values of sensors, and losses. The autograd functions are:

- ``Run``: F(x);
- ``PushForward``: J t;
- ``PullBack``: Jᵀ w;
- ``PullBackTangent``: the derivative of Jᵀ w along t.

The library has second derivatives in reverse mode only, so the derivative F''(x)[t, u] in forward mode of a derivative in
forward mode raises an InputError.
"""

import numpy as np
import torch

from ._core import InputError


def _arrays(values, shapes):
    """Return numpy arrays of the given shapes for tensors."""
    # PyTorch has tensors of zeros without memory; the sum is a tensor with memory.
    return [
        (torch.zeros(shape, dtype=torch.float64) + value.detach().cpu()).numpy() for value, shape in zip(values, shapes)
    ]


def _inputs(rollout, values):
    return _arrays(values, rollout.shapes)


def _outputs(rollout, values):
    return _arrays(values, rollout.output_shapes)


def _tensors(arrays):
    return tuple(torch.from_numpy(np.asarray(array)) for array in arrays)


def _full(changes, shapes):
    """Return tensors of changes with the given shapes; None stands for zeros."""
    return [
        torch.zeros(shape, dtype=torch.float64) if change is None else change for change, shape in zip(changes, shapes)
    ]


def _any(values):
    return any(value is not None for value in values)


def _add(a, b):
    """Return the sums of the tensors of two tuples; None stands for a tuple of zeros."""
    if a is None or b is None:
        return b if a is None else a
    return tuple(x + y for x, y in zip(a, b))


def _sequential(function):
    """Add a rule for torch.vmap to an autograd function: one call for each element of the batch, in order."""

    def vmap(info, in_dims, *args):
        results = [
            function.apply(*(arg if dim is None else arg.select(dim, i) for arg, dim in zip(args, in_dims)))
            for i in range(info.batch_size)
        ]
        return tuple(torch.stack(parts) for parts in zip(*results)), (0,) * len(results[0])

    function.vmap = staticmethod(vmap)
    return function


class _Saving(torch.autograd.Function):
    """Base class of autograd functions whose first argument is the Rollout and whose other arguments are tensors."""

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.rollout, *values = inputs
        ctx.save_for_backward(*values)
        ctx.save_for_forward(*values)


@_sequential
class Run(_Saving):
    """Outputs of a rollout. Arguments: the Rollout, and the inputs x."""

    @staticmethod
    def forward(rollout, *x):
        return _tensors(rollout.run(*_inputs(rollout, x)))

    @staticmethod
    def backward(ctx, *w):
        return (None, *PullBack.apply(ctx.rollout, *w, *ctx.saved_tensors))

    @staticmethod
    def jvp(ctx, _, *t):
        return PushForward.apply(ctx.rollout, *ctx.saved_tensors, *_full(t, ctx.rollout.shapes))


@_sequential
class PushForward(_Saving):
    """Derivatives of the outputs. Arguments: the Rollout, the inputs x, and the changes t."""

    @staticmethod
    def forward(rollout, *values):
        count = len(rollout.shapes)
        return _tensors(rollout.push_forward(_inputs(rollout, values[:count]), _inputs(rollout, values[count:])))

    @staticmethod
    def backward(ctx, *w):
        count = len(ctx.rollout.shapes)
        x, t = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
        by_x = by_t = (None,) * count
        if any(ctx.needs_input_grad[1 : 1 + count]):
            by_x = PullBackTangent.apply(ctx.rollout, *w, *x, *t)
        if any(ctx.needs_input_grad[1 + count :]):
            by_t = PullBack.apply(ctx.rollout, *w, *x)
        return (None, *by_x, *by_t)

    @staticmethod
    def jvp(ctx, _, *changes):
        count = len(ctx.rollout.shapes)
        if _any(changes[:count]):
            raise InputError(
                "second derivatives of rollouts are not available in forward-over-forward mode; use reverse mode for the "
                "first or for the second derivative"
            )
        return PushForward.apply(ctx.rollout, *ctx.saved_tensors[:count], *_full(changes[count:], ctx.rollout.shapes))


@_sequential
class PullBack(_Saving):
    """Gradients with respect to the inputs. Arguments: the Rollout, the weights w of the outputs, the inputs x."""

    @staticmethod
    def forward(rollout, *values):
        count = len(rollout.output_shapes)
        return _tensors(rollout.pull_back(_inputs(rollout, values[count:]), *_outputs(rollout, values[:count])))

    @staticmethod
    def backward(ctx, *t):
        count = len(ctx.rollout.output_shapes)
        w, x = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
        by_w, by_x = (None,) * count, (None,) * len(x)
        if any(ctx.needs_input_grad[1 : 1 + count]):
            by_w = PushForward.apply(ctx.rollout, *x, *t)
        if any(ctx.needs_input_grad[1 + count :]):
            by_x = PullBackTangent.apply(ctx.rollout, *w, *x, *t)
        return (None, *by_w, *by_x)

    @staticmethod
    def jvp(ctx, _, *changes):
        count = len(ctx.rollout.output_shapes)
        w, x = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
        by_w = by_x = None
        if _any(changes[:count]) or not _any(changes):
            dw = _full(changes[:count], ctx.rollout.output_shapes)
            by_w = PullBack.apply(ctx.rollout, *dw, *x)
        if _any(changes[count:]):
            by_x = PullBackTangent.apply(ctx.rollout, *w, *x, *_full(changes[count:], ctx.rollout.shapes))
        return _add(by_w, by_x)


@_sequential
class PullBackTangent(_Saving):
    """Derivatives of the results of PullBack. Arguments: the Rollout, the weights w, the inputs x, and the changes t."""

    @staticmethod
    def forward(rollout, *values):
        outputs, inputs = len(rollout.output_shapes), len(rollout.shapes)
        w, x, t = values[:outputs], values[outputs : outputs + inputs], values[outputs + inputs :]
        return _tensors(rollout.pull_back_tangent(_inputs(rollout, x), _inputs(rollout, t), *_outputs(rollout, w)))

    @staticmethod
    def backward(ctx, *_):
        raise InputError("third derivatives of rollouts are not available")

    @staticmethod
    def jvp(ctx, *_):
        raise InputError("third derivatives of rollouts are not available")
