#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Runs scenes of rigid bodies in which contact is difficult, and prints a table of Newton iterations, times and distances.

    python3 tests/campaigns/rigid_scenes.py --diffsim build/bin/diffsim --scratch /tmp/rigid [--only cards,bolt] [--ranks 2]

The list of scenes is that of Ferguson et al. 2021 (Rigid IPC). Contacts between sharp features after Erleben 2018: spikes on
spikes, a spike on a wedge, a wedge on a wedge, a spike in a hole, a spike or a wedge in a crack, a spike or a wedge that
slides, a cube that slides over seams, a cube at a cliff, a stack of a cube, a cube on its edge and a tetrahedron on its
corner, and a wedge between two free cubes. Larger scenes: a mass ratio of 1000 in a stack and in a drop, a lock with a key, a
screw in a nut, arches of 25 and 101 stones, a house of cards of three storeys, and a net of links.

Each scene runs without friction and with the friction coefficient of --friction. A run is good if all steps converge and no
state has intersections; a scene may collapse. With --factor F, the barrier stiffness is F times the adaptive one, which a run
of one step reports. The script creates all geometry, and needs only Python's standard library.
"""

import argparse
import json
import math
import random
import re
import sys

from runs import add_options, simulate, summarize

DISTANCE = 1e-3  # barrier distance of bodies of about 1 m, m
FLOOR = "{plane: {point: [0, 0, 0], normal: [0, 1, 0]}, name: floor}"


def six_volumes(points, triangles):
    """Returns six times the volume inside closed triangles, m³; positive if the normals point outwards."""
    total = 0.0
    for a, b, c in ((points[v] for v in t) for t in triangles):
        total += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]))
    return total


def write_surface(path, points, triangles):
    """Writes closed triangles as an OBJ file with outward normals. Throws if an edge does not have exactly two triangles."""
    edges = [(t[k], t[(k + 1) % 3]) for t in triangles for k in range(3)]
    once = set(edges)
    if len(once) != len(edges) or any((b, a) not in once for a, b in once):
        raise ValueError(f"{path}: the surface is not closed")
    if six_volumes(points, triangles) < 0.0:
        triangles = [(a, c, b) for a, b, c in triangles]
    with open(path, "w") as out:
        out.writelines(f"v {p[0]!r} {p[1]!r} {p[2]!r}\n" for p in points)
        out.writelines(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in triangles)


def write_grid(path, cells, place):
    """Writes the surface of a grid of cells[0] × cells[1] × cells[2] bricks. place(a, b, c) maps a corner of the grid, with
    coordinates in [0, 1], to a point, m. Two triangles of a quadrilateral meet at the longer diagonal, which is the ridge of a
    spike; if both have the same length, at the diagonal towards the middle of the face."""
    number, points, triangles = {}, [], []

    def vertex(index):
        if index not in number:
            number[index] = len(points)
            points.append(tuple(map(float, place(*(i / n for i, n in zip(index, cells))))))
        return number[index]

    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, cells[axis]):
            for i in range(cells[u]):
                for k in range(cells[v]):
                    corner = []
                    for di, dk in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        index = [0, 0, 0]
                        index[axis], index[u], index[v] = side, i + di, k + dk
                        corner.append(vertex(tuple(index)))
                    a, b, c, d = corner if side else corner[::-1]
                    first, second = math.dist(points[a], points[c]), math.dist(points[b], points[d])
                    if abs(first - second) > 1e-9 * (first + second):
                        by_first = first > second
                    else:
                        by_first = ((2 * i + 1 - cells[u]) * (2 * k + 1 - cells[v]) > 0) == bool(side)
                    triangles += [(a, b, c), (a, c, d)] if by_first else [(a, b, d), (b, c, d)]
    write_surface(path, points, triangles)


def write_field(path, cells, height, half=0.5, flip=False):
    """Writes a block with a square base of half side `half` around the origin, from y = 0 to y = height(x, z). With `flip`, y
    changes its sign."""
    sign = -1.0 if flip else 1.0

    def place(a, b, c):
        x, z = half * (2.0 * a - 1.0), half * (2.0 * c - 1.0)
        return (x, sign * b * height(x, z), z)

    write_grid(path, (cells, 2, cells), place)


def write_blocks(path, lines, filled, size=0.1):
    """Writes the surface of the union of cells of a rectilinear grid with the lines lines[axis]. filled(x, y, z) tells for the
    centre of a cell whether the cell belongs to the union. Cells are divided until they are at most `size` long, m."""
    fine = []
    for values in lines:
        out = [values[0]]
        for low, high in zip(values, values[1:]):
            parts = math.ceil((high - low) / size - 1e-9)
            out += [low + (high - low) * (i + 1) / parts for i in range(parts)]
        fine.append(out)
    centre = lambda index: tuple(0.5 * (fine[c][index[c]] + fine[c][index[c] + 1]) for c in range(3))
    full = {(i, j, k) for i in range(len(fine[0]) - 1) for j in range(len(fine[1]) - 1) for k in range(len(fine[2]) - 1)
            if filled(*centre((i, j, k)))}
    number, points, triangles = {}, [], []
    for cell in sorted(full):
        for axis in range(3):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            for side in (0, 1):
                other = list(cell)
                other[axis] += 2 * side - 1
                if tuple(other) in full:
                    continue
                corner = []
                for du, dv in ((0, 0), (1, 0), (1, 1), (0, 1)):
                    index = list(cell)
                    index[axis] += side
                    index[u] += du
                    index[v] += dv
                    if tuple(index) not in number:
                        number[tuple(index)] = len(points)
                        points.append(tuple(fine[c][index[c]] for c in range(3)))
                    corner.append(number[tuple(index)])
                a, b, c, d = corner if side else corner[::-1]
                triangles += [(a, b, c), (a, c, d)]
    write_surface(path, points, triangles)


def write_torus(path, ring, tube, around, across):
    """Writes a torus around the y axis."""
    points, triangles = [], []
    for i in range(around):
        for k in range(across):
            s, t = 2.0 * math.pi * i / around, 2.0 * math.pi * k / across
            r = ring + tube * math.cos(t)
            points.append((r * math.cos(s), tube * math.sin(t), r * math.sin(s)))
            a, b = i * across + k, i * across + (k + 1) % across
            c, d = ((i + 1) % around) * across + k, ((i + 1) % around) * across + (k + 1) % across
            triangles += [(a, b, d), (a, d, c)]
    write_surface(path, points, triangles)


def write_thread(path, low, high, lead, sectors, radius, outer=None):
    """Writes a screw around the y axis from y = low to high; the rows are `lead` / `sectors` apart. The radius, m, at the phase
    s in [0, 1) of the thread is radius(s). With `outer`, writes a nut instead: a ring from the thread to the radius `outer`."""
    rows = round((high - low) * sectors / lead)
    points, triangles = [], []
    turn = 2.0 * math.pi / sectors
    at = lambda r, i, j: (r * math.cos(turn * i), low + lead * j / sectors, r * math.sin(turn * i))
    start = round(low * sectors / lead)
    for j in range(rows + 1):
        points += [at(radius(((j + start - i) % sectors) / sectors), i, j) for i in range(sectors)]
    # The diagonal follows the helix.
    wall = lambda first: [t for j in range(rows) for i in range(sectors)
                          for a, b in [(first + j * sectors + i, first + j * sectors + (i + 1) % sectors)]
                          for t in [(a, b + sectors, b), (a, a + sectors, b + sectors)]]
    triangles += wall(0)
    last = rows * sectors
    if outer is None:
        bottom = len(points)
        points += [(0.0, low, 0.0), (0.0, high, 0.0)]
        for i in range(sectors):
            k = (i + 1) % sectors
            triangles += [(bottom, i, k), (bottom + 1, last + k, last + i)]
    else:
        first = len(points)
        for j in range(rows + 1):
            points += [at(outer, i, j) for i in range(sectors)]
        triangles += [(a, c, b) for a, b, c in wall(first)]
        for i in range(sectors):
            k = (i + 1) % sectors
            triangles += [(first + i, i, k), (first + i, k, first + k)]
            triangles += [(last + i, first + last + i, first + last + k), (last + i, first + last + k, last + k)]
    write_surface(path, points, triangles)


def rigid(name, mesh, at=(0.0, 0.0, 0.0), rotate="", density=1000, more=""):
    """Returns a rigid body. `mesh` is a file name or a section `mesh`; `rotate` is an axis and an angle, rad."""
    return f"  {name}: {{kind: rigid, mesh: {source(mesh)}, density: {density:g}, {placement(at, rotate)}{more}}}\n"


def fixed(name, mesh, at=(0.0, 0.0, 0.0), rotate=""):
    """Returns an obstacle, as rigid()."""
    return f"  {name}: {{kind: obstacle, mesh: {source(mesh)}, {placement(at, rotate)}}}\n"


def source(mesh):
    return mesh if mesh.startswith("{") else f"{{file: {mesh}}}"


def placement(at, rotate):
    turn = f"rotate: {{axis: {rotate[0]}, angle: {rotate[1]!r}}}, " if rotate else ""
    return f"placement: {{{turn}translate: [{', '.join(repr(float(v)) for v in at)}]}}"


def box(size, cells):
    return f"{{box: {{size: {list(size)}, cells: {list(cells)}}}}}"


def speed(velocity):
    return f", initial: {{velocity: {list(velocity)}}}"


def scene(bodies, steps, distance=DISTANCE, obstacles="", more=""):
    """Returns a scene. MU is the friction coefficient, and KAPPA is the barrier stiffness."""
    planes = f", obstacles: [{obstacles}]" if obstacles else ""
    return (f"bodies:\n{bodies}{more}contact: {{barrier_distance: {distance:g}, barrier_stiffness: KAPPA, friction: MU, "
            f"friction_velocity: 1.0e-3{planes}}}\nsolver: {{integrator: implicit_euler, dt: 0.01, steps: {steps}, "
            "gravity: [0, -9.8, 0]}\n")


def pyramid(base, rise, half):
    """A height with a spike: `base` outside, and `rise` more at the tip; the spike's base has the half side `half`."""
    return lambda x, z: base + rise * max(0.0, 1.0 - max(abs(x), abs(z)) / half)


