"""The algorithm names of this library, and the reference for each.

    PMAC-AES128|192|256
    LIGHTMAC-AES128|192|256-S8|S16|..|S64    key K1 || K2
    ELIMAC-AES128                            key K1 || K2

A new reference adds its names here. `check_vectors.py` and `generate.py` then
know it.
"""

from dataclasses import dataclass
from functools import partial
from typing import Callable

from elimac import elimac
from lightmac import lightmac
from pmac import pmac


@dataclass(frozen=True)
class Algorithm:
    key_bytes: int
    # (key, message, tag_bits, bits) -> tag. `bits` is the length of the
    # message, or None if it is whole bytes.
    tag: Callable[..., bytes]
    max_bytes: int | None = None  # the longest message, where tests can reach it

    def __call__(self, key, message, tag_bits=128, bits=None):
        # An AES-192 key is no key for PMAC-AES128, though pmac() takes it.
        if len(key) != self.key_bytes:
            raise ValueError(f"key: {len(key)} bytes, want {self.key_bytes}")
        return self.tag(key, message, tag_bits, bits)


def light(s, key, message, tag_bits, bits):
    return lightmac(key, message, s, tag_bits, bits)


ALGORITHMS = {}
for size in (128, 192, 256):
    ALGORITHMS[f"PMAC-AES{size}"] = Algorithm(size // 8, pmac)
    for s in range(8, 65, 8):
        limit = 2**s * (128 - s) // 8
        ALGORITHMS[f"LIGHTMAC-AES{size}-S{s}"] = Algorithm(
            2 * size // 8, partial(light, s), limit if limit < 1 << 16 else None
        )
ALGORITHMS["ELIMAC-AES128"] = Algorithm(32, elimac)
