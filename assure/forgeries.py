#!/usr/bin/env python3
"""Forgeries: altered messages, tags, nonces and files, through every interface. All must be
refused.

The library, in process (the program `forgeries` of the crate): tags, messages, nonces, saved
streams, partials and key files of every algorithm. The C library, through ctypes: tags of 0 to 40
bytes, and each bit of a tag. In process too: manifests of trees and objects, ledgers and pins,
altered, mixed from each other, rolled back, and from other chains and keys. The command: lists,
manifests, ledgers, pins and partials with each byte altered, cut at each byte, with other keys,
rolled back, from another chain, or mixed from several versions.

Not tested: forgeries that a MAC accepts with the probability of its bound. Sidecars and checkpoints
have their own tests (crates/cli/tests, crates/files/tests). A sidecar that is older than its file's
tag is accepted by design unless --expect names the tag (docs/formats/sidecar.md)."""

import argparse
import ctypes
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
RELEASE = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target")).resolve() / "release"
KEY = bytes(range(16))

# Planted in the command and in C; the program lists its own.
PLANTS = ["exit-status-ignored", "c-mismatch-ignored", "records-not-given"]


class Count:
    def __init__(self):
        self.checked = 0
        self.failures = []

    def refused(self, accepted, what):
        self.checked += 1
        if accepted:
            self.failures.append(f"{what}: accepted a forgery")

    def accepted(self, accepted, what):
        self.checked += 1
        if not accepted:
            self.failures.append(f"{what}: refused what it made itself")


def in_process(count, arguments):
    """Runs the program and adds its counts."""
    ran = subprocess.run([RELEASE / "forgeries", *arguments], stdout=subprocess.PIPE, text=True)
    *lines, last = ran.stdout.splitlines()
    found = re.fullmatch(r"forgeries-in-process: (\d+) checked, (\d+) failed", last)
    count.checked += int(found[1])
    shown = [line[8:] for line in lines if line.startswith("failed: ")]
    count.failures += shown + ["and more"] * (int(found[2]) - len(shown))


def c_library(count, plant):
    """Tries tags of every length, and each bit of them."""
    library = ctypes.CDLL(str(RELEASE / "libtagmac.so"))
    # Reserve more than `tagmac_key_size`, to align the key as the header requires.
    library.tagmac_key_size.restype = ctypes.c_size_t
    size = ctypes.c_size_t
    for name, tag_size in [("PMAC-AES128", 16), ("LIGHTMAC-AES128-S32", 16), ("UMAC-64", 8), ("CMAC-AES128", 16)]:
        key_bytes = KEY * 2 if name.startswith("LIGHT") else KEY
        nonce = b"8 bytes." if name.startswith("UMAC") else b""
        room = ctypes.create_string_buffer(library.tagmac_key_size() + 128)
        at = (ctypes.addressof(room) + 127) & ~127
        key = ctypes.c_void_p(at)
        given = (key, name.encode(), key_bytes, size(len(key_bytes)), size(0))
        count.accepted(library.tagmac_key_init(*given) == 0, f"{name}: a key in C")
        message = b"a message that is checked in C"
        tag = ctypes.create_string_buffer(tag_size)
        rest = (nonce or None, size(len(nonce)), message, size(len(message)))
        count.accepted(library.tagmac_key_tag(key, tag, size(tag_size), *rest) == 0, f"{name}: a tag in C")

        def accepts(tag, tag_size, rest=rest, key=key):
            found = library.tagmac_key_verify(key, tag, size(tag_size), *rest)
            return found == 0 or plant == "c-mismatch-ignored"

        count.accepted(accepts(tag.raw, tag_size), f"{name}: its own tag in C")
        for length in range(41):
            if length != tag_size:
                longer = tag.raw + bytes(40)
                count.refused(accepts(longer, length), f"{name}: {length} bytes of tag in C")
        for bit in range(8 * tag_size):
            altered = bytearray(tag.raw)
            altered[bit // 8] ^= 1 << bit % 8
            count.refused(accepts(bytes(altered), tag_size), f"{name}: bit {bit} of a tag in C")
        library.tagmac_key_free(key)


def run(arguments, folder, expect=None):
    command = [str(RELEASE / "tagmac"), *map(str, arguments)]
    ran = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
    if expect is not None and ran.returncode != expect:
        sys.exit(f"{' '.join(command)}: expected exit {expect}, found {ran.returncode}: {ran.stderr.decode()}")
    return ran


def altered(data, step):
    """Yields `data` with each byte altered, cut off or removed, and with something appended."""
    for at in range(0, len(data), step):
        yield data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :], f"byte {at} altered"
        yield data[:at], f"cut to {at} bytes"
        yield data[:at] + data[at + 1 :], f"without byte {at}"
    yield data + b"\n", "with an extra line"
    yield data + data, "twice"


