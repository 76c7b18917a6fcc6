"""Compares the tags from check.c with those of reference/."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "reference"))
from algorithms import ALGORITHMS  # noqa: E402

MESSAGE = bytes((i * 167 + i // 256) % 256 for i in range(301))
KEY = bytes(range(20))

found = sys.stdin.read().split()
expected = []
for n in range(len(MESSAGE)):
    expected.append(ALGORITHMS["PMAC-AES128"](KEY[:16], MESSAGE[:n]).hex())
    expected.append(ALGORITHMS["LIGHTMAC-PRESENT80-S16"](KEY, MESSAGE[:n]).hex())
failed = [i // 2 for i, tags in enumerate(zip(expected, found)) if len(set(tags)) > 1]
print(f"{len(found)} tags checked, {len(failed)} failed")
if len(found) != len(expected) or failed:
    sys.exit(f"expected {len(expected)} tags as in the reference; wrong at lengths {failed[:9]}")
