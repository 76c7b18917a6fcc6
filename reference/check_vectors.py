#!/usr/bin/env python3
"""Runs the vector files against the references.

    check_vectors.py [FILE ..]     default: every file in ../vectors

Prints one line for each file and a last line "N passed, N failed". The exit
status is 1 if a row fails, or if no row was run at all. vectors/README.md says
what the fields of a row mean.
"""

import argparse
import json
import sys
from pathlib import Path

import aes
from algorithms import ALGORITHMS

VECTORS = Path(__file__).resolve().parent.parent / "vectors"

AES_KEY_BYTES = {"AES128": 16, "AES192": 24, "AES256": 32}
COMMON = {"algorithm", "key", "valid", "status", "source", "comment"}
AES_FIELDS = COMMON | {"rounds", "pt", "ct"}
MAC_FIELDS = COMMON | {"tag", "tag_bits"}


class Failure(Exception):
    """A row that does not hold, and why."""


def require(condition, why):
    if not condition:
        raise Failure(why)


def message_of(row):
    """(message, length in bits or None for whole bytes)"""
    if "msg_bits" in row:
        text = row["msg_bits"]
        padded = text + "0" * (-len(text) % 8)
        return bytes(int(padded[i : i + 8], 2) for i in range(0, len(padded), 8)), len(text)
    msg = row["msg"]
    if isinstance(msg, str):
        return bytes.fromhex(msg), None
    message = bytes.fromhex(msg["repeat"]) * msg["count"]
    require(len(message) >= msg["total_bytes"], "total_bytes is above the repetition")
    return message[: msg["total_bytes"]], None


def check_aes(row):
    require(set(row) == AES_FIELDS, f"fields {sorted(row)}")
    key = bytes.fromhex(row["key"])
    require(len(key) == AES_KEY_BYTES[row["algorithm"]], "key size")
    cipher = aes.Cipher(key, row["rounds"])
    pt = int(row["pt"], 16)
    # Both forms of the cipher, so that the tables are checked by the steps.
    for found in (cipher.encrypt(pt), aes.encrypt_by_steps(cipher.round_keys, pt)):
        found = found.to_bytes(16, "big").hex()
        require(found == row["ct"], f"ct {found}, want {row['ct']}")


def check_mac(row):
    fields = MAC_FIELDS | ({"msg_bits"} if "msg_bits" in row else {"msg"})
    if not row["valid"]:
        fields |= {"refuse"}
    mac = ALGORITHMS[row["algorithm"]]
    if mac.nonce_bytes is not None:
        fields |= {"nonce"}
    require(set(row) == fields, f"fields {sorted(row)}")
    tag, tag_bits = bytes.fromhex(row["tag"]), row["tag_bits"]
    require(len(tag) == (tag_bits + 7) // 8, "tag and tag_bits disagree")
    key = bytes.fromhex(row["key"])
    nonce = bytes.fromhex(row["nonce"]) if "nonce" in row else None
    message, bits = message_of(row)
    if row.get("refuse") == "key":
        try:
            mac(key, message, None, bits, nonce)
        except ValueError:
            return
        raise Failure("the key was accepted")
    found = mac(key, message, tag_bits, bits, nonce)
    if row["valid"]:
        require(found == tag, f"tag {found.hex()}, want {tag.hex()}")
    else:
        require(row["refuse"] == "tag", f"refuse: {row['refuse']}")
        require(found != tag, f"tag {found.hex()}, which must not come out")


def check_file(path):
    """(passed, failed), after the line for this file and its failures."""
    rows = json.loads(path.read_text())
    passed = failed = 0
    without = {}
    failures = []
    for number, row in enumerate(rows, 1):
        name = row["algorithm"]
        if name in AES_KEY_BYTES:
            check = check_aes
        elif name in ALGORITHMS:
            check = check_mac
        else:
            without[name] = without.get(name, 0) + 1
            continue
        try:
            check(row)
            passed += 1
        except (Failure, KeyError, TypeError, ValueError) as error:
            failed += 1
            comment = row.get("comment", "")
            failures.append(f"  row {number}, {name}, {comment}: {error!r}")
    parts = []
    if passed or failed:
        parts.append(f"{passed} passed, {failed} failed")
    if without:
        names = ", ".join(without)
        parts.append(f"no reference for {names}, {sum(without.values())} rows not run")
    print(f"{path.name}: {'; '.join(parts) or 'no rows'}")
    for failure in failures:
        print(failure)
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description="Run the vectors against the references.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    files = parser.parse_args().files or sorted(VECTORS.glob("*.json"))
    passed = failed = 0
    for path in files:
        p, f = check_file(path)
        passed += p
        failed += f
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
