"""UMAC's L3-HASH: RFC 4418, section 5.4.1."""

import z3
from models import BitWord, Word, big_endian, u, unknown_bytes
from rust.numbers import N, Poly
from rust.values import Struct, plain
from theorem import Failed, theorem

P36 = 2**36 - 5
L3 = ("algo/umac/l3.rs", "isa/words.rs")


@theorem("umac-l3-reduced", "L3-HASH's reduction is a mod 2^36 - 5, for every a of 64 bits", L3)
def reduced(proof):
    # The fold, in integers.
    machine = proof.machine()
    a = machine.atom("u64", "a", 2**64 - 1)
    folded = machine.until("less_p", None, "reduced", a)["a"]
    machine.same("the fold", folded.v, a.v, P36)
    machine.below("at most one p remains", folded, 2 * P36)
    # The rest, in bits.
    machine = proof.machine()
    a = u("u64", "a")
    machine.assumed.append(z3.ULT(a.v, 2 * P36))
    out = machine.rest("less_p", None, "reduced", {}, {"a": a})
    machine.claim("a mod p", out.v == z3.If(z3.UGE(a.v, P36), a.v - P36, a.v))


def l3_key(machine):
    """Returns a key. The first four numbers are not reduced yet."""
    keys = [machine.atom("u64", f"k{i}", (2**64 if i < 4 else P36) - 1) for i in range(8)]
    return Struct("L3Key", {"k1": keys, "k2": N("u32", 0)})


def words_of(machine, name):
    """Returns four unknown words of 16 bits, and the number that they represent."""
    words = [machine.sums.atom(f"{name}{i}", 0, 0xFFFF) for i in range(4)]
    return words, N("u64", words[0] * 2**48 + words[1] * 2**32 + words[2] * 2**16 + words[3])


def dot(words, keys):
    return sum((m * k.v for m, k in zip(words, keys, strict=True)), Poly({}))


@theorem(
    "umac-l3-key",
    "L3-HASH's last four keys are below 2^36 - 5, for all bytes of a key; the first four are reduced later",
    L3,
)
def keys(proof):
    machine = proof.machine(chunk=8)
    wide = unknown_bytes("k", 64)
    # `reduced` by its theorem: the quotient is given, and the remainder is below p.
    taken = []

    def reduced(a):
        rest = u("u64", f"rest{len(taken)}")
        machine.assumed.append(z3.ULT(rest.v, P36))
        taken.append(plain(a))
        return rest

    machine.contracts["reduced"] = reduced
    key = machine.run("L3Key", "new", wide, unknown_bytes("x", 4))
    if len(taken) != 4:
        raise Failed(f"{len(taken)} of 4 keys are reduced")
    for i, number in enumerate(key.fields["k1"]):
        if i >= 4:
            machine.claim(f"key {i} is small", z3.ULT(number.v, P36))
            number = taken[i - 4]
        machine.claim(f"key {i} is a big-endian number", number.v == big_endian(wide[8 * i : 8 * i + 8]))


@theorem(
    "umac-l3-dot",
    "L3-HASH reduces the sum of m_i k_i over eight 16-bit words, with reduced k_i, which fits in 64 bits",
    L3,
)
def sums(proof):
    machine = proof.machine()
    key, (high, above), (low, below) = l3_key(machine), words_of(machine, "h"), words_of(machine, "l")
    seen, made = [], []

    def reduced(a):
        seen.append(plain(a).v)
        made.append(N("u64", machine.sums.fresh("y", 0, P36 - 1)))
        return made[-1]

    machine.contracts["reduced"] = reduced
    machine.run("L3Key", "hash", above, below, receiver=key)
    machine.run("L3Key", "hash_low", below, receiver=key)
    machine.run("L3Key", "hash_low_in_words", below, receiver=key)
    k = key.fields["k1"]
    for i in range(4):
        machine.same(f"key {i} is reduced", seen[i], k[i].v)
    machine.same("sixteen bytes", seen[4], dot(high + low, made[:4] + k[4:]))
    machine.same("eight bytes", seen[5], dot(low, k[4:]))
    machine.same("eight bytes in words", seen[6], dot(low, k[4:]))


@theorem("umac-l3-each", "L3-HASH in words of vectors equals L3-HASH of each message", L3)
def each(proof):
    # The sum, in integers.
    machine = proof.machine()
    word, key, (words, low) = Word(machine), l3_key(machine), words_of(machine, "l")
    # A key in two halves, as in the code.
    for i in range(4, 8):
        k0, k1 = machine.sums.atom(f"k{i}.0", 0, 2**32 - 1), machine.sums.atom(f"k{i}.1", 0, 15)
        key.fields["k1"][i] = N("u64", k0 + k1 * 2**32)

    def mul32(a, b):
        # The instruction uses the low halves.
        return Word.mul32(word, a, N("u64", machine.sums.divmod(Poly.of(plain(b).v), 32)[1]))

    word.mul32 = mul32
    found = machine.until("over", "L3Key", "hash_low_each", word, low, receiver=key, types={"A": word})
    machine.same("the sum", found["sum"].v, dot(words, key.fields["k1"][4:]))
    # The reduction of the sum, in bits.
    machine = proof.machine()
    word, value = BitWord(machine), u("u64", "sum")
    key = Struct("L3Key", {"k1": [], "k2": u("u32", "k2")})
    machine.assumed.append(z3.ULT(value.v, 2**54))
    variables = {"a": word, "sum": value, "self": key}
    out = machine.rest("over", "L3Key", "hash_low_each", {"A": word}, variables)
    one = machine.run("L3Key", "finish", value, receiver=key)
    machine.claim("the hash", out.v == z3.ZeroExt(32, one.v))
