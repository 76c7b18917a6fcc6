"""Parts of tagmac.spark that need no cluster: ranges of objects, joins, keys, renamed objects."""

from dataclasses import replace
from typing import get_args

import pytest
from manifests import KEY, OTHER, data

import tagmac
from tagmac import _tagmac
from tagmac.spark import renaming
from tagmac.spark.auditing import Status
from tagmac.spark.items import Item, count_ranges, from_batches, ranges, to_batches
from tagmac.spark.joining import join
from tagmac.spark.keyed import pinned, unit_of
from tagmac.spark.merging import MISSING, NEW
from tagmac.spark.tasks import at_once


@pytest.mark.parametrize("size", [0, 1, 99, 100, 101, 200, 1000, 1001])
def test_ranges_of_an_object_leave_nothing_out(size):
    item = Item("b", b"n", "v", size)
    made = list(ranges(item, 100))
    assert len(made) == count_ranges(size, 100)
    assert [part.start for part in made] == list(range(0, max(1, size), 100))
    assert [part.end for part in made] == [*(part.start for part in made[1:]), size]
    assert [part.is_last for part in made] == [False] * (len(made) - 1) + [True]
    assert list(ranges(item, None)) == [replace(item, end=size)]


def test_items_travel():
    items = [
        Item("b", b"\xff\n", "v", 1 << 60, 5, 6, 7, b"n", b"e", b"t", b"p", "e"),
        Item("", b"", "", 0),
    ]
    assert list(from_batches(to_batches(items))) == items
    many = [Item("b", b"n", "v", n, partial=bytes(100_000)) for n in range(1000)]
    batches = list(to_batches(many))
    assert len(batches) > 5 and list(from_batches(batches)) == many


def parted(key, message, unit, name=b"n", version="v"):
    """The items of an object that was read."""
    made = []
    for item in ranges(Item("b", name, version, len(message)), unit):
        part = tagmac.Part(key, object=name, version=version, start=item.start, last=item.is_last)
        made.append(replace(item, partial=part.update(message[item.start : item.end]).seal()))
    return made


MESSAGE = data(10_000)


@pytest.mark.parametrize("alg", ["PMAC-AES128", "UMAC-64", "POLY1305-AES"])
def test_ranges_join(alg):
    key = tagmac.Key.generate(alg)
    items = parted(key, MESSAGE, 2048)
    (made,) = join(key, items)
    assert made.error is None and made.partial is None and made.is_whole
    key.verify(MESSAGE, made.tag, made.nonce)
    # Twice, as after a task that ran twice.
    again = sorted(items + parted(key, MESSAGE, 2048)[1:3], key=lambda item: item.start)
    (made,) = join(key, [replace(item, nonce=made.nonce) for item in again])
    key.verify(MESSAGE, made.tag, made.nonce)


def test_ranges_that_do_not_fit_are_named():
    items, other = parted(KEY, MESSAGE, 2048), parted(KEY, data(10_000, 1), 2048)
    foreign = parted(tagmac.Key(bytes(16)), MESSAGE, 2048)
    renamed, newer = parted(KEY, MESSAGE, 2048, b"m"), parted(KEY, MESSAGE, 2048, version="w")
    for change, line in [
        (items[:2] + items[3:], "4096"),
        (items[:-1], "8192"),
        (items[1:], "2048"),
        (
            [*items[:2], other[1], *items[2:]],
            "two readings of a range lead to different tags",
        ),
        ([items[0], foreign[1], *items[2:]], "key"),
        ([items[0], replace(items[1], partial=renamed[1].partial), *items[2:]], "m"),
        ([items[0], replace(items[1], partial=newer[1].partial), *items[2:]], "w"),
        ([items[0], newer[1], *items[2:]], "it changed: both version v and w were read"),
        ([items[0], replace(items[1], partial=b"x" + items[1].partial[1:]), *items[2:]], "partial"),
        ([items[0], replace(items[1], partial=None), *items[2:]], "partial"),
        ([items[0], replace(items[1], error="s3://b/n: gone"), *items[2:]], "s3://b/n: gone"),
    ]:
        (made,) = join(KEY, change)
        assert made.tag is None
        assert made.error.startswith("s3://b/n: ") and line in made.error, (line, made.error)


