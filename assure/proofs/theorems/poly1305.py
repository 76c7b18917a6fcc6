"""Poly1305's numbers mod 2^130 - 5 in the code without vectors: `FieldElement` and `ClampedR`."""

import z3
from models import as_bits, known_bytes, little_endian, number_of, u, unknown_bytes, usize
from rust.numbers import WIDTH, N
from rust.values import Model, Struct, plain
from theorem import theorem

P1305 = 2**130 - 5
# A field element is below 2^131, so its top limb is below 8.
FIELD_TOP = 8
FIELD = ("algo/poly1305/field.rs",)


@theorem(
    "poly1305-last-block",
    "the last block of Poly1305, of 1 to 15 bytes, is the little-endian number of its bytes followed by a 1, in streams and one-shot calls",
    ("algo/poly1305/hash.rs", "isa/block.rs"),
)
def last_block(proof):
    for length in range(1, 16):
        p, before = unknown_bytes("p", length), unknown_bytes("b", 16)
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

        hash_, sum_ = Struct("Poly1305Hash", {"r": R()}), Struct("Poly1305Sum", {"h": H()})
        calls = {
            "finish": (None, sum_, N("u64", 0), Tail()),
            "finish_message": (None, sum_, before + p, usize(16)),
        }
        for call, arguments in calls.items():
            machine = proof.machine(chunk=16)
            machine.run("Poly1305Hash", call, *arguments, receiver=hash_)
            expected = little_endian(p + known_bytes(b"\1" + bytes(15 - length)))
            machine.claim(f"{length} bytes in {call}", as_bits(seen["m"], 128) == expected)
            machine.claim("without 2^128", seen.pop("top").v == 0)