def ridge(base, rise, half):
    """A height with a wedge along z."""
    return lambda x, z: base + rise * max(0.0, 1.0 - abs(x) / half)


# The spikes and wedges are on a slab 0.2 m thick, 0.8 m high, and 0.6 m wide at the base.
SLAB, RISE, HALF = 0.2, 0.8, 0.3
GAP = 2.0 * DISTANCE


def spikes(folder, beside):
    """Nine spikes on nine spikes. Both bodies are free, the lower one stands on the floor; `beside` is the distance of the tips
    along x and z, m."""

    def height(x, z):
        near = lambda v: abs(v - 0.3 * max(-1, min(1, round(v / 0.3))))
        return SLAB + 0.4 * max(0.0, 1.0 - max(near(x), near(z)) / 0.15)

    write_field(folder / "lower.obj", 12, height, 0.45)
    write_field(folder / "upper.obj", 12, height, 0.45, flip=True)
    top = 2.0 * (SLAB + 0.4) + 2.0 * GAP
    return scene(rigid("lower", "lower.obj", (0, GAP, 0)) + rigid("upper", "upper.obj", (beside[0], top, beside[1])), 200,
                 obstacles=FLOOR)


def scene_spikes(folder):
    """The tips are exactly above each other."""
    return spikes(folder, (0.0, 0.0))


