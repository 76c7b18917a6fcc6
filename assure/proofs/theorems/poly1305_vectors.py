"""Poly1305's numbers in words of vectors: limbs of 26 and of 44 bits, and Horner's rule in rows of
blocks."""

import z3
from models import BitWord, Word, as_bits, bits_of, number_of, u, usize
from rust.numbers import N, Poly
from rust.values import Struct, plain
from theorem import Failed, theorem

from .poly1305 import P1305, bit_element, is_element, joined, modulo_p

FILES = ("algo/poly1305/radix{radix}.rs", "algo/poly1305/horner.rs", "algo/poly1305/field.rs", "isa/words.rs")
LAYOUTS = [{"radix": 26}, {"radix": 44}]


class Layout:
    """Limbs and bits of a layout, from its source, with the bounds that the theorem `limbs` proves.
    """

    def __init__(self, machine, radix):
        self.name = f"Radix{radix}"
        self.count, self.bits = (machine.read(f"R::{name}", R=self.name) for name in ("LIMBS", "BITS"))
        # Of a number below 5 * 2^128, and of a block with its top.
        self.of_number = self.ends(5 * 2**128 - 1)
        self.of_block = self.ends(2**129 - 1)

    def ends(self, most):
        return [2**self.bits - 1] * (self.count - 1) + [most >> self.bits * (self.count - 1)]


