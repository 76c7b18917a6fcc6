"""The pads of UMAC's nonces: RFC 4418, section 3.3.1."""

import z3
from models import BlockType, as_bits, big_endian, known_bytes, little_endian, u, unknown_bytes, usize
from rust.numbers import N
from rust.values import Struct
from theorem import theorem


@theorem(
    "umac-pads",
    "the pad of a nonce is RFC 4418's, section 3.3.1 (cleared low bits, zeros after it, the part of the block), for all nonces of 1 to 16 bytes",
    ("algo/umac/pad.rs", "isa/block.rs"),
)
def pads(proof):
    for length in range(1, 17):
        for pads in (1, 2, 4):
            machine = proof.machine(chunk=16)
            BlockType(machine, 16)
            p = unknown_bytes("n", length)
            block = p + known_bytes(bytes(16 - length))
            nonce = Struct("UmacNonce", {"block": block, "bytes": usize(length)})
            out, place = machine.run(None, "pad_of", nonce, N("u8", pads))
            expected = list(block)
            expected[length - 1] = N("u8", p[-1].v & ~(pads - 1))
            machine.claim("the input", big_endian(out) == big_endian(expected))
            machine.claim("the place", as_bits(place, 64) == z3.ZeroExt(56, p[-1].v & (pads - 1)))
    for streams, parts in ((1, 4), (2, 2), (3, 1), (4, 1)):
        machine = proof.machine(chunk=4 * streams if streams < 3 else 16)
        output, place = unknown_bytes("o", 16), u("usize", "place")
        machine.assumed.append(z3.ULT(place.v, parts))
        out = machine.run(None, "pad_in", output, place, types={"T": usize(streams)})
        shift = z3.ZeroExt(64, place.v) * (32 * streams % 128)
        expected = z3.LShR(little_endian(output), shift) & ((1 << (32 * streams)) - 1)
        machine.claim(f"{streams} streams", as_bits(out, 128) == expected)
