"""NH of UMAC, RFC 4418; NH and NHS of the 1999 paper; and the portable words that they use."""

import z3
from models import big_endian, fields, little_endian, u, unknown_bytes, usize
from rust.arithmetic import product
from rust.numbers import N
from rust.values import Model, Muts, Slice, Struct, plain
from theorem import theorem

WORDS = Struct("PortableWords", {})


@theorem(
    "umac-nh-group",
    "a group of NH adds the four products of RFC 4418, section 5.2.2, to the sum of the words, for every stream; message words little-endian, key words big-endian",
    ("algo/umac/nh.rs", "isa/portable/words.rs", "isa/words.rs", "isa/block.rs"),
)
def group(proof):
    machine = proof.machine()
    streams = machine.read("STREAMS")
    message = unknown_bytes("m", 32)
    units = [unknown_bytes(f"k{i}.", 16) for i in range(streams + 1)]
    # Stores each unit like `set`.
    stored = []
    for unit in units:
        halves = {name: Struct("Units", {"0": [[N("u8", 0)] * 16]}) for name in ("even", "odd")}
        machine.run("NhKey", "set", usize(0), unit, receiver=Struct("NhKey", halves))
        stored.append(halves["even"].fields["0"][0])

    def blocks(p):
        return machine.run("PortableWords", "blocks", p, receiver=WORDS)

    before = [[u("u64", f"s{s}.0"), u("u64", f"s{s}.1")] for s in range(streams)]
    after = [[list(row)] for row in before]
    pair = (blocks(Slice(message, 0, 16)), blocks(Slice(message, 16, 32)))
    types = {"A": "PortableWords", "T": usize(4), "N": usize(1)}
    machine.run(None, "add", WORDS, Muts(after), [pair], lambda i: blocks(stored[plain(i).v]), types=types)
    for s in range(streams):
        m = fields(little_endian(message), 32)
        # Stream s uses the key from unit s on.
        k = fields(big_endian(units[s] + units[s + 1]), 32)[::-1]
        expected = before[s][0].v + before[s][1].v
        for j in range(4):
            expected = expected + product(False, m[j] + k[j], m[j + 4] + k[j + 4], 64)
        total = machine.run("PortableWords", "sum", after[s][0], receiver=WORDS)
        machine.claim(f"stream {s}", total.v == expected)


@theorem(
    "words-lanes",
    "add32, add16, mul32, high32, madd16 and mul32_signed of the portable words act on each field of a word as Words defines",
    ("isa/portable/words.rs", "isa/words.rs"),
)
def lanes(proof):
    machine = proof.machine()
    a, b = ([u("u64", f"{name}{i}") for i in range(2)] for name in "ab")

    def run(name, *args):
        return machine.run("PortableWords", name, *args, receiver=WORDS)

    for size in (32, 16):
        for x, y, out in zip(a, b, run(f"add{size}", a, b)):
            expected = [p + q for p, q in zip(fields(x.v, size), fields(y.v, size))]
            machine.claim(f"add{size}", out.v == z3.Concat(*expected[::-1]))
    for name, signed in (("mul32", False), ("mul32_signed", True)):
        for x, y, out in zip(a, b, run(name, a, b)):
            machine.claim(name, out.v == product(signed, fields(x.v, 32)[0], fields(y.v, 32)[0], 64))
    for x, out in zip(a, run("high32", a)):
        machine.claim("high32", fields(out.v, 32)[0] == fields(x.v, 32)[1])
    for x, y, out in zip(a, b, run("madd16", a, b)):
        parts = [product(True, p, q, 32) for p, q in zip(fields(x.v, 16), fields(y.v, 16))]
        machine.claim("madd16", out.v == z3.Concat(parts[2] + parts[3], parts[0] + parts[1]))


NH99 = ("crates/papers/src/umac99/nh.rs", "isa/portable/words.rs", "isa/words.rs")


@theorem(
    "nh99-taken",
    "a sum of two words is taken mod 2^w, from 0 on in NH and from -2^(w-1) on in NHS, for w = 4, 16, 32 and 64",
    NH99,
)
def taken(proof):
    for w in (4, 16, 32, 64):
        for signed in (False, True):
            machine = proof.machine()
            x = u("u64", "x")
            out = machine.run(None, "taken", x, signed, types={"W": usize(w)})
            expected = (z3.SignExt if signed else z3.ZeroExt)(128 - w, z3.Extract(w - 1, 0, x.v))
            machine.claim(f"{w} bits, {'signed' if signed else 'unsigned'}", out.v == expected)


def lowered(x, n):
    """Returns the low n bits of a bit vector, cut off before its additions."""
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
    return z3.simplify(z3.Extract(n - 1, 0, x))


NEIGHBOURS = {"w": 32, "owner": "Neighbours32"}


@theorem(
    "nh99-strided16",
    "NHS of strided words of 16 bits by vectors is the definition mod 2^32",
    NH99,
    each=[{"w": 16, "owner": "Strided16", "sign": "signed", "nh": "NHS"}],
)
@theorem(
    "nh99-neighbours32-{sign}",
    "{nh} of neighbouring words of 32 bits by vectors is the definition mod 2^64",
    NH99,
    each=[NEIGHBOURS | {"sign": "unsigned", "nh": "NH"}, NEIGHBOURS | {"sign": "signed", "nh": "NHS"}],
)
def pairs(proof, w, owner, sign, nh):
    """Compares vectors with the definition, on two vectors of one lane each."""
    machine = proof.machine(chunk=8)
    key, data = unknown_bytes("k", 32), unknown_bytes("m", 32)
    types = {"A": "PortableWords", "SIGNED": sign == "signed", "W": usize(w), "Self": owner}

    def add16(self, a, b):
        """Uses the theorem `words-lanes`."""
        sums = (zip(fields(x.v, 16), fields(y.v, 16)) for x, y in zip(plain(a), plain(b)))
        return [N("u64", z3.Concat(*[p + q for p, q in pairs][::-1])) for pairs in map(list, sums)]

    def clause(a, b, signed):
        """Uses the definition and the theorem `nh99-taken`."""
        a, b = (z3.Extract(w - 1, 0, plain(x).v) for x in (a, b))
        return N("u128", z3.ZeroExt(128 - 2 * w, product(plain(signed), a, b, 2 * w)))

    class Shape(Model):
        signed, strided, big_endian = sign == "signed", owner == "Strided16", False

        def unit_bytes(self):
            return usize((8 if self.strided else 2) * w // 8)

    def run(name, *args):
        return machine.run(owner, name, WORDS, *args, types=types, self_type=owner)

    machine.contracts["PortableWords", "add16"] = add16
    fast = run("fold", run("clauses", run("load", data), run("load", key)))
    machine.contracts["clause"] = clause
    slow = machine.run(None, "plain", Shape(), key, data, types={"W": usize(w)})
    # Cut both to their low bits before their additions, and then compare in any order.
    low = [lowered(x.v, 2 * w) for x in (fast, slow)]
    for x, pushed in zip((fast, slow), low):
        machine.claim("low bits", z3.Extract(2 * w - 1, 0, x.v) == pushed)
    machine.claim("the sum mod 2^2w", low[0] == low[1])
