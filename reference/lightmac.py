"""LightMAC with a block cipher E of n bits, counter size s, tag length t.

    M = M[1] .. M[l],   |M[1]| = .. = |M[l-1]| = n - s,   0 <= |M[l]| < n - s
    V = xor over i < l of E_K1(i_s || M[i])
    T = E_K2(V xor (M[l] || 10*)) [first t bits]

M[l] || 10* is padded to n bits, not to n - s. A message whose length is a
multiple of n - s has an empty last block, so l = floor(|M| / (n - s)) + 1.

Source: Luykx, Preneel, Tischhauser, Yasuda, "A MAC Mode for Lightweight Block
Ciphers", FSE 2016, Section 3, Algorithm 1, and equation (8) in Section 4.2.

The paper lets i_s be any distinct s-bit constants, and names two kinds:

    integer   i_s = i mod 2^s, big-endian, as in the authors' C code
    gray      i_s = g(i mod 2^s) with g(x) = x xor (x >> 1), the Gray code

Block i = 2^s, the last one that the length limit 2^s (n - s) allows, has the
counter 0^s, unlike all other blocks. s is 1 to n / 2, in bits, so that blocks
may end within a byte. The paper writes "t least significant bits" of the tag;
here it is the first t bits, as in the authors' C code.
"""

from blocks import bit_length, check_tag_bits, cut, first_bits, pad10


def gray(x):
    return x ^ (x >> 1)


def integer(x):
    return x


COUNTERS = {"integer": integer, "gray": gray}


def blocks_before_last(bits, n, s):
    """Returns l - 1, after a check of s and of the length limit 2^s (n - s)."""
    if not 1 <= s <= n // 2:
        raise ValueError(f"counter size s: {s} bits, want 1 to n / 2 = {n // 2}")
    limit = 2**s * (n - s)
    if bits > limit:
        raise ValueError(
            f"message length: {bits} bits, want at most 2^s (n - s) = {limit}"
        )
    return bits // (n - s)


def lightmac(E1, E2, message, s, t=None, bits=None, counter="integer"):
    """Returns the tag as bytes, for the ciphers E_K1 and E_K2. t defaults to n."""
    n = E1.n
    t = n if t is None else t
    check_tag_bits("t", t, n)
    bits = bit_length(message, bits)
    full = blocks_before_last(bits, n, s)
    if counter not in COUNTERS:
        raise ValueError(f"counter: {counter}, want {' or '.join(COUNTERS)}")
    constant = COUNTERS[counter]

    M, (last, length) = cut(message, bits, n - s, full)
    V = 0
    for i in range(1, full + 1):
        i_s = constant(i % 2**s)
        V ^= E1.encrypt(i_s << (n - s) | M[i - 1])
    return first_bits(E2.encrypt(V ^ pad10(last, length, n)), n, t)
