# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Functions with which several campaigns run scenes."""

import csv
import pathlib
import subprocess
import time
import types


def add_options(parser):
    """Adds the options that `simulate` needs to an ArgumentParser."""
    parser.add_argument("--diffsim", type=pathlib.Path, required=True)
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds a run")


def simulate(text, folder, options):
    """Runs `diffsim simulate` for a scene, `text`, which has no section `output`, in `folder`. The result has the
    members `rows` (the rows of steps.csv after the first row), `seconds` (wall time of the run), `output` (text that
    the program printed) and `code` (exit code)."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scene.yaml").write_text("output: {directory: out, every: 10, log: steps.csv}\n" + text)
    command = ["mpirun", "--oversubscribe", "-n", str(options.ranks)] if options.ranks > 1 else []
    command += [str(options.diffsim.resolve()), "simulate", "scene.yaml", "--time-limit", str(options.limit)]
    begin = time.monotonic()
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    seconds = time.monotonic() - begin
    (folder / "log.txt").write_text(done.stdout)
    table = folder / "out" / "steps.csv"
    rows = list(csv.DictReader(open(table)))[1:] if table.exists() else []
    return types.SimpleNamespace(rows=rows, seconds=seconds, output=done.stdout, code=done.returncode)
