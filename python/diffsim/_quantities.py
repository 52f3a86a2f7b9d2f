# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Quantities of states that pictures show by name."""

import difflib

import numpy as np

from ._core import InputError, Simulator


def von_mises(stresses):
    """Return the von Mises stresses √(3/2 dev σ : dev σ), [n], of stresses σ, [n, 3, 3]."""
    stresses = np.asarray(stresses, dtype=np.float64)
    if stresses.ndim != 3 or stresses.shape[1:] != (3, 3):
        raise InputError(f"stresses has the shape {list(stresses.shape)}; give an array of the shape [n, 3, 3]")
    mean = np.trace(stresses, axis1=1, axis2=2) / 3.0
    deviator = stresses - mean[:, None, None] * np.eye(3)
    return np.sqrt(1.5 * (deviator**2).sum(axis=(1, 2)))


# For each name: the kind of entities, the title of the colours, and a function (source, n, state, mesh). `source` is a
# simulator, whose functions have no arguments, or a trajectory, whose functions have the argument n.
_QUANTITIES = {
    "von_mises": ("cells", "von Mises stress (Pa)", lambda source, n, state, mesh: von_mises(source.cell_stresses(*n))),
    "stress": ("cells", "norm of the stress (Pa)", lambda source, n, state, mesh: source.cell_stresses(*n)),
    "strain": ("cells", "norm of the strain", lambda source, n, state, mesh: source.cell_strains(*n)),
    "displacement": (
        "vertices",
        "displacement (m)",
        lambda source, n, state, mesh: state.positions - mesh.rest_positions,
    ),
    "velocity": ("vertices", "velocity (m/s)", lambda source, n, state, mesh: state.velocities),
    "contact_force": ("vertices", "contact force (N)", lambda source, n, state, mesh: source.vertex_contact_forces(*n)),
    "reaction": ("vertices", "reaction (N)", lambda source, n, state, mesh: source.vertex_reactions(*n)),
}


def require(name):
    """Raise an InputError if there is no quantity called `name`."""
    if name in _QUANTITIES:
        return
    close = difflib.get_close_matches(name, _QUANTITIES, 1)
    advice = f"did you mean {close[0]!r}?" if close else f"give an array or one of: {', '.join(_QUANTITIES)}"
    raise InputError(f"values is {name!r}, which is no quantity; {advice}")


def kind_of(name):
    """Return the kind of entities of a quantity: "vertices" or "cells"."""
    require(name)
    return _QUANTITIES[name][0]


def title_of(name):
    """Return the title of the colours of a quantity, with the unit."""
    require(name)
    return _QUANTITIES[name][1]


def of_simulator(name, simulator):
    """Return the array of a quantity in the current state of a simulator. Collective."""
    require(name)
    if not isinstance(simulator, Simulator):
        raise InputError(f"{name} is a quantity of a state; give a simulator, or an array as values")
    return _QUANTITIES[name][2](simulator, (), simulator.state, simulator.scene.mesh)


def of_trajectory(name, trajectory, n, state):
    """Return the array of a quantity in the state of a trajectory after n steps. Collective."""
    require(name)
    return _QUANTITIES[name][2](trajectory, (n,), state, trajectory.scene.mesh)
