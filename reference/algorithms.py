"""The algorithm names of this library, and the reference for each.

    PMAC-AES128|192|256
    PMAC-PRESENT80|PRESENT128|RC6
    LIGHTMAC-AES128|192|256-S8|S16|..|S64    key K1 || K2
    LIGHTMAC-PRESENT80|128-S8|S16|S24|S32    key K1 || K2
    CMAC-AES128|192|256|PRESENT80|PRESENT128|RC6
    ELIMAC-AES128                            key K1 || K2
    POLY1305-AES                             key k || r, nonce
    UMAC-32|64|96|128                        key K of AES-128, nonce
    UMAC99-STD-30|60, UMAC99-MMX-15|30|60    key of 16 bytes, nonce

The names of UMAC99 are sets of parameters from 1999, and UMAC-32 and so on are
RFC 4418.

One more is here only for its vectors. It is not a MAC of the library, since its
key must be used only once:

    POLY1305                                 key r || s

Names of a new reference go here. `check_vectors.py` and `generate.py` then
support it.
"""

from dataclasses import dataclass
from functools import partial
from typing import Callable

import aes
import present
import rc6
from cmac import cmac
from elimac import elimac
from lightmac import lightmac
from pmac import pmac
from poly1305 import poly1305, poly1305_aes
from umac import TAG_BYTES, umac
from umac99 import LEAST_TAG_BYTES, NAMED, PRFS, umac99

# name -> (key bytes, function from a key to a cipher)
CIPHERS = {
    "AES128": (16, aes.cipher),
    "AES192": (24, aes.cipher),
    "AES256": (32, aes.cipher),
    "PRESENT80": (10, present.cipher),
    "PRESENT128": (16, present.cipher),
    "RC6": (16, rc6.cipher),
}


@dataclass(frozen=True)
class Algorithm:
    key_bytes: int
    # (key, nonce, message, tag_bits, bits) -> tag. `bits` is the length of the
    # message, or None if it is whole bytes.
    tag: Callable[..., bytes]
    max_bytes: int | None = None  # the longest message, if tests can reach it
    nonce_bytes: range | None = None  # the lengths of a nonce; None: no nonce
    tag_bits: range = range(1, 129)
    bits: bool = True  # whether a message may end within a byte

    def __call__(self, key, message, tag_bits=None, bits=None, nonce=None):
        """Returns the tag, by default at full length."""
        # pmac() would accept an AES-192 key for PMAC-AES128.
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
            steps = f" in steps of {self.tag_bits.step}" if self.tag_bits.step > 1 else ""
            raise ValueError(
                f"tag length: {tag_bits} bits, want {least} to {most}{steps}"
            )
        if bits is not None and not self.bits:
            raise ValueError("message: counted in bits, want bytes")
        return self.tag(key, nonce, message, tag_bits, bits)


def exactly(n):
    return range(n, n + 1)


def two(cipher, key):
    """Returns the ciphers under K1 and K2 of the key K1 || K2."""
    half = len(key) // 2
    return cipher(key[:half]), cipher(key[half:])


def parallel(cipher, key, nonce, message, tag_bits, bits):
    return pmac(cipher(key), message, tag_bits, bits)


def chained(cipher, key, nonce, message, tag_bits, bits):
    return cmac(cipher(key), message, tag_bits, bits)


def light(cipher, s, key, nonce, message, tag_bits, bits):
    return lightmac(*two(cipher, key), message, s, tag_bits, bits)


def extremely_light(key, nonce, message, tag_bits, bits):
    return elimac(key, message, tag_bits, bits)


def one_time(key, nonce, message, tag_bits, bits):
    return poly1305(key, message)


def poly_aes(key, nonce, message, tag_bits, bits):
    return poly1305_aes(key, nonce, message)


def wide(key, nonce, message, tag_bits, bits):
    return umac(key, message, nonce, tag_bits // 8)


def first_umac(parameters, key, nonce, message, tag_bits, bits):
    return umac99(parameters, key, message, nonce, tag_bits // 8)


ALGORITHMS = {}
for name, (size, cipher) in CIPHERS.items():
    n = cipher(bytes(size)).n
    ALGORITHMS[f"PMAC-{name}"] = Algorithm(
        size, partial(parallel, cipher), tag_bits=range(1, n + 1)
    )
    ALGORITHMS[f"CMAC-{name}"] = Algorithm(
        size, partial(chained, cipher), tag_bits=range(32, n + 1, 8), bits=False
    )
    for s in range(8, n // 2 + 1, 8) if name != "RC6" else ():
        limit = 2**s * (n - s) // 8
        ALGORITHMS[f"LIGHTMAC-{name}-S{s}"] = Algorithm(
            2 * size,
            partial(light, cipher, s),
            limit if limit < 1 << 16 else None,
            tag_bits=range(1, n + 1),
        )
ALGORITHMS["ELIMAC-AES128"] = Algorithm(32, extremely_light)
ALGORITHMS["POLY1305"] = Algorithm(32, one_time, tag_bits=exactly(128), bits=False)
ALGORITHMS["POLY1305-AES"] = Algorithm(
    32, poly_aes, nonce_bytes=exactly(16), tag_bits=exactly(128), bits=False
)
for size in TAG_BYTES:
    ALGORITHMS[f"UMAC-{8 * size}"] = Algorithm(
        16, wide, nonce_bytes=range(1, 17), tag_bits=exactly(8 * size), bits=False
    )
for name, parameters in NAMED.items():
    ALGORITHMS[f"UMAC99-{name}"] = Algorithm(
        16,
        partial(first_umac, parameters),
        nonce_bytes=exactly(8),
        tag_bits=range(
            8 * LEAST_TAG_BYTES, 8 * PRFS[parameters.prf].tag_bytes + 1, 8
        ),
        bits=False,
    )