def scene_spikes_beside(folder):
    """The tips are 4 mm beside each other; the upper body slips off and its spikes fall between those of the lower one."""
    return spikes(folder, (4e-3, 2e-3))


def scene_spike_wedge(folder):
    """A spike falls on the ridge of a wedge."""
    write_field(folder / "wedge.obj", 10, ridge(SLAB, RISE, HALF))
    write_field(folder / "spike.obj", 10, pyramid(SLAB, RISE, HALF), flip=True)
    return scene(fixed("wedge", "wedge.obj") + rigid("spike", "spike.obj", (0, 2.0 * (SLAB + RISE) + 0.1, 0)), 200,
                 obstacles=FLOOR)


def scene_wedges(folder):
    """A wedge falls on a wedge; the ridges cross at 90 degrees."""
    write_field(folder / "lower.obj", 10, ridge(SLAB, RISE, HALF))
    write_field(folder / "upper.obj", 10, lambda x, z: ridge(SLAB, RISE, HALF)(z, x), flip=True)
    return scene(fixed("lower", "lower.obj") + rigid("upper", "upper.obj", (0, 2.0 * (SLAB + RISE) + 0.1, 0)), 200,
                 obstacles=FLOOR)


def scene_spike_hole(folder):
    """A spike falls into a hole with the same slope, 2 cm beside the axis."""
    write_field(folder / "block.obj", 10, pyramid(1.0, -RISE, HALF))
    write_field(folder / "spike.obj", 10, pyramid(SLAB, RISE, HALF), flip=True)
    return scene(fixed("block", "block.obj") + rigid("spike", "spike.obj", (0.02, 1.0 + SLAB + 0.5, 0.01)), 200)


