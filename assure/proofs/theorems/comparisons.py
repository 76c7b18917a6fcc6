"""Comparisons in constant time."""

import z3
from models import big_endian, u, unknown_bytes
from rust.values import Struct
from theorem import theorem


@theorem("tag-equality", "Tag::eq is true exactly if the lengths and all 256 bits are equal", ("tag.rs",))
def tag_equality(proof):
    machine = proof.machine(chunk=8)
    a, b = ({"bytes": unknown_bytes(name, 32), "bits": u("usize", f"{name}bits")} for name in "ab")
    out = machine.run("Tag", "eq", Struct("Tag", b), receiver=Struct("Tag", a))
    same = z3.And(big_endian(a["bytes"]) == big_endian(b["bytes"]), a["bits"].v == b["bits"].v)
    machine.claim("equality", out == same)


@theorem(
    "register-equality",
    "Register::ct_eq without vector registers is true exactly if all 128 bits are equal",
    ("isa/register.rs",),
)
def register_equality(proof):
    machine = proof.machine()
    a, b = unknown_bytes("a", 16), unknown_bytes("b", 16)
    out = machine.run("Register", "ct_eq", b, receiver=Struct("Register", {"0": a}))
    machine.claim("equality", out == (big_endian(a) == big_endian(b)))
