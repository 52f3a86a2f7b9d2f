# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Draw a flat shape before and after a design, for example of hook.yaml: python3 plot_shape.py out_hook"""

import sys

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PolyCollection

folder = sys.argv[1]
with h5py.File(f"{folder}/trajectory.h5") as trajectory, h5py.File(f"{folder}/parameters.h5") as parameters:
    before = trajectory["/mesh/vertices"][:]
    cells = trajectory["/mesh/cells"][:]
    after = parameters["/parameters/rest_positions"][:]

# The triangles of tetrahedra in the lowest plane show the shape.
lowest = before[cells, 2] < before[:, 2].min() + 1e-9
shown = lowest.sum(axis=1) == 3
triangles = np.array([cell[of] for cell, of in zip(cells[shown], lowest[shown])])
figure, plots = plt.subplots(1, 2, figsize=(6, 4), sharex=True, sharey=True)
for axes, shape, title in zip(plots, (before, after), ("before", "after")):
    axes.add_collection(PolyCollection(shape[triangles][:, :, :2], facecolors="#c8d8e8", edgecolors="#305070", linewidths=0.3))
    axes.set_title(title)
    axes.set_aspect("equal")
    axes.autoscale()
    axes.axis("off")
figure.savefig(f"{folder}/shape.png", dpi=110, bbox_inches="tight")
