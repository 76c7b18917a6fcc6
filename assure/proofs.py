#!/usr/bin/env python3
"""Proofs for all inputs that the arithmetic of the MACs is what it is defined to be and never overflows.

    assure/proofs.py --quick | --full [--planted NAME] [--list] [THEOREM...]
    assure/proofs.py --planted

What is proved is the source of crates/tagmac itself: `rust_source.py` parses the functions that a
theorem names, `rust_model.py` runs them on unknown numbers, line by line, and z3 decides. No constant,
shift or bound of the code is typed again here: all come from the files. What is typed here is the other
side: the definitions of the papers and of RFC 4418 and 8439. Each operation that Rust would check in a
debug build (overflows, indices, `assert!`) is a goal of the theorem that runs it, and so is each sum
and product in the words of vectors that must not wrap. A goal that z3 does not decide in time, code
that the parser does not know and a function that has moved are failures.

Bits and masks are decided as bit vectors. Products of limbs are decided as whole numbers: each
quotient of a shift is an unknown with its equation, each product of two unknowns is an unknown of its
own with its ends, and a congruence mod p is shown with its quotient, which z3 checks.

What it cannot show: that the compiler translates the source as this model runs it, that vector
instructions do what the manual says (a word of a vector is modelled as a word), and code outside of the
functions that are named: which kernel runs when is what the tests on all levels are for.

z3 comes from PyPI, pinned, into target/proofs.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parent
SRC = REPO / "crates/tagmac/src"
Z3 = "4.13.4"

try:
    import z3

    if z3.get_version_string() != Z3:
        raise ImportError(f"z3 {z3.get_version_string()}")
except ImportError:
    VENV = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target")) / "proofs"
    PYTHON = VENV / "bin/python"
    if Path(sys.prefix) == VENV:
        sys.exit("proofs: z3 is not in its virtual environment")
    if (
        not PYTHON.exists()
        or subprocess.run(
            [PYTHON, "-c", f"import z3; assert z3.get_version_string() == '{Z3}'"],
            stderr=subprocess.DEVNULL,
            check=False,
        ).returncode
    ):
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run(
            [PYTHON, "-m", "pip", "install", "--quiet", f"z3-solver=={Z3}.0"],
            check=True,
            stdout=sys.stderr,
        )
    os.execv(PYTHON, [PYTHON, *sys.argv])

from rust_model import (  # noqa: E402
    BUILTINS,
    WIDTH,
    Frame,
    Machine,
    Model,
    Muts,
    N,
    Poly,
    Slice,
    Some,
    Stop,
    Struct,
    plain,
    product,
)
from rust_source import Source, Unsupported  # noqa: E402

# The other side: definitions, from the papers and the RFCs.

# PMAC, section 2: the exponents of c_n for p_n = x^n + c_n.
PMAC_FIELDS = {
    64: (4, 3, 1, 0),
    96: (10, 9, 6, 0),
    128: (7, 2, 1, 0),
    160: (5, 3, 2, 0),
    192: (7, 2, 1, 0),
    224: (9, 8, 3, 0),
    256: (10, 5, 2, 0),
}
P1305 = 2**130 - 5
P36, P64, P128 = 2**36 - 5, 2**64 - 59, 2**128 - 159
# A number of the field's type is below 2^131: its top limb below this.
FIELD_TOP = 8

TIMEOUT_MS = {"quick": 30_000, "full": 200_000}


class Failed(Exception):
    pass


class Theorem:
    def __init__(self, name, says, where, level, run):
        self.name, self.says, self.where, self.level, self.run = name, says, where, level, run


THEOREMS = []


def theorem(name, says, where, /, *, level="quick", **fixed):
    """`where` has the files, relative to crates/tagmac/src, of which the first has what is proved."""

    def add(run):
        THEOREMS.append(Theorem(name, says, where, level, lambda proof: run(proof, **fixed)))
        return run

    return add


class Proof:
    """One theorem in the making: its machines and what it claims beyond their goals."""

    def __init__(self, where, texts, timeout, invariants, notes):
        self.where, self.texts, self.timeout = where, texts, timeout
        self.invariants, self.notes = invariants, notes
        self.machines, self.goals, self.solved = [], 0, 0

    def text(self, file):
        if file not in self.texts:
            self.texts[file] = (SRC / file).read_text()
        return self.texts[file]

    def machine(self, **options):
        machine = Machine([Source(file, self.text(file)) for file in self.where], **options)
        machine.claims, machine.lemmas = [], set()
        self.machines.append(machine)
        return machine

    def claim(self, machine, line, formula, lemma=False):
        """A claim of the theorem; a lemma helps to prove those after it."""
        if isinstance(formula, bool):
            formula = z3.BoolVal(formula)
        if lemma:
            machine.lemmas.add(len(machine.claims))
        machine.claims.append((line, formula))

    def same(self, machine, line, value, expected, modulus=None):
        """A claim on sums: equal, or congruent with a quotient that is given to z3."""
        difference = machine.sums.expanded(Poly.of(value) - Poly.of(expected))
        quotient = Poly({})
        if modulus is None:
            if difference.terms:
                raise Failed(f"{line}: differs by {shown(difference)}")
        else:
            wrong = Poly({m: c for m, c in difference.terms.items() if c % modulus})
            if any(len(m) != 1 or machine.sums.ends[m[0]][0] for m in wrong.terms):
                raise Failed(f"{line}: differs mod p by {shown(wrong)}")
            for (name,) in wrong.terms:
                # What would overflow, if it did: that it is zero is proved first.
                self.claim(machine, f"{line}: nothing is lost", z3.Int(name) == 0, lemma=True)
            difference = difference - wrong
            quotient = Poly({m: c // modulus for m, c in difference.terms.items()}) * modulus
        linear = machine.sums.linear
        self.claim(machine, line, linear(value) == linear(Poly.of(expected) + quotient))

    def below(self, machine, line, number, end):
        self.claim(machine, line, machine.sums.linear(plain(number).v) < end)

    def solve(self):
        for machine in self.machines:
            goals = machine.goals + machine.claims
            facts = machine.sums.facts() + machine.assumed
            solver = z3.Solver()
            solver.set("timeout", self.timeout)
            solver.set("random_seed", 1)
            solver.add(facts)
            # By z3's number, which is another formula's once this one is gone: so it is kept.
            seen = {}
            for at, (line, formula) in enumerate(goals, -len(machine.goals)):
                self.goals += 1
                formula = z3.simplify(formula)
                if z3.is_true(formula) or formula.get_id() in seen:
                    continue
                seen[formula.get_id()] = formula
                self.solved += 1
                if z3.is_false(formula):
                    raise Failed(f"{line}: is false")
                solver.push()
                solver.add(z3.Not(formula))
                answer = solver.check()
                if answer == z3.sat:
                    raise Failed(f"{line}: fails for {example(solver.model())}")
                if answer != z3.unsat:
                    raise Failed(f"{line}: z3 does not decide it: {solver.reason_unknown()}")
                solver.pop()
                if at in machine.lemmas:
                    solver.add(formula)
            if facts:
                # Facts that exclude each other would prove anything.
                if solver.check() != z3.sat:
                    raise Failed("what is assumed is not shown to be possible")
        if not self.goals:
            raise Failed("nothing was proved")


def shown(poly):
    terms = sorted(poly.terms.items())[:4]
    return " + ".join(f"{c:#x} {'*'.join(m)}" for m, c in terms)


def example(model):
    values = sorted((str(d), str(model[d])) for d in model.decls() if d.arity() == 0)
    return ", ".join(f"{name} = {value}" for name, value in values[:8])


# Unknown numbers.


def u(t, name):
    return N(t, z3.BitVec(name, WIDTH[t]))


def unknown_bytes(name, n):
    return [u("u8", f"{name}{i}") for i in range(n)]


def known_bytes(p):
    return [N("u8", byte) for byte in p]


def usize(n):
    return N("usize", n)


def sums(machine, t, name, most, least=0):
    return N(t, machine.sums.atom(name, least, most))


def as_bits(number, width):
    """A number of the model as a bit vector of a width, unsigned."""
    number = plain(number)
    if isinstance(number.v, int):
        return z3.BitVecVal(number.v, width)
    size = number.v.size()
    if size > width:
        return z3.Extract(width - 1, 0, number.v)
    return z3.ZeroExt(width - size, number.v) if size < width else number.v


def big_endian(p):
    """Bytes as one bit vector, the first highest."""
    return (
        z3.Concat(*[as_bits(b, 8) for b in plain(p)])
        if len(plain(p)) > 1
        else as_bits(plain(p)[0], 8)
    )


def little_endian(p):
    return big_endian(list(plain(p))[::-1])


def number_of(limbs, bits):
    """The sum of limbs of so many bits, as a polynomial."""
    total = Poly({})
    for i, limb in enumerate(plain(limbs)):
        total = total + Poly.of(plain(limb).v) * (1 << (bits * i))
    return total


# Models of types that the code is generic over.


class BlockType(Model):
    """A block of n bytes: `[u8; N]`."""

    def __init__(self, machine, n):
        self.machine, self.n, self.BYTES = machine, n, usize(n)
        self.types = {"N": usize(n), "Self": self, "Block": self}
        # Written for the speed of words; byte by byte it is the same.
        machine.contracts["array", "xor"] = lambda a, b: self.each("^", a, b)
        machine.contracts["array", "and"] = lambda a, b: self.each("&", a, b)

    def each(self, op, a, b):
        return [self.machine.binary(op, x, y) for x, y in zip(plain(a), plain(b), strict=True)]

    @property
    def ZERO(self):
        return [N("u8", 0) for _ in range(self.n)]

    def zero_filled(self, p):
        return self.machine.run("array", "zero_filled", p, types=self.types, self_type=self)

    def one_at(self, bits):
        return self.machine.run("array", "one_at", bits, types=self.types, self_type=self)

    def first_ones(self, bits):
        return self.machine.run("array", "first_ones", bits, types=self.types, self_type=self)


class OneLane(Model):
    """Vectors of one block."""

    traits = ("Lanes",)

    def __init__(self, block):
        self.block, self.Block = block, block

    def narrow(self):
        return self

    def splat(self, b):
        return list(plain(b))

    def lane0(self, a):
        return list(plain(a))

    def xor(self, a, b):
        return self.block.each("^", a, b)


class Word(Model):
    """One word of a vector, as a sum. Where it must not wrap, that it does not is a goal."""

    traits = ("Words",)
    MAX_WORDS = 8

    def __init__(self, machine, lanes=4):
        self.machine, self.LANES = machine, usize(lanes)
        self.MUL52 = True

    def splat(self, x):
        return N("u64", plain(x).v)

    def first(self, x):
        return N("u64", plain(x).v)

    def and_(self, a, b):
        return self.machine.binary("&", self.splat(a), self.splat(b))

    def or_(self, a, b):
        return self.machine.binary("|", self.splat(a), self.splat(b))

    def add(self, a, b):
        return self.machine.binary("+", self.splat(a), self.splat(b))

    def shl(self, a, n):
        return self.machine.shift("<<", plain(a), plain(n))

    def shr(self, a, n):
        return self.machine.shift(">>", plain(a), plain(n))

    def factor(self, x, bits):
        self.machine.goal(
            f"a factor is below 2^{bits}", self.machine.sums.linear(plain(x).v) < 1 << bits
        )

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
        """The sum of all words of which each has the ends of this one."""
        high = self.machine.sums.span(plain(a).v)[1]
        self.machine.goal(
            f"the sum of {self.MAX_WORDS} words fits in 64 bits",
            z3.And(
                self.machine.sums.linear(plain(a).v) <= high,
                z3.BoolVal(self.MAX_WORDS * high < 2**64),
            ),
        )
        return N("u64", self.machine.sums.fresh("sum", 0, self.MAX_WORDS * high))


# `and` and `or` are words of Python.
setattr(Word, "and", Word.and_)
setattr(Word, "or", Word.or_)


class BitWord(Model):
    """One word of a vector as bits: additions wrap, as the instructions do."""

    traits = ("Words",)

    def __init__(self, machine):
        self.machine = machine

    def word(self, x):
        return self.machine.bits(N("u64", plain(x).v), "u64")

    def splat(self, x):
        return N("u64", self.word(x))

    def add(self, a, b):
        return N("u64", self.word(a) + self.word(b))

    def xor(self, a, b):
        return N("u64", self.word(a) ^ self.word(b))

    def and_not(self, a, b):
        return N("u64", self.word(a) & ~self.word(b))

    def shl(self, a, n):
        return N("u64", self.word(a) << plain(n).v)

    def shr(self, a, n):
        return N("u64", z3.LShR(self.word(a), plain(n).v))


setattr(BitWord, "and", lambda self, a, b: N("u64", self.word(a) & self.word(b)))
setattr(BitWord, "or", lambda self, a, b: N("u64", self.word(a) | self.word(b)))


# GF(2^n).


def shifted(x, n, times):
    """x times or over x in GF(2^n), by the definition in section 2 of PMAC."""
    c = sum(1 << e for e in PMAC_FIELDS[n])
    if times:
        return (x << 1) ^ z3.If(
            z3.Extract(n - 1, n - 1, x) == 1, z3.BitVecVal(c, n), z3.BitVecVal(0, n)
        )
    back = 1 << (n - 1) ^ c >> 1
    return z3.LShR(x, 1) ^ z3.If(
        z3.Extract(0, 0, x) == 1, z3.BitVecVal(back, n), z3.BitVecVal(0, n)
    )


def paper_polynomials(proof):
    """c_n as `fields!` has them."""
    text = proof.text("cipher/field.rs")
    rule = re.search(r"const C: u16 = \$\(1 << \$exponent\)\|\+;", text)
    table = re.search(r"\nfields! \{\n((?:    \d+: [\d ]+;\n)+)\}\n", text)
    if not rule or not table:
        raise Failed("cipher/field.rs: the table of polynomials has moved")
    rows = re.findall(r"(\d+): ([\d ]+);", table.group(1))
    return {int(n): sum(1 << int(e) for e in exponents.split()) for n, exponents in rows}


class FieldType(BlockType):
    def __init__(self, machine, n, c):
        super().__init__(machine, n // 8)
        self.C = N("u16", c)


FIELD_FILES = ("cipher/field.rs", "isa/gf128.rs", "isa/block.rs")


def field(proof, n, times):
    c = paper_polynomials(proof)
    if sorted(c) != sorted(PMAC_FIELDS):
        raise Failed(f"cipher/field.rs: blocks of {sorted(c)} bits")
    machine = proof.machine()
    block = unknown_bytes("b", n // 8)
    model = FieldType(machine, n, c[n])
    name = "times_x" if times else "over_x"
    out = machine.run(
        "Field", name, receiver=block, types=model.types | {"Self": model}, self_type=model
    )
    proof.claim(
        machine, f"{name} of {n} bits", big_endian(out) == shifted(big_endian(block), n, times)
    )


for n in PMAC_FIELDS:
    for times in (True, False):
        theorem(
            f"field-{'times' if times else 'over'}-x-{n}",
            f"Field::{'times_x' if times else 'over_x'} of {n} bits is a{'*' if times else '/'}x mod p_{n} of PMAC, section 2",
            FIELD_FILES,
            n=n,
            times=times,
        )(field)


@theorem(
    "field-inverse",
    "halving undoes doubling and doubling undoes halving in GF(2^128), for all blocks",
    ("isa/gf128.rs",),
)
def field_inverse(proof):
    machine = proof.machine()
    block = unknown_bytes("b", 16)
    for first, second in (("times_x", "over_x"), ("over_x", "times_x")):
        out = machine.run(None, second, machine.run(None, first, block))
        proof.claim(machine, f"{second} of {first}", big_endian(out) == big_endian(block))


class X86Lane(Model):
    """A lane of 128 bits, as a bit vector with byte 0 lowest, and the instructions on it."""

    def __init__(self, machine):
        def dwords(x):
            return [z3.Extract(32 * i + 31, 32 * i, x) for i in range(4)]

        def join(parts):
            return z3.Concat(*parts[::-1])

        def shuffle8(_, a, places):
            a, places = plain(a), plain(places)
            out = []
            for i in range(16):
                place = z3.simplify(z3.Extract(8 * i + 7, 8 * i, places)).as_long()
                out.append(
                    z3.BitVecVal(0, 8)
                    if place & 0x80
                    else z3.Extract(8 * (place & 15) + 7, 8 * (place & 15), a)
                )
            return join(out)

        def each(f):
            return lambda n, a: join([f(x, n[0]) for x in dwords(plain(a))])

        def shuffle32(n, a):
            return join([dwords(plain(a))[n[0] >> (2 * i) & 3] for i in range(4)])

        for prefix in ("_mm_", "_mm256_", "_mm512_"):
            machine.intrinsics |= {
                prefix + "shuffle_epi8": shuffle8,
                prefix + "shuffle_epi32": shuffle32,
                prefix + "srai_epi32": each(lambda x, n: x >> n),
                prefix + "slli_epi32": each(lambda x, n: x << n),
                prefix + "srli_epi32": each(lambda x, n: z3.LShR(x, n)),
            }

    def splat(self, block):
        return little_endian(block)

    def xor(self, a, b):
        return plain(a) ^ plain(b)

    def xor3(self, a, b, c):
        return plain(a) ^ plain(b) ^ plain(c)


setattr(X86Lane, "and", lambda self, a, b: plain(a) & plain(b))


def x86_field(proof, times):
    machine = proof.machine()
    name = "times_x" if times else "over_x"
    owners = [owner for owner, f in machine.sources[0].functions if f == name]
    if len(owners) != 1:
        raise Failed(f"{proof.where[0]}: {len(owners)} functions {name}")
    lane = X86Lane(machine)
    block = unknown_bytes("b", 16)
    out = machine.run(owners[0], name, little_endian(block), receiver=lane, self_type=lane)
    expected = shifted(big_endian(block), 128, times)
    swapped = z3.Concat(*[z3.Extract(8 * i + 7, 8 * i, out) for i in range(16)])
    proof.claim(machine, f"{name} by instructions", swapped == expected)


for file in ("lane", "vaes", "avx512"):
    for times in (True, False):
        theorem(
            f"field-x86-{file}-{'times' if times else 'over'}",
            f"a{'*' if times else '/'}x in GF(2^128) by the instructions of isa/x86/{file}.rs is that of PMAC, in each lane",
            (f"isa/x86/{file}.rs", "isa/x86/mod.rs", "isa/gf128.rs"),
            times=times,
        )(x86_field)


# Blocks, padding, masks.

BLOCK_SIZES = (8, 12, 16, 20, 24, 28, 32)


@theorem(
    "first-ones",
    "CipherBlock::first_ones(b) has ones in the first b bits and no others, for every b and block",
    ("isa/block.rs",),
)
def first_ones(proof):
    for n in BLOCK_SIZES:
        machine = proof.machine()
        block = BlockType(machine, n)
        for bits in range(8 * n + 1):
            value = int.from_bytes(bytes(b.v for b in block.first_ones(usize(bits))), "big")
            expected = (1 << (8 * n)) - (1 << (8 * n - bits))
            proof.claim(machine, f"{bits} of {8 * n} bits", value == expected)


@theorem(
    "one-at",
    "CipherBlock::one_at(b) is 0^b 1 0*, for every b and block",
    ("isa/block.rs",),
)
def one_at(proof):
    for n in BLOCK_SIZES:
        machine = proof.machine(chunk=16)
        block = BlockType(machine, n)
        for bits in range(8 * n):
            value = int.from_bytes(bytes(b.v & 0xFF for b in block.one_at(usize(bits))), "big")
            proof.claim(machine, f"{bits} of {8 * n} bits", value == 1 << (8 * n - 1 - bits))


@theorem(
    "zero-filled",
    "zero_filled(p) is p with zeros after it, and zeros_before(p) with zeros before it, for all bytes",
    ("isa/block.rs",),
)
def zero_filled(proof):
    for n in BLOCK_SIZES:
        for length in range(n + 1):
            machine = proof.machine()
            p = unknown_bytes("p", length)
            out = BlockType(machine, n).zero_filled(p)
            expected = p + known_bytes(bytes(n - length))
            proof.claim(machine, f"{length} of {n} bytes", big_endian(out) == big_endian(expected))
    for length in range(8, 17):
        machine = proof.machine(chunk=8)
        p = unknown_bytes("p", length)
        out = machine.run(None, "zeros_before", p)
        expected = known_bytes(bytes(16 - length)) + p
        proof.claim(machine, f"{length} bytes at the end", big_endian(out) == big_endian(expected))


def padding(proof, n, step):
    for bits in sorted({*range(0, 8 * n + 1, step), *range(8 * n - 9, 8 * n + 1)}):
        machine = proof.machine(chunk=16)
        block = BlockType(machine, n)
        lanes = OneLane(block)
        p = unknown_bytes("p", -(-bits // 8))
        message = Struct("Bits", {"bytes": p, "unused": N("u8", len(p) * 8 - bits)})
        out = machine.run(None, "padded", lanes, message, types={"L": lanes, "Block": block})
        size = 8 * n
        value = z3.Concat(big_endian(p), z3.BitVecVal(0, size)) if p else z3.BitVecVal(0, size)
        value = z3.Extract(value.size() - 1, value.size() - size, value)
        if bits < size:
            value = value & ((1 << size) - (1 << (size - bits))) | 1 << (size - 1 - bits)
        proof.claim(machine, f"{bits} bits of {size}", big_endian(out) == value)


PADDING = ("algo/xor.rs", "bits.rs", "isa/block.rs", "isa/lanes.rs")
theorem(
    "padding-64",
    "padded(M) is M||10* for every M shorter than a block of 64 bits and M itself for a full one, whatever is in unused bits",
    PADDING,
    n=8,
    step=1,
)(padding)
theorem(
    "padding-128-some",
    "the same for blocks of 128 bits, for every fifth length and the last ten",
    PADDING,
    n=16,
    step=5,
)(padding)
theorem(
    "padding-128",
    "the same for blocks of 128 bits, for every length",
    PADDING,
    level="full",
    n=16,
    step=1,
)(padding)


@theorem(
    "padding-injective",
    "two messages shorter than a block that differ have different M||10*",
    PADDING,
    level="full",
)
def padding_injective(proof):
    # By the theorem `padding`, a padded block of b bits is M||10*: one block has one b and one M.
    machine = proof.machine()
    x, b, d = z3.BitVec("x", 128), z3.BitVec("b", 128), z3.BitVec("d", 128)

    def is_padded(x, b):
        # The lowest one of x stands behind b bits: x = (M << (128 - b)) | 1 << (127 - b).
        return z3.And(
            z3.ULT(b, 128), z3.Extract(127, 0, x & ((2 << (127 - b)) - 1)) == 1 << (127 - b)
        )

    proof.claim(machine, "one length", z3.Implies(z3.And(is_padded(x, b), is_padded(x, d)), b == d))


@theorem(
    "poly1305-last-block",
    "the last block of Poly1305, of 1 to 15 bytes, is the little-endian number of its bytes and a 1 after them",
    ("algo/poly1305/mod.rs", "isa/block.rs"),
)
def last_block(proof):
    for length in range(1, 16):
        machine = proof.machine()
        p = unknown_bytes("p", length)
        seen = {}

        class Tail(Model):
            def bytes(self):
                return p

        class R(Model):
            def step(self, h, m, top):
                seen["m"], seen["top"] = plain(m), plain(top)
                return h

        class H(Model):
            def residue(self):
                return N("u128", 0)

        hash_ = Struct("Poly1305Hash", {"r": R()})
        sum_ = Struct("Poly1305Sum", {"h": H()})
        machine.run("Poly1305Hash", "finish", None, sum_, N("u64", 0), Tail(), receiver=hash_)
        expected = little_endian(p + known_bytes(b"\1") + known_bytes(bytes(15 - length)))
        proof.claim(machine, f"{length} bytes", as_bits(seen["m"], 128) == expected)
        proof.claim(machine, "without 2^128", plain(seen["top"]).v == 0)


# Comparisons in constant time.


@theorem(
    "tag-equality",
    "Tag::eq says equal exactly if lengths and all 256 bits are",
    ("tag.rs",),
)
def tag_equality(proof):
    machine = proof.machine(chunk=8)
    tags = [
        Struct("Tag", {"bytes": unknown_bytes(name, 32), "bits": u("usize", f"{name}bits")})
        for name in "ab"
    ]
    out = machine.run("Tag", "eq", tags[1], receiver=tags[0])
    a, b = (t.fields for t in tags)
    same = z3.And(big_endian(a["bytes"]) == big_endian(b["bytes"]), a["bits"].v == b["bits"].v)
    proof.claim(machine, "equality", out == same)


@theorem(
    "register-equality",
    "Register::ct_eq, where there is no vector register, says equal exactly if all 128 bits are",
    ("isa/register.rs",),
)
def register_equality(proof):
    machine = proof.machine()
    a, b = unknown_bytes("a", 16), unknown_bytes("b", 16)
    out = machine.run("Register", "ct_eq", b, receiver=Struct("Register", {"0": a}))
    proof.claim(machine, "equality", out == (big_endian(a) == big_endian(b)))


# Poly1305.

FIELD1305 = ("algo/poly1305/field.rs",)


@theorem(
    "clamp",
    "ClampedR::clamped clears the 22 bits of Bernstein's clamp and no others; its words are below 2^60, the upper a multiple of 4",
    FIELD1305,
)
def clamp(proof):
    machine = proof.machine()
    p = unknown_bytes("r", 16)
    r = machine.run("ClampedR", "clamped", p)
    expected = list(p)
    # "Top four bits clear" of bytes 3, 7, 11, 15, "bottom two bits clear" of bytes 4, 8, 12.
    for i in (3, 7, 11, 15):
        expected[i] = N("u8", p[i].v & 15)
    for i in (4, 8, 12):
        expected[i] = N("u8", p[i].v & 252)
    r0, r1 = r.fields["r0"].v, r.fields["r1"].v
    proof.claim(machine, "the bits", z3.Concat(r1, r0) == little_endian(expected))
    proof.claim(machine, "below 2^60", z3.And(z3.ULT(r0, 1 << 60), z3.ULT(r1, 1 << 60)))
    proof.claim(machine, "a multiple of 4", z3.Extract(1, 0, r1) == 0)


def element(machine, name):
    """A number below 2^131."""
    limbs = [
        sums(machine, "u64", f"{name}{i}", end)
        for i, end in enumerate((2**64 - 1, 2**64 - 1, FIELD_TOP - 1))
    ]
    return Struct("FieldElement", {"0": limbs})


def clamped_r(machine):
    """What the theorem `clamp` says of r: words below 2^60, the upper one a multiple of 4."""
    return Struct(
        "ClampedR",
        {
            "r0": sums(machine, "u64", "r0", 2**60 - 1),
            "r1": N("u64", machine.sums.atom("r1/4", 0, 2**58 - 1) * 4),
        },
    )


def value_of(element):
    return number_of(plain(element).fields["0"], 64)


@theorem(
    "poly1305-carried",
    "FieldElement::carried keeps the number mod 2^130 - 5, gives limbs below 2^64, 2^64, 5, and never overflows",
    FIELD1305,
)
def poly1305_carried(proof):
    machine = proof.machine()
    a0 = sums(machine, "u64", "a0", 2**64 - 1)
    a1 = sums(machine, "u128", "a1", 2**128 - 1)
    a2 = sums(machine, "u64", "a2", 2**64 - 1)
    # What its comment asks for: below 2^64 / 1.25 from bit 128 on.
    high, _ = machine.sums.divmod(a1.v, 64)
    machine.assumed.append(machine.sums.linear(a2.v + high) <= (2**64 - 1) * 4 // 5)
    out = machine.run("FieldElement", "carried", a0, a1, a2)
    proof.same(machine, "the number", value_of(out), number_of([a0, a1, a2], 64), P1305)
    proof.below(machine, "the top limb", out.fields["0"][2], 5)


@theorem(
    "poly1305-plus",
    "FieldElement::plus is the sum mod 2^130 - 5 of all numbers below 2^131, and is below 2^131",
    FIELD1305,
)
def poly1305_plus(proof):
    machine = proof.machine()
    a, b = element(machine, "a"), element(machine, "b")
    out = machine.run("FieldElement", "plus", b, receiver=a)
    proof.same(machine, "the sum", value_of(out), value_of(a) + value_of(b), P1305)
    proof.below(machine, "the top limb", out.fields["0"][2], FIELD_TOP)


@theorem(
    "poly1305-times",
    "FieldElement::times is the product mod 2^130 - 5 of all numbers below 2^131, is below 2^131 and never overflows",
    FIELD1305,
)
def poly1305_times(proof):
    machine = proof.machine()
    a, b = element(machine, "a"), element(machine, "b")
    out = machine.run("FieldElement", "times", b, receiver=a)
    proof.same(machine, "the product", value_of(out), value_of(a) * value_of(b), P1305)
    proof.below(machine, "the top limb", out.fields["0"][2], FIELD_TOP)


@theorem(
    "poly1305-step",
    "ClampedR::step is (h + m + top 2^128) r mod 2^130 - 5 for every clamped r, h below 2^131 and m, is below 2^131 and never overflows",
    FIELD1305,
)
def poly1305_step(proof):
    machine = proof.machine()
    h, r = element(machine, "h"), clamped_r(machine)
    m, top = sums(machine, "u128", "m", 2**128 - 1), sums(machine, "u64", "top", 1)
    out = machine.run("ClampedR", "step", h, m, top, receiver=r)
    expected = (value_of(h) + m.v + top.v * 2**128) * number_of(
        [r.fields["r0"], r.fields["r1"]], 64
    )
    proof.same(machine, "the step", value_of(out), expected, P1305)
    proof.below(machine, "the top limb", out.fields["0"][2], FIELD_TOP)


def bit_element(machine):
    limbs = [u("u64", f"h{i}") for i in range(3)]
    machine.assumed.append(z3.ULT(limbs[2].v, FIELD_TOP))
    return Struct("FieldElement", {"0": limbs}), z3.Concat(*[limb.v for limb in limbs[::-1]])


def modulo_p(h):
    """h mod 2^130 - 5 for h below 2^131 + 5, as 192 bits: p twice at most."""
    p = z3.BitVecVal(P1305, 192)
    once = z3.If(z3.UGE(h, p), h - p, h)
    return z3.If(z3.UGE(once, p), once - p, once)


@theorem(
    "poly1305-residue",
    "FieldElement::residue is (h mod 2^130 - 5) mod 2^128, and reduced is h mod 2^130 - 5, for every h below 2^131",
    FIELD1305,
)
def poly1305_residue(proof):
    machine = proof.machine()
    h, value = bit_element(machine)
    out = machine.run("FieldElement", "residue", receiver=h)
    proof.claim(machine, "the residue", out.v == z3.Extract(127, 0, modulo_p(value)))
    machine = proof.machine()
    h, value = bit_element(machine)
    out = machine.run("FieldElement", "reduced", receiver=h)
    limbs = [limb.v for limb in out.fields["0"]]
    proof.claim(machine, "the number below p", z3.Concat(*limbs[::-1]) == modulo_p(value))


@theorem(
    "poly1305-equal",
    "FieldElement::ct_eq says equal exactly if the numbers below p are equal, by poly1305-residue",
    FIELD1305,
)
def poly1305_equal(proof):
    machine = proof.machine()
    reduced = [[u("u64", f"{name}{i}") for i in range(3)] for name in "hg"]
    taken = []

    def contract(self):
        taken.append(self)
        return Struct("FieldElement", {"0": reduced[len(taken) - 1]})

    machine.contracts["FieldElement", "reduced"] = contract
    h, g = (Struct("FieldElement", {"0": []}) for _ in range(2))
    out = machine.run("FieldElement", "ct_eq", g, receiver=h)
    proof.claim(machine, "both are reduced", taken[0] is h and taken[1] is g)
    same = z3.And([x.v == y.v for x, y in zip(*reduced)])
    proof.claim(machine, "equality", out == same)


def radix(proof, name, machine):
    """Limbs and bits of a layout, from its source."""
    frame = Frame(machine.sources[0], {"R": name})
    return tuple(machine.path(["R", c], [], frame).v for c in ("LIMBS", "BITS"))


RADIX = {
    "Radix26": (
        "algo/poly1305/radix26.rs",
        "algo/poly1305/horner.rs",
        "algo/poly1305/field.rs",
        "isa/words.rs",
    ),
    "Radix44": (
        "algo/poly1305/radix44.rs",
        "algo/poly1305/horner.rs",
        "algo/poly1305/field.rs",
        "isa/words.rs",
    ),
}


def top_after_carry(machine, width):
    """`carried` by its theorem, where its limbs are bits: any limbs with the same number mod p."""

    def contract(a0, a1, a2):
        seen = (plain(a0), plain(a1), plain(a2))
        # The theorem's condition.
        sum_ = z3.ZeroExt(1, as_bits(seen[2], 64)) + z3.ZeroExt(
            1, z3.Extract(127, 64, as_bits(seen[1], 128))
        )
        machine.goal("what `carried` asks for", z3.ULE(sum_, (2**64 - 1) * 4 // 5))
        out = [u("u64", f"c{i}") for i in range(3)]
        machine.assumed.append(z3.ULT(out[2].v, 5))
        machine.carried = (seen, out)
        return Struct("FieldElement", {"0": out})

    machine.contracts["FieldElement", "carried"] = contract


def limb_ends(proof, name):
    """The ends of the limbs of a number below 2^131 after `limbs`, by the theorem `limbs`."""
    machine = Machine([Source(file, proof.text(file)) for file in RADIX[name]])
    count, bits = radix(proof, name, machine)
    most = 5 * 2**128 - 1
    return [2**bits - 1] * (count - 1) + [most >> (bits * (count - 1))], count, bits


def limbs(proof, name):
    machine = proof.machine()
    count, bits = radix(proof, name, machine)
    h, value = bit_element(machine)
    top_after_carry(machine, 64)
    out = machine.run("FieldElement", "limbs", usize(count), usize(bits), receiver=h)
    seen, carried = machine.carried
    proof.claim(machine, "all of h", z3.Concat(*[as_bits(x, 64) for x in seen[::-1]]) == value)
    proof.claim(machine, "the middle limb is a word", z3.ULT(as_bits(seen[1], 128), 2**64))
    total = z3.BitVecVal(0, 256)
    ends, _, _ = limb_ends(proof, name)
    for i, limb in enumerate(out):
        total = total + (as_bits(limb, 256) << (bits * i))
        end = ends[i] if i < count else 0
        proof.claim(machine, f"limb {i}", z3.ULE(as_bits(limb, 64), end))
    expected = z3.ZeroExt(64, z3.Concat(*[limb.v for limb in carried[::-1]]))
    proof.claim(machine, "the number", total == expected)


def from_limbs(proof, name):
    machine = proof.machine()
    count, bits = radix(proof, name, machine)
    given = [sums(machine, "u64", f"l{i}", 2**64 - 1) for i in range(count)]
    out = machine.run("FieldElement", "from_limbs", given, usize(bits))
    proof.same(machine, "the number", value_of(out), number_of(given, bits), P1305)
    proof.below(machine, "the top limb", out.fields["0"][2], FIELD_TOP)


def from_columns(proof, name):
    machine = proof.machine()
    count, bits = radix(proof, name, machine)
    word = BitWord(machine)
    low, high, top = u("u64", "low"), u("u64", "high"), u("u64", "top")
    machine.assumed.append(z3.Or(top.v == 0, top.v == 2**64 - 1))
    out = machine.run(name, "from_columns", word, (low, high), top, types={"A": word})
    total = z3.BitVecVal(0, 256)
    for i, limb in enumerate(out):
        total = total + (as_bits(limb, 256) << (bits * i))
        end = 2**bits if i < count - 1 else 2 ** (129 - bits * (count - 1))
        proof.claim(machine, f"limb {i}", z3.ULT(limb.v, end))
    expected = as_bits(N("u128", z3.Concat(high.v, low.v)), 256)
    expected = expected + (z3.ZeroExt(192, top.v & 1) << 128)
    proof.claim(machine, "the number", total == expected)


class Rows:
    """A machine that runs Horner's rule in a layout, with rows of unknown blocks."""

    def __init__(self, proof, name):
        self.proof, self.name = proof, name
        self.machine = machine = proof.machine()
        self.word = word = Word(machine)
        self.first, self.count, self.bits = limb_ends(proof, name)
        self.types = {"A": word, "R": name}
        self.blocks = []
        word.deinterleave = lambda p: (N("u64", 0), N("u64", 0))
        machine.contracts[name, "from_columns"] = lambda a, columns, top: self.block()
        frame = Frame(machine.sources[1], dict(self.types))
        self.rows = machine.path(["ROWS"], [], frame).v
        self.last_rows = machine.path(["LAST_ROWS"], [], frame).v
        Word.MAX_WORDS = machine.path(["MAX_WORDS"], [], frame).v

    def block(self):
        """The limbs of a block, by the theorem `from-columns`."""
        ends = [2**self.bits - 1] * (self.count - 1) + [
            2 ** (129 - self.bits * (self.count - 1)) - 1
        ]
        block = self.limbs(f"m{len(self.blocks)}.", ends)
        self.blocks.append(block)
        return block

    def limbs(self, name, ends):
        return [sums(self.machine, "u64", f"{name}{i}", end) for i, end in enumerate(ends)]

    def power(self, name, ends):
        r = self.limbs(name, ends)
        return r, self.machine.run(self.name, "power", self.word, r, types=self.types)

    def spans(self, limbs):
        return [self.machine.sums.span(plain(limb).v)[1] for limb in limbs]

    def value(self, limbs):
        return number_of(limbs, self.bits)

    def call(self, name, *args):
        return self.machine.run(None, name, self.word, *args, types=self.types)


