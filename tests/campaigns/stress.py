#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Runs demanding scenes of contact with implicit steps, and prints a table of Newton iterations, times and distances.

    python3 tests/campaigns/stress.py --diffsim build/bin/diffsim --scratch /tmp/stress [--only ball,arch] [--ranks 2]

Scenes: a ball and, with --data, a scanned shape, each pressed between plates to a third of its height and released;
rollers that pull a bar through a gap of half its thickness; a funnel with ten soft balls; a bar twisted until it buckles;
eight interlocked links that are shaken; an arch of 25 soft stones; a house of cards; a mat twisted at both ends; a tube
of cloth twisted at both ends; rods that fall into a bowl; a rod pulled into a knot; a heap of 50 stiff boxes. The script
creates all geometry except the scanned shape, and needs only Python's standard library.
"""

import argparse
import math
import pathlib
import sys

from runs import add_options, simulate, summarize

# The six tetrahedra of a hexahedron. Bits 0, 1 and 2 of the number of a corner are the indices of the corner along x, y and z.
TETRAHEDRA = [(0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7)]


def volume(a, b, c, d):
    """Returns six times the signed volume of a tetrahedron, m³."""
    u, v, w = ([q - p for p, q in zip(a, x)] for x in (b, c, d))
    return (u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0]) + u[2] * (v[0] * w[1] - v[1] * w[0]))


def write_msh(path, nx, ny, nz, place, periodic=False):
    """Writes a grid of nx × ny × nz hexahedra, each of six tetrahedra, as a Gmsh file. place(a, b, c) maps a corner of
    the grid, with coordinates in [0, 1], to a point, m. With `periodic` the grid is closed in the first direction."""
    rows = nx if periodic else nx + 1
    number = lambda i, j, k: ((i % rows) * (ny + 1) + j) * (nz + 1) + k
    points = [place(i / nx, j / ny, k / nz) for i in range(rows) for j in range(ny + 1) for k in range(nz + 1)]
    cells = []
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                corner = [number(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2)) for c in range(8)]
                for tetrahedron in TETRAHEDRA:
                    a, b, c, d = (corner[v] for v in tetrahedron)
                    if volume(points[a], points[b], points[c], points[d]) < 0.0:
                        c, d = d, c
                    cells.append((a, b, c, d))
    with open(path, "w") as out:
        out.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{len(points)}\n")
        out.writelines(f"{n + 1} {p[0]!r} {p[1]!r} {p[2]!r}\n" for n, p in enumerate(points))
        out.write(f"$EndNodes\n$Elements\n{len(cells)}\n")
        out.writelines(f"{n + 1} 4 2 0 1 " + " ".join(str(v + 1) for v in cell) + "\n" for n, cell in enumerate(cells))
        out.write("$EndElements\n")


def ball_point(radius):
    """Returns a map of the unit cube to a ball. The map sends concentric cubes to concentric spheres."""

    def place(a, b, c):
        x = [2.0 * a - 1.0, 2.0 * b - 1.0, 2.0 * c - 1.0]
        s = [v * v for v in x]
        # The Jacobian determinant stays positive at edges and corners of the cube.
        return tuple(radius * x[i] * math.sqrt(1.0 - s[(i + 1) % 3] / 2.0 - s[(i + 2) % 3] / 2.0 +
                                               s[(i + 1) % 3] * s[(i + 2) % 3] / 3.0) for i in range(3))

    return place


def write_ball(path, radius, cells):
    write_msh(path, cells, cells, cells, ball_point(radius))


def write_ring(path, ring, tube, around, across):
    """Writes a torus around the z axis. The cross-section is a square grid mapped to a disc."""

    def place(a, b, c):
        u, v = 2.0 * b - 1.0, 2.0 * c - 1.0
        r = ring + tube * u * math.sqrt(1.0 - v * v / 2.0)
        z = tube * v * math.sqrt(1.0 - u * u / 2.0)
        angle = 2.0 * math.pi * a
        return (r * math.cos(angle), r * math.sin(angle), z)

    write_msh(path, around, across, across, place, periodic=True)


def write_funnel(path, rings, sectors):
    """Writes triangles of a surface of revolution around y. `rings` lists (radius, y) from top to bottom;
    the normals point inwards."""
    with open(path, "w") as out:
        for radius, y in rings:
            for s in range(sectors):
                angle = 2.0 * math.pi * s / sectors
                out.write(f"v {radius * math.cos(angle)!r} {y!r} {radius * math.sin(angle)!r}\n")
        for r in range(len(rings) - 1):
            for s in range(sectors):
                a, b = r * sectors + s + 1, r * sectors + (s + 1) % sectors + 1
                out.write(f"f {a} {b} {b + sectors}\nf {a} {b + sectors} {a + sectors}\n")


def rubber(E, nu=0.4, density=1000):
    return f"{{model: neo_hookean, density: {density}, youngs_modulus: {E:g}, poisson_ratio: {nu}}}"


def solver(dt, steps, gravity="0", integrator="implicit_euler"):
    return f"solver: {{integrator: {integrator}, dt: {dt:g}, steps: {steps}, gravity: {gravity}}}\n"


def contact(d, kappa, mu=0.0, speed=1e-3, more=""):
    return (f"contact: {{barrier_distance: {d:g}, barrier_stiffness: {kappa}, friction: {mu}, "
            f"friction_velocity: {speed:g}{more}}}\n")


def press(body, low, high, half, dt, E, d, kappa, mu):
    """Returns a scene with two plates that compress a body to a third of the body's height in 1 s, rest for 0.2 s, and
    open in 0.2 s."""
    travel = (high - low) / 3.0
    thick = 0.1 * (high - low)
    plate = lambda: f"{{box: {{size: [{2 * half:g}, {thick:g}, {2 * half:g}], cells: [4, 1, 4]}}}}"
    move = lambda sign: ("{axis: [0, 1, 0], origin: [0, 0, 0], table: {times: [0, 1, 1.2, 1.4, 10], angle: [0, 0, 0, 0, 0], displacement: "
                         f"[[0, 0, 0], [0, {sign * travel!r}, 0], [0, {sign * travel!r}, 0], [0, 0, 0], [0, 0, 0]]}}}}")
    gap = 1.5 * d
    return (f"bodies:\n  body: {{mesh: {body}, material: {rubber(E)}}}\n"
            f"  lower: {{kind: obstacle, mesh: {plate()}, placement: {{translate: [{-half:g}, {low - thick - gap!r}, {-half:g}]}}}}\n"
            f"  upper: {{kind: obstacle, mesh: {plate()}, placement: {{translate: [{-half:g}, {high + gap!r}, {-half:g}]}}}}\n"
            f"boundary:\n  - {{region: lower/all, move: {move(1.0)}}}\n  - {{region: upper/all, move: {move(-1.0)}}}\n" +
            contact(d, kappa, mu, more=", self: true") + solver(dt, round(1.6 / dt)))


def scene_ball(folder, _):
    write_ball(folder / "ball.msh", 0.1, 10)
    return press("{file: ball.msh}", -0.1, 0.1, 0.25, 0.01, 1e5, 1e-3, "1.0e5", 0.5)


def scene_armadillo(folder, data):
    """The scanned shape, scaled to a height of 0.2 m, between two plates."""
    source = data / "Armadillo13K.msh"
    nodes = source.read_text().split("$Nodes")[1].split("$EndNodes")[0].split("\n")
    points = [tuple(map(float, line.split())) for line in nodes if len(line.split()) == 3]
    low = [min(p[c] for p in points) for c in range(3)]
    high = [max(p[c] for p in points) for c in range(3)]
    scale = 0.2 / (high[1] - low[1])
    shift = [-0.5 * scale * (low[c] + high[c]) for c in range(3)]
    text = press("{file: FILE}".replace("FILE", str(source)), -0.1, 0.1, 0.25, 0.01, 1e5, 5e-4, "1.0e5", 0.5)
    return text.replace("body: {mesh:", f"body: {{placement: {{scale: {scale!r}, translate: [{', '.join(map(repr, shift))}]}}, mesh:")


def scene_rollers(_, __):
    """A bar 0.1 m thick and two rollers 0.05 m apart. The rollers pull the bar in at a contact angle of 41 degrees,
    since tan 41° < µ = 1."""
    roller = lambda y: f"{{cylinder: {{from: [0, {y}, -0.1], to: [0, {y}, 0.1], radius: 0.1}}}}"
    turn = lambda y, w: f"{{axis: [0, 0, 1], origin: [0, {y}, 0], angular_velocity: {w}}}"
    return (f"bodies:\n  bar: {{mesh: {{box: {{size: [0.4, 0.1, 0.1], cells: [24, 6, 6]}}}}, material: {rubber(5e4, 0.35)},\n"
            "        placement: {translate: [-0.48, -0.05, -0.05]}, initial: {velocity: [0.3, 0, 0]}}\n"
            f"  upper: {{kind: obstacle, mesh: {roller(0.125)}}}\n  lower: {{kind: obstacle, mesh: {roller(-0.125)}}}\n"
            f"boundary:\n  - {{region: upper/all, move: {turn(0.125, 4.0)}}}\n  - {{region: lower/all, move: {turn(-0.125, -4.0)}}}\n"
            + contact(1e-3, "1.0e5", 1.0, more=", self: true") + solver(0.01, 250))


def scene_funnel(folder, _):
    """Ten balls of radius 0.07 m fall into a funnel with an outlet of radius 0.06 m."""
    write_ball(folder / "ball.msh", 0.07, 5)
    write_funnel(folder / "funnel.obj", [(0.32, 0.9), (0.32, 0.3), (0.06, 0.0), (0.06, -0.2)], 32)
    text = "bodies:\n"
    places = [(0.0, 0.30, 0.0)]
    places += [(0.16 * math.cos(a), 0.46, 0.16 * math.sin(a)) for a in (0.3, 0.3 + 2.0944, 0.3 + 4.1888)]
    places += [(0.16 * math.cos(a), 0.63, 0.16 * math.sin(a)) for a in (1.2, 1.2 + 2.0944, 1.2 + 4.1888)]
    places += [(0.16 * math.cos(a), 0.80, 0.16 * math.sin(a)) for a in (0.5, 0.5 + 2.0944, 0.5 + 4.1888)]
    for n, (x, y, z) in enumerate(places):
        text += (f"  ball{n}: {{mesh: {{file: ball.msh}}, material: {rubber(2e4)}, "
                 f"placement: {{translate: [{x!r}, {y!r}, {z!r}]}}}}\n")
    return (text + "  funnel: {kind: obstacle, mesh: {file: funnel.obj}}\n" + contact(2e-3, "2.0e4", 0.2, more=", self: true") +
            solver(0.01, 200, "[0, -9.8, 0]"))


def scene_bar(_, __):
    """A bar twisted at both ends by 6 turns in total. A small weight makes the bar buckle out of the straight line."""
    turn = lambda x, w: f"{{axis: [1, 0, 0], origin: [{x}, 0.025, 0.025], angular_velocity: {w!r}}}"
    return (f"mesh: {{box: {{size: [1, 0.05, 0.05], cells: [60, 3, 3]}}}}\nmaterial: {rubber(1e5)}\n"
            f"boundary:\n  - {{region: x_min, move: {turn(0, -math.pi)}}}\n  - {{region: x_max, move: {turn(1, math.pi)}}}\n" +
            contact(1e-3, "1.0e5", more=", self: true") + solver(0.02, 300, "[0, -1, 0]"))


def scene_links(folder, _):
    """Eight interlocked rings that hang from the top of the first ring and are shaken sideways."""
    ring, tube, distance = 0.05, 0.012, 0.072
    write_ring(folder / "ring.msh", ring, tube, 24, 2)
    text = "bodies:\n"
    for n in range(8):
        rotate = ", rotate: {axis: [0, 1, 0], angle: 1.5707963267948966}" if n % 2 else ""
        text += (f"  link{n}: {{mesh: {{file: ring.msh}}, material: {rubber(5e5)}, "
                 f"placement: {{translate: [0, {-distance * n!r}, 0]{rotate}}}}}\n")
    times = [0.05 * k for k in range(41)]
    shake = ", ".join(f"[{0.03 * math.sin(4.0 * math.pi * t)!r}, 0, {0.02 * math.sin(6.0 * math.pi * t)!r}]" for t in times)
    return (text + "regions:\n  top: {body: link0, box: {min: [-1, 0.04, -1], max: [1, 1, 1]}}\n"
            "boundary:\n  - {region: link0/top, move: {axis: [0, 1, 0], origin: [0, 0, 0], table: {times: ["
            + ", ".join(f"{t:g}" for t in times) + "], angle: [" + ", ".join("0" for _ in times) + f"], displacement: [{shake}]}}}}}}\n" +
            contact(1e-3, "5.0e5", 0.3, more=", self: true") + solver(0.01, 200, "[0, -9.8, 0]"))


def scene_arch(folder, _):
    """A semicircular arch of 25 stones with radii 1 m and 1.2 m, on the ground; µ = 0.5."""
    inner, outer, stones, gap = 1.0, 1.2, 25, 1e-3
    step = math.pi / stones
    text = "bodies:\n"
    for n in range(stones):
        first, last = math.pi - n * step, math.pi - (n + 1) * step

        def place(a, b, c, first=first, last=last):
            r, z = inner + (outer - inner) * b, -0.15 + 0.3 * c
            margin = 0.5 * gap / r
            angle = first - margin + (last + margin - first + margin) * a
            return (r * math.cos(angle), r * math.sin(angle) + 0.5 * gap, z)

        write_msh(folder / f"stone{n}.msh", 2, 3, 3, place)
        text += f"  stone{n}: {{mesh: {{file: stone{n}.msh}}, material: {rubber(1e7, 0.3, 2000)}}}\n"
    ground = ", obstacles: [{plane: {point: [0, 0, 0], normal: [0, 1, 0]}, name: ground}]"
    return text + contact(2e-3, "1.0e7", 0.5, 1e-4, ground) + solver(0.01, 100, "[0, -9.8, 0]")


def scene_cards(_, __):
    """Two pairs of leaning cards, a card across both pairs and a third pair on this card; cards 2 mm thick, µ = 0.5."""
    length, thick, wide, gap, lean = 0.1, 0.002, 0.06, 1.5e-4, math.radians(20.0)
    s, c = math.sin(lean), math.cos(lean)
    text, cards = "bodies:\n", []

    def add(x, y, angle):
        """Adds a card with its centre at (x, y), rotated clockwise from the y axis by an angle."""
        # One corner of the box is at the origin; the translation (cx, cy) moves the centre of the rotated box to the origin.
        cx = -0.5 * thick * math.cos(angle) - 0.5 * length * math.sin(angle)
        cy = 0.5 * thick * math.sin(angle) - 0.5 * length * math.cos(angle)
        cards.append(f"  card{len(cards)}: {{mesh: {{box: {{size: [{thick}, {length}, {wide}], cells: [1, 10, 6]}}}}, "
                     f"material: {rubber(5e7, 0.3, 800)}, placement: {{rotate: {{axis: [0, 0, 1], angle: {-angle!r}}}, "
                     f"translate: [{x + cx!r}, {y + cy!r}, 0]}}}}\n")

    def pair(x, ground):
        """Adds two cards that lean against each other at x. Returns the height of their tops."""
        half_width = 0.5 * length * s + 0.5 * thick * c
        half_height = 0.5 * length * c + 0.5 * thick * s
        add(x - 0.5 * gap - half_width, ground + gap + half_height, lean)
        add(x + 0.5 * gap + half_width, ground + gap + half_height, -lean)
        return ground + gap + 2.0 * half_height

    top = pair(-0.04, 0.0)
    pair(0.04, 0.0)
    add(0.0, top + gap + 0.5 * thick, 0.5 * math.pi)
    pair(0.0, top + gap + thick)
    ground = ", obstacles: [{plane: {point: [0, 0, 0], normal: [0, 1, 0]}, name: ground}]"
    return text + "".join(cards) + contact(2e-4, "1.0e7", 0.5, 1e-4, ground) + solver(0.005, 200, "[0, -9.8, 0]")


def scene_mat(_, __):
    turn = lambda x, w: f"{{axis: [1, 0, 0], origin: [{x}, 0.5, 0.004], angular_velocity: {w!r}}}"
    return (f"mesh: {{box: {{size: [1, 1, 0.008], cells: [39, 39, 1]}}}}\nmaterial: {rubber(2e4)}\n"
            f"boundary:\n  - {{region: x_min, move: {turn(0, -0.4 * math.pi)}}}\n  - {{region: x_max, move: {turn(1, 0.4 * math.pi)}}}\n"
            + contact(1e-3, "2.0e5", more=", self: true") + solver(0.04, 1000))


def scene_tube(folder, _):
    """A tube of cloth of radius 0.25 m. Both ends are twisted at 72 degrees/s and move inwards at 5 mm/s."""
    around, along, radius = 48, 32, 0.25
    with open(folder / "tube.obj", "w") as out:
        for i in range(along + 1):
            for k in range(around):
                # Every second row of vertices is rotated by half a cell, so that triangles are nearly equilateral.
                angle = 2.0 * math.pi * (k + 0.5 * (i % 2)) / around
                out.write(f"v {i / along!r} {radius * math.cos(angle)!r} {radius * math.sin(angle)!r}\n")
        for i in range(along):
            for k in range(around):
                a, b = i * around + k + 1, i * around + (k + 1) % around + 1
                c, d = a + around, b + around
                triangles = [(a, d, c), (a, b, d)] if i % 2 else [(a, b, c), (b, d, c)]
                out.writelines("f {} {} {}\n".format(*corners) for corners in triangles)
    move = lambda sign: (f"{{axis: [1, 0, 0], origin: [0, 0, 0], angular_velocity: {sign * math.radians(72.0)!r}, "
                         f"velocity: [{-sign * 0.005}, 0, 0]}}")
    return ("bodies:\n  tube: {kind: shell, mesh: {file: tube.obj}, thickness: 3.18e-4,\n"
            "         material: {density: 472.6, youngs_modulus: 8.21e5, poisson_ratio: 0.243}}\n"
            "regions:\n  left: {body: tube, box: {min: [-1, -1, -1], max: [1.0e-6, 1, 1]}}\n"
            "  right: {body: tube, box: {min: [0.999999, -1, -1], max: [2, 1, 1]}}\n"
            f"boundary:\n  - {{region: left, move: {move(-1.0)}}}\n  - {{region: right, move: {move(1.0)}}}\n" +
            contact(1e-3, "1.0e5", more=", self: true, pairs: [{between: [tube, tube], thickness: 1.5e-3}]") +
            solver(0.04, 250))


def write_lines(path, lines):
    """Writes polylines, given as lists of points, m, as an OBJ file."""
    with open(path, "w") as out:
        first = 1
        for points in lines:
            out.writelines(f"v {x!r} {y!r} {z!r}\n" for x, y, z in points)
            out.writelines(f"l {first + i} {first + i + 1}\n" for i in range(len(points) - 1))
            first += len(points)


def scene_noodles(folder, _):
    """A grid of 4 x 4 rods, 0.2 m long and 4 mm thick, that fall into a bowl, E = 1 MPa."""
    rods, segments, length, gap = 4, 20, 0.2, 0.015
    lines = []
    for i in range(rods):
        for k in range(rods):
            x, z = gap * (i - 0.5 * (rods - 1)), gap * (k - 0.5 * (rods - 1))
            # The rods are slightly curved by different amounts.
            lean = 0.004 * math.sin(1.0 + 2.0 * i + 3.0 * k)
            lines.append([(x + lean * (s / segments) ** 2, 0.03 + length * s / segments, z) for s in range(segments + 1)])
    write_lines(folder / "noodles.obj", lines)
    bowl = [(0.1 * math.sin(a), 0.1 - 0.1 * math.cos(a)) for a in [0.05 + 0.31 * n for n in range(5)]]
    write_funnel(folder / "bowl.obj", [(0.1, 0.16)] + bowl[::-1] + [(0.001, 0.0)], 24)
    return ("bodies:\n  noodles: {kind: rod, mesh: {file: noodles.obj}, radius: 2.0e-3,\n"
            "            material: {density: 1000, youngs_modulus: 1.0e6, poisson_ratio: 0.4}}\n"
            "  bowl: {kind: obstacle, mesh: {file: bowl.obj}}\n" +
            contact(1e-3, "1.0e5", 0.1, more=", self: true") + solver(0.01, 150, "[0, -9.81, 0]"))


def scene_knot(folder, _):
    """A rod 8 mm thick in the shape of an open trefoil, whose ends are pulled apart at 0.1 m/s each, E = 0.2 MPa."""
    segments, points = 60, []
    for s in range(segments + 1):
        # A trefoil with a gap of 30 degrees.
        a = math.radians(75.0) + math.radians(330.0) * s / segments
        points.append((0.04 * (math.sin(a) + 2.0 * math.sin(2.0 * a)), 0.04 * (math.cos(a) - 2.0 * math.cos(2.0 * a)),
                       -0.04 * math.sin(3.0 * a)))
    write_lines(folder / "knot.obj", [points])
    out = [points[0][c] - points[-1][c] for c in range(3)]
    size = math.sqrt(sum(v * v for v in out))
    pull = lambda sign: f"{{velocity: [{', '.join(repr(sign * 0.1 * v / size) for v in out)}]}}"
    return ("bodies:\n  cord: {kind: rod, mesh: {file: knot.obj}, radius: 4.0e-3,\n"
            "         material: {density: 1000, youngs_modulus: 2.0e5, poisson_ratio: 0.4}}\n"
            "regions:\n  first: {body: cord, vertices: [0, 1]}\n"
            f"  last: {{body: cord, vertices: [{segments - 1}, {segments}]}}\n"
            f"boundary:\n  - {{region: first, move: {pull(1.0)}}}\n  - {{region: last, move: {pull(-1.0)}}}\n" +
            contact(1e-3, "1.0e5", 0.1, more=", self: true") + solver(0.01, 150))


def scene_heap(_, __):
    """50 affine boxes of 5 cm in two layers of 5 x 5, each rotated by up to 0.08 rad, that fall into a bin, µ = 0.3."""
    rows, side, gap, count = 5, 0.05, 0.062, 50
    noise = lambda n: math.modf(abs(math.sin(12.9898 * n) * 43758.5453))[0]
    text = "bodies:\n"
    for n in range(count):
        layer, i, k = n // (rows * rows), n // rows % rows, n % rows
        axis = [2.0 * noise(7 * n + c) - 1.0 for c in range(3)]
        at = [i * gap + 0.002 * noise(7 * n + 4), 0.012 + layer * gap, k * gap + 0.002 * noise(7 * n + 5)]
        text += (f"  box{n}: {{kind: affine, mesh: {{box: {{size: [{side}, {side}, {side}], cells: [1, 1, 1]}}}}, "
                 f"placement: {{rotate: {{axis: {axis}, angle: {0.08 * noise(7 * n + 3)!r}}}, translate: {at}}}, material: "
                 "{model: st_venant_kirchhoff, density: 1000, youngs_modulus: 1.0e+7, poisson_ratio: 0}}\n")
    wide = rows * gap + 0.02
    walls = [([0, 1, 0], [0, 0, 0]), ([1, 0, 0], [-0.02, 0, 0]), ([-1, 0, 0], [wide, 0, 0]), ([0, 0, 1], [0, 0, -0.02]),
             ([0, 0, -1], [0, 0, wide])]
    planes = ", ".join(f"{{plane: {{normal: {n}, point: {p}}}}}" for n, p in walls)
    return text + contact(1e-3, "adaptive", 0.3, 1e-5, f", obstacles: [{planes}]") + solver(0.01, 100, "[0, -9.8, 0]")


SCENES = {name[6:]: make for name, make in globals().items() if name.startswith("scene_")}


def run(name, options):
    """Runs a scene. Returns a row of the table, and whether the run completed without intersections."""
    folder = options.scratch / name
    folder.mkdir(parents=True, exist_ok=True)
    text = SCENES[name](folder, options.data) + options.more.replace("\\n", "\n")
    if options.lagged:
        text = text.replace("friction_velocity:", "lagged_friction: true, friction_velocity:")
    summary, good = summarize(simulate(text, folder, options), text)
    columns = [summary.get(key, "") for key in ("steps", "newton", "seconds", "cuts", "distance", "met", "end")]
    return f"| {name} | {' | '.join(columns)} |", good


def main():
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--data", type=pathlib.Path, help="folder with Armadillo13K.msh")
    parser.add_argument("--only", help="names of scenes, with commas between")
    parser.add_argument("--lagged", action="store_true", help="friction lags")
    parser.add_argument("--more", default="", help="lines added to each scene")
    options = parser.parse_args()
    options.scratch = options.scratch.resolve()
    options.data = options.data.resolve() if options.data else None
    names = options.only.split(",") if options.only else [n for n in SCENES if n != "armadillo" or options.data]
    print("| scene | steps | Newton iterations: median, mean, most | s a step | halvings | least distance / d̂ | intersections | |")
    print("|---|---|---|---|---|---|---|---|")
    good = True
    for name in names:
        row, ends = run(name, options)
        print(row)
        good = good and ends
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
