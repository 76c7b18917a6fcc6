"""Doubling and halving in GF(2^n).

    a * x      = a << 1                      if the first bit of a is 0
               = (a << 1) xor c_n            if it is 1
    a * x^-1   = a >> 1                      if the last bit of a is 0
               = (a >> 1) xor x^-1           if it is 1

The field is GF(2)[x] modulo p_n(x) = x^n + c_n(x), where p_n is the
lexicographically first irreducible polynomial of degree n with the fewest
terms.

Source: Black and Rogaway, PMAC, 2001, Section 2, "The field with 2^n points".

A point is a number below 2^n. Bit i of the number is the coefficient of x^i,
so the first bit of an n-bit string is the coefficient of x^(n-1).
"""

# The exponents of c_n, as the paper lists them.
EXPONENTS = {
    64: (4, 3, 1, 0),
    96: (10, 9, 6, 0),
    128: (7, 2, 1, 0),
    160: (5, 3, 2, 0),
    192: (7, 2, 1, 0),
    224: (9, 8, 3, 0),
    256: (10, 5, 2, 0),
}


def c(n):
    """Returns the low part c_n of the polynomial p_n, as a number."""
    if n not in EXPONENTS:
        known = ", ".join(map(str, EXPONENTS))
        raise ValueError(f"block size n: {n} bits, want one of {known}")
    return sum(1 << e for e in EXPONENTS[n])


def double(a, n):
    """Returns a * x."""
    if a >> (n - 1):
        return (a << 1) ^ (1 << n) ^ c(n)
    return a << 1


def x_inverse(n):
    """Returns x^-1, which the paper also calls `huge`.

    p_n(x) = 0 means 1 = x^n + c_n(x) + 1. Dividing by x gives
    x^-1 = x^(n-1) + (c_n(x) + 1) / x. The constant term of c_n is 1, so the
    division is exact, and a shift computes it.
    """
    return (1 << (n - 1)) ^ (c(n) >> 1)


def halve(a, n):
    """Returns a * x^-1."""
    if a & 1:
        return (a >> 1) ^ x_inverse(n)
    return a >> 1