def four_rows(rows, h_ends, r_ends):
    h = rows.limbs("h", h_ends)
    powers = [rows.power(f"r{i}.", r_ends) for i in range(rows.rows)]
    data = [N("u8", 0)] * (16 * 2 * rows.word.LANES.v * rows.rows)
    out = rows.call("four_rows", h, [ready for _, ready in powers], data)
    # The rows are taken from the last to the first, to which h is added.
    blocks = rows.blocks[::-1]
    expected = Poly({})
    for i, (r, _) in enumerate(powers):
        row = rows.value(blocks[i]) + (rows.value(h) if i == 0 else 0)
        expected = expected + row * rows.value(r)
    return out, expected


def invariant(proof, name):
    """Ends of limbs that hold before and after each step: grown from those of `limbs` until they stay."""
    if name in proof.invariants:
        return proof.invariants[name]
    ends = limb_ends(proof, name)[0]
    for _ in range(6):
        rows = Rows(proof, name)
        proof.machines.pop()
        out, _ = four_rows(rows, ends, ends)
        grown = [max(pair) for pair in zip(ends, rows.spans(out))]
        if grown == ends:
            proof.invariants[name] = ends
            proof.notes.append(
                f"limbs of {name} stay at most "
                + ", ".join(
                    f"2^{end.bit_length()} - 1"
                    if end & (end + 1) == 0
                    else f"2^{end.bit_length() - 1} + {end - (1 << end.bit_length() - 1)}"
                    for end in ends
                )
            )
            return ends
        ends = grown
    raise Failed("the limbs grow in each step")