def test_whole_objects_twice():
    item = Item("b", b"n", "v", 5, 0, 5, tag=b"t")
    assert list(join(KEY, [item, item])) == [item]
    (made,) = join(KEY, [item, replace(item, tag=b"u")])
    assert made.error == "s3://b/n: two readings have different tags"


@pytest.mark.parametrize("streams", [1, 3])
def test_at_once(streams):
    assert sorted(at_once(lambda n: n * n, iter(range(100)), streams)) == [
        n * n for n in range(100)
    ]
    with pytest.raises(ZeroDivisionError):
        list(at_once(lambda n: 1 // (5 - n), range(100), streams))


def test_a_key_is_found_again_or_refused(tmp_path):
    KEY.save(tmp_path / "key")
    ref, key = pinned(tagmac.KeyRef.file(tmp_path / "key"))
    assert key.id == KEY.id and (ref.id, ref.alg) == (KEY.id, KEY.name)
    (tmp_path / "key").unlink()
    OTHER.save(tmp_path / "key")
    with pytest.raises(
        tagmac.WrongKey, match=f"expected a key with id {KEY.id}, found one with id {OTHER.id}"
    ):
        replace(ref, where=(f"{tmp_path}/./key",)).resolve()
    with pytest.raises(tagmac.KeyUnavailable, match="none"):
        pinned(tagmac.KeyRef.file(tmp_path / "none"))
    with pytest.raises(TypeError, match="expected a KeyRef, .* found Key"):
        pinned(KEY)


def test_ranges_are_of_whole_blocks():
    assert (
        unit_of(KEY, 1024) == 1024 and unit_of(tagmac.Key(bytes(16), "CMAC-AES128"), 1024) is None
    )
    assert unit_of(KEY, None) == 64 << 20
    light = tagmac.Key.generate("LIGHTMAC-AES128-S32")
    assert unit_of(light, None) == (64 << 20) // 12 * 12
    for bad in (1000, 0, -16, 8):
        with pytest.raises(
            ValueError, match=f"range_bytes: expected a multiple of 16, .* found {bad}"
        ):
            unit_of(KEY, bad)


def test_verdicts_have_the_words_of_the_command():
    # Rows exist for differences only. These are counted.
    counted = {"unchanged", "not read", "archived"}
    assert counted | {*get_args(Status)} == set(_tagmac.STATUSES)


@pytest.mark.parametrize("alg", ["PMAC-AES128", "UMAC-64"])
def test_renamed_objects_of_one_size_are_all_found(monkeypatch, alg):
    key = tagmac.Key.generate(alg)
    bodies = {b"new%02d" % n: b"%02d" % n for n in range(20)} | {b"new99": b"xx"}

    def read(_spark, _ref, work, known, *_):
        """The job's result. Its rows come in any order."""
        made = [replace(item, tag=key.tag(bodies[item.name], item.nonce)) for item in work]
        return [item for item in made if (item.size, item.nonce, item.tag) in known]

    monkeypatch.setattr(renaming, "_matched", read)
    nonce = lambda n: bytes([n] * 16) if alg == "UMAC-64" else None  # noqa: E731
    missing = [
        Item("b", b"old%02d" % n, "", 2, nonce=nonce(n), expected=key.tag(b"%02d" % n, nonce(n)), error=MISSING)
        for n in range(20)
    ]  # fmt: skip
    new = [Item("b", name, "v", 2, error=NEW) for name in bodies]
    found = [*new, *missing, Item("b", b"other", "v", 2, error="changed: content")]
    pairs = renaming.find_renamed(None, None, key, found, None, 1, None)
    assert pairs.renamed == {b"new%02d" % n: b"old%02d" % n for n in range(20)}
    assert renaming.find_renamed(None, None, key, new, None, 1, None).renamed == {}
