"""The universal hashes that the UMAC paper names beside NH, on lists of words of 32 bits.

Source: UMAC 1999, Sections 1.3, 3 and 4.3; p of MMH as in Halevi and Krawczyk, and the square hash of
Etzel, Patel and Ramzan, both as remembered.
"""

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
