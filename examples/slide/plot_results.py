#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Plots the observations of the slide, and the motions with the initial guess and with the identified coefficient of friction.

usage: plot_results.py GUESS SLID PICTURE.png

GUESS is the output folder of `diffsim simulate slide.yaml`, SLID the output folder of `diffsim invert
slide.yaml`. observed.h5 is read from the folder of this script.
"""

import csv
import os
import sys

import h5py
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

with h5py.File(os.path.join(os.path.dirname(os.path.abspath(__file__)), "observed.h5")) as file:
    seen_at, seen, vertices = file["time"][()], file["positions"][()], file["vertices"][()]
with open(sys.argv[2] + "/history.csv") as file:
    rows = list(csv.DictReader(file))
found = float(rows[-1]["friction"])

figure, (slide, search) = plt.subplots(1, 2, figsize=(10, 4), width_ratios=(1.6, 1), constrained_layout=True)
for folder, label, colour in ((sys.argv[1], f"µ = {float(rows[0]['friction']):g}, first guess", "#999999"),
                              (sys.argv[2], f"µ = {found:.4f}, found", "#4c72a8")):
    with h5py.File(folder + "/trajectory.h5") as file:
        time, x = file["time"][()], file["positions"][()]
    for k, vertex in enumerate(vertices):
        slide.plot(time, x[:, vertex, 0] * 1e3, color=colour, linewidth=1, label=label if k == 0 else None)
slide.plot(np.repeat(seen_at[:, None], len(vertices), 1), seen[:, :, 0] * 1e3, ".", color="crimson", markersize=3)
slide.plot([], [], ".", color="crimson", label="seen")
slide.set(xlabel="time, s", ylabel="down the slope, mm")
slide.legend()
search.plot([float(row["friction"]) for row in rows], "o-", color="#4c72a8", markersize=4)
search.axhline(0.25, color="crimson", linestyle=":", label="the truth")
search.set(xlabel="iteration", ylabel="µ")
search.legend()
figure.savefig(sys.argv[3], dpi=100)
