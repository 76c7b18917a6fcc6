"""The results of operations on numbers, and the goals that they do not overflow."""

import operator

import z3

from .numbers import WIDTH, N, Poly
from .tokens import Unsupported
from .values import LIST, plain

COMPARED = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
OPERATIONS = COMPARED | {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
UNSIGNED = {"==": operator.eq, "!=": operator.ne, "<": z3.ULT, ">": z3.UGT, "<=": z3.ULE, ">=": z3.UGE}


class Arithmetic:
    """A part of the machine that uses its `sums` and adds goals to it."""

    def kind(self, *numbers):
        kinds = {type(n.v) for n in numbers} - {int}
        if Poly in kinds:
            if len(kinds) > 1:
                raise Unsupported("sums and bits in one operation")
            return "sums"
        return "bits" if kinds else "known"

    def bits(self, n, t):
        return z3.BitVecVal(n.v, WIDTH[t]) if isinstance(n.v, int) else n.v

    def number(self, value):
        value = plain(value)
        if not isinstance(value, N):
            raise Unsupported(f"no number: {value!r}")
        return value

    def known(self, value):
        """Returns the value of a number that must be known."""
        value = self.number(value).v
        if not isinstance(value, int):
            raise Unsupported("an unknown length or index")
        return value

    def in_type(self, value, t):
        """Returns a known value as its type represents it."""
        if t is None:
            return value
        width = WIDTH[t]
        value &= (1 << width) - 1
        return value - (1 << width) if t[0] == "i" and value >> (width - 1) else value

    def most(self, t):
        return (1 << WIDTH[t] - (t[0] == "i")) - 1

    def binary(self, op, a, b):
        a, b = self.number(a), self.number(b)
        if op in ("<<", ">>"):
            return self.shift(op, a, b)
        if a.t and b.t and a.t != b.t:
            raise Unsupported(f"{a.t} and {b.t} in one operation")
        return getattr(self, f"{self.kind(a, b)}_binary")(op, a, b, a.t or b.t)

    def known_binary(self, op, a, b, t):
        x, y = self.in_type(a.v, t), self.in_type(b.v, t)
        if op in "/%" and min(x, y) < 0:
            raise Unsupported(f"{op} of a negative number")
        value = OPERATIONS[op](x, y)
        if op in COMPARED:
            return value
        fits = self.in_type(value, t)
        if fits != value:
            self.goal(f"{x} {op} {y} fits in {t}", False)
        return N(t, fits)

    def bits_binary(self, op, a, b, t):
        if op == "*":
            return self.bits_product(a, b, t)
        x, y = self.bits(a, t), self.bits(b, t)
        if op in "&|^":
            return N(t, OPERATIONS[op](x, y))
        if t[0] == "i" or op not in ("+", *UNSIGNED):
            raise Unsupported(f"{op} of bits")
        if op == "+":
            self.goal(f"+ fits in {t}", z3.BVAddNoOverflow(x, y, False))
            return N(t, x + y)
        return UNSIGNED[op](x, y)

    def bits_product(self, a, b, t):
        if isinstance(a.v, int):
            a, b = b, a
        if isinstance(b.v, int) and t[0] == "u":
            if b.v:
                self.goal(f"* {b.v} fits in {t}", z3.ULE(a.v, self.most(t) // b.v))
            return N(t, a.v * b.v)
        if a.narrow is None or b.narrow is None:
            raise Unsupported("a product of unknown width")
        (signed, x), (other, y) = a.narrow, b.narrow
        if signed != other or x.size() != y.size() or 2 * x.size() > WIDTH[t]:
            raise Unsupported("a product that may not fit")
        return N(t, product(signed, x, y, WIDTH[t]))

    def sums_binary(self, op, a, b, t):
        x, y = Poly.of(a.v), Poly.of(b.v)
        if op in "+-*":
            value = OPERATIONS[op](x, y)
            self.fits(f"{op} fits in {t}", value, self.most(t))
            return N(t, value)
        if op == "&" and isinstance(b.v, int):
            return N(t, self.masked(x, self.in_type(b.v, t), WIDTH[t]))
        if op == "|":
            return N(t, self.disjoint(x, y))
        if op == "^" and 0 in (a.v, b.v):
            return N(t, x + y)
        raise Unsupported(f"{op} of sums")

    def fits(self, line, poly, most):
        linear = self.sums.linear(poly)
        self.goal(line, z3.And(linear >= 0, linear <= most))

    def masked(self, x, mask, width):
        low = (mask & -mask).bit_length() - 1
        ones = (mask >> low).bit_length()
        if mask >> low != (1 << ones) - 1:
            raise Unsupported(f"a mask with gaps: {mask:x}")
        if low:
            x, _ = self.sums.divmod(x, low)
        if low + ones < width:
            _, x = self.sums.divmod(x, ones)
        return x * (1 << low)

    def disjoint(self, x, y):
        for high, low in ((x, y), (y, x)):
            bits = self.sums.span(low)[1].bit_length()
            if all(c % (1 << bits) == 0 for c in high.terms.values()):
                self.fits(f"| of disjoint numbers below 2^{bits}", low, (1 << bits) - 1)
                return x + y
        raise Unsupported("| of sums that may overlap")

    def shift(self, op, a, b):
        n, t = self.known(b), a.t
        if t and not 0 <= n < WIDTH[t]:
            self.goal(f"{op} {n} of {t}", False)
            n %= WIDTH[t]
        if isinstance(a.v, int):
            return N(t, self.in_type(a.v << n, t) if op == "<<" else a.v >> n)
        if isinstance(a.v, Poly):
            if op == ">>":
                return N(t, self.sums.divmod(a.v, n)[0])
            kept = self.sums.divmod(a.v, WIDTH[t] - n)[1] if n else a.v
            return N(t, kept * (1 << n))
        if op == "<<":
            return N(t, a.v << n)
        return N(t, a.v >> n if t[0] == "i" else z3.LShR(a.v, n))

    def wrapping(self, op, a, b, t):
        """Returns the value mod 2^width, and the condition for an overflow."""
        kind = self.kind(a, b)
        if kind == "known":
            value = OPERATIONS[op](a.v, b.v)
            return N(t, self.in_type(value, t)), self.in_type(value, t) != value
        if kind == "sums":
            over, rest = self.sums.divmod(OPERATIONS[op](Poly.of(a.v), Poly.of(b.v)), WIDTH[t])
            return N(t, rest), N("bool", over)
        x, y = self.bits(a, t), self.bits(b, t)
        if op not in "+-":
            raise Unsupported(f"wrapping {op} of bits")
        value = OPERATIONS[op](x, y)
        if t[0] == "i":
            return N(t, value), None
        return N(t, value), z3.ULT(value, x) if op == "+" else z3.ULT(x, y)

    def equal(self, a, b):
        a, b = plain(a), plain(b)
        if isinstance(a, LIST):
            return len(a) == len(b) and z3.And([self.equal(x, y) for x, y in zip(a, b)])
        return self.binary("==", a, b)

    def chosen(self, condition, a, b):
        if isinstance(a, LIST):
            return [self.chosen(condition, x, y) for x, y in zip(a, b, strict=True)]
        t = a.t or b.t
        return N(t, z3.If(condition, self.bits(a, t), self.bits(b, t)))

    def cast(self, value, t):
        value = plain(value)
        if t not in WIDTH:
            raise Unsupported(f"as {t}")
        width = WIDTH[t]
        if isinstance(value, bool):
            return N(t, int(value))
        if z3.is_bool(value):
            return N(t, z3.If(value, z3.BitVecVal(1, width), z3.BitVecVal(0, width)))
        if value.t == "bool":
            return N(t, value.v)
        if isinstance(value.v, int):
            return N(t, self.in_type(value.v, t))
        before = WIDTH[value.t]
        if isinstance(value.v, Poly):
            return N(t, value.v if width >= before else self.sums.divmod(value.v, width)[1])
        if width == before:
            return N(t, value.v, value.narrow)
        if width < before:
            return N(t, z3.Extract(width - 1, 0, value.v))
        signed = value.t[0] == "i"
        wide = (z3.SignExt if signed else z3.ZeroExt)(width - before, value.v)
        return N(t, wide, value.narrow or (signed, value.v))

    def inverted(self, value):
        value = plain(value)
        if isinstance(value, bool):
            return not value
        return N(value.t, self.in_type(~value.v, value.t) if isinstance(value.v, int) else ~value.v)

    def from_bytes(self, t, p, big):
        p = [self.number(byte) for byte in (p if big else p[::-1])]
        if len(p) * 8 != WIDTH[t]:
            raise Unsupported(f"{t} from {len(p)} bytes")
        if self.kind(*p) == "known":
            return N(t, self.in_type(int.from_bytes(bytes(byte.v for byte in p), "big"), t))
        return N(t, z3.Concat(*[self.bits(byte, "u8") for byte in p]))

    def to_bytes(self, n, big):
        places = range(0, WIDTH[n.t], 8)
        if isinstance(n.v, int):
            p = [N("u8", n.v >> i & 0xFF) for i in places]
        else:
            p = [N("u8", z3.Extract(i + 7, i, n.v)) for i in places]
        return p[::-1] if big else p


def product(signed, x, y, width):
    """Models the product of two narrow numbers as an uninterpreted function, so that products are
    equal only by equal factors. It fits: the type is at least twice as wide."""
    size = x.size()
    sort = z3.BitVecSort(2 * size)
    value = z3.Function(f"{'s' if signed else 'u'}mul{size}", x.sort(), y.sort(), sort)(x, y)
    return (z3.SignExt if signed else z3.ZeroExt)(width - 2 * size, value)
