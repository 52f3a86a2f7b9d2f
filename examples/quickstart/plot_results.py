#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the quickstart problem: loss.png, the loss at each iteration, and motion.png, the body before and after.

usage: plot_results.py RESULTS   (the folder of `diffsim invert`; the motion of the first guess is looked for in RESULTS/../start)

Without numpy, h5py or matplotlib it says so and makes no pictures.
"""

import csv
import pathlib
import sys

try:
    import h5py
    import matplotlib
    import numpy as np

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.collections import PolyCollection
except ImportError as missing:
    print(f"plot_results.py: no pictures, the Python package {missing.name} is missing (python3-{missing.name})")
    sys.exit(0)

here = pathlib.Path(__file__).resolve().parent
results = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "quickstart")
start = results.parent / "start" / "trajectory.h5"


def surface(cells):
    """Faces that one cell alone has, [F, 3], their normals pointing out."""
    faces = np.concatenate([cells[:, list(corners)] for corners in ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))])
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return faces[first[count == 1]]


def view(points):
    """Turned a little about the upright axis, then seen along it: x and y on paper, depth."""
    turn, tilt = np.radians(25.0), np.radians(15.0)
    x, y, z = points.T
    x, z = np.cos(turn) * x + np.sin(turn) * z, -np.sin(turn) * x + np.cos(turn) * z
    return np.stack([x, np.cos(tilt) * y - np.sin(tilt) * z, np.sin(tilt) * y + np.cos(tilt) * z], axis=1)


def draw(axes, positions, faces, colours, alpha=1.0):
    seen = view(positions)
    corners = seen[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    light = np.clip(normals @ np.array([0.3, 0.5, 0.8]) / np.linalg.norm(normals, axis=1), 0.0, 1.0)
    front = normals[:, 2] > 0.0
    order = np.argsort(corners[front].mean(axis=1)[:, 2])
    shade = colours[front][order] * (0.45 + 0.55 * light[front][order])[:, None]
    axes.add_collection(PolyCollection(corners[front][order][:, :, :2], facecolors=shade, edgecolors=shade,
                                       linewidths=0.2, alpha=alpha))


with open(results / "history.csv") as file:
    history = list(csv.DictReader(file))
figure, axes = plt.subplots(figsize=(6, 4))
axes.semilogy([int(row["iteration"]) for row in history], [float(row["loss"]) for row in history], "o-")
axes.set(xlabel="iteration", ylabel="loss, m²", title="Loss of the quickstart problem")
axes.grid(True, which="both", alpha=0.3)
figure.tight_layout()
figure.savefig(results / "loss.png", dpi=130)

with h5py.File(here / "observed.h5") as file:
    seen_steps, seen_vertices, seen = file["step"][:], file["vertices"][:], file["positions"][:]
with h5py.File(results / "trajectory.h5") as file:
    cells, steps, recovered = file["mesh/cells"][:], file["step"][:], file["positions"][:]
motions = [("recovered", recovered)]
if start.exists():
    with h5py.File(start) as file:
        motions.insert(0, ("first guess", file["positions"][:]))
faces = surface(cells)
# The observed moment at which the first motion is farthest from what was seen.
errors = [np.nanmean(np.linalg.norm(motions[0][1][list(steps).index(n)][seen_vertices] - seen[k], axis=1))
          for k, n in enumerate(seen_steps)]
moment = int(np.argmax(errors))
frame = list(steps).index(seen_steps[moment])
names = [name for name in history[0] if "[" in name]
figure, panels = plt.subplots(1, len(motions), figsize=(5.5 * len(motions), 5.5), sharex=True, sharey=True, squeeze=False)
for axes, (name, motion), row in zip(panels[0], motions, (history[0], history[-1]) if len(motions) == 2 else (history[-1],)):
    rest = np.tile([0.85, 0.85, 0.88], (len(faces), 1))
    draw(axes, motion[0], faces, rest, alpha=0.5)
    draw(axes, motion[frame], faces, np.tile([0.35, 0.55, 0.85], (len(faces), 1)))
    points = view(seen[moment])
    axes.plot(points[:, 0], points[:, 1], ".", color="crimson", markersize=4, label="observed, 1 % noise")
    numbers = ", ".join(f"{key.split('[')[1].rstrip(']')} {float(row[key]):.4g} Pa" for key in names)
    axes.set(title=f"{name}: {numbers}", aspect="equal", xlabel="m")
    axes.autoscale_view()
panels[0][0].legend(loc="lower left")
figure.suptitle(f"At rest (grey) and at step {seen_steps[moment]}")
figure.tight_layout()
figure.savefig(results / "motion.png", dpi=130)
print(f"plot_results.py: {results / 'loss.png'}, {results / 'motion.png'}")
