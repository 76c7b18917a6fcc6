#!/usr/bin/env python3
"""Checks all evidence that refers to code by anchor (`anchors.py`): survivors, uncovered lines,
bugs, planted bugs.

    anchored.py           checks that each anchor holds
    anchored.py --renew   updates files, functions and statements; lists lost anchors and keeps their rows

Apart from `cargo mutants`, nothing is built.
"""

import argparse
import json
import sys

import mutants
from anchors import ROOT, Tree, anchor, in_memory, read_bug
from uncovered import REASONS, find

sys.path.append(str(ROOT / "assure/proofs"))
from planted import PLANTED, change_of  # noqa: E402


def survivors(renews):
    """Returns the number of survivors and the list of those that match no mutant."""
    ledger = mutants.Ledger(mutants.mutants([*mutants.STRICT, *mutants.ALGO]))
    if renews:
        ledger.renew()
    lost = [f"{row['file']}: {mutants.label(row)}" for row in ledger.survivors if id(row) not in ledger.mutant_of]
    return len(ledger.survivors), lost


def uncovered(renews):
    """Returns the number of uncovered statements and branch sides, and the list of those not found.
    """
    tree, reasons, lost, count = Tree(), json.loads(REASONS.read_text()), [], 0
    for reason in reasons:
        file = reason["file"]
        for number, hole in enumerate(reason["holes"]):
            count += 1
            place = find(tree, file, hole)
            if place is None:
                lost.append(f"{file}: {hole['function']}: {hole['code']}")
                continue
            path, index, which = place
            item = tree.source(path).items[index]
            codes = [tree.source(path).code(statement) for statement in item.statements]
            now = {"function": item.name, **anchor(codes, which)}
            reason["holes"][number] = now | ({"part": hole["part"]} if "part" in hole else {})
            reason["file"] = path
    if renews:
        REASONS.write_text(json.dumps(reasons, indent=1, ensure_ascii=False) + "\n")
    return count, lost


def bugs():
    """Returns the number of bugs and the list of those that cannot be applied."""
    tree, lost = Tree(), []
    all_of = {path.stem: read_bug(path)["change"] for path in sorted((ROOT / "bugs").glob("*.toml"))}
    all_of |= {f"proofs, {name}": [change_of(name)] for name in PLANTED}
    for name, changes in all_of.items():
        _, error = in_memory(tree, changes)
        if error:
            lost.append(f"{name}: {error}")
    return len(all_of), lost


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--renew", action="store_true", help="update files, functions and statements")
    renews = parser.parse_args().renew
    lost = []
    for name, (count, without) in {
        "survivors": survivors(renews), "statements that never run": uncovered(renews), "bugs": bugs()
    }.items():  # fmt: skip
        print(f"{name}: {count - len(without)} of {count} hold")
        lost += without
    for line in lost:
        print(f"lost: {line}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
