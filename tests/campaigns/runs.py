# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Functions with which several campaigns run scenes."""

import csv
import pathlib
import re
import statistics
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


def summarize(done, text):
    """Returns texts for a row of a table about `done`, a result of `simulate` for the scene `text` with contact, as a
    dictionary, and whether the run completed without intersections. The dictionary is empty if the run has no step, apart
    from `steps` and `end`."""
    steps = int(re.search(r"steps: ([0-9]+)", text).group(1))
    error = re.search(r"error: (.*)", done.output)
    complete = len(done.rows) == steps and done.code == 0
    summary = {"steps": f"{len(done.rows)} of {steps}",
               "end": "ends" if complete else error.group(1)[:200] if error else "time limit"}
    if not done.rows:
        return summary | {"end": done.output.strip().splitlines()[-1] if done.output.strip() else str(done.code)}, False
    of = lambda key: [float(row[key]) for row in done.rows]
    newton = of("newton_iterations")
    distance = float(re.search(r"barrier_distance: ([0-9.e+-]+)", text).group(1))
    met = sum(of("intersections"))
    summary |= {"newton": f"{statistics.median(newton):.0f}, {statistics.mean(newton):.1f}, {max(newton):.0f}",
                "above_100": f"{sum(n > 100 for n in newton)}", "seconds": f"{done.seconds / len(done.rows):.3f}",
                "cuts": f"{sum(of('cuts')):.0f}", "distance": f"{min(of('min_distance')) / distance:.1e}", "met": f"{met:.0f}"}
    return summary, complete and met == 0
