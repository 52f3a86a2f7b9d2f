# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Functions that the scripts of this folder share: they run a benchmark and return the rows of its output."""

import json
import os
import pathlib
import subprocess
import tempfile


def rows_of(path):
    """Returns the rows of a JSON file of Google Benchmark, one row per repetition."""
    benchmarks = json.loads(pathlib.Path(path).read_text())["benchmarks"]
    return [row for row in benchmarks if row.get("run_type") != "aggregate"]


def run(bench, pattern, repetitions, variables, launcher=(), arguments=()):
    """Runs the benchmarks that match `pattern` and returns their rows.

    `variables`: environment variables; `launcher`: command that starts the program, such as mpiexec with its options.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "bench.json"
        command = [*launcher, bench, f"--benchmark_filter={pattern}", f"--benchmark_repetitions={repetitions}"]
        command += [f"--benchmark_out={out}", "--benchmark_out_format=json", *arguments]
        subprocess.run(command, env={**os.environ, **variables}, check=True, stdout=subprocess.DEVNULL)
        return rows_of(out)


def listed(numbers):
    return ",".join(str(number) for number in numbers)
