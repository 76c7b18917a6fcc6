#!/usr/bin/env python3
"""Reads a ledger and a pin, as specified in ../docs/formats/ledger.md, with only
hashlib and hmac.

    ledger.py                           checks the examples of that page
    ledger.py --make                    prints them
    ledger.py KEYFILE LEDGER NAME..     prints the last day of each name, or '-'

    position(name) = HMAC-SHA256(manifest key, "tagmac-position-1\n" || name)[:8]
"""

import datetime
import hmac
import pathlib
import re
import sys

from object_manifest import DOCS, Key, Wrong, hexadecimal, number

NAMES = [rb"a\b", "photos/café".encode(), b"to\ttab"]
FIRST = b"tagmac-ledger-1", b"tagmac-pin-1"


def position(key, name):
    return hmac.digest(key.manifest, b"tagmac-position-1\n" + name, "sha256")[:8]


def line(text):
    """Returns the position and the day, or an empty string, in a line."""
    found = re.fullmatch(rb"([0-9a-f]{16}) (-|[0-9]{4}-[0-9]{2}-[0-9]{2})", text)
    if not found:
        raise Wrong(f"expected a position and a day, found {text!r}")
    if found[2] == b"-":
        return bytes.fromhex(found[1].decode()), ""
    day = datetime.date.fromisoformat(found[2].decode())
    return bytes.fromhex(found[1].decode()), str(day)


def fields(lines, *labels):
    for one, label in zip(lines, labels, strict=True):
        if not one.startswith(label):
            raise Wrong(f"expected {label!r}, found {one!r}")
        yield one[len(label) :]


def head(key, text, name, first):
    """Returns the lines after the key id, after checking the seal."""
    if text.split(b"\n")[:2] != [first, f"key id: {key.id}".encode()]:
        raise Wrong(f"{name}: expected {first.decode()} and the key's id")
    return key.open(text, name)[0][2:]


def read_ledger(key, text):
    """Returns the chain, the sequence number, the arcs and the exceptions."""
    lines = head(key, text, "ledger", FIRST[0])
    chain, sequence, count = fields(lines[:3], b"chain: ", b"sequence: ", b"arcs: ")
    end = 3 + number(count)
    arcs = [line(one) for one in lines[3:end]]
    (count,) = fields(lines[end : end + 1], b"exceptions: ")
    exceptions = [line(one) for one in lines[end + 1 :]]
    starts, positions = ([one[0] for one in part] for part in (arcs, exceptions))
    if (
        len(exceptions) != number(count)
        or number(sequence) == 0
        or starts[:1] != [bytes(8)]
        or any(a >= b for part in (starts, positions) for a, b in zip(part, part[1:]))
        or any(a[1] == b[1] for a, b in zip(arcs, arcs[1:]))
        or any(day >= arc(arcs, at) for at, day in exceptions)
    ):
        raise Wrong("ledger: arcs or exceptions are not in canonical form")
    return hexadecimal(chain, 32), number(sequence), arcs, dict(exceptions)


def arc(arcs, at):
    return [day for start, day in arcs if start <= at][-1]


def last_read(ledger, at):
    _, _, arcs, exceptions = ledger
    return exceptions.get(at, arc(arcs, at))


def read_pin(key, text):
    """Returns the chain, the sequence number, the manifest's seal and the ledger's number."""
    labels = b"chain: ", b"sequence: ", b"manifest: ", b"ledger: "
    chain, sequence, seal, ledger = fields(head(key, text, "pin", FIRST[1]), *labels)
    return hexadecimal(chain, 32), number(sequence), hexadecimal(seal, 32), number(ledger)


def blocks(page):
    return re.findall(r"```text\n(.*?)```", (DOCS / page).read_text(), re.S)


def examples(key):
    """Returns the ledger and the pin of the page."""
    chain = b"chain: " + bytes(range(0x20, 0x40)).hex().encode()
    identity = f"key id: {key.id}".encode()
    exception = position(key, NAMES[2]).hex().encode() + b" -"
    arcs = b"0000000000000000 2026-11-21", b"2492492492492492 2026-11-22", b"4924924924924924 -"
    lines = FIRST[0], identity, chain, b"sequence: 2", b"arcs: 3", *arcs
    ledger = *lines, b"exceptions: 1", exception
    manifest = b"manifest: " + bytes(range(0x40, 0x60)).hex().encode()
    pin = FIRST[1], identity, chain, b"sequence: 3", manifest, b"ledger: 2"
    return key.close(ledger), key.close(pin)


def main(arguments):
    if len(arguments) > 1:
        key = Key(pathlib.Path(arguments[0]).read_text())
        ledger = read_ledger(key, pathlib.Path(arguments[1]).read_bytes())
        for name in arguments[2:]:
            print(last_read(ledger, position(key, name.encode("utf-8", "surrogateescape"))) or "-")
        return
    key = Key(blocks("key-file.md")[0])
    texts = examples(key)
    read_ledger(key, texts[0]), read_pin(key, texts[1])
    if arguments == ["--make"]:
        sys.stdout.buffer.write(b"\n".join(texts))
        for name in NAMES:
            print(f"{position(key, name).hex()}  {name}")
        return
    if blocks("ledger.md") != [text.decode() for text in texts]:
        raise Wrong("ledger.md has other examples")
    page = (DOCS / "ledger.md").read_text()
    for name in NAMES:
        if position(key, name).hex() not in page:
            raise Wrong(f"ledger.md has another position of {name}")
    print("the examples of ledger.md are right")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Wrong as wrong:
        sys.exit(f"ledger.py: {wrong}")
