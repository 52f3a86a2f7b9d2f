#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Prints the parameters that `diffsim invert` identified, and their deviations from the true values if these are known.

usage: show_result.py FOLDER [--truth truth.json]

FOLDER contains report.json and parameters.h5. truth.json maps a parameter to a value, or to {region: value}.
Without h5py, the script prints only the report.
"""

import argparse
import json
import pathlib

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--truth", type=pathlib.Path)
arguments = parser.parse_args()

report = json.loads((arguments.folder / "report.json").read_text())
state = "converged" if report.get("converged") else "did not converge"
print(f"{report.get('command', 'run')}: {state} after {report.get('iterations', '?')} iterations, "
      f"loss {report.get('loss', float('nan')):.6g}, on {report.get('ranks', '?')} ranks, {report.get('back_end', '?')}")

truth = {}
if arguments.truth and arguments.truth.is_file():
    truth = json.loads(arguments.truth.read_text())

try:
    import h5py
    import numpy
except ImportError as error:
    print(f"(parameters.h5 not shown: {error.name} is missing; install python3-h5py)")
    raise SystemExit(0)


def show(name, value, true_value):
    line = f"  {name:<34} {value:14.6g}"
    if true_value is not None:
        line += f"   true {true_value:.6g}, off by {100 * abs(value / true_value - 1):.2f} %"
    print(line)


with h5py.File(arguments.folder / "parameters.h5", "r") as file:
    group = file["parameters"]
    for name in group:
        if name.endswith(".regions"):
            continue
        values = numpy.atleast_1d(group[name][()])
        known = truth.get(name)
        if name + ".regions" in group:
            labels = [r.decode() if isinstance(r, bytes) else str(r) for r in group[name + ".regions"][()]]
            for label, value in zip(labels, values):
                show(f"{name} [{label}]", value, known.get(label) if isinstance(known, dict) else known)
        elif values.size == 1:
            show(name, values[0], known if not isinstance(known, dict) else None)
        else:
            print(f"  {name:<34} {values.size} values from {values.min():.6g} to {values.max():.6g}")
