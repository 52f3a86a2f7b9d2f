#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Prints sentences that are drawn at random from the comments of headers and from the documents.

A reader who did not write a sentence should understand the sentence at first reading. With `--context`, the script also
prints the paragraph that contains the sentence, and the declaration that the paragraph documents or the paragraph's
heading. With `--headers`, sentences are drawn from doc comments only.

    tests/campaigns/sentences.py --count 20 --seed 1 --context
"""

import argparse
import pathlib
import random
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Abbreviations before whose dot no sentence ends.
ABBREVIATIONS = ("St", "Eq", "Fig", "Sec", "cf", "ch", "eq", "eqs", "e.g", "fig", "i.e", "sec")


def declaration(lines, begin):
    """Returns the declaration that begins at line `begin`, at most its first four lines."""
    found = []
    for line in lines[begin : begin + 4]:
        found.append(line.split("//")[0].strip())
        if re.search(r"[;{]", found[-1]):
            break
    return " ".join(found)


def comments(text):
    """Returns the paragraphs of the doc comments of a header, each with the declaration that the comment documents. The
    comment ///< of each member is a separate paragraph."""
    lines = text.split("\n")
    paragraphs, begin = [], 0  # begin: first paragraph of the present comment block
    previous = ""
    for number, line in enumerate(lines):
        alone = re.match(r"\s*(///<?)(?:\s(.*)|$)", line)
        found = alone or re.match(r".*\S\s+(///<)\s?(.*)", line)
        mark, words = (found.group(1), (found.group(2) or "").strip()) if found else ("", "")
        if not mark or not alone:  # the block of comments before this line documents this line
            for paragraph in paragraphs[begin:]:
                paragraph[1] = paragraph[1] or declaration(lines, number)
            begin = len(paragraphs)
        if words and alone and mark == previous:
            paragraphs[-1][0] += " " + words
        elif words:
            paragraphs.append([words, "" if alone and mark == "///" else line.split("//")[0].strip()])
        previous = mark if words else ""
    return [(words, of) for words, of in paragraphs]


def prose(text):
    """Returns the paragraphs of a Markdown document, without code, tables and headings, each with its heading."""
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    heading, result = "", []
    for part in re.split(r"\n\s*\n|\n(?=\s*[-*] |\s*\d+\. )", text):
        if part.lstrip().startswith("#"):
            heading = part.strip()
        elif not re.match(r"\s*(\||<|!\[)", part):
            result.append((" ".join(part.split()), heading))
    return result


def sentences(paragraphs):
    """Splits paragraphs at ends of sentences. Returns each sentence of at least five words with its paragraph and with
    the declaration or heading of the paragraph."""
    no_abbreviation = "".join(rf"(?<!\b{re.escape(word)}\.)" for word in ABBREVIATIONS)
    end = no_abbreviation + r"(?<=[a-z0-9)`’'][.!?]) (?=[A-Z`∂Σ])"
    split = [(part.strip(), text, of) for text, of in paragraphs for part in re.split(end, text)]
    return [entry for entry in split if len(entry[0].split()) >= 5]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--headers", action="store_true", help="doc comments of headers only")
    parser.add_argument(
        "--context", action="store_true", help="also the paragraph, and the declaration or heading to which it belongs"
    )
    options = parser.parse_args()
    pool = []
    for folder in ("include", "src"):
        for path in sorted((ROOT / folder).rglob("*.hpp")):
            pool += [(path, sentence) for sentence in sentences(comments(path.read_text()))]
    if not options.headers:
        for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
            pool += [(path, sentence) for sentence in sentences(prose(path.read_text()))]
    print(f"{options.count} of {len(pool)} sentences, seed {options.seed}")
    for path, (sentence, paragraph, of) in random.Random(options.seed).sample(pool, options.count):
        print(f"\n{path.relative_to(ROOT)}:\n    {sentence}")
        if options.context:
            print(f"  of: {of}\n  in: {paragraph}")


if __name__ == "__main__":
    main()
