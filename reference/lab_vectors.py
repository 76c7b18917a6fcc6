#!/usr/bin/env python3
"""Checks the lab's vectors against `lab_macs.py`, `lab_deoxys.py` and `lab_hashes.py`.

    lab_vectors.py            checks crates/lab/vectors, ends with the line "N passed, N failed"
    lab_vectors.py --write    writes ours.json, deoxys-ours.json, hashes.json and byte-hashes.json

Rows of macs.json (from elsewhere) and ours.json (from here) have `algorithm`, `keys`, an optional
`nonce`, `msg` as in ../vectors, `tag`, `status` and `source`; a tag may be truncated. lemac-0.json
has the same of LeMac-0, the first design of LeMac. Rows of
deoxys.json have `key`, `tweak`, `pt` and `ct`, those of deoxys-ii.json `key`, `nonce`, `aad`,
`msg`, `ct` and `tag`. Rows of hashes.json have `hash`, `key`, `msg` and `value`, with words as
numbers; byte-hashes.json has the same in hex.
"""

import json
import sys
from hashlib import sha256
from pathlib import Path

import lab_deoxys
from lab_hashes import BYTE_HASHES, HASHES
from lab_macs import MACS, lemac

VECTORS = Path(__file__).resolve().parent.parent / "crates" / "lab" / "vectors"

# Around the ends of blocks of 8, 16, 31 and 32 bytes, and of batches of 64 blocks of each.
LENGTHS = (
    *range(0, 10), 14, 15, 16, 17, 23, 24, 25, 30, 31, 32, 33, 47, 48, 49, 61, 62, 63, 64, 65, 79, 80,
    93, 95, 96, 100, 127, 128, 129, 155, 200, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 1040,
    1984, 2015, 2047, 2048, 2080, 2500,
)  # fmt: skip
LONG = 64  # messages of at least this many bytes are repetitions
PERIOD = 37


def random(seed, count):
    """Returns bytes that are the same on every machine."""
    out = b""
    while len(out) < count:
        out += sha256(f"{seed}/{len(out)}".encode()).digest()
    return out[:count]


def message_of(msg):
    if isinstance(msg, str):
        return bytes.fromhex(msg)
    message = bytes.fromhex(msg["repeat"]) * msg["count"]
    return message[: msg.get("total_bytes", len(message))]


def message(seed, length):
    if length <= LONG:
        return random(seed, length).hex()
    count = -(-length // PERIOD)
    return {"repeat": random(seed, PERIOD).hex(), "count": count, "total_bytes": length}


def ours():
    for name, (sizes, nonce_size, mac) in MACS.items():
        for i, length in enumerate(LENGTHS):
            if name == "CBC-MAC":
                length = 16 * (i + 1 if i < 40 else 4 * i)
            seed = f"{name}/{i}"
            own = sizes or [(0, 1, 16, 20, 63, 64, 65, 80, 200)[i % 9]]
            keys = [random(f"{seed}/key{j}", size) for j, size in enumerate(own)]
            nonce = random(f"{seed}/nonce", nonce_size)
            row = {"algorithm": name, "keys": [key.hex() for key in keys]}
            if nonce_size:
                row["nonce"] = nonce.hex()
            msg = message(seed, length)
            tag = mac(keys, message_of(msg), nonce)
            yield row | {
                "msg": msg, "tag": tag.hex(), "status": "ours", "source": "reference/lab_macs.py",
            }  # fmt: skip


def blocks():
    for i in range(40):
        key, tweak, pt = (random(f"deoxys/{i}/{part}", 16) for part in ("key", "tweak", "pt"))
        ct = lab_deoxys.encrypt(key, tweak, pt)
        row = {"key": key.hex(), "tweak": tweak.hex(), "pt": pt.hex(), "ct": ct.hex()}
        yield row | {"status": "ours", "source": "reference/lab_deoxys.py"}


def words(seed, count):
    edges = (0, 1, 2**32 - 1, 2**31)
    data = random(seed, 5 * count)
    return [
        edges[data[5 * i] % 4] if data[5 * i] < 64
        else int.from_bytes(data[5 * i + 1 : 5 * i + 5], "big")
        for i in range(count)
    ]  # fmt: skip


def hashes():
    for name, hash_of in HASHES.items():
        for i in range(40):
            count = 2 * (1 + i % 5)
            key, msg = words(f"{name}/{i}/key", count), words(f"{name}/{i}/msg", count)
            yield {"hash": name, "key": key, "msg": msg, "value": hash_of(key, msg)}


def byte_hashes():
    for name, (unit, size, hash_of) in BYTE_HASHES.items():
        for i in range(40):
            msg = random(f"{name}/{i}/msg", unit * i)
            key = random(f"{name}/{i}/key", len(msg) if size is None else size)
            row = {"hash": name, "key": key.hex(), "msg": msg.hex()}
            yield row | {"value": hash_of(key, msg).hex()}


def mac_fails(row, mac=None):
    mac = mac or MACS[row["algorithm"]][2]
    keys = [bytes.fromhex(key) for key in row["keys"]]
    found = mac(keys, message_of(row["msg"]), bytes.fromhex(row.get("nonce", "")))
    wanted = bytes.fromhex(row["tag"])
    return len(wanted) < 8 or found[: len(wanted)] != wanted


def lemac_0_fails(row):
    return mac_fails(row, lemac(0))


def deoxys_fails(row):
    key, tweak, pt, ct = (bytes.fromhex(row[name]) for name in ("key", "tweak", "pt", "ct"))
    return lab_deoxys.encrypt(key, tweak, pt) != ct


def deoxys_ii_fails(row):
    fields = (bytes.fromhex(row[name]) for name in ("key", "nonce", "aad", "msg"))
    found = lab_deoxys.deoxys_ii(*fields)
    return found != (bytes.fromhex(row["ct"]), bytes.fromhex(row["tag"]))


def hash_fails(row):
    return HASHES[row["hash"]](row["key"], row["msg"]) != row["value"]


def byte_hash_fails(row):
    _, _, hash_of = BYTE_HASHES[row["hash"]]
    key, msg, value = (bytes.fromhex(row[name]) for name in ("key", "msg", "value"))
    return hash_of(key, msg) != value


FILES = {
    "macs.json": mac_fails,
    "ours.json": mac_fails,
    "lemac-0.json": lemac_0_fails,
    "deoxys.json": deoxys_fails,
    "deoxys-ours.json": deoxys_fails,
    "deoxys-ii.json": deoxys_ii_fails,
    "hashes.json": hash_fails,
    "byte-hashes.json": byte_hash_fails,
}


def write(file, rows):
    text = ",\n".join(json.dumps(row) for row in rows)
    (VECTORS / file).write_text(f"[\n{text}\n]\n")


def main(arguments):
    if arguments == ["--write"]:
        write("ours.json", ours())
        write("deoxys-ours.json", blocks())
        write("hashes.json", hashes())
        write("byte-hashes.json", byte_hashes())
    elif arguments:
        sys.exit(__doc__)
    passed = failed = 0
    for file, fails in FILES.items():
        rows = json.loads((VECTORS / file).read_text())
        wrong = [number for number, row in enumerate(rows, 1) if fails(row)]
        print(f"lab/{file}: {len(rows) - len(wrong)} passed, {len(wrong)} failed")
        for number in wrong:
            print(f"  row {number}: {rows[number - 1]}")
        passed += len(rows) - len(wrong)
        failed += len(wrong)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
