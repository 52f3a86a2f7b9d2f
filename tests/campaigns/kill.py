#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Kills a random rank at a random time of the forward or reverse sweep of a gradient, and resumes the run, until the
sweep is complete.

The script counts finished files that cannot be read, runs that do not end within 10 s after the kill, and gradients
that differ from the gradient of an uninterrupted run. The exit code is 0 if all three counts are 0. Gradients that
differ only by rounding errors are counted separately: if the partition of the mesh differs, runs without a kill are not
bitwise identical, either (--plain N counts such runs).

With --other-ranks each resumption uses a different number of ranks. Gradients may then differ by as much as gradients
on different numbers of ranks.

    tests/campaigns/kill.py --diffsim build/bin/diffsim --kills 100
    tests/campaigns/kill.py --diffsim build/bin/diffsim --scene contact --steps 60 --ranks 1,2,3 --other-ranks --kills 25
"""

import os
import random
import signal
import sys
import time

from campaign import SCENES, Bench, arguments, complaints, difference, ranks_of


def main():
    parser = arguments(__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--other-ranks", action="store_true", help="resume on another number of ranks")
    parser.add_argument("--plain", type=int, default=0, help="runs without a kill, to begin with")
    options = parser.parse_args()
    options.diffsim = os.path.abspath(options.diffsim)
    choose = random.Random(options.seed)
    bench = Bench(options)
    tolerance = SCENES[options.scene][1]
    counts = [int(n) for n in options.ranks.split(",")]
    references, seconds = {}, {}
    for ranks in counts:
        code, _, err, seconds[ranks] = bench.run(ranks, output=f"reference{ranks}")
        assert code == 0, err
        references[ranks] = bench.gradient(f"reference{ranks}")

    for ranks in counts:
        plain = 0
        for _ in range(options.plain):
            bench.run(ranks, output="plain")
            plain += bench.gradient("plain") != references[ranks]
        if options.plain:
            print(f"{ranks} ranks: {plain} of {options.plain} runs without a kill have other bits")

    kills = {"forward": 0, "reverse": 0}
    unreadable, hangs, wrong, others, slowest, sweeps = 0, 0, 0, 0, 0.0, 0
    while sum(kills.values()) < options.kills:
        ranks = choose.choice(counts)
        bench.clear()
        words = []
        while True:
            patience = choose.uniform(0.0, 1.2 * seconds[ranks]) if sum(kills.values()) < options.kills else 1e9
            if words and options.other_ranks:
                ranks = choose.choice([n for n in counts if n != ranks])
            process = bench.start(ranks, *words)
            words = ["--resume"]
            begin = time.monotonic()
            while process.poll() is None and time.monotonic() - begin < patience:
                time.sleep(0.002)
            pids = ranks_of(process, options.diffsim)
            killed = False
            if process.poll() is None and pids:
                phase = bench.phase()
                try:
                    os.kill(choose.choice(pids), signal.SIGKILL)
                    killed = True
                except ProcessLookupError:
                    pass
            begin = time.monotonic()
            try:
                _, err = process.communicate(timeout=10 if killed else 600)
            except Exception:
                hangs += 1
                os.killpg(process.pid, signal.SIGKILL)
                _, err = process.communicate()
            if killed:
                kills[phase] += 1
                slowest = max(slowest, time.monotonic() - begin)
            faults = complaints(err)
            unreadable += len(faults)
            for fault in faults:
                print(fault)
            if process.returncode == 0:
                sweeps += 1
                if bench.gradient() != references[ranks]:
                    off = difference(bench.report(), bench.report(f"reference{ranks}"))
                    print(f"{ranks} ranks: other bits; loss and gradient's norm differ by {off:.1e}")
                    others += 1
                    wrong += not off <= tolerance
                break
            if not killed and process.returncode not in (0,):
                print(f"exit code {process.returncode} without a kill\n{err}")
                wrong += 1
                break
    print(f"{sum(kills.values())} kills ({kills['forward']} before the reversal's first entry, {kills['reverse']} after), "
          f"{sweeps} sweeps ended")
    print(f"unreadable published files: {unreadable}; hangs over 10 s: {hangs} (slowest end {slowest:.1f} s); "
          f"wrong resumed gradients (beyond {tolerance:g}): {wrong}; right ones of other bits: {others}")
    return 1 if unreadable or hangs or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
