"""Poly1305 under a one-time key r || s, and Poly1305-AES under a key k || r.

    m = m_1 .. m_q,   |m_1| = .. = |m_(q-1)| = 16 bytes,   1 <= |m_q| <= 16
    c_i = the number with the bytes m_i, 1, the first byte lowest
    h   = c_1 r^q + c_2 r^(q-1) + .. + c_q r   mod 2^130 - 5
    Tag = h + s mod 2^128

    Poly1305-AES: s = AES-128_k(nonce)

Source: Bernstein, "The Poly1305-AES message-authentication code", FSE 2005,
Section 2, for Poly1305-AES. RFC 8439, Section 2.5, for the one-time key.

All numbers are little-endian: r, s, the c_i and the tag. The empty message has
q = 0 and h = 0. h is below 2^130 - 5 before s is added.

The two keys have r in different places, as in their sources: r || s for the
one-time key, k || r for Poly1305-AES. The paper requires that 22 bits of r are
zero; RFC 8439 clears these bits of any r. Here they are cleared in both.
"""

import aes

P = 2**130 - 5
CLEAR = 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF  # the bits that r may have


def number(string):
    return int.from_bytes(string, "little")


def coefficients(message):
    """Returns c_1, .., c_q."""
    return [number(message[i : i + 16] + b"\1") for i in range(0, len(message), 16)]


def authenticator(r, s, message):
    """Returns the tag for r and s of 16 bytes each."""
    r = number(r) & CLEAR
    h = 0
    for c in coefficients(message):
        h = (h + c) * r % P
    return ((h + number(s)) % 2**128).to_bytes(16, "little")


def poly1305(key, message):
    """Returns the tag as bytes, under the one-time key r || s."""
    if len(key) != 32:
        raise ValueError(f"Poly1305 key r || s: {len(key)} bytes, want 32")
    return authenticator(key[:16], key[16:], message)


def poly1305_aes(key, nonce, message):
    """Returns the tag as bytes, under the key k || r."""
    if len(key) != 32:
        raise ValueError(f"Poly1305-AES key k || r: {len(key)} bytes, want 32")
    if len(nonce) != 16:
        raise ValueError(f"Poly1305-AES nonce: {len(nonce)} bytes, want 16")
    k, r = key[:16], key[16:]
    s = aes.cipher(k).encrypt(int.from_bytes(nonce, "big")).to_bytes(16, "big")
    return authenticator(r, s, message)
