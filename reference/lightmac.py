"""LightMAC with AES-128, AES-192 or AES-256, counter size s, tag length t.

    M = M[1] .. M[l],   |M[1]| = .. = |M[l-1]| = n - s,   0 <= |M[l]| < n - s
    V = xor over i < l of E_K1(i_s || M[i])
    T = E_K2(V xor (M[l] || 10*)) [first t bits]

M[l] || 10* is padded to n bits, not to n - s. A message whose length is a
multiple of n - s has an empty last block, so l = floor(|M| / (n - s)) + 1.

Source: Luykx, Preneel, Tischhauser, Yasuda, "A MAC Mode for Lightweight Block
Ciphers", FSE 2016, Section 3, Algorithm 1, and equation (8) in Section 4.2.

Two choices that the paper leaves open follow the authors' C code: i_s is the
s-bit big-endian number i, and the tag is the first t bits of the block. (The
paper writes "t least significant bits".) Block i = 2^s, the last one that the
length limit allows, has the counter 0^s. No other block has it.
"""

import aes
from blocks import bit_length, check_tag_bits, cut, first_bits, pad10

N = 128  # n, the block size of AES in bits


def blocks_before_last(bits, s):
    """l - 1, after a check of s and of the length limit 2^s (n - s)."""
    if s % 8 or not 8 <= s <= N // 2:
        raise ValueError(f"counter size s: {s} bits, want 8, 16, .. or {N // 2}")
    limit = 2**s * (N - s)
    if bits > limit:
        raise ValueError(
            f"message length: {bits} bits, want at most 2^s (n - s) = {limit}"
        )
    return bits // (N - s)


def lightmac(key, message, s, t=128, bits=None):
    """The tag as bytes, under the key K1 || K2."""
    n = N
    check_tag_bits("t", t, n)
    bits = bit_length(message, bits)
    full = blocks_before_last(bits, s)
    if len(key) not in (32, 48, 64):
        raise ValueError(f"LightMAC key K1 || K2: {len(key)} bytes, want 32, 48 or 64")
    E_K1 = aes.cipher(key[: len(key) // 2]).encrypt
    E_K2 = aes.cipher(key[len(key) // 2 :]).encrypt

    M, (last, length) = cut(message, bits, n - s, full)
    V = 0
    for i in range(1, full + 1):
        i_s = i % 2**s
        V ^= E_K1(i_s << (n - s) | M[i - 1])
    return first_bits(E_K2(V ^ pad10(last, length, n)), n, t)
