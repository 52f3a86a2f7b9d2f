# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Pictures and animations of bodies (PyVista), and plots of optimisations (matplotlib).

The functions import PyVista and matplotlib when they are called. On several ranks, each rank draws its own part; give
each rank a different path.
"""

import functools
import importlib
import os

import numpy as np

from . import _pictures, _quantities
from ._core import Simulator


def _import(name, what):
    """Return the module of a package, which `what` needs. Raise an ImportError that names the package."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.split(".")[0]
        raise ImportError(f"{what} needs the package {package}; run `pip install {package}`") from error


def _poly_data(pyvista, points, faces=None, lines=None):
    """Return PolyData with faces [m, corners] or lines [k, 2]."""
    cells = faces if lines is None else lines
    padded = np.column_stack([np.full(len(cells), cells.shape[1]), cells]).ravel()
    return pyvista.PolyData(points, **{"faces" if lines is None else "lines": padded})


def _set_colours(data, name, colours):
    """Store colours of a Surface, (kind, numbers), in PolyData."""
    kind, numbers = colours
    (data.point_data if kind == "points" else data.cell_data)[name] = numbers


def _add_bodies(pyvista, plotter, surface, points, colours, name, limits, edges):
    """Add the triangles and segments of a Surface to a plotter. Return the PolyData whose points move."""
    moving = []
    if len(surface.triangles) > 0:
        data = _poly_data(pyvista, points, surface.triangles)
        options = {"color": "lightsteelblue"}
        if colours is not None:
            _set_colours(data, name, colours)
            options = {"scalars": name, "clim": limits, "nan_color": "lightsteelblue"}
        plotter.add_mesh(data, show_edges=edges, **options)
        moving.append(data)
    if len(surface.segments) > 0:
        data = _poly_data(pyvista, points, lines=surface.segments)
        plotter.add_mesh(data, color="dimgray", line_width=3)
        moving.append(data)
    return moving


def _add_obstacles(pyvista, plotter, scene, time, center, width):
    """Add the obstacles of a scene, or of None, to a plotter. Return their PolyData."""
    if scene is None:
        return []
    made = [_poly_data(pyvista, *one) for one in _pictures.obstacles(scene, time, center, width)]
    for data in made:
        plotter.add_mesh(data, color="tan", opacity=0.5)
    return made


def _range_of(colours):
    """Return the smallest and the largest finite number, or None if there is no finite number."""
    numbers = np.concatenate([numbers[np.isfinite(numbers)] for _, numbers in colours])
    return None if len(numbers) == 0 else (float(numbers.min()), float(numbers.max()))


def show(target, values=None, *, on=None, name=None, limits=None, edges=False, forces=True, screenshot=None):
    """Draw bodies and obstacles with PyVista. Collective.

    target: a simulator in its current state, or a DifferentiableScene or a TetrahedralMesh at rest. values: colours,
    given by an array on the vertices or the tetrahedra of this rank, for example a gradient, or, for a simulator, by a
    name: von_mises, stress, strain, displacement, velocity, contact_force or reaction. The Euclidean norms of vectors
    and tensors are shown. on: "vertices" or "cells", if the length of the array does not determine the kind. name:
    title of the colours; None for the quantity and its unit. limits: smallest and largest value of the colours; None
    for those of the array. edges: whether the edges of triangles are drawn. forces: whether arrows at the middles of
    the bodies show the contact forces of a simulator. screenshot: path of a picture file; None opens a window. Planes
    are drawn as squares. Return the pyvista.Plotter. Raise an ImportError if PyVista is not installed, and an
    InputError if an argument is wrong.
    """
    mesh, positions, scene, time = _pictures.subject_of(target)
    surface = _pictures.Surface(mesh)
    points = surface.extend(positions)
    center, width = _pictures.center_and_width(surface.drawn(points))
    if isinstance(values, str):
        on, name = _quantities.kind_of(values), name or _quantities.title_of(values)
        values = _quantities.of_simulator(values, target)
    arrows = ()
    if forces and isinstance(target, Simulator):
        arrows = _pictures.contact_arrows(target.contact_forces, _pictures.body_centers(mesh, positions))
    # The collective calls are above: an error in the values of one rank does not block the other ranks.
    colours = None if values is None else surface.colours(values, on)
    pyvista = _import("pyvista", "diffsim.show")
    plotter = pyvista.Plotter(off_screen=screenshot is not None)
    limits = _range_of([colours]) if limits is None and colours is not None else limits
    _add_bodies(pyvista, plotter, surface, points, colours, name or "values", limits, edges)
    _add_obstacles(pyvista, plotter, scene, time, center, width)
    if arrows and len(arrows[0]) > 0:
        largest = np.linalg.norm(arrows[1], axis=1).max()
        plotter.add_arrows(arrows[0], arrows[1], mag=0.2 * width / largest, color="firebrick")
    if screenshot is None:
        plotter.show()
    else:
        plotter.screenshot(os.fspath(screenshot))
    return plotter


