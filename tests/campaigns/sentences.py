#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Prints sentences that are drawn at random from the comments of headers and from the documents.

A reader who did not write a sentence should understand the sentence at first reading. With `--headers`, sentences are
drawn from doc comments only.

    tests/campaigns/sentences.py --count 20 --seed 1
"""

import argparse
import pathlib
import random
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Abbreviations before whose dot no sentence ends.
ABBREVIATIONS = ("St", "Eq", "Fig", "Sec", "cf", "ch", "eq", "eqs", "e.g", "fig", "i.e", "sec")


def comments(text):
    """Returns the paragraphs of the doc comments of a header. The comment ///< of each member is a separate paragraph."""
    paragraphs, previous = [], ""
    for line in text.split("\n"):
        alone = re.match(r"\s*(///<?)\s?(.*)", line)
        found = alone or re.match(r".*\S\s+(///<)\s?(.*)", line)
        mark, words = (found.group(1), found.group(2).strip()) if found else ("", "")
        if words and alone and mark == previous:
            paragraphs[-1] += " " + words
        elif words:
            paragraphs.append(words)
        previous = mark if words else ""
    return paragraphs


def prose(text):
    """Returns the paragraphs of a Markdown document, without code, tables and headings."""
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    paragraphs = re.split(r"\n\s*\n|\n(?=\s*[-*] |\s*\d+\. )", text)
    return [" ".join(part.split()) for part in paragraphs if not re.match(r"\s*(#|\||<|!\[)", part)]


def sentences(paragraphs):
    """Splits paragraphs at ends of sentences, and returns the sentences of at least five words."""
    no_abbreviation = "".join(rf"(?<!\b{re.escape(word)}\.)" for word in ABBREVIATIONS)
    end = no_abbreviation + r"(?<=[a-z0-9)`’'][.!?]) (?=[A-Z`∂Σ])"
    split = [part for text in paragraphs for part in re.split(end, text)]
    return [part.strip() for part in split if len(part.split()) >= 5]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--headers", action="store_true", help="doc comments of headers only")
    options = parser.parse_args()
    pool = []
    for folder in ("include", "src"):
        for path in sorted((ROOT / folder).rglob("*.hpp")):
            pool += [(path, sentence) for sentence in sentences(comments(path.read_text()))]
    if not options.headers:
        for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
            pool += [(path, sentence) for sentence in sentences(prose(path.read_text()))]
    print(f"{options.count} of {len(pool)} sentences, seed {options.seed}")
    for path, sentence in random.Random(options.seed).sample(pool, options.count):
        print(f"\n{path.relative_to(ROOT)}:\n    {sentence}")


if __name__ == "__main__":
    main()
