# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Rollouts and losses for JAX.

The library computes in double precision on the host; enable ``jax_enable_x64``, or results are rounded to float32.
Under ``jax.jit`` the rollout is a callback. Rollouts have derivatives in forward and in reverse mode, and second
derivatives in all combinations of these modes except forward over forward. ``jax.vmap`` computes one rollout after the
other.
"""

import numpy as np

from ._core import InputError, Policy, num_ranks

try:
    import jax
    import jax.numpy as jnp
    from jax.flatten_util import ravel_pytree
except ImportError as error:
    raise ImportError("diffsim.jax needs JAX 0.5 or later: pip install jax") from error

from ._force_term import make_force_term
from ._jax_rollout import is_compiling, run, shapes
from ._rollout import Rollout
from ._state_functions import make_link, make_sensor


def _compiled(of_arrays):
    """Return the function of numpy arrays that calls a function of JAX arrays, which JAX compiles once."""
    call = jax.jit(of_arrays)
    return lambda *arguments: jax.tree_util.tree_map(np.asarray, call(*arguments))


def _derivatives(evaluate):
    """Return the functions pullback, tangent and pullback_tangent of ``evaluate(n, x, v, p)``."""

    def pullback(n, x, v, p, w):
        def broadcast(x, v, p):
            values = evaluate(n, x, v, p)
            return jax.tree_util.tree_map(lambda weight, value: jnp.broadcast_to(value, weight.shape), w, values)

        return jax.vjp(broadcast, x, v, p)[1](w)

    def tangent(n, x, v, p, dx, dv, dp):
        return jax.jvp(lambda *at: evaluate(n, *at), (x, v, p), (dx, dv, dp))[1]

    def pullback_tangent(n, x, v, p, dx, dv, dp, w, dw):
        return jax.jvp(lambda *at: pullback(n, *at), (x, v, p, w), (dx, dv, dp, dw))[1]

    return pullback, tangent, pullback_tangent


_library = (lambda value, like: jnp.asarray(value).astype(like.dtype), _derivatives, jax.jacfwd, _compiled)


def rollout(
    simulator,
    num_steps,
    parameters,
    *,
    initial=False,
    steps=None,
    observe=None,
    observe_steps=None,
    checkpoint_every=10,
):
    """Return a differentiable function of parameters for a rollout of a DifferentiableSimulator.

    The function is called as ``f({name: value})`` or, with ``initial``, ``f({name: value}, positions, velocities)``. The
    function returns the positions (m) and velocities (m/s) of this rank's owned vertices. The arrays have the shape
    [owned, 3] (after the last step) or, if ``steps`` is given, [len(steps), owned, 3]. Values are broadcast to the
    parameter's shape.

    With ``observe``, a dict from names to sensors and losses, the function returns a dict from these names to arrays as
    the third result. The values of a Sensor are measured at ``observe_steps`` (default: ``steps``),
    [len(observe_steps), components], or after the last step, [components]. A loss, as for ``backward``, is summed over all
    states and ranks, and has no axes. On several ranks, gradients are those of the sum of the results of all ranks.
    """
    inner = Rollout(simulator, num_steps, parameters, initial, steps, checkpoint_every, observe, observe_steps)

    def call(parameters, positions=None, velocities=None):
        def read():
            return _broadcast(inner, inner.flatten(parameters, positions, velocities))

        if not is_compiling():
            return inner.arrange(run(inner, inner.on_all_ranks(read)))
        try:
            return inner.arrange(run(inner, read()))
        except Exception as error:
            if num_ranks() == 1:
                raise
            # The other ranks may not compile this function now, so only the compiled function can communicate.
            zeros = [jnp.zeros(result.shape, result.dtype) for result in shapes(inner, "i")]
            return inner.arrange(run(inner.refusing(error), zeros))

    return call


def _broadcast(inner, values):
    """Return arrays with the shapes and types of the inputs of a rollout."""
    arrays = []
    for name, value, result in zip(inner.input_names(), values, shapes(inner, "i")):
        array = jnp.asarray(value)
        if jnp.iscomplexobj(array):
            raise InputError(f"{name} is complex; give real numbers")
        try:
            arrays.append(jnp.broadcast_to(array.astype(result.dtype), result.shape))
        except ValueError:
            raise InputError(f"{name} has the shape {list(array.shape)}; give {list(result.shape)}") from None
    return arrays


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


def policy(function, num_inputs, weights):
    """Return a Policy for `DifferentiableScene.add_feedback` that calls a JAX function (y, weights) -> u.

    y is an array [num_inputs], u an array [outputs]. ``weights`` are the initial weights: an array, or any pytree of
    arrays, such as the parameters of a neural network; the function receives weights of the same structure. The weights of
    the Policy are all numbers of the pytree, in the order of ``jax.flatten_util.ravel_pytree``. The function must be
    traceable by JAX, and must give the same results on all ranks.
    """

    def to_float(leaf):
        """Return an array of a floating-point type; integers would round the inputs y."""
        array = jnp.asarray(leaf)
        return array if jnp.issubdtype(array.dtype, jnp.floating) else array.astype(jnp.zeros(()).dtype)

    start, unravel = ravel_pytree(jax.tree_util.tree_map(to_float, weights))

    def evaluate(y, theta):
        return function(y, unravel(theta))

    def pullback(y, theta, w):
        u, pull = jax.vjp(evaluate, y, theta)
        return pull(w.astype(u.dtype))

    def tangent(y, theta, dy, dtheta):
        return jax.jvp(evaluate, (y, theta), (dy, dtheta))[1]

    def pullback_tangent(y, theta, dy, dtheta, w, dw):
        return jax.jvp(pullback, (y, theta, w), (dy, dtheta, dw))[1]

    def compiled(of_arrays):
        call = jax.jit(of_arrays)
        return lambda *arrays: call(*(jnp.asarray(array, dtype=start.dtype) for array in arrays))

    shape = jax.eval_shape(evaluate, jax.ShapeDtypeStruct((num_inputs,), start.dtype), start).shape
    if len(shape) != 1:
        raise InputError(f"a policy returns an array of the shape {shape}; return a vector of outputs")
    return Policy(
        num_inputs,
        shape[0],
        np.asarray(start, dtype=np.float64),
        evaluate=compiled(evaluate),
        pullback=compiled(pullback),
        tangent=compiled(tangent),
        pullback_tangent=compiled(pullback_tangent),
    )


def link(function, controls, parameters=()):
    """Return a Link for `DifferentiableScene.add_link` that calls a JAX function of the state.

    The function is called as ``function(n, positions, velocities, parameters)``. The function returns a dict from the names
    in ``controls`` to arrays, which are broadcast to the shapes of the controls. n is the number of the step, an integer
    array. Positions (m) and velocities (m/s) are those of this rank's owned vertices before step n, arrays [owned, 3].
    ``parameters`` in the call is a dict of arrays: the values of the parameters whose names are in the argument
    ``parameters`` of this function. The function must be traceable by JAX. A control with one value for the whole
    model is the sum of the values that the ranks return, so only one rank may return a part that does not depend on the
    vertices.
    """
    return make_link(function, controls, parameters, _library)


def sensor(function, components, parameters=(), *, combine=None, name=None, unit="1"):
    """Return SensorFunctions for `DifferentiableScene.sensor` that call a JAX function of the state.

    The function is called as ``function(n, positions, velocities, parameters)`` with the arguments that the function of
    `link` receives. The function returns y, a number or an array [components], where ``components`` are the names of the
    components. On several ranks, y is the sum of the values that the ranks return, so only one rank may return a part that
    does not depend on the vertices. ``combine(s)``, if given, is a JAX function that returns y for the sum s, an array,
    of the values that the ranks return. Both functions must be traceable by JAX. ``unit``: unit of y, for messages.
    """
    name = name or getattr(function, "__name__", "jax")
    return make_sensor(function, components, parameters, combine, _library, name=name, unit=unit)


def force_term(function, vertices, parameters=(), *, energy=None, uses_velocities=False, name=None, data=None):
    """Return a ForceTerm for `DifferentiableScene.add_force_term` that calls a JAX function of one group of vertices.

    The function is called as ``function(x, v, p)`` with positions x (m) and velocities v (m/s), [k, 3], of a group of k
    vertices, and a dict ``p`` of the values of the parameters whose names are in ``parameters``; v is None unless
    ``uses_velocities``. The function returns the forces on the vertices, [k, 3], N. ``vertices``: numbers in the mesh,
    [groups, k]. ``energy(x, p)``, if given, is the energy (J) of a group, whose negative gradient is the force. ``data``,
    if given, is a dict of arrays of constants, [groups, …]; ``p`` also contains the rows of the group. All derivatives
    are computed by JAX; the functions must be traceable by JAX.
    """

    def force(x, v, p, c):
        return function(x, v, p | c)

    def jacobians(x, v, p, c):
        by = jax.jacfwd(force, (0, 1, 2) if uses_velocities else (0, 2))(x, v, p, c)
        made = dict(zip(("positions", "velocities"), by[:-1])) | by[-1]
        return {name: jacobian.reshape(x.size, -1) for name, jacobian in made.items()}

    def pullback_tangent(forces, x, v, p, c, dx, dv, dp, w, dw):
        def pullback(x, v, p, w):
            if uses_velocities:
                return jax.vjp(lambda *at: forces(*at, c), x, v, p)[1](w)
            by_x, by_p = jax.vjp(lambda x, p: forces(x, None, p, c), x, p)[1](w)
            return by_x, None, by_p

        if uses_velocities:
            return jax.jvp(pullback, (x, v, p, w), (dx, dv, dp, dw))[1]
        return jax.jvp(lambda x, p, w: pullback(x, None, p, w), (x, p, w), (dx, dp, dw))[1]

    return make_force_term(
        vertices,
        parameters,
        data,
        vmap=jax.vmap,
        convert=_compiled,
        force=force,
        jacobians=jacobians,
        pullback_tangent=pullback_tangent,
        energy=energy,
        uses_velocities=uses_velocities,
        name=name or getattr(function, "__name__", "jax"),
    )


def energy_term(energy, vertices, parameters=(), *, name=None, data=None):
    """Return a ForceTerm with the force -∂E/∂x of the energy E = ``energy(x, p)`` (J) of each group of vertices.

    x are the positions of the vertices of a group, [k, 3], m, and ``p`` is a dict of the values of the parameters whose
    names are in ``parameters``. ``vertices``: numbers in the mesh, [groups, k]. ``data``, if given, is a dict of arrays of
    constants, [groups, …]; ``p`` also contains the rows of the group. The function must be traceable by JAX.
    """

    def force(x, v, p):
        return -jax.grad(energy)(x, p)

    name = name or getattr(energy, "__name__", "jax")
    return force_term(force, vertices, parameters, energy=energy, name=name, data=data)
