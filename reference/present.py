"""PRESENT with a key of 80 or 128 bits.

    state = state xor K_i;  sBoxLayer(state);  pLayer(state)     for i = 1 .. 31
    state = state xor K_32

    sBoxLayer: each 4-bit word w of the state becomes S[w]
    pLayer:    bit i moves to bit P(i) = 16 i mod 63, and bit 63 stays

Source: Bogdanov, Knudsen, Leander, Paar, Poschmann, Robshaw, Seurin, Vikkelsoe,
"PRESENT: An Ultra-Lightweight Block Cipher", CHES 2007, Section 3; the schedule
of a 128-bit key is in the appendix.

Blocks are numbers below 2^64; the first byte of the string is the highest. Bit
0 is the lowest, as in the paper, where rounds count from 1.
"""

from functools import lru_cache

N = 64  # n, the block size in bits
ROUNDS = 31

S = (0xC, 5, 6, 0xB, 9, 0, 0xA, 0xD, 3, 0xE, 0xF, 8, 4, 7, 1, 2)


def substitute(state, box):
    """Applies `box` to each of the 16 words of 4 bits."""
    out = 0
    for i in range(0, 64, 4):
        out |= box[state >> i & 15] << i
    return out


def permute(state, P):
    """Moves bit i to bit P[i]."""
    out = 0
    for i in range(64):
        out |= (state >> i & 1) << P[i]
    return out


P = tuple(16 * i % 63 for i in range(63)) + (63,)
S_INVERSE = tuple(S.index(v) for v in range(16))
P_INVERSE = tuple(P.index(i) for i in range(64))

# `SHARES[i][v]` is the contribution of byte i of the state to the next state if its value is v:
# sBoxLayer works on words only, and pLayer is linear.
SHARES = [
    [permute((S[v >> 4] << 4 | S[v & 15]) << 8 * i, P) for v in range(256)]
    for i in range(8)
]


def expand_key(key):
    """Returns K_1 .. K_32: the highest 64 bits of a register that starts as the key, and is rotated
    and modified after each."""
    if len(key) not in (10, 16):
        raise ValueError(f"PRESENT key: {len(key)} bytes, want 10 or 16")
    size = 8 * len(key)
    register = int.from_bytes(key, "big")
    round_keys = []
    for i in range(1, ROUNDS + 2):
        round_keys.append(register >> (size - 64))
        # 61 bits to the left.
        register = (register << 61 | register >> (size - 61)) % 2**size
        # S on the highest word, or on the highest two of a 128-bit key.
        for at in (size - 4,) if size == 80 else (size - 4, size - 8):
            word = register >> at & 15
            register ^= (word ^ S[word]) << at
        # The number of the round into bits 19 .. 15, or 66 .. 62.
        register ^= i << (15 if size == 80 else 62)
    return round_keys


class Cipher:
    """PRESENT under one key."""

    n = N

    def __init__(self, key):
        self.round_keys = expand_key(key)

    def encrypt(self, block):
        *middle, last = self.round_keys
        t0, t1, t2, t3, t4, t5, t6, t7 = SHARES
        state = block
        for round_key in middle:
            b0, b1, b2, b3, b4, b5, b6, b7 = (state ^ round_key).to_bytes(8, "little")
            state = (
                t0[b0] ^ t1[b1] ^ t2[b2] ^ t3[b3]
                ^ t4[b4] ^ t5[b5] ^ t6[b6] ^ t7[b7]
            )  # fmt: skip
        return state ^ last

    def decrypt(self, block):
        """Runs the inverse steps, as the paper prints them."""
        *middle, last = self.round_keys
        state = block ^ last
        for round_key in reversed(middle):
            state = substitute(permute(state, P_INVERSE), S_INVERSE) ^ round_key
        return state


@lru_cache(maxsize=64)
def cipher(key):
    """Returns `Cipher(key)`, cached because key expansion costs more than a block."""
    return Cipher(key)
