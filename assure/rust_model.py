"""Runs Rust functions, as `rust_source` reads them, on numbers that may be unknown.

A number is one of three kinds:

- known: an integer of Python.
- bits: a bit vector of z3, of the type's width.
- sums: a polynomial with integer coefficients in atoms, each with known ends. A shift or a mask of one
  adds atoms for quotient and rest, and the equation between them. z3 decides about such numbers as
  whole numbers, with each product of atoms as an unknown of its own.

Each operation that Rust checks in a debug build (`+`, `-`, `*`, `<<`, indices, `assert!`) adds a goal:
that it never fails. So do the additions and products of vectors' words where a theorem says so.
"""

import z3

from rust_source import Parser, Unsupported

WIDTH = {"u8": 8, "u16": 16, "u32": 32, "u64": 64, "u128": 128, "usize": 64}
WIDTH |= {"i" + name[1:]: width for name, width in WIDTH.items()}


class N:
    """A number: its type (None for a literal that has none yet) and its value."""

    __slots__ = ("t", "v", "narrow")

    def __init__(self, t, v, narrow=None):
        self.t, self.v, self.narrow = t, v, narrow

    def __repr__(self):
        return f"{self.v}{self.t or ''}"


class Poly:
    """A sum of products of atoms: {sorted names: coefficient}."""

    __slots__ = ("terms",)

    def __init__(self, terms):
        self.terms = {m: c for m, c in terms.items() if c}

    @staticmethod
    def of(value):
        return value if isinstance(value, Poly) else Poly({(): value})

    def __add__(self, other):
        terms = dict(self.terms)
        for m, c in Poly.of(other).terms.items():
            terms[m] = terms.get(m, 0) + c
        return Poly(terms)

    def __mul__(self, other):
        terms = {}
        for m, c in self.terms.items():
            for n, d in Poly.of(other).terms.items():
                key = tuple(sorted(m + n))
                terms[key] = terms.get(key, 0) + c * d
        return Poly(terms)

    def __sub__(self, other):
        return self + Poly.of(other) * -1

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return Poly.of(other) - self

    def key(self):
        return tuple(sorted(self.terms.items()))


