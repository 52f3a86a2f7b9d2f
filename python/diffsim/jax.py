# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Rollouts and losses for JAX.

The library computes in double precision on the host; enable ``jax_enable_x64``, or results are rounded to float32.
Under ``jax.jit`` the rollout is a callback. Only first derivatives in reverse mode are available.
"""

import jax
import jax.numpy as jnp
import numpy as np

from ._rollout import Rollout


def rollout(simulator, num_steps, parameters, *, initial=False, steps=None, checkpoint_every=10):
    """Return a differentiable function of parameters for a rollout of a DifferentiableSimulator.

    The function is called as ``f({name: value})`` or, with ``initial``, ``f({name: value}, positions, velocities)``. The
    function returns the positions (m) and velocities (m/s) of this rank's owned vertices. The arrays have the shape
    [owned, 3] (after the last step) or, if ``steps`` is given, [len(steps), owned, 3]. Values are broadcast to the
    parameter's shape.
    """
    inner = Rollout(simulator, num_steps, parameters, initial, steps, checkpoint_every)

    def shapes(list_of_shapes):
        dtype = jnp.zeros(()).dtype  # float64 if jax_enable_x64 is set, else float32
        return [jax.ShapeDtypeStruct(shape, dtype) for shape in list_of_shapes]

    def to_host(arrays):
        return [np.asarray(array, dtype=np.float64) for array in arrays]

    def cast(arrays, results):
        return [np.asarray(array, dtype=result.dtype) for array, result in zip(arrays, results)]

    def forward(*inputs):
        results = shapes([inner.output_shape()] * 2)
        return jax.pure_callback(
            lambda *args: cast(inner.run(*to_host(args)), results), results, *inputs, vmap_method="sequential"
        )

    def backward(inputs, cotangents):
        results = shapes(inner.shapes)

        def call(*args):
            args = to_host(args)
            return cast(inner.pull_back(args[:-2], args[-2], args[-1]), results)

        return tuple(jax.pure_callback(call, results, *inputs, *cotangents, vmap_method="sequential"))

    function = jax.custom_vjp(forward)
    function.defvjp(lambda *inputs: (forward(*inputs), inputs), backward)

    def call(parameters, positions=None, velocities=None):
        inputs = inner.flatten(parameters, positions, velocities)
        inputs = [
            jnp.broadcast_to(jnp.asarray(value, dtype=result.dtype), result.shape)
            for value, result in zip(inputs, shapes(inner.shapes))
        ]
        outputs = function(*inputs)
        return tuple(output[0] if inner.one_step else output for output in outputs)

    return call


def loss(function):
    """Return a loss for ``backward`` that calls a JAX function (n, positions, velocities) -> scalar or None.

    The JAX function receives arrays [owned, 3]: the positions (m) and velocities (m/s) of this rank's owned vertices.
    """

    def call(n, state):
        velocities = state.velocities
        positions = state.positions[: len(velocities)]
        counts = True

        def value_or_zero(x, v):
            nonlocal counts
            value = function(n, x, v)
            counts = value is not None
            return value if counts else jnp.zeros(())

        value, (dx, dv) = jax.value_and_grad(value_or_zero, (0, 1))(jnp.asarray(positions), jnp.asarray(velocities))
        if not counts:
            return None
        return float(value), {"positions": np.asarray(dx), "velocities": np.asarray(dv)}

    return call
