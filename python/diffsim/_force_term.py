# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""ForceTerm of functions of one group of vertices, for the array libraries of `diffsim.jax` and `diffsim.torch`."""

from ._core import ForceTerm


def make_force_term(vertices, parameters, data, *, vmap, convert, force, jacobians, pullback_tangent, energy, **options):
    """Return a ForceTerm whose functions for all groups are made from functions of one group.

    A group has the positions x and velocities v, [k, 3], the parameters p and the constants c, both dicts.
    ``force(x, v, p, c)`` and ``energy(x, p)`` (or None), where p of the energy contains the constants, are those of a
    group; ``jacobians(x, v, p, c)`` is the dict of the Jacobians of ``force``.
    ``pullback_tangent(forces, x, v, p, c, dx, dv, dp, w, dw)`` is the derivative of Jᵀ w of the function ``forces`` of
    all groups. ``vmap``: the library's vectorisation; ``convert``: makes a function of numpy arrays from a function of
    the library's arrays. ``options``: ``uses_velocities`` and ``name`` of the ForceTerm.
    """
    parameters = [parameters] if isinstance(parameters, str) else list(parameters)
    over_groups = (0, 0 if options["uses_velocities"] else None, None, 0)

    def split(p):
        return {name: p[name] for name in parameters}, {name: p[name] for name in data or {}}

    def forces(x, v, p, c):
        return vmap(force, over_groups)(x, v, p, c)

    def total(x, p):
        return vmap(lambda x, p, c: energy(x, p | c), (0, None, 0))(x, *split(p)).sum()

    return ForceTerm(
        vertices,
        force=convert(lambda x, v, p: forces(x, v, *split(p))),
        jacobians=convert(lambda x, v, p: vmap(jacobians, over_groups)(x, v, *split(p))),
        energy=convert(total) if energy is not None else None,
        pullback_tangent=convert(lambda x, v, p, *others: pullback_tangent(forces, x, v, *split(p), *others)),
        parameters=parameters,
        data=data,
        **options,
    )
