"""Bit strings: cutting a message into blocks, padding, truncation.

    M = M[1] M[2] .. M[l],   |M[1]| = .. = |M[l-1]| = size
    pad(A) = A || 1 || 0^(n - |A| - 1)
    A [first tau bits]

Source: the notation of PMAC 2001, Section 2, which LightMAC and EliMAC share.
Blocks may end within a byte: those of LightMAC have n - s bits.

A message is bytes with a length in bits. If that is not a multiple of 8, the
message ends within its last byte, and the low bits of that byte do not count.
An n-bit string is the number whose highest bit is the first bit of the string.
"""


def bit_length(message, bits):
    """Returns the length of the message in bits; `bits` is None for whole bytes."""
    if bits is None:
        return 8 * len(message)
    if len(message) != (bits + 7) // 8:
        raise ValueError(f"message: {len(message)} bytes cannot hold just {bits} bits")
    return bits


def substring(message, start, end):
    """Returns the bits from `start` up to but not including `end`, as a number."""
    first, after = start // 8, (end + 7) // 8
    value = int.from_bytes(message[first:after], "big") >> (8 * after - end)
    return value % 2 ** (end - start)


def cut(message, bits, size, full):
    """Returns the first `full` blocks of `size` bits, and the rest as (value, length)."""
    parts = [substring(message, i * size, (i + 1) * size) for i in range(full)]
    start = full * size
    return parts, (substring(message, start, bits), bits - start)


def join(parts):
    """Concatenates bit strings, given as (value, length), to bytes."""
    whole = length = 0
    for value, count in parts:
        whole = whole << count | value
        length += count
    return first_bits(whole, length, length)


def pad10(value, length, n):
    """Returns A || 1 || 0^(n - |A| - 1) for a string A of fewer than n bits."""
    return ((value << 1) | 1) << (n - length - 1)


def check_tag_bits(name, bits, n):
    if not 1 <= bits <= n:
        raise ValueError(f"tag length {name}: {bits} bits, want 1 to {n}")


def first_bits(block, n, count):
    """Returns the first `count` bits as bytes. Unused low bits of the last byte are 0."""
    size = (count + 7) // 8
    return ((block >> (n - count)) << (8 * size - count)).to_bytes(size, "big")
