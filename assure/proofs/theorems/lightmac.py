"""LightMAC's limits, counters and bit strings."""

import z3
from models import BlockType, as_bits, big_endian, u, unknown_bytes, usize
from rust.evaluation import Frame
from rust.numbers import N
from rust.values import Muts, Struct, plain
from theorem import theorem

LIGHT = ("algo/lightmac/key.rs", "algo/lightmac/strings.rs", "algo/lightmac/mod.rs", "isa/block.rs")
# Block sizes in bytes with all their counter sizes.
ALL = tuple((n, s) for n in (8, 16) for s in range(1, 4 * n + 1))


@theorem("lightmac-limit", "limit_bits(n, s) is 2^s (n - s), or 2^64 - 1 if that is less, for all n and s", LIGHT)
def limit(proof):
    machine = proof.machine()
    for n in range(64, 257, 8):
        for s in range(1, n // 2 + 1):
            out = machine.run(None, "limit_bits", usize(n), usize(s))
            machine.claim(f"n = {n}, s = {s}", out.v == min(2**s * (n - s), 2**64 - 1))


@theorem("lightmac-blocks-256", "the same with blocks of 256 bits", LIGHT, level="full", each=[{"sizes": (256,)}])
@theorem(
    "lightmac-blocks",
    "the number of blocks by multiplication equals that by division, for every length below 2^56 and every counter with blocks of 64 and 128 bits",
    LIGHT,
    each=[{"sizes": (64, 128)}],
)
def blocks(proof, sizes):
    found = set()
    for n in sizes:
        machine = proof.machine()
        for r in (n - s for s in range(1, n // 2 + 1)):
            divisor = machine.run(None, "gcd8", usize(r)).v
            machine.claim(f"gcd({r}, 8)", r % divisor == 0 and divisor in (1, 2, 4, 8))
            found.add(r // divisor)
    build = proof.machine().find("LightMac", "build")
    for block in sorted(found):
        machine = proof.machine()
        inverse = machine.eval(build.let("inverse"), Frame(build.source, {}, [{"block": usize(block)}]))
        length = machine.atom("usize", "bytes", 2**56 - 1)
        out = machine.run("LightMac", "blocks_in", length, receiver=Struct("LightMac", {"inverse": inverse}))
        q, b = machine.sums.linear(out.v), machine.sums.linear(length.v)
        machine.claim(f"blocks of {block}", z3.And(q * block <= b, b < q * block + block))


def reader(s, gray, at, i, p):
    mac = Struct("LightMac", {"s": usize(s), "gray": gray})
    return Struct("BitReader", {"mac": mac, "bytes": p, "at": usize(at), "i": i})


@theorem(
    "lightmac-counter-all",
    "the same for all s, with blocks of 64 and 128 bits",
    LIGHT,
    level="full",
    each=[{"counters": ALL}],
)
@theorem(
    "lightmac-counter",
    "a block begins with i mod 2^s in s bits, high bit first, or with its Gray code, for all i and some s; Gray codes differ",
    LIGHT,
    each=[{"counters": [(8, s) for s in (1, 8, 31, 32)] + [(16, s) for s in (1, 9, 32, 63, 64)]}],
)
def counter(proof, counters):
    for n, s in counters:
        for gray in (False, True):
            machine = proof.machine()
            block = BlockType(machine, n)
            machine.contracts["BitReader", "take"] = lambda self, before, bits: block.ZERO
            i, made = u("u64", "i"), [block.ZERO]
            machine.assumed.append(i.v != 2**64 - 1)
            types = {"Block": block, "C": block}
            machine.run("BitReader", "fill", Muts(made), receiver=reader(s, gray, 0, i, []), types=types)
            counter = as_bits(i, 128) & ((1 << s) - 1)
            number = counter ^ z3.LShR(counter, 1) if gray else counter
            expected = z3.Extract(127, 128 - 8 * n, number << (128 - s))
            machine.claim(f"n = {8 * n}, s = {s}", big_endian(made[0]) == expected)
            if gray and n == 16:
                other = z3.ZeroExt(64, z3.BitVec("j", 64)) & ((1 << s) - 1)
                equal = (other ^ z3.LShR(other, 1)) == number
                machine.claim(f"Gray codes of {s} bits differ", z3.Implies(equal, other == counter))


@theorem(
    "lightmac-groups",
    "in a group of 8 LANES numbers that begins at a multiple of its size, each is the first xor its position",
    LIGHT,
)
def groups(proof):
    machine = proof.machine()
    g, j = z3.BitVecs("g j", 64)
    for lanes in (1, 2, 4, 8, 16):
        size = 8 * lanes
        same = (g * size) ^ j == g * size + j
        machine.claim(f"{lanes} lanes", z3.Implies(z3.ULT(j, size), same))


@theorem(
    "lightmac-take-all",
    "take returns the next bits of a message after zeros, for every counter of blocks of 64 and 128 bits",
    LIGHT,
    level="full",
    each=[{"counters": ALL, "every": False}],
)
@theorem(
    "lightmac-take",
    "take returns the next bits of a message after zeros, for some counters and places",
    LIGHT,
    each=[{"counters": ((8, 5), (16, 9), (16, 33)), "every": True}],
)
def take(proof, counters, every):
    for n, s in counters:
        size, r = 8 * n, 8 * n - s
        data = unknown_bytes("m", 3 * n + 1)
        for at in sorted({0, r % 8, 1, 5, r, 2 * r % size} if every else {r % 8}):
            for before, bits in ((s, r), (0, r - 1), (0, 1), (0, 0)):
                machine = proof.machine()
                block, message = BlockType(machine, n), reader(s, False, at, N("u64", 1), data)
                types = {"Block": block, "C": block}
                out = machine.run("BitReader", "take", usize(before), usize(bits), receiver=message, types=types)
                expected = z3.BitVecVal(0, size)
                if bits:
                    first = 8 * len(data) - 1 - at
                    piece = z3.Extract(first, first - bits + 1, big_endian(data))
                    expected = z3.ZeroExt(size - bits, piece) << (size - before - bits)
                machine.claim(f"n = {size}, s = {s}, {bits} bits from {at}", big_endian(out) == expected)
                machine.claim("goes on", plain(message.fields["at"]).v == at + bits)