class Sums:
    """The atoms of polynomials, and what is known of them."""

    def __init__(self):
        self.ends, self.parts, self.equations, self.divided = {}, {}, [], {}
        self.products = {}

    def atom(self, name, low, high):
        if name in self.ends:
            raise Unsupported(f"two atoms {name}")
        if low < 0:
            raise Unsupported(f"{name} may be negative")
        self.ends[name] = (low, high)
        return Poly({(name,): 1})

    def fresh(self, name, low, high):
        return self.atom(f"{name}{len(self.ends)}", low, high)

    def span(self, poly):
        low = high = 0
        for monomial, c in Poly.of(poly).terms.items():
            a = b = c
            for name in monomial:
                ends = self.ends[name]
                a, b = (a * ends[0], b * ends[1]) if c > 0 else (a * ends[1], b * ends[0])
            low, high = low + min(a, b), high + max(a, b)
        return low, high

    def divmod(self, poly, bits):
        """Quotient and rest over 2^bits, rounded down."""
        size = 1 << bits
        whole = Poly({m: c // size for m, c in poly.terms.items() if c % size == 0})
        rest = Poly({m: c for m, c in poly.terms.items() if c % size})
        low, high = self.span(rest)
        if low >> bits == high >> bits:
            return whole + (low >> bits), rest - (low >> bits) * size
        key = (rest.key(), bits)
        if key not in self.divided:
            if low < 0:
                # A quotient from its lowest value on, so that no atom is negative.
                first = low >> bits
                q = self.fresh("q", 0, (high >> bits) - first) + first
            else:
                q = self.fresh("q", low >> bits, high >> bits)
            r = self.fresh("r", 0, size - 1)
            (name,) = next(iter(r.terms))
            self.parts[name] = rest - q * size
            self.equations.append((r, rest - q * size))
            self.divided[key] = (q, r)
        q, r = self.divided[key]
        return whole + q, r

    def expanded(self, poly):
        """The same in atoms that no equation defines."""
        while True:
            for monomial in poly.terms:
                name = next((name for name in monomial if name in self.parts), None)
                if name:
                    break
            else:
                return poly
            c = poly.terms[monomial]
            left = list(monomial)
            left.remove(name)
            poly = poly - Poly({monomial: c}) + Poly({tuple(left): c}) * self.parts[name]

    def linear(self, poly):
        """As a term of z3, with each product as an unknown of its own."""
        terms = []
        for monomial, c in sorted(Poly.of(poly).terms.items()):
            if not monomial:
                terms.append(z3.IntVal(c))
                continue
            if len(monomial) > 1 and monomial not in self.products:
                self.products[monomial] = True
            terms.append(z3.IntVal(c) * z3.Int("*".join(monomial)))
        return z3.Sum(terms) if terms else z3.IntVal(0)

    def facts(self):
        """What is known: ends, equations, ends of products, and equations times atoms."""
        facts = []
        for name, (low, high) in self.ends.items():
            facts += [z3.Int(name) >= low, z3.Int(name) <= high]
        for left, right in self.equations:
            facts.append(self.linear(left) == self.linear(right))
        done = set()
        while todo := [m for m in self.products if m not in done]:
            for monomial in todo:
                done.add(monomial)
                product = z3.Int("*".join(monomial))
                low, high = self.span(Poly({monomial: 1}))
                facts += [product >= low, product <= high]
                name = next((name for name in monomial if name in self.parts), None)
                if name:
                    left = list(monomial)
                    left.remove(name)
                    other = Poly({tuple(left): 1}) * self.parts[name]
                    facts.append(product == self.linear(other))
        return facts


class Slice:
    """A part of a list, in its place."""

    def __init__(self, base, start, stop):
        while isinstance(base, Slice):
            start, stop, base = base.start + start, base.start + stop, base.base
        self.base, self.start, self.stop = base, start, stop

    def __len__(self):
        return self.stop - self.start

    def __getitem__(self, i):
        if isinstance(i, slice):
            return self.base[self.start : self.stop][i]
        if not 0 <= i < len(self):
            raise IndexError
        return self.base[self.start + i]

    def __setitem__(self, i, value):
        if not 0 <= i < len(self):
            raise IndexError
        self.base[self.start + i] = value

    def __iter__(self):
        return iter(self.base[self.start : self.stop])


class Mut:
    """A reference to an element of a list, a field or a variable."""

    def __init__(self, base, key):
        self.base, self.key = base, key

    def get(self):
        return self.base[self.key]

    def set(self, value):
        self.base[self.key] = value


class Muts:
    """`&mut` of a list: what it yields may be written."""

    def __init__(self, base):
        self.base = base


class Struct:
    def __init__(self, name, fields):
        self.name, self.fields = name, fields

    def __repr__(self):
        return f"{self.name}{self.fields}"


class Some:
    def __init__(self, value):
        self.value = value


class Range:
    def __init__(self, low, high, t):
        self.low, self.high, self.t = low, high, t


class Chunks:
    """`as_chunks` whose length the pattern or the theorem says."""

    def __init__(self, base):
        self.base = base

    def of(self, n):
        whole = len(self.base) // n
        chunks = [Slice(self.base, i * n, i * n + n) for i in range(whole)]
        return chunks, Slice(self.base, whole * n, len(self.base))


class Iter:
    def __init__(self, iterator):
        self.iterator = iter(iterator)

    def __iter__(self):
        return self.iterator


class Closure:
    def __init__(self, params, body, scopes, frame):
        self.params, self.body, self.scopes, self.frame = params, body, scopes, frame


class Bound:
    """A function with what `Self` stands for."""

    def __init__(self, function, owner):
        self.function, self.owner = function, owner


class Model:
    """A type or a value that a theorem models in Python."""

    traits = ()


class Return(Exception):
    def __init__(self, value):
        self.value = value


class Break(Exception):
    pass


class Continue(Exception):
    pass


class Stop(Exception):
    """A theorem asked to stop where a name is bound."""

    def __init__(self, frame, value):
        self.value, self.names = value, {}
        for scope in frame.scopes:
            self.names |= scope


class Frame:
    def __init__(self, source, types):
        self.source, self.types, self.scopes = source, types, [{}]


LIST = (list, Slice)


def copied(value):
    if isinstance(value, (list, Slice)):
        return [copied(item) for item in value]
    if isinstance(value, tuple):
        return tuple(copied(item) for item in value)
    if isinstance(value, Struct):
        return Struct(value.name, {k: copied(v) for k, v in value.fields.items()})
    return value


def plain(value):
    """Without references."""
    while isinstance(value, (Mut, Muts)):
        value = value.get() if isinstance(value, Mut) else value.base
    return value


class Machine:
    """Runs functions of some sources. `goals` are what a theorem must prove, each with a line."""

    def __init__(self, sources, chunk=None, uninterpreted=False):
        self.sources = sources
        self.sums, self.goals, self.assumed = Sums(), [], []
        self.contracts, self.chunk, self.stop_at = {}, chunk, None
        # Products of two unknowns as functions that z3 knows nothing of.
        self.uninterpreted = uninterpreted
        self.where = ["?"]
        self.constants = {}
        # Instructions by name: functions of the constants in `::<>` and of the operands.
        self.intrinsics = {}

    # Goals.

    def goal(self, line, formula):
        if formula is True:
            return
        self.goals.append((f"{self.where[-1]}: {line}", formula))

    # Numbers.

    def domain(self, *numbers):
        kinds = {
            "sums" if isinstance(n.v, Poly) else "known" if isinstance(n.v, int) else "bits"
            for n in numbers
        } - {"known"}
        if len(kinds) > 1:
            raise Unsupported("sums and bits in one operation")
        return kinds.pop() if kinds else "known"

    def bits(self, n, t):
        return z3.BitVecVal(n.v, WIDTH[t]) if isinstance(n.v, int) else n.v

    def number(self, value):
        value = plain(value)
        if isinstance(value, bool) or z3.is_bool(value):
            return N("bool", value)
        if not isinstance(value, N):
            raise Unsupported(f"no number: {value!r}")
        return value

    def typed(self, a, b):
        a, b = self.number(a), self.number(b)
        t = a.t or b.t
        if a.t and b.t and a.t != b.t:
            raise Unsupported(f"{a.t} and {b.t} in one operation")
        return a, b, t

    def in_type(self, value, t):
        """A known value as the type has it."""
        if t is None:
            return value
        width = WIDTH[t]
        value &= (1 << width) - 1
        return value - (1 << width) if t[0] == "i" and value >> (width - 1) else value

    def ends(self, t):
        width = WIDTH[t]
        return (
            (-(1 << (width - 1)), (1 << (width - 1)) - 1) if t[0] == "i" else (0, (1 << width) - 1)
        )

    def fits(self, line, poly, t, low=0):
        """A goal: the sum is a number of the type."""
        self.goal(
            f"{line} fits in {t}",
            z3.And(self.sums.linear(poly) >= low, self.sums.linear(poly) <= self.ends(t)[1]),
        )

    def binary(self, op, a, b):
        a, b = plain(a), plain(b)
        if op in ("==", "!=") and not isinstance(a, N):
            equal = self.equal(a, b)
            return equal if op == "==" else self.negated(equal)
        if op in ("&", "|", "^") and (isinstance(a, bool) or z3.is_bool(a)):
            if isinstance(a, bool) and isinstance(b, bool):
                return {"&": a & b, "|": a | b, "^": a ^ b}[op]
            return {"&": z3.And, "|": z3.Or, "^": z3.Xor}[op](a, b)
        if op in ("<<", ">>"):
            return self.shift(op, self.number(a), self.number(b))
        a, b, t = self.typed(a, b)
        if t == "bool":
            raise Unsupported(f"{op} of a carry")
        domain = self.domain(a, b)
        if op in ("==", "!=", "<", ">", "<=", ">="):
            return self.compared(op, a, b, t, domain)
        if domain == "known":
            if t and op in "&|^":
                a, b = N(t, self.in_type(a.v, t)), N(t, self.in_type(b.v, t))
            if op in "/%":
                q = abs(a.v) // abs(b.v) * (1 if (a.v < 0) == (b.v < 0) else -1)
                value = q if op == "/" else a.v - q * b.v
            else:
                value = {
                    "+": lambda x, y: x + y,
                    "-": lambda x, y: x - y,
                    "*": lambda x, y: x * y,
                    "&": lambda x, y: x & y,
                    "|": lambda x, y: x | y,
                    "^": lambda x, y: x ^ y,
                }[op](a.v, b.v)
            if t and self.in_type(value, t) != value:
                self.goal(f"{a.v} {op} {b.v} fits in {t}", z3.BoolVal(False))
                value = self.in_type(value, t)
            return N(t, value)
        if domain == "bits":
            return self.bits_binary(op, a, b, t)
        return self.sums_binary(op, a, b, t)

    def bits_binary(self, op, a, b, t):
        x, y, signed = self.bits(a, t), self.bits(b, t), t[0] == "i"
        if op == "+":
            self.goal(f"+ fits in {t}", z3.BVAddNoOverflow(x, y, signed))
            if signed:
                self.goal(f"+ fits in {t}", z3.BVAddNoUnderflow(x, y))
            return N(t, x + y)
        if op == "-":
            if signed:
                self.goal(f"- fits in {t}", z3.BVSubNoOverflow(x, y))
            self.goal(f"- fits in {t}", z3.BVSubNoUnderflow(x, y, signed))
            return N(t, x - y)
        if op == "*":
            return self.bits_product(a, b, t, wraps=False)
        if op in "&|^":
            return N(t, {"&": x & y, "|": x | y, "^": x ^ y}[op])
        if op in "/%" and isinstance(b.v, int) and not signed and b.v > 0:
            return N(t, z3.UDiv(x, y) if op == "/" else z3.URem(x, y))
        raise Unsupported(f"{op} of bits")

    def bits_product(self, a, b, t, wraps):
        if isinstance(a.v, int):
            a, b = b, a
        width, signed = WIDTH[t], t[0] == "i"
        if isinstance(b.v, int):
            if not wraps:
                if signed or b.v < 0:
                    raise Unsupported("a signed product with a constant")
                if b.v:
                    most = ((1 << width) - 1) // b.v
                    self.goal(f"* {b.v} fits in {t}", z3.ULE(a.v, most))
            return N(t, a.v * b.v)
        if self.uninterpreted and a.narrow is not None and b.narrow is not None:
            (s, x), (s2, y) = a.narrow, b.narrow
            if s == s2 and x.size() == y.size() and 2 * x.size() <= width:
                return N(t, product(s, x, y, width))
        if self.uninterpreted:
            raise Unsupported("a product of unknown width")
        if not wraps:
            self.goal(f"* fits in {t}", z3.BVMulNoOverflow(a.v, b.v, signed))
            if signed:
                self.goal(f"* fits in {t}", z3.BVMulNoUnderflow(a.v, b.v))
        return N(t, a.v * b.v)

    def sums_binary(self, op, a, b, t):
        x, y = Poly.of(a.v), Poly.of(b.v)
        if op in "+*-":
            value = {"+": x + y, "*": x * y, "-": x - y}[op]
            self.fits(op, value, t)
            return N(t, value)
        if op == "&":
            if isinstance(a.v, int):
                a, b, x, y = b, a, y, x
            if not isinstance(b.v, int):
                raise Unsupported("& of two sums")
            return N(t, self.masked(x, self.in_type(b.v, t), WIDTH[t]))
        if op == "|":
            return N(t, self.disjoint(x, y, t))
        if op == "^" and 0 in (a.v, b.v):
            return N(t, x + y)
        raise Unsupported(f"{op} of sums")

    def masked(self, x, mask, width):
        if mask == 0:
            return Poly({})
        low = (mask & -mask).bit_length() - 1
        ones = (mask >> low).bit_length()
        if mask >> low != (1 << ones) - 1:
            raise Unsupported(f"a mask with gaps: {mask:x}")
        if low:
            x, _ = self.sums.divmod(x, low)
        if low + ones < width:
            _, x = self.sums.divmod(x, ones)
        return x * (1 << low)

    def disjoint(self, x, y, t):
        for high, low in ((x, y), (y, x)):
            span = self.sums.span(low)
            bits = max(span[1].bit_length(), 0)
            if all(c % (1 << bits) == 0 for c in high.terms.values()):
                self.goal(
                    f"| of disjoint numbers below 2^{bits}",
                    z3.And(self.sums.linear(low) >= 0, self.sums.linear(low) < 1 << bits),
                )
                return x + y
        raise Unsupported("| of sums that may overlap")

    def shift(self, op, a, b):
        if not isinstance(b.v, int):
            t = a.t
            if t is None:
                raise Unsupported("an unknown shift of a literal")
            width = WIDTH[t]
            amount = b.v
            if isinstance(amount, Poly):
                raise Unsupported("a shift by a sum")
            self.goal(f"{op} by less than {width}", z3.ULT(amount, width))
            size = amount.size()
            amount = (
                z3.ZeroExt(width - size, amount)
                if size < width
                else z3.Extract(width - 1, 0, amount)
            )
            x = self.bits(a, t)
            if op == "<<":
                return N(t, x << amount)
            return N(t, x >> amount if t[0] == "i" else z3.LShR(x, amount))
        n, t = b.v, a.t
        if t and not 0 <= n < WIDTH[t]:
            self.goal(f"{op} {n} of {t}", z3.BoolVal(False))
            n %= WIDTH[t]
        if isinstance(a.v, int):
            return N(t, self.in_type(a.v << n, t) if op == "<<" else a.v >> n)
        if isinstance(a.v, Poly):
            if op == ">>":
                return N(t, self.sums.divmod(a.v, n)[0])
            _, kept = self.sums.divmod(a.v, WIDTH[t] - n) if n else (None, a.v)
            return N(t, kept * (1 << n))
        if op == "<<":
            return N(t, a.v << n)
        return N(t, a.v >> n if t[0] == "i" else z3.LShR(a.v, n))

    def compared(self, op, a, b, t, domain):
        if domain == "known":
            x, y = (self.in_type(a.v, t), self.in_type(b.v, t)) if t else (a.v, b.v)
            return {"==": x == y, "!=": x != y, "<": x < y, ">": x > y, "<=": x <= y, ">=": x >= y}[
                op
            ]
        if domain == "sums":
            x, y = self.sums.linear(a.v), self.sums.linear(b.v)
            return {"==": x == y, "!=": x != y, "<": x < y, ">": x > y, "<=": x <= y, ">=": x >= y}[
                op
            ]
        x, y, signed = self.bits(a, t), self.bits(b, t), t[0] == "i"
        if op in ("==", "!="):
            return x == y if op == "==" else x != y
        if signed:
            return {"<": x < y, ">": x > y, "<=": x <= y, ">=": x >= y}[op]
        return {"<": z3.ULT, ">": z3.UGT, "<=": z3.ULE, ">=": z3.UGE}[op](x, y)

    def negated(self, a):
        return not a if isinstance(a, bool) else z3.Not(a)

    def equal(self, a, b):
        a, b = plain(a), plain(b)
        if isinstance(a, (list, Slice, tuple)):
            if len(a) != len(b):
                return False
            parts = [self.equal(x, y) for x, y in zip(a, b)]
            if all(isinstance(part, bool) for part in parts):
                return all(parts)
            return z3.And(parts)
        if isinstance(a, Struct):
            return self.equal(tuple(a.fields.values()), tuple(b.fields.values()))
        if isinstance(a, N):
            return self.binary("==", a, b)
        if isinstance(a, Some) or isinstance(b, Some) or a is None or b is None:
            if (a is None) != (b is None):
                return False
            return True if a is None else self.equal(a.value, b.value)
        if isinstance(a, bool) and isinstance(b, bool):
            return a == b
        return a == b

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
            narrow = z3.Extract(width - 1, 0, value.v)
            return N(t, narrow)
        signed = value.t[0] == "i"
        wide = (z3.SignExt if signed else z3.ZeroExt)(width - before, value.v)
        return N(t, wide, value.narrow or (signed, value.v))

    def unary(self, op, value):
        value = plain(value)
        if op == "!":
            if isinstance(value, bool) or z3.is_bool(value):
                return self.negated(value)
            if isinstance(value.v, int):
                return N(value.t, self.in_type(~value.v, value.t))
            if isinstance(value.v, Poly):
                return N(value.t, (1 << WIDTH[value.t]) - 1 - value.v)
            return N(value.t, ~value.v)
        if isinstance(value.v, int):
            return N(value.t, -value.v)
        raise Unsupported("- of an unknown")

    def wrapping(self, op, a, b, t):
        """The value mod 2^width, and what an overflow says."""
        width = WIDTH[t]
        domain = self.domain(a, b)
        if domain == "known":
            value = {"+": a.v + b.v, "-": a.v - b.v, "*": a.v * b.v}[op]
            return N(t, self.in_type(value, t)), self.in_type(value, t) != value
        if domain == "sums":
            x, y = Poly.of(a.v), Poly.of(b.v)
            value = {"+": x + y, "-": x - y, "*": x * y}[op]
            q, r = self.sums.divmod(value, width)
            return N(t, r), N("bool", q)
        x, y, signed = self.bits(a, t), self.bits(b, t), t[0] == "i"
        if op == "*":
            return self.bits_product(a, b, t, wraps=True), None
        if signed:
            return N(t, x + y if op == "+" else x - y), None
        if op == "+":
            return N(t, x + y), z3.ULT(x + y, x)
        return N(t, x - y), z3.ULT(x, y)

    # Running.

    def find(self, owner, name):
        for source in self.sources:
            if (owner, name) in source.functions:
                return source.functions[owner, name]
        return None

    def traits_of(self, owner):
        return [trait for source in self.sources for trait in source.impls.get(owner, ())]

    def method(self, key, name):
        """A method of a type, or its trait's default."""
        found = self.find(key, name)
        if found:
            return found
        for trait in self.traits_of(key):
            found = self.find(trait, name)
            if found and found.body_tokens is not None:
                return found
        return None

    def constant(self, owner, name, frame, only=None):
        for source in [only] if only else self.sources:
            if (owner, name) in source.constants:
                known = (source.name, owner, name, str(frame.types.get("Self")))
                if known not in self.constants:
                    type_, tokens = source.constants[owner, name]
                    inner = Frame(source, dict(frame.types))
                    if owner and owner not in ("array",):
                        inner.types.setdefault("Self", owner)
                    value = self.eval(Parser(tokens, source).expression(), inner)
                    self.constants[known] = self.shaped(value, type_, inner)
                return copied(self.constants[known])
        return None

    def shaped(self, value, type_, frame):
        """The value with the type that was written: only literals change."""
        if type_ is None:
            return value
        if type_[0] == "ref":
            return self.shaped(value, type_[1], frame)
        if (
            isinstance(value, N)
            and value.t is None
            and type_[0] == "path"
            and type_[1][-1] in WIDTH
        ):
            return N(type_[1][-1], self.in_type(value.v, type_[1][-1]))
        if isinstance(value, (list, Slice)) and type_[0] == "array":
            for i, item in enumerate(value):
                new = self.shaped(item, type_[1], frame)
                if new is not item:
                    value[i] = new
        if isinstance(value, tuple) and type_[0] == "tuple":
            return tuple(self.shaped(v, t, frame) for v, t in zip(value, type_[1]))
        return value

    def bind_lengths(self, type_, value, generics, types):
        """Lengths that a call leaves to be inferred from its arguments."""
        value = plain(value)
        if type_[0] == "ref":
            return self.bind_lengths(type_[1], value, generics, types)
        if type_[0] == "array" and isinstance(value, (list, Slice)):
            length = type_[2]
            if length and length[0] == "path" and length[1][0] in generics and len(length[1]) == 1:
                types[length[1][0]] = N("usize", len(value))
            if len(value):
                self.bind_lengths(type_[1], value[0], generics, types)

    def call(self, function, args, receiver=None, generics=(), types=None, owner=None):
        """Runs a function of the sources. `types` says what its generics stand for."""
        contract = self.contracts.get((function.owner, function.name)) or self.contracts.get(
            function.name
        )
        if contract:
            return contract(*(([receiver] if function.has_self else []) + list(args)))
        types = dict(types or {})
        if owner is not None:
            types["Self"] = owner
        elif function.owner and function.trait is None and function.owner not in ("array",):
            types["Self"] = function.owner
        for name, given in zip(function.generics, generics):
            types[name] = given
        if len(args) != len(function.params):
            raise Unsupported(f"{function.name} with {len(args)} arguments")
        for (_, type_), arg in zip(function.params, args):
            self.bind_lengths(type_, arg, function.generics, types)
        frame = Frame(function.source, types)
        if function.has_self:
            frame.scopes[0]["self"] = receiver
        for (pattern, type_), arg in zip(function.params, args):
            if not self.bind(pattern, self.shaped(arg, type_, frame), frame):
                raise Unsupported(f"an argument of {function.name}")
        owner_name = f"{function.owner}::" if function.owner else ""
        self.where.append(f"{function.source.name}: {owner_name}{function.name}")
        try:
            value = self.eval(function.body, frame)
        except Return as returned:
            value = returned.value
        finally:
            self.where.pop()
        return self.shaped(
            plain(value) if isinstance(value, Mut) else value, function.returns, frame
        )

    def run(self, owner, name, *args, receiver=None, types=None, self_type=None):
        """Runs the function of that name, for theorems."""
        function = self.find(owner, name)
        if not function:
            raise Unsupported(f"no function {owner or ''}::{name}")
        return self.call(function, list(args), receiver, (), types, self_type)

    def apply(self, callee, args, frame):
        if callable(callee):
            return callee(*args)
        if isinstance(callee, Bound):
            args = list(args)
            receiver = args.pop(0) if callee.function.has_self else None
            return self.call(callee.function, args, receiver, (), frame.types, callee.owner)
        if isinstance(callee, Closure):
            inner = Frame(callee.frame.source, callee.frame.types)
            inner.scopes = callee.scopes + [{}]
            for pattern, arg in zip(callee.params, args, strict=True):
                if not self.bind(pattern, arg, inner):
                    raise Unsupported("an argument of a closure")
            return self.eval(callee.body, inner)
        raise Unsupported(f"a call of {callee!r}")

    def bind(self, pattern, value, frame):
        kind = pattern[0]
        if kind == "any":
            return True
        if kind == "name":
            name, mutable = pattern[1], pattern[2]
            if self.stop_at == name:
                raise Stop(frame, value)
            if mutable and isinstance(value, (list, Struct)):
                value = copied(value)
            frame.scopes[-1][name] = value
            return True
        if kind == "tuple":
            value = plain(value)
            if isinstance(value, Chunks):
                first = pattern[1][0]
                if first[0] != "slice" or any(part[0] == "rest" for part in first[1]):
                    raise Unsupported("chunks of unknown length")
                value = value.of(max(1, len(value.base) // max(1, len(first[1]))))
            if not isinstance(value, tuple):
                raise Unsupported(f"no tuple: {value!r}")
            return self.bind_all(pattern[1], list(value), frame)
        if kind == "slice":
            mutable = isinstance(value, Muts)
            value = plain(value)
            parts = pattern[1]
            rest = next((i for i, part in enumerate(parts) if part[0] == "rest"), None)
            items = [Mut(value, i) for i in range(len(value))] if mutable else list(value)
            if rest is None:
                if len(items) != len(parts):
                    return False
                return self.bind_all(parts, items, frame)
            if len(items) < len(parts) - 1:
                return False
            after = len(parts) - rest - 1
            if parts[rest][1]:
                frame.scopes[-1][parts[rest][1]] = Slice(value, rest, len(items) - after)
            return self.bind_all(
                parts[:rest] + parts[rest + 1 :], items[:rest] + items[len(items) - after :], frame
            )
        if kind == "struct":
            value = plain(value)
            if pattern[1] in ("Some", "Ok"):
                return isinstance(value, Some) and self.bind(pattern[2][0][1], value.value, frame)
            if not isinstance(value, Struct):
                return False
            name = frame.types.get("Self") if pattern[1] == "Self" else pattern[1]
            if value.name != name:
                return False
            return all(self.bind(part, value.fields[field], frame) for field, part in pattern[2])
        if kind == "literal":
            known = self.eval(pattern[1], frame)
            equal = self.equal(value, known)
            if not isinstance(equal, bool):
                raise Unsupported("a match on an unknown")
            return equal
        if kind in ("below", "from"):
            end, value = self.number(self.eval(pattern[1], frame)), self.number(value)
            return value.v < end.v if kind == "below" else value.v >= end.v
        if kind == "or":
            return any(self.bind(part, value, frame) for part in pattern[1])
        raise Unsupported(f"the pattern {kind}")

    def bind_all(self, parts, items, frame):
        if len(parts) != len(items):
            raise Unsupported("a pattern of another length")
        # All are tried: none has a part that may fail but literals and chunks.
        return all([self.bind(part, item, frame) for part, item in zip(parts, items)])

    def truth(self, value):
        value = plain(value)
        if not isinstance(value, bool):
            raise Unsupported("a branch on an unknown")
        return value

    def condition(self, node, frame):
        if node[0] == "all":
            return all(self.condition(part, frame) for part in node[1])
        if node[0] == "let":
            return self.bind(node[1], self.eval(node[2], frame), frame)
        return self.eval(node, frame)

    def resolve(self, name, frame):
        """What a name of a type stands for."""
        seen = set()
        while isinstance(name, str) and name in frame.types and name not in seen:
            seen.add(name)
            name = frame.types[name]
        return name

    def type_named(self, type_, frame):
        if type_[0] == "const":
            return self.eval(type_[1], frame)
        if type_[0] == "array":
            return "array"
        if type_[0] == "ref":
            return self.type_named(type_[1], frame)
        if type_[0] == "path":
            name = type_[1][-1]
            if len(type_[1]) > 1:
                first = type_[1][0]
                first = (
                    self.type_named(first, frame)
                    if isinstance(first, tuple)
                    else self.resolve(first, frame)
                )
                if isinstance(first, Model) and hasattr(first, name):
                    return getattr(first, name)
            name = self.resolve(name, frame)
            if isinstance(name, str):
                for scope in reversed(frame.scopes):
                    if name in scope:
                        return scope[name]
                known = self.constant(None, name, frame)
                if known is not None and name not in self.structs():
                    return known
            return name
        return "?"

    def structs(self):
        return {name for source in self.sources for name in source.structs}

    def path(self, names, generics, frame):
        if isinstance(names[0], tuple):
            type_ = names[0][1] if names[0][0] == "ref" else names[0]
            if names[-1] == "try_from" and type_[0] == "array" and type_[2] is not None:
                length = self.number(self.eval(type_[2], frame)).v
                return lambda value: Some(value) if len(plain(value)) == length else None
            names = [self.type_named(names[0], frame), *names[1:]]
        last = names[-1]
        given = [self.type_named(g, frame) for g in generics]
        if len(names) == 1:
            for scope in reversed(frame.scopes):
                if last in scope:
                    return scope[last]
            if last == "None":
                return None
            if last in frame.types and isinstance(frame.types[last], (N, bool)):
                return frame.types[last]
            if last in self.intrinsics:
                return lambda *args: self.intrinsics[last]([g.v for g in given], *args)
            if last in BUILTINS:
                return BUILTINS[last]
            if last in ("Some", "Ok"):
                return Some
            for source in [frame.source, *self.sources]:
                if (None, last) in source.functions:
                    return self.generic(source.functions[None, last], None, given, frame)
                known = self.constant_of(source, None, last, frame)
                if known is not None:
                    return known
            if last in self.structs() or last == "Self":
                name = self.resolve(last, frame)
                return lambda *args: Struct(name, {str(i): arg for i, arg in enumerate(args)})
            raise Unsupported(f"{frame.source.name}: the name {last}")
        owner = names[-2]
        owner = self.resolve(owner, frame) if isinstance(owner, str) else owner
        if isinstance(owner, Model):
            if hasattr(owner, last):
                return getattr(owner, last)
            for trait in owner.traits:
                found = self.find(trait, last)
                if found:
                    return self.generic(found, owner, given, frame)
                known = self.constant(
                    trait, last, Frame(frame.source, frame.types | {"Self": owner})
                )
                if known is not None:
                    return known
            raise Unsupported(f"{type(owner).__name__} has no {last}")
        known = self.constant(owner, last, frame)
        if known is not None:
            return known
        function = self.method(owner, last)
        if function:
            return self.generic(function, owner, given, frame)
        for trait in self.traits_of(owner):
            known = self.constant(trait, last, Frame(frame.source, frame.types | {"Self": owner}))
            if known is not None:
                return known
        if owner in WIDTH:
            return self.of_integer(owner, last)
        if (owner, last) in BUILTINS:
            return BUILTINS[owner, last]
        # A module's name before a function or a constant.
        for source in self.sources:
            if (None, last) in source.functions:
                return self.generic(source.functions[None, last], None, given, frame)
            known = self.constant_of(source, None, last, frame)
            if known is not None:
                return known
        raise Unsupported(f"{frame.source.name}: the name {'::'.join(map(str, names))}")

    def constant_of(self, source, owner, name, frame):
        if (owner, name) not in source.constants:
            return None
        return self.constant(owner, name, frame, source)

    def generic(self, function, owner, given, frame):
        def run(*args):
            args = list(args)
            receiver = args.pop(0) if function.has_self else None
            return self.call(function, args, receiver, given, frame.types, owner)

        return run

    def of_integer(self, t, name):
        if name == "MAX":
            return N(t, self.ends(t)[1])
        if name == "MIN":
            return N(t, self.ends(t)[0])
        if name == "BITS":
            return N("u32", WIDTH[t])
        if name in ("from_be_bytes", "from_le_bytes", "from_ne_bytes"):
            return lambda p: self.from_bytes(t, list(plain(p)), name == "from_be_bytes")
        if name == "conditional_select":
            return lambda a, b, choice: self.select(choice, plain(b), plain(a), t)
        if name in ("from", "try_from"):
            return lambda value: self.cast(value, t)
        return lambda value, *args: self.builtin(value, name, [], list(args), None)

    def select(self, choice, yes, no, t):
        choice = plain(choice)
        if isinstance(choice, bool):
            return yes if choice else no
        return N(t, z3.If(choice, self.bits(yes, t), self.bits(no, t)))

    def from_bytes(self, t, p, big):
        if len(p) * 8 != WIDTH[t]:
            raise Unsupported(f"{t} from {len(p)} bytes")
        p = [self.number(byte) for byte in p]
        order = p if big else p[::-1]
        domain = self.domain(*p)
        if domain == "known":
            return N(t, self.in_type(int.from_bytes(bytes(b.v for b in order), "big"), t))
        if domain == "sums":
            value = Poly({})
            for byte in order:
                value = value * 256 + Poly.of(byte.v)
            return N(t, value)
        return N(t, joined([self.bits(b, "u8") for b in order]))

    def to_bytes(self, n, big):
        width = WIDTH[n.t]
        if isinstance(n.v, int):
            value = n.v & ((1 << width) - 1)
            p = [N("u8", byte) for byte in value.to_bytes(width // 8, "little")]
        elif isinstance(n.v, Poly):
            p, left = [], n.v
            for _ in range(width // 8 - 1):
                left, rest = self.sums.divmod(left, 8)
                p.append(N("u8", rest))
            p.append(N("u8", left))
        else:
            p = [N("u8", z3.Extract(8 * i + 7, 8 * i, n.v)) for i in range(width // 8)]
        return p[::-1] if big else p

    def iterate(self, value):
        """The items that a loop takes."""
        if isinstance(value, Muts):
            base = plain(value)
            return (Mut(base, i) for i in range(len(base)))
        if isinstance(value, Mut) and isinstance(value.get(), LIST):
            return self.iterate(Muts(value.get()))
        value = plain(value)
        if isinstance(value, Range):
            if value.high is None:
                return self.count(value)
            return (N(value.t, i) for i in range(value.low, value.high))
        if isinstance(value, (list, Slice, Iter)):
            return iter(value)
        if isinstance(value, Some):
            return iter([value.value])
        if value is None:
            return iter([])
        raise Unsupported(f"a loop over {value!r}")

    def count(self, value):
        i = value.low
        while True:
            yield N(value.t, i)
            i += 1

    def eval(self, node, frame):
        return getattr(self, "eval_" + node[0])(node, frame)

    def value(self, node, frame):
        return plain(self.eval(node, frame))

    def eval_int(self, node, frame):
        return N(node[2], node[1])

    def eval_bool(self, node, frame):
        return node[1]

    def eval_str(self, node, frame):
        return node[1]

    def eval_paren(self, node, frame):
        return self.eval(node[1], frame)

    def eval_path(self, node, frame):
        return self.path(node[1], node[2], frame)

    def eval_tuple(self, node, frame):
        return tuple(self.eval(part, frame) for part in node[1])

    def eval_list(self, node, frame):
        return [plain(self.eval(part, frame)) for part in node[1]]

    def eval_repeat(self, node, frame):
        count, value = self.number(self.eval(node[2], frame)), self.value(node[1], frame)
        return [copied(value) for _ in range(count.v)]

    def eval_struct(self, node, frame):
        name = self.resolve(node[1][-1], frame)
        fields = {}
        if node[3] is not None:
            fields.update(plain(self.eval(node[3], frame)).fields)
        for field, value in node[2]:
            fields[field] = self.eval(value, frame)
        return Struct(name, fields)

    def eval_block(self, node, frame):
        frame.scopes.append({})
        try:
            for statement in node[1]:
                self.statement(statement, frame)
            return self.eval(node[2], frame) if node[2] is not None else ()
        finally:
            frame.scopes.pop()

    def statement(self, statement, frame):
        if statement[0] == "expr":
            self.eval(statement[1], frame)
            return
        _, pattern, type_, value, otherwise = statement
        if value is None:
            frame.scopes[-1][pattern[1]] = None
            return
        value = self.shaped(self.eval(value, frame), type_, frame)
        if not self.bind(pattern, value, frame):
            if otherwise is None:
                raise Unsupported("a pattern that does not match")
            self.eval(otherwise, frame)

    def eval_if(self, node, frame):
        frame.scopes.append({})
        try:
            condition = plain(self.condition(node[1], frame))
            if isinstance(condition, bool):
                if condition:
                    return self.eval(node[2], frame)
                return self.eval(node[3], frame) if node[3] is not None else ()
            if node[3] is None:
                raise Unsupported("a branch on an unknown")
            # Both ways, as values.
            return self.merged(condition, self.value(node[2], frame), self.value(node[3], frame))
        finally:
            frame.scopes.pop()

    def merged(self, condition, a, b):
        if isinstance(a, N):
            a, b, t = self.typed(a, b)
            return self.select(condition, a, b, t)
        if isinstance(a, (list, Slice)) and len(a) == len(b):
            return [self.merged(condition, x, y) for x, y in zip(a, b)]
        raise Unsupported("a branch on an unknown")

    def eval_match(self, node, frame):
        value = self.eval(node[1], frame)
        for pattern, guard, body in node[2]:
            frame.scopes.append({})
            try:
                if self.bind(pattern, value, frame):
                    if guard is None or self.truth(self.eval(guard, frame)):
                        return self.eval(body, frame)
            finally:
                frame.scopes.pop()
        raise Unsupported("no arm of a match")

    def eval_for(self, node, frame):
        for item in self.iterate(self.eval(node[2], frame)):
            frame.scopes.append({})
            try:
                if not self.bind(node[1], item, frame):
                    raise Unsupported("the pattern of a loop")
                self.eval(node[3], frame)
            except Continue:
                pass
            except Break:
                break
            finally:
                frame.scopes.pop()
        return ()

    def eval_while(self, node, frame):
        while True:
            frame.scopes.append({})
            try:
                if not self.truth(self.condition(node[1], frame)):
                    return ()
                self.eval(node[2], frame)
            except Continue:
                pass
            except Break:
                return ()
            finally:
                frame.scopes.pop()

    def eval_return(self, node, frame):
        raise Return(self.eval(node[1], frame) if node[1] is not None else ())

    def eval_break(self, node, frame):
        raise Break

    def eval_continue(self, node, frame):
        raise Continue

    def eval_closure(self, node, frame):
        return Closure(node[1], node[2], list(frame.scopes), frame)

    def eval_range(self, node, frame):
        low = self.number(self.eval(node[1], frame)) if node[1] is not None else None
        high = self.number(self.eval(node[2], frame)) if node[2] is not None else None
        t = (low and low.t) or (high and high.t)
        for end in (low, high):
            if end is not None and not isinstance(end.v, int):
                raise Unsupported("a range with unknown ends")
        return Range(low.v if low else None, high.v + node[3] if high else None, t)

    def eval_un(self, node, frame):
        op = node[1]
        if op in ("&", "&mut"):
            value = self.eval(node[2], frame)
            if op == "&":
                return value
            if isinstance(value, Mut):
                return value
            if isinstance(value, (list, Slice)):
                return Muts(value)
            if isinstance(value, N) and node[2][0] == "path":
                name = node[2][1][-1]
                for scope in reversed(frame.scopes):
                    if name in scope:
                        return Mut(scope, name)
            if isinstance(value, N) and node[2][0] == "index":
                base = self.value(node[2][1], frame)
                return Mut(base, self.place(base, self.number(self.eval(node[2][2], frame))))
            return value
        if op == "*":
            value = self.eval(node[2], frame)
            if isinstance(value, Mut):
                return value.get()
            return plain(value)
        return self.unary(op, self.eval(node[2], frame))

    def eval_bin(self, node, frame):
        op = node[1]
        if op in ("&&", "||"):
            left = plain(self.eval(node[2], frame))
            if isinstance(left, bool):
                if left == (op == "||"):
                    return left
                return plain(self.eval(node[3], frame))
            right = plain(self.eval(node[3], frame))
            return z3.And(left, right) if op == "&&" else z3.Or(left, right)
        return self.binary(op, self.eval(node[2], frame), self.eval(node[3], frame))

    def eval_cast(self, node, frame):
        type_ = node[2]
        if type_[0] != "path":
            raise Unsupported("a cast to no number")
        name = self.resolve(type_[1][-1], frame)
        return self.cast(self.eval(node[1], frame), name)

    def place(self, base, index):
        if isinstance(index.v, int):
            if not 0 <= index.v < len(base):
                raise Unsupported(f"{self.where[-1]}: index {index.v} of {len(base)}")
            return index.v
        raise Unsupported("an unknown index")

    def eval_index(self, node, frame):
        base = self.value(node[1], frame)
        index = self.value(node[2], frame)
        if isinstance(base, Chunks):
            base = base.of(self.chunk)[0]
        if isinstance(index, Range):
            low, high = index.low or 0, len(base) if index.high is None else index.high
            if not 0 <= low <= high <= len(base):
                raise Unsupported(f"{self.where[-1]}: {low}..{high} of {len(base)}")
            return Slice(base, low, high)
        if isinstance(index, N) and not isinstance(index.v, int) and not isinstance(index.v, Poly):
            # A table under an unknown index: each entry, chosen by it.
            self.goal(f"index below {len(base)}", z3.ULT(index.v, len(base)))
            chosen = base[0]
            for i in range(1, len(base)):
                chosen = self.merged(index.v == i, base[i], chosen)
            return chosen
        return base[self.place(base, self.number(index))]

    def eval_field(self, node, frame):
        base = self.value(node[1], frame)
        name = node[2]
        if isinstance(base, Chunks):
            return base.of(self.chunk)[int(name)]
        if isinstance(base, tuple):
            return base[int(name)]
        if isinstance(base, Struct):
            if name not in base.fields:
                raise Unsupported(f"{base.name} has no field {name}")
            return base.fields[name]
        if isinstance(base, Model):
            return getattr(base, f"field_{name}" if name.isdigit() else name)
        raise Unsupported(f"the field {name} of {base!r}")

    def assign(self, target, value, frame):
        kind = target[0]
        if kind == "paren":
            return self.assign(target[1], value, frame)
        if kind == "path":
            if target[1] == ["_"]:
                return None
            for scope in reversed(frame.scopes):
                if target[1][0] in scope:
                    held = scope[target[1][0]]
                    if isinstance(held, N) and isinstance(value, N) and value.t is None:
                        value = N(held.t, value.v)
                    scope[target[1][0]] = value
                    return None
            raise Unsupported(f"assignment to {target[1]}")
        if kind == "index":
            base = self.value(target[1], frame)
            i = self.place(base, self.number(self.eval(target[2], frame)))
            held = base[i]
            if isinstance(held, N) and isinstance(value, N) and value.t is None:
                value = N(held.t, value.v)
            base[i] = plain(value)
            return None
        if kind == "field":
            self.value(target[1], frame).fields[target[2]] = plain(value)
            return None
        if kind == "un" and target[1] == "*":
            place = self.eval(target[2], frame)
            if isinstance(place, Mut):
                held = place.get()
                if isinstance(held, N) and isinstance(value, N) and value.t is None:
                    value = N(held.t, value.v)
                value = plain(value)
                if isinstance(held, Slice) and isinstance(value, LIST):
                    for i, item in enumerate(list(value)):
                        held[i] = item
                else:
                    place.set(value)
                return None
            place, value = plain(place), plain(value)
            if isinstance(place, (list, Slice)) and len(place) == len(value):
                for i, item in enumerate(list(value)):
                    place[i] = item
                return None
            if isinstance(place, Struct):
                place.fields.update(copied(value).fields)
                return None
        if kind in ("tuple", "list"):
            for part, item in zip(target[1], list(plain(value)), strict=True):
                self.assign(part, item, frame)
            return None
        raise Unsupported(f"assignment to {kind}")

    def eval_assign(self, node, frame):
        _, op, target, source = node
        value = self.eval(source, frame)
        if op:
            value = self.binary(op, self.eval(target, frame), value)
        elif isinstance(value, Mut) and target[0] != "path":
            value = value.get()
        elif isinstance(value, (list, Struct)):
            value = copied(value)
        self.assign(target, value, frame)
        return ()

    def eval_macro(self, node, frame):
        name, tokens = node[1], node[2]
        if name in ("assert", "debug_assert"):
            parser = Parser(tokens, frame.source)
            value = plain(self.eval(parser.expression(), frame))
            self.goal("assert!", z3.BoolVal(value) if isinstance(value, bool) else value)
            return ()
        if name == "unreachable":
            self.goal("unreachable!", z3.BoolVal(False))
            raise Unsupported("unreachable! was reached")
        raise Unsupported(f"{name}!")

    def eval_try(self, node, frame):
        value = self.value(node[1], frame)
        if isinstance(value, Some):
            return value.value
        raise Return(None)

    def eval_call(self, node, frame):
        callee = self.eval(node[1], frame)
        args = [self.eval(arg, frame) for arg in node[2]]
        return self.apply(callee, args, frame)

    def type_key(self, value):
        if isinstance(value, N):
            return value.t
        if isinstance(value, (list, Slice)):
            return "array"
        if isinstance(value, Struct):
            return value.name
        return None

    def eval_mcall(self, node, frame):
        _, receiver, name, generics, args = node
        raw = self.eval(receiver, frame)
        args = [self.eval(arg, frame) for arg in args]
        value = plain(raw)
        given = [self.type_named(g, frame) for g in generics]
        if isinstance(value, Model):
            if hasattr(value, name):
                return getattr(value, name)(*args)
            for trait in value.traits:
                function = self.find(trait, name)
                if function and function.body_tokens is not None:
                    return self.call(function, args, value, given, frame.types, value)
            raise Unsupported(f"{type(value).__name__} has no {name}")
        key = self.type_key(value)
        function = self.method(key, name) if key else None
        if function and not (key == "array" and name in ("map", "fill", "iter", "len")):
            owner = frame.types.get("Self") if key == "array" else key
            return self.call(
                function, args, raw if isinstance(raw, Muts) else value, given, frame.types, owner
            )
        if isinstance(value, N) and value.t is None and args:
            other = plain(args[0])
            if isinstance(other, N) and other.t:
                value = N(other.t, value.v)
        return self.builtin(
            raw if isinstance(raw, (Muts, Mut)) else value, name, given, args, frame
        )

    def builtin(self, raw, name, generics, args, frame):
        value = plain(raw)
        if isinstance(value, bool) or z3.is_bool(value):
            if name in ("into", "clone"):
                return value
            if name == "then":
                return Some(self.apply(args[0], [], frame)) if self.truth(value) else None
            if name == "then_some":
                return Some(args[0]) if self.truth(value) else None
            raise Unsupported(f"{name} of a bool")
        if isinstance(value, N):
            return self.of_number(value, name, args)
        if isinstance(value, (list, Slice)):
            return self.of_list(raw, value, name, generics, args, frame)
        if isinstance(value, (Iter, Range)):
            return self.of_iterator(value, name, args, frame)
        if isinstance(value, Some) or value is None:
            if name in ("expect", "unwrap"):
                if value is None:
                    self.goal(f"{name} of something", z3.BoolVal(False))
                    raise Unsupported(f"{name} of nothing")
                return value.value
            if name == "unwrap_or":
                return args[0] if value is None else value.value
            if name == "is_some":
                return value is not None
            if name == "is_none":
                return value is None
            if name in ("copied", "cloned"):
                return value
            if name == "map":
                return None if value is None else Some(self.apply(args[0], [value.value], frame))
        if isinstance(value, tuple) and name == "clone":
            return copied(value)
        if isinstance(value, Struct) and name in ("clone",):
            return copied(value)
        if isinstance(value, Chunks) and name in ("iter",):
            return Iter(value.of(self.chunk)[0])
        if isinstance(value, (Closure, Bound)) or callable(value):
            return self.apply(value, args, frame)
        raise Unsupported(f"{name} of {type(value).__name__}")

    def of_number(self, n, name, args):
        if name in ("clone", "into", "borrow"):
            return n
        if name in (
            "wrapping_add",
            "wrapping_sub",
            "wrapping_mul",
            "overflowing_add",
            "overflowing_sub",
        ):
            other = self.number(args[0])
            n, other, t = self.typed(n, other)
            if t is None:
                raise Unsupported(f"{name} of a literal")
            op = {"add": "+", "sub": "-", "mul": "*"}[name.split("_")[1]]
            value, over = self.wrapping(op, n, other, t)
            if name.startswith("wrapping"):
                return value
            if over is None:
                raise Unsupported(name)
            return (value, over)
        if name == "wrapping_neg":
            return self.wrapping("-", N(n.t, 0), n, n.t)[0]
        if name in ("to_be_bytes", "to_le_bytes", "to_ne_bytes"):
            return self.to_bytes(n, name == "to_be_bytes")
        if name == "swap_bytes":
            return self.from_bytes(n.t, self.to_bytes(n, True), False)
        if name in ("checked_shl", "checked_shr"):
            amount = self.number(args[0])
            if not isinstance(amount.v, int):
                raise Unsupported(name)
            if amount.v >= WIDTH[n.t]:
                return None
            return Some(self.shift("<<" if name == "checked_shl" else ">>", n, amount))
        if isinstance(n.v, int):
            width = WIDTH.get(n.t, 64)
            other = self.number(args[0]).v if args else None
            known = {
                "trailing_zeros": lambda: N("u32", (n.v & -n.v).bit_length() - 1 if n.v else width),
                "leading_zeros": lambda: N("u32", width - n.v.bit_length()),
                "count_ones": lambda: N("u32", bin(n.v).count("1")),
                "is_multiple_of": lambda: n.v % other == 0,
                "is_power_of_two": lambda: n.v > 0 and n.v & (n.v - 1) == 0,
                "div_ceil": lambda: N(n.t, -(-n.v // other)),
                "min": lambda: N(n.t, min(n.v, other)),
                "max": lambda: N(n.t, max(n.v, other)),
                "saturating_sub": lambda: N(n.t, max(0, n.v - other)),
                "next_multiple_of": lambda: N(n.t, -(-n.v // other) * other),
            }
            if name in known:
                return known[name]()
        raise Unsupported(f"{name} of an unknown number")

    def of_list(self, raw, value, name, generics, args, frame):
        n = len(value)
        mutable = isinstance(raw, (Muts, Mut))
        if name in ("iter", "into_iter"):
            if name == "into_iter" and isinstance(raw, Muts):
                return Iter(Mut(value, i) for i in range(n))
            return Iter(list(value))
        if name == "iter_mut":
            return Iter([Mut(value, i) for i in range(n)])
        if name in ("as_ref", "as_slice", "as_bytes", "borrow"):
            return value
        if name in ("as_mut", "as_mut_slice"):
            return Muts(value)
        if name == "len":
            return N("usize", n)
        if name == "is_empty":
            return n == 0
        if name in ("clone", "to_vec"):
            return copied(value)
        if name == "map":
            return [plain(self.apply(args[0], [item], frame)) for item in value]
        if name == "fill":
            for i in range(n):
                value[i] = copied(plain(args[0]))
            return ()
        if name in ("copy_from_slice", "clone_from_slice"):
            other = list(plain(args[0]))
            if len(other) != n:
                raise Unsupported(f"{self.where[-1]}: {name} of {len(other)} to {n}")
            for i, item in enumerate(other):
                value[i] = copied(item)
            return ()
        if name in ("split_at", "split_at_mut"):
            at = self.number(args[0]).v
            if not isinstance(at, int) or at > n:
                raise Unsupported(f"{self.where[-1]}: split_at({at}) of {n}")
            parts = (Slice(value, 0, at), Slice(value, at, n))
            return tuple(Muts(part) for part in parts) if name == "split_at_mut" else parts
        if name in ("as_chunks", "as_chunks_mut"):
            if not generics:
                if name == "as_chunks_mut" and self.chunk:
                    chunks, rest = Chunks(value).of(self.chunk)
                    return (Muts(chunks), Muts(rest))
                return Chunks(value)
            chunks, rest = Chunks(value).of(self.number(generics[0]).v)
            return (Muts(chunks), Muts(rest)) if name == "as_chunks_mut" else (chunks, rest)
        if name in ("chunks", "chunks_exact", "chunks_mut"):
            step = self.number(args[0]).v
            stop = n // step * step if name == "chunks_exact" else n
            chunks = [Slice(value, i, min(i + step, stop)) for i in range(0, stop, step)]
            return Iter([Muts(chunk) for chunk in chunks] if name == "chunks_mut" else chunks)
        if name in ("first_chunk", "last_chunk"):
            size = self.number(generics[0]).v if generics else self.chunk
            if size is None or n < size:
                return None
            return Some(
                Slice(value, 0, size) if name == "first_chunk" else Slice(value, n - size, n)
            )
        if name in ("first", "last"):
            return Some(value[0 if name == "first" else n - 1]) if n else None
        if name in ("get", "get_mut"):
            index = plain(args[0])
            if isinstance(index, Range):
                low, high = index.low or 0, n if index.high is None else index.high
                return Some(Slice(value, low, high)) if low <= high <= n else None
            i = self.number(index).v
            if not isinstance(i, int):
                raise Unsupported("an unknown index")
            if i >= n:
                return None
            return Some(Mut(value, i) if name == "get_mut" else value[i])
        if name == "try_into":
            return Some(value)
        if name in ("as_flattened", "as_flattened_mut"):
            if name == "as_flattened_mut":
                raise Unsupported(name)
            return [item for part in value for item in plain(part)]
        if name == "ct_eq":
            return self.equal(value, args[0])
        if name == "each_mut":
            return [Muts(item) for item in value]
        if name in ("zip", "enumerate", "rev", "fold", "all", "any", "take", "skip", "chain"):
            return self.of_iterator(
                Iter(self.iterate(Muts(value) if mutable else value)), name, args, frame
            )
        raise Unsupported(f"{name} of a list")

    def of_iterator(self, value, name, args, frame):
        items = self.iterate(value)
        if name == "zip":
            return Iter(zip(items, self.iterate(args[0])))
        if name == "enumerate":
            return Iter((N("usize", i), item) for i, item in enumerate(items))
        if name == "rev":
            return Iter(list(items)[::-1])
        if name in ("iter", "into_iter", "copied", "cloned", "by_ref"):
            return Iter(items)
        if name == "map":
            return Iter(self.apply(args[0], [item], frame) for item in items)
        if name == "fold":
            total = args[0]
            for item in items:
                total = self.apply(args[1], [total, item], frame)
            return total
        if name == "for_each":
            for item in items:
                self.apply(args[0], [item], frame)
            return ()
        if name in ("take", "skip"):
            n = self.number(args[0]).v
            if name == "skip":
                return Iter(list(items)[n:])
            return Iter(item for item, _ in zip(items, range(n)))
        if name == "chain":
            return Iter([*items, *self.iterate(args[0])])
        if name in ("all", "any"):
            parts = [plain(self.apply(args[0], [item], frame)) for item in items]
            return all(parts) if name == "all" else any(parts)
        if name == "next":
            item = next(iter(items), None)
            return None if item is None else Some(item)
        if name == "sum":
            total = N(None, 0)
            for item in items:
                total = self.binary("+", total, item)
            return total
        raise Unsupported(f"{name} of an iterator")


def product(signed, x, y, width):
    """The product of two narrow numbers as a function that z3 knows nothing of, so that equal factors
    are what makes products equal. It fits: the type is twice as wide or more."""
    size = x.size()
    sort = z3.BitVecSort(2 * size)
    function = z3.Function(f"{'s' if signed else 'u'}mul{size}", x.sort(), y.sort(), sort)
    value = function(x, y)
    if width == 2 * size:
        return value
    return (z3.SignExt if signed else z3.ZeroExt)(width - 2 * size, value)


def joined(parts):
    return z3.Concat(*parts) if len(parts) > 1 else parts[0]


def choice(value):
    """`Choice::from(u8)`, of 0 or 1."""
    value = plain(value)
    return value.v == 1 if isinstance(value.v, int) else value.v == z3.BitVecVal(1, 8)


BUILTINS = {
    "opaque_word": lambda word: word,
    "reloaded": lambda value: value,
    "fetch_ahead": lambda *_: (),
    ("Choice", "from"): choice,
    ("iter", "zip"): lambda a, b: Iter(zip(a, b)),
}
