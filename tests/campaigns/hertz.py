#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Compares contact of a plane and a round body with Hertz's formula, and derivatives with finite differences.

The script computes the reaction on three meshes, and the derivative of the reaction with respect to the depth, by the
commands `tangent` and `gradient` and by finite differences of `simulate`.

    tests/campaigns/hertz.py --diffsim build/bin/diffsim --scratch /tmp/hertz

A rigid plane presses a quarter of a body, with the radius of curvature R = 10 m and 4 m wide and high, to the depth
1 mm. The radius of the contact is a = 0.1 m. The size of the cells at the contact is a/3, a/4 or a/6, and grows
outwards. The depth is the displacement of the plane after the first contact, minus the gap that the barrier leaves. The
script needs numpy and h5py.
"""

import argparse
import json
import pathlib
import shlex
import shutil
import subprocess
import sys

import h5py
import numpy as np

RADIUS, DEPTH, SIZE, MODULUS, RATIO, BARRIER, STEPS = 10.0, 1e-3, 4.0, 1e6, 0.3, 2e-5, 4
TETRAHEDRA = [(0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7)]


def graded(smallest):
    """Return coordinates from 0 to SIZE, m: equal cells up to 1.5 a, and growing cells beyond 1.5 a."""
    x = list(np.arange(0.0, 0.15, smallest))
    step = smallest
    while x[-1] < SIZE:
        step *= 1.3
        x.append(x[-1] + step)
    x = np.array(x)
    inner = x <= 0.15 + 1e-12
    x[~inner] = 0.15 + (x[~inner] - 0.15) * (SIZE - 0.15) / (x[-1] - 0.15)
    return x


def write_mesh(path, smallest):
    x = graded(smallest)
    depth = np.array(x)
    n = len(x)
    points = np.array([(x[i], SIZE - depth[j], x[k]) for k in range(n) for j in range(n) for i in range(n)])
    r2 = points[:, 0] ** 2 + points[:, 2] ** 2
    # The top is a paraboloid near the contact and flat far from the contact. The vertical offset of points below the top
    # decreases to zero at the foot.
    points[:, 1] -= (r2 / (2.0 * RADIUS) / (1.0 + r2 / 0.25)) * points[:, 1] / SIZE
    number = lambda i, j, k: i + n * (j + n * k)
    cells = []
    for k in range(n - 1):
        for j in range(n - 1):
            for i in range(n - 1):
                # The index j increases downwards, so corners 1 and 2 of each tetrahedron are exchanged to keep volumes
                # positive.
                brick = [number(i + a, j + b, k + c) for c in (0, 1) for b in (0, 1) for a in (0, 1)]
                cells += [(brick[t[0]], brick[t[2]], brick[t[1]], brick[t[3]]) for t in TETRAHEDRA]
    with open(path, "w", encoding="ascii") as file:
        file.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n" % len(points))
        file.writelines("%d %.17g %.17g %.17g\n" % (i + 1, *p) for i, p in enumerate(points))
        file.write("$EndNodes\n$Elements\n%d\n" % len(cells))
        file.writelines("%d 4 2 1 1 %d %d %d %d\n" % (i + 1, *(v + 1 for v in c)) for i, c in enumerate(cells))
        file.write("$EndElements\n")
    return len(cells)


def scene(more, lower_by=0.0):
    """Return the scene, with the plane's initial position lowered by `lower_by`, m."""
    return (
        "mesh: {file: body.msh}\n"
        f"material: {{model: neo_hookean, density: 1000, youngs_modulus: {MODULUS}, poisson_ratio: {RATIO}}}\n"
        f"solver: {{integrator: quasi_static, dt: {1.0 / STEPS}, steps: {STEPS}, gravity: [0, 0, 0], newton: {{tolerance: 1.0e-11}}}}\n"
        "regions:\n  foot: {box: {min: [-1, -1, -1], max: [9, 1.0e-9, 9]}}\n  left: {box: {min: [-1, -1, -1], max: [1.0e-9, 9, 9]}}\n"
        "  front: {box: {min: [-1, -1, -1], max: [9, 9, 1.0e-9]}}\n"
        "boundary: [{region: foot, fix: [y]}, {region: left, fix: [x]}, {region: front, fix: [z]}]\n"
        f"contact: {{barrier_distance: {BARRIER}, barrier_stiffness: 1.0e+7, obstacles: [{{plane: {{point: [0, {SIZE + BARRIER - lower_by:.17g}, 0], "
        f"normal: [0, -1, 0]}}, velocity: [0, {-(DEPTH + BARRIER):.17g}, 0], name: press}}]}}\n"
        "output: {fields: [positions, reactions]}\n" + more
    )


