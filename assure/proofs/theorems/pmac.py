"""PMAC's offsets gamma_i L: tables, and the step from one period of the Gray code to the next."""

import z3
from models import usize
from rust.numbers import N
from rust.values import Model, Some, Struct, plain
from theorem import theorem

PMAC = ("algo/pmac/mod.rs", "algo/pmac/offsets.rs")


class Multiple(Model):
    """A sum of L(i) = L x^i, where bit i stands for L(i). A result about offsets alone holds for
    every L."""

    def __init__(self, bits):
        self.bits = bits

    def xor(self, other):
        return Multiple(self.bits ^ plain(other).bits)

    def times_x(self):
        return Multiple(self.bits << 1)


class MultipleType(Model):
    ZERO = Multiple(0)


TYPES = {"B": MultipleType()}


def gamma(i):
    return i ^ i >> 1


def offsets(machine):
    period, stored = machine.read("PERIOD"), machine.read("STORED")
    made = Struct("Offsets", {"l": [Multiple(0)] * stored, "gamma_l": [Multiple(0)] * period})
    machine.run("Offsets", "make", Multiple(1), receiver=made, types=TYPES | {"N": usize(period)})
    return made


@theorem("pmac-offsets", "the tables of PMAC's offsets are L x^i and gamma_j L for j = 1..=PERIOD, for every L", PMAC)
def tables(proof):
    machine = proof.machine()
    log = machine.read("PERIOD_LOG")
    machine.claim("PERIOD_LOG", 1 << log == machine.read("PERIOD"))
    machine.claim("the tables are large enough", machine.read("STORED") > log)
    made = offsets(machine)
    for i, l in enumerate(made.fields["l"]):
        machine.claim(f"L({i})", l.bits == 1 << i)
    for j, offset in enumerate(made.fields["gamma_l"], 1):
        machine.claim(f"gamma_{j}", plain(offset).bits == gamma(j))
    for i in range(64):
        out = machine.run("Offsets", "l", usize(i), receiver=made, types=TYPES)
        machine.claim(f"l({i})", plain(out).bits == 1 << i)
    blocks = usize(machine.read("SHORT_PERIOD"))
    first = machine.run(None, "gray", [Multiple(1 << i) for i in range(4)], types=TYPES | {"N": blocks})
    for j, offset in enumerate(first, 1):
        machine.claim(f"the first blocks' gamma_{j}", plain(offset).bits == gamma(j))


@theorem(
    "pmac-gray",
    "the Gray code splits at periods: gamma_(P g + j) = gamma_(P g) ^ gamma_j for 0 < j < P, and gamma_(P g + P) has PMAC's correction, for every period g of a message and both lengths P",
    PMAC,
)
def gray(proof):
    for period in ("PERIOD", "SHORT_PERIOD"):
        gray_of(proof.machine(), period)


def gray_of(machine, name):
    period = machine.read(name)
    log = period.bit_length() - 1
    g, j, i = z3.BitVecs("g j i", 64)
    machine.assumed += [z3.ULT(g, 1 << (63 - log)), z3.UGT(j, 0), z3.ULT(j, period)]

    def code(i):
        return i ^ z3.LShR(i, 1)

    first = g << log
    machine.claim("within a period", code(first + j) == code(first) ^ code(j))
    correction = z3.BitVecVal(1 << log, 64) ^ (((g + 1) & -(g + 1)) << log)
    last = code(first) ^ code(z3.BitVecVal(period, 64)) ^ correction
    machine.claim("the period's last block", code(first + period) == last)
    next_ = z3.Implies(z3.UGT(i, 0), code(i) == code(i - 1) ^ (i & -i))
    machine.claim("one L(ntz(i)) from block to block", next_)


@theorem(
    "pmac-periods-many",
    "next_period goes from gamma_(P g) L to gamma_(P (g + 1)) L, for every L, for periods of both lengths, for the first 8192",
    PMAC,
    level="full",
    each=[{"count": 8192}],
)
@theorem(
    "pmac-periods",
    "next_period goes from gamma_(P g) L to gamma_(P (g + 1)) L, for every L, for periods of both lengths, for the first 256 and around each power of two",
    PMAC,
    each=[{"count": 256}],
)
def periods(proof, count):
    machine = proof.machine()
    made, period, few = offsets(machine), machine.read("PERIOD"), machine.read("SHORT_PERIOD")
    table = made.fields["gamma_l"]
    for g in sorted({*range(count), *((1 << k) + i for k in range(6, 58) for i in (-1, 0, 1))}):
        base = plain(machine.run("Offsets", "gamma_l", N("u64", g * period), receiver=made, types=TYPES))
        machine.claim(f"gamma of block {g * period}", base.bits == gamma(g * period))
        for p, powers in (period, Some(made)), (few, None):
            base = Multiple(gamma(g * p))
            terms = {"period": N("u64", g), "j": usize(p), "base": base, "gamma_l": table[:p], "offsets": powers}
            terms = Struct("PmacTerms", terms)
            machine.run("PmacTerms", "next_period", receiver=terms, types=TYPES | {"P": usize(p)})
            terms = terms.fields
            machine.claim(f"the base of period {g + 1} of {p}", plain(terms["base"]).bits == gamma((g + 1) * p))
            machine.claim(f"period {g + 1} of {p}", terms["period"].v == g + 1 and plain(terms["j"]).v == 0)