def horner_loop(proof, name):
    ends = invariant(proof, name)
    rows = Rows(proof, name)
    out, expected = four_rows(rows, ends, ends)
    proof.same(rows.machine, "the sum", rows.value(out), expected, P1305)
    for i, (limb, end) in enumerate(zip(out, ends)):
        proof.below(rows.machine, f"limb {i} is within the invariant again", limb, end + 1)


def horner_product(proof, name):
    ends = invariant(proof, name)
    rows = Rows(proof, name)
    h = rows.limbs("h", ends)
    r, ready = rows.power("r", ends)
    out = rows.call("product", h, ready)
    proof.same(rows.machine, "the product", rows.value(out), rows.value(h) * rows.value(r), P1305)
    for i, (limb, end) in enumerate(zip(out, ends)):
        proof.below(rows.machine, f"limb {i} is within the invariant", limb, end + 1)


def horner_step(proof, name):
    ends = invariant(proof, name)
    rows = Rows(proof, name)
    h, m = rows.limbs("h", ends), rows.block()
    r, ready = rows.power("r", ends)
    machine, word = rows.machine, rows.word
    row = machine.run(name, "plus", word, h, m, types=rows.types)
    none = machine.run(name, "no_sums", word, types=rows.types)
    added = machine.run(name, "add_product", word, none, row, ready, types=rows.types)
    out = machine.run(name, "carry", word, added, types=rows.types)
    expected = (rows.value(h) + rows.value(m)) * rows.value(r)
    proof.same(machine, "the step", rows.value(out), expected, P1305)
    for i, (limb, end) in enumerate(zip(out, ends)):
        proof.below(machine, f"limb {i} is within the invariant again", limb, end + 1)


