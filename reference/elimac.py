"""EliMAC-AES with tag length t.

    M_1 .. M_l = M || 10*,   l = floor(|M| / n) + 1
    S = xor over i < l of I(H(K1, i), M_i)
    T = AES_10(K2, S xor M_l) [first t bits]

    H(K, i) = AES_7(K, <i>),   <i> = the 32-bit number i, four times
    I(K, M) = AES_4(0, K xor M)

Source: Dobraunig, Mennink, Neves, "EliMAC: Speeding Up LightMAC by around
20%", ToSC 2023, Algorithm 1 and Section 5.1.

What the paper leaves open is read as follows.
- AES_a is `aes.Cipher` with a rounds: no MixColumns in the last round, and the
  first a + 1 round keys of AES-128.
- The 0 in AES_4(0, .) is a key, so its round keys are the schedule of the
  all-zero key, and not zero.
- The padding is 10* for each message. A full last block thus becomes M_(l-1).
- The tag is the first t bits.
- i is at most 2^32 - 1. The paper's mu is 2^32, but 2^32 has no 32-bit
  encoding, so a message that needs it is refused.
"""

from functools import lru_cache

import aes
from blocks import bit_length, check_tag_bits, cut, first_bits, pad10

N = 128  # n, the block size of AES in bits


@lru_cache(maxsize=4096)
def H(K, i):
    return aes.cipher(K, rounds=7).encrypt(i << 96 | i << 64 | i << 32 | i)


def I(K, M):
    return aes.cipher(bytes(16), rounds=4).encrypt(K ^ M)


def blocks_before_last(bits):
    """l - 1, after a check that the largest i is at most 2^32 - 1."""
    full = bits // N
    if full >= 2**32:
        raise ValueError(f"message length: {bits} bits, want fewer than 2^32 n = 2^39")
    return full


def elimac(key, message, t=128, bits=None):
    """The tag as bytes, under the key K1 || K2."""
    n = N
    check_tag_bits("t", t, n)
    bits = bit_length(message, bits)
    full = blocks_before_last(bits)
    if len(key) != 32:
        raise ValueError(f"EliMAC key K1 || K2: {len(key)} bytes, want 32")
    K1, K2 = key[:16], key[16:]

    M, (last, length) = cut(message, bits, n, full)
    S = 0
    for i in range(1, full + 1):
        S ^= I(H(K1, i), M[i - 1])
    M_l = pad10(last, length, n)
    return first_bits(aes.cipher(K2).encrypt(S ^ M_l), n, t)
