# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Link and SensorFunctions of functions of the state, for the array libraries of `diffsim.jax` and `diffsim.torch`.

``library`` of the functions below is a tuple: ``array(value, like)`` converts a value to an array of the library with the
type of the array ``like``; ``derivatives(evaluate)`` returns the functions pullback, tangent and pullback_tangent of
``evaluate(n, x, v, p)``; ``jacobian(g)`` returns the Jacobian of a function of one array; ``convert`` makes a function of
numpy arrays from a function of the library's arrays.
"""

from ._core import InputError, Link, SensorFunctions, State


def _names(names):
    return [names] if isinstance(names, str) else list(names)


def _of_states(convert, function):
    """Return the function of states that calls ``function`` with the positions and velocities of owned vertices."""
    call = convert(function)

    def of_states(*arguments):
        arrays = []
        for argument in arguments:
            if isinstance(argument, State):
                velocities = argument.velocities
                arrays += [argument.positions[: len(velocities)], velocities]
            else:
                arrays.append(argument)
        results = call(*arrays)
        if isinstance(results, tuple):  # of a pullback
            return {"positions": results[0], "velocities": results[1]}, results[2]
        return results

    return of_states


def _functions(evaluate, derivatives, convert):
    """Return a dict of the functions of a Link or of SensorFunctions."""
    names = ("evaluate", "pullback", "tangent", "pullback_tangent")
    return {name: _of_states(convert, call) for name, call in zip(names, (evaluate, *derivatives(evaluate)))}


def make_link(function, controls, parameters, library):
    """Return a Link of ``function(n, x, v, p)``, which returns a dict from controls to arrays."""
    array, derivatives, _, convert = library

    def evaluate(n, x, v, p):
        values = function(n, x, v, p)
        if not isinstance(values, dict):
            raise InputError("the function of a link must return a dict from controls to arrays")
        return {name: array(value, x) for name, value in values.items()}

    return Link(_names(controls), parameters=_names(parameters), **_functions(evaluate, derivatives, convert))


def make_sensor(function, components, parameters, combine, library, **options):
    """Return SensorFunctions of ``function(n, x, v, p)`` and, unless None, of ``combine(s)``.

    ``options``: ``name`` and ``unit`` of the SensorFunctions.
    """
    array, derivatives, jacobian, convert = library

    def evaluate(n, x, v, p):
        return array(function(n, x, v, p), x)

    if combine is not None:

        def combined(s):
            return array(combine(s), s)

        options["combine"] = convert(combined)
        options["combine_jacobian"] = convert(jacobian(combined))
        options["combine_hessian"] = convert(jacobian(jacobian(combined)))
    functions = _functions(evaluate, derivatives, convert)
    return SensorFunctions(_names(components), parameters=_names(parameters), **functions, **options)
