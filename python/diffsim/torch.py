# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Rollouts and losses for PyTorch.

The library computes in double precision on the host. Rollouts have derivatives in forward and in reverse mode, and second
derivatives in all combinations of these modes except forward over forward. ``torch.vmap`` computes one rollout after the
other.
"""

from ._core import InputError, Policy

try:
    import torch
except ImportError as error:
    raise ImportError("diffsim.torch needs PyTorch 2.1 or later: pip install torch") from error

from ._force_term import make_force_term
from ._rollout import Rollout
from ._state_functions import make_link, make_sensor
from ._torch_rollout import Run


def _tensors(value):
    """Return tensors of doubles for a numpy array or a dict of arrays; None and the number of a step stay as they are."""
    if isinstance(value, dict):
        return {name: _tensors(array) for name, array in value.items()}
    return value if value is None or isinstance(value, int) else torch.tensor(value, dtype=torch.float64)


def _arrays(value):
    """Return numpy arrays for a tensor, or for a tuple or a dict of tensors; None stays None."""
    if isinstance(value, dict):
        return {name: _arrays(tensor) for name, tensor in value.items()}
    if isinstance(value, tuple):
        return tuple(_arrays(tensor) for tensor in value)
    return None if value is None else value.detach().cpu().numpy()


def _of_arrays(function):
    """Return the function of numpy arrays that calls a function of tensors."""
    return lambda *arguments: _arrays(function(*(_tensors(argument) for argument in arguments)))


def _map(function, *values):
    """Return the results of a function of tensors for each tensor of tuples and dicts of the same structure."""
    if isinstance(values[0], dict):
        return {name: _map(function, *(each[name] for each in values)) for name in values[0]}
    if isinstance(values[0], tuple):
        return tuple(_map(function, *each) for each in zip(*values))
    return function(*values)


# The following two functions compute derivatives along a direction in reverse mode: PyTorch cannot use forward mode in a
# function that is called while forward mode differentiates a rollout.


def _along(function, at, change):
    """Return the derivative of a function along a change of the arguments: the transpose of the linear map Jᵀ w of w."""
    zeros = _map(torch.zeros_like, function(*at))
    return torch.func.vjp(lambda w: torch.func.vjp(function, *at)[1](w), zeros)[1](change)[0]


def _pullback_along(pullback, at, w, change, dw):
    """Return the derivative of ``pullback(at, w)``, Jᵀ w of a function, along changes of the arguments and of w.

    The derivative along a change of the arguments is the product of the change with the second derivative of wᵀ f, a
    symmetric matrix, so the pullback of the pullback computes this derivative.
    """
    by_arguments = torch.func.vjp(lambda *at: pullback(at, w), *at)[1](change)
    return _map(torch.add, by_arguments, pullback(at, dw))


def _derivatives(evaluate):
    """Return the functions pullback, tangent and pullback_tangent of ``evaluate(n, x, v, p)``."""

    def pullback(n, x, v, p, w):
        def broadcast(x, v, p):
            return _map(lambda weight, value: value.expand(weight.shape), w, evaluate(n, x, v, p))

        return torch.func.vjp(broadcast, x, v, p)[1](w)

    def tangent(n, x, v, p, dx, dv, dp):
        return _along(lambda *at: evaluate(n, *at), (x, v, p), (dx, dv, dp))

    def pullback_tangent(n, x, v, p, dx, dv, dp, w, dw):
        return _pullback_along(lambda at, w: pullback(n, *at, w), (x, v, p), w, (dx, dv, dp), dw)

    return pullback, tangent, pullback_tangent


def _doubles(value, like):
    """Return a tensor of doubles for a tensor or a number."""
    return torch.as_tensor(value, dtype=torch.float64)


_library = (_doubles, _derivatives, torch.func.jacrev, _of_arrays)


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

    The function is called as ``f({name: tensor})`` or, with ``initial``, ``f({name: tensor}, positions, velocities)``. The
    function returns the positions (m) and velocities (m/s) of this rank's owned vertices as tensors of doubles. The tensors
    have the shape [owned, 3] (after the last step) or, if ``steps`` is given, [len(steps), owned, 3]. Values are broadcast
    to the parameter's shape.

    With ``observe``, a dict from names to sensors and losses, the function returns a dict from these names to tensors as
    the third result. The values of a Sensor are measured at ``observe_steps`` (default: ``steps``),
    [len(observe_steps), components], or after the last step, [components]. A loss, as for ``backward``, is summed over all
    states and ranks, and has no axes. On several ranks, gradients are those of the sum of the results of all ranks.
    """
    inner = Rollout(simulator, num_steps, parameters, initial, steps, checkpoint_every, observe, observe_steps)

    def call(parameters, positions=None, velocities=None):
        inputs = inner.on_all_ranks(lambda: _broadcast(inner, inner.flatten(parameters, positions, velocities)))
        return inner.arrange(Run.apply(inner, *inputs))

    return call


