"""Numbers of a Rust type, of three kinds:

- known: an integer of Python.
- bits: a bit vector of z3, as wide as the type.
- sums: a polynomial with integer coefficients in atoms, each with known bounds. A shift or a mask
  of one adds atoms for quotient and remainder, and the equation between them. z3 treats such
  numbers as integers and each product of atoms as a separate unknown.
"""

import z3

from .tokens import Unsupported

WIDTH = {"u8": 8, "u16": 16, "u32": 32, "u64": 64, "u128": 128, "usize": 64}
WIDTH |= {"i" + name[1:]: width for name, width in WIDTH.items()}


class N:
    """A number: its type (`None` for an untyped literal), its value, and the type it was extended
    from."""

    __slots__ = ("t", "v", "narrow")

    def __init__(self, t, v, narrow=None):
        self.t, self.v, self.narrow = t, v, narrow


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


class Sums:
    """The atoms of polynomials, and the facts known about them."""

    def __init__(self):
        # By name: the bounds, and the division that an atom is the remainder of. By sum: quotient
        # and remainder.
        self.ends, self.parts, self.divided = {}, {}, {}
        # Products that z3 knows about.
        self.products = []

    def atom(self, name, low, high):
        if name in self.ends or low < 0:
            raise Unsupported(f"an atom {name} from {low} on")
        self.ends[name] = (low, high)
        return Poly({(name,): 1})

    def fresh(self, name, low, high):
        return self.atom(f"{name}{len(self.ends)}", low, high)

    def rest(self, name, high, value):
        """Adds an atom equal to `value`, a sum that contains a quotient."""
        atom = self.fresh(name, 0, high)
        ((key,),) = atom.terms
        self.parts[key] = value
        return atom

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
        """Returns quotient and remainder of the division by 2^bits, rounded down."""
        size = 1 << bits
        whole = Poly({m: c // size for m, c in poly.terms.items() if c % size == 0})
        left = Poly({m: c for m, c in poly.terms.items() if c % size})
        low, high = (end >> bits for end in self.span(left))
        if low == high:
            return whole + low, left - low * size
        key = (tuple(sorted(left.terms.items())), bits)
        if key not in self.divided:
            # Count the quotient from its lowest value, so that no atom is negative.
            first = min(low, 0)
            q = self.fresh("q", low - first, high - first) + first
            self.divided[key] = (q, self.rest("r", size - 1, left - q * size))
        q, r = self.divided[key]
        return whole + q, r

    def replaced(self, monomial):
        """Replaces one defined atom in a product; `None` if it has no such atom."""
        for name in monomial:
            if name in self.parts:
                others = list(monomial)
                others.remove(name)
                return Poly({tuple(others): 1}) * self.parts[name]
        return None

    def expanded(self, poly):
        """Rewrites a polynomial in atoms that no equation defines."""
        while True:
            for monomial, c in poly.terms.items():
                known = self.replaced(monomial)
                if known:
                    poly = poly - Poly({monomial: c}) + known * c
                    break
            else:
                return poly

    def linear(self, poly):
        """Converts to a z3 term, with each product as a separate unknown."""
        terms = []
        for monomial, c in sorted(Poly.of(poly).terms.items()):
            if len(monomial) > 1 and monomial not in self.products:
                self.products.append(monomial)
            terms.append(z3.IntVal(c) * z3.Int("*".join(monomial)) if monomial else z3.IntVal(c))
        return z3.Sum(terms) if terms else z3.IntVal(0)

    def facts(self):
        """Returns the known facts: bounds, equations, bounds of products, and equations times
        atoms."""
        facts = []
        for name, (low, high) in self.ends.items():
            facts += [z3.Int(name) >= low, z3.Int(name) <= high]
        facts += [z3.Int(name) == self.linear(value) for name, value in self.parts.items()]
        # The list grows while new products are added.
        for monomial in self.products:
            product, (low, high) = z3.Int("*".join(monomial)), self.span(Poly({monomial: 1}))
            facts += [product >= low, product <= high]
            known = self.replaced(monomial)
            if known:
                facts.append(product == self.linear(known))
        return facts