def scene_spike_crack(folder):
    """A spike falls into a crack with the same slope, 2 cm beside the middle."""
    write_field(folder / "block.obj", 10, ridge(1.0, -RISE, HALF))
    write_field(folder / "spike.obj", 10, pyramid(SLAB, RISE, HALF), flip=True)
    return scene(fixed("block", "block.obj") + rigid("spike", "spike.obj", (0.02, 1.0 + SLAB + 0.5, 0.01)), 200)


def scene_wedge_crack(folder):
    """A wedge falls into a crack with the same slope, 2 cm beside the middle."""
    write_field(folder / "block.obj", 10, ridge(1.0, -RISE, HALF))
    write_field(folder / "wedge.obj", 10, ridge(SLAB, RISE, HALF), flip=True)
    return scene(fixed("block", "block.obj") + rigid("wedge", "wedge.obj", (0.02, 1.0 + SLAB + 0.5, 0)), 200)


def planks(count, length, thick=0.2, gap=2e-3):
    """Obstacles with a common top at y = 0 and seams between them, along x from -0.5 m."""
    return "".join(fixed(f"plank{n}", box((length, thick, 1.4), (max(1, round(length / 0.25)), 1, 6)),
                         (-0.5 + n * (length + gap), -thick, -0.7)) for n in range(count))


def scene_sliding_spike(folder):
    """A slab with four spikes as feet slides over planks with seams, at 2 m/s."""

    def height(x, z):
        return 0.1 + 0.3 * max(0.0, 1.0 - max(abs(abs(x) - 0.25), abs(abs(z) - 0.25)) / 0.2)

    write_field(folder / "spikes.obj", 20, height, flip=True)
    return scene(planks(8, 0.6) + rigid("spikes", "spikes.obj", (0.2, 0.4 + GAP, 0.01), more=speed((2.0, 0.0, 0.0))), 200)


def scene_sliding_wedge(folder):
    """A slab with two wedges as feet, along the seams, slides over planks, at 2 m/s."""
    height = lambda x, z: 0.1 + 0.3 * max(0.0, 1.0 - abs(abs(x) - 0.25) / 0.2)
    write_field(folder / "wedges.obj", 20, height, flip=True)
    return scene(planks(8, 0.6) + rigid("wedges", "wedges.obj", (0.2, 0.4 + GAP, 0.01), more=speed((2.0, 0.0, 0.0))), 200)


