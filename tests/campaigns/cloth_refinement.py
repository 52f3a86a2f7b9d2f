#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Implicit steps of a cloth that falls over a ball and folds, on finer and finer meshes: iterations, times, distances.

    python3 tests/campaigns/cloth_refinement.py --diffsim build/bin/diffsim --scratch /tmp/cloth [--cells 40,80,160]

A square of 1 m with hinges, self-contact and friction, on a ball of 0.2 m; each mesh has the same steps. The last column
compares the iterations of a mesh with those of the coarsest. Needs Python's standard library only.
"""

import argparse
import csv
import pathlib
import subprocess
import sys
import time

SCENE = """bodies:
  cloth:
    kind: cloth
    mesh: {{sheet: {{size: [1.0, 1.0], cells: [{n}, {n}]}}, translate: [-0.47, -0.52, 0.004]}}
    material: {{cloth_stiffness: 200, cloth_bending: 1.0e-4, cloth_density: 0.2}}
solver: {{integrator: implicit_euler, dt: 0.01, steps: {steps}, gravity: [0, 0, -9.8]}}
contact:
  barrier_distance: 2.0e-3
  barrier_stiffness: 2.0e5
  friction: 0.3
  friction_velocity: 1.0e-3
  self: true
  obstacles: [{{sphere: {{center: [0, 0, -0.2], radius: 0.2}}}}]
output: {{directory: out, every: 10, log: steps.csv}}
"""


def run(n, options):
    """Runs a mesh of n² squares; returns its row of the table, its iterations a step, and whether it ended."""
    folder = options.scratch / str(n)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scene.yaml").write_text(SCENE.format(n=n, steps=options.steps))
    command = ["mpirun", "--oversubscribe", "-n", str(options.ranks)] if options.ranks > 1 else []
    command += [str(options.diffsim), "simulate", "scene.yaml", "--time-limit", str(options.limit)]
    begin = time.monotonic()
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    seconds = time.monotonic() - begin
    (folder / "log.txt").write_text(done.stdout)
    table = folder / "out" / "steps.csv"
    rows = list(csv.DictReader(open(table)))[1:] if table.exists() else []
    if not rows:
        return f"| {n} | no steps: {done.stdout.strip().splitlines()[-1:]} |", None, False
    total = lambda key: sum(float(row[key]) for row in rows)
    newton, krylov = total("newton_iterations") / len(rows), total("linear_iterations") / max(1.0, total("newton_iterations"))
    ended = len(rows) == options.steps and done.returncode == 0 and total("intersections") == 0
    row = (f"| {(n + 1) ** 2} | {len(rows)} of {options.steps} | {newton:.1f} | "
           f"{max(float(row['newton_iterations']) for row in rows):.0f} | {krylov:.1f} | "
           f"{max(float(row['active_pairs']) for row in rows):.0f} | {total('intersections'):.0f} | {seconds / len(rows):.2f} |")
    return row, (newton, krylov), ended


def main():
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--diffsim", type=pathlib.Path, required=True)
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--cells", default="40,80,160", help="squares along a side, with commas between")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds a mesh")
    options = parser.parse_args()
    options.diffsim, options.scratch = options.diffsim.resolve(), options.scratch.resolve()
    print("| vertices | steps | Newton iterations a step | most | Krylov iterations a Newton iteration | most pairs in contact | "
          "intersections | s a step | Newton, Krylov over the coarsest mesh's |")
    print("|---|---|---|---|---|---|---|---|---|")
    good, first = True, None
    for n in (int(word) for word in options.cells.split(",")):
        row, iterations, ended = run(n, options)
        first = first or iterations
        if iterations:
            row += f" {iterations[0] / first[0]:.2f}, {iterations[1] / max(first[1], 1e-9):.2f} |"
        print(row)
        good = good and ended
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
