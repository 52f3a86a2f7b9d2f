#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Writes observed.h5: the reference motion at some vertices and every second step, with normal noise.

The same seed gives the same file.

usage: diffsim simulate observe.yaml
       make_observations.py truth/trajectory.h5 observed.h5
"""

import sys

import h5py
import numpy

NOISE, VERTICES = 2e-3, 8  # m

with h5py.File(sys.argv[1]) as file:
    steps, times, positions = file["step"][2::2], file["time"][2::2], file["positions"][2::2]
    fingerprint = file.attrs["mesh_fingerprint"]

random = numpy.random.default_rng(1)
vertices = numpy.sort(random.choice(positions.shape[1], VERTICES, replace=False))
observed = positions[:, vertices]
observed = observed + NOISE * random.standard_normal(observed.shape)

with h5py.File(sys.argv[2], "w") as file:
    file.attrs["format"] = numpy.bytes_("diffsim trajectory")
    file.attrs["format_version"] = 1
    file.attrs["mesh_fingerprint"] = fingerprint
    file["vertices"] = vertices.astype("int64")
    file["step"] = steps.astype("int64")
    file["time"] = times
    file["positions"] = observed
    file["time"].attrs["units"] = numpy.bytes_("s")
    file["positions"].attrs["units"] = numpy.bytes_("m")
