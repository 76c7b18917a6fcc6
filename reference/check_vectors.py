#!/usr/bin/env python3
"""Runs the vector files against the references.

    check_vectors.py [FILE ..]     default: every file in ../vectors

Prints one line for each file and a last line "N passed, N failed". The exit
status is 1 if a row fails, or if no row was run at all. vectors/README.md
describes the fields of a row.
"""

import argparse
import json
import sys
from pathlib import Path

import aes
import gf
import rc6
from algorithms import ALGORITHMS, CIPHERS, two
from elimac import elimac
from lightmac import lightmac
from pmac import decipher, encipher, pmac, recover_block
from umac99 import PRFS, Parameters, graded, hash_message, umac99

VECTORS = Path(__file__).resolve().parent.parent / "vectors"

COMMON = {"valid", "status", "source", "comment"}
CIPHER_FIELDS = COMMON | {"algorithm", "key", "pt", "ct"}
MAC_FIELDS = COMMON | {"algorithm", "key", "tag", "tag_bits"}
FAMILY_FIELDS = COMMON | {"family"}
# The parameters of UMAC99, in the order of `Parameters`.
UMAC99_PARAMETERS = (
    "w", "n", "m", "t", "shift", "signed", "pairing", "endian", "min_length", "prf",
)  # fmt: skip


class Failure(Exception):
    """A failed row, with the reason."""


def require(condition, why):
    if not condition:
        raise Failure(why)


def string_of(row, field="msg"):
    """Returns (bytes, length in bits or None for whole bytes)."""
    if f"{field}_bits" in row:
        text = row[f"{field}_bits"]
        padded = text + "0" * (-len(text) % 8)
        return bytes(int(padded[i : i + 8], 2) for i in range(0, len(padded), 8)), len(text)
    msg = row[field]
    if isinstance(msg, str):
        return bytes.fromhex(msg), None
    message = bytes.fromhex(msg["repeat"]) * msg["count"]
    require(len(message) >= msg["total_bytes"], "total_bytes is above the repetition")
    return message[: msg["total_bytes"]], None


def string_field(row, field="msg"):
    """Returns the name of the field with the string."""
    return f"{field}_bits" if f"{field}_bits" in row else field


def require_fields(row, fields):
    require(set(row) == fields, f"fields {sorted(row)}")


def require_same(found, wanted, what):
    require(found == wanted, f"{what} {found}, want {wanted}")


# --- Block ciphers -----------------------------------------------------------


def check_cipher(row):
    name = row["algorithm"]
    key = bytes.fromhex(row["key"])
    fields = set(CIPHER_FIELDS)
    if name.startswith("AES"):
        fields |= {"rounds"}
        cipher = aes.Cipher(key, row["rounds"])
    elif name == "RC6":
        cipher = rc6.Cipher(key)  # a row may have a longer key than the MACs
    else:
        cipher = CIPHERS[name][1](key)
    require_fields(row, fields)
    require(name == "RC6" or len(key) == CIPHERS[name][0], "key size")
    size = cipher.n // 8
    pt, ct = int(row["pt"], 16), int(row["ct"], 16)
    require_same(cipher.encrypt(pt).to_bytes(size, "big").hex(), row["ct"], "ct")
    require_same(cipher.decrypt(ct).to_bytes(size, "big").hex(), row["pt"], "pt")
    if name.startswith("AES"):
        # The cipher's other implementation, so that the steps check the tables.
        found = aes.encrypt_by_steps(cipher.round_keys, pt).to_bytes(size, "big")
        require_same(found.hex(), row["ct"], "ct by steps")


# --- MACs --------------------------------------------------------------------


