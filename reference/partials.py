#!/usr/bin/env python3
"""Opens the partial in ../docs/formats/partials.md as specified there, and checks
that it belongs to the message on that page.

    seal   = nonce || C || Poly1305(..), by XChaCha20-Poly1305
    subkey = HChaCha20(key, nonce[:16])
    pad    = ChaCha20(subkey, 0^4 || nonce[16:]), whose block 0 keys Poly1305

Source: RFC 8439, Sections 2.1 to 2.8, for ChaCha20-Poly1305;
draft-irtf-cfrg-xchacha-03, Section 2, for the longer nonce; RFC 5869 for HKDF.
"""

import hmac
import pathlib
import struct

import aes
from blocks import cut
from pmac import offsets
from poly1305 import poly1305

MASK = 2**32 - 1
ROUNDS = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)]
ROUNDS += [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]


def start(key, rest):
    """Returns the state of 16 words: four constants, the key, and 16 more bytes."""
    return list(struct.unpack("<16I", b"expand 32-byte k" + key + rest))


def twenty_rounds(state):
    x = list(state)
    for _ in range(10):
        for a, b, c, d in ROUNDS:
            for to, plus, turned, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                x[to] = (x[to] + x[plus]) & MASK
                mixed = x[turned] ^ x[to]
                x[turned] = (mixed << by | mixed >> (32 - by)) & MASK
    return x


def chacha20(key, counter, nonce):
    """Returns block `counter` of the key stream."""
    state = start(key, struct.pack("<I", counter) + nonce)
    words = [(a + b) & MASK for a, b in zip(state, twenty_rounds(state))]
    return struct.pack("<16I", *words)


def hchacha20(key, nonce):
    words = twenty_rounds(start(key, nonce))
    return struct.pack("<8I", *words[:4], *words[12:])


def opened(key, about, sealed):
    """Returns the sealed text, or raises an error."""
    nonce, text, tag = sealed[:24], sealed[24:-16], sealed[-16:]
    key, nonce = hchacha20(key, nonce[:16]), bytes(4) + nonce[16:]
    padded = [string + bytes(-len(string) % 16) for string in (about, text)]
    message = b"".join(padded) + struct.pack("<QQ", len(about), len(text))
    if poly1305(chacha20(key, 0, nonce)[:32], message) != tag:
        raise ValueError("the seal does not match")
    blocks = [text[i : i + 64] for i in range(0, len(text), 64)]
    stream = (chacha20(key, 1 + i, nonce) for i in range(len(blocks)))
    return b"".join(bytes(a ^ b for a, b in zip(*pair)) for pair in zip(blocks, stream))


def hkdf(salt, key, info):
    """Returns the first 32 bytes of HKDF-SHA256."""
    return hmac.digest(hmac.digest(salt, key, "sha256"), info + b"\1", "sha256")


def counted(string):
    return struct.pack("<Q", len(string)) + string


def pmac_sum(E, first, blocks):
    """Returns the xor of the terms of `blocks`; `first` is the number of the first block."""
    M, _ = cut(blocks + b"\0", 8 * len(blocks) + 8, E.n, len(blocks) * 8 // E.n)
    total = 0
    for M_i, Offset in zip(M, offsets(E, first + len(M))[first - 1 :]):
        total ^= E.encrypt(M_i ^ Offset)
    return total.to_bytes(E.n // 8, "big")


def main():
    page = pathlib.Path(__file__).parent.parent / "docs/formats/partials.md"
    partial = bytes.fromhex(page.read_text().split("```hex\n")[1].split("```")[0])
    key, name, object = bytes(range(16)), b"PMAC-AES128", b"photos/17.raw"
    start, blocks, tail = 1 << 20, bytes(1024), b"tail"
    id = hkdf(b"tagmac key id 2", key, name)[:8]
    end = start + len(blocks) + len(tail)
    header = b"tagmac-partial-2" + id + struct.pack("<QQBB", start, end, 1, len(name)) + name
    header += struct.pack("<H", len(object)) + object
    if not partial.startswith(header):
        raise SystemExit(f"partials.md: header: want {header.hex()}")
    sealing_key = hkdf(b"tagmac sealing key 2", key, name)
    seal, sealed = partial[len(header) :][:40], partial[len(header) + 40 :]
    opened(sealing_key, counted(b"partial header 2") + counted(header), seal)
    secret = opened(sealing_key, counted(b"partial 2") + counted(header), sealed)
    sum = pmac_sum(aes.cipher(key), start // 16 + 1, blocks)
    want = struct.pack("<QQ", start, start + len(blocks)) + sum + counted(tail)
    if secret != want:
        raise SystemExit(f"partials.md: under the seal: {secret.hex()}, want {want.hex()}")
    print("partials.md: the partial is correct")


if __name__ == "__main__":
    main()