def scene_internal_edges(_):
    """A cube slides over planks with seams, at 3 m/s."""
    return scene(planks(16, 0.3) +
                 rigid("cube", box((0.5, 0.5, 0.5), (4, 4, 4)), (-0.3, GAP, -0.25), more=speed((3.0, 0.0, 0.5))), 150)


def scene_cliff_edge(_):
    """A cube falls on the edge of a cube, with its centre above the edge, and a cube falls edge on parallel edge."""
    return scene(fixed("cliff", box((1.0, 1.0, 1.0), (4, 4, 4))) +
                 rigid("half", box((0.5, 0.5, 0.5), (4, 4, 4)), (0.75, 1.1, 0.0)) +
                 rigid("edge", box((0.4, 0.4, 0.4), (4, 4, 4)), (-0.4 + 5e-4, 1.1, 0.6)), 200, obstacles=FLOOR)


def scene_corners(folder):
    """A cube on the floor, on it a cube that stands on its edge, on it a tetrahedron that stands on its corner."""
    points = [(0.0, 0.0, 0.0), (0.5, 0.8, 0.0), (-0.25, 0.8, 0.43), (-0.25, 0.8, -0.43)]
    write_surface(folder / "tetrahedron.obj", points, [(0, 2, 1), (0, 3, 2), (0, 1, 3), (1, 2, 3)])
    side, gap = 0.6, GAP
    turn, top = ("[0, 0, 1]", 0.25 * math.pi), side + math.sqrt(2.0) * side
    return scene(rigid("flat", box((1.0, 0.6, 1.0), (6, 4, 6)), (-0.5, gap, -0.5)) +
                 rigid("diamond", box((side, side, side), (4, 4, 4)), (0.0, side + 2.0 * gap, -0.5 * side), turn) +
                 rigid("tetrahedron", "tetrahedron.obj", (0.0, top + 3.0 * gap, 0.0)), 200, obstacles=FLOOR)


def scene_wedge_between(folder):
    """A wedge falls between two free cubes and pushes them apart."""
    write_field(folder / "wedge.obj", 8, ridge(SLAB, RISE, 0.25), 0.4, flip=True)
    cube = box((0.8, 0.8, 0.8), (4, 4, 4))
    return scene(rigid("left", cube, (-0.85, GAP, -0.4)) + rigid("right", cube, (0.05, GAP, -0.4)) +
                 rigid("wedge", "wedge.obj", (0.01, 0.8 + SLAB + RISE + 0.05, 0.02), density=4000), 200, obstacles=FLOOR)


def scene_mass_stack(_):
    """Two cubes and on them a cube with 1000 times their density."""
    cube = box((1.0, 1.0, 1.0), (4, 4, 4))
    return scene("".join(rigid(f"cube{n}", cube, (0.02 * n, n * (1.0 + GAP) + GAP, 0.01 * n), density=1e6 if n == 2 else 1e3)
                         for n in range(3)), 150, obstacles=FLOOR)


def scene_mass_drop(_):
    """A cube with 1000 times the density of the others falls 0.5 m on a pyramid of three cubes."""
    cube = box((1.0, 1.0, 1.0), (4, 4, 4))
    places = [(-1.05, GAP, 0.0), (0.05, GAP, 0.0), (-0.5, 1.0 + 2.0 * GAP, 0.02)]
    return scene("".join(rigid(f"cube{n}", cube, at) for n, at in enumerate(places)) +
                 rigid("heavy", cube, (-0.45, 2.5, -0.05), ("[0, 1, 0]", 0.0), 1e6), 150, obstacles=FLOOR)


