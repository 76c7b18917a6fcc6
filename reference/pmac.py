"""PMAC[E, tau] with E = AES-128, AES-192 or AES-256.

    L     = E_K(0^n)
    M     = M[1] .. M[m],   m = max(1, ceil(|M| / n))
    Sigma = xor over i < m of E_K(M[i] xor gamma_i L)  xor  pad(M[m])
    Tag   = E_K(Sigma xor L x^-1) [first tau bits]   if |M[m]| = n
            E_K(Sigma)            [first tau bits]   otherwise

    pad(A) = A if |A| = n, and A || 1 || 0^(n - |A| - 1) otherwise.

Source: Black and Rogaway, "PMAC: A Parallelizable Message Authentication
Code", submission to NIST, 2001, Figure 1 and Section 3.3. The PMAC1 of 2004
is another algorithm.

The empty message has m = 1 and an empty M[1].
"""

import aes
import gf
from blocks import bit_length, check_tag_bits, cut, first_bits, pad10

N = 128  # n, the block size of AES in bits


def ntz(i):
    """The number of trailing 0-bits of i."""
    return (i & -i).bit_length() - 1


def pmac(key, message, tau=128, bits=None):
    """The tag as bytes. `bits` is |M| if the message does not end on a byte."""
    n = N
    check_tag_bits("tau", tau, n)
    bits = bit_length(message, bits)
    m = max(1, -(-bits // n))
    if m >= gf.x_inverse(n):
        raise ValueError(f"message length: {m} blocks, want fewer than huge = x^-1")
    E = aes.cipher(key).encrypt

    # L(i) = L x^i, as many as the longest Gray code step needs.
    L = [E(0)]
    while len(L) < m.bit_length():
        L.append(gf.double(L[-1], n))

    M, (last, length) = cut(message, bits, n, m - 1)
    Offset = 0
    Sigma = 0
    for i in range(1, m):
        # gamma_i and gamma_(i-1) differ in bit ntz(i) alone.
        Offset ^= L[ntz(i)]
        Sigma ^= E(M[i - 1] ^ Offset)
    if length == n:
        Sigma ^= last ^ gf.halve(L[0], n)
    else:
        Sigma ^= pad10(last, length, n)
    return first_bits(E(Sigma), n, tau)