@theorem(
    "clamp",
    "ClampedR::clamped clears the 22 bits of Bernstein's clamp and no others; its words are below 2^60, the upper a multiple of 4",
    FIELD,
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
    machine.claim("the bits", z3.Concat(r1, r0) == little_endian(expected))
    machine.claim("below 2^60", z3.And(z3.ULT(r0, 1 << 60), z3.ULT(r1, 1 << 60)))
    machine.claim("a multiple of 4", z3.Extract(1, 0, r1) == 0)


def element(machine, name):
    """Returns an unknown number below 2^131."""
    ends = (2**64 - 1, 2**64 - 1, FIELD_TOP - 1)
    limbs = [machine.atom("u64", f"{name}{i}", end) for i, end in enumerate(ends)]
    return Struct("FieldElement", {"0": limbs})


def bit_element(machine):
    """Like `element` in bits. Returns the element and its number."""
    limbs = [u("u64", f"h{i}") for i in range(3)]
    machine.assumed.append(z3.ULT(limbs[2].v, FIELD_TOP))
    return Struct("FieldElement", {"0": limbs}), joined(limbs)


def joined(limbs):
    return z3.Concat(*[limb.v for limb in limbs[::-1]])


def value_of(element):
    return number_of(plain(element).fields["0"], 64)


def is_element(machine, line, out, expected, end=FIELD_TOP):
    """Claims that a number is congruent to `expected`, and that its top limb is below `end`."""
    machine.same(line, value_of(out), expected, P1305)
    machine.below("the top limb", out.fields["0"][2], end)


@theorem(
    "poly1305-carried",
    "FieldElement::carried keeps the number mod 2^130 - 5, returns limbs below 2^64, 2^64, 5, and never overflows",
    FIELD,
)
def carried(proof):
    machine = proof.machine()
    limbs = [machine.atom(t, f"a{i}", 2 ** WIDTH[t] - 1) for i, t in enumerate(("u64", "u128", "u64"))]
    # The precondition in its comment: below 2^64 / 1.25 from bit 128 on.
    high, _ = machine.sums.divmod(limbs[1].v, 64)
    machine.assumed.append(machine.sums.linear(limbs[2].v + high) <= (2**64 - 1) * 4 // 5)
    out = machine.run("FieldElement", "carried", *limbs)
    is_element(machine, "the number", out, number_of(limbs, 64), 5)


@theorem(
    "poly1305-plus", "FieldElement::plus is the sum mod 2^130 - 5 of all numbers below 2^131, and is below 2^131", FIELD
)
def plus(proof):
    machine = proof.machine()
    a, b = element(machine, "a"), element(machine, "b")
    out = machine.run("FieldElement", "plus", b, receiver=a)
    is_element(machine, "the sum", out, value_of(a) + value_of(b))


@theorem(
    "poly1305-times",
    "FieldElement::times is the product mod 2^130 - 5 of all numbers below 2^131, is below 2^131 and never overflows",
    FIELD,
)
def times(proof):
    machine = proof.machine()
    a, b = element(machine, "a"), element(machine, "b")
    out = machine.run("FieldElement", "times", b, receiver=a)
    is_element(machine, "the product", out, value_of(a) * value_of(b))


@theorem(
    "poly1305-step",
    "ClampedR::step is (h + m + top 2^128) r mod 2^130 - 5 for every clamped r, h below 2^131 and m, is below 2^131 and never overflows",
    FIELD,
)
def step(proof):
    machine = proof.machine()
    h = element(machine, "h")
    # By the theorem `clamp`, the words of r are below 2^60 and the upper one is a multiple of 4.
    r0 = machine.atom("u64", "r0", 2**60 - 1)
    r1 = N("u64", machine.sums.atom("r1/4", 0, 2**58 - 1) * 4)
    m, top = machine.atom("u128", "m", 2**128 - 1), machine.atom("u64", "top", 1)
    out = machine.run("ClampedR", "step", h, m, top, receiver=Struct("ClampedR", {"r0": r0, "r1": r1}))
    is_element(machine, "the step", out, (value_of(h) + m.v + top.v * 2**128) * number_of([r0, r1], 64))


def modulo_p(h):
    """Returns h mod 2^130 - 5 for h below 2^131 + 5, as 192 bits: subtracts p at most twice."""
    p = z3.BitVecVal(P1305, 192)
    once = z3.If(z3.UGE(h, p), h - p, h)
    return z3.If(z3.UGE(once, p), once - p, once)


@theorem(
    "poly1305-residue",
    "FieldElement::residue is (h mod 2^130 - 5) mod 2^128, and reduced is h mod 2^130 - 5, for every h below 2^131",
    FIELD,
)
def residue(proof):
    machine = proof.machine()
    h, value = bit_element(machine)
    out = machine.run("FieldElement", "residue", receiver=h)
    machine.claim("the residue", out.v == z3.Extract(127, 0, modulo_p(value)))
    machine = proof.machine()
    h, value = bit_element(machine)
    out = machine.run("FieldElement", "reduced", receiver=h)
    machine.claim("the number below p", joined(out.fields["0"]) == modulo_p(value))


@theorem(
    "poly1305-equal",
    "FieldElement::ct_eq is true exactly if the numbers below p are equal, by poly1305-residue",
    FIELD,
)
def equal(proof):
    machine = proof.machine()
    reduced = [[u("u64", f"{name}{i}") for i in range(3)] for name in "hg"]
    taken = []

    def contract(self):
        taken.append(self)
        return Struct("FieldElement", {"0": reduced[len(taken) - 1]})

    machine.contracts["FieldElement", "reduced"] = contract
    h, g = (Struct("FieldElement", {"0": []}) for _ in range(2))
    out = machine.run("FieldElement", "ct_eq", g, receiver=h)
    machine.claim("both are reduced", taken[0] is h and taken[1] is g)
    machine.claim("equality", out == z3.And([x.v == y.v for x, y in zip(*reduced)]))


@theorem(
    "poly1305-example",
    "the functions run by this model return RFC 8439's tag (section 2.5.2)",
    ("algo/poly1305/field.rs",),
)
def example(proof):
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
    machine.claim("the tag", tag == int.from_bytes(expected, "little"))
