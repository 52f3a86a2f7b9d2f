#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Writes observed.h5: the reference motion at some vertices and steps, with noise.

usage: mpirun -n 2 diffsim simulate observe.yaml --output truth
       make_observations.py truth/trajectory.h5 observed.h5

Noise is normal, with the same standard deviation for every component: 1 % of the largest displacement from the initial
positions. The same seed gives the same file.
"""

import argparse

import h5py
import numpy

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("trajectory")
parser.add_argument("observed")
parser.add_argument("--vertices", type=int, default=150, help="how many")
parser.add_argument("--every", type=int, default=3, help="steps between observations")
parser.add_argument("--noise", type=float, default=0.01, help="of the largest displacement")
parser.add_argument("--seed", type=int, default=1)
arguments = parser.parse_args()

with h5py.File(arguments.trajectory) as file:
    steps, times, positions = file["step"][:], file["time"][:], file["positions"][:]
    fingerprint = file.attrs["mesh_fingerprint"]
    units = {name: file[name].attrs["units"] for name in ("time", "positions")}

random = numpy.random.default_rng(arguments.seed)
displacement = numpy.linalg.norm(positions - positions[0], axis=2).max(axis=0)
moving = numpy.flatnonzero(displacement > 0)
vertices = numpy.sort(random.choice(moving, arguments.vertices, replace=False))
frames = numpy.flatnonzero((steps > 0) & (steps % arguments.every == 0))
sigma = arguments.noise * displacement.max()
observed = positions[frames][:, vertices]
observed = observed + sigma * random.standard_normal(observed.shape)

with h5py.File(arguments.observed, "w") as file:
    file.attrs["format"] = numpy.bytes_("diffsim trajectory")
    file.attrs["format_version"] = 1
    file.attrs["mesh_fingerprint"] = fingerprint
    file["vertices"] = vertices.astype("int64")
    file["step"] = steps[frames].astype("int64")
    file["time"] = times[frames]
    file["positions"] = observed
    file["time"].attrs["units"] = units["time"]
    file["positions"].attrs["units"] = units["positions"]
    file["positions"].attrs["noise"] = sigma

print(f"{arguments.observed}: {len(vertices)} vertices, {len(frames)} steps, noise {1e3 * sigma:.2f} mm "
      f"({100 * arguments.noise:g} % of {1e3 * displacement.max():.0f} mm)")