def scene_lock(folder):
    """A bolt in the channel of a housing carries a pin in a shaft. A key turns by 50 degrees in a notch of the bolt and draws
    it back; the pin falls through the shaft. The clearance is 4 mm on each side, and 34 mm in the shaft below the channel,
    where the tilted pin passes."""
    half, c = 0.1, 0.004
    inside = half + c
    wide = inside + 0.03

    def housing(x, y, z):
        channel = abs(y) < inside and abs(z) < inside and x < 0.45
        slot = y > inside and abs(z) < 0.05 and -1.2 < x < -0.4
        shaft = max(abs(x - 0.15), abs(z)) < (wide if y < -inside else inside)
        return not (channel or slot or shaft)

    lines = [[-1.6, -1.2, -0.4, 0.15 - wide, 0.15 - inside, 0.15 + inside, 0.15 + wide, 0.45, 0.55],
             [-0.3, -inside, inside, 0.3], [-0.3, -wide, -inside, -0.05, 0.05, inside, wide, 0.3]]
    write_blocks(folder / "housing.obj", lines, housing)
    write_blocks(folder / "bolt.obj", [[-1.0, -0.66, -0.45, 0.4], [-half, -0.04, half], [-half, half]],
                 lambda x, y, z: y < -0.04 or not -0.66 < x < -0.45, 0.07)
    write_blocks(folder / "pin.obj", [[0.15 - half, 0.15 + half], [0.0, 0.7], [-half, half]], lambda x, y, z: True)
    pivot, angle, reach = (-0.8, 0.55), math.radians(25.0), 0.57

    def key(a, b, c):
        along, across = reach * (1.0 - b) - 0.1 * b, 0.08 * (a - 0.5)
        return (pivot[0] + along * math.sin(angle) + across * math.cos(angle),
                pivot[1] - along * math.cos(angle) + across * math.sin(angle), 0.08 * (c - 0.5))

    write_grid(folder / "key.obj", (2, 8, 2), key)
    turn = (f"boundary:\n  - {{region: key/all, move: {{axis: [0, 0, 1], origin: [{pivot[0]}, {pivot[1]}, 0], table: "
            f"{{times: [0, 0.1, 1.1, 10], angle: [0, 0, {-2.0 * angle!r}, {-2.0 * angle!r}]}}}}}}\n")
    return scene(fixed("housing", "housing.obj") + fixed("key", "key.obj") + rigid("bolt", "bolt.obj", density=3000) +
                 rigid("pin", "pin.obj", (0.0, half + GAP, 0.0), density=3000), 150, more=turn)


def scene_bolt(folder):
    """A screw with a lead of 0.4 m turns downwards in a fixed nut, by its weight. The radial clearance is 12 mm."""
    profile = lambda s: max(-1.0, min(1.0, 1.5 * (4.0 * abs(s - 0.5) - 1.0)))
    lead, sectors = 0.4, 24
    write_thread(folder / "bolt.obj", -0.1, 1.5, lead, sectors, lambda s: 0.3 + 0.06 * profile(s))
    write_thread(folder / "nut.obj", 0.0, 0.6, lead, sectors, lambda s: 0.312 + 0.06 * profile(s), 0.5)
    return scene(rigid("bolt", "bolt.obj") + fixed("nut", "nut.obj"), 150)


def arch(folder, stones, distance, steps):
    """A semicircular arch with radii 1 m and 1.2 m on two fixed blocks, above a floor. The joints are d̂ wide at the start."""
    inner, outer, step, gap = 1.0, 1.2, math.pi / stones, distance
    text = "".join(fixed(f"abutment{n}", box((0.4, 0.2, 0.5), (4, 2, 5)), (x, -0.2, -0.25)) for n, x in enumerate((-1.3, 0.9)))
    for n in range(stones):
        first, last = math.pi - n * step, math.pi - (n + 1) * step

        def place(a, b, c, first=first, last=last):
            r, z = inner + (outer - inner) * b, -0.15 + 0.3 * c
            margin = 0.5 * gap / r
            angle = first - margin + (last - first + 2.0 * margin) * a
            return (r * math.cos(angle), r * math.sin(angle) + 0.5 * gap, z)

        write_grid(folder / f"stone{n}.obj", (1, 3, 3), place)
        text += rigid(f"stone{n}", f"stone{n}.obj", density=2000)
    return scene(text, steps, distance, FLOOR.replace("[0, 0, 0]", "[0, -0.2, 0]"))


def scene_arch25(folder):
    return arch(folder, 25, 1e-3, 100)


