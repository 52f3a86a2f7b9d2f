#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Plots the deflection of the bracket's free edge before and after the inversion, and the identified stiffness.

usage: plot_results.py BEFORE AFTER PICTURE.png

BEFORE is the output folder of `diffsim simulate bracket.yaml`, AFTER the output folder of `diffsim invert
bracket.yaml`.
"""

import sys

import h5py
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def read(folder):
    with h5py.File(folder + "/trajectory.h5") as file:
        return file["positions"][0], file["positions"][-1], file["mesh/cells"][()]


rest, before, cells = read(sys.argv[1])
_, after, _ = read(sys.argv[2])
with h5py.File(sys.argv[2] + "/parameters.h5") as file:
    stiffness = file["parameters/youngs_modulus"][()]

figure, (plan, edge) = plt.subplots(1, 2, figsize=(10, 4), constrained_layout=True)
middle = rest[cells[:, :4]].mean(axis=1)
# The mesh is a box of bricks of six cells each, 25 mm wide. The plot shows the geometric mean of each brick.
width = 0.025
bricks = np.floor(middle[:, :2] / width).astype(int)
shape = bricks.max(axis=0) + 1
flat = bricks[:, 0] * shape[1] + bricks[:, 1]
mean = (np.bincount(flat, weights=np.log10(stiffness)) / np.bincount(flat)).reshape(shape)
edges = [np.arange(n + 1) * width * 1e3 for n in shape]
shown = plan.pcolormesh(edges[0], edges[1], mean.T, cmap="viridis")
figure.colorbar(shown, ax=plan, label="log$_{10}$ E / Pa")
plan.set(xlabel="x, mm (wall at 0)", ylabel="y, mm", aspect="equal", title="stiffness found")
plan.plot([300, 300], [150, 200], color="crimson", linewidth=4, clip_on=False)
plan.annotate("load", (292, 175), color="white", ha="right", va="center")

tip = (rest[:, 0] > rest[:, 0].max() - 1e-6) & (np.abs(rest[:, 2] - rest[:, 2].max() / 2) < 1e-6)
order = np.argsort(rest[tip, 1])
for x, label, colour in ((before, "uniform", "#888888"), (after, "as found", "#4c72a8")):
    sinks = (x[tip, 2] - rest[tip, 2])[order] * 1e3
    edge.plot(rest[tip, 1][order] * 1e3, sinks, "o-", color=colour, label=label, markersize=3)
edge.axhline(-30, color="crimson", linestyle=":", label="asked for, at the corners")
edge.set(xlabel="y, mm", ylabel="free edge sinks, mm")
edge.legend()
figure.savefig(sys.argv[3], dpi=110)
