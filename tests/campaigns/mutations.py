#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Checks whether the tests detect errors. The script inserts the small errors of mutation_list.py into the sources, one
at a time.

The script works on a separate checkout (a git worktree of HEAD) with a separate build folder, so the current tree does
not change; ccache makes the build fast. An error is detected if a test passes without the error, but fails or does not
end with the error. The results are stored in a file. The next call continues an interrupted campaign, and repeats
errors whose text or tests have changed.

    tests/campaigns/mutations.py --scratch /tmp/mutants --configure=-DCMAKE_CXX_COMPILER_LAUNCHER=ccache
    tests/campaigns/mutations.py --scratch /tmp/mutants --only contact     # errors whose names contain this text
    tests/campaigns/mutations.py --scratch /tmp/mutants --sample 60 --seed 1   # 60 of the errors, drawn at random
    tests/campaigns/mutations.py --scratch /tmp/mutants --table            # results so far

The exit code is 0 if all errors are detected. The script needs only Python's standard library.
"""

import argparse
import json
import os
import pathlib
import random
import shlex
import signal
import subprocess
import sys
import time

from mutation_list import FAULTS

ROOT = pathlib.Path(__file__).resolve().parents[2]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scratch", required=True, help="a folder for the checkout; made where it is not there")
    parser.add_argument("--results", help="default: mutations.json in the scratch folder's parent")
    parser.add_argument("--configure", default="", help="further words for cmake")
    parser.add_argument("--only", default="", help="faults whose names have this in them")
    parser.add_argument("--sample", type=int, help="run this many errors, drawn at random; default: all")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--again", action="store_true", help="run what was not caught once more")
    parser.add_argument("--update", action="store_true", help="bring the checkout to HEAD of the tree at hand first")
    parser.add_argument("--jobs", default=str(os.cpu_count()))
    parser.add_argument("--timeout", type=float, default=600.0, help="s, of a test")
    parser.add_argument("--table", action="store_true", help="print the results as they stand, run nothing")
    return parser.parse_args()


def target_of(test):
    """Returns the build target of the program that runs a test, for example folder_tests for the test folder.name.np2."""
    folder, name = test.split(".")[:2]
    return "core_runtime_test" if (folder, name) == ("core", "runtime") else f"{folder}_tests"


class Checkout:
    def __init__(self, options):
        self.options = options
        self.folder = pathlib.Path(options.scratch).resolve()
        self.build_folder = self.folder / "build"
        self.passing = {}  # key "COMMIT TEST"; true if the test passes without an inserted error

    def prepare(self):
        if not self.folder.exists():
            self.git(ROOT, "worktree", "add", "--detach", str(self.folder), "HEAD")
        self.git(self.folder, "checkout", "--", ".")
        if self.options.update:
            head = self.git(ROOT, "rev-parse", "HEAD").strip()
            self.git(self.folder, "checkout", "--detach", head)
        if self.options.update or not (self.build_folder / "CMakeCache.txt").exists():
            words = ["cmake", "-G", "Ninja", "--preset", "release", "-DDIFFSIM_WARNINGS_AS_ERRORS=OFF",
                     "-DDIFFSIM_PRECOMPILE_HEADERS=OFF", "-DDIFFSIM_UNITY_BUILD=OFF",
                     "-DDIFFSIM_EVERY_CASE_ON_EVERY_RANKS=ON"]  # a change then recompiles few sources
            subprocess.run(words + shlex.split(self.options.configure), cwd=self.folder, check=True,
                           stdout=subprocess.DEVNULL)
        listed = subprocess.run(["ctest", "--test-dir", str(self.build_folder), "--show-only=json-v1"],
                                capture_output=True, text=True, check=True)
        self.commit = self.git(self.folder, "rev-parse", "HEAD").strip()
        self.tests = {test["name"]: test for test in json.loads(listed.stdout)["tests"]}

    @staticmethod
    def git(folder, *words):
        return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True).stdout

    def build(self, targets):
        """Returns None, or the end of the compiler's output if the build fails."""
        ran = subprocess.run(["ninja", "-C", str(self.build_folder), "-j", self.options.jobs, *targets],
                             capture_output=True, text=True)
        return None if ran.returncode == 0 else ran.stdout[-2000:]

    def run(self, test):
        """Runs a test without ctest, whose timeouts are too short if other programs use the processor. Returns
        "passed", "failed" or "timeout"."""
        name, _, subset = test.partition(" ")
        command = self.tests[name]["command"]
        properties = {entry["name"]: entry["value"] for entry in self.tests[name]["properties"]}
        environment = dict(os.environ, **dict(word.split("=", 1) for word in properties.get("ENVIRONMENT", [])))
        if subset:
            environment["GTEST_FILTER"] = subset
        if name.endswith(".np1"):
            environment["GTEST_FAIL_FAST"] = "1"  # only on one rank: on several ranks, the ranks without a failure would wait
        process = subprocess.Popen(command, cwd=properties["WORKING_DIRECTORY"], env=environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            return "passed" if process.wait(self.options.timeout) == 0 else "failed"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return "timeout"

    def with_shards(self, tests):
        """Returns the tests together with the tests on 3 or 2 ranks that run the other half of their cases."""
        for test in tests:
            yield test
            name, blank, subset = test.partition(" ")
            others = {".np2": ".np3", ".np3": ".np2"}
            if name[-4:] not in others or name not in self.tests:
                continue
            properties = {entry["name"]: entry["value"] for entry in self.tests[name]["properties"]}
            if any(word.startswith("GTEST_TOTAL_SHARDS=") for word in properties.get("ENVIRONMENT", [])):
                yield name[:-4] + others[name[-4:]] + blank + subset

    def passes_without_fault(self, test):
        key = f"{self.commit} {test}"
        if key not in self.passing:
            error = self.build([target_of(test)])
            self.passing[key] = error is None and self.run(test) == "passed"
            if not self.passing[key]:
                print(f"  {test} does not pass without a fault; it is left out" + (": " + error if error else ""))
        return self.passing[key]


def drawn(options):
    """Returns the errors to run, in the order of the list."""
    if options.sample is None or options.sample >= len(FAULTS):
        return FAULTS
    places = random.Random(options.seed).sample(range(len(FAULTS)), options.sample)
    return [FAULTS[place] for place in sorted(places)]


def key_of(fault):
    return json.dumps([fault.file, fault.old, fault.new, fault.tests])


def try_fault(checkout, fault):
    """Runs the tests of an error until a test detects the error. Returns the outcome, and the test that detected the
    error."""
    path = checkout.folder / fault.file
    text = path.read_text() if path.exists() else ""
    count = text.count(fault.old)
    if count != 1 and not (fault.everywhere and count > 1):
        return f"no anchor ({count} times in {fault.file})", ""
    tests = [
        test
        for test in dict.fromkeys(checkout.with_shards(fault.tests))
        if test.partition(" ")[0] in checkout.tests and checkout.passes_without_fault(test)
    ]
    if not tests:
        return "no test", ""
    path.write_text(text.replace(fault.old, fault.new))
    try:
        for test in tests:
            error = checkout.build([target_of(test)])
            if error:
                print(error)
                return "does not compile", ""
            outcome = checkout.run(test)
            if outcome != "passed":
                return "caught" if outcome == "failed" else "caught (does not end)", test
        return "survived", " ".join(tests)
    finally:
        path.write_text(text)


def table(results):
    rows = [results[fault.name] for fault in FAULTS if fault.name in results]
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        print(f"{row['name']:{width}}  {row['outcome']:9}  {row['seconds']:5.0f} s  {row['test']}")
    caught = sum(row["outcome"].startswith("caught") for row in rows)
    print(f"{len(FAULTS)} faults, {len(rows)} run, {caught} caught")
    return caught


def main():
    options = arguments()
    sys.stdout.reconfigure(line_buffering=True)
    file = pathlib.Path(options.results or pathlib.Path(options.scratch).resolve().parent / "mutations.json")
    known_before = json.loads(file.read_text()) if file.exists() else {"faults": {}, "passing": {}}
    results = known_before["faults"]
    if not options.table:
        checkout = Checkout(options)
        checkout.passing = known_before["passing"]
        checkout.prepare()
        for fault in drawn(options):
            known = results.get(fault.name)
            done = known and known["key"] == key_of(fault) and (known["outcome"].startswith("caught") or not options.again)
            if options.only not in fault.name or done:
                continue
            begin = time.monotonic()
            outcome, test = try_fault(checkout, fault)
            seconds = time.monotonic() - begin
            print(f"{fault.name}: {outcome} {test} ({seconds:.0f} s)")
            results[fault.name] = {"name": fault.name, "key": key_of(fault), "outcome": outcome, "test": test,
                                   "seconds": seconds}
            file.write_text(json.dumps({"faults": results, "passing": checkout.passing}, indent=1))
    return 0 if table(results) == len(FAULTS) else 1


if __name__ == "__main__":
    sys.exit(main())
