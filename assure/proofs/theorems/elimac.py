"""EliMAC's encoding of block numbers, and its limits."""

import z3
from models import BlockType, big_endian, u, usize
from rust.evaluation import Frame
from rust.numbers import N
from rust.values import Model
from theorem import theorem

ELI = ("algo/elimac/families.rs", "algo/elimac/hash.rs", "isa/portable/mod.rs", "isa/mod.rs")


@theorem("elimac-counter", "<i> is the 32-bit big-endian i four times, and different for all i from 1 to mu", ELI)
def counter(proof):
    machine = proof.machine()
    machine.builtins["array", "from_fn"] = lambda f: [machine.apply(f, [usize(i)]) for i in range(16)]
    form = machine.path(["FORM"], [], Frame(machine.sources[0], {}))
    i, j = u("u64", "i"), u("u64", "j")
    out, other = (machine.run(None, "written", number, form) for number in (i, j))
    word = z3.Extract(31, 0, i.v)
    machine.claim("the block", big_endian(out) == z3.Concat(word, word, word, word))
    equal = big_endian(out) == big_endian(other)
    for rounds in range(4, 11):
        machine.constants.clear()
        mu = machine.read("AesFamilies::MU", H=usize(rounds))
        # Section 5: 2 for 4 rounds, and also for 5; 2^4 for 6; 2^32 for 7, minus the number without
        # an encoding.
        expected = {4: 2, 5: 2, 6: 16}.get(rounds, 2**32 - 1)
        machine.claim(f"mu of {rounds} rounds", mu == expected)
        both = z3.And(z3.UGE(i.v, 1), z3.ULE(i.v, mu), z3.UGE(j.v, 1), z3.ULE(j.v, mu))
        different = z3.Implies(z3.And(both, equal), i.v == j.v)
        machine.claim(f"different up to mu of {rounds} rounds", different)


@theorem("elimac-limit", "limit_bits is (mu + 1) n - 1, or 2^64 - 1 if that is less", ELI)
def limit(proof):
    machine = proof.machine()
    for n in (8, 16, 32):
        for mu in (1, 2, 3, 16, 2**32 - 1, 2**57, 2**64 - 1):
            families = Model()
            families.MU = N("u64", mu)
            types = {"F": families, "Block": BlockType(machine, n)}
            out = machine.run(None, "limit_bits", types=types)
            machine.claim(f"mu = {mu}", out.v == min((mu + 1) * 8 * n - 1, 2**64 - 1))