def animate(trajectory, path, values=None, *, on=None, name=None, limits=None, edges=False, every=1, rate=25):
    """Write an animation of a trajectory with PyVista: a GIF, or a video for any other suffix of the path. Collective.

    values: function (n, state) that returns an array of colours as in `show`, name of a quantity as in `show`, or None.
    limits: as in `show`; None for the smallest and largest values of all frames. every: number of steps from frame to
    frame. rate: frames per second. Raise an ImportError if PyVista or imageio is not installed, and an InputError if an
    argument is wrong.
    """
    if isinstance(values, str):
        on, name = _quantities.kind_of(values), name or _quantities.title_of(values)
        values = functools.partial(_quantities.of_trajectory, values, trajectory)
    name = name or "values"
    scene = trajectory.scene
    surface = _pictures.Surface(scene.mesh)
    made = _pictures.frames(trajectory, surface, every, values, on)
    center, width = _pictures.center_and_width(np.concatenate([surface.drawn(points) for _, points, _ in made]))
    if limits is None and values is not None:
        limits = _range_of([colours for _, _, colours in made])
    pyvista = _import("pyvista", "diffsim.animate")
    _import("imageio", "diffsim.animate")
    plotter = pyvista.Plotter(off_screen=True)
    time, points, colours = made[0]
    moving = _add_bodies(pyvista, plotter, surface, points, colours, name, limits, edges)
    squares = _add_obstacles(pyvista, plotter, scene, time, center, width)
    path = os.fspath(path)
    if path.lower().endswith(".gif"):
        plotter.open_gif(path, fps=rate)
    else:
        plotter.open_movie(path, framerate=rate)
    for time, points, colours in made:
        for data in moving:
            data.points = points
        if colours is not None and len(surface.triangles) > 0:
            _set_colours(moving[0], name, colours)
        for data, (corners, _) in zip(squares, _pictures.obstacles(scene, time, center, width)):
            data.points = corners
        plotter.write_frame()
    plotter.close()


def plot_history(result, axes=None):
    """Plot the losses and the norms of the gradient of an optimisation with matplotlib, on logarithmic scales.

    result: result of `InverseProblem.minimise`, path of a file history.csv of the runner, or array [n, 3] of iterations,
    losses and norms. axes: two matplotlib axes; None creates a figure. Return the two axes. Raise an ImportError if
    matplotlib is not installed.
    """
    iterations, losses, norms = _pictures.history_of(result)
    if axes is None:
        pyplot = _import("matplotlib.pyplot", "diffsim.plot_history")
        _, axes = pyplot.subplots(2, 1, sharex=True)
    for one, numbers, label in zip(axes, (losses, norms), ("loss", "norm of the gradient")):
        one.plot(iterations, numbers)
        if np.all(numbers > 0.0):
            one.set_yscale("log")
        one.set_ylabel(label)
    axes[1].set_xlabel("iteration")
    return axes


def plot_gradient_norms(table, axes=None):
    """Plot the norms of the adjoint over time with matplotlib, on a logarithmic scale.

    The adjoint is the derivative of the loss with respect to the state. table: path of the file that the key
    `output.adjoint_log` of a scene names, or array [n, 4] of step, time (s), norm for positions and norm for velocities.
    axes: matplotlib axes; None creates a figure. Return the axes. Raise an ImportError if matplotlib is not installed.
    """
    times, positions, velocities = _pictures.adjoint_norms_of(table)
    if axes is None:
        axes = _import("matplotlib.pyplot", "diffsim.plot_gradient_norms").subplots()[1]
    for norms, label in ((positions, "‖∂L/∂x‖"), (velocities, "‖∂L/∂v‖")):
        axes.plot(times, np.where(norms > 0.0, norms, np.nan), label=label)
    axes.set_yscale("log")
    axes.set_xlabel("time (s)")
    axes.legend()
    return axes
