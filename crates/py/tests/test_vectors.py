"""../../../vectors/*.json through Python. vectors/README.md defines the fields of a row."""

import json
from pathlib import Path

import pytest

import tagmac

VECTORS = Path(__file__).resolve().parents[3] / "vectors"
FIELDS = {
    "algorithm", "key", "nonce", "msg", "msg_bits", "tag", "tag_bits",
    "valid", "refuse", "status", "source", "comment",
}  # fmt: skip

# The rows that Python supports: whole bytes, and MACs with a name there.
LEAST = 1895


def rows(path):
    return json.loads(path.read_text())


def family(alg):
    """The family of an algorithm: PMAC for PMAC-AES128."""
    return alg.split("-")[0]


# Files of MACs that Python supports.
FAMILIES = {family(alg) for alg in tagmac.algorithms_available}
FILES = [
    path
    for path in sorted(VECTORS.glob("*.json"))
    if any(row.get("algorithm") in tagmac.algorithms_available for row in rows(path))
]


def test_every_mac_has_vectors():
    known = {family(row["algorithm"]) for path in FILES for row in rows(path)}
    assert FAMILIES <= known, f"expected rows in vectors/ for each of {FAMILIES - known}"


def message_of(row):
    """The row's message, or None if it is not whole bytes."""
    if "msg_bits" in row:
        bits = row["msg_bits"]
        whole = len(bits) % 8 == 0
        return int(bits or "0", 2).to_bytes(len(bits) // 8, "big") if whole else None
    msg = row["msg"]
    if isinstance(msg, str):
        return bytes.fromhex(msg)
    return (bytes.fromhex(msg["repeat"]) * msg["count"])[: msg["total_bytes"]]


def check(row) -> bool:
    """Checks a row with every call. Returns True if there was one."""
    assert row.keys() <= FIELDS
    alg, key, bits = row["algorithm"], bytes.fromhex(row["key"]), row["tag_bits"]
    tag, msg = bytes.fromhex(row["tag"]), message_of(row)
    nonce = bytes.fromhex(row["nonce"]) if "nonce" in row else None
    if row.get("refuse") == "key":
        with pytest.raises(ValueError, match="expected a key of"):
            tagmac.Key(key, alg)
        return True
    if msg is None:
        return False
    ready = tagmac.Key(key, alg, tag_bits=bits)
    pieces = ready.new(nonce=nonce)
    step = max(13, len(msg) // 100)
    for start in range(0, len(msg), step):
        pieces.update(msg[start : start + step])
    tags = {
        ready.tag(msg, nonce),
        tagmac.digest(key, msg, alg, nonce=nonce, tag_bits=bits),
        tagmac.tag_many(ready, [msg], None if nonce is None else [nonce]),
        pieces.digest(),
    }
    assert (tags == {tag}) == row["valid"], row
    verifies = [
        lambda: ready.verify(msg, tag, nonce),
        lambda: tagmac.verify(key, msg, tag, alg, nonce=nonce, tag_bits=bits),
        lambda: pieces.verify(tag),
        lambda: pieces.hexverify(tag.hex()),
    ]
    for verify in verifies:
        if row["valid"]:
            verify()
        else:
            with pytest.raises(tagmac.InvalidTag):
                verify()
    return True


def test_vectors():
    checked = 0
    for path in FILES:
        found = [check(row) for row in rows(path)]
        print(f"{path.name}: {sum(found)} of {len(found)} rows")
        checked += sum(found)
    assert checked >= LEAST
