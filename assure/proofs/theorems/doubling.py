"""Multiplication by x and its inverse in GF(2^n): portable, and by instructions of x86."""

import re

import z3
from models import BlockType, big_endian, fields, little_endian, unknown_bytes
from rust.numbers import N
from rust.values import Model, plain
from theorem import Failed, theorem

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
WAYS = ({"name": "times", "op": "*"}, {"name": "over", "op": "/"})


def shifted(x, n, name):
    """Returns the product or quotient of a block and x in GF(2^n), by the definition in section 2
    of PMAC."""
    c = sum(1 << e for e in PMAC_FIELDS[n])
    if name == "times":
        return x << 1 ^ z3.If(z3.Extract(n - 1, n - 1, x) == 1, z3.BitVecVal(c, n), z3.BitVecVal(0, n))
    back = 1 << (n - 1) ^ c >> 1
    return z3.LShR(x, 1) ^ z3.If(z3.Extract(0, 0, x) == 1, z3.BitVecVal(back, n), z3.BitVecVal(0, n))


def polynomials(proof):
    """Reads the polynomials c_n from `fields!`."""
    text = proof.text("cipher/field.rs")
    rule = re.search(r"const C: u16 = \$\(1 << \$exponent\)\|\+;", text)
    table = re.search(r"\nfields! \{\n((?:    \d+: [\d ]+;\n)+)\}\n", text)
    if not rule or not table:
        raise Failed("cipher/field.rs: the table of polynomials has moved")
    rows = re.findall(r"(\d+): ([\d ]+);", table.group(1))
    return {int(n): sum(1 << int(e) for e in exponents.split()) for n, exponents in rows}


@theorem(
    "field-{name}-x-{n}",
    "Field::{name}_x of {n} bits is a{op}x mod p_{n} of PMAC, section 2",
    ("cipher/field.rs", "isa/gf128.rs", "isa/block.rs"),
    each=[{"n": n} | way for n in PMAC_FIELDS for way in WAYS],
)
def field(proof, n, name, op):
    c = polynomials(proof)
    if sorted(c) != sorted(PMAC_FIELDS):
        raise Failed(f"cipher/field.rs: blocks of {sorted(c)} bits")
    machine = proof.machine()
    block, model = unknown_bytes("b", n // 8), BlockType(machine, n // 8)
    model.C = N("u16", c[n])
    out = machine.run("Field", f"{name}_x", receiver=block, types=model.types, self_type=model)
    machine.claim(f"{name}_x of {n} bits", big_endian(out) == shifted(big_endian(block), n, name))


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
        machine.claim(f"{second} of {first}", big_endian(out) == big_endian(block))


class X86Lane(Model):
    """A lane of 128 bits, as a bit vector with byte 0 lowest, and the instructions on it."""

    def __init__(self, machine):
        def join(parts):
            return z3.Concat(*parts[::-1])

        def shuffle8(_, a, places):
            a, places = fields(plain(a), 8), fields(plain(places), 8)
            places = [z3.simplify(place).as_long() for place in places]
            return join([z3.BitVecVal(0, 8) if place & 0x80 else a[place & 15] for place in places])

        def shuffle32(n, a):
            return join([fields(plain(a), 32)[n[0] >> (2 * i) & 3] for i in range(4)])

        def each(f):
            return lambda n, a: join([f(x, n[0]) for x in fields(plain(a), 32)])

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

    def and_(self, a, b):
        return plain(a) & plain(b)

    def xor(self, a, b):
        return plain(a) ^ plain(b)

    def xor3(self, a, b, c):
        return plain(a) ^ plain(b) ^ plain(c)


@theorem(
    "field-x86-{file}-{name}",
    "a{op}x in GF(2^128) by the instructions of isa/x86/{file}.rs is PMAC's, in each lane",
    ("isa/x86/{file}.rs", "isa/x86/mod.rs", "isa/gf128.rs"),
    each=[{"file": file} | way for file in ("lane", "vaes", "avx512") for way in WAYS],
)
def x86_field(proof, file, name, op):
    machine = proof.machine()
    (owner,) = [owner for owner, function in machine.sources[0].functions if function == f"{name}_x"]
    lane, block = X86Lane(machine), unknown_bytes("b", 16)
    out = machine.run(owner, f"{name}_x", little_endian(block), receiver=lane, self_type=lane)
    expected = shifted(big_endian(block), 128, name)
    machine.claim(f"{name}_x by instructions", z3.Concat(*fields(out, 8)) == expected)
