"""Universal hashes: those that the UMAC paper compares with NH, on lists of 32-bit words, and those
of its related work and of EliMAC, on bytes.

Source: UMAC 1999, Sections 1.3, 3 and 4.3. The prime p of MMH (Halevi and Krawczyk), the square
hash of Etzel, Patel and Ramzan, the cryptographic CRC and the bucket hash are from memory. hash127
follows its program.
"""

from itertools import combinations

W = 2**32
P = W + 15


def pairs(k, m):
    return [(k[i], k[i + 1], m[i], m[i + 1]) for i in range(0, len(m), 2)]


def xored(terms):
    out = 0
    for term in terms:
        out ^= term
    return out


# name -> the hash of (key, message)
HASHES = {
    "MH": lambda k, m: sum(a * b for a, b in zip(m, k)) % W**2,
    "MMH": lambda k, m: sum(a * b for a, b in zip(m, k)) % W**2 % P % W,
    "NH": lambda k, m: sum((a + c) % W * ((b + d) % W) for a, b, c, d in pairs(k, m)) % W**2,
    "NMH": lambda k, m: sum((a + c) % W * ((b + d) % W) for a, b, c, d in pairs(k, m)) % W**2 % P % W,
    "NMH*": lambda k, m: sum((a + c) * (b + d) for a, b, c, d in pairs(k, m)) % P,
    "SQUARE-HASH": lambda k, m: sum((a + b) ** 2 for a, b in zip(m, k)) % P,
    "NH-INNER-XOR": lambda k, m: sum((a ^ c) * (b ^ d) for a, b, c, d in pairs(k, m)) % W**2,
    "NH-OUTER-XOR": lambda k, m: xored((a + c) % W * ((b + d) % W) for a, b, c, d in pairs(k, m)),
    "NH-NO-INNER-MODULI": lambda k, m: sum((a + c) * (b + d) for a, b, c, d in pairs(k, m)) % W**2,
}


# --- Hashes of bytes ------------------------------------------------------------


def gf128(a, b):
    """Returns the product in GF(2^128): the carry-less product, reduced."""
    product = xored(a << i for i in range(128) if b >> i & 1)
    for i in reversed(range(128, 256)):
        if product >> i & 1:
            product ^= (1 << 128 | 0x87) << i - 128
    return product


def multilinear(key, message):
    blocks = [(key[i : i + 16], message[i : i + 16]) for i in range(0, len(message), 16)]
    terms = (gf128(int.from_bytes(k, "big"), int.from_bytes(m, "big")) for k, m in blocks)
    return xored(terms).to_bytes(16, "big")


def hash127(key, message):
    """Returns r^(n+1) + m_1 r^n + .. + m_n r, term by term."""
    p = 2**127 - 1
    r = int.from_bytes(key, "little") % 2**127
    m = [int.from_bytes(message[i : i + 4], "little", signed=True) for i in range(0, len(message), 4)]
    terms = [word * pow(r, len(m) - i, p) for i, word in enumerate(m)]
    return ((pow(r, len(m) + 1, p) + sum(terms)) % p).to_bytes(16, "little")


def cryptographic_crc(key, message):
    """Returns the remainder of M(x) x^64 divided by p(x), by long division."""
    p = 1 << 64 | int.from_bytes(key, "big")
    rest = int.from_bytes(message, "big") << 64
    while rest.bit_length() > 64:
        rest ^= p << rest.bit_length() - 65
    return rest.to_bytes(8, "big")


def bucket_hash(key, message):
    """Uses eight buckets; all triples of them are ordered by their numbers."""
    triples = list(combinations(range(8), 3))
    buckets = [0] * 8
    for i in range(0, len(message), 4):
        for bucket in triples[int.from_bytes(key[i : i + 4], "little") % len(triples)]:
            buckets[bucket] ^= int.from_bytes(message[i : i + 4], "big")
    return b"".join(bucket.to_bytes(4, "big") for bucket in buckets)


# name -> (bytes of a unit; bytes of the key, or None for the message's length; the hash)
BYTE_HASHES = {
    "MULTILINEAR": (16, None, multilinear),
    "HASH127": (4, 16, hash127),
    "CRYPTOGRAPHIC-CRC": (1, 8, cryptographic_crc),
    "BUCKET-HASH": (4, None, bucket_hash),
}