def check_mac(row):
    fields = MAC_FIELDS | {string_field(row)}
    if not row["valid"]:
        fields |= {"refuse"}
    mac = ALGORITHMS[row["algorithm"]]
    if mac.nonce_bytes is not None:
        fields |= {"nonce"}
    require_fields(row, fields)
    tag, tag_bits = bytes.fromhex(row["tag"]), row["tag_bits"]
    require(len(tag) == (tag_bits + 7) // 8, "tag and tag_bits disagree")
    key = bytes.fromhex(row["key"])
    nonce = bytes.fromhex(row["nonce"]) if "nonce" in row else None
    message, bits = string_of(row)
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


# --- Families with their parameters ------------------------------------------


def keyed(row):
    name = row["cipher"]
    size, cipher = CIPHERS[name]
    key = bytes.fromhex(row["key"])
    require(len(key) in (size, 2 * size), "key size")
    return cipher, key


def check_gf(row):
    require_fields(row, FAMILY_FIELDS | {"n", "a", "double", "halve"})
    n, a = row["n"], int(row["a"], 16)
    require_same(f"{gf.double(a, n):0{n // 4}x}", row["double"], "double")
    require_same(f"{gf.halve(a, n):0{n // 4}x}", row["halve"], "halve")


def check_wide(row):
    pt_field, ct_field = string_field(row, "pt"), string_field(row, "ct")
    require_fields(row, FAMILY_FIELDS | {"cipher", "key", pt_field, ct_field})
    cipher, key = keyed(row)
    E1, E2 = two(cipher, key)
    pt, pt_bits = string_of(row, "pt")
    ct, ct_bits = string_of(row, "ct")
    require_same(encipher(E1, E2, pt, pt_bits).hex(), ct.hex(), "ct")
    require_same(decipher(E1, E2, ct, ct_bits).hex(), pt.hex(), "pt")
    require(pt_bits == ct_bits, "lengths differ")


def check_recover(row):
    fields = {"cipher", "key", string_field(row), "missing", "tag", "block"}
    require_fields(row, FAMILY_FIELDS | fields)
    cipher, key = keyed(row)
    E = cipher(key)
    rest, bits = string_of(row)
    i, tag, block = row["missing"], bytes.fromhex(row["tag"]), row["block"]
    require_same(recover_block(E, rest, i, tag, bits).hex(), block, "block")
    at = (i - 1) * E.n // 8
    whole = rest[:at] + bytes.fromhex(block) + rest[at:]
    bits = None if bits is None else bits + E.n
    require_same(pmac(E, whole, E.n, bits).hex(), row["tag"], "tag")


def tag_fields(row):
    fields = {"key", "tag", "tag_bits"}
    return fields | ({"refuse"} if not row["valid"] else set())


def check_tag(row, found):
    """Compares the tag from `found`, which must raise if the row refuses the message."""
    require(len(row["tag"]) == 2 * ((row["tag_bits"] + 7) // 8), "tag and tag_bits")
    if row["valid"]:
        require_same(found(row["tag_bits"]).hex(), row["tag"], "tag")
        return
    require_same(row["refuse"], "message", "refuse")
    try:
        found(None)
    except ValueError:
        return
    raise Failure("the message was accepted")


def check_lightmac(row):
    fields = {"cipher", "s", "counter", string_field(row)}
    require_fields(row, FAMILY_FIELDS | tag_fields(row) | fields)
    cipher, key = keyed(row)
    message, bits = string_of(row)
    E1, E2 = two(cipher, key)
    s, counter = row["s"], row["counter"]
    check_tag(row, lambda t: lightmac(E1, E2, message, s, t, bits, counter))


def check_elimac(row):
    fields = {"h_rounds", "i_rounds", string_field(row)}
    require_fields(row, FAMILY_FIELDS | tag_fields(row) | fields)
    key = bytes.fromhex(row["key"])
    message, bits = string_of(row)
    rounds = row["h_rounds"], row["i_rounds"]
    check_tag(row, lambda t: elimac(key, message, t, bits, *rounds))


def check_prf(row):
    require_fields(row, FAMILY_FIELDS | {"prf", "key", "msg", "tag"})
    key, message = bytes.fromhex(row["key"]), bytes.fromhex(row["msg"])
    require_same(PRFS[row["prf"]](key, message).hex(), row["tag"], "tag")


def check_umac99(row):
    fields = {"nonce", "msg", "hm"} | set(UMAC99_PARAMETERS)
    require_fields(row, FAMILY_FIELDS | tag_fields(row) | fields)
    p = Parameters(*(row[name] for name in UMAC99_PARAMETERS))
    key, nonce = bytes.fromhex(row["key"]), bytes.fromhex(row["nonce"])
    message, _ = string_of(row)
    require_same(hash_message(p, key, message).hex(), row["hm"], "hm")
    check_tag(row, lambda tau: umac99(p, key, message, nonce, tau // 8))


def check_graded(row):
    fields = {"nonce", "msg"} | set(UMAC99_PARAMETERS)
    require_fields(row, FAMILY_FIELDS | tag_fields(row) | fields)
    p = Parameters(*(row[name] for name in UMAC99_PARAMETERS))
    key, nonce = bytes.fromhex(row["key"]), bytes.fromhex(row["nonce"])
    message, _ = string_of(row)
    check_tag(row, lambda _: graded(p, key, message, nonce))


FAMILIES = {
    "GF": check_gf,
    "PMAC-WIDE": check_wide,
    "PMAC-RECOVER": check_recover,
    "LIGHTMAC": check_lightmac,
    "ELIMAC": check_elimac,
    "PRF": check_prf,
    "UMAC99": check_umac99,
    "UMAC99-GRADED": check_graded,
}


def check_file(path):
    """Prints a line for the file, and its failures. Returns (passed, failed)."""
    rows = json.loads(path.read_text())
    passed = failed = 0
    without = {}
    failures = []
    for number, row in enumerate(rows, 1):
        name = row["family"] if "family" in row else row["algorithm"]
        if name in FAMILIES:
            check = FAMILIES[name]
        elif name in CIPHERS:
            check = check_cipher
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