def run(options, command, name, text):
    (options.scratch / f"{name}.yaml").write_text(text)
    words = [*shlex.split(options.launcher), str(options.diffsim), command, f"{name}.yaml", "--output", name]
    done = subprocess.run(words, cwd=options.scratch, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{name}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads((options.scratch / name / "report.json").read_text())


def reaction(options, name, file="trajectory.h5", dataset="/reaction/foot"):
    with h5py.File(options.scratch / name / file) as data:
        return 4.0 * data[dataset][-1, 1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--diffsim", type=pathlib.Path, required=True)
    parser.add_argument("--launcher", default="", help="for example 'mpirun -n 2'")
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--cells", default="3,4,6", help="cells per contact radius")
    options = parser.parse_args()
    options.diffsim, options.scratch = options.diffsim.resolve(), options.scratch.resolve()
    shutil.rmtree(options.scratch, ignore_errors=True)
    options.scratch.mkdir(parents=True)
    print("| cells per a | tetrahedra | reaction N | Hertz N | ratio | slope by tangent N/m | off differences | by gradient, off tangent |")
    print("|---|---|---|---|---|---|---|---|")
    for per_radius in (int(n) for n in options.cells.split(",")):
        count = write_mesh(options.scratch / "body.msh", 0.1 / per_radius)
        report = run(options, "simulate", "simulate", scene(""))
        force = reaction(options, "simulate")
        depth = DEPTH + BARRIER - report["contact"]["min_distance"]
        hertz = 4.0 / 3.0 * MODULUS / (1.0 - RATIO**2) * np.sqrt(RADIUS) * depth**1.5
        # The derivative is with respect to a downward displacement of the plane's initial position.
        direction = 'parameters: [{name: "obstacle_position:press", direction: [0, -1, 0]}]\n'
        run(options, "tangent", "tangent", scene(direction))
        slope = reaction(options, "tangent", "tangent.h5", "/reaction/foot_tangent")
        h = 2e-6
        values = []
        for k in (-2, -1, 1, 2):
            run(options, "simulate", "moved", scene("", k * h))
            values.append(reaction(options, "moved"))
        difference = (8.0 * (values[2] - values[1]) - (values[3] - values[0])) / (12.0 * h)
        # The loss ½ |R|² has the derivative R · dR. R also has horizontal components, from the fixed edges of the foot.
        run(options, "gradient", "gradient", scene("objective: [{type: reaction, region: foot, target: [0, 0, 0]}]\n" + direction))
        with h5py.File(options.scratch / "gradient" / "gradient.h5") as data:
            by_gradient = -data["/gradient/obstacle_position:press"][1]
        with h5py.File(options.scratch / "tangent" / "tangent.h5") as data:
            by_tangent = data["/reaction/foot"][-1] @ data["/reaction/foot_tangent"][-1]
        print(
            f"| {per_radius} | {count} | {force:.5g} | {hertz:.5g} | {force / hertz:.4f} | {slope:.6g} | {abs(difference / slope - 1.0):.1e} | "
            f"{abs(by_gradient / by_tangent - 1.0):.1e} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
