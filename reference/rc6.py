"""RC6-32/20/b, that is RC6 with words of 32 bits, 20 rounds and b bytes of key.

    B = B + S[0];  D = D + S[1]
    for i = 1 .. r:
        t = (B (2B + 1)) <<< lg w;  u = (D (2D + 1)) <<< lg w
        A = ((A xor t) <<< u) + S[2i];  C = ((C xor u) <<< t) + S[2i + 1]
        (A, B, C, D) = (B, C, D, A)
    A = A + S[2r + 2];  C = C + S[2r + 3]

Sums and products are modulo 2^w. A rotation by t uses only the low lg w bits of
t.

Source: Rivest, Robshaw, Sidney, Yin, "The RC6 Block Cipher", 1998, Section 2.

A block contains the words A, B, C, D in this order, each with its lowest byte
first. Blocks here are numbers below 2^128 like those of AES: the first byte of
the string is the highest. b is 16, 24 or 32, as in the submission to NIST.
"""

import struct
from functools import lru_cache

N = 128  # n, the block size in bits
w = 32
r = 20
LG_W = 5
MASK = 2**w - 1
P_W = 0xB7E15163  # Odd((e - 2) 2^w)
Q_W = 0x9E3779B9  # Odd((phi - 1) 2^w)


def left(a, amount):
    """Returns a <<< amount."""
    amount %= w
    return (a << amount | a >> (w - amount)) & MASK


def right(a, amount):
    """Returns a >>> amount."""
    return left(a, -amount)


def expand_key(key):
    """Returns S[0 .. 2r + 3]."""
    if len(key) not in (16, 24, 32):
        raise ValueError(f"RC6 key: {len(key)} bytes, want 16, 24 or 32")
    L = list(struct.unpack(f"<{len(key) // 4}I", key))
    S = [(P_W + i * Q_W) & MASK for i in range(2 * r + 4)]
    A = B = i = j = 0
    for _ in range(3 * max(len(L), len(S))):
        A = S[i] = left((S[i] + A + B) & MASK, 3)
        B = L[j] = left((L[j] + A + B) & MASK, A + B)
        i = (i + 1) % len(S)
        j = (j + 1) % len(L)
    return S


def words(block):
    return struct.unpack("<4I", block.to_bytes(16, "big"))


def block_of(A, B, C, D):
    return int.from_bytes(struct.pack("<4I", A, B, C, D), "big")


class Cipher:
    """RC6 under one key."""

    n = N

    def __init__(self, key):
        self.S = expand_key(key)

    def encrypt(self, block):
        S = self.S
        A, B, C, D = words(block)
        B = (B + S[0]) & MASK
        D = (D + S[1]) & MASK
        for i in range(1, r + 1):
            t = left(B * (2 * B + 1) & MASK, LG_W)
            u = left(D * (2 * D + 1) & MASK, LG_W)
            A = (left(A ^ t, u) + S[2 * i]) & MASK
            C = (left(C ^ u, t) + S[2 * i + 1]) & MASK
            A, B, C, D = B, C, D, A
        A = (A + S[2 * r + 2]) & MASK
        C = (C + S[2 * r + 3]) & MASK
        return block_of(A, B, C, D)

    def decrypt(self, block):
        S = self.S
        A, B, C, D = words(block)
        C = (C - S[2 * r + 3]) & MASK
        A = (A - S[2 * r + 2]) & MASK
        for i in range(r, 0, -1):
            A, B, C, D = D, A, B, C
            u = left(D * (2 * D + 1) & MASK, LG_W)
            t = left(B * (2 * B + 1) & MASK, LG_W)
            C = right((C - S[2 * i + 1]) & MASK, t) ^ u
            A = right((A - S[2 * i]) & MASK, u) ^ t
        D = (D - S[1]) & MASK
        B = (B - S[0]) & MASK
        return block_of(A, B, C, D)


@lru_cache(maxsize=64)
def cipher(key):
    """Returns `Cipher(key)`, cached because key expansion costs more than a block."""
    return Cipher(key)
