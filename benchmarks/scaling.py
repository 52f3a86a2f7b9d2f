#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Measures the strong and the weak scaling of explicit steps and gradients with the numbers of ranks and threads.

  benchmarks/scaling.py [--bench build/bin/explicit_bench] [--cells 2000000] [--cases 1x1,1x2,2x1] [--output scaling]

Writes OUTPUT.csv, with one row per benchmark (kind, ranks, threads, cells, benchmark, tet/s, triad bandwidth), and
OUTPUT.png, with the speed-ups of the kernels and of the triad. `--sizes 20000,200000,2000000` adds runs with one rank and
one thread on meshes of these numbers of cells.
"""

import argparse
import csv

from measured import listed, run

KERNELS = ["force/neo_hookean", "explicit_step/neo_hookean", "explicit_gradient/neo_hookean"]


def measure(options, ranks, threads, cells):
    """Runs the benchmarks. Returns a dict from the name of each benchmark to its rate: tet/s, or bytes/s for the triad."""
    variables = {
        "OMP_NUM_THREADS": str(threads),
        "DIFFSIM_BENCH_CELLS": listed(cells),
        "DIFFSIM_BENCH_ITERATIONS": str(options.iterations),
    }
    launcher = options.mpiexec.split() + ["-n", str(ranks)]
    best = {}
    for row in run(options.bench, "^triad|^(" + "|".join(KERNELS) + ")/", options.repetitions, variables, launcher):
        name = row["name"].split("/iterations")[0].removesuffix("/real_time")
        best[name] = max(best.get(name, 0.0), row.get("tet/s", row.get("bytes_per_second")))
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default="build/bin/explicit_bench")
    parser.add_argument("--mpiexec", default="mpiexec --oversubscribe --bind-to none")
    parser.add_argument("--cells", type=int, default=2000000, help="of strong scaling; of a core in weak scaling, a quarter")
    parser.add_argument("--cases", default="1x1,1x2,2x1", help="ranks x threads")
    parser.add_argument("--sizes", default="")
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--output", default="scaling")
    options = parser.parse_args()

    rows = []

    def add(kind, ranks, threads, cells):
        figures = measure(options, ranks, threads, cells)
        triad = figures.pop("triad")
        for name, speed in figures.items():
            kernel, law, size = name.split("/")
            rows.append([kind, ranks, threads, int(size), f"{kernel}/{law}", speed, triad])
            print(f"{kind:6} {ranks} x {threads} {int(size):9} {kernel}/{law}: {speed / 1e6:.1f} Mtet/s, triad {triad / 1e9:.1f} GB/s")

    cases = [tuple(int(n) for n in case.split("x")) for case in options.cases.split(",")]
    for ranks, threads in cases:
        add("strong", ranks, threads, [options.cells])
        add("weak", ranks, threads, [options.cells // 4 * ranks * threads])
    for size in filter(None, options.sizes.split(",")):
        add("sizes", 1, 1, [int(size)])

    with open(options.output + ".csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["kind", "ranks", "threads", "cells", "benchmark", "tets_per_second", "triad_bytes_per_second"])
        writer.writerows(rows)
    plot(rows, options.output + ".png")


def plot(rows, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    sized = [row for row in rows if row[0] == "sizes"]
    figure, axes = plt.subplots(1, 3 if sized else 2, figsize=(14 if sized else 10, 4))
    for axis, kind in zip(axes, ["strong", "weak"]):
        chosen = [row for row in rows if row[0] == kind]
        labels = list(dict.fromkeys(f"{row[1]}x{row[2]}" for row in chosen))
        for kernel in dict.fromkeys(row[4] for row in chosen):
            speeds = [row[5] for row in chosen if row[4] == kernel]
            axis.plot(labels, [speed / speeds[0] for speed in speeds], "o-", label=kernel)
        triads = [next(row[6] for row in chosen if f"{row[1]}x{row[2]}" == label) for label in labels]
        axis.plot(labels, [triad / triads[0] for triad in triads], "k--", label="triad")
        axis.set(title=f"{kind} scaling", xlabel="ranks x threads", ylabel="speed-up")
        axis.legend(fontsize=8)
    if sized:
        for kernel in dict.fromkeys(row[4] for row in sized):
            chosen = [row for row in sized if row[4] == kernel]
            axes[2].loglog([row[3] for row in chosen], [row[3] / row[5] for row in chosen], "o-", label=kernel)
        axes[2].set(title="cost of a sweep", xlabel="cells", ylabel="s")
        axes[2].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
