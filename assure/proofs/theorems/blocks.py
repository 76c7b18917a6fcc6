"""Blocks: masks, padding, and bytes with zeros after or before them."""

import z3
from models import BlockType, OneLane, big_endian, known_bytes, unknown_bytes, usize
from rust.numbers import N
from rust.values import Struct
from theorem import theorem

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
            machine.claim(f"{bits} of {8 * n} bits", value == expected)


@theorem("one-at", "CipherBlock::one_at(b) is 0^b 1 0*, for every b and block", ("isa/block.rs",))
def one_at(proof):
    for n in BLOCK_SIZES:
        machine = proof.machine(chunk=16)
        block = BlockType(machine, n)
        for bits in range(8 * n):
            value = int.from_bytes(bytes(b.v & 0xFF for b in block.one_at(usize(bits))), "big")
            machine.claim(f"{bits} of {8 * n} bits", value == 1 << (8 * n - 1 - bits))


@theorem(
    "zero-filled",
    "zero_filled(p) is p followed by zeros, and zeros_before(p) is p after zeros, for all bytes",
    ("isa/block.rs",),
)
def zero_filled(proof):
    for n in BLOCK_SIZES:
        for length in range(n + 1):
            machine = proof.machine()
            p = unknown_bytes("p", length)
            out = BlockType(machine, n).zero_filled(p)
            expected = p + known_bytes(bytes(n - length))
            machine.claim(f"{length} of {n} bytes", big_endian(out) == big_endian(expected))
    for length in range(8, 17):
        machine = proof.machine(chunk=8)
        p = unknown_bytes("p", length)
        out = machine.run(None, "zeros_before", p)
        expected = known_bytes(bytes(16 - length)) + p
        machine.claim(f"{length} bytes at the end", big_endian(out) == big_endian(expected))


PADDING = ("algo/xor.rs", "bits.rs", "isa/block.rs", "isa/lanes.rs")


@theorem(
    "padding-128",
    "the same for blocks of 128 bits, for every length",
    PADDING,
    level="full",
    each=[{"n": 16, "step": 1}],
)
@theorem(
    "padding-128-some",
    "the same for blocks of 128 bits, for every fifth length and the last ten",
    PADDING,
    each=[{"n": 16, "step": 5}],
)
@theorem(
    "padding-64",
    "padded(M) is M||10* for every M shorter than a block of 64 bits and M itself for a full one, whatever its unused bits are",
    PADDING,
    each=[{"n": 8, "step": 1}],
)
def padding(proof, n, step):
    size = 8 * n
    for bits in sorted({*range(0, size + 1, step), *range(size - 9, size + 1)}):
        machine = proof.machine(chunk=16)
        block = BlockType(machine, n)
        p = unknown_bytes("p", -(-bits // 8))
        message = Struct("Bits", {"bytes": p, "unused": N("u8", len(p) * 8 - bits)})
        lanes = OneLane(block)
        out = machine.run(None, "padded", lanes, message, types={"L": lanes, "Block": block})
        value = z3.Concat(big_endian(p), z3.BitVecVal(0, size)) if p else z3.BitVecVal(0, size)
        value = z3.Extract(value.size() - 1, value.size() - size, value)
        if bits < size:
            value = value & ((1 << size) - (1 << (size - bits))) | 1 << (size - 1 - bits)
        machine.claim(f"{bits} bits of {size}", big_endian(out) == value)


@theorem(
    "padding-end",
    "with_end is the sum xor the padded last block, for blocks of 64 and 128 bits, every length of the rest and all earlier bytes",
    PADDING,
    each=[{"n": 8}, {"n": 16}],
)
def padding_end(proof, n):
    for rest in range(n + 1):
        machine = proof.machine(chunk=16)
        block = BlockType(machine, n)
        lanes = OneLane(block)
        total, message = unknown_bytes("sum", n), unknown_bytes("m", n + rest)
        types = {"B": block, "L": lanes, "Block": block}
        sum_ = Struct("XorSum", {"0": total})
        out = machine.run("XorSum", "with_end", lanes, message, usize(n), receiver=sum_, types=types)
        padded = message[n:] + known_bytes((b"\x80" + bytes(n))[: n - rest])
        machine.claim(f"{rest} of {n} bytes", big_endian(out) == big_endian(total) ^ big_endian(padded))


@theorem(
    "padding-injective", "two messages shorter than a block that differ have different M||10*", PADDING, level="full"
)
def padding_injective(proof):
    # By the theorem `padding`, a padded block of b bits is M||10*: one block has one b and one M.
    machine = proof.machine()
    x, b, d = z3.BitVecs("x b d", 128)

    def is_padded(x, b):
        # The lowest one bit of x follows b bits: x = (M << (128 - b)) | 1 << (127 - b).
        return z3.And(z3.ULT(b, 128), x & ((2 << (127 - b)) - 1) == 1 << (127 - b))

    machine.claim("one length", z3.Implies(z3.And(is_padded(x, b), is_padded(x, d)), b == d))
