# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Draw the densities of a flat design, for example of stiff_beam.yaml: python3 plot_densities.py out_stiff_beam"""

import sys

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PolyCollection

folder = sys.argv[1]
with h5py.File(f"{folder}/trajectory.h5") as trajectory, h5py.File(f"{folder}/parameters.h5") as parameters:
    vertices = trajectory["/mesh/vertices"][:]
    cells = trajectory["/mesh/cells"][:]
    density = parameters["/parameters/youngs_modulus.density"][:]

# The triangles of tetrahedra in the lowest plane show the design.
lowest = vertices[cells, 2] < vertices[:, 2].min() + 1e-9
shown = lowest.sum(axis=1) == 3
triangles = np.array([cell[of] for cell, of in zip(cells[shown], lowest[shown])])
figure, axes = plt.subplots(figsize=(6, 2.2))
polygons = PolyCollection(
    vertices[triangles][:, :, :2], array=density[shown], cmap="gray_r", edgecolors="face", linewidths=0.2
)
polygons.set_clim(0, 1)
axes.add_collection(polygons)
axes.set_aspect("equal")
axes.autoscale()
axes.axis("off")
figure.colorbar(polygons, label="density", shrink=0.8)
figure.savefig(f"{folder}/densities.png", dpi=110, bbox_inches="tight")
