"""A file of vectors/wycheproof, and the rows that every MAC has. `wycheproof.py` writes it.

Valid rows have pseudorandom inputs around the edges of blocks. Invalid rows have a wrong tag:
altered, truncated, of another message, key or nonce, or of a MAC with a mistake.
"""

import json
from dataclasses import dataclass, field

import wrong_macs as wrong
from algorithms import ALGORITHMS, CIPHERS
from generate import Random
from poly1305 import CLEAR
from wycheproof_flags import FLAGS, NOT_HERE

VERSION = "1"  # of the vectors: a change of any row raises it


# --- A file ---------------------------------------------------------------------


@dataclass
class File:
    """The rows of one algorithm, and the functions for its tags."""

    name: str
    groups: dict = field(default_factory=dict)
    shown: dict = field(default_factory=dict)  # how often each mistake occurs

    def __post_init__(self):
        self.mac = ALGORITHMS[self.name]
        self.random = Random(f"tagmac wycheproof {VERSION} {self.name}")
        self.takes_nonce = self.mac.nonce_bytes is not None
        self.tag_bits = self.mac.tag_bits[-1]
        # 8 bytes if the length is variable, as most users of UMAC have it.
        self.nonce_size = (8 if 8 in self.mac.nonce_bytes else 16) if self.takes_nonce else 0
        family, cipher = self.name.split("-")[:2]
        self.family = family
        if family in ("PMAC", "LIGHTMAC"):
            self.cipher = CIPHERS[cipher][1]
        self.n = 128 if "PRESENT" not in self.name else 64
        self.s = int(self.name.rsplit("-S", 1)[1]) if family == "LIGHTMAC" else 0
        # Bytes of the message in a block.
        self.block = {"UMAC": 32}.get(family, (self.n - self.s) // 8)
        # The size of a padded block.
        self.size = self.n // 8

    def key(self):
        key = self.random.bytes(self.mac.key_bytes)
        if self.family == "POLY1305":
            key = key[:16] + (wrong.le(key[16:]) & CLEAR).to_bytes(16, "little")
        return key

    def under(self, key):
        """Returns the ciphers under the key, or under K1 and K2."""
        keys = (key[: len(key) // 2], key[len(key) // 2 :]) if self.s else (key,)
        return [self.cipher(k) for k in keys]

    def nonce(self):
        return self.random.bytes(self.nonce_size) if self.takes_nonce else None

    def tag(self, key, nonce, message):
        return self.mac(key, message, nonce=nonce)

    def add(self, result, comment, flags, key, nonce, message, tag, tag_bits=None):
        """Adds a row to the group with its sizes."""
        tag_bits = tag_bits or self.tag_bits
        group = (8 * len(key), 8 * len(nonce or b""), tag_bits)
        row = {"comment": comment, "flags": [flags] if isinstance(flags, str) else flags,
               "key": key.hex()}  # fmt: skip
        if self.takes_nonce:
            row["iv"] = nonce.hex()
        row |= {"msg": message.hex(), "tag": tag.hex(), "result": result}
        rows = self.groups.setdefault(group, [])
        # Invalid rows made in two ways are the same test.
        told = ("comment", "flags")
        if result != "invalid" or not any(
            all(row[k] == other[k] for k in row if k not in told) for other in rows
        ):
            rows.append(row)

    def valid(self, comment, flags, message, key=None, nonce=None):
        key, nonce = key or self.key(), nonce or self.nonce()
        self.add("valid", comment, flags, key, nonce, message, self.tag(key, nonce, message))

    def invalid(self, comment, flags, key, nonce, message, tag):
        """Adds a row with this tag, which must not be correct."""
        assert tag != self.tag(key, nonce, message), f"{self.name}: {comment}: the tag is correct"
        self.add("invalid", comment, flags, key, nonce, message, tag)

    def json(self):
        usual = (8 * self.mac.key_bytes, 8 * self.nonce_size, self.tag_bits)
        # The group with the usual sizes first, then other nonces, keys and tags.
        order = sorted(self.groups, key=lambda g: (g[2] != usual[2], g[0] != usual[0], g != usual, -g[2], g))
        kind = "MacWithIvTest" if self.takes_nonce else "MacTest"
        groups, count, used = [], 0, set()
        for key_size, iv_size, tag_size in order:
            group = {"type": kind, "source": {"name": "tagmac", "version": VERSION}}
            if self.takes_nonce:
                group["ivSize"] = iv_size
            group |= {"keySize": key_size, "tagSize": tag_size, "tests": []}
            for row in self.groups[key_size, iv_size, tag_size]:
                count += 1
                used |= set(row["flags"])
                group["tests"].append({"tcId": count} | row)
            groups.append(group)
        schema = "mac_with_iv" if self.takes_nonce else "mac"
        header = [f"Test vectors of type {kind} are intended for testing the generation and",
                  "verification of MACs.", *NOT_HERE[self.family]]  # fmt: skip
        whole = {
            "algorithm": self.name,
            "schema": f"{schema}_test_schema_v1.json",
            "numberOfTests": count,
            "header": header,
            "notes": {flag: FLAGS[flag] for flag in sorted(used)},
            "testGroups": groups,
        }
        return json.dumps(whole, indent=2) + "\n"

    @property
    def path(self):
        return self.name.lower().replace("-", "_") + "_test.json"


# --- Rows of every MAC ------------------------------------------------------------


def lengths(f):
    """Returns lengths around the edges of blocks, and of 2 to 32 adjacent blocks."""
    edges = {0, 1, 2, 3, 4, 5, 7, 8}
    for unit in {f.block, f.size}:
        for lanes in (1, 2, 3, 4, 8, 16, 32):
            edges |= {unit * lanes - 1, unit * lanes, unit * lanes + 1}
            # One more block, because the last one is kept for the end.
            edges |= {unit * (lanes + 1), unit * (lanes + 1) + 1}
    if f.family == "UMAC":
        edges |= {1024 + d for d in (-33, -32, -1, 0, 1, 31, 32, 33)}
        edges |= {c + d for c in (2048, 3072) for d in (-1, 0, 1)}
        edges -= {length for length in edges if length > 3073}
    return sorted(length for length in edges if f.mac.max_bytes is None or length <= f.mac.max_bytes)


def kind_of(length):
    return "empty message" if not length else "short message" if length <= 64 else "long message"


def pseudorandom(f):
    for length in lengths(f):
        comment = f"{kind_of(length)}: {length} bytes"
        f.valid(comment, "Pseudorandom", f.random.bytes(length))
    for byte in (0, 0xFF):
        for length in (1, f.block - 1, f.block, f.block + 1, 2 * f.size, 16 * f.block, 17 * f.block + 1):
            f.valid(f"{length} bytes {byte:02x}", "RepeatedByte", bytes([byte]) * length)
    for byte in (0, 0xFF):
        key = bytes([byte]) * f.mac.key_bytes
        for length in (0, f.size - 1, f.size, 5 * f.size):
            flags = "RepeatedByte" if f.family in ("PMAC", "UMAC") else ["RepeatedByte", "DependentKeys"]
            message, nonce = bytes([byte]) * length, f.nonce()
            if f.family == "POLY1305" and byte:
                continue  # r is not clamped: such rows are among the edges
            result = "acceptable" if f.family in ("LIGHTMAC", "ELIMAC") else "valid"
            if f.family == "POLY1305":
                flags = ["RepeatedByte", "ZeroR"]
            f.add(result, f"all bits of the key {byte & 1}, {length} bytes", flags, key, nonce, message,
                  f.tag(key, nonce, message))  # fmt: skip


def flipped(tag, *bits):
    """Flips bits; bit 0 is the lowest of the first byte, as in Wycheproof."""
    tag = bytearray(tag)
    for bit in bits:
        tag[bit // 8] ^= 1 << bit % 8
    return bytes(tag)


def altered_tags(f, key, nonce, message):
    tag = f.tag(key, nonce, message)
    bits, size = 8 * len(tag), len(tag)
    row = lambda comment, wrong_tag, flag="ModifiedTag": wrong_tag != tag and f.invalid(
        comment, flag, key, nonce, message, wrong_tag)  # fmt: skip
    for bit in (0, 1, 7, 8, 31, 32, 33, 63, 64, 71, 77, 80, 95, 96, 97, 103, 120, 121, 126, 127):
        if bit < bits:
            row(f"Flipped bit {bit} in tag", flipped(tag, bit))
    for one, two in ((0, 64), (31, 63), (63, 127), (7, bits - 1)):
        if two < bits:
            row(f"Flipped bits {one} and {two} in tag", flipped(tag, one, two))
    row("all bits of tag flipped", bytes(b ^ 0xFF for b in tag))
    row("tag changed to all zero", bytes(size))
    row("tag changed to all 1", b"\xff" * size)
    row("msbs changed in tag", bytes(b ^ 0x80 for b in tag))
    row("lsbs changed in tag", bytes(b ^ 1 for b in tag))
    row("bytes of the tag reversed", tag[::-1])
    row("halves of the tag exchanged", tag[size // 2 :] + tag[: size // 2])
    row("bytes xor to the right ones, but in the wrong places", tag[1:] + tag[:1])
    # Truncated and extended.
    for length in sorted({0, 1, size // 2, size - 1}):
        comment = "empty tag" if not length else f"first {length} bytes of the tag"
        row(comment, tag[:length], "TruncatedTag")
    row("last half of the tag", tag[size // 2 :], "TruncatedTag")
    row("tag with a trailing byte 00", tag + b"\0", "ExtendedTag")
    row("tag with a leading byte 00", b"\0" + tag, "ExtendedTag")
    row("the tag twice", tag + tag, "ExtendedTag")
    row("tag in hexadecimal", tag.hex().encode(), "ExtendedTag")


def altered(f):
    for length in (0, 2 * f.block + 5):
        altered_tags(f, f.key(), f.nonce(), f.random.bytes(length))


def other_messages(f):
    """Adds rows with the correct tag of another message or key."""
    for blocks, rest in ((3, 0), (4, 3), (9, 1)):
        key, nonce = f.key(), f.nonce()
        message = f.random.bytes(f.block * blocks + rest)
        tag = f.tag(key, nonce, message)
        row = lambda comment, other, flag="ModifiedMessage": f.invalid(comment, flag, key, nonce, other, tag)
        for bit in (0, 8 * len(message) - 1, 4 * len(message)):
            row(f"Flipped bit {bit} in message", flipped(message, bit))
        row("empty message under the tag of another", b"")
        row("last byte of the message missing", message[:-1])
        row("first byte of the message missing", message[1:])
        row("last block of the message missing", message[: -f.block])
        for end in (b"\0", b"\x80", b"\1", bytes(f.block), b"\x80" + bytes(f.block - 1)):
            row(f"{len(end)} bytes {end[0]:02x} 00 .. after the message" if len(end) > 1 else
                f"a byte {end.hex()} after the message", message + end)  # fmt: skip
        row("a byte 00 before the message", b"\0" + message)
        parts = wrong.pieces(message, f.block)
        moved = lambda *order: b"".join(parts[i] for i in order) + b"".join(parts[len(order) :])
        row("blocks 1 and 2 exchanged", moved(1, 0), "BlockOrder")
        row("blocks 2 and 3 exchanged", moved(0, 2, 1), "BlockOrder")
        row("blocks 1, 2, 3 in the order 3, 1, 2", moved(2, 0, 1), "BlockOrder")
        twice = parts[0] * 2 + message
        row("block 1 twice more, so that equal terms may cancel", twice, "RepeatedBlock")
        row("two equal blocks after the others", message + 2 * parts[1], "RepeatedBlock")
        other = f.key()
        f.invalid("tag of another key", "WrongKey", key, nonce, message, f.tag(other, nonce, message))
    # Swapped words of vectors: a lane mistaken for its neighbour.
    for lanes in (4, 8, 16):
        key, nonce = f.key(), f.nonce()
        message = f.random.bytes(f.block * (2 * lanes + 1))
        parts = wrong.pieces(message, f.block)
        swapped = b"".join(parts[lanes : 2 * lanes] + parts[:lanes] + parts[2 * lanes :])
        f.invalid(f"the first {lanes} blocks exchanged with the next {lanes}", "BlockOrder", key, nonce,
                  swapped, f.tag(key, nonce, message))  # fmt: skip


def padding_confusion(f):
    """Adds a message and its padded form, each with the tag of the other."""
    ends = {"UMAC": [b"\0", bytes(3)], "POLY1305": [b"\1", b"\0", b"\1" + bytes(7)]}
    for blocks in (0, 1, 4):
        for rest in sorted({0, f.block // 2, f.block - 1, f.size - 1}):
            short = f.random.bytes(f.block * blocks + rest)
            full = f.size if f.family in ("LIGHTMAC",) else f.block
            fill = full - len(short[f.block * blocks :])
            marked = [b"\x80" + bytes(fill - 1), b"\x80", bytes(fill), b"\1" + bytes(fill - 1)]
            for end in ends.get(f.family, marked):
                key, nonce = f.key(), f.nonce()
                for one, other, what in ((short, short + end, "padded"), (short + end, short, "unpadded")):
                    f.invalid(f"tag of the message {what} with {end.hex()}", "PaddingConfusion", key, nonce,
                              one, f.tag(key, nonce, other))  # fmt: skip


def resized(key, size):
    return key[:size] + bytes(max(0, size - len(key)))


def key_sizes(f):
    aes_sizes = {16, 24, 32} if "AES" in f.name or f.family == "UMAC" else {10, 16}
    taken = {s * (2 if f.family in ("LIGHTMAC", "ELIMAC") else 1) for s in aes_sizes}
    right = f.mac.key_bytes
    for size in sorted({0, 1, 8, right - 1, right + 1, 20, right // 2, 2 * right} - taken - {right}):
        # The tag of a library that truncates the key or fills it with zeros.
        key, nonce, message = f.random.bytes(size), f.nonce(), f.random.bytes(f.block + 1)
        used = resized(key, right)
        f.add("invalid", f"key of {size} bytes, the tag of the key cut or filled with zeros",
              "InvalidKeySize", key, nonce, message, f.tag(used, nonce, message))  # fmt: skip
    if f.family in ("LIGHTMAC", "ELIMAC"):
        key, message = f.random.bytes(right // 2), f.random.bytes(3 * f.block + 1)
        f.add("invalid", "one key for both", ["InvalidKeySize", "DependentKeys"], key, None, message,
              f.tag(key * 2, None, message))  # fmt: skip
        for length in (0, f.block, 3 * f.block + 1):
            message = f.random.bytes(length)
            f.add("acceptable", f"K1 = K2, {length} bytes", "DependentKeys", key * 2, None, message,
                  f.tag(key * 2, None, message))  # fmt: skip


def nonces(f):
    message = f.random.bytes(45)
    last = f.nonce()[:-1]
    for low in range(4):
        key, nonce = f.key(), last + bytes([0xF4 + low])
        tag = f.tag(key, nonce, message)
        for other in range(-1, 5):
            neighbour = last + bytes([0xF4 + other])
            if other != low:
                f.invalid(f"tag of the nonce that ends on {0xF4 + low:02x}", "WrongNonce", key, neighbour,
                          message, tag)  # fmt: skip
        for bit in (0, 8 * f.nonce_size - 1, 4 * f.nonce_size):
            f.invalid(f"Flipped bit {bit} in nonce", "WrongNonce", key, flipped(nonce, bit), message, tag)
        f.invalid("nonce reversed", "WrongNonce", key, nonce[::-1], message, tag)
        f.valid(f"nonce that ends on {0xF4 + low:02x}", "NeighbouringNonce", message, key, nonce)
    for nonce in (bytes(f.nonce_size), b"\xff" * f.nonce_size, bytes(f.nonce_size - 1) + b"\1"):
        f.valid(f"nonce {nonce.hex()}", "EdgeCaseNonce", message, None, nonce)
    key = f.key()
    for size in (0, 8, 12, 15, 17, 24):
        if size in f.mac.nonce_bytes:
            continue
        nonce = f.random.bytes(size)
        used = resized(nonce, 16)
        f.add("invalid", f"nonce of {size} bytes, the tag of the nonce cut or filled with zeros",
              "InvalidNonceSize", key, nonce, message, f.tag(key, used, message))  # fmt: skip
    if f.family != "UMAC":
        return
    for size in range(1, 17):
        for length in (0, 45):
            f.valid(f"nonce of {size} bytes", "NonceSize", f.random.bytes(length), None, f.random.bytes(size))
    # Zeros after a nonce change nothing except the place of a short tag in its block.
    start = f.random.bytes(3)[:-1] + b"\x40"
    for nonce in (start, start + b"\0", start.ljust(16, b"\0")):
        f.valid("nonces that are equal after padding", "NoncePadding", message, key, nonce)


def short_tags(f):
    """Adds groups where the truncated tag is the correct one."""
    for size in sorted({f.size // 2, f.size * 3 // 4, 4} - {f.size}, reverse=True):
        bits = 8 * size
        for length in (0, 1, f.block - 1, f.block, f.block + 1, 8 * f.size + 1):
            key, message = f.key(), f.random.bytes(length)
            tag = f.mac(key, message, bits)
            f.add("valid", f"tag of {size} bytes, {length} bytes", "ShortTag", key, None, message, tag, bits)
        whole = f.tag(key, None, message)
        for comment, other, flag in (
            ("the whole tag", whole, "ExtendedTag"),
            ("a byte too many", whole[: size + 1], "ExtendedTag"),
            ("a byte too few", tag[:-1], "TruncatedTag"),
            ("empty tag", b"", "TruncatedTag"),
            ("last bytes of the whole tag", whole[-size:], "ModifiedTag"),
            ("Flipped bit 0 in tag", flipped(tag, 0), "ModifiedTag"),
            (f"Flipped bit {bits - 1} in tag", flipped(tag, bits - 1), "ModifiedTag"),
            ("tag changed to all zero", bytes(size), "ModifiedTag"),
        ):
            assert other != tag
            f.add("invalid", comment, flag, key, None, message, other, bits)


def mistakes(f, rows, tag, cases, most=3):
    """Adds each mistake with the first of `cases` (key, nonce, message) that shows it."""
    for comment, flag, function in rows:
        shown = 0
        for key, nonce, message in cases:
            found = tag(function, key, nonce, message)
            if found is None or found == f.tag(key, nonce, message) or shown == most:
                continue
            shown += 1
            f.invalid(f"{comment}; {len(message)} bytes", flag, key, nonce, message, found)
        f.shown[comment] = f.shown.get(comment, 0) + shown


def cases(f, sizes):
    return [(f.key(), f.nonce(), f.random.bytes(size)) for size in sizes]
