"""UMAC-32, UMAC-64, UMAC-96 and UMAC-128 with AES.

    Tag   = UHASH(K, M) xor PDF(K, Nonce)
    UHASH = L3(L2(L1(M))), once for each 4 bytes of the tag, each time with
            other keys, one after the other

    L1(M) = for each chunk of 1024 bytes, NH(chunk) + its length in bits
    NH    = sum over groups of 8 words, j = 1 .. 4, of
            (m_j + k_j mod 2^32) (m_(j+4) + k_(j+4) mod 2^32)   mod 2^64
    L2    = the polynomial in k with these numbers as coefficients, mod p
    L3    = (m_1 k_1 + .. + m_8 k_8 mod 2^36 - 5) mod 2^32, xor k'

Source: RFC 4418; its sections are named below. UMAC-128 has 16 bytes of tag; the
RFC defines it and prints no vectors for it. The UMAC of the 1999 paper is another
algorithm. K may be a key of any AES.

Strings are bytes and numbers are big-endian, except for the words of the message
in NH, which are little-endian. A message is below 2^67 bits, which no test
reaches.
"""

import struct
from functools import lru_cache

import aes

TAG_BYTES = (4, 8, 12, 16)
CHUNK = 1024  # L1 cuts the message here
POLY_64_BYTES = 2**17  # as much of A goes into POLY with 64-bit words

PRIME = {36: 2**36 - 5, 64: 2**64 - 59, 128: 2**128 - 159}


def str2uint(string):
    return int.from_bytes(string, "big")


def uint2str(n, size):
    return n.to_bytes(size, "big")


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def pad(string, size):
    """Appends zero bytes up to a multiple of `size`, and at least to `size`."""
    return string + bytes(max(-len(string) % size, size - len(string)))


# --- Keys and pads, Section 3 -----------------------------------------------


def kdf(K, index, numbytes):
    """Section 3.2: AES in counter mode; `index` names the use."""
    E = aes.cipher(K).encrypt
    count = -(-numbytes // 16)
    Y = b"".join(uint2str(E(index << 64 | i), 16) for i in range(1, count + 1))
    return Y[:numbytes]


def pdf(K, Nonce, taglen):
    """Section 3.3: the pad. Short tags share a block, and the low bits of the nonce choose the part
    of it."""
    index = 0
    if taglen in (4, 8):
        index = str2uint(Nonce) % (16 // taglen)
        Nonce = uint2str(str2uint(Nonce) - index, len(Nonce))
    K_pad = kdf(K, 0, len(K))
    T = uint2str(aes.cipher(K_pad).encrypt(str2uint(pad(Nonce, 16))), 16)
    return T[index * taglen : (index + 1) * taglen]


# --- The three layers, Section 5 --------------------------------------------


def nh(K, M):
    """Section 5.2.2, for M of a multiple of 32 bytes."""
    count = len(M) // 4
    m = struct.unpack(f"<{count}I", M)
    k = struct.unpack(f">{count}I", K[: len(M)])
    s = [(a + b) % 2**32 for a, b in zip(m, k)]
    y = sum(s[i + j] * s[i + j + 4] for i in range(0, count, 8) for j in range(4))
    return y % 2**64


@lru_cache(maxsize=1024)
def l1_chunk(K, M):
    """The part of L1 for one chunk, cached because long test messages repeat."""
    return uint2str((nh(K, pad(M, 32)) + 8 * len(M)) % 2**64, 8)


def l1(K, M):
    """Section 5.2.1. The empty message is one empty chunk."""
    starts = range(0, max(1, len(M)), CHUNK)
    return b"".join(l1_chunk(K, M[i : i + CHUNK]) for i in starts)


def poly(wordbits, maxwordrange, k, M):
    """Section 5.3.2. A word that might not be below p takes two steps."""
    p = PRIME[wordbits]
    offset = 2**wordbits - p
    marker = p - 1
    size = wordbits // 8
    y = 1
    for i in range(0, len(M), size):
        m = str2uint(M[i : i + size])
        if m >= maxwordrange:
            y = (k * y + marker) % p
            y = (k * y + (m - offset)) % p
        else:
            y = (k * y + m) % p
    return y


def l2(K, A):
    """Section 5.3.1, for the string A from L1."""
    k64 = str2uint(K[:8]) & 0x01FFFFFF01FFFFFF
    k128 = str2uint(K[8:24]) & 0x01FFFFFF01FFFFFF01FFFFFF01FFFFFF
    y = poly(64, 2**64 - 2**32, k64, A[:POLY_64_BYTES])
    if len(A) > POLY_64_BYTES:
        rest = pad(A[POLY_64_BYTES:] + b"\x80", 16)
        y = poly(128, 2**128 - 2**96, k128, uint2str(y, 16) + rest)
    return uint2str(y, 16)


def l3(K1, K2, B):
    """Section 5.4.1."""
    p = PRIME[36]
    y = 0
    for i in range(8):
        m_i = str2uint(B[2 * i : 2 * i + 2])
        k_i = str2uint(K1[8 * i : 8 * i + 8]) % p
        y += m_i * k_i
    return xor(uint2str(y % p % 2**32, 4), K2)


# --- UHASH and UMAC ----------------------------------------------------------


@lru_cache(maxsize=64)
def uhash_keys(K, iters):
    """Section 5.1: returns the keys of each iteration, as (L1, L2, L3_1, L3_2). The L1 keys
    overlap: each starts 16 bytes after the previous one."""
    L1Key = kdf(K, 1, CHUNK + 16 * (iters - 1))
    L2Key = kdf(K, 2, 24 * iters)
    L3Key1 = kdf(K, 3, 64 * iters)
    L3Key2 = kdf(K, 4, 4 * iters)
    return [
        (
            L1Key[16 * i : 16 * i + CHUNK],
            L2Key[24 * i : 24 * (i + 1)],
            L3Key1[64 * i : 64 * (i + 1)],
            L3Key2[4 * i : 4 * (i + 1)],
        )
        for i in range(iters)
    ]


def uhash(K, M, taglen):
    """Section 5.1. A message of one chunk skips L2."""
    Y = b""
    for L1Key, L2Key, L3Key1, L3Key2 in uhash_keys(K, taglen // 4):
        A = l1(L1Key, M)
        B = l2(L2Key, A) if len(M) > CHUNK else bytes(8) + A
        Y += l3(L3Key1, L3Key2, B)
    return Y


def umac(K, M, Nonce, taglen):
    """Section 4: returns the tag of `taglen` bytes."""
    if taglen not in TAG_BYTES:
        raise ValueError(f"UMAC tag length: {taglen} bytes, want 4, 8, 12 or 16")
    if not 1 <= len(Nonce) <= 16:
        raise ValueError(f"UMAC nonce: {len(Nonce)} bytes, want 1 to 16")
    return xor(uhash(K, M, taglen), pdf(K, Nonce, taglen))
