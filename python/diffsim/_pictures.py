# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Points, triangles and values of pictures, as numpy arrays. The module show draws these arrays."""

import collections.abc
import os

import numpy as np

from ._core import DifferentiableScene, InputError, Simulator, TetrahedralMesh


class Surface:
    """Triangles and segments of this rank's part of a mesh.

    The points of a picture are the local vertices, followed by the points of the surfaces of affine bodies. `triangles`
    [m, 3] and `segments` [k, 2] are numbers of points. `cells` [m] are the local tetrahedra to which the triangles
    belong; -1 for other triangles. The constructor is collective.
    """

    def __init__(self, mesh):
        faces, cells = mesh.boundary_faces()
        faces, cells = split_faces(faces, cells)
        self.num_vertices, self.num_owned = mesh.num_local_vertices, mesh.num_owned_vertices
        self.num_cells = mesh.num_local_cells
        self.segments = mesh.segments
        triangles = [faces, mesh.triangles]
        self._affine = []
        first = self.num_vertices
        rest = mesh.rest_positions
        for _, nodes, points, corners in mesh.affine_surfaces():
            if len(corners) == 0:
                continue
            self._affine.append((nodes, affine_weights(rest[nodes], points)))
            triangles.append(corners + first)
            first += len(points)
        self.num_points = first
        self.triangles = np.concatenate(triangles)
        self.cells = np.full(len(self.triangles), -1)
        self.cells[: len(cells)] = cells

    def extend(self, values):
        """Return values [points, …] for values [local vertices, …] of the mesh, such as positions."""
        parts = [np.tensordot(weights, values[nodes], 1) for nodes, weights in self._affine]
        return np.concatenate([values, *parts])

    def drawn(self, points):
        """Return those of the points [points, 3] that belong to triangles or segments."""
        return points[np.unique(np.concatenate([self.triangles.ravel(), self.segments.ravel()]))]

    def colours(self, values, on=None):
        """Return the kind of entities, "points" or "triangles", and one number for each of these entities.

        values: array on the local vertices, on the owned vertices or on the local tetrahedra. on: "vertices" or "cells";
        needed if the length of the array does not determine the kind. The Euclidean norm of a vector or a tensor is
        shown. Entities without a value have the value NaN.
        """
        values = np.asarray(values, dtype=np.float64)
        lengths = {"vertices": (self.num_vertices, self.num_owned), "cells": (self.num_cells,)}
        if on is not None and on not in lengths:
            raise InputError(f"on is vertices or cells, not {on!r}")
        count = len(values) if values.ndim > 0 else 0
        kinds = [kind for kind in lengths if count in lengths[kind] and on in (None, kind)]
        if len(kinds) > 1:
            raise InputError(f"vertices and cells have the same number, {count}; give on='vertices' or on='cells'")
        if not kinds or values.ndim == 0:
            raise InputError(
                f"values has the shape {list(values.shape)}; give one row for each of {self.num_vertices} vertices or "
                f"{self.num_cells} cells"
            )
        missing = np.full((self.num_vertices - count if kinds[0] == "vertices" else 1, *values.shape[1:]), np.nan)
        values = np.concatenate([values, missing])
        values = self.extend(values) if kinds[0] == "vertices" else values[self.cells]
        if values.ndim > 1:
            values = np.sqrt((values.reshape(len(values), -1) ** 2).sum(axis=1))
        return "points" if kinds[0] == "vertices" else "triangles", values


def split_faces(faces, cells):
    """Return triangles [m, 3] and their cells [m] for faces [n, 3] or second-order faces [n, 6] and their cells [n]."""
    if faces.shape[1] == 3:
        return faces, cells
    parts = np.array([[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]])
    return faces[:, parts].reshape(-1, 3), np.repeat(cells, len(parts))


def affine_weights(corners, points):
    """Return the weights [n, 4] with which the corners [4, 3] of a tetrahedron add up to the points [n, 3]."""
    matrix = np.vstack([corners.T, np.ones(4)])
    return np.linalg.solve(matrix, np.vstack([points.T, np.ones(len(points))])).T


def rotate(points, axis, angle):
    """Return the points [n, 3], rotated by `angle` (rad) about an axis through the origin. A zero axis means no rotation."""
    points = np.asarray(points, dtype=np.float64)
    length = np.linalg.norm(axis)
    if length == 0.0:
        return points
    unit = np.asarray(axis) / length
    along = np.outer(points @ unit, unit)
    return along + np.cos(angle) * (points - along) + np.sin(angle) * np.cross(unit, points)


def move(points, obstacle, time):
    """Return the positions of points [n, 3] of an obstacle at `time` (s), given their positions at time 0."""
    turn = obstacle.rotation
    origin = np.asarray(turn.origin)
    turned = rotate(np.asarray(points) - origin, turn.axis, turn.angular_velocity * time)
    return origin + np.asarray(obstacle.velocity) * time + turned