def horner_last(proof, name):
    ends = invariant(proof, name)
    rows = Rows(proof, name)
    machine, word = rows.machine, rows.word
    h = rows.limbs("h", ends)
    total = machine.run(name, "no_sums", word, types=rows.types)
    expected = Poly({})
    for i in range(rows.last_rows):
        m = rows.block()
        row = machine.run(name, "plus", word, m, h, types=rows.types) if i == 0 else m
        r, ready = rows.power(f"r{i}.", ends)
        total = machine.run(name, "add_product", word, total, row, ready, types=rows.types)
        expected = expected + (rows.value(m) + (rows.value(h) if i == 0 else 0)) * rows.value(r)
    carried = []
    original = word.sum

    def sum_(a):
        carried.append((a, original(a)))
        return carried[-1][1]

    word.sum = sum_
    out = rows.call("total", total)
    # `total` sums each limb over the words: that of one word is the sum of its rows, ..
    proof.same(machine, "one word", rows.value([a for a, _ in carried]), expected, P1305)
    # .. and the sum over words is taken as a number.
    proof.same(machine, "all words", value_of(out), rows.value([s for _, s in carried]), P1305)
    proof.below(machine, "the top limb", out.fields["0"][2], FIELD_TOP)


def residues(proof, name):
    ends = invariant(proof, name)
    sources = [Source(file, proof.text(file)) for file in (*RADIX[name], "algo/poly1305/many.rs")]
    machine = proof.machine()
    machine.sources = sources
    count, bits = radix(proof, name, machine)
    word = BitWord(machine)
    h = [u("u64", f"h{i}") for i in range(count)]
    total = z3.BitVecVal(0, 192)
    for i, (limb, end) in enumerate(zip(h, ends)):
        machine.assumed.append(z3.ULE(limb.v, end))
        total = total + (as_bits(limb, 192) << (bits * i))
    low, high = machine.run(None, "residues", word, h, types={"A": word, "R": name})
    proof.claim(
        machine, "the residue", z3.Concat(high.v, low.v) == z3.Extract(127, 0, modulo_p(total))
    )


for name in RADIX:
    short = name[-2:]
    files = RADIX[name]
    theorem(
        f"radix{short}-limbs",
        f"FieldElement::limbs gives {name}'s limbs of h, within their bits, for every h below 2^131",
        files,
        name=name,
    )(limbs)
    theorem(
        f"radix{short}-from-limbs",
        f"FieldElement::from_limbs is the sum of {name}'s limbs mod 2^130 - 5, for any limbs, and never overflows",
        files,
        name=name,
    )(from_limbs)
    theorem(
        f"radix{short}-from-columns",
        f"{name}::from_columns is the block plus 2^128 where it has a top, in limbs within their bits",
        files,
        name=name,
    )(from_columns)
    theorem(
        f"radix{short}-loop",
        f"one turn of Horner's loop in {name}: limbs within the invariant stay within it, no word overflows, and h = (h + m0) R^4 + .. + m3 R mod 2^130 - 5",
        files,
        name=name,
    )(horner_loop)
    theorem(
        f"radix{short}-product",
        f"a product of powers of r in {name}: within the invariant, no overflow, congruent",
        files,
        name=name,
    )(horner_product)
    theorem(
        f"radix{short}-step",
        f"a step of many messages in {name}: (h + m) r within the invariant, no overflow, congruent",
        files,
        name=name,
    )(horner_step)
    theorem(
        f"radix{short}-last",
        f"the last rows in {name}: LAST_ROWS products fit before the carry, and so do the sums over all words; congruent",
        files,
        name=name,
    )(horner_last)
    theorem(
        f"radix{short}-residues",
        f"residues in {name} is (h mod 2^130 - 5) mod 2^128 for limbs within the invariant",
        (*files, "algo/poly1305/many.rs"),
        name=name,
    )(residues)


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
    a, b = sums(machine, "u64", "a", 2**52 - 1), sums(machine, "u64", "b", 2**52 - 1)
    s = [N("u64", 0), N("u64", 0)]
    function = machine.find("Words", "mul52")
    out = machine.call(function, [s, a, b], word, (), {"A": word}, word)
    proof.same(machine, "the product", Poly.of(out[0].v) + Poly.of(out[1].v) * 2**52, a.v * b.v)
    proof.below(machine, "the low half", out[0], 2**52)


