#!/usr/bin/env python3
"""Writes adversarial vectors in the schemas of C2SP's Wycheproof.

    wycheproof.py [FOLDER]     default: ../vectors/wycheproof

One file for each algorithm: mac_test_schema_v1.json for PMAC, LightMAC and EliMAC, and
mac_with_iv_test_schema_v1.json for UMAC and Poly1305-AES. The files are the same on every machine
and every Python 3.11 or later. Keys and messages are SHA-256 of a counter (`generate.Random`), tags
are the references', and invalid tags with one mistake are those of `wrong_macs.py`.

`../docs/formats/vectors.md` describes the files and how to run them.
"""

import argparse
from pathlib import Path

import wrong_macs as wrong
import wycheproof_edges as edges
import wycheproof_rows as rows

# family -> the rows that only it has
EDGES = {
    "PMAC": edges.pmac,
    "LIGHTMAC": edges.lightmac,
    "ELIMAC": edges.elimac,
    "UMAC": edges.umac,
    "POLY1305": edges.poly1305,
}


def names():
    yield from ("PMAC-AES128", "PMAC-AES192", "PMAC-AES256", "PMAC-PRESENT80")
    yield from (f"LIGHTMAC-AES128-S{s}" for s in (8, 16, 32, 64))
    yield from (f"LIGHTMAC-PRESENT{bits}-S16" for bits in (80, 128))
    yield from ("ELIMAC-AES128", "UMAC-32", "UMAC-64", "UMAC-96", "UMAC-128", "POLY1305-AES")


def make(name):
    f = rows.File(name)
    rows.pseudorandom(f)
    rows.altered(f)
    rows.other_messages(f)
    rows.padding_confusion(f)
    rows.key_sizes(f)
    if f.takes_nonce:
        rows.nonces(f)
    else:
        rows.short_tags(f)
    EDGES[f.family](f)
    return f


def check_without_mistake():
    """Checks that `wrong_macs.py` without a mistake gives correct tags, so that each wrong tag has
    just one."""
    for name in names():
        f = rows.File(name)
        for length in (0, 1, f.block, 3 * f.block + 5, 1024, 1025, 2049):
            key, nonce, message = f.key(), f.nonce(), f.random.bytes(length)
            match f.family:
                case "PMAC":
                    tag = wrong.pmac(*f.under(key), message)
                case "LIGHTMAC":
                    tag = wrong.lightmac(*f.under(key), message, f.s)
                case "ELIMAC":
                    tag = wrong.elimac(key, message)
                case "UMAC":
                    tag = wrong.umac(key, message, nonce, f.tag_bits // 8)
                case "POLY1305":
                    tag = wrong.poly1305_aes(key, nonce, message)
            assert tag == f.tag(key, nonce, message), f"{name}: {length} bytes: one mistake too many"


def hidden(f):
    """Returns the mistakes that an algorithm cannot show: they have no effect there, or no row has
    the word for it."""
    match f.family:
        case "LIGHTMAC":
            none = {f"the counter has {s} bits" for s in (8, 16, 24, 32, 64) if s == f.s or 2 * s > f.n}
            if f.s == 8:
                none |= {"the counter is little-endian",
                         "the counter has one byte that counts, the others are 0"}  # fmt: skip
            return none
        case "UMAC":
            longer = {f"first bytes of UMAC-{bits}" for bits in (64, 96, 128) if bits <= f.tag_bits}
            if f.tag_bits == 32:
                return {"all iterations with the same NH key",
                        "each NH key starts 4 bytes after the previous one"}  # fmt: skip
            none = longer | {"marker step only for words above 2^64 - 2^32"}
            if f.tag_bits > 64:
                # The whole pad is used for each nonce, and the tag is the first bytes of
                # UMAC-128's.
                none |= {"the first bytes of the block for each nonce", "the nonce's low bits are not cleared",
                         "first bytes of UMAC-128"}  # fmt: skip
            return none
    return set()


def write(folder):
    check_without_mistake()
    folder.mkdir(parents=True, exist_ok=True)
    for name in names():
        f = make(name)
        nowhere = {comment for comment, shown in f.shown.items() if not shown}
        assert nowhere == hidden(f), f"{name}: hidden mistakes differ from the expected ones: {nowhere ^ hidden(f)}"
        text = f.json()
        assert len(text) < 1 << 20, f"{name}: {len(text)} bytes, want less than 1 MiB"
        (folder / f.path).write_text(text)


def main():
    parser = argparse.ArgumentParser(description="Write adversarial vectors in Wycheproof's schemas.")
    parser.add_argument("folder", nargs="?", type=Path, default=edges.VECTORS / "wycheproof")
    write(parser.parse_args().folder)


if __name__ == "__main__":
    main()