def scene_arch101(folder):
    """The stones are 3.5 cm wide, and d̂ is 0.2 mm."""
    return arch(folder, 101, 2e-4, 100)


def scene_cards(_):
    """Three, two and one pairs of leaning cards, with cards between the storeys. The cards are 1 m long and 2 cm thick."""
    length, thick, wide, gap, lean, apart = 1.0, 0.02, 0.6, 1.5e-3, math.radians(20.0), 0.8
    s, c = math.sin(lean), math.cos(lean)
    cards = []

    def add(x, y, angle, size):
        """Adds a card with its centre at (x, y), rotated clockwise from the y axis by an angle."""
        # One corner of the box is at the origin; the translation (cx, cy) moves the centre of the rotated box to the origin.
        cx = -0.5 * thick * math.cos(angle) - 0.5 * size * math.sin(angle)
        cy = 0.5 * thick * math.sin(angle) - 0.5 * size * math.cos(angle)
        mesh = box((thick, size, wide), (1, 10, 6))
        cards.append(rigid(f"card{len(cards)}", mesh, (x + cx, y + cy, 0), ("[0, 0, 1]", -angle), 800))

    ground = 0.0
    for pairs in (3, 2, 1):
        half_width, half_height = 0.5 * length * s + 0.5 * thick * c, 0.5 * length * c + 0.5 * thick * s
        for n in range(pairs):
            x = apart * (n - 0.5 * (pairs - 1))
            add(x - 0.5 * gap - half_width, ground + gap + half_height, lean, length)
            add(x + 0.5 * gap + half_width, ground + gap + half_height, -lean, length)
        ground += gap + 2.0 * half_height
        # The cards of a storey end 5 mm from the tips of the pairs between them.
        for n in range(pairs - 1):
            x, out = apart * (n - 0.5 * (pairs - 2)), 0.04
            low = x - 0.5 * apart + (0.005 if n > 0 else -out)
            high = x + 0.5 * apart - (0.005 if n < pairs - 2 else -out)
            add(0.5 * (low + high), ground + gap + 0.5 * thick, 0.5 * math.pi, high - low)
        ground += gap + thick
    return scene("".join(cards), 200, obstacles=FLOOR)


def scene_net(folder):
    """A net of 4 x 4 horizontal links, joined by 24 vertical links; a ball falls on it. The 12 horizontal links at the border
    are fixed."""
    count, ring, tube, apart = 4, 0.5, 0.09, 1.44
    write_torus(folder / "link.obj", ring, tube, 20, 8)
    text = ""
    at = lambda i, k: (apart * (i - 0.5 * (count - 1)), 0.0, apart * (k - 0.5 * (count - 1)))
    for i in range(count):
        for k in range(count):
            make = rigid if 0 < i < count - 1 and 0 < k < count - 1 else fixed
            text += make(f"node{i}{k}", "link.obj", at(i, k))
            for di, dk in ((1, 0), (0, 1)):
                if i + di < count and k + dk < count:
                    axis = "[1, 0, 0]" if di else "[0, 0, 1]"
                    text += rigid(f"link{i}{k}{'xz'[dk]}", "link.obj", at(i + 0.5 * di, k + 0.5 * dk), (axis, 0.5 * math.pi))
    ball = "{sphere: {center: [0, 0, 0], radius: 1.2, refinements: 2}}"
    return scene(text + rigid("ball", ball, (0.05, 1.6, 0.03), density=500), 150)


