#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Kills a random rank at a random time of the forward or reverse sweep of a gradient, and resumes the run, until the
sweep is complete.

The script counts finished files that cannot be read, runs that do not end within 10 s after the kill, and gradients
whose loss or any of whose entries differs from that of an uninterrupted run. The exit code is 0 if all three counts are
0. Gradients that differ only by rounding errors are counted separately: if the partition of the mesh differs, runs
without a kill are not bitwise identical, either (--plain N counts such runs).

The program compare_gradients, which is a target of the tests, compares the losses and the gradients with respect to all
parameters of the scene. Differences are relative to the largest entry of a dataset.

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

from campaign import SCENES, Bench, arguments, complaints, ranks_of


class Campaign:
    """Runs on a bench, and counts of kills and of errors."""

    def __init__(self, options):
        self.options = options
        self.choose = random.Random(options.seed)
        self.bench = Bench(options)
        self.tolerance = SCENES[options.scene][1]
        self.counts = [int(n) for n in options.ranks.split(",")]
        self.references, self.seconds = {}, {}
        self.kills = {"forward": 0, "reverse": 0}
        self.unreadable, self.hangs, self.wrong, self.others, self.slowest, self.sweeps = 0, 0, 0, 0, 0.0, 0
        self.largest = 0.0

    def num_kills(self):
        return sum(self.kills.values())

    def run_references(self):
        """Runs each number of ranks without a kill. Stores the gradients and the durations. Checks that the gradients on
        different numbers of ranks agree."""
        for ranks in self.counts:
            code, _, err, self.seconds[ranks] = self.bench.run(ranks, output=f"reference{ranks}")
            assert code == 0, err
            self.references[ranks] = self.bench.gradient(f"reference{ranks}")
            off, where = self.bench.difference(f"reference{self.counts[0]}", f"reference{ranks}")
            assert off <= self.tolerance, f"{ranks} ranks without a kill: the difference is {off:.1e}: {where}"

    def count_plain(self):
        """Counts the runs without a kill that differ from the reference."""
        for ranks in self.counts:
            plain = 0
            for _ in range(self.options.plain):
                self.bench.run(ranks, output="plain")
                plain += self.bench.gradient("plain") != self.references[ranks]
            if self.options.plain:
                print(f"{ranks} ranks: {plain} of {self.options.plain} runs without a kill have other bits")

    def kill_rank(self, process):
        """Kills a random rank. Returns the phase of the sweep, or None if no rank was killed."""
        pids = ranks_of(process, self.options.diffsim)
        if process.poll() is not None or not pids:
            return None
        phase = self.bench.phase()
        try:
            os.kill(self.choose.choice(pids), signal.SIGKILL)
        except ProcessLookupError:
            return None
        return phase

    def run_and_kill(self, ranks, words):
        """Runs diffsim, and kills a rank at a random time until there are enough kills. Returns the number of
        ranks of the run, the exit code, standard error, and whether a rank was killed."""
        patience = self.choose.uniform(0.0, 1.2 * self.seconds[ranks]) if self.num_kills() < self.options.kills else 1e9
        if words and self.options.other_ranks:
            ranks = self.choose.choice([n for n in self.counts if n != ranks])
        process = self.bench.start(ranks, *words)
        begin = time.monotonic()
        while process.poll() is None and time.monotonic() - begin < patience:
            time.sleep(0.002)
        phase = self.kill_rank(process)
        begin = time.monotonic()
        try:
            _, err = process.communicate(timeout=10 if phase else 600)
        except Exception:
            self.hangs += 1
            os.killpg(process.pid, signal.SIGKILL)
            _, err = process.communicate()
        if phase:
            self.kills[phase] += 1
            self.slowest = max(self.slowest, time.monotonic() - begin)
        return ranks, process.returncode, err, phase is not None

    def compare(self, ranks):
        """Compares the gradient of a completed sweep with the reference."""
        self.sweeps += 1
        if self.bench.gradient() == self.references[ranks]:
            return
        off, where = self.bench.difference(f"reference{ranks}")
        print(f"{ranks} ranks: other bits; the largest difference of an entry is {off:.1e}: {where}")
        is_wrong = not off <= self.tolerance
        self.others += not is_wrong
        self.wrong += is_wrong
        self.largest = max(self.largest, off)

    def sweep(self):
        """Kills and resumes a run until its sweep is complete, or until the run fails without a kill."""
        ranks = self.choose.choice(self.counts)
        self.bench.clear()
        words = []
        while True:
            ranks, code, err, killed = self.run_and_kill(ranks, words)
            words = ["--resume"]
            faults = complaints(err)
            self.unreadable += len(faults)
            for fault in faults:
                print(fault)
            if code == 0:
                self.compare(ranks)
                return
            if not killed:
                print(f"exit code {code} without a kill\n{err}")
                self.wrong += 1
                return

    def print_counts(self):
        kills = self.kills
        print(f"{self.num_kills()} kills ({kills['forward']} before the reversal's first entry, {kills['reverse']} after), "
              f"{self.sweeps} sweeps ended")
        print(f"unreadable published files: {self.unreadable}; hangs over 10 s: {self.hangs} (slowest end "
              f"{self.slowest:.1f} s); wrong resumed gradients (beyond {self.tolerance:g}): {self.wrong}; right ones of "
              f"other bits: {self.others}; largest difference: {self.largest:.1e}")


def main():
    parser = arguments(__doc__)
    parser.add_argument("--compare", help="the program compare_gradients; default: that of the build of --diffsim")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--other-ranks", action="store_true", help="resume on another number of ranks")
    parser.add_argument("--plain", type=int, default=0, help="runs without a kill, to begin with")
    options = parser.parse_args()
    options.diffsim = os.path.abspath(options.diffsim)
    build = os.path.dirname(os.path.dirname(options.diffsim))
    options.compare = options.compare or os.path.join(build, "tests", "bin", "compare_gradients")
    if not os.access(options.compare, os.X_OK):
        parser.error(f"there is no program {options.compare}; build the target compare_gradients, or give --compare")
    campaign = Campaign(options)
    campaign.run_references()
    campaign.count_plain()
    while campaign.num_kills() < options.kills:
        campaign.sweep()
    campaign.print_counts()
    return 1 if campaign.unreadable or campaign.hangs or campaign.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
