"""UMAC's POLY, RFC 4418, section 5.3: words mod 2^64 - 59 and mod 2^128 - 159, with markers."""

import z3
from models import big_endian, u, unknown_bytes
from rust.evaluation import Frame
from rust.numbers import N, Poly
from rust.values import Struct, plain
from theorem import theorem

POLY = ("algo/umac/poly.rs",)
WORDS = [{"bits": 64, "offset": 59}, {"bits": 128, "offset": 159}]
ALL_ONES = 2**64 - 1


@theorem(
    "umac-clamp",
    "the masks of POLY's keys are those of RFC 4418, section 5.3.1: k64 below 2^57, k128 below 2^121",
    ("algo/umac/key.rs",),
)
def clamp(proof):
    machine = proof.machine(chunk=16)
    function = machine.find("HashKey", "derive")
    bound = {s[1][1]: s[3] for s in function.loop[3][1] if s[0] == "let" and s[1][0] == "name"}
    for name, n, mask in (("k64", 8, 0x01FFFFFF01FFFFFF), ("k128", 16, 0x01FFFFFF01FFFFFF01FFFFFF01FFFFFF)):
        p = unknown_bytes(name, n)
        out = machine.eval(bound[name], Frame(function.source, {}, [{name: p}]))
        machine.claim(name, out.v == big_endian(p) & mask)
        machine.claim(f"{name} is small", z3.ULT(out.v, 1 << (8 * n - 7)))


@theorem("umac-poly{bits}-reduced", "Field::reduced is y mod 2^{bits} - {offset} for every word", POLY, each=WORDS)
def reduced(proof, bits, offset):
    machine, t, p = proof.machine(), f"u{bits}", 2**bits - offset
    y = u(t, "y")
    out = machine.run(t, "reduced", receiver=y, self_type=t)
    machine.claim("y mod p", out.v == z3.If(z3.UGE(y.v, p), y.v - p, y.v))


@theorem(
    "umac-poly{bits}-marked",
    "is_marked is m >= maxwordrange for every word m of {bits} bits; select and less_if follow the mask",
    POLY,
    each=WORDS,
)
def marked(proof, bits, offset):
    machine, t = proof.machine(), f"u{bits}"
    m, a, b = u(t, "m"), u(t, "a"), u(t, "b")
    out = machine.run(t, "is_marked", receiver=m, self_type=t)
    # maxwordrange, from section 5.3.2.
    is_marked = z3.UGE(m.v, 2**bits - 2 ** (bits - 32))
    machine.claim("the marker", out.v == z3.If(is_marked, z3.BitVecVal(ALL_ONES, 64), z3.BitVecVal(0, 64)))
    for mask, expected in ((0, a), (ALL_ONES, b)):
        chosen = machine.run(t, "select", N("u64", mask), a, b, self_type=t)
        machine.claim(f"select by {mask:x}", chosen.v == expected.v)
        less = machine.run(t, "less_if", N("u64", mask), b, receiver=a, self_type=t)
        machine.claim(f"less_if by {mask:x}", less.v == (a.v - b.v if mask else a.v))


@theorem(
    "umac-poly{bits}-times-plus",
    "times_plus is y k + m mod 2^{bits} - {offset} for all y, k, m, a word, and never overflows",
    POLY,
    each=WORDS,
)
def times_plus(proof, bits, offset):
    machine, t = proof.machine(), f"u{bits}"
    if bits == 64:
        y, k = (machine.atom(t, name, 2**64 - 1) for name in "yk")
    else:
        y, k = (wide(machine, name) for name in "yk")
    m = machine.atom(t, "m", 2**bits - 1)
    out = machine.run(t, "times_plus", k, m, receiver=y, self_type=t)
    machine.same("y k + m", out.v, y.v * k.v + m.v, 2**bits - offset)
    machine.below("a word", out, 2**bits)


def wide(machine, name):
    low, high = (machine.sums.atom(f"{name}{i}", 0, 2**64 - 1) for i in range(2))
    return N("u128", low + high * 2**64)


