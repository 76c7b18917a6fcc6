"""../../../vectors/*.json through Python. vectors/README.md says what the fields of a row mean."""

import json
from pathlib import Path

import pytest

import tagmac

VECTORS = Path(__file__).resolve().parents[3] / "vectors"
FIELDS = {
    "algorithm", "key", "nonce", "msg", "msg_bits", "tag", "tag_bits",
    "valid", "refuse", "status", "source", "comment",
}  # fmt: skip

# Files, and how many of their rows concern Python: no message of bits. PRESENT, RC6, AES, POLY1305 and
# parameters.json have no names there.
FILES = {
    "pmac.json": 190,
    "lightmac.json": 378,
    "elimac.json": 15,
    "cmac.json": 344,
    "hmac-sha256.json": 183,
    "poly1305-aes.json": 128,
    "umac.json": 417,
    "umac99.json": 240,
}


def rows(name):
    return json.loads((VECTORS / name).read_text())


def family(alg):
    """PMAC of PMAC-AES128."""
    return alg.split("-")[0]


def test_every_mac_has_vectors():
    algorithms = [row["algorithm"] for name in FILES for row in rows(name)]
    known = {family(alg) for alg in algorithms}
    missing = [alg for alg in tagmac.algorithms_available if family(alg) not in known]
    assert not missing, f"expected a file of vectors/ in FILES for each of {missing}"


def message_of(row):
    """The row's message, or None if it is no string of bytes."""
    if "msg_bits" in row:
        bits = row["msg_bits"]
        whole = len(bits) % 8 == 0
        return int(bits or "0", 2).to_bytes(len(bits) // 8, "big") if whole else None
    msg = row["msg"]
    if isinstance(msg, str):
        return bytes.fromhex(msg)
    return (bytes.fromhex(msg["repeat"]) * msg["count"])[: msg["total_bytes"]]


def check(row) -> bool:
    """Checks a row by every call that there is; whether there was one to make."""
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


@pytest.mark.parametrize("name", FILES)
def test_vectors(name):
    found = rows(name)
    checked = sum(check(row) for row in found)
    print(f"{name}: {checked} of {len(found)} rows")
    assert checked >= FILES[name]
