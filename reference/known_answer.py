#!/usr/bin/env python3
"""Prints the known answers for the self-test of a MAC on a level.

    known_answer.py [ALG ..]

An answer is the xor of the tags of three messages. Byte i of a message is
167 i + floor(i / 256), the bytes of keys count from 0 and those of nonces from
32. The library has the answers in crates/tagmac/src/algo/known_answer.rs.
"""

import sys

from algorithms import ALGORITHMS

LENGTHS = (2405, 4157, 9797)  # lengths of the messages in bytes
MESSAGE = bytes((167 * i + i // 256) % 256 for i in range(max(LENGTHS)))


def known_answer(name):
    algorithm = ALGORITHMS[name]
    nonce = None
    if algorithm.nonce_bytes is not None:
        nonce = bytes(range(32, 32 + algorithm.nonce_bytes[-1]))
    answer = 0
    for length in LENGTHS:
        tag = algorithm(bytes(range(algorithm.key_bytes)), MESSAGE[:length], nonce=nonce)
        answer ^= int.from_bytes(tag.ljust(16, b"\0"), "big")
    return answer


def main(names):
    if unknown := [name for name in names if name not in ALGORITHMS]:
        sys.exit(f"{unknown[0]}: not in algorithms.py")
    for name in names or ALGORITHMS:
        if (limit := ALGORITHMS[name].max_bytes) is None or limit >= max(LENGTHS):
            print(f"{name}: 0x{known_answer(name):032x}")


if __name__ == "__main__":
    main(sys.argv[1:])