def said_by(data):
    """Returns the content of a list's lines: algorithm names and tags are case-insensitive."""
    lines = set()
    for line in data.splitlines():
        found = re.fullmatch(rb"([^ ]+)( \(.*\) = )([0-9A-Fa-f]+)", line)
        lines.add(found[1].lower() + found[2] + found[3].lower() if found else line)
    return lines - {b""}


# For each format of a file that the command reads: its name in the folder, the command that makes
# it, and the command that reads it and exits with 0 if it accepts it. The last field says whether
# the output must also stay the same.
def formats(folder):
    run(["keygen", "-o", "k"], folder, 0)
    run(["keygen", "-o", "other"], folder, 0)
    (folder / "t").mkdir()
    (folder / "t" / "a").write_bytes(b"one")
    (folder / "t" / "b").write_bytes(b"two" * 100)
    (folder / "f").write_bytes(bytes(i % 251 for i in range(300_000)))
    (folder / "list").write_bytes(run(["tag", "-k", "k", "t/a", "t/b"], folder, 0).stdout)
    run(["seal", "-k", "k", "t", "-o", "manifest"], folder, 0)
    run(["audit", "-k", "k", "--ledger", "ledger", "--pin", "pin", "manifest", "t"], folder, 0)
    run(["part", "-k", "k", "--start", "0", "--length", "163840", "--object", "o", "f", "-o", "1.part"], folder, 0)
    run(["part", "-k", "k", "--start", "163840", "--last", "--object", "o", "f", "-o", "2.part"], folder, 0)
    whole = run(["combine", "-k", "k", "--name", "f", "1.part", "2.part"], folder, 0).stdout
    return [
        ("list", ["check", "-k", "k", "FILE"], None),
        ("manifest", ["audit", "-k", "k", "FILE", "t"], None),
        ("ledger", ["audit", "-k", "k", "--ledger", "FILE", "manifest", "t"], None),
        ("pin", ["audit", "-k", "k", "--pin", "FILE", "manifest", "t"], None),
        ("1.part", ["combine", "-k", "k", "--name", "f", "FILE", "2.part"], whole),
        ("2.part", ["combine", "-k", "k", "--name", "f", "1.part", "FILE"], whole),
    ]


