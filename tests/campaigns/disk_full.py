#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Checks runs that exhaust the disk space at many different points: the script mounts tmpfs file systems of increasing
size, first for the checkpoints, then for the results.

Each run must end with one error message for all ranks, without a crash or a deadlock. From the checkpoint that the run
leaves, a run with enough space must compute a bitwise identical gradient. By default about 30 sizes are tested in one
to two minutes; --step-kb 4 and --results-step-kb 4, the size of a page, test every point. Mounting needs root.

The test simulation_tests --source=resume_test.cpp --gtest_filter=*EachWrite* needs no root. In each run of the test,
one write of one rank fails. The filter *FullDisk* with DIFFSIM_WRITE_STRIDE=1 selects a similar test of a longer sweep.

    sudo tests/campaigns/disk_full.py --diffsim build/bin/diffsim
"""

import os
import subprocess
import sys

from campaign import Bench, arguments, complaints


def sizes(first, last, step):
    return range(first, last + 1, step)


def main():
    parser = arguments(__doc__)
    parser.add_argument("--from-kb", type=int, default=1024)
    parser.add_argument("--to-kb", type=int, default=1400)
    parser.add_argument("--step-kb", type=int, default=24)
    parser.add_argument("--results-to-kb", type=int, default=1100)
    parser.add_argument("--results-step-kb", type=int, default=96)
    options = parser.parse_args()
    options.diffsim = os.path.abspath(options.diffsim)
    ranks = int(options.ranks.split(",")[0])
    bench = Bench(options)
    code, _, err, _ = bench.run(ranks, output="reference")
    assert code == 0, err
    reference = bench.gradient("reference")
    bench.checkpoints.mkdir(exist_ok=True)

    full, faults = 0, 0
    places = [(bench.checkpoints, kb) for kb in sizes(options.from_kb, options.to_kb, options.step_kb)]
    places += [(bench.folder / "out", kb) for kb in sizes(4, options.results_to_kb, options.results_step_kb)]
    for folder, kb in places:
        folder.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kb}k", "tmpfs", str(folder)], check=True)
        where = f"{folder.name}, {kb} kB"
        try:
            code, _, err, seconds = bench.run(ranks, timeout=60)
            ours = [line for line in err.splitlines() if line.startswith("diffsim: error:")]
            if code == 0:
                if bench.gradient() != reference:
                    faults += 1
                    print(f"{where}: another gradient")
                continue
            full += 1
            if code not in (1, 2) or len(ours) != 1 or "No space left" not in ours[0] and "has space" not in ours[0]:
                faults += 1
                print(f"{where}: exit code {code} after {seconds:.1f} s\n{err}")
            subprocess.run(["mount", "-o", "remount,size=64m", str(folder)], check=True)
            code, _, err, _ = bench.run(ranks, "--resume")
            if code != 0 or bench.gradient() != reference or complaints(err):
                faults += 1
                print(f"{where}: resumed with exit code {code}\n{err}")
        finally:
            subprocess.run(["umount", str(folder)], check=True)
            bench.clear()
    print(f"{full} runs ran out of disk; faults: {faults}")
    return 1 if faults or not full else 0


if __name__ == "__main__":
    sys.exit(main())
