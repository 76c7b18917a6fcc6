"""The algorithm names of this library, and the reference for each.

    PMAC-AES128|192|256
    LIGHTMAC-AES128|192|256-S8|S16|..|S64    key K1 || K2
    ELIMAC-AES128                            key K1 || K2
    POLY1305-AES                             key k || r, nonce
    UMAC-32|64|96|128                        key K of AES-128, nonce

One more is here for its vectors, and is no MAC of the library, since its key
is good for one message:

    POLY1305                                 key r || s

A new reference adds its names here. `check_vectors.py` and `generate.py` then
know it.
"""

from dataclasses import dataclass
from functools import partial
from typing import Callable

from elimac import elimac
from lightmac import lightmac
from pmac import pmac
from poly1305 import poly1305, poly1305_aes
from umac import TAG_BYTES, umac


@dataclass(frozen=True)
class Algorithm:
    key_bytes: int
    # (key, nonce, message, tag_bits, bits) -> tag. `bits` is the length of the
    # message, or None if it is whole bytes.
    tag: Callable[..., bytes]
    max_bytes: int | None = None  # the longest message, where tests can reach it
    nonce_bytes: range | None = None  # the lengths of a nonce; None: takes none
    tag_bits: range = range(1, 129)
    bits: bool = True  # whether a message need not end on a byte

    def __call__(self, key, message, tag_bits=None, bits=None, nonce=None):
        """The tag, by default of full length."""
        # An AES-192 key is no key for PMAC-AES128, though pmac() takes it.
        if len(key) != self.key_bytes:
            raise ValueError(f"key: {len(key)} bytes, want {self.key_bytes}")
        if self.nonce_bytes is None and nonce is not None:
            raise ValueError("nonce: want none")
        if self.nonce_bytes is not None and nonce is None:
            raise ValueError("nonce: none, want one")
        if tag_bits is None:
            tag_bits = self.tag_bits[-1]
        if tag_bits not in self.tag_bits:
            least, most = self.tag_bits[0], self.tag_bits[-1]
            raise ValueError(f"tag length: {tag_bits} bits, want {least} to {most}")
        if bits is not None and not self.bits:
            raise ValueError("message: counted in bits, want bytes")
        return self.tag(key, nonce, message, tag_bits, bits)


def exactly(n):
    return range(n, n + 1)


def plain(mac, key, nonce, message, tag_bits, bits):
    return mac(key, message, tag_bits, bits)


def light(s, key, nonce, message, tag_bits, bits):
    return lightmac(key, message, s, tag_bits, bits)


def one_time(key, nonce, message, tag_bits, bits):
    return poly1305(key, message)


def poly_aes(key, nonce, message, tag_bits, bits):
    return poly1305_aes(key, nonce, message)


def wide(key, nonce, message, tag_bits, bits):
    return umac(key, message, nonce, tag_bits // 8)


ALGORITHMS = {}
for size in (128, 192, 256):
    ALGORITHMS[f"PMAC-AES{size}"] = Algorithm(size // 8, partial(plain, pmac))
    for s in range(8, 65, 8):
        limit = 2**s * (128 - s) // 8
        ALGORITHMS[f"LIGHTMAC-AES{size}-S{s}"] = Algorithm(
            2 * size // 8, partial(light, s), limit if limit < 1 << 16 else None
        )
ALGORITHMS["ELIMAC-AES128"] = Algorithm(32, partial(plain, elimac))
ALGORITHMS["POLY1305"] = Algorithm(32, one_time, tag_bits=exactly(128), bits=False)
ALGORITHMS["POLY1305-AES"] = Algorithm(
    32, poly_aes, nonce_bytes=exactly(16), tag_bits=exactly(128), bits=False
)
for size in TAG_BYTES:
    ALGORITHMS[f"UMAC-{8 * size}"] = Algorithm(
        16, wide, nonce_bytes=range(1, 17), tag_bits=exactly(8 * size), bits=False
    )
