#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Runs implicit steps of a cloth that falls over a ball and folds, on successively finer meshes. Prints a table of
iterations, pairs in contact, intersections and times.

    python3 tests/campaigns/cloth_refinement.py --diffsim build/bin/diffsim --scratch /tmp/cloth [--cells 40,80,160]

The cloth is a square of 1 m with hinges, self-contact and friction; the ball has a radius of 0.2 m. All meshes use the
same time steps. The last column is the quotient of the iterations on a mesh and on the first mesh. The script needs
only Python's standard library.
"""

import argparse
import sys

from runs import add_options, simulate

SCENE = """bodies:
  cloth:
    kind: cloth
    mesh: {{sheet: {{size: [1.0, 1.0], cells: [{n}, {n}]}}}}
    placement: {{translate: [-0.47, -0.52, 0.004]}}
    material: {{cloth_stiffness: 200, cloth_bending: 1.0e-4, cloth_density: 0.2}}
solver: {{integrator: implicit_euler, dt: 0.01, steps: {steps}, gravity: [0, 0, -9.8]}}
contact:
  barrier_distance: 2.0e-3
  barrier_stiffness: 2.0e5
  friction: 0.3
  friction_velocity: 1.0e-3
  self: true
  obstacles: [{{sphere: {{center: [0, 0, -0.2], radius: 0.2}}}}]
"""


def run(n, options):
    """Runs the scene on a mesh of n² squares. Returns the row of the table, the iterations per step, and whether the
    run completed."""
    done = simulate(SCENE.format(n=n, steps=options.steps), options.scratch / str(n), options)
    if not done.rows:
        return f"| {n} | no steps: {done.output.strip().splitlines()[-1:]} |", None, False
    of = lambda key: [float(row[key]) for row in done.rows]
    steps, newton, krylov = len(done.rows), sum(of("newton_iterations")), sum(of("linear_iterations"))
    iterations = newton / steps, krylov / max(1.0, newton)
    ended = steps == options.steps and done.code == 0 and sum(of("intersections")) == 0
    row = (f"| {(n + 1) ** 2} | {steps} of {options.steps} | {iterations[0]:.1f} | {max(of('newton_iterations')):.0f} | "
           f"{iterations[1]:.1f} | {max(of('active_pairs')):.0f} | {sum(of('intersections')):.0f} | {done.seconds / steps:.2f} |")
    return row, iterations, ended


def main():
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--cells", default="40,80,160", help="squares along a side, with commas between")
    parser.add_argument("--steps", type=int, default=40)
    options = parser.parse_args()
    print("| vertices | steps | Newton iterations a step | most | Krylov iterations a Newton iteration | most pairs in contact | "
          "intersections | s a step | Newton, Krylov over the first mesh's |")
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
