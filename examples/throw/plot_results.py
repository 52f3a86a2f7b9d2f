#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Plots the flight with the initial guess and with the optimised velocity, and the distance from the target at each iteration.

usage: plot_results.py GUESS THROWN PICTURE.png

GUESS is the output folder of `diffsim simulate throw.yaml`, THROWN the output folder of `diffsim invert throw.yaml`.
"""

import collections
import csv
import sys

import h5py
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import PolyCollection

FLOOR, TARGET = -0.5, (1.1, -0.2, 0.25)


def read(folder):
    with h5py.File(folder + "/trajectory.h5") as file:
        return file["time"][()], file["positions"][()], file["mesh/cells"][()]


def surface(cells):
    faces = np.concatenate([cells[:, list(f)] for f in ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))])
    count = collections.Counter(tuple(sorted(f)) for f in faces)
    return np.array([f for f in faces if count[tuple(sorted(f))] == 1])


figure, (flight, search) = plt.subplots(1, 2, figsize=(11, 4.2), width_ratios=(2.4, 1), constrained_layout=True)
for folder, label, colour, moments in ((sys.argv[1], "first guess", "#999999", (1.0,)),
                                       (sys.argv[2], "found", "#4c72a8", np.linspace(0, 1, 11))):
    time, x, cells = read(folder)
    middle = x.mean(axis=1)
    flight.plot(middle[:, 0], middle[:, 1], color=colour, label=label, linewidth=1)
    faces = surface(cells)
    for moment in moments:
        frame = x[int(round(moment * (len(time) - 1)))]
        flight.add_collection(PolyCollection(frame[faces][:, :, :2], facecolor=colour, edgecolor="white",
                                             linewidth=0.2, alpha=0.5))
flight.axhline(FLOOR, color="black")
flight.plot(*TARGET[:2], "+", color="crimson", markersize=14, markeredgewidth=2, label="target")
flight.set(xlabel="x, m", ylabel="y, m", aspect="equal")
flight.legend(loc="upper right")

with open(sys.argv[2] + "/history.csv") as file:
    rows = list(csv.DictReader(file))
search.semilogy([np.sqrt(2 * float(row["loss"])) * 1e3 for row in rows], "o-", color="#4c72a8", markersize=4)
search.set(xlabel="iteration", ylabel="lands beside the target by, mm")
search.grid(alpha=0.3)
figure.savefig(sys.argv[3], dpi=100)
