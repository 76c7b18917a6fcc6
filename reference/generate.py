#!/usr/bin/env python3
"""Prints random test cases with the tags of the references.

    generate.py --count N --seed S [--max-len L] [--bits] ALG ..

Each line is one JSON object {"algorithm", "key", "msg", "tag", "tag_bits"},
with "nonce" after "key" if the algorithm needs one. The cases cycle through
the algorithms. The same arguments give the same lines on every machine and
every Python 3.11 or later.

Half of the messages have a random length up to L. The others have a length at
an edge: a multiple of a block or vector size, or one byte more or less. Edges
go up to 1025 bytes (Poly1305 and UMAC: 4097) even if L is less. If an algorithm
has a low length limit, some messages have the longest length allowed, or one
byte less. Some for UMAC99 have one to four of its blocks of 4096 bytes, or one
byte more or less.

With --bits a quarter of the messages end within a byte. Such a line has
"msg_bits", a string of 0s and 1s, in place of "msg". Poly1305, UMAC and UMAC99
always get whole bytes.
"""

import argparse
import json
import os
import sys
from hashlib import sha256

from algorithms import ALGORITHMS

# The sizes whose multiples are the edges, and the greatest multiple, by the first word of the name.
EDGES = {
    # A block, and 4, 8, 16 and 32 of them.
    "POLY1305": ((16, 64, 128, 256, 512), 4096),
    # A group of 8 words in NH, a chunk of L1, and the two chunks of a 128-bit word in L2.
    "UMAC": ((32, 1024, 2048), 4096),
    # A pairing unit of STD and of MMX, a part of STD, and a vector.
    "UMAC99": ((8, 16, 64, 256), 1024),
}
# Message bytes in a LightMAC block (12 for S32, 15 for S8) and in an AES block; then 4, 8 and 32
# AES blocks, where vectors and unrolled loops begin and end.
OTHER_EDGES = ((12, 15, 16, 64, 128, 512), 1024)
# The same with the blocks of PRESENT: 4 message bytes for S32, 7 for S8, 8 for PMAC; then 4, 8, 16
# and 64 blocks of 8.
PRESENT_EDGES = ((4, 5, 6, 7, 8, 32, 64, 128, 512), 1024)
LONG = {"UMAC99": 4096}  # block sizes; some messages have up to four blocks
KEYS = 4  # keys for each algorithm, few because key setup is slow


class Random:
    """SHA-256 of the seed and a counter. Python's own random may change."""

    def __init__(self, seed):
        self.seed = str(seed).encode()
        self.counter = 0
        self.pool = b""

    def bytes(self, count):
        while len(self.pool) < count:
            self.counter += 1
            self.pool += sha256(b"%s/%d" % (self.seed, self.counter)).digest()
        out, self.pool = self.pool[:count], self.pool[count:]
        return out

    def below(self, limit):
        # The bias of 64 bits modulo a small limit does not matter for tests.
        return int.from_bytes(self.bytes(8), "big") % limit

    def one_in(self, n):
        return self.below(n) == 0

    def choice(self, items):
        return items[self.below(len(items))]


def message_length(random, name, max_len):
    family = name.split("-")[0]
    if family in LONG and random.one_in(20):
        return LONG[family] * (1 + random.below(4)) + random.below(3) - 1
    limit = ALGORITHMS[name].max_bytes
    if limit is not None and random.one_in(100):
        return limit - random.below(2)
    if random.one_in(2):
        length = random.below(max_len + 1)
    else:
        others = PRESENT_EDGES if "-PRESENT" in name else OTHER_EDGES
        edges, top = EDGES.get(family, others)
        edge = random.choice(edges)
        length = edge * (1 + random.below(top // edge)) + random.below(3) - 1
    return length if limit is None else min(length, limit)


def case(random, name, keys, max_len, with_bits):
    mac = ALGORITHMS[name]
    key = random.choice(keys)
    row = {"algorithm": name, "key": key.hex()}
    nonce = None
    if mac.nonce_bytes is not None:
        nonce = random.bytes(random.choice(mac.nonce_bytes))
        row["nonce"] = nonce.hex()
    message = random.bytes(message_length(random, name, max_len))
    tag_bits = random.choice(mac.tag_bits) if random.one_in(5) else mac.tag_bits[-1]
    bits = None
    if with_bits and mac.bits and message and random.one_in(4):
        bits = 8 * len(message) - 1 - random.below(7)
        row["msg_bits"] = "".join(f"{byte:08b}" for byte in message)[:bits]
    else:
        row["msg"] = message.hex()
    tag = mac(key, message, tag_bits, bits, nonce)
    return row | {"tag": tag.hex(), "tag_bits": tag_bits}


def natural(text):
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return value


def main():
    parser = argparse.ArgumentParser(
        description="Print random test cases with their tags, one JSON object per line."
    )
    parser.add_argument("--count", type=natural, required=True, metavar="N")
    parser.add_argument("--seed", required=True, metavar="S", help="any text")
    parser.add_argument("--max-len", type=natural, default=400, metavar="L",
                        help="longest random length in bytes (default 400)")  # fmt: skip
    parser.add_argument("--bits", action="store_true",
                        help="let a quarter of the messages end within a byte")  # fmt: skip
    parser.add_argument("algorithms", nargs="+", metavar="ALG",
                        help="PMAC-AES128, UMAC-64, POLY1305-AES, ..")  # fmt: skip
    args = parser.parse_args()
    for name in args.algorithms:
        if name not in ALGORITHMS:
            parser.error(f"no reference for {name}; known: {', '.join(ALGORITHMS)}")

    random = Random(args.seed)
    keys = {
        name: [random.bytes(ALGORITHMS[name].key_bytes) for _ in range(KEYS)]
        for name in args.algorithms
    }
    for i in range(args.count):
        name = args.algorithms[i % len(args.algorithms)]
        print(json.dumps(case(random, name, keys[name], args.max_len, args.bits)))


if __name__ == "__main__":
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe, like `head`. There is nothing left to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
