#!/usr/bin/env python3
"""Reads a manifest of objects, as specified in ../docs/formats/object-manifest.md,
with only hashlib and hmac.

    object_manifest.py                   checks the example of that page
    object_manifest.py --make            prints that example
    object_manifest.py KEYFILE FOLDER    prints the entries of a manifest's
                                         shards in order, after checking all

No part of a file is used before its seal is checked. Versions 1 and 2 are read, and version 2
is written.

    seal = HMAC-SHA256(manifest key, everything before "seal: ")
    manifest key = HKDF-SHA256(salt "tagmac manifest key 2", K, algorithm)
"""

import datetime
import hashlib
import hmac
import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).parent.parent / "docs/formats"
FULL = 65536
ESCAPES = {b"\\": b"\\\\", b"\t": b"\\t", b"\n": b"\\n", b"\r": b"\\r"}


class Wrong(Exception):
    """One line that describes the fault."""


def hkdf(salt, key, info):
    """Returns the first 32 bytes of HKDF-SHA256."""
    return hmac.digest(hmac.digest(salt, key, "sha256"), info + b"\1", "sha256")


class Key:
    """The contents of a key file, and the manifest key."""

    def __init__(self, text, bits=None):
        fields = dict(line.split(": ") for line in text.splitlines()[1:])
        self.bytes, self.algorithm, self.id = (
            bytes.fromhex(fields["key"]),
            fields["algorithm"],
            fields["id"],
        )
        self.bits = bits
        self.manifest = hkdf(b"tagmac manifest key 2", self.bytes, self.algorithm.encode())

    def head(self, kind, version=2):
        lines = f"tagmac-object-{kind}-{version}", f"algorithm: {self.algorithm}", f"bits: {self.bits}"
        return [line.encode() for line in (*lines, f"key id: {self.id}")]

    def seal(self, body):
        return hmac.digest(self.manifest, body, "sha256").hex().encode()

    def close(self, lines):
        body = b"".join(line + b"\n" for line in lines)
        return body + b"seal: " + self.seal(body) + b"\n"

    def open(self, text, name):
        """Returns the lines above the seal, after checking the seal."""
        body, seal = text[:-71], text[-71:]
        if not re.fullmatch(rb"seal: [0-9a-f]{64}\n", seal) or body[-1:] != b"\n":
            raise Wrong(f"{name}: the last line is not a seal")
        if not hmac.compare_digest(self.seal(body), seal[6:-1]):
            raise Wrong(f"{name}: the seal does not match")
        return body.split(b"\n")[:-1], seal[6:-1]


def escape(name):
    return b"".join(ESCAPES.get(byte, byte) for byte in re.findall(rb"(?s).", name))


def unescape(text, most=4096):
    plain = {escaped: byte for byte, escaped in ESCAPES.items()}
    name = re.sub(rb"(?s)\\.?", lambda found: plain.get(found[0], b""), text)
    if escape(name) != text or not 1 <= len(name) <= most:
        raise Wrong(f"expected a name, found {text!r}")
    return name


def day(text):
    """Returns a day, checked to be one of the calendar."""
    found = text.decode(errors="replace")
    if not re.fullmatch(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) or found < "1970":
        raise Wrong(f"expected a day, found {text!r}")
    try:
        datetime.date.fromisoformat(found)
    except ValueError:
        raise Wrong(f"expected a day, found {text!r}") from None
    return text


def number(text):
    if not re.fullmatch(rb"0|[1-9][0-9]{0,19}", text) or int(text) >= 1 << 64:
        raise Wrong(f"expected a number, found {text!r}")
    return int(text)


def hexadecimal(text, size):
    if not re.fullmatch(rb"[0-9a-f]{%d}" % (2 * size), text):
        raise Wrong(f"expected {size} bytes in hex, found {text!r}")
    return bytes.fromhex(text.decode())


