"""Shards and roots of a bucket's manifest."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tagmac
from tagmac import _tagmac

KEY = tagmac.Key(bytes(range(16)))
NAMES = [b"a", b"a\tb\n", b"a/b", bytes(range(1, 256)), "é".encode()]
NAMES.sort()


def today():
    return datetime.now(UTC).date().isoformat()


DAY = today()


def sealed(names, key=KEY, number=0, **more):
    """A shard of objects whose contents are their names."""
    sizes, tags = [len(name) for name in names], [key.tag(name) for name in names]
    return _tagmac.shard_seal(key, number, names, sizes, tags, **more)


def test_what_is_sealed_is_read():
    text, record = sealed(NAMES)
    columns = _tagmac.shard_open(KEY, record, text)
    tags = [KEY.tag(name) for name in NAMES]
    assert columns[:4] == (NAMES, [len(name) for name in NAMES], tags, [b""] * len(NAMES))
    assert set(columns[4]) <= {DAY, today()} and columns[5] == [None] * len(NAMES)
    total = sum(map(len, NAMES))
    assert _tagmac.record_fields(record) == (
        0,
        len(text),
        len(NAMES),
        total,
        NAMES[0],
        NAMES[-1],
    )
    seal = text.rsplit(b": ", 1)[1][:16].decode()
    assert _tagmac.shard_name(record) == f"shard-00000000-{seal}"
    root = _tagmac.root_seal(KEY, [record])
    assert _tagmac.root_open(KEY, root) == ([record], 2, False, [])
    days = sealed(NAMES, day="2026-11-28"), sealed(NAMES, day="2026-11-28")
    assert days[0] == days[1], "the same objects make the same bytes"


def test_days_and_stamps_have_columns():
    stamps = [None, b'"e"', b"a\tb", b"\\", b"\xff"]
    text, record = sealed(NAMES, day="2026-11-28", stamps=stamps)
    columns = _tagmac.shard_open(KEY, record, text)
    assert columns[4:] == (["2026-11-28"] * len(NAMES), stamps)
    for wrong, match in (
        ({"day": "2026-11-31"}, "^day: expected YYYY-MM-DD$"),
        ({"stamps": [None]}, "^expected 5 stamps, found 1$"),
        ({"stamps": [b"-"] * 5}, "expected a stamp of 1 to 1024 bytes other than '-'$"),
    ):
        with pytest.raises(ValueError, match=match):
            sealed(NAMES, **wrong)


def test_version_1_is_read():
    formats = Path(__file__).parents[3] / "vectors/formats/PMAC-AES128"
    key = tagmac.Key.from_file(formats / "k")
    root = formats.joinpath("bucket/root").read_bytes()
    (record,), version, listed, filters = _tagmac.root_open(key, root)
    assert (version, listed, filters) == (1, False, [])
    text = formats.joinpath("bucket", _tagmac.shard_name(record)).read_bytes()
    columns = _tagmac.shard_open(key, record, text, version=1)
    assert columns[0] == [b"a", b"b-c", b"b/c", b"large", b"z"]
    assert columns[4] == columns[5] == [None] * 5
    with pytest.raises(tagmac.InvalidTag, match="line 1: expected 'tagmac-object-shard-2'$"):
        _tagmac.shard_open(key, record, text)
    with pytest.raises(ValueError, match="^version: expected 1 or 2$"):
        _tagmac.shard_open(key, record, text, version=3)


def test_a_root_continues_a_chain():
    first = _tagmac.root_seal(KEY, [])
    second = _tagmac.root_seal(KEY, [], after=first)
    lines = second.decode().splitlines()
    seal = first.decode().split("seal: ")[1].strip()
    assert lines[5].startswith("sequence: 2 ") and lines[6] == f"first: {seal}"
    assert lines[8].startswith("1 20") and lines[8].endswith(seal)
    with pytest.raises(tagmac.InvalidTag):
        _tagmac.root_seal(KEY, [], after=first[:-2] + b"?\n")


def test_filters():
    rules = _tagmac.Filter([b"*.tmp", b"cache/", b"!keep.tmp"])
    names = [b"a.tmp", b"x/b.tmp", b"cache/a", b"x/cache/a", b"cache", b"keep.tmp", b"a"]
    assert [rules.leaves_out(name) for name in names] == [True] * 4 + [False] * 3
    with pytest.raises(ValueError, match="^pattern '': it matches nothing"):
        _tagmac.Filter([b""])


def test_nonces_have_a_column():
    key = tagmac.Key.generate("UMAC-64")
    nonces = [bytes([i]) * 16 for i in range(2)]
    tags = [key.tag(name, nonce) for name, nonce in zip([b"a", b"b"], nonces, strict=True)]
    text, record = _tagmac.shard_seal(key, 3, [b"a", b"b"], [1, 1], tags, nonces)
    assert _tagmac.shard_open(key, record, text)[:4] == ([b"a", b"b"], [1, 1], tags, nonces)
    with pytest.raises(ValueError, match="^a: expected a nonce of 16 bytes, found 0$"):
        _tagmac.shard_seal(key, 3, [b"a", b"b"], [1, 1], tags)


def test_what_is_not_as_it_was_sealed_is_refused():
    text, record = sealed(NAMES)
    root = _tagmac.root_seal(KEY, [record])
    changed = text[:300] + bytes([text[300] ^ 1]) + text[301:]
    with pytest.raises(tagmac.InvalidTag, match="^s3://b/m/x: the seal does not match: "):
        _tagmac.shard_open(KEY, record, changed, shown="s3://b/m/x")
    with pytest.raises(
        tagmac.InvalidTag, match="^shard-00000000-[0-9a-f]{16}: expected a shard of"
    ):
        _tagmac.shard_open(KEY, record, text[:-1])
    other, _ = sealed([*NAMES[:-1], NAMES[-1][:-1] + b"\xff"])
    assert len(other) == len(text)
    with pytest.raises(
        tagmac.InvalidTag, match="not the shard that the root names, but ano"
    ):
        _tagmac.shard_open(KEY, record, other)
    with pytest.raises(tagmac.InvalidTag, match="^root: "):
        _tagmac.root_open(KEY, root[:-2] + b"?\n")
    with pytest.raises(ValueError, match=r"^r: the manifest is sealed under another key: expected key id "):
        _tagmac.root_open(tagmac.Key(bytes(16)), root, shown="r")
    short = tagmac.Key(bytes(range(16)), tag_bits=64)
    with pytest.raises(ValueError, match="^root: expected tags of 64 bits, found 128$"):
        _tagmac.root_open(short, root)


def test_what_does_not_fit_is_named():
    tag = KEY.tag(b"")
    for wrong, match in (
        (([b"a"], [1, 2], [tag]), "^expected 1 sizes, found 2$"),
        (([b"a"], [1], [tag] * 3), "^expected 1 tags, found 3$"),
        (([b"a"], [1], [tag], [b""] * 2), "^expected 1 nonces, found 2$"),
        (([b"b", b"a"], [1, 1], [tag] * 2), "^a: added after b; names must be in byte order$"),
        (([b""], [1], [tag]), "^.*: the name is empty$"),
        (([b"a"], [1], [tag[:8]]), "expected"),
        (([], [], []), "^shard 0: expected 1 to 65536 entries in a shard$"),
    ):
        with pytest.raises(ValueError, match=match):
            _tagmac.shard_seal(KEY, 0, *wrong)
    _, record = sealed(NAMES, number=1)
    with pytest.raises(ValueError, match="^shard 1: expected shard 0, found shard 1$"):
        _tagmac.root_seal(KEY, [record])
    with pytest.raises(ValueError, match="^record of a shard: expected more columns$"):
        _tagmac.shard_name(record[:1])
    with pytest.raises(TypeError):
        _tagmac.root_seal(b"key", [record])


def test_a_root_of_nothing():
    assert _tagmac.root_open(KEY, _tagmac.root_seal(KEY, [])) == ([], 2, False, [])


def test_shards_follow_each_other():
    count = _tagmac.SHARD_ENTRIES
    names = [b"%08d" % i for i in range(count + 1)]
    one = KEY.tag(b"x")
    first = _tagmac.shard_seal(KEY, 0, names[:count], [1] * count, [one] * count)
    last = _tagmac.shard_seal(KEY, 1, names[count:], [1], [one])
    root = _tagmac.root_seal(KEY, [first[1], last[1]])
    assert _tagmac.root_open(KEY, root)[0] == [first[1], last[1]]
    # A shard of the same manifest in place of another.
    with pytest.raises(tagmac.InvalidTag):
        _tagmac.shard_open(KEY, last[1], first[0])


@given(st.sets(st.binary(min_size=1, max_size=40), min_size=1, max_size=20))
def test_any_names(names):
    names = sorted(names)
    text, record = sealed(names)
    assert _tagmac.shard_open(KEY, record, text)[0] == names


@given(st.binary(), st.integers(0), st.integers(0, 50))
def test_nothing_else_is_read(put, at, over):
    text, record = sealed(NAMES)
    at %= len(text)
    changed = text[:at] + put + text[at + over :]
    if changed != text:
        with pytest.raises(tagmac.InvalidTag):
            _tagmac.shard_open(KEY, record, changed)


def found(key, readings, new):
    """The readings of new objects, given their contents."""
    for number, nonce in readings:
        content = new[number]
        yield number, (len(content), nonce, key.tag(content, nonce))


@pytest.mark.parametrize("alg", ["PMAC-AES128", "UMAC-64"])
def test_renamed_objects_are_found(alg):
    key = tagmac.Key.generate(alg)
    nonces = [bytes([n] * 16) if alg == "UMAC-64" else None for n in range(20)]
    old = [b"%02d" % n for n in range(20)]
    missing = [(2, nonce, key.tag(body, nonce)) for body, nonce in zip(old, nonces, strict=True)]
    new = [b"xx", *old, b"large"]
    readings = _tagmac.rename_readings(key, missing, list(map(len, new)))
    assert len(readings) == 21 * (8 if alg == "UMAC-64" else 1)
    assert readings[0] == (0, nonces[0])
    read = list(found(key, readings, new))
    assert _tagmac.rename_pairs(key, missing, read) == [(n + 1, n) for n in range(20)]
    # Some objects could not be read.
    assert _tagmac.rename_pairs(key, missing, read[:20]) == [
        (number, number - 1) for number in sorted({number for number, _ in readings[:20]} - {0})
    ]
    assert _tagmac.rename_readings(key, [], [1, 2]) == _tagmac.rename_pairs(key, [], []) == []


def test_contents_that_are_none_are_refused():
    for missing in ([(2, None, b"short")], [(-1, None, bytes(16))], [(2, None)], [2], 2):
        with pytest.raises((ValueError, TypeError, OverflowError)):
            _tagmac.rename_readings(KEY, missing, [2])
        with pytest.raises((ValueError, TypeError, OverflowError)):
            _tagmac.rename_pairs(KEY, missing, [])