def heap(boxes):
    """Boxes of 5 cm, each rotated by up to 0.1 rad, that fall into a bin in five layers and come to rest."""
    numbers = random.Random(5)
    rows, side, gap = round(math.sqrt(boxes / 5)), 0.05, 0.066
    text = "bodies:\n"
    for n in range(boxes):
        layer, i, k = n // (rows * rows), n // rows % rows, n % rows
        axis = [numbers.uniform(-1, 1) for _ in range(3)]
        at = [i * gap + numbers.uniform(0, 0.004) + 0.01 * (layer % 2), 0.02 + layer * gap * 1.08,
              k * gap + numbers.uniform(0, 0.004) + 0.008 * (layer % 3)]
        text += (f"  box{n}: {{kind: rigid, mesh: {{box: {{size: [{side}, {side}, {side}], cells: [1, 1, 1]}}}}, placement: "
                 f"{{rotate: {{axis: {axis}, angle: {numbers.uniform(0, 0.1)!r}}}, translate: {at}}}, density: 1000}}\n")
    wide = rows * gap + 0.03
    walls = [([0, 1, 0], [0, 0, 0]), ([1, 0, 0], [-0.03, 0, 0]), ([-1, 0, 0], [wide, 0, 0]), ([0, 0, 1], [0, 0, -0.03]),
             ([0, 0, -1], [0, 0, wide])]
    planes = ", ".join(f"{{plane: {{normal: {n}, point: {p}}}}}" for n, p in walls)
    return (text + "contact: {barrier_distance: 1.0e-3, barrier_stiffness: KAPPA, friction: MU, friction_velocity: 1.0e-3, "
            f"obstacles: [{planes}]}}\n"
            "solver: {integrator: implicit_euler, dt: 0.01, steps: 60, gravity: [0, -9.8, 0]}\n")


HEAPS = {f"heap{boxes}": lambda _, boxes=boxes: heap(boxes) for boxes in (125, 250, 500, 1000)}
SCENES = {name[6:]: make for name, make in globals().items() if name.startswith("scene_")}


def adaptive_stiffness(text, folder, options):
    """Returns the adaptive barrier stiffness, Pa, which a run of one step reports."""
    one = re.sub(r"steps: [0-9]+", "steps: 1", text.replace("KAPPA", "adaptive"))
    simulate(one, folder, options)
    return json.loads((folder / "out" / "report.json").read_text())["contact"]["barrier_stiffness"]


def run(name, friction, options):
    """Runs a scene. Returns a row of the table, and whether the run completed without intersections."""
    folder = options.scratch / f"{name}_{friction:g}"
    folder.mkdir(parents=True, exist_ok=True)
    text = (SCENES | HEAPS)[name](folder).replace("MU", f"{friction:g}") + options.more.replace("\\n", "\n")
    if options.lagged == "true" and friction > 0.0:
        text = text.replace("friction_velocity:", "lagged_friction: true, friction_velocity:")
    stiffness = f"{options.factor * adaptive_stiffness(text, folder, options):e}" if options.factor else "adaptive"
    text = text.replace("KAPPA", stiffness)
    summary, good = summarize(simulate(text, folder, options), text)
    columns = [summary.get(key, "") for key in ("steps", "newton", "above_100", "seconds", "cuts", "distance", "met", "end")]
    return f"| {name} | {friction:g} | {' | '.join(columns)} |", good


def main():
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.set_defaults(limit=600.0)
    parser.add_argument("--only", help="names of scenes, with commas between; also heap125, heap250, heap500, heap1000")
    parser.add_argument("--friction", type=float, default=0.5, help="friction coefficient of the second run; 0: no second run")
    parser.add_argument("--skip-frictionless", action="store_true", help="only the runs with friction")
    parser.add_argument("--lagged", choices=["true", "false"], default="true", help="friction lags")
    parser.add_argument("--factor", type=float, help="barrier stiffness / adaptive barrier stiffness; default: adaptive")
    parser.add_argument("--more", default="", help="lines added to each scene")
    options = parser.parse_args()
    options.scratch = options.scratch.resolve()
    print("| scene | µ | steps | Newton iterations: median, mean, most | steps above 100 | s a step | halvings | "
          "least distance / d̂ | intersections | |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    good = True
    for name in options.only.split(",") if options.only else SCENES:
        for friction in [0.0] * (not options.skip_frictionless) + [options.friction] * (options.friction > 0.0):
            row, ends = run(name, friction, options)
            print(row)
            good = good and ends
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