def command(count, full, plant):
    """Tries lists, manifests and partials that were altered or belong to other keys and versions.
    """
    with tempfile.TemporaryDirectory(prefix="tagmac-forgeries-") as made:
        folder = Path(made)
        cases = []
        for name, reads, printed in formats(folder):
            data = (folder / name).read_bytes()
            right = run([name if one == "FILE" else one for one in reads], folder)
            count.accepted(right.returncode == 0, f"the {name}, unaltered")
            step = 1 if full else max(1, len(data) // 40)
            for number, (bytes_, what) in enumerate(altered(data, step)):
                # A list may have fewer or repeated lines: each line is independent.
                if name == "list" and said_by(bytes_) <= said_by(data):
                    continue
                cases.append((f"{number}.{name}", bytes_, what, reads, printed))

        def one(case):
            file, bytes_, what, reads, printed = case
            (folder / file).write_bytes(bytes_)
            ran = run([file if one == "FILE" else one for one in reads], folder)
            (folder / file).unlink()
            good = ran.returncode == 0 or plant == "exit-status-ignored"
            return good, f"{file}: {what}: {' '.join(reads)}"

        with ThreadPoolExecutor(2) as pool:
            for good, what in pool.map(one, cases):
                count.refused(good, what)
        for reads in (["check", "-k", "other", "list"], ["audit", "-k", "other", "manifest", "t"]):
            count.refused(run(reads, folder).returncode == 0, " ".join(reads))
        chains(count, folder, plant)
        # Rolled back, and mixed from versions of an object.
        (folder / "t" / "a").write_bytes(b"new")
        for reads in (["check", "-k", "k", "list"], ["audit", "-k", "k", "manifest", "t"]):
            count.refused(run(reads, folder).returncode == 0, f"{' '.join(reads)} after a change")
        run(["part", "-k", "k", "--start", "163840", "--last", "--object", "o2", "f", "-o", "3.part"], folder, 0)
        mixed = ["combine", "-k", "k", "--name", "f", "1.part", "3.part"]
        count.refused(run(mixed, folder).returncode == 0, "parts of two objects")


def chains(count, folder, plant):
    """Presents manifests, ledgers and pins of other chains under the same key, forks, and older ones."""

    def audit(manifest, ledger, pin):
        records = [] if plant == "records-not-given" else ["--ledger", ledger, "--pin", pin]
        return run(["audit", "-k", "k", *records, manifest, "t"], folder).returncode == 0

    def kept(name, number):
        (folder / f"{name}{number}").write_bytes((folder / name).read_bytes())

    # Chain 1 is that of `formats`; it gets a second manifest. Chain 2 describes the same tree.
    for name in ("manifest", "ledger", "pin"):
        kept(name, 1)
    run(["seal", "-k", "k", "t", "-o", "manifest"], folder, 0)
    run(["audit", "-k", "k", "--ledger", "ledger", "--pin", "pin", "manifest", "t"], folder, 0)
    kept("manifest", 2)
    (folder / "fork").write_bytes((folder / "manifest1").read_bytes())
    run(["seal", "-k", "k", "--mtime", "t", "-o", "fork"], folder, 0)
    run(["seal", "-k", "k", "--mode", "t", "-o", "foreign"], folder, 0)
    run(["audit", "-k", "k", "--ledger", "foreign.l", "--pin", "foreign.p", "foreign", "t"], folder, 0)
    new = ("manifest2", "ledger", "pin")
    for at, name in [
        (0, "manifest1"),
        (0, "fork"),
        (0, "foreign"),
        (1, "ledger1"),
        (1, "foreign.l"),
        (1, "none"),
        (2, "foreign.p"),
    ]:
        presented = [*new[:at], name, *new[at + 1 :]]
        count.refused(audit(*presented), f"audit with {' '.join(presented)}")
    count.refused(audit("manifest2", "foreign.l", "foreign.p"), "ledger and pin of another chain")
    count.refused(audit("manifest1", "ledger1", "pin"), "a manifest and a ledger before the pin")
    # The refused audits changed nothing.
    count.accepted(audit(*new), "manifest, ledger and pin of one chain")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--planted", nargs="?", const="")
    options = parser.parse_args()
    if options.planted == "":
        own = subprocess.run([RELEASE / "forgeries", "--planted"], stdout=subprocess.PIPE, text=True, check=True)
        print(own.stdout + "\n".join(PLANTS))
        return
    count = Count()
    planted = options.planted and options.planted not in PLANTS
    in_process(
        count, (["--full"] if options.full else ["--quick"]) + (["--planted", options.planted] if planted else [])
    )
    if not planted:
        c_library(count, options.planted)
        command(count, options.full, options.planted)
    for failure in count.failures[:10]:
        print(f"failed: {failure}")
    print(f"forgeries: {count.checked} checked, {len(count.failures)} failed")
    sys.exit(1 if count.failures else 0)


if __name__ == "__main__":
    main()