def entry(line, bits, version):
    """Returns the size, nonce, tag, day, stamp and name of an entry. The tag is None for an archived
    object; the day and the stamp are None if they are not known.
    """
    columns = line.split(b"\t")
    if len(columns) != (4 if version == 1 else 6):
        raise Wrong(f"expected the columns of an entry, found {line!r}")
    size, nonce, tag, *more, name = columns
    read, stamp = more or (b"-", b"-")
    read = None if read == b"-" else day(read)
    stamp = None if stamp == b"-" else unescape(stamp, 1024)
    nonce = b"" if nonce == b"-" else hexadecimal(nonce, len(nonce) // 2)
    if tag == b"-" and version == 2:
        if nonce or read:
            raise Wrong(f"an archived object has a nonce or a day: {line!r}")
        return number(size), nonce, None, read, stamp, unescape(name)
    tag = hexadecimal(tag, (bits + 7) // 8)
    if bits % 8 and tag[-1] << bits % 8 & 0xFF:
        raise Wrong(f"expected a tag of {bits} bits, found {tag.hex()}")
    return number(size), nonce, tag, read, stamp, unescape(name)


def line_of(entry, version=2):
    """Returns the line of an entry."""
    size, nonce, tag, read, stamp, name = entry
    columns = [b"%d" % size, nonce.hex().encode() or b"-", b"-" if tag is None else tag.hex().encode()]
    if version == 2:
        columns += [read or b"-", b"-" if stamp is None else escape(stamp)]
    return b"\t".join([*columns, escape(name)])


def record(line):
    """Returns the number, length, entries, bytes, seal, first and last name of a shard."""
    *numbers, seal, first, last = line.split(b"\t")
    shard, length, entries, total = map(number, numbers)
    hexadecimal(seal, 32)
    return shard, length, entries, total, seal, unescape(first), unescape(last)


def file_name(record):
    return f"shard-{record[0]:08}-{record[4][:16].decode()}"


def ascending(names):
    return all(a < b for a, b in zip(names, names[1:]))


def labelled(lines, label):
    """Removes the first line, and returns what follows its label."""
    if len(lines) < 4 or not lines[0].startswith(label):
        raise Wrong(f"root: expected a line that begins with {label!r}")
    return lines.pop(0)[len(label) :]


def count(text, most):
    if number(text) > most:
        raise Wrong(f"root: expected at most {most} lines, found {text!r}")
    return int(text)


def link(text):
    """Returns the number, day and seal of an earlier manifest."""
    found = text.split(b" ")
    if len(found) != 3 or (number(found[0]) == 0) != (found[1] == b"-"):
        raise Wrong(f"root: expected a number, a day and a seal, found {text!r}")
    if found[1] != b"-":
        day(found[1])
    hexadecimal(found[2], 32)
    return number(found[0]), found[1], found[2]


def read_chain(lines):
    """Removes the lines between the key and the records. Returns the sequence number, the day, the
    first seal and the links of the chain, and the filters.
    """
    if labelled(lines, b"options: ") not in (b"none", b"listed"):
        raise Wrong("root: unknown options")
    sequence, _, today = labelled(lines, b"sequence: ").partition(b" ")
    sequence, today, first = number(sequence), day(today), labelled(lines, b"first: ")
    links = [link(labelled(lines, b"")) for _ in range(count(labelled(lines, b"links: "), 4096))]
    numbers = [sequence, *(one[0] for one in links)]
    if first != b"-":
        hexadecimal(first, 32)
    if (
        sequence < 1
        or [one - 1 for one in numbers[:-1]] != numbers[1:]
        or (first == b"-") != (not links)
        or (sequence > 1 and not links)
        or (links and len(links) < 4096 and (links[-1][0] > 1 or links[-1][2] != first))
    ):
        raise Wrong("root: the links do not lead to the first manifest")
    filters = [labelled(lines, b"") for _ in range(count(labelled(lines, b"filters: "), 1024))]
    return sequence, today, first, links, [unescape(each) for each in filters]


def read_root(key, text):
    """Returns the version and the records of a root. The key then has the root's tag length."""
    found = re.match(rb"tagmac-object-root-([12])\n.*\nbits: ([1-9][0-9]{0,3})\n", text)
    lines, _ = key.open(text, "root")
    if found is None:
        raise Wrong("root: not the root of a manifest")
    version = int(found[1])
    if key.bits is None:
        key.bits = int(found[2])
    head, lines = lines[:4], lines[4:]
    if version == 2:
        read_chain(lines)
    records = [record(line) for line in lines[:-3]]
    ends = [name for one in records for name in dict.fromkeys(one[5:])]
    sums = [sum(one[i] for one in records) for i in (2, 3)]
    totals = b"shards: %d", b"entries: %d", b"bytes: %d"
    if (
        head != key.head("root", version)
        or [one[0] for one in records] != list(range(len(records)))
        or not all(one[2] == FULL for one in records[:-1])
        or not all(1 <= one[2] <= FULL and (one[2] == 1) == (one[5] == one[6]) for one in records)
        or not ascending(ends)
        or lines[-3:] != [a % b for a, b in zip(totals, (len(records), *sums))]
    ):
        raise Wrong("root: not the root of a manifest")
    return version, records


def read_shard(key, version, record, text):
    """Returns the entries of the shard that a record describes."""
    shard, length, count, total, seal, first, last = record
    name = file_name(record)
    if len(text) != length:
        raise Wrong(f"{name}: expected {length} bytes, found {len(text)}")
    lines, found = key.open(text, name)
    if found != seal:
        raise Wrong(f"{name}: not the shard that the root names")
    entries = [entry(line, key.bits, version) for line in lines[5:-2]]
    names = [one[-1] for one in entries]
    if (
        lines[:5] != [*key.head("shard", version), b"shard: %d" % shard]
        or lines[-2:] != [b"entries: %d" % count, b"bytes: %d" % total]
        or (len(entries), sum(one[0] for one in entries)) != (count, total)
        or not ascending(names)
        or [names[0], names[-1]] != [first, last]
    ):
        raise Wrong(f"{name}: the entries differ from the root's record")
    return entries


def make(key, entries, chain):
    """Returns the files of the manifest of sorted entries, by name. `chain` has the lines of the
    options, the chain and the filters.
    """
    files, records = {}, []
    for start in range(0, len(entries), FULL):
        some = entries[start : start + FULL]
        lines = [*key.head("shard"), b"shard: %d" % len(records)]
        lines += map(line_of, some)
        total = sum(one[0] for one in some)
        lines += [b"entries: %d" % len(some), b"bytes: %d" % total]
        text = key.close(lines)
        names = some[0][-1], some[-1][-1]
        records.append((len(records), len(text), len(some), total, text[-65:-1], *names))
        files[file_name(records[-1])] = text
    lines = [*key.head("root"), *chain]
    for *numbers, seal, first, last in records:
        columns = *(b"%d" % one for one in numbers), seal, escape(first), escape(last)
        lines.append(b"\t".join(columns))
    lines.append(b"shards: %d" % len(records))
    lines += [b"entries: %d" % len(entries), b"bytes: %d" % sum(one[0] for one in entries)]
    files["root"] = key.close(lines)
    return files


def read(key, files):
    """Returns all entries of a manifest. `files` returns the bytes of a file by name."""
    version, records = read_root(key, files("root"))
    for one in records:
        yield from read_shard(key, version, one, files(file_name(one)))


def make_second(key, entries):
    """Returns the files of the second manifest of a chain. The first has the same entries, all read
    on an earlier day.
    """
    before, after = b"2026-11-27", b"2026-11-28"
    filters = [b"filters: 1", b"*.tmp"]
    chain = [b"options: none", b"sequence: 1 " + before, b"first: -", b"links: 0", *filters]
    first = make(key, [(*one[:3], before, *one[4:]) for one in entries], chain)["root"][-65:-1]
    link = [b"first: " + first, b"links: 1", b"1 " + before + b" " + first]
    return make(key, entries, [b"options: none", b"sequence: 2 " + after, *link, *filters])


def stamp(content):
    """The ETag of an object that was uploaded in one part."""
    return b'"%s"' % hashlib.md5(content).hexdigest().encode()


def check_page():
    from algorithms import ALGORITHMS

    page = (DOCS / "object-manifest.md").read_text()
    key_text = (DOCS / "key-file.md").read_text().split("```text\n")[1].split("```")[0]
    blocks = re.findall(r"`([a-z0-9-]+)`:\n\n```text\n(.*?)```", page, re.S)
    shown = {name: text.encode() for name, text in blocks}
    key = Key(key_text, 128)
    contents = {b"a\\b": b"\0\1\2", b"photos/caf\xc3\xa9": b"", b"to\ttab": b"tag me"}
    pmac = ALGORITHMS["PMAC-AES128"]
    days = b"2026-11-27", b"2026-11-27", b"2026-11-28"
    want = [
        (len(content), b"", pmac(key.bytes, content, 128), read, stamp(content), name)
        for read, (name, content) in zip(days, sorted(contents.items()))
    ]
    made = make_second(key, want)
    if "--make" in sys.argv:
        for name, text in sorted(made.items()):
            print(f"`{name}`:\n\n```text\n{text.decode()}```\n")
        return
    if made != shown:
        raise SystemExit("object-manifest.md: the example is outdated: see --make")
    if list(read(Key(key_text), shown.__getitem__)) != want:
        raise SystemExit("object-manifest.md: the example has other entries")
    refused = 0
    for name, text in shown.items():
        for at in range(len(text)):
            bad = dict(shown)
            bad[name] = text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :]
            try:
                list(read(Key(key_text), bad.__getitem__))
            except Wrong:
                refused += 1
    if refused != sum(map(len, shown.values())):
        raise SystemExit("object-manifest.md: a changed byte was not detected")
    print(f"object-manifest.md: the example is correct, and {refused} changes of it are detected")


def main(key_file, folder):
    key = Key(pathlib.Path(key_file).read_text())
    for one in read(key, lambda name: (pathlib.Path(folder) / name).read_bytes()):
        sys.stdout.buffer.write(line_of(one) + b"\n")


if __name__ == "__main__":
    try:
        check_page() if len(sys.argv) < 3 else main(*sys.argv[1:])
    except Wrong as wrong:
        raise SystemExit(str(wrong))