@theorem(
    "radix{radix}-limbs",
    "FieldElement::limbs gives Radix{radix}'s limbs of h, each within its bits, for every h below 2^131",
    FILES,
    each=LAYOUTS,
)
def limbs(proof, radix):
    machine = proof.machine()
    layout = Layout(machine, radix)
    h, value = bit_element(machine)
    seen, carried = [], [u("u64", f"c{i}") for i in range(3)]

    def contract(a0, a1, a2):
        """By the theorem `poly1305-carried`, returns any limbs with the same number mod p."""
        seen.extend(as_bits(a, width) for a, width in ((a0, 64), (a1, 128), (a2, 64)))
        high = z3.ZeroExt(1, seen[2]) + z3.ZeroExt(1, z3.Extract(127, 64, seen[1]))
        machine.goal("the precondition of `carried`", z3.ULE(high, (2**64 - 1) * 4 // 5))
        machine.assumed.append(z3.ULT(carried[2].v, 5))
        return Struct("FieldElement", {"0": carried})

    machine.contracts["FieldElement", "carried"] = contract
    out = machine.run("FieldElement", "limbs", usize(layout.count), usize(layout.bits), receiver=h)
    a0, a1, a2 = seen
    machine.claim("all of h", z3.Concat(a2, z3.Extract(63, 0, a1), a0) == value)
    machine.claim("the middle limb is a word", z3.ULT(a1, 2**64))
    for i, (limb, end) in enumerate(zip(out, layout.of_number + [0, 0, 0])):
        machine.claim(f"limb {i}", z3.ULE(as_bits(limb, 64), end))
    machine.claim("the number", bits_of(out, layout.bits, 256) == z3.ZeroExt(64, joined(carried)))


@theorem(
    "radix{radix}-from-limbs",
    "FieldElement::from_limbs is the sum of Radix{radix}'s limbs mod 2^130 - 5, for any limbs, and never overflows",
    FILES,
    each=LAYOUTS,
)
def from_limbs(proof, radix):
    machine = proof.machine()
    layout = Layout(machine, radix)
    given = [machine.atom("u64", f"l{i}", 2**64 - 1) for i in range(layout.count)]
    out = machine.run("FieldElement", "from_limbs", given, usize(layout.bits))
    is_element(machine, "the number", out, number_of(given, layout.bits))


@theorem(
    "radix{radix}-from-columns",
    "Radix{radix}::from_columns is the block, plus 2^128 if it has a top, in limbs within their bits",
    FILES,
    each=LAYOUTS,
)
def from_columns(proof, radix):
    machine = proof.machine()
    layout, word = Layout(machine, radix), BitWord(machine)
    low, high, top = u("u64", "low"), u("u64", "high"), u("u64", "top")
    machine.assumed.append(z3.Or(top.v == 0, top.v == 2**64 - 1))
    out = machine.run(layout.name, "from_columns", word, (low, high), top, types={"A": word})
    for i, (limb, end) in enumerate(zip(out, layout.of_block, strict=True)):
        machine.claim(f"limb {i}", z3.ULE(limb.v, end))
    block = z3.ZeroExt(128, z3.Concat(high.v, low.v)) + (z3.ZeroExt(192, top.v & 1) << 128)
    machine.claim("the number", bits_of(out, layout.bits, 256) == block)


class Rows:
    """A machine that runs Horner's rule in a layout, with rows of unknown blocks and bounded limbs.
    """

    def __init__(self, proof, radix, ends=None):
        self.machine = proof.machine()
        self.layout = Layout(self.machine, radix)
        self.ends = ends or self.layout.of_number
        self.word = Word(self.machine, self.machine.read("MAX_WORDS", R=self.layout.name))
        self.types = {"A": self.word, "R": self.layout.name}
        self.blocks = []
        self.word.deinterleave = lambda p: (N("u64", 0), N("u64", 0))
        self.machine.contracts[self.layout.name, "from_columns"] = lambda a, columns, top: self.block()

    def limbs(self, name, ends=None):
        return [self.machine.atom("u64", f"{name}{i}", end) for i, end in enumerate(ends or self.ends)]

    def block(self):
        """Returns the limbs of a block, by the theorem `from-columns`."""
        self.blocks.append(self.limbs(f"m{len(self.blocks)}.", self.layout.of_block))
        return self.blocks[-1]

    def power(self, name):
        """Returns a power of r, and its prepared form as a factor."""
        r = self.limbs(name)
        return r, self.run("power", r)

    def value(self, limbs):
        return number_of(limbs, self.layout.bits)

    def run(self, name, *args):
        """Runs a function of the layout."""
        return self.machine.run(self.layout.name, name, self.word, *args, types=self.types)

    def call(self, name, *args):
        """Runs a function of `horner`."""
        return self.machine.run(None, name, self.word, *args, types=self.types)

    def four_rows(self):
        h, rows = self.limbs("h"), self.machine.read("ROWS", **self.types)
        powers = [self.power(f"r{i}.") for i in range(rows)]
        data = [N("u8", 0)] * (16 * 2 * self.word.LANES.v * rows)
        out = self.call("four_rows", h, [ready for _, ready in powers], data)
        # The rows are taken from the last to the first, which h is added to.
        expected = self.value(h) * self.value(powers[0][0])
        for (r, _), block in zip(powers, self.blocks[::-1], strict=True):
            expected = expected + self.value(block) * self.value(r)
        return out, expected

    def claim(self, line, out, expected):
        """Claims that limbs are congruent to `expected` and within the bounds."""
        self.machine.same(line, self.value(out), expected, P1305)
        for i, (limb, end) in enumerate(zip(out, self.ends)):
            self.machine.below(f"limb {i} is within the invariant", limb, end + 1)


def invariant(proof, radix):
    """Returns bounds of limbs that hold before and after each step: grown from those of `limbs`
    until stable."""
    if radix in proof.invariants:
        return proof.invariants[radix]
    ends = None
    for _ in range(6):
        rows = Rows(proof, radix, ends)
        # This run is only for the bounds; none of its goals need a proof.
        proof.machines.pop()
        out, _ = rows.four_rows()
        ends = [max(end, rows.machine.sums.span(plain(limb).v)[1]) for limb, end in zip(out, rows.ends)]
        if ends == rows.ends:
            proof.invariants[radix] = ends
            shown = ", ".join(
                f"2^{end.bit_length()} - 1"
                if end & (end + 1) == 0
                else f"2^{end.bit_length() - 1} + {end - (1 << end.bit_length() - 1)}"
                for end in ends
            )
            proof.notes.append(f"limbs of Radix{radix} stay at most {shown}")
            return ends
    raise Failed("the limbs grow in each step")


def rows_within(proof, radix):
    return Rows(proof, radix, invariant(proof, radix))


@theorem(
    "radix{radix}-loop",
    "one iteration of Horner's loop in Radix{radix}: limbs within the invariant stay within it, no word overflows, and h = (h + m0) R^4 + .. + m3 R mod 2^130 - 5",
    FILES,
    each=LAYOUTS,
)
def horner_loop(proof, radix):
    rows = rows_within(proof, radix)
    rows.claim("the sum", *rows.four_rows())


@theorem(
    "radix{radix}-product",
    "a product of powers of r in Radix{radix}: within the invariant, no overflow, congruent",
    FILES,
    each=LAYOUTS,
)
def horner_product(proof, radix):
    rows = rows_within(proof, radix)
    h, (r, ready) = rows.limbs("h"), rows.power("r")
    rows.claim("the product", rows.call("product", h, ready), rows.value(h) * rows.value(r))


@theorem(
    "radix{radix}-step",
    "a step of many messages in Radix{radix}: (h + m) r within the invariant, no overflow, congruent",
    FILES,
    each=LAYOUTS,
)
def horner_step(proof, radix):
    rows = rows_within(proof, radix)
    h, m, (r, ready) = rows.limbs("h"), rows.block(), rows.power("r")
    out = rows.run("carry", rows.run("add_product", rows.run("no_sums"), rows.run("plus", h, m), ready))
    rows.claim("the step", out, (rows.value(h) + rows.value(m)) * rows.value(r))


@theorem(
    "radix{radix}-last",
    "the last rows in Radix{radix}: LAST_ROWS products fit before the carry, and so do the sums over all words; congruent",
    FILES,
    each=LAYOUTS,
)
def horner_last(proof, radix):
    rows = rows_within(proof, radix)
    machine, word = rows.machine, rows.word
    h = rows.limbs("h")
    total, expected = rows.run("no_sums"), Poly({})
    for i in range(machine.read("LAST_ROWS", **rows.types)):
        m = rows.block()
        row = m if i else rows.run("plus", m, h)
        r, ready = rows.power(f"r{i}.")
        total = rows.run("add_product", total, row, ready)
        expected = expected + (rows.value(m) + (0 if i else rows.value(h))) * rows.value(r)
    # `total` sums each limb over the words. For one word it returns the sum of the rows, ..
    words, sums, sum_of = [], [], word.sum

    def sum_(a):
        words.append(a)
        sums.append(sum_of(a))
        return sums[-1]

    word.sum = sum_
    out = rows.call("total", total)
    machine.same("one word", rows.value(words), expected, P1305)
    # .. and the sum over all words is an unknown number.
    is_element(machine, "all words", out, rows.value(sums))


@theorem(
    "radix{radix}-residues",
    "residues in Radix{radix} is (h mod 2^130 - 5) mod 2^128 for limbs within the invariant",
    (*FILES, "algo/poly1305/many.rs"),
    each=LAYOUTS,
)
def residues(proof, radix):
    ends = invariant(proof, radix)
    machine = proof.machine()
    layout, word = Layout(machine, radix), BitWord(machine)
    h = [u("u64", f"h{i}") for i in range(layout.count)]
    machine.assumed += [z3.ULE(limb.v, end) for limb, end in zip(h, ends)]
    low, high = machine.run(None, "residues", word, h, types={"A": word, "R": layout.name})
    expected = modulo_p(bits_of(h, layout.bits, 192))
    machine.claim("the residue", z3.Concat(high.v, low.v) == z3.Extract(127, 0, expected))


@theorem(
    "mul52",
    "mul52 from 26-bit halves gives bits 0..52 and 52..104 of the product, for all factors below 2^52",
    ("isa/words.rs",),
)
def mul52(proof):
    machine = proof.machine()

    class Halves(Word):
        mul52 = None

    word = Halves(machine)
    a, b = machine.atom("u64", "a", 2**52 - 1), machine.atom("u64", "b", 2**52 - 1)
    function, none = machine.find("Words", "mul52"), [N("u64", 0), N("u64", 0)]
    low, high = machine.call(function, [none, a, b], word, (), {"A": word}, word)
    machine.same("the product", Poly.of(low.v) + Poly.of(high.v) * 2**52, a.v * b.v)
    machine.below("the low half", low, 2**52)
