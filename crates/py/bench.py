#!/usr/bin/env python3
"""Compares tagmac with other MACs in Python, on one thread.

    bench.py [--seconds S] [--parts]

Prints a table: microseconds for a message of 64 bytes, GB/s for 4 KiB and 2 MiB. The contenders
take turns, and each one's best turn counts. Tags of the same MAC are compared first. With --parts,
it compares the time of a part of an object with that of tagging the same bytes, in microseconds.

Needs pip install blake3 cryptography pycryptodome; missing packages are left out.
"""

import argparse
import gc
import hmac
import importlib
import time
from collections.abc import Callable

import tagmac

KEY = bytes(range(32))
NONCE = bytes(range(16))
SIZES = [64, 4096, 2 << 20]
# Seconds of a turn: shorter than the scheduler's time slices, so that some turns are undisturbed.
BURST = 0.001

Tagger = Callable[[bytes], bytes]


def ours() -> dict[str, Tagger]:
    rows: dict[str, Tagger] = {}
    for alg, size in [
        ("PMAC-AES128", 16),
        ("LIGHTMAC-AES128-S32", 32),
        ("ELIMAC-AES128", 32),
        ("CMAC-AES128", 16),
        ("HMAC-SHA256", 32),
    ]:
        rows[f"tagmac Key.tag, {alg}"] = tagmac.Key(KEY[:size], alg).tag
    for alg, size in [("UMAC-64", 16), ("UMAC-128", 16), ("POLY1305-AES", 32)]:
        tag = tagmac.Key(KEY[:size], alg).tag
        rows[f"tagmac Key.tag, {alg}"] = lambda msg, tag=tag: tag(msg, NONCE)
    for alg, size in [("PMAC-AES128", 16), ("UMAC-64", 16)]:
        session = tagmac.Session(tagmac.Key(KEY[:size], alg), max_message_bytes=4 << 20)
        # Each tag has a different nonce, so they cannot be compared.
        rows[f"tagmac Session.tag of {alg}"] = lambda msg, tag=session.tag: tag(msg)[1]
    key = KEY[:16]
    rows["tagmac new, PMAC-AES128"] = lambda msg: tagmac.new(key, msg).digest()
    rows["tagmac umac64.new"] = lambda msg: tagmac.umac64.new(key, msg, NONCE).digest()
    return rows


def stdlib() -> dict[str, Tagger]:
    from hashlib import blake2b

    return {
        "hmac.digest, HMAC-SHA256": lambda msg: hmac.digest(KEY, msg, "sha256"),
        "hashlib.blake2b, keyed": lambda msg: blake2b(msg, key=KEY).digest(),
    }


def cryptography() -> dict[str, Tagger]:
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.cmac import CMAC
    from cryptography.hazmat.primitives.poly1305 import Poly1305

    aes = AES(KEY[:16])

    def cmac(msg: bytes) -> bytes:
        mac = CMAC(aes)
        mac.update(msg)
        return mac.finalize()

    return {
        "cryptography, CMAC-AES128": cmac,
        "cryptography, one-time Poly1305": lambda msg: Poly1305.generate_tag(KEY, msg),
    }


def pycryptodome() -> dict[str, Tagger]:
    from Crypto.Cipher import AES
    from Crypto.Hash import CMAC, Poly1305

    return {
        "PyCryptodome, CMAC-AES128": lambda msg: CMAC.new(KEY[:16], msg, AES).digest(),
        "PyCryptodome, POLY1305-AES": lambda msg: Poly1305.new(
            key=KEY, cipher=AES, nonce=NONCE, data=msg
        ).digest(),
    }


def blake3() -> dict[str, Tagger]:
    blake3 = importlib.import_module("blake3").blake3
    return {"blake3, keyed": lambda msg: blake3(msg, key=KEY).digest()}


def contenders() -> dict[str, Tagger]:
    rows = {}
    for make in (ours, stdlib, cryptography, pycryptodome, blake3):
        try:
            rows |= make()
        except ImportError as error:
            print(f"left out: {error}")
    return rows


def prove(rows: dict[str, Tagger]) -> None:
    """Checks that all contenders with the same MAC make the same tags."""
    for size in SIZES:
        msg, tags = bytes(i % 251 for i in range(size)), {}
        for name, tag in rows.items():
            alg = name.rpartition(", ")[2]
            if alg in tagmac.algorithms_available:
                assert tags.setdefault(alg, tag(msg)) == tag(msg), name


def seconds(tag: Callable[[bytes], object], msg: bytes, times: int) -> float:
    """Returns the mean time of one call."""
    start = time.perf_counter()
    for _ in range(times):
        tag(msg)
    return (time.perf_counter() - start) / times


def parts(budget: float) -> None:
    """Prints the time of a part, and of each step."""
    key = tagmac.Key(KEY[:16])

    def begun(msg: bytes) -> tagmac.Part:
        return tagmac.Part(key, object="photos/17.raw", version="3fX9", last=True)

    sizes = [64, 4096, 1 << 20]
    rows: dict[str, Callable[[bytes], object]] = {
        "Key.tag": key.tag,
        "Part(...)": begun,
        "Part(...).update": lambda msg: begun(msg).update(msg),
        "Part(...).update.seal": lambda msg: begun(msg).update(msg).seal(),
        "combine of one": lambda blob: tagmac.combine(key, [blob]),
    }
    blob = begun(b"").update(bytes(64)).seal()
    best: dict[tuple[str, int], float] = {}
    for size in sizes:
        left = {name: budget for name in rows}
        while left:
            for name in list(left):
                data = blob if name.startswith("combine") else bytes(size)
                times = max(1, int(BURST / best.get((name, size), BURST / 10)))
                took = seconds(rows[name], data, times)
                best[name, size] = min(took, best.get((name, size), took))
                left[name] -= took * times
                if left[name] < 0:
                    del left[name]
    print("| PMAC-AES128, µs | 64 bytes | 4 KiB | 1 MiB |")
    print("|---|---|---|---|")
    for name in rows:
        print(f"| {name} | {' | '.join(f'{best[name, size] * 1e6:.2f}' for size in sizes)} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--seconds", type=float, default=0.3, help="for each number (default: %(default)s)"
    )
    parser.add_argument("--parts", action="store_true", help="what a part of an object costs")
    options = parser.parse_args()
    budget = options.seconds
    gc.disable()
    if options.parts:
        return parts(budget)
    rows = contenders()
    prove(rows)
    many = tagmac.Key(KEY[:16])
    batch = "tagmac tag_many of 1,000, PMAC-AES128"
    rows[batch] = lambda msgs: tagmac.tag_many(many, msgs)

    best: dict[tuple[str, int], float] = {}
    for size in SIZES:
        msg = bytes(size)
        left = {name: budget for name in rows if name != batch or size <= 4096}
        while left:
            for name in list(left):
                count, data = (1000, [msg] * 1000) if name == batch else (1, msg)
                guess = best.get((name, size), BURST / 10) * count
                times = max(1, int(BURST / guess))
                took = seconds(rows[name], data, times)
                best[name, size] = min(took / count, best.get((name, size), took))
                left[name] -= took * times
                if left[name] < 0:
                    del left[name]

    print("| | 64 bytes, µs | 4 KiB, GB/s | 2 MiB, GB/s |")
    print("|---|---|---|---|")
    for name in rows:
        cells = [f"{best[name, 64] * 1e6:.2f}"]
        for size in SIZES[1:]:
            took = best.get((name, size))
            cells.append(f"{size / took / 1e9:.1f}" if took else "")
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
