"""CMAC[E] with a block cipher E of n bits.

    L    = E_K(0^n),   K1 = L x,   K2 = L x^2
    M    = M[1] .. M[m],   m = max(1, ceil(|M| / n))
    C[0] = 0^n,   C[i] = E_K(M[i] xor C[i-1])   for i < m
    Tag  = E_K(M[m] xor K1 xor C[m-1])       [first tau bits]   if |M[m]| = n
           E_K(pad(M[m]) xor K2 xor C[m-1])  [first tau bits]   otherwise

    pad(A) = A || 1 || 0^(n - |A| - 1)

Source: NIST SP 800-38B, Sections 6.1 and 6.2; RFC 4493 for AES-128. R_64 and
R_128 of Section 5.3 are the polynomials of `gf.py`.
"""

import gf
from blocks import bit_length, check_tag_bits, cut, first_bits, pad10


def cmac(E, message, tau=None, bits=None):
    """Returns the tag as bytes, for a keyed cipher `E`. `bits` is |M| if the message ends within a
    byte. tau defaults to n."""
    n = E.n
    tau = n if tau is None else tau
    check_tag_bits("tau", tau, n)
    bits = bit_length(message, bits)
    m = max(1, -(-bits // n))

    K1 = gf.double(E.encrypt(0), n)
    K2 = gf.double(K1, n)
    M, (last, length) = cut(message, bits, n, m - 1)
    C = 0
    for M_i in M:
        C = E.encrypt(M_i ^ C)
    last = last ^ K1 if length == n else pad10(last, length, n) ^ K2
    return first_bits(E.encrypt(last ^ C), n, tau)
