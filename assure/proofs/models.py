"""Unknown numbers, and models of the types that the code is generic over: blocks and words of
vectors."""

import z3
from rust.numbers import WIDTH, N, Poly
from rust.values import Model, plain


def u(t, name):
    return N(t, z3.BitVec(name, WIDTH[t]))


def unknown_bytes(name, n):
    return [u("u8", f"{name}{i}") for i in range(n)]


def known_bytes(p):
    return [N("u8", byte) for byte in p]


def usize(n):
    return N("usize", n)


def as_bits(number, width):
    """Converts a number of the model to an unsigned bit vector of `width` bits."""
    number = plain(number)
    if isinstance(number.v, int):
        return z3.BitVecVal(number.v, width)
    return z3.ZeroExt(width - number.v.size(), number.v)


def big_endian(p):
    """Joins bytes into one bit vector, the first highest."""
    p = [as_bits(byte, 8) for byte in plain(p)]
    return z3.Concat(*p) if len(p) > 1 else p[0]


def little_endian(p):
    return big_endian(list(plain(p))[::-1])


def fields(x, size):
    """Splits a word into fields of `size` bits, the lowest first."""
    return [z3.Extract(i + size - 1, i, x) for i in range(0, x.size(), size)]


def number_of(limbs, bits):
    """Returns the sum of limbs of `bits` bits as a polynomial."""
    total = Poly({})
    for i, limb in enumerate(plain(limbs)):
        total = total + Poly.of(plain(limb).v) * (1 << (bits * i))
    return total


def bits_of(limbs, bits, width):
    """Like `number_of` for limbs of bits, as a bit vector of `width` bits."""
    total = z3.BitVecVal(0, width)
    for i, limb in enumerate(limbs):
        total = total + (as_bits(limb, width) << (bits * i))
    return total


class BlockType(Model):
    """A block of n bytes: `[u8; N]`."""

    def __init__(self, machine, n):
        self.machine, self.n, self.BYTES = machine, n, usize(n)
        self.types = {"N": usize(n), "Self": self, "Block": self}
        # The code works on words for speed; the model works on bytes, with the same result.
        machine.contracts["array", "xor"] = lambda a, b: self.each("^", a, b)
        machine.contracts["array", "and"] = lambda a, b: self.each("&", a, b)

    def each(self, op, a, b):
        return [self.machine.binary(op, x, y) for x, y in zip(plain(a), plain(b), strict=True)]

    def run(self, name, argument):
        return self.machine.run("array", name, argument, types=self.types, self_type=self)

    @property
    def ZERO(self):
        return known_bytes(bytes(self.n))

    def zero_filled(self, p):
        return self.run("zero_filled", p)

    def one_at(self, bits):
        return self.run("one_at", bits)

    def first_ones(self, bits):
        return self.run("first_ones", bits)


class OneLane(Model):
    """Vectors of one block."""

    traits = ("Lanes",)

    def __init__(self, block):
        self.block, self.Block = block, block

    def narrow(self):
        return self

    def splat(self, b):
        return list(plain(b))

    lane0 = splat

    def xor(self, a, b):
        return self.block.each("^", a, b)


class Word(Model):
    """One word of a vector, as a sum. If it must not wrap, that is a goal."""

    traits = ("Words",)
    MUL52 = True

    def __init__(self, machine, max_words=8):
        self.machine, self.max_words, self.LANES = machine, max_words, usize(4)

    def splat(self, x):
        return N("u64", plain(x).v)

    first = splat

    def and_(self, a, b):
        return self.machine.binary("&", self.splat(a), self.splat(b))

    def add(self, a, b):
        return self.machine.binary("+", self.splat(a), self.splat(b))

    def shl(self, a, n):
        return self.machine.shift("<<", plain(a), plain(n))

    def shr(self, a, n):
        return self.machine.shift(">>", plain(a), plain(n))

    def factor(self, x, bits):
        line = f"a factor is below 2^{bits}"
        self.machine.goal(line, self.machine.sums.linear(plain(x).v) < 1 << bits)

    def mul32(self, a, b):
        self.factor(a, 32)
        self.factor(b, 32)
        return self.machine.binary("*", plain(a), plain(b))

    def mul52(self, pair, a, b):
        self.factor(a, 52)
        self.factor(b, 52)
        high, low = self.machine.sums.divmod(Poly.of(plain(a).v) * Poly.of(plain(b).v), 52)
        pair = list(plain(pair))
        return [self.add(pair[0], N("u64", low)), self.add(pair[1], N("u64", high))]

    def sum(self, a):
        """Returns the sum of `max_words` words, each with the bounds of this one."""
        sums, a = self.machine.sums, plain(a).v
        high = sums.span(a)[1]
        fits = z3.And(sums.linear(a) <= high, z3.BoolVal(self.max_words * high < 2**64))
        self.machine.goal(f"the sum of {self.max_words} words fits in 64 bits", fits)
        return N("u64", sums.fresh("sum", 0, self.max_words * high))


class BitWord(Model):
    """One word of a vector as bits: additions wrap, like the instructions."""

    traits = ("Words",)

    def __init__(self, machine):
        self.machine = machine

    def word(self, x):
        return self.machine.bits(plain(x), "u64")

    def splat(self, x):
        return N("u64", self.word(x))

    def add(self, a, b):
        return N("u64", self.word(a) + self.word(b))

    def xor(self, a, b):
        return N("u64", self.word(a) ^ self.word(b))

    def and_(self, a, b):
        return N("u64", self.word(a) & self.word(b))

    def or_(self, a, b):
        return N("u64", self.word(a) | self.word(b))

    def and_not(self, a, b):
        return N("u64", self.word(a) & ~self.word(b))

    def shl(self, a, n):
        return N("u64", self.word(a) << plain(n).v)

    def shr(self, a, n):
        return N("u64", z3.LShR(self.word(a), plain(n).v))
