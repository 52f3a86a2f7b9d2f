#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of docs/performance.md from the JSON of explicit_bench or of thin_bench.

  OMP_NUM_THREADS=2 build/bin/explicit_bench --benchmark_out=bench.json --benchmark_out_format=json
  benchmarks/performance.py bench.json

In the tables, "of the limit" is tet/s · B/tet divided by the bandwidth of the triad in the same run. For thin bodies,
elem/s and B/elem replace tet/s and B/tet.
"""

import pathlib
import sys

from measured import rows_of

BEGIN, END = "<!-- begin: {} -->", "<!-- end: {} -->"
PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "performance.md"


def triad_of(benchmarks):
    return max(b["bytes_per_second"] for b in benchmarks if b["name"].startswith("triad"))


def fastest_of(benchmarks, rate):
    """Returns the fastest repetition of each benchmark. Other programs on the computer can only make a repetition slower."""
    fastest = {}
    for bench in benchmarks:
        if rate in bench and bench[rate] > fastest.get(bench["name"], {rate: 0.0})[rate]:
            fastest[bench["name"]] = bench
    return fastest.values()


def ratio_of(bench):
    return f"{bench['(fwd+bwd)/fwd']:.2f}" if "(fwd+bwd)/fwd" in bench else ""


def thin_table_of(benchmarks):
    triad = triad_of(benchmarks)
    rows = []
    for bench in fastest_of(benchmarks, "elem/s"):
        kernel, of = bench["name"].split("/")[:2]
        size = bench["B/elem"]
        of_limit = f"{100 * bench['elem/s'] * size / triad:.0f} %" if size else ""
        rows.append(
            f"| {kernel.replace('_', ' ')} | {of.replace('_', ' ')} | {bench['elem/s'] / 1e6:.1f} | "
            f"{f'{size:.0f}' if size else ''} | {of_limit} | {ratio_of(bench)} |"
        )
    head = [
        f"Triad of the same run: {triad / 1e9:.1f} GB/s.",
        "",
        "| kernel | of | million elements/s | B/element | of the limit | (forward + backward) / forward |",
        "|---|---|---|---|---|---|",
    ]
    return head + rows


def table_of(benchmarks):
    triad = triad_of(benchmarks)
    rows = []
    for bench in fastest_of(benchmarks, "tet/s"):
        if bench["name"].startswith("memory"):
            continue
        kernel, law = bench["name"].split("/")[:2]
        bytes_per_tet = bench.get("B/tet", 0)
        limit = f"{100 * bench['tet/s'] * bytes_per_tet / triad:.0f} %" if bytes_per_tet else ""
        ratio = ratio_of(bench)
        rows.append(
            f"| {kernel.replace('_', ' ')} | {law} | {bench['cells']:.3g} | {bench['tet/s'] / 1e6:.1f} | "
            f"{bytes_per_tet:.0f} | {bench.get('flop/tet', 0):.0f} | {limit} | {ratio} |"
            .replace("| 0 | 0 |", "| | |")
        )
    head = [
        f"Triad of the same run: {triad / 1e9:.1f} GB/s.",
        "",
        "| kernel | law | cells | Mtet/s | B/tet | flop/tet | of the limit | (forward + backward) / forward |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return head + rows


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    page = PAGE.read_text()
    benchmarks = rows_of(sys.argv[1])
    is_thin = any("elem/s" in bench for bench in benchmarks)
    name, table = ("thin", thin_table_of) if is_thin else ("explicit", table_of)
    begin, end = BEGIN.format(name), END.format(name)
    before, rest = page.split(begin)
    after = rest.split(end)[1]
    PAGE.write_text(before + begin + "\n" + "\n".join(table(benchmarks)) + "\n" + end + after)


if __name__ == "__main__":
    main()