def _broadcast(inner, values):
    """Return tensors of doubles with the shapes of the inputs of a rollout."""
    tensors = []
    for name, value, shape in zip(inner.input_names(), values, inner.shapes):
        tensor = torch.as_tensor(value)
        if tensor.is_complex():
            raise InputError(f"{name} is complex; give real numbers")
        try:
            tensors.append(tensor.to("cpu", torch.float64).expand(shape))
        except RuntimeError:
            raise InputError(f"{name} has the shape {list(tensor.shape)}; give {list(shape)}") from None
    return tensors


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

    def pullback(at, w):
        return torch.func.vjp(function, *at)[1](w)

    def tangent(y, theta, dy, dtheta):
        return _along(function, (y, theta), (dy, dtheta))

    def pullback_tangent(y, theta, dy, dtheta, w, dw):
        return _pullback_along(pullback, (y, theta), w, (dy, dtheta), dw)

    return Policy(
        num_inputs,
        num_outputs,
        torch.as_tensor(weights, dtype=torch.float64).detach().numpy(),
        evaluate=_of_arrays(function),
        pullback=_of_arrays(lambda y, theta, w: pullback((y, theta), w)),
        tangent=_of_arrays(tangent),
        pullback_tangent=_of_arrays(pullback_tangent),
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
    return make_link(function, controls, parameters, _library)


def sensor(function, components, parameters=(), *, combine=None, name=None, unit="1"):
    """Return SensorFunctions for `DifferentiableScene.sensor` that call a PyTorch function of the state.

    The function is called as ``function(n, positions, velocities, parameters)`` with the arguments that the function of
    `link` receives. The function returns y, a tensor without dimensions or [components], where ``components`` are the
    names of the components. On several ranks, y is the sum of the values that the ranks return, so only one rank may
    return a part that does not depend on the vertices. ``combine(s)``, if given, is a PyTorch function that returns y for
    the sum s, a tensor, of the values that the ranks return. Both functions must support the transforms of
    ``torch.func``. ``unit``: unit of y, for messages.
    """
    name = name or getattr(function, "__name__", "torch")
    return make_sensor(function, components, parameters, combine, _library, name=name, unit=unit)


def force_term(function, vertices, parameters=(), *, energy=None, uses_velocities=False, name=None, data=None):
    """Return a ForceTerm for `DifferentiableScene.add_force_term` that calls a PyTorch function of one group of vertices.

    The function is called as ``function(x, v, p)`` with positions x (m) and velocities v (m/s), tensors [k, 3] of doubles,
    of a group of k vertices, and a dict ``p`` of the values of the parameters whose names are in ``parameters``; v is None
    unless ``uses_velocities``. The function returns the forces on the vertices, [k, 3], N. ``vertices``: numbers in the
    mesh, [groups, k]. ``energy(x, p)``, if given, is the energy (J) of a group, whose negative gradient is the force.
    ``data``, if given, is a dict of arrays of constants, [groups, …]; ``p`` also contains the rows of the group. All
    derivatives are computed by PyTorch; the functions must support the transforms of ``torch.func``.
    """

    def force(x, v, p, c):
        return function(x, v, p | c).to(x.dtype)

    def jacobians(x, v, p, c):
        by = torch.func.jacrev(force, (0, 1, 2) if uses_velocities else (0, 2))(x, v, p, c)
        made = dict(zip(("positions", "velocities"), by[:-1])) | by[-1]
        return {name: jacobian.reshape(x.numel(), -1) for name, jacobian in made.items()}

    def pullback_tangent(forces, x, v, p, c, dx, dv, dp, w, dw):
        def pullback(at, w):
            return torch.func.vjp(lambda *at: forces(at[0], at[1] if uses_velocities else None, at[-1], c), *at)[1](w)

        if uses_velocities:
            return _pullback_along(pullback, (x, v, p), w, (dx, dv, dp), dw)
        by_x, by_p = _pullback_along(pullback, (x, p), w, (dx, dp), dw)
        return by_x, None, by_p

    return make_force_term(
        vertices,
        parameters,
        data,
        vmap=torch.func.vmap,
        convert=_of_arrays,
        force=force,
        jacobians=jacobians,
        pullback_tangent=pullback_tangent,
        energy=energy,
        uses_velocities=uses_velocities,
        name=name or getattr(function, "__name__", "torch"),
    )


def energy_term(energy, vertices, parameters=(), *, name=None, data=None):
    """Return a ForceTerm with the force -∂E/∂x of the energy E = ``energy(x, p)`` (J) of each group of vertices.

    x are the positions of the vertices of a group, a tensor [k, 3] of doubles, m, and ``p`` is a dict of the values of the
    parameters whose names are in ``parameters``. ``vertices``: numbers in the mesh, [groups, k]. ``data``, if given, is a
    dict of arrays of constants, [groups, …]; ``p`` also contains the rows of the group. The function must support the
    transforms of ``torch.func``.
    """

    def force(x, v, p):
        return -torch.func.grad(energy)(x, p)

    name = name or getattr(energy, "__name__", "torch")
    return force_term(force, vertices, parameters, energy=energy, name=name, data=data)
