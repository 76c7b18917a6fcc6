"""PMAC[E, tau] with a block cipher E of n bits. Two results of its parsimony:
recovery of a block, and a wide-block cipher.

    L     = E_K(0^n)
    M     = M[1] .. M[m],   m = max(1, ceil(|M| / n))
    Sigma = xor over i < m of E_K(M[i] xor gamma_i L)  xor  pad(M[m])
    Tag   = E_K(Sigma xor L x^-1) [first tau bits]   if |M[m]| = n
            E_K(Sigma)            [first tau bits]   otherwise

    pad(A) = A if |A| = n, and A || 1 || 0^(n - |A| - 1) otherwise.

    Wide-block cipher with keys K1 and K2, for |M| >= n:
    IV    = PMAC_K1(M), tau = n
    C[j]  = M[j] xor E_K2(IV + j - 1 mod 2^n) [first |M[j]| bits]
    C     = IV || C[1] .. C[m-2] || C[m]      and IV alone if m = 1

Source: Black and Rogaway, "PMAC: A Parallelizable Message Authentication
Code", submission to NIST, 2001, Figure 1 and Section 3.3; Section 4.1,
"Parsimonious PRF". The PMAC1 of 2004 is another algorithm.

The empty message has m = 1 and an empty M[1]. n must have a polynomial in the
paper, see `gf.py`.

Section 4.1 only gives an example of the block of C that is dropped, and does
not define how the counter continues. Here C[m-1] is dropped, and the counter
for block j is IV + j - 1, as a big-endian number modulo 2^n. K1 and K2 are keys
of the same block cipher.
"""

import gf
from blocks import bit_length, check_tag_bits, cut, first_bits, join, pad10


def ntz(i):
    """Returns the number of trailing 0-bits of i."""
    return (i & -i).bit_length() - 1


def blocks_of(bits, n):
    """Returns m, after a check of n and of the length limit."""
    m = max(1, -(-bits // n))
    if m >= gf.x_inverse(n):
        raise ValueError(f"message length: {m} blocks, want fewer than huge = x^-1")
    return m


def offsets(E, m):
    """Returns gamma_i L for i = 1 .. m - 1."""
    # L(i) = L x^i, up to the longest Gray code step needed.
    L = [E.encrypt(0)]
    while len(L) < m.bit_length():
        L.append(gf.double(L[-1], E.n))
    out = []
    Offset = 0
    for i in range(1, m):
        # gamma_i and gamma_(i-1) differ only in bit ntz(i).
        Offset ^= L[ntz(i)]
        out.append(Offset)
    return out


def huge_L(E):
    """Returns L x^-1."""
    return gf.halve(E.encrypt(0), E.n)


def pmac(E, message, tau=None, bits=None):
    """Returns the tag as bytes, for a keyed cipher `E`. `bits` is |M| if the message ends within a
    byte. tau defaults to n."""
    n = E.n
    tau = n if tau is None else tau
    check_tag_bits("tau", tau, n)
    bits = bit_length(message, bits)
    m = blocks_of(bits, n)

    M, (last, length) = cut(message, bits, n, m - 1)
    Sigma = 0
    for M_i, Offset in zip(M, offsets(E, m)):
        Sigma ^= E.encrypt(M_i ^ Offset)
    if length == n:
        Sigma ^= last ^ huge_L(E)
    else:
        Sigma ^= pad10(last, length, n)
    return first_bits(E.encrypt(Sigma), n, tau)


# --- Parsimony, Section 4.1 --------------------------------------------------


def recover_block(E, rest, i, tag, bits=None):
    """Returns M[i] as bytes, from the tag of n bits and the message without M[i].

    `rest` is M[1] .. M[i-1] M[i+1] .. M[m], and `bits` its length in bits. M[i]
    must have been a full block.
    """
    n = E.n
    if 8 * len(tag) != n:
        raise ValueError(f"tag length tau: {8 * len(tag)} bits, want n = {n}")
    bits = bit_length(rest, bits)
    m = blocks_of(bits + n, n)
    full = (bits + n) // n  # M[1] .. M[full] are the full blocks
    if not 1 <= i <= full:
        raise ValueError(f"block to recover: {i}, want 1 to {full}")

    # `blocks` are the full ones except M[i]; a short or empty block follows.
    blocks, (last, length) = cut(rest, bits, n, full - 1)
    blocks.insert(i - 1, None)
    Offset = offsets(E, m)
    # Sigma, and then its xor with all terms except that of M[i].
    Sigma = E.decrypt(int.from_bytes(tag, "big"))
    if length == 0:
        Sigma ^= huge_L(E)
    else:
        Sigma ^= pad10(last, length, n)
    for j, M_j in enumerate(blocks, 1):
        if j == i:
            continue
        Sigma ^= M_j if j == m else E.encrypt(M_j ^ Offset[j - 1])
    M_i = Sigma if i == m else E.decrypt(Sigma) ^ Offset[i - 1]
    return first_bits(M_i, n, n)


def wide_blocks(n, bits):
    """Returns m, after a check that there is at least one block."""
    if bits < n:
        raise ValueError(f"message length: {bits} bits, want at least n = {n}")
    return blocks_of(bits, n)


def pad_bits(E2, IV, j, length):
    """Returns the bits that encrypt M[j] of `length` bits."""
    return E2.encrypt((IV + j - 1) % 2**E2.n) >> (E2.n - length)


def encipher(E1, E2, message, bits=None):
    """Encrypts a message of at least n bits to a ciphertext of the same length."""
    n = E1.n
    bits = bit_length(message, bits)
    m = wide_blocks(n, bits)
    IV = int.from_bytes(pmac(E1, message, n, bits), "big")
    M, (last, length) = cut(message, bits, n, m - 1)
    C = [(IV, n)]
    for j in range(1, m - 1):
        C.append((M[j - 1] ^ pad_bits(E2, IV, j, n), n))
    if m > 1:
        C.append((last ^ pad_bits(E2, IV, m, length), length))
    return join(C)


def decipher(E1, E2, ciphertext, bits=None):
    """Returns the message that `encipher` maps to this ciphertext."""
    n = E1.n
    bits = bit_length(ciphertext, bits)
    m = wide_blocks(n, bits)
    # IV, C[1] .. C[m-2], and C[m].
    (IV, *C), (last, length) = cut(ciphertext, bits, n, max(1, m - 1))
    M = [(C[j - 1] ^ pad_bits(E2, IV, j, n), n) for j in range(1, m - 1)]
    end = [(last ^ pad_bits(E2, IV, m, length), length)] if m > 1 else []
    i = max(1, m - 1)
    rest = join(M + end)
    missing = recover_block(E1, rest, i, first_bits(IV, n, n), bits - n)
    return join(M + [(int.from_bytes(missing, "big"), n)] + end)
