#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Plots results of the quickstart problem: motion.png (motion before and after the inversion) and loss.png (the loss at
each iteration).

usage: plot_results.py RESULTS

RESULTS is the output folder of `diffsim invert`. The motion of the initial guess is read from the folder RESULTS/../start,
if this folder exists. If numpy, h5py or matplotlib is missing, the script prints a message and writes no pictures.
"""

import csv
import json
import pathlib
import sys

try:
    import h5py
    import matplotlib
    import numpy as np

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.collections import LineCollection, PolyCollection
except ImportError as missing:
    print(f"plot_results.py: no pictures, the Python package {missing.name} is missing (python3-{missing.name})")
    sys.exit(0)

here = pathlib.Path(__file__).resolve().parent
COLOURS = {"stiff": "#4c72a8", "soft": "#e08a3c"}
OBSERVED = "#b3123f"


# ---- reading ---------------------------------------------------------------------------------------------------


def read_motion(folder):
    with h5py.File(folder / "trajectory.h5") as file:
        return {name: file[name][()] for name in ("step", "time", "positions", "mesh/cells")}


def read_observations(path):
    with h5py.File(path) as file:
        observed = {name: file[name][()] for name in ("vertices", "step", "positions")}
        observed["noise"] = file["positions"].attrs.get("noise")
        return observed


def read_history(path):
    with open(path) as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def regions_of_cells(path):
    """Returns the name of the physical volume of each tetrahedron in an ASCII Gmsh 4.1 file, in the order of the file."""
    sections, name = {}, None
    for line in path.read_text().splitlines():
        if line.startswith("$"):
            name = None if line.startswith("$End") else line[1:].strip()
            sections.setdefault(name, [])
        elif name:
            sections[name].append(line.split())
    names = {words[1]: words[2].strip('"') for words in sections["PhysicalNames"][1:] if words[0] == "3"}
    points, curves, surfaces, volumes = map(int, sections["Entities"][0])
    entities = sections["Entities"][1 + points + curves + surfaces:][:volumes]
    region_of_entity = {words[0]: names[words[8]] for words in entities}
    regions, lines = [], iter(sections["Elements"][1:])
    for dimension, entity, _, count in lines:
        for _ in range(int(count)):
            next(lines)
        if dimension == "3":
            regions += [region_of_entity[entity]] * int(count)
    return np.array(regions)


# ---- the body: orthographic projection, faces drawn from back to front, flat shading ----------------------------

TURN, TILT = np.radians(52.0), np.radians(20.0)
# Rows of CAMERA: the unit vectors to the right, upwards and towards the viewer.
CAMERA = np.array([[1, 0, 0], [0, np.cos(TILT), -np.sin(TILT)], [0, np.sin(TILT), np.cos(TILT)]]) @ np.array(
    [[np.cos(TURN), 0, -np.sin(TURN)], [0, 1, 0], [np.sin(TURN), 0, np.cos(TURN)]])
LIGHT = np.array([-0.30, 0.60, 0.74])


def surface(cells):
    """Returns the faces that belong to a single cell, [F, 3], with outward normals, and the cell of each face."""
    faces = np.concatenate([cells[:, corners] for corners in ([1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1])])
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    first = first[count == 1]
    return faces[first], first % len(cells)


def draw_body(axes, positions, faces, colours):
    corners = (positions @ CAMERA.T)[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    front = np.flatnonzero(normals[:, 2] > 0)
    front = front[np.argsort(corners[front].mean(axis=1)[:, 2])]
    shade = 0.62 + 0.45 * np.clip(normals[front] @ LIGHT, 0, None)
    filled = np.clip(colours[front] * shade[:, None], 0, 1)
    axes.add_collection(PolyCollection(corners[front][:, :, :2], facecolors=filled, edgecolors=0.86 * filled,
                                       linewidths=0.3))


def corners_of_wall(rest):
    y, z = 2.2 * np.abs(rest[:, 1]).max(), 1.15 * np.abs(rest[:, 2]).max()
    return np.array([[0, -y, -z], [0, -y, z], [0, y, z], [0, y, -z]])


def draw_panel(axes, title, positions, body, vertices, observed):
    rest, faces, colours = body
    wall = (corners_of_wall(rest) @ CAMERA.T)[:, :2]
    axes.add_collection(PolyCollection([wall], facecolors="#e6e7ea", edgecolors="#a9abb2", linewidths=0.8,
                                       hatch="///"))
    draw_body(axes, positions, faces, colours)
    at, seen = ((points @ CAMERA.T)[:, :2] for points in (positions[vertices], observed))
    axes.add_collection(LineCollection(np.stack([at, seen], axis=1), colors=OBSERVED, linewidths=0.6, alpha=0.4))
    axes.plot(*seen.T, "o", color=OBSERVED, markersize=3.2, markeredgecolor="white", markeredgewidth=0.4)
    axes.set_title(title, fontsize=11)
    axes.set_aspect("equal")
    axes.axis("off")


def draw_motion(path, start, found, observed, body, texts):
    """Draws the body at the observed time at which the initial guess is farthest from the observations."""
    frame_of = {step: k for k, step in enumerate(found["step"])}
    frames = [frame_of[step] for step in observed["step"]]
    first = start["positions"] if start else np.broadcast_to(body[0], found["positions"].shape)

    def miss(motion, k):
        at = motion[frames[k]][observed["vertices"]]
        return 1e3 * np.nanmean(np.linalg.norm(at - observed["positions"][k], axis=1))

    k = int(np.argmax([miss(first, k) for k in range(len(frames))]))
    before, after, seen = first[frames[k]], found["positions"][frames[k]], observed["positions"][k]
    figure, axes = plt.subplots(1, 2, figsize=(10, 6.6), facecolor="white", sharex=True, sharey=True)
    name = "first guess" if start else "at rest"
    noise = observed["noise"]  # the mean length of a normal 3-vector is √(8/π) times the standard deviation of its components
    of_noise = f" (noise alone: {1e3 * noise * np.sqrt(8 / np.pi):.1f} mm)" if noise else ""
    draw_panel(axes[0], f"{name}: {miss(first, k):.0f} mm off on average", before, body, observed["vertices"], seen)
    draw_panel(axes[1], f"recovered: {miss(found['positions'], k):.1f} mm off{of_noise}", after, body,
               observed["vertices"], seen)
    drawn = (np.concatenate([corners_of_wall(body[0]), before, after, seen]) @ CAMERA.T)[:, :2]
    axes[0].set_xlim(drawn[:, 0].min() - 0.01, drawn[:, 0].max() + 0.01)
    axes[0].set_ylim(drawn[:, 1].min() - 0.01, drawn[:, 1].max() + 0.01)
    handles = [plt.Rectangle((0, 0), 1, 1, color=COLOURS.get(region, "#888888")) for region in texts]
    handles.append(plt.Line2D([], [], marker="o", color=OBSERVED, markeredgecolor="white", linewidth=0.8))
    figure.legend(handles, [*texts.values(), f"where {len(seen)} vertices were seen, and where the body has them"],
                  loc="lower center", frameon=False, fontsize=10)
    figure.suptitle(f"A gripper swinging under gravity, t = {found['time'][frames[k]]:.2f} s", fontsize=13)
    figure.subplots_adjust(left=0.01, right=0.99, top=0.88, bottom=0.14, wspace=0.02)
    figure.savefig(path, dpi=130)


# ---- the loss --------------------------------------------------------------------------------------------------


def draw_loss(path, history, noise, sought, truth, texts):
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(7.5, 7), sharex=True, facecolor="white")
    iterations = history["iteration"]
    upper.semilogy(iterations, history["loss"], "o-", color="#333333", markersize=4)
    if noise:
        floor = 1.5 * noise**2  # half of the variance of three components
        upper.axhline(floor, color=OBSERVED, linestyle="--", linewidth=1)
        upper.annotate("what the noise leaves", (iterations[0], floor), xytext=(0, 5), textcoords="offset points",
                       fontsize=9, color=OBSERVED)
    upper.set(ylabel="loss, m²", title=f"{history['evaluations'][-1]:.0f} evaluations of loss and gradient, "
              f"{history['seconds'][-1]:.0f} s")
    for region, column in sought.items():
        colour = COLOURS.get(region, "#888888")
        lower.semilogy(iterations, history[column] / 1e3, "o-", color=colour, markersize=4, label=texts[region])
        if region in truth:
            lower.axhline(truth[region] / 1e3, color=colour, linestyle="--", linewidth=1)
    lower.set(ylabel="Young's modulus, kPa", xlabel="iteration")
    lower.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
    lower.set_ylim(top=4 * lower.get_ylim()[1])
    lower.legend(frameon=False, loc="upper right", fontsize=9)
    for axes in (upper, lower):
        axes.grid(True, color="#e3e3e6", linewidth=0.7)
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=130)


def main():
    results = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "quickstart").resolve()
    start = results.parent / "start"
    found = read_motion(results)
    observed = read_observations(here / "observed.h5")
    history = read_history(results / "history.csv")
    truth = json.loads((here / "truth.json").read_text())["youngs_modulus"]

    faces, owners = surface(found["mesh/cells"])
    regions = regions_of_cells(here / "gripper.msh")[owners]
    colours = np.array([matplotlib.colors.to_rgb(COLOURS.get(region, "#888888")) for region in regions])
    sought = {name[name.index("[") + 1:-1]: name for name in history if name.startswith("youngs_modulus[")}
    texts = {}
    for region, column in sought.items():
        first, last = history[column][[0, -1]]
        texts[region] = f"{region}: {first / 1e3:.4g} kPa at first, {last / 1e3:.4g} kPa recovered"
        if region in truth:
            texts[region] += f" (true {truth[region] / 1e3:.4g}: {100 * abs(last / truth[region] - 1):.2f} % off)"

    motion_of_start = read_motion(start) if (start / "trajectory.h5").is_file() else None
    body = (found["positions"][0], faces, colours)
    draw_motion(results / "motion.png", motion_of_start, found, observed, body, texts)
    draw_loss(results / "loss.png", history, observed["noise"], sought, truth, texts)
    print(f"plot_results.py: {results / 'motion.png'}, {results / 'loss.png'}")


main()