@theorem(
    "poly1305-example",
    "the functions as this model runs them give RFC 8439's tag (section 2.5.2)",
    ("algo/poly1305/field.rs",),
)
def poly1305_example(proof):
    machine = proof.machine()
    r = bytes.fromhex("85d6be7857556d337f4452fe42d506a8")
    s = int.from_bytes(bytes.fromhex("0103808afb0db2fd4abff6af4149f51b"), "little")
    r = machine.run("ClampedR", "clamped", known_bytes(r))
    h = Struct("FieldElement", {"0": [N("u64", 0)] * 3})
    text = b"Cryptographic Forum Research Group"
    for at in range(0, len(text), 16):
        block = text[at : at + 16]
        m = int.from_bytes(block, "little") + (1 << 8 * len(block) if len(block) < 16 else 0)
        h = machine.run("ClampedR", "step", h, N("u128", m), N("u64", len(block) // 16), receiver=r)
    tag = machine.run("FieldElement", "residue", receiver=h).v + s & 2**128 - 1
    expected = bytes.fromhex("a8061dc1305136c6c22b8baf0c0127a9")
    proof.claim(machine, "the tag", tag == int.from_bytes(expected, "little"))


# UMAC, RFC 4418.

POLY = ("algo/umac/poly.rs",)


@theorem(
    "umac-clamp",
    "the masks of POLY's keys are those of RFC 4418, section 5.3.1: k64 below 2^57, k128 below 2^121",
    ("algo/umac/key.rs",),
)
def umac_clamp(proof):
    machine = proof.machine()
    function = machine.find("HashKey", "derive")
    wanted = {
        "k64": ("u64", 8, 0x01FFFFFF01FFFFFF),
        "k128": ("u128", 16, 0x01FFFFFF01FFFFFF01FFFFFF01FFFFFF),
    }
    loop = next(s for s in function.body[1] if s[0] == "expr" and s[1][0] == "for")
    machine.chunk = 16
    found = set()
    for statement in loop[1][3][1]:
        if statement[0] != "let" or statement[1][0] != "name" or statement[1][1] not in wanted:
            continue
        name = statement[1][1]
        t, n, mask = wanted[name]
        frame = Frame(function.source, {})
        p = unknown_bytes(name, n)
        frame.scopes[0][name] = p
        out = machine.eval(statement[3], frame)
        proof.claim(machine, name, out.v == big_endian(p) & mask)
        proof.claim(machine, f"{name} is small", z3.ULT(out.v, 1 << (8 * n - 7)))
        found.add(name)
    if found != set(wanted):
        raise Failed(f"algo/umac/key.rs: found {sorted(found)}")


def poly_reduced(proof, t, p):
    machine = proof.machine()
    y = u(t, "y")
    out = machine.run(t, "reduced", receiver=y, self_type=t)
    proof.claim(machine, "y mod p", out.v == z3.If(z3.UGE(y.v, p), y.v - p, y.v))


def poly_marked(proof, t, p):
    machine = proof.machine()
    width = WIDTH[t]
    m = u(t, "m")
    out = machine.run(t, "is_marked", receiver=m, self_type=t)
    # maxwordrange, of section 5.3.2.
    marked = z3.UGE(m.v, 2**width - 2 ** (width - 32))
    proof.claim(
        machine,
        "the marker",
        out.v == z3.If(marked, z3.BitVecVal(2**64 - 1, 64), z3.BitVecVal(0, 64)),
    )
    a, b = u(t, "a"), u(t, "b")
    for mask, expected in ((0, a), (2**64 - 1, b)):
        chosen = machine.run(t, "select", N("u64", mask), a, b, self_type=t)
        proof.claim(machine, f"select by {mask:x}", chosen.v == expected.v)
        less = machine.run(t, "less_if", N("u64", mask), b, receiver=a, self_type=t)
        proof.claim(machine, f"less_if by {mask:x}", less.v == (a.v - b.v if mask else a.v))


def poly_times_plus(proof, t, p):
    machine = proof.machine()
    end = 2 ** WIDTH[t] - 1
    if t == "u64":
        y, k, m = (sums(machine, t, name, end) for name in "ykm")
    else:
        y, k = (
            N(
                t,
                machine.sums.atom(f"{name}0", 0, 2**64 - 1)
                + machine.sums.atom(f"{name}1", 0, 2**64 - 1) * 2**64,
            )
            for name in "yk"
        )
        m = sums(machine, t, "m", end)
    out = machine.run(t, "times_plus", k, m, receiver=y, self_type=t)
    proof.same(machine, "y k + m", out.v, y.v * k.v + m.v, p)
    proof.below(machine, "a word", out, 2 ** WIDTH[t])


def poly_step(proof, t, p):
    width = WIDTH[t]
    for marked in (False, True):
        machine = proof.machine()
        count = [0]

        def times_plus(y, k, m):
            """By its theorem: some word with that value mod p."""
            y, k, m = (Poly.of(plain(x).v) for x in (y, k, m))
            count[0] += 1
            value = y * k + m
            quotient = machine.sums.fresh("t", 0, machine.sums.span(value)[1])
            r = machine.sums.fresh("w", 0, 2**width - 1)
            (name,) = next(iter(r.terms))
            machine.sums.parts[name] = value - quotient * p
            machine.sums.equations.append((r, value - quotient * p))
            return N(t, r)

        mask = N("u64", 2**64 - 1 if marked else 0)
        machine.contracts[t, "times_plus"] = times_plus
        machine.contracts[t, "is_marked"] = lambda m: mask
        machine.contracts[t, "select"] = lambda mask, a, b: plain(b) if plain(mask).v else plain(a)
        # The key below its mask, by the theorem `umac-clamp`; k * 1 + offset is then no fold.
        k = sums(machine, t, "k", 2 ** (width - 7) - 1)

        def new_times_plus(y, k, m):
            if isinstance(plain(y).v, Poly) and isinstance(plain(k).v, int):
                value = Poly.of(plain(y).v) * plain(k).v + Poly.of(plain(m).v)
                if machine.sums.span(value)[1] < p:
                    # Below p no fold of `times_plus` does anything: theorem `umac-small`.
                    return N(t, value)
            return times_plus(y, k, m)

        machine.contracts[t, "times_plus"] = new_times_plus
        key = machine.run("PolyKey", "new", k, types={"F": t})
        machine.contracts[t, "times_plus"] = times_plus
        low = 2**width - 2 ** (width - 32)
        m = sums(machine, t, "m", 2**width - 1, low) if marked else sums(machine, t, "m", low - 1)
        y = sums(machine, t, "y", 2**width - 1)

        def less_if(x, mask, n):
            value, over = machine.wrapping("-", plain(x), plain(n) if plain(mask).v else N(t, 0), t)
            machine.goal(
                "m - offset - k is not negative",
                machine.sums.linear(Poly.of(over.v) if isinstance(over, N) else Poly.of(int(over)))
                == 0,
            )
            return value

        machine.contracts[t, "less_if"] = less_if
        poly = Struct("Poly", {"y": y, "marked": N("u64", 0)})
        machine.run("PolyKey", "step", poly, m, receiver=key, types={"F": t})
        # Section 5.3.2: marker = p - 1, offset = 2^bits - p.
        if marked:
            expected = (y.v * k.v + (p - 1)) * k.v + (m.v - (2**width - p))
        else:
            expected = y.v * k.v + m.v
        proof.same(machine, "the RFC's step", poly.fields["y"].v, expected, p)
        proof.claim(machine, "steps are counted", poly.fields["marked"].v == int(marked))


def poly_small(proof, t, p):
    machine = proof.machine()
    width = WIDTH[t]
    k = sums(machine, t, "k", 2 ** (width - 7) - 1)
    offset = machine.constant(t, "OFFSET", Frame(machine.sources[0], {"Self": t}))
    one = machine.constant(t, "ONE", Frame(machine.sources[0], {"Self": t}))
    proof.claim(machine, "the offset", offset.v == 2**width - p)
    out = machine.run(t, "times_plus", one, offset, receiver=k, self_type=t)
    proof.same(machine, "k + offset", out.v, k.v + offset.v)


for t, p in (("u64", P64), ("u128", P128)):
    bits = WIDTH[t]
    theorem(
        f"umac-poly{bits}-reduced",
        f"Field::reduced is y mod 2^{bits} - {2**bits - p} for every word",
        POLY,
        t=t,
        p=p,
    )(poly_reduced)
    theorem(
        f"umac-poly{bits}-marked",
        f"is_marked is m >= maxwordrange for every word m of {bits} bits; select and less_if follow the mask",
        POLY,
        t=t,
        p=p,
    )(poly_marked)
    theorem(
        f"umac-poly{bits}-times-plus",
        f"times_plus is y k + m mod 2^{bits} - {2**bits - p} for all y, k, m, a word, and never overflows",
        POLY,
        t=t,
        p=p,
    )(poly_times_plus)
    theorem(
        f"umac-poly{bits}-step",
        f"a step of POLY-{bits} is that of RFC 4418, section 5.3.2, for plain and for marked words",
        POLY,
        t=t,
        p=p,
    )(poly_step)
    theorem(
        f"umac-poly{bits}-small",
        f"what a marked word of POLY-{bits} takes is exactly k + 2^{bits} - p, without a reduction",
        POLY,
        t=t,
        p=p,
    )(poly_small)


@theorem(
    "umac-join-steps",
    "joining parts of POLY looks at every bit of the number of steps, however many words are marked",
    POLY,
)
def join_steps(proof):
    machine = proof.machine()
    function = machine.find("PolyKey", "join")
    loop = next(s for s in function.body[1] if s[0] == "expr" and s[1][0] == "for")
    words, marked = z3.BitVec("words", 64), z3.BitVec("marked", 64)
    for bits in range(64):
        # All numbers of words of that length in bits.
        low, high = (1 << bits) >> 1, (1 << bits) - 1
        frame = Frame(function.source, {})
        frame.scopes[0]["words"] = N("u64", high)
        covered = [n.v for n in machine.iterate(machine.eval(loop[1][2], frame))]
        proof.claim(
            machine,
            "bits from the highest on",
            covered == sorted(covered, reverse=True) and covered[-1:] in ([], [0]),
        )
        in_range = z3.And(z3.UGE(words, low), z3.ULE(words, high), z3.ULE(marked, words))
        left = z3.LShR(words + marked, len(covered)) if len(covered) < 64 else z3.BitVecVal(0, 64)
        proof.claim(machine, f"words of {bits} bits", z3.Implies(in_range, left == 0))


L3 = ("algo/umac/l3.rs", "isa/words.rs")


@theorem("umac-l3-reduced", "L3-HASH's reduction is a mod 2^36 - 5, for every a of 64 bits", L3)
def l3_reduced(proof):
    # The fold, as whole numbers.
    machine = proof.machine()
    a = sums(machine, "u64", "a", 2**64 - 1)
    machine.stop_at = "less_p"
    try:
        machine.run(None, "reduced", a)
        raise Failed("l3.rs: reduced has no `less_p`")
    except Stop as stop:
        folded = stop.names["a"]
    proof.same(machine, "the fold", folded.v, a.v, P36)
    proof.below(machine, "one p is left at most", folded, 2 * P36)
    # What is done with it, as bits.
    machine = proof.machine()
    function = machine.find(None, "reduced")
    start = next(i for i, s in enumerate(function.body[1]) if s[1] == ("name", "less_p", False))
    frame = Frame(function.source, {})
    a = u("u64", "a")
    machine.assumed.append(z3.ULT(a.v, 2 * P36))
    frame.scopes[0]["a"] = a
    out = machine.eval(("block", function.body[1][start:], function.body[2]), frame)
    proof.claim(machine, "a mod p", out.v == z3.If(z3.UGE(a.v, P36), a.v - P36, a.v))


def l3_key(machine):
    return Struct(
        "L3Key",
        {"k1": [sums(machine, "u64", f"k{i}", P36 - 1) for i in range(8)], "k2": N("u32", 0)},
    )


def l3_words(machine, name):
    return [machine.sums.atom(f"{name}{i}", 0, 0xFFFF) for i in range(4)]


def l3_number(words):
    return N("u64", words[0] * 2**48 + words[1] * 2**32 + words[2] * 2**16 + words[3])


@theorem("umac-l3-key", "L3-HASH's keys are below 2^36 - 5, for all bytes of a key", L3)
def l3_keys(proof):
    machine = proof.machine(chunk=8)
    wide = unknown_bytes("k", 64)
    # `reduced` by its theorem: the quotient is given, the rest is below p.
    taken = []

    def reduced(a):
        rest = u("u64", f"rest{len(taken)}")
        machine.assumed.append(z3.ULT(rest.v, P36))
        taken.append(plain(a))
        return rest

    machine.contracts["reduced"] = reduced
    key = machine.run("L3Key", "new", wide, unknown_bytes("x", 4))
    if len(taken) != 8:
        raise Failed(f"{len(taken)} keys of 8 are reduced")
    for i, number in enumerate(key.fields["k1"]):
        proof.claim(machine, f"key {i} is small", z3.ULT(number.v, P36))
        proof.claim(
            machine,
            f"key {i} is a big-endian number",
            taken[i].v == big_endian(wide[8 * i : 8 * i + 8]),
        )


@theorem(
    "umac-l3-dot",
    "L3-HASH reduces the sum of m_i k_i over eight 16-bit words, which fits in 64 bits for all keys below 2^36 - 5",
    L3,
)
def l3_dot(proof):
    machine = proof.machine()
    key, high, low = l3_key(machine), l3_words(machine, "h"), l3_words(machine, "l")
    seen = []

    def reduced(a):
        seen.append(plain(a).v)
        return N("u64", machine.sums.fresh("y", 0, P36 - 1))

    machine.contracts["reduced"] = reduced
    machine.run("L3Key", "hash", l3_number(high), l3_number(low), receiver=key)
    machine.run("L3Key", "hash_low", l3_number(low), receiver=key)
    machine.run("L3Key", "hash_low_in_words", l3_number(low), receiver=key)
    k = [n.v for n in key.fields["k1"]]
    expected = sum((m * k[i] for i, m in enumerate(high + low)), Poly({}))
    proof.same(machine, "sixteen bytes", seen[0], expected)
    low = sum((m * k[4 + i] for i, m in enumerate(low)), Poly({}))
    proof.same(machine, "eight bytes", seen[1], low)
    proof.same(machine, "eight bytes in words", seen[2], low)


@theorem("umac-l3-each", "L3-HASH in the words of vectors is L3-HASH one by one", L3)
def l3_each(proof):
    # The sum, as whole numbers.
    machine = proof.machine()
    word, key, low = Word(machine), l3_key(machine), l3_words(machine, "l")
    # A key in two halves, as the code takes it.
    halves = []
    for i in range(4, 8):
        k0, k1 = machine.sums.atom(f"k{i}.0", 0, 2**32 - 1), machine.sums.atom(f"k{i}.1", 0, 15)
        key.fields["k1"][i] = N("u64", k0 + k1 * 2**32)
        halves.append((k0, k1))

    def mul32(a, b):
        # The instruction takes the low halves.
        b = N("u64", machine.sums.divmod(Poly.of(plain(b).v), 32)[1])
        return Word.mul32(word, a, b)

    word.mul32 = mul32
    machine.stop_at = "over"
    try:
        machine.run("L3Key", "hash_low_each", word, l3_number(low), receiver=key, types={"A": word})
        raise Failed("l3.rs: hash_low_each has no `over`")
    except Stop as stop:
        total = stop.names["sum"]
    expected = sum((m * key.fields["k1"][4 + i].v for i, m in enumerate(low)), Poly({}))
    proof.same(machine, "the sum", total.v, expected)
    # What is done with the sum, as bits.
    machine = proof.machine()
    word = BitWord(machine)
    function = machine.find("L3Key", "hash_low_each")
    statements = function.body[1]
    start = next(
        i for i, s in enumerate(statements) if s[0] == "let" and s[1] == ("name", "over", False)
    )
    frame = Frame(function.source, {"A": word})
    value, k2 = u("u64", "sum"), u("u32", "k2")
    machine.assumed.append(z3.ULT(value.v, 2**54))
    frame.scopes[0] |= {"a": word, "sum": value, "self": Struct("L3Key", {"k1": [], "k2": k2})}
    out = machine.eval(("block", statements[start:], function.body[2]), frame)
    one = machine.run("L3Key", "finish", value, receiver=Struct("L3Key", {"k1": [], "k2": k2}))
    proof.claim(machine, "the hash", out.v == z3.ZeroExt(32, one.v))


PADS = ("algo/umac/pad.rs", "isa/block.rs")


@theorem(
    "umac-pads",
    "a nonce's pad is RFC 4418's, section 3.3.1: low bits cleared, zeros after it, and which part of the block; for all nonces of 1 to 16 bytes",
    PADS,
)
def umac_pads(proof):
    for length in range(1, 17):
        for pads in (1, 2, 4):
            machine = proof.machine(chunk=16)
            BlockType(machine, 16)
            p = unknown_bytes("n", length)
            block = p + known_bytes(bytes(16 - length))
            nonce = Struct("UmacNonce", {"block": block, "bytes": usize(length)})
            out, place = machine.run(None, "pad_of", nonce, N("u8", pads))
            expected = list(block)
            expected[length - 1] = N("u8", p[-1].v & ~(pads - 1))
            proof.claim(machine, "the input", big_endian(out) == big_endian(expected))
            proof.claim(
                machine, "the place", as_bits(place, 64) == z3.ZeroExt(56, p[-1].v & (pads - 1))
            )
    for streams, parts in ((1, 4), (2, 2), (3, 1), (4, 1)):
        machine = proof.machine(chunk=4 * streams if streams < 3 else 16)
        output = unknown_bytes("o", 16)
        place = u("usize", "place")
        machine.assumed.append(z3.ULT(place.v, parts))
        out = machine.run(None, "pad_in", output, place, types={"T": usize(streams)})
        number = little_endian(output)
        expected = z3.Extract(
            127, 0, z3.LShR(number, z3.ZeroExt(64, place.v) * (32 * streams % 128))
        )
        mask = (1 << (32 * streams)) - 1
        proof.claim(machine, f"{streams} streams", as_bits(out, 128) == expected & mask)


NH_FILES = ("algo/umac/nh.rs", "isa/portable/words.rs", "isa/words.rs", "isa/block.rs")


@theorem(
    "umac-nh-group",
    "a group of NH adds the four products of RFC 4418, section 5.2.2, to the sum of the words, for every stream; message words little-endian, key words big-endian",
    NH_FILES,
)
def nh_group(proof):
    machine = proof.machine(uninterpreted=True)
    words = Struct("PortableWords", {})
    types = {"A": "PortableWords", "T": usize(4), "N": usize(1)}
    streams = machine.path(["STREAMS"], [], Frame(machine.sources[0], {})).v
    message = unknown_bytes("m", 32)
    units = [unknown_bytes(f"k{i}.", 16) for i in range(streams + 1)]
    # Each unit as `set` stores it.
    stored = []
    for unit in units:
        key = Struct(
            "NhKey",
            {
                "even": Struct("Units", {"0": [[N("u8", 0)] * 16]}),
                "odd": Struct("Units", {"0": [[N("u8", 0)] * 16]}),
            },
        )
        machine.run("NhKey", "set", usize(0), unit, receiver=key)
        stored.append(key.fields["even"].fields["0"][0])

    def blocks(p):
        return machine.run("PortableWords", "blocks", p, receiver=words)

    before = [[[u("u64", f"s{s}.0"), u("u64", f"s{s}.1")]] for s in range(streams)]
    after = [[list(row[0])] for row in before]
    pair = (blocks(Slice(message, 0, 16)), blocks(Slice(message, 16, 32)))
    machine.run(
        None, "add", words, Muts(after), [pair], lambda i: blocks(stored[plain(i).v]), types=types
    )
    for s in range(streams):
        m = [little_endian(message[4 * j : 4 * j + 4]) for j in range(8)]
        # Stream s has the key from unit s on.
        k_bytes = units[s] + units[s + 1]
        k = [big_endian(k_bytes[4 * j : 4 * j + 4]) for j in range(8)]
        expected = sum((n.v for n in before[s][0]), z3.BitVecVal(0, 64))
        for j in range(4):
            expected = expected + product(False, m[j] + k[j], m[j + 4] + k[j + 4], 64)
        total = machine.run("PortableWords", "sum", after[s][0], receiver=words)
        proof.claim(machine, f"stream {s}", total.v == expected)


@theorem(
    "words-lanes",
    "add32, add16, mul32, high32, madd16 and mul32_signed of the portable words act on each field of a word as Words defines",
    ("isa/portable/words.rs", "isa/words.rs"),
)
def words_lanes(proof):
    machine = proof.machine(uninterpreted=True)
    words = Struct("PortableWords", {})
    a, b = ([u("u64", f"{name}{i}") for i in range(2)] for name in "ab")

    def run(name, *args):
        return machine.run("PortableWords", name, *args, receiver=words)

    def fields(x, size):
        return [z3.Extract(size * i + size - 1, size * i, x) for i in range(64 // size)]

    for size in (32, 16):
        for x, y, out in zip(a, b, run(f"add{size}", a, b)):
            expected = [p + q for p, q in zip(fields(x.v, size), fields(y.v, size))]
            proof.claim(machine, f"add{size}", out.v == z3.Concat(*expected[::-1]))
    for name, signed in (("mul32", False), ("mul32_signed", True)):
        for x, y, out in zip(a, b, run(name, a, b)):
            expected = product(signed, fields(x.v, 32)[0], fields(y.v, 32)[0], 64)
            proof.claim(machine, name, out.v == expected)
    for x, out in zip(a, run("high32", a)):
        proof.claim(machine, "high32", z3.Extract(31, 0, out.v) == fields(x.v, 32)[1])
    for x, y, out in zip(a, b, run("madd16", a, b)):
        parts = [product(True, p, q, 32) for p, q in zip(fields(x.v, 16), fields(y.v, 16))]
        expected = z3.Concat(parts[2] + parts[3], parts[0] + parts[1])
        proof.claim(machine, "madd16", out.v == expected)


NH99 = ("algo/umac99/nh.rs", "isa/portable/words.rs", "isa/words.rs")


@theorem(
    "nh99-taken",
    "a sum of words of NH counts mod 2^w from 0 on, of NHS from -2^(w-1) on, for w = 4, 16, 32 and 64",
    NH99,
)
def nh99_taken(proof):
    for w in (4, 16, 32, 64):
        for signed in (False, True):
            machine = proof.machine()
            x = u("u64", "x")
            out = machine.run(None, "taken", x, signed, types={"W": usize(w)})
            low = z3.Extract(w - 1, 0, x.v)
            expected = (z3.SignExt if signed else z3.ZeroExt)(128 - w, low)
            proof.claim(
                machine, f"{w} bits, {'signed' if signed else 'unsigned'}", out.v == expected
            )


def lowered(x, n):
    """The low n bits of a bit vector, taken before its additions."""
    if x.size() == n:
        return x
    kind = x.decl().kind()
    if kind == z3.Z3_OP_BADD:
        total = lowered(x.arg(0), n)
        for i in range(1, x.num_args()):
            total = total + lowered(x.arg(i), n)
        return total
    if kind in (z3.Z3_OP_ZERO_EXT, z3.Z3_OP_SIGN_EXT) and x.arg(0).size() >= n:
        return lowered(x.arg(0), n)
    if kind == z3.Z3_OP_CONCAT and x.arg(x.num_args() - 1).size() >= n:
        return lowered(x.arg(x.num_args() - 1), n)
    if kind == z3.Z3_OP_BLSHR and z3.is_bv_value(x.arg(1)):
        at = x.arg(1).as_long()
        return z3.simplify(z3.Extract(at + n - 1, at, x.arg(0)))
    return z3.simplify(z3.Extract(n - 1, 0, x))


def nh99_pairs(proof, w, signed, strided):
    """Vectors against the definition, each on two vectors of one lane."""
    machine = proof.machine(uninterpreted=True, chunk=8)
    words = Struct("PortableWords", {})
    key, data = unknown_bytes("k", 32), unknown_bytes("m", 32)
    owner = "Strided16" if strided else "Neighbours32"
    types = {"A": "PortableWords", "SIGNED": signed, "W": usize(w)}

    def add16(self, a, b):
        """By the theorem `words-lanes`."""
        out = []
        for x, y in zip(plain(a), plain(b)):
            parts = [
                z3.Extract(i + 15, i, x.v) + z3.Extract(i + 15, i, y.v) for i in (48, 32, 16, 0)
            ]
            out.append(N("u64", z3.Concat(*parts)))
        return out

    machine.contracts["PortableWords", "add16"] = add16
    frame_types = types | {"Self": owner}

    def run(name, *args):
        return machine.run(owner, name, words, *args, types=frame_types, self_type=owner)

    fast = run("fold", run("clauses", run("load", data), run("load", key)))

    def clause(a, b, signed):
        """By its definition, and the theorem `nh99-taken`."""
        a, b = (z3.Extract(w - 1, 0, plain(x).v) for x in (a, b))
        return N("u128", z3.ZeroExt(128 - 2 * w, product(plain(signed), a, b, 2 * w)))

    machine.contracts["clause"] = clause

    class Shape(Model):
        def __init__(self):
            self.signed, self.strided, self.big_endian = signed, strided, False

        def unit_bytes(self):
            return usize((8 if strided else 2) * w // 8)

    slow = machine.run(None, "plain", Shape(), key, data, types={"W": usize(w)})
    # The low bits of both, pushed through their additions, and then in any order.
    low = [lowered(x.v, 2 * w) for x in (fast, slow)]
    for x, pushed in zip((fast, slow), low):
        proof.claim(machine, "low bits", z3.Extract(2 * w - 1, 0, x.v) == pushed)
    proof.claim(machine, "the sum mod 2^2w", low[0] == low[1])


for signed in (False, True):
    theorem(
        f"nh99-neighbours32-{'signed' if signed else 'unsigned'}",
        f"NH{'S' if signed else ''} of neighbouring words of 32 bits by vectors is the definition mod 2^64",
        NH99,
        w=32,
        signed=signed,
        strided=False,
    )(nh99_pairs)
theorem(
    "nh99-strided16",
    "NHS of strided words of 16 bits by vectors is the definition mod 2^32",
    NH99,
    w=16,
    signed=True,
    strided=True,
)(nh99_pairs)


# PMAC's offsets.


class Multiple(Model):
    """A sum of L(i) = L x^i: bit i is L(i). What code does with offsets alone holds for every L."""

    def __init__(self, bits):
        self.bits = bits

    def xor(self, other):
        return Multiple(self.bits ^ plain(other).bits)

    def times_x(self):
        return Multiple(self.bits << 1)


class MultipleType(Model):
    @property
    def ZERO(self):
        return Multiple(0)


PMAC = ("algo/pmac/mod.rs",)


def gamma(i):
    return i ^ i >> 1


def pmac_machine(proof):
    machine = proof.machine()
    frame = Frame(machine.sources[0], {})
    constants = {
        name: machine.path([name], [], frame).v
        for name in ("PERIOD", "PERIOD_LOG", "STORED", "NARROW_PATH_BLOCKS")
    }
    return machine, constants


def offsets(machine, constants):
    made = Struct(
        "Offsets",
        {"l": [Multiple(0)] * constants["STORED"], "gamma_l": [Multiple(0)] * constants["PERIOD"]},
    )
    machine.run(
        "Offsets",
        "make",
        Multiple(1),
        receiver=made,
        types={"B": MultipleType(), "N": usize(constants["PERIOD"])},
    )
    return made


@theorem(
    "pmac-offsets",
    "the tables of PMAC's offsets are L x^i and gamma_j L for j = 1..=PERIOD, for every L",
    PMAC,
)
def pmac_offsets(proof):
    machine, constants = pmac_machine(proof)
    proof.claim(machine, "PERIOD_LOG", 1 << constants["PERIOD_LOG"] == constants["PERIOD"])
    proof.claim(machine, "the tables have room", constants["STORED"] > constants["PERIOD_LOG"])
    made = offsets(machine, constants)
    for i, l in enumerate(made.fields["l"]):
        proof.claim(machine, f"L({i})", l.bits == 1 << i)
    for j, offset in enumerate(made.fields["gamma_l"], 1):
        proof.claim(machine, f"gamma_{j}", plain(offset).bits == gamma(j))
    for i in range(64):
        out = machine.run("Offsets", "l", usize(i), receiver=made, types={"B": MultipleType()})
        proof.claim(machine, f"l({i})", plain(out).bits == 1 << i)
    first = machine.run(
        None,
        "gray",
        [Multiple(1 << i) for i in range(4)],
        types={"B": MultipleType(), "N": usize(constants["NARROW_PATH_BLOCKS"])},
    )
    for j, offset in enumerate(first, 1):
        proof.claim(machine, f"the first blocks' gamma_{j}", plain(offset).bits == gamma(j))


@theorem(
    "pmac-gray",
    "the Gray code splits at periods: gamma_(P g + j) = gamma_(P g) ^ gamma_j for 0 < j < P, and gamma_(P g + P) has PMAC's correction, for every period g of a message",
    PMAC,
)
def pmac_gray(proof):
    machine, constants = pmac_machine(proof)
    log, period = constants["PERIOD_LOG"], constants["PERIOD"]
    g, j = z3.BitVecs("g j", 64)
    machine.assumed += [z3.ULT(g, 1 << (63 - log)), z3.UGT(j, 0), z3.ULT(j, period)]

    def code(i):
        return i ^ z3.LShR(i, 1)

    proof.claim(machine, "within a period", code((g << log) + j) == code(g << log) ^ code(j))
    ntz_bit = (g + 1) & -(g + 1)
    correction = z3.BitVecVal(1 << log, 64) ^ (ntz_bit << log)
    proof.claim(
        machine,
        "the period's last block",
        code((g << log) + period) == code(g << log) ^ code(z3.BitVecVal(period, 64)) ^ correction,
    )
    i = z3.BitVec("i", 64)
    proof.claim(
        machine,
        "one L(ntz(i)) from block to block",
        z3.Implies(z3.UGT(i, 0), code(i) == code(i - 1) ^ (i & -i)),
    )


def pmac_periods(proof, count):
    machine, constants = pmac_machine(proof)
    made = offsets(machine, constants)
    period = constants["PERIOD"]
    numbers = sorted(
        {*range(count), *(n for k in range(6, 58) for n in ((1 << k) - 1, 1 << k, (1 << k) + 1))}
    )
    types = {"B": MultipleType()}
    for g in numbers:
        base = machine.run("Offsets", "gamma_l", N("u64", g * period), receiver=made, types=types)
        proof.claim(machine, f"gamma of block {g * period}", plain(base).bits == gamma(g * period))
        terms = Struct(
            "PmacTerms",
            {
                "period": N("u64", g),
                "j": usize(period),
                "base": plain(base),
                "offsets": Some(made),
            },
        )
        machine.run("PmacTerms", "next_period", receiver=terms, types=types)
        proof.claim(
            machine,
            f"the base of period {g + 1}",
            plain(terms.fields["base"]).bits == gamma((g + 1) * period),
        )
        proof.claim(
            machine,
            f"period {g + 1}",
            terms.fields["period"].v == g + 1 and plain(terms.fields["j"]).v == 0,
        )


theorem(
    "pmac-periods",
    "next_period goes from gamma_(P g) L to gamma_(P (g + 1)) L, for every L, for the first 256 periods and around each power of two",
    PMAC,
    count=256,
)(pmac_periods)
theorem(
    "pmac-periods-many",
    "next_period goes from gamma_(P g) L to gamma_(P (g + 1)) L, for every L, for the first 8192 periods",
    PMAC,
    level="full",
    count=8192,
)(pmac_periods)


# LightMAC's counters and limits.

LIGHT = ("algo/lightmac/key.rs", "algo/lightmac/strings.rs", "algo/lightmac/mod.rs", "isa/block.rs")


@theorem(
    "lightmac-limit",
    "limit_bits(n, s) is 2^s (n - s), or 2^64 - 1 where that is more, for all n and s",
    LIGHT,
)
def lightmac_limit(proof):
    machine = proof.machine()
    for n in range(64, 257, 8):
        for s in range(1, n // 2 + 1):
            out = machine.run(None, "limit_bits", usize(n), usize(s))
            expected = min(2**s * (n - s), 2**64 - 1)
            proof.claim(machine, f"n = {n}, s = {s}", out.v == expected)


def lightmac_blocks(proof, sizes):
    blocks = set()
    for n in sizes:
        machine = proof.machine()
        for s in range(1, n // 2 + 1):
            divisor = machine.run(None, "gcd8", usize(n - s)).v
            proof.claim(
                machine,
                f"gcd({n - s}, 8)",
                (n - s) % divisor == 0 and (n - s) // divisor * 8 % 8 == 0,
            )
            proof.claim(
                machine,
                f"whole bytes of {n - s} bits",
                (n - s) // divisor * divisor == n - s and divisor in (1, 2, 4, 8),
            )
            blocks.add((n - s) // divisor)
    build = proof.machine().find("LightMac", "build")
    inverse = next(s for s in build.body[1] if s[0] == "let" and s[1] == ("name", "inverse", False))
    for block in sorted(blocks):
        machine = proof.machine()
        frame = Frame(build.source, {})
        frame.scopes[0]["block"] = usize(block)
        mac = Struct("LightMac", {"inverse": machine.eval(inverse[3], frame)})
        length = sums(machine, "usize", "bytes", 2**56 - 1)
        out = machine.run("LightMac", "blocks_in", length, receiver=mac)
        linear = machine.sums.linear
        q, b = linear(out.v), linear(length.v)
        proof.claim(machine, f"blocks of {block}", z3.And(q * block <= b, b < q * block + block))


theorem(
    "lightmac-blocks",
    "the number of blocks by a multiplication is the division's quotient, for every length below 2^56 and every counter with blocks of 64 and 128 bits",
    LIGHT,
    sizes=(64, 128),
)(lightmac_blocks)
theorem(
    "lightmac-blocks-256", "the same with blocks of 256 bits", LIGHT, level="full", sizes=(256,)
)(lightmac_blocks)


def light_mac(s, gray):
    return Struct("LightMac", {"s": usize(s), "gray": gray})


def lightmac_counter(proof, counters):
    for n, s in counters:
        for gray in (False, True):
            machine = proof.machine()
            block = BlockType(machine, n)
            machine.contracts["BitReader", "take"] = lambda self, before, bits: block.ZERO
            i = u("u64", "i")
            reader = Struct(
                "BitReader", {"mac": light_mac(s, gray), "bytes": [], "at": usize(0), "i": i}
            )
            machine.assumed.append(i.v != 2**64 - 1)
            blocks = [block.ZERO]
            machine.run(
                "BitReader",
                "fill",
                Muts(blocks),
                receiver=reader,
                types={"Block": block, "C": block},
            )
            counter = as_bits(i, 128) & ((1 << s) - 1)
            number = counter ^ z3.LShR(counter, 1) if gray else counter
            expected = z3.Extract(127, 128 - 8 * n, number << (128 - s))
            proof.claim(machine, f"n = {8 * n}, s = {s}", big_endian(blocks[0]) == expected)
            if gray and n == 16:
                j = z3.BitVec("j", 64)
                other = as_bits(N("u64", j), 128) & ((1 << s) - 1)
                equal = (other ^ z3.LShR(other, 1)) == number
                proof.claim(
                    machine, f"Gray codes of {s} bits differ", z3.Implies(equal, other == counter)
                )


theorem(
    "lightmac-counter",
    "a block begins with i mod 2^s in s bits, high bit first, or with its Gray code, for all i and some s; Gray codes differ",
    LIGHT,
    counters=((8, 1), (8, 8), (8, 31), (8, 32), (16, 1), (16, 9), (16, 32), (16, 63), (16, 64)),
)(lightmac_counter)
theorem(
    "lightmac-counter-all",
    "the same for all s, with blocks of 64 and 128 bits",
    LIGHT,
    level="full",
    counters=tuple((n, s) for n in (8, 16) for s in range(1, 4 * n + 1)),
)(lightmac_counter)


@theorem(
    "lightmac-groups",
    "in a group of 8 LANES numbers that begins at a multiple of its size, each is the first xor its place",
    LIGHT,
)
def lightmac_groups(proof):
    machine = proof.machine()
    g, j = z3.BitVecs("g j", 64)
    for lanes in (1, 2, 4, 8, 16):
        size = 8 * lanes
        proof.claim(
            machine, f"{lanes} lanes", z3.Implies(z3.ULT(j, size), (g * size) ^ j == g * size + j)
        )


def lightmac_take(proof, counters, every):
    for n, s in counters:
        size = 8 * n
        r = size - s
        data = unknown_bytes("m", 3 * n + 1)
        total = 8 * len(data)
        for at in sorted({0, r % 8, 1, 5, r, 2 * r % size} if every else {r % 8}):
            for before, bits in ((s, r), (0, r - 1), (0, 1), (0, 0)):
                machine = proof.machine()
                block = BlockType(machine, n)
                reader = Struct(
                    "BitReader",
                    {"mac": light_mac(s, False), "bytes": data, "at": usize(at), "i": N("u64", 1)},
                )
                out = machine.run(
                    "BitReader",
                    "take",
                    usize(before),
                    usize(bits),
                    receiver=reader,
                    types={"Block": block, "C": block},
                )
                string = big_endian(data)
                if bits:
                    piece = z3.Extract(total - 1 - at, total - at - bits, string)
                    expected = z3.ZeroExt(size - bits, piece) << (size - before - bits)
                else:
                    expected = z3.BitVecVal(0, size)
                proof.claim(
                    machine,
                    f"n = {size}, s = {s}, {bits} bits from {at}",
                    big_endian(out) == expected,
                )
                proof.claim(machine, "goes on", plain(reader.fields["at"]).v == at + bits)


theorem(
    "lightmac-take",
    "take cuts the next bits out of a message, behind zeros, for some counters and places",
    LIGHT,
    counters=((8, 5), (16, 9), (16, 33)),
    every=True,
)(lightmac_take)
theorem(
    "lightmac-take-all",
    "take cuts the next bits out of a message, behind zeros, for every counter of blocks of 64 and 128 bits",
    LIGHT,
    level="full",
    counters=tuple((n, s) for n in (8, 16) for s in range(1, 4 * n + 1)),
    every=False,
)(lightmac_take)


# EliMAC's counters and limits.

ELI = ("algo/elimac/families.rs", "algo/elimac/hash.rs", "isa/portable/mod.rs", "isa/mod.rs")


@theorem(
    "elimac-counter",
    "<i> is the 32-bit big-endian i four times, and different for all i from 1 to mu",
    ELI,
)
def elimac_counter(proof):
    machine = proof.machine()
    form = machine.path(["FORM"], [], Frame(machine.sources[0], {}))

    def from_fn(f):
        return [machine.apply(f, [usize(i)], Frame(machine.sources[0], {})) for i in range(16)]

    BUILTINS["array", "from_fn"] = from_fn
    i, j = u("u64", "i"), u("u64", "j")
    out = machine.run(None, "written", i, form)
    word = z3.Extract(31, 0, i.v)
    proof.claim(machine, "the block", big_endian(out) == z3.Concat(word, word, word, word))
    other = machine.run(None, "written", j, form)
    for rounds in range(4, 11):
        machine.constants.clear()
        mu = machine.constant(
            "AesFamilies", "MU", Frame(machine.sources[0], {"H": usize(rounds)})
        ).v
        # Section 5: 2 for 4 rounds, which 5 rounds count as; 2^4 for 6; 2^32 for 7, less the one without
        # an encoding.
        expected = {4: 2, 5: 2, 6: 16}.get(rounds, 2**32 - 1)
        proof.claim(machine, f"mu of {rounds} rounds", mu == expected)
        both = z3.And(z3.UGE(i.v, 1), z3.ULE(i.v, mu), z3.UGE(j.v, 1), z3.ULE(j.v, mu))
        equal = big_endian(out) == big_endian(other)
        proof.claim(
            machine,
            f"different up to mu of {rounds} rounds",
            z3.Implies(z3.And(both, equal), i.v == j.v),
        )


@theorem("elimac-limit", "limit_bits is (mu + 1) n - 1, or 2^64 - 1 where that is more", ELI)
def elimac_limit(proof):
    machine = proof.machine()
    for n in (8, 16, 32):
        for mu in (1, 2, 3, 16, 2**32 - 1, 2**57, 2**64 - 1):

            class Families(Model):
                MU = N("u64", mu)

            block = BlockType(machine, n)
            out = machine.run(None, "limit_bits", types={"F": Families(), "Block": block})
            proof.claim(machine, f"mu = {mu}", out.v == min((mu + 1) * 8 * n - 1, 2**64 - 1))


# Bugs to plant: patches to the source that is read. Each is one that code like this has had.

PLANTED = {
    "doubling-greater": (
        "isa/gf128.rs",
        "wrapping_sub(a >> 127)",
        "wrapping_sub((a > 1 << 127) as u128)",
    ),
    "halving-constant": ("isa/gf128.rs", "(C >> 1) as u128", "C as u128"),
    "polynomial-160": ("cipher/field.rs", "160: 5 3 2 0;", "160: 5 3 1 0;"),
    "clamp-one-bit": ("algo/poly1305/field.rs", "& 0x0ffffffc_0ffffffc", "& 0x1ffffffc_0ffffffc"),
    "step-h2-dropped": ("algo/poly1305/field.rs", " + (h2 * r1_5_4) as u128", ""),
    "five-fourths": ("algo/poly1305/field.rs", "(a2 >> 2) + (a2 & !3)", "(a2 >> 2) + (a2 & !1)"),
    "residue-greater": (
        "algo/poly1305/field.rs",
        "carry as u64 >= 4;\n        let mask",
        "carry as u64 > 4;\n        let mask",
    ),
    "radix26-carry-dropped": (
        "algo/poly1305/radix26.rs",
        "        let d1 = a.add(d1, over(d0));\n        let (d2,",
        "        let (d2,",
    ),
    "radix26-bits": ("algo/poly1305/radix26.rs", "const BITS: u32 = 26;", "const BITS: u32 = 27;"),
    "radix26-five": ("algo/poly1305/radix26.rs", "a.add(c, a.shl(c, 2))", "a.add(c, a.shl(c, 1))"),
    "radix44-top": ("algo/poly1305/radix44.rs", "const TOP: u32 = 42;", "const TOP: u32 = 43;"),
    "radix44-no-carry": ("algo/poly1305/radix44.rs", "a.add(h1, a.shr(h0, BITS))", "h1"),
    "radix26-carry-late": (
        "algo/poly1305/radix26.rs",
        "        let d1 = a.add(d1, over(d0));\n        let (d2, d0) = (rest(d2), rest(d0));",
        "        let d2 = rest(d2);",
    ),
    "radix44-twenty": (
        "algo/poly1305/radix44.rs",
        "a.add(a.shl(x, 4), a.shl(x, 2))",
        "a.add(a.shl(x, 4), x)",
    ),
    "radix26-factor": (
        "algo/poly1305/radix26.rs",
        "a.add(a.shl(x, 2), x)",
        "a.add(a.shl(x, 6), x)",
    ),
    "join-bit": ("algo/umac/poly.rs", "(2 * words).leading_zeros()", "words.leading_zeros()"),
    "l3-key": (
        "algo/umac/l3.rs",
        "*number = reduced(u64::from_be_bytes(*bytes));",
        "*number = u64::from_be_bytes(*bytes);",
    ),
    "mul52-half": ("isa/words.rs", "let high = self.add(high, self.shr(low, 52));", ""),
    "marker-one-bit": ("algo/umac/poly.rs", "overflowing_add(1 << 32)", "overflowing_add(1 << 33)"),
    "marker-offset": ("algo/umac/poly.rs", "const OFFSET: u64 = 59;", "const OFFSET: u64 = 58;"),
    "poly64-last-fold": (
        "algo/umac/poly.rs",
        "opaque_word(a.wrapping_add(59 * carry as u64))",
        "opaque_word(a)",
    ),
    "poly128-carry": (
        "algo/umac/poly.rs",
        "above + carry as u128 + again as u128",
        "above + carry as u128",
    ),
    "poly-key-mask": ("algo/umac/key.rs", "& 0x01ffffff_01ffffff;", "& 0x03ffffff_01ffffff;"),
    "l3-mask": (
        "algo/umac/l3.rs",
        "let a = (a & ((1 << 36) - 1))",
        "let a = (a & ((1 << 37) - 1))",
    ),
    "nh-lane": (
        "algo/umac/nh.rs",
        "a.mul32(a.high32(left), a.high32(right))",
        "a.mul32(a.high32(left), right)",
    ),
    "nh-key-order": (
        "algo/umac/nh.rs",
        "[bytes[3], bytes[2], bytes[1], bytes[0]]",
        "[bytes[0], bytes[1], bytes[2], bytes[3]]",
    ),
    "gray-shift": ("algo/lightmac/strings.rs", "{ i ^ i >> 1 }", "{ i ^ i >> 2 }"),
    "blocks-rounding": (
        "algo/lightmac/mod.rs",
        "(bytes as u128 + 1) * self",
        "(bytes as u128) * self",
    ),
    "lightmac-limit": (
        "algo/lightmac/key.rs",
        "((n - s) as u128) << s;",
        "((n - s) as u128) << (s + 1);",
    ),
    "elimac-mu": ("algo/elimac/families.rs", "_ => u32::MAX as u64,", "_ => 1 << 32,"),
    "period-correction": ("algo/pmac/mod.rs", ".xor(&correction);", ";"),
    "padding-bit": ("isa/block.rs", "rows[bit][15] = 0x80 >> bit;", "rows[bit][15] = 0x40 >> bit;"),
    "padding-unused-bits": ("algo/xor.rs", "bytes.as_mut()[bits / 8] &= mask;", ""),
    "tag-length": ("tag.rs", "words.fold(self.bits as u64 ^ other.bits as u64,", "words.fold(0,"),
    "pad-place": ("algo/umac/pad.rs", "(!1, !3)", "(!1, !1)"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="the quick theorems")
    parser.add_argument("--full", action="store_true", help="all theorems")
    parser.add_argument(
        "--planted",
        nargs="?",
        const="",
        metavar="NAME",
        help="with a bug planted; without a name, lists them",
    )
    parser.add_argument("--list", action="store_true", help="says what each theorem proves")
    parser.add_argument("theorems", nargs="*", metavar="THEOREM", help="these alone")
    options = parser.parse_args()
    if options.planted == "":
        print("\n".join(PLANTED))
        return 0
    level = "full" if options.full else "quick"
    theorems = [t for t in THEOREMS if options.full or t.level == "quick"]
    if options.theorems:
        theorems = [t for t in THEOREMS if t.name in options.theorems]
    if options.list:
        for t in theorems:
            print(f"{t.name}: {t.says} ({t.where[0]})")
        return 0
    texts, invariants, notes = {}, {}, []
    if options.planted:
        if options.planted not in PLANTED:
            parser.error(f"no planted bug {options.planted}")
        file, old, new = PLANTED[options.planted]
        text = (SRC / file).read_text()
        if text.count(old) != 1:
            sys.exit(f"proofs: {file} has {text.count(old)} places for the bug {options.planted}")
        texts[file] = text.replace(old, new)
        # Theorems about other files cannot see it.
        theorems = [t for t in theorems if file in t.where]
    checked = failed = goals = solved = 0
    slowest = (0, "")
    for t in theorems:
        started = time.monotonic()
        proof = Proof(t.where, texts, TIMEOUT_MS[level], invariants, notes)
        checked += 1
        try:
            t.run(proof)
            proof.solve()
            verdict = "proved"
        except Exception as error:  # Whatever stops a proof, the theorem is not proved.
            failed += 1
            verdict = "failed"
            error = error if isinstance(error, (Failed, Unsupported)) else repr(error)
            print(f"failed: {t.name}: {t.says} ({t.where[0]}): {error}")
        goals, solved = goals + proof.goals, solved + proof.solved
        took = time.monotonic() - started
        slowest = max(slowest, (took, t.name))
        print(
            f"{took:7.2f} s  {verdict}  {t.name}, {proof.goals} goals", file=sys.stderr, flush=True
        )
        if failed and options.planted:
            break
    for note in notes:
        print(f"note: {note}")
    if not options.planted and not options.theorems:
        print(
            f"note: {checked} theorems of {goals} goals, of which z3 was asked for {solved}; the slowest took {slowest[0]:.0f} s"
        )
    print(f"proofs: {checked} checked, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
