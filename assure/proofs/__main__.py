"""Proofs for all inputs that the arithmetic of the MACs matches its definitions and never
overflows.

    assure/proofs --quick | --full [--planted NAME] [--list] [THEOREM...]
    assure/proofs --planted

The proofs are about the source of the crates itself. `rust/` parses the functions that a theorem
names and runs them on unknown numbers, line by line, and z3 decides. Constants, shifts and bounds
of the code are read from the files, not repeated here. `theorems/` has only the other side: the
definitions of the papers and of RFC 4418 and 8439. Each operation that Rust checks in a debug build
(overflows, indices, `assert!`) is a goal of the theorem that runs it. So is each sum and product in
words of vectors that must not wrap. A failure is a goal that z3 does not decide in time, code that
the parser does not know, or a function that has moved.

Bits and masks are decided as bit vectors. Products of limbs are decided as integers. Each quotient
of a shift is an unknown with its equation, and each product of two unknowns is a new unknown with
its bounds. A congruence mod p is shown with its quotient, which z3 checks.

The proofs cannot show that the compiler translates the source as this model runs it, or that vector
instructions do what the manual states: a word of a vector is modelled as a word. Code outside the
named functions is not covered; the tests on all levels check which kernel runs when.
"""

import argparse
import sys
import time
from pathlib import Path

import z3_wheel

z3_wheel.need()

import theorems  # noqa: E402, F401
from planted import PLANTED, change_of  # noqa: E402
from rust.tokens import Unsupported  # noqa: E402
from theorem import SRC, THEOREMS, Failed, Proof  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from anchors import ROOT, Tree, in_memory  # noqa: E402

TIMEOUT_MS = {"quick": 30_000, "full": 200_000}


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="the quick theorems")
    parser.add_argument("--full", action="store_true", help="all theorems")
    parser.add_argument("--planted", nargs="?", const="", metavar="NAME", help="with a bug planted; alone, lists them")
    parser.add_argument("--list", action="store_true", help="lists what each theorem proves")
    parser.add_argument("theorems", nargs="*", metavar="THEOREM", help="these alone")
    options = parser.parse_args()
    if options.planted and options.planted not in PLANTED:
        parser.error(f"unknown planted bug {options.planted}")
    return options


def with_bug(name):
    """Returns the text of each changed file with the planted bug `name`."""
    changed, error = in_memory(Tree(), [change_of(name)])
    if error:
        sys.exit(f"proofs: cannot plant the bug {name}: {error}")
    return {str((ROOT / path).relative_to(SRC)): text for path, text in changed.items()}


def main():
    asked = options()
    chosen = [t for t in THEOREMS if asked.full or t.level == "quick"]
    if asked.theorems:
        chosen = [t for t in THEOREMS if t.name in asked.theorems]
    if asked.planted == "":
        print("\n".join(PLANTED))
        return 0
    if asked.list:
        for t in chosen:
            print(f"{t.name}: {t.says} ({t.where[0]})")
        return 0
    texts = with_bug(asked.planted) if asked.planted else {}
    if asked.planted:
        # Theorems about other files cannot see it.
        chosen = [t for t in chosen if set(texts) & set(t.where)]
    invariants, notes, timeout = {}, [], TIMEOUT_MS["full" if asked.full else "quick"]
    checked = failed = goals = solved = slowest = 0
    for t in chosen:
        began = time.monotonic()
        proof = Proof(t.where, texts, timeout, invariants, notes)
        checked += 1
        verdict = "proved"
        try:
            t.run(proof)
            proof.solve()
        except Exception as error:  # A theorem is not proved, whatever stops its proof.
            failed += 1
            verdict = "failed"
            why = error if isinstance(error, (Failed, Unsupported)) else repr(error)
            print(f"failed: {t.name}: {t.says} ({t.where[0]}): {why}")
        took = time.monotonic() - began
        goals, solved, slowest = goals + proof.goals, solved + proof.solved, max(slowest, took)
        print(f"{took:7.2f} s  {verdict}  {t.name}, {proof.goals} goals", file=sys.stderr, flush=True)
        if failed and asked.planted:
            break
    if not asked.planted and not asked.theorems:
        notes.append(
            f"{checked} theorems with {goals} goals, {solved} of them decided by z3; the slowest took {slowest:.0f} s"
        )
    for note in notes:
        print(f"note: {note}")
    print(f"proofs: {checked} checked, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