@theorem(
    "umac-poly{bits}-step",
    "a step of POLY-{bits} is that of RFC 4418, section 5.3.2, for plain and for marked words",
    POLY,
    each=WORDS,
)
def step(proof, bits, offset):
    for is_marked in (False, True):
        step_of(proof.machine(), bits, offset, is_marked)


def step_of(machine, bits, offset, is_marked):
    t, p, sums = f"u{bits}", 2**bits - offset, machine.sums
    mask = N("u64", ALL_ONES if is_marked else 0)

    def times_plus(y, k, m):
        """By its theorem, returns some word with that value mod p."""
        y, k, m = (plain(x).v for x in (y, k, m))
        value = Poly.of(y) * k + Poly.of(m)
        if isinstance(k, int) and sums.span(value)[1] < p:
            # Once per key: below p the folds change nothing, by the theorem `umac-small`.
            return N(t, value)
        quotient = sums.fresh("t", 0, sums.span(value)[1])
        return N(t, sums.rest("w", 2**bits - 1, value - quotient * p))

    def less_if(x, mask, n):
        value, over = machine.wrapping("-", plain(x), plain(n) if plain(mask).v else N(t, 0), t)
        over = Poly.of(over.v if isinstance(over, N) else int(over))
        machine.goal("m - offset - k is not negative", sums.linear(over) == 0)
        return value

    machine.contracts[t, "times_plus"] = times_plus
    machine.contracts[t, "less_if"] = less_if
    machine.contracts[t, "is_marked"] = lambda m: mask
    machine.contracts[t, "select"] = lambda mask, a, b: plain(b) if plain(mask).v else plain(a)
    # The key is masked, by the theorem `umac-clamp`.
    k = machine.atom(t, "k", 2 ** (bits - 7) - 1)
    key = machine.run("PolyKey", "new", k, types={"F": t})
    low = 2**bits - 2 ** (bits - 32)
    m = machine.atom(t, "m", 2**bits - 1, low) if is_marked else machine.atom(t, "m", low - 1)
    y = machine.atom(t, "y", 2**bits - 1)
    poly = Struct("Poly", {"y": y, "marked": N("u64", 0)})
    machine.run("PolyKey", "step", poly, m, receiver=key, types={"F": t})
    expected = y.v * k.v + m.v
    if is_marked:
        # Section 5.3.2: marker = p - 1, offset = 2^bits - p.
        expected = (y.v * k.v + (p - 1)) * k.v + (m.v - offset)
    machine.same("the RFC's step", poly.fields["y"].v, expected, p)
    machine.claim("steps are counted", poly.fields["marked"].v == int(is_marked))


@theorem(
    "umac-poly{bits}-small",
    "the number that POLY-{bits} subtracts from a marked word is exactly k + 2^{bits} - p, without a reduction",
    POLY,
    each=WORDS,
)
def small(proof, bits, offset):
    machine, t = proof.machine(), f"u{bits}"
    k = machine.atom(t, "k", 2 ** (bits - 7) - 1)
    one, found = (N(t, machine.read(f"{t}::{name}")) for name in ("ONE", "OFFSET"))
    machine.claim("the offset", found.v == offset)
    out = machine.run(t, "times_plus", one, found, receiver=k, self_type=t)
    machine.same("k + offset", out.v, k.v + offset)


@theorem(
    "umac-join-steps",
    "joining parts of POLY reads every bit of the number of steps, however many words are marked",
    POLY,
)
def join_steps(proof):
    machine = proof.machine()
    function = machine.find("PolyKey", "join")
    words, marked = z3.BitVecs("words marked", 64)
    for bits in range(64):
        # All numbers of words with that length in bits.
        low, high = (1 << bits) >> 1, (1 << bits) - 1
        frame = Frame(function.source, {}, [{"words": N("u64", high)}])
        covered = [n.v for n in machine.iterate(machine.eval(function.loop[2], frame))]
        machine.claim("bits from the highest on", covered == list(range(len(covered)))[::-1])
        in_range = z3.And(z3.UGE(words, low), z3.ULE(words, high), z3.ULE(marked, words))
        left = z3.LShR(words + marked, len(covered)) if len(covered) < 64 else z3.BitVecVal(0, 64)
        machine.claim(f"words of {bits} bits", z3.Implies(in_range, left == 0))
