#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of explicit steps of Neo-Hookean bodies as a function of the number of cells and of the number of steps.

  OMP_NUM_THREADS=2 OMP_PROC_BIND=true benchmarks/cost.py [--bench build/bin/explicit_bench] [--output docs/cost]

Writes OUTPUT.csv and OUTPUT.png. The first plot shows the seconds of a force, a step and a gradient against the number of
cells; the second plot shows the seconds of a gradient against the number of steps. Dotted lines show a cost that is
proportional to the number of cells or steps, and agrees with the measurement at the largest number.
"""

import argparse
import csv

from measured import listed, run

KERNELS = ["force", "explicit_step", "explicit_gradient"]


def measure(bench, pattern, cells, steps):
    """Returns a list of (kernel, cells, steps, seconds). Seconds are the time of an iteration in the fastest repetition."""
    # The number of iterations is set, because Google Benchmark's search for this number would create the mesh for each
    # try.
    iterations = max(2, min(50, 2000000 // max(cells)))
    variables = {"DIFFSIM_BENCH_CELLS": listed(cells), "DIFFSIM_BENCH_STEPS": listed(steps)}
    variables["DIFFSIM_BENCH_ITERATIONS"] = str(iterations)
    least = {}
    for row in run(bench, f"^({pattern})/neo_hookean/", 2, variables):
        kernel = row["name"].split("/")[0]
        count = int(kernel.split("_of_")[1].split("_")[0]) if "_of_" in kernel else 5
        key = (kernel.split("_of_")[0], int(row["cells"]), count)
        least[key] = min(least.get(key, float("inf")), row["real_time"] / 1e3)
    return [(*key, seconds) for key, seconds in sorted(least.items())]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default="build/bin/explicit_bench")
    parser.add_argument("--sizes", default="20000,60000,200000,600000,2000000,5000000")
    parser.add_argument("--steps", default="5,10,20,40,80")
    parser.add_argument("--cells", type=int, default=20000, help="of the runs over steps")
    parser.add_argument("--output", default="docs/cost")
    options = parser.parse_args()
    numbers = lambda text: [int(word) for word in text.split(",")]  # noqa: E731
    by_size = []
    for size in numbers(options.sizes):
        by_size += measure(options.bench, "|".join(KERNELS), [size], [5])
    by_steps = measure(options.bench, "explicit_gradient.*", [options.cells], numbers(options.steps))

    with open(options.output + ".csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["against", "kernel", "cells", "steps", "seconds"])
        writer.writerows([["cells", *row] for row in by_size] + [["steps", *row] for row in by_steps])

    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 4))
    for kernel in KERNELS:
        points = [(row[1], row[3]) for row in by_size if row[0] == kernel]
        (line,) = axes[0].loglog(*zip(*points), "o-", label=kernel)
        cells, seconds = points[-1]
        axes[0].loglog([p[0] for p in points], [seconds * p[0] / cells for p in points], ":", color=line.get_color())
    axes[0].set(title="against cells; dotted: proportional", xlabel="cells", ylabel="s")
    axes[0].legend(fontsize=8)
    points = [(row[2], row[3]) for row in sorted(by_steps, key=lambda row: row[2])]
    axes[1].plot(*zip(*points), "o-", label=f"explicit_gradient, {by_steps[0][1]} cells")
    steps, seconds = points[-1]
    axes[1].plot([0, steps], [0, seconds], ":", color="black", label="proportional")
    axes[1].set(title="against steps", xlabel="steps", ylabel="s")
    axes[1].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(options.output + ".png", dpi=100)


if __name__ == "__main__":
    main()
