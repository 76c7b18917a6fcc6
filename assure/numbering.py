#!/usr/bin/env python3
"""Extracts the papers' own numbering for the ledger of claims, as assure/numbered.json.

    assure/numbering.py FOLDER

FOLDER has the texts of the five papers, FILES below; they are not in this repository. For each
paper the file lists its numbered items: sections, definitions, algorithms, theorems, lemmas,
propositions, corollaries, equations, figures and tables. For RFC 4418 it lists only sections, from
its table of contents. The slides on Poly1305-AES have no numbers. `claims.py` requires a row, or a
reason, for each item.
"""

import json
import re
import sys
from pathlib import Path

OUT = Path(__file__).resolve().parent / "numbered.json"
# The prefix of each paper's IDs, and its text.
FILES = {
    "pmac": "pmac.txt",
    "lightmac": "lightmac.txt",
    "elimac": "elimac.txt",
    "poly1305": "poly1305-aes.txt",
    "umac99": "umac.txt",
}
# A statement begins a line. A citation at the start of a line has the same number.
STATEMENT = re.compile(
    r"^\s*\**(Definition|Algorithm|Theorem|Lemma|Proposition|Corollary) (\d(?:\.\d)?)\b(?!\])", re.MULTILINE
)
FIGURE = re.compile(r"^\s*\**(Figure|Fig\.|Table) (\d+)[:.]", re.MULTILINE)
EQUATION = re.compile(r"\((\d{1,2})\)\s*\$*[ \t]*$", re.MULTILINE)
SECTION = re.compile(r"^[ #]*([1-9](?:\.[1-9])?|[A-C]\.[1-9]) +[A-Z][A-Za-z]", re.MULTILINE)
KINDS = {"Figure": "fig", "Fig.": "fig", "Table": "tab", "Definition": "def", "Algorithm": "alg",
         "Theorem": "thm", "Lemma": "lem", "Proposition": "prop", "Corollary": "cor"}  # fmt: skip
RFC_4418 = """1 2 2.1 2.2 2.3 2.4 2.5 2.5.1 3 3.1 3.2 3.2.1 3.3 3.3.1 4 4.1 4.2 5 5.1 5.2 5.2.1 5.2.2 5.3
5.3.1 5.3.2 5.4 5.4.1 6 6.1 6.2 6.3 6.4 6.5 6.6 7""".split()


def numbered(text):
    found = {}
    for kind, number in STATEMENT.findall(text) + FIGURE.findall(text):
        found.setdefault(KINDS[kind], set()).add(number)
    for kind, pattern in (("eq", EQUATION), ("s", SECTION)):
        numbers = set(pattern.findall(text))
        if numbers:
            found[kind] = numbers
    def place(number):
        return [(part.isdigit(), int(part) if part.isdigit() else part) for part in number.split(".")]

    return {kind: sorted(numbers, key=place) for kind, numbers in sorted(found.items())}


def main():
    folder = Path(sys.argv[1])
    sources = {prefix: numbered((folder / name).read_text()) for prefix, name in FILES.items()}
    sources["rfc4418"] = {"s": RFC_4418}
    lines = []
    for prefix, kinds in sources.items():
        counts = ", ".join(f'"{kind}": {len(numbers)}' for kind, numbers in kinds.items())
        inner = ",\n".join(f'  "{kind}": {json.dumps(numbers)}' for kind, numbers in kinds.items())
        lines.append(f' "{prefix}": {{\n  "counts": {{{counts}}}' + (f",\n{inner}" if inner else "") + "}")
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