def plane_square(plane, time, center, width):
    """Return the corners [4, 3] of a square of a plane at `time`. The middle is the point of the plane nearest to center."""
    turn = plane.rotation
    normal = rotate([plane.normal], turn.axis, turn.angular_velocity * time)[0]
    normal = normal / np.linalg.norm(normal)
    point = move([plane.point], plane, time)[0]
    center = np.asarray(center)
    middle = center - ((center - point) @ normal) * normal
    first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    first *= 0.5 * width / np.linalg.norm(first)
    second = np.cross(normal, first)
    return middle + np.array([-first - second, first - second, first + second, second - first])


def obstacles(scene, time, center, width):
    """Return the obstacles of a scene at `time`, a list of (points [n, 3], faces [m, 3 or 4]). Planes are squares."""
    contact = scene.contact
    if contact is None:
        return []
    made = [(plane_square(plane, time, center, width), np.array([[0, 1, 2, 3]])) for plane in contact.planes]
    for mesh in contact.meshes:
        if len(mesh.triangles) > 0:
            made.append((move(mesh.vertices, mesh, time), mesh.triangles))
    return made


def center_and_width(points):
    """Return the middle [3] of the bounding box of the points [n, 3], and 1.5 times the diagonal of this box."""
    if len(points) == 0:
        return np.zeros(3), 1.0
    low, high = points.min(axis=0), points.max(axis=0)
    return 0.5 * (low + high), 1.5 * float(np.linalg.norm(high - low))


def body_centers(mesh, positions):
    """Return a dict from the names of the bodies to the means of their vertices' positions on this rank. Collective."""
    if not mesh.body_names:
        return {"body": positions.mean(axis=0)} if len(positions) > 0 else {}
    vertices = {name: mesh.region(f"{name}/all") for name in mesh.body_names}
    return {name: positions[numbers].mean(axis=0) for name, numbers in vertices.items() if len(numbers) > 0}


def contact_arrows(forces, centers):
    """Return the origins [k, 3] and the vectors [k, 3] (N) of the contact forces that are not zero.

    forces: list of tuples (body, other, force), as `Simulator.contact_forces`. centers: dict from the names of bodies to
    the origins of their forces. Forces on bodies that are not in `centers` are left out.
    """
    shown = [(centers[body], force) for body, _, force in forces if body in centers and np.any(force != 0.0)]
    origins = np.array([origin for origin, _ in shown]).reshape(-1, 3)
    return origins, np.array([force for _, force in shown]).reshape(-1, 3)


def subject_of(target):
    """Return (mesh, positions, scene or None, time) for a simulator, a scene at rest, or a mesh at rest."""
    if isinstance(target, TetrahedralMesh):
        return target, target.rest_positions, None, 0.0
    if isinstance(target, DifferentiableScene):
        return target.mesh, target.rest_positions, target, 0.0
    if isinstance(target, Simulator):
        return target.scene.mesh, target.positions, target.scene, target.time
    raise InputError(f"give a simulator, a scene or a mesh, not an object of the type {type(target).__name__}")


def frames(trajectory, surface, every=1, values=None, on=None):
    """Return a list of (time, points, colours) for every `every`-th state of a trajectory. Collective.

    values: function (n, state) that returns an array for `Surface.colours`, or None; colours is then None.
    """
    if every < 1:
        raise InputError(f"every is {every}; give a number of steps, 1 or more")
    made = []
    first = trajectory.first_step
    for n in range(first, first + trajectory.num_steps + 1, every):
        state = trajectory.state(n)
        colours = None if values is None else surface.colours(values(n, state), on)
        made.append((state.time, surface.extend(state.positions), colours))
    return made


def read_table(source, columns):
    """Return the named columns of a CSV file, or the columns of an array [n, len(columns)], as a list of arrays [n]."""
    if isinstance(source, (str, os.PathLike)):
        table = np.atleast_1d(np.genfromtxt(source, delimiter=",", names=True))
        missing = [name for name in columns if name not in (table.dtype.names or ())]
        if missing:
            raise InputError(f"{os.fspath(source)} has no column {missing[0]}")
        return [table[name] for name in columns]
    table = np.asarray(source, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(columns):
        raise InputError(f"the table has the shape {list(table.shape)}; give the columns {', '.join(columns)}")
    return list(table.T)


def history_of(result):
    """Return the iterations, losses and norms of the gradient of an optimisation, three arrays [n].

    result: result of `InverseProblem.minimise`, path of a file history.csv of the runner, or array [n, 3].
    """
    if isinstance(result, collections.abc.Mapping):
        result = result["history"]
    return read_table(result, ["iteration", "loss", "gradient_norm"])


def adjoint_norms_of(table):
    """Return the times (s) and the norms of the adjoint with respect to positions and velocities, three arrays [n].

    table: path of the file that the key `output.adjoint_log` of a scene names, or array [n, 4] of step, time and norms.
    """
    return read_table(table, ["step", "time", "positions", "velocities"])[1:]
