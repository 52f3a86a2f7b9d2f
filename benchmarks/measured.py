# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""What the scripts of this folder share: a run of a benchmark, and its rows."""

import json
import os
import pathlib
import subprocess
import tempfile


def rows_of(path):
    """The rows of a Google Benchmark's JSON, one a repetition."""
    benchmarks = json.loads(pathlib.Path(path).read_text())["benchmarks"]
    return [row for row in benchmarks if row.get("run_type") != "aggregate"]


def run(bench, pattern, repetitions, variables, launcher=(), arguments=()):
    """The rows of a run of the benchmarks that match `pattern`, with environment `variables`, started by `launcher`."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "bench.json"
        command = [*launcher, bench, f"--benchmark_filter={pattern}", f"--benchmark_repetitions={repetitions}"]
        command += [f"--benchmark_out={out}", "--benchmark_out_format=json", *arguments]
        subprocess.run(command, env={**os.environ, **variables}, check=True, stdout=subprocess.DEVNULL)
        return rows_of(out)


def listed(numbers):
    return ",".join(str(number) for number in numbers)
