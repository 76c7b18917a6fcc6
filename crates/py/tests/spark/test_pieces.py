"""The pieces of tagmac.spark that need no cluster: name ranges, ranges of objects, joins, places."""

import random
import re
from dataclasses import replace
from itertools import count
from typing import get_args

import pytest
from botocore.exceptions import ClientError
from manifests import KEY, OTHER, data
from proxy import Rule

import tagmac
from tagmac import _tagmac
from tagmac.s3.errors import ObjectError
from tagmac.s3.url import Url
from tagmac.spark import listings, places, renaming
from tagmac.spark.auditing import Status
from tagmac.spark.buckets import NameRange, list_range, split_names
from tagmac.spark.items import Item, count_ranges, from_batches, ranges, to_batches
from tagmac.spark.joining import join
from tagmac.spark.keyed import pinned, unit_of
from tagmac.spark.listings import listing_of
from tagmac.spark.merging import MISSING, NEW
from tagmac.spark.places import PlaceError, place
from tagmac.spark.sealing import check_apart
from tagmac.spark.tasks import at_once


class Names:
    """A bucket that is a list of names."""

    def __init__(self, names):
        self.names, self.requests = sorted(names, key=str.encode), 0

    def list_objects_v2(self, Bucket, Prefix="", StartAfter="", MaxKeys=1000):
        self.requests += 1
        found = [name for name in self.names if name.startswith(Prefix) and name > StartAfter]
        contents = [{"Key": name, "ETag": '"e"', "Size": len(name)} for name in found[:MaxKeys]]
        return {"Contents": contents, "IsTruncated": len(found) > MaxKeys}

    def get_paginator(self, _):
        return self

    def paginate(self, Bucket, Prefix, StartAfter=""):
        while True:
            page = self.list_objects_v2(Bucket, Prefix, StartAfter)
            yield page
            if not page["IsTruncated"]:
                return
            StartAfter = page["Contents"][-1]["Key"]


def alphabet(rng, letters, count, length):
    return {
        "".join(rng.choice(letters) for _ in range(rng.randint(1, length))) for _ in range(count)
    }


RNG = random.Random(17)
BUCKETS = {
    "empty": [],
    "one": ["a"],
    "a page": [f"{n:04}" for n in range(1000)],
    "numbers": [f"logs/2026/{n:08}" for n in range(5000)],
    "hashes": [f"{RNG.getrandbits(64):016x}" for _ in range(5000)],
    "folders": [f"d{a}/e{b}/f{c}" for a in range(3) for b in range(40) for c in range(40)],
    "one deep": [f"same/all/the/way/down/{n}" for n in range(3000)],
    "ends of Unicode": alphabet(RNG, "\x01\x7f/\ud7ff\ue000\U0010ffff\U0010fffe a", 5000, 9),
    "bounds as names": [a + b for a in "abcdef" for b in ["", *map(chr, range(33, 127))] for _ in "x"] * 1
    + [f"a{n}" for n in range(3000)] + ["b", "c"],
}  # fmt: skip


@pytest.mark.parametrize("names", BUCKETS.values(), ids=BUCKETS)
@pytest.mark.parametrize("prefix", ["", "logs/", "d1/", "same/"])
@pytest.mark.parametrize("wanted", [1, 2, 16, 100])
def test_ranges_of_names_leave_nothing_out(names, prefix, wanted):
    names = sorted(set(names), key=str.encode)
    bucket, url = Names(names), Url("b", prefix)
    split = split_names(bucket, url, wanted)
    assert bucket.requests <= 8 * wanted + 2
    found = [item.name.decode() for each in split for item in list_range(bucket, url, each)]
    assert found == [name for name in names if name.startswith(prefix) and name != prefix]


def test_ranges_of_names_are_many_where_names_are():
    for which, least in [
        ("hashes", 16),
        ("folders", 12),
        ("numbers", 4),
        ("one deep", 9),
        ("a page", 1),
    ]:
        bucket = Names(BUCKETS[which])
        split = split_names(bucket, Url("b", ""), 16)
        filled = [each for each in split if next(list_range(bucket, Url("b", ""), each), None)]
        assert len(filled) >= least, which


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (["p/a", "q"], "expected names below s3://b/p/, found 'q'"),
        (["a"], "expected names below s3://b/p/, found 'a'"),
        (["p/a", "p/a"], "expected names in byte order, found 'p/a' after 'p/a'"),
        (["p/0"], "expected names after 'p/1', found 'p/0'"),
        (["p/1"], "expected names after 'p/1', found 'p/1'"),
        (["p/2", "p/0"], "expected names in byte order, found 'p/0' after 'p/2'"),
        ([""], "expected names below s3://b/p/, found ''"),
    ],
)
def test_a_listing_of_what_was_not_asked_for_is_refused(keys, line):
    bucket, url = Names([]), Url("b", "p/")
    entries = [{"Key": key, "ETag": "e", "Size": 0} for key in keys]
    bucket.paginate = lambda **_: [{"Contents": entries}]
    with pytest.raises(ObjectError, match=line):
        list(list_range(bucket, url, NameRange("p/1", None)))
    if keys == [""]:
        with pytest.raises(ObjectError, match="expected names below s3://b/, found ''"):
            list(list_range(bucket, Url("b", ""), NameRange("", None)))
        # An entry without a name.
        del entries[0]["Key"]
        with pytest.raises(ObjectError, match=line):
            list(list_range(bucket, url, NameRange("", None)))


def test_a_listing_has_a_limit():
    bucket, url = Names([f"{n:04}" for n in range(100)]), Url("b", "")
    assert len(list(list_range(bucket, url, NameRange("", None), max_objects=100))) == 100
    line = "s3://b/: expected at most 99 objects in the listing, found more; max_objects .--max-objects. raises the limit"
    with pytest.raises(ObjectError, match=line):
        list(list_range(bucket, url, NameRange("", None), max_objects=99))
    # One that never ends, and one of pages without objects.
    bucket.paginate = lambda **_: (
        {"Contents": [{"Key": f"{n:09}", "ETag": "e", "Size": 0}]} for n in count()
    )
    with pytest.raises(ObjectError, match="expected at most 5000 objects in the listing"):
        list(list_range(bucket, url, NameRange("", None), max_objects=5000))
    bucket.paginate = lambda **_: ({"Contents": [], "IsTruncated": True} for _ in count())
    with pytest.raises(ObjectError, match="expected objects in the listing, found pages without"):
        list(list_range(bucket, url, NameRange("", None)))


def test_names_that_are_all_the_same_split_nothing():
    bucket = Names([])
    bucket.list_objects_v2 = lambda **_: {"Contents": [{"Key": "p"}], "IsTruncated": True}
    assert split_names(bucket, Url("b", "p"), 4) == [NameRange("", None)]


@pytest.mark.parametrize("prefix", ["", "p/"])
@pytest.mark.parametrize("entry", [{"Key": ""}, {}, {"Key": "p/"}, {"Key": "a"}, {"Key": "p/a"}])
def test_names_that_were_not_asked_for_split_nothing(prefix, entry):
    """A store answers every request with one and the same name."""
    bucket = Names([])
    bucket.list_objects_v2 = lambda **_: {"Contents": [entry], "IsTruncated": True}
    split = split_names(bucket, Url("b", prefix), 4)
    assert (split[0].after, split[-1].upto) == ("", None)
    assert [each.upto for each in split[:-1]] == [each.after for each in split[1:]]
    if prefix and entry.get("Key") != "p/a":
        assert split == [NameRange("", None)]


def test_a_folder_of_objects_loses_what_it_has_alone(monkeypatch):
    """Whatever the store says that is in it."""

    class Store(Names):
        def __init__(self, answers):
            self.answers, self.deleted = answers, []

        def paginate(self, **_):
            return self.answers

        def delete_object(self, Bucket, Key):
            self.deleted.append((Bucket, Key))

    def removed(answers):
        store = Store(answers)
        monkeypatch.setattr(places, "client", lambda: store)
        try:
            place("s3://b/m").remove_folder("work")
        finally:
            deleted[:] = store.deleted

    def page(*keys):
        return {"Contents": [{"Key": key} for key in keys]}

    deleted = []
    removed([page("m/work/1"), page("m/work/2")])
    assert deleted == [("b", "m/work/1"), ("b", "m/work/2")]
    # Directory buckets list names in no order.
    removed([page("m/work/2", "m/work/1"), page("m/work/0")])
    assert deleted == [("b", "m/work/2"), ("b", "m/work/1"), ("b", "m/work/0")]
    for other in ("m/root", "m/work", "m/work2/1", "", "x", "m/work/../root", "m/work/.."):
        with pytest.raises(PlaceError, match="s3://b/m/work/: expected names below s3://b/m/work/"):
            removed([page("m/work/1", other, "m/work/2")])
        assert deleted == [("b", "m/work/1")]
    with pytest.raises(PlaceError, match="expected names below s3://b/m/work/, found ''"):
        removed([{"Contents": [{}]}])
    assert deleted == []
    # A listing that never ends.
    endless = (page(f"m/work/{n:09}") for n in count())
    monkeypatch.setattr(places, "MAX_REMOVED", 100)
    with pytest.raises(PlaceError, match="expected at most 100 files to remove, found more"):
        removed(endless)
    # What it may not list or delete stays.
    def denied(**_):
        raise ClientError({"Error": {"Code": "AccessDenied"}}, "ListObjectsV2")

    store = Store([])
    store.paginate = denied
    monkeypatch.setattr(places, "client", lambda: store)
    place("s3://b/m").remove_folder("work")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (PlaceError("s3://b/m: expected x"), "s3://b/m: expected x"),
        (OSError("no credentials"), "s3://b/m/.tagmac-list-.*: no credentials"),
        (KeyError("Key"), "s3://b/m/.tagmac-list-.*: 'Key'"),
    ],
)
def test_files_of_a_listing_that_stay_end_nothing(monkeypatch, capsys, error, line):
    """They are litter: a verdict, a root or another error counts."""

    class Stuck(places.Prefix):
        def remove_folder(self, name):
            raise error

    where = Stuck(Url("b", "m/"))
    monkeypatch.setattr(listings, "make_listing", lambda *_: "a listing")
    warning = f"tagmac: warning: {line}: the listing's files stay\n"
    with listing_of(None, Url("b", "p/"), where, None, 1, None) as listing:
        assert listing == "a listing"
    assert re.fullmatch(warning, capsys.readouterr().err)
    with (
        pytest.raises(ZeroDivisionError),
        listing_of(None, Url("b", "p/"), where, None, 1, None),
    ):
        1 // 0  # noqa: B018
    assert re.fullmatch(warning, capsys.readouterr().err)


def test_a_listing_out_of_order_is_refused():
    bucket = Names([])
    bucket.paginate = lambda **_: [
        {"Contents": [{"Key": k, "ETag": "e", "Size": 0} for k in ("b", "a")]}
    ]
    with pytest.raises(
        ObjectError, match="s3://b/: expected names in byte order, found 'a' after 'b'"
    ):
        list(list_range(bucket, Url("b", ""), NameRange("", None)))


def test_sizes_that_cannot_be_are_refused():
    bucket = Names([])
    for size in (-1, 1 << 51):
        bucket.paginate = lambda **_: [{"Contents": [{"Key": "a", "ETag": "e", "Size": size}]}]  # noqa: B023
        with pytest.raises(
            ObjectError, match=f"s3://b/a: expected at most 1125899906842624 bytes, found {size}"
        ):
            list(list_range(bucket, Url("b", ""), NameRange("", None)))


def test_the_marker_of_a_folder_is_left_out():
    found = list_range(Names(["p/", "p/a", "p/b/"]), Url("b", "p/"), NameRange("", None))
    assert [item.name for item in found] == [b"p/a", b"p/b/"]


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
    # Twice, as a task that ran twice would leave them.
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
            "expected one tag, found two: its ranges were read from different",
        ),
        ([items[0], foreign[1], *items[2:]], "key"),
        ([items[0], replace(items[1], partial=renamed[1].partial), *items[2:]], "m"),
        ([items[0], replace(items[1], partial=newer[1].partial), *items[2:]], "w"),
        ([items[0], newer[1], *items[2:]], "expected version v, found w too: it changed"),
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
    assert made.error == "s3://b/n: expected one tag, found two"


@pytest.mark.parametrize("streams", [1, 3])
def test_at_once(streams):
    assert sorted(at_once(lambda n: n * n, iter(range(100)), streams)) == [
        n * n for n in range(100)
    ]
    with pytest.raises(ZeroDivisionError):
        list(at_once(lambda n: 1 // (5 - n), range(100), streams))


def test_a_folder_is_a_place(tmp_path):
    where = place(str(tmp_path / "new"))
    assert where.read("root", 10) is None
    where.write("root", b"one", new=True)
    with pytest.raises(PlaceError, match="root: expected no manifest there, found one"):
        where.write("root", b"two", new=True)
    assert where.read("root", 3) == b"one"
    where.write("root", b"two!")
    with pytest.raises(PlaceError, match="root: expected at most 3 bytes, found more"):
        where.read("root", 3)
    where.write("work/a", b"")
    where.remove("work/a")
    where.remove("work/a")
    where.write("work/b", b"")
    where.remove_folder("work")
    where.remove_folder("work")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["root"]
    (tmp_path / "new/folder").mkdir()
    with pytest.raises(PlaceError, match="expected a regular file"):
        where.read("folder", 10)


def test_a_prefix_is_a_place(s3, bucket):
    where = place(f"s3a://{bucket}/manifest")
    assert where.read("root", 10) is None
    where.write("root", b"one", new=True)
    with pytest.raises(
        PlaceError, match=f"s3://{bucket}/manifest/root: expected no manifest there, found one"
    ):
        where.write("root", b"two", new=True)
    assert where.read("root", 3) == b"one"
    with pytest.raises(PlaceError, match="expected at most 2 bytes, found more"):
        where.read("root", 2)
    where.write("root", b"two")
    where.remove("root")
    assert where.read("root", 3) is None
    for name in ("work/a", "work/b", "work2"):
        where.write(name, b"x")
    where.remove_folder("work")
    left = s3.list_objects_v2(Bucket=bucket, Prefix="manifest/")["Contents"]
    assert [entry["Key"] for entry in left] == ["manifest/work2"]
    with pytest.raises(PlaceError, match="s3://tagmac-no-such/root: .*NoSuchBucket"):
        place("s3://tagmac-no-such").write("root", b"")
    with pytest.raises(ValueError, match="gs://b/p: expected s3://BUCKET/PREFIX or a folder"):
        place("gs://b/p")


MEANWHILE = "root: expected the manifest that was there at the start, found a change"


@pytest.mark.parametrize("kind", ["folder", "prefix"])
def test_a_file_is_replaced_only_if_it_is_the_one_that_was_seen(bucket, tmp_path, kind):
    where = place(str(tmp_path / "m") if kind == "folder" else f"s3://{bucket}/m")
    where.write("root", b"one")
    assert where.has("root") and not where.has("shard")
    where.replace("root", b"two", b"one")
    for data in (b"three", b"a longer one"):
        with pytest.raises(PlaceError, match=MEANWHILE):
            where.replace("root", data, b"one")
    assert where.read("root", 10) == b"two"
    where.remove("root")
    with pytest.raises(PlaceError, match=MEANWHILE):
        where.replace("root", b"three", b"two")
    assert not where.has("root")


def test_a_root_that_changes_while_it_is_replaced(bucket, proxy, s3):
    where = place(f"s3://{bucket}/m")
    where.write("root", b"one")
    other = lambda: s3.put_object(Bucket=bucket, Key="m/root", Body=b"two")  # noqa: E731
    proxy.rules.append(Rule("call", method="PUT", path="/m/root", call=other))
    with pytest.raises(PlaceError, match=MEANWHILE):
        where.replace("root", b"three", b"one")
    assert where.read("root", 10) == b"two"
    # The request arrives, and the answer does not: the next one finds what the first one wrote.
    proxy.rules[:] = [Rule("lose", method="PUT", path="/m/root")]
    where.replace("root", b"three", b"two")
    assert where.read("root", 10) == b"three" and proxy.rules[0].met >= 2


def test_a_manifest_does_not_cover_itself(tmp_path):
    for prefix, where, refused in [
        ("s3://b/p", "s3://b/p/m", True),
        ("s3://b", "s3://b/m", True),
        ("s3://b/p", "s3://b/p2", False),
        ("s3://b/p", "s3://c/p/m", False),
        ("s3://b/p", str(tmp_path), False),
    ]:
        if refused:
            with pytest.raises(ValueError, match="expected a manifest outside of s3://b/"):
                check_apart(Url.parse_prefix(prefix), place(where))
        else:
            check_apart(Url.parse_prefix(prefix), place(where))


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
    with pytest.raises(TypeError, match="expected a KeyRef, .* found a Key"):
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
    assert {"unchanged", *get_args(Status)} == set(_tagmac.STATUSES)


@pytest.mark.parametrize("alg", ["PMAC-AES128", "UMAC-64"])
def test_renamed_objects_of_one_size_are_all_found(monkeypatch, alg):
    key = tagmac.Key.generate(alg)
    bodies = {b"new%02d" % n: b"%02d" % n for n in range(20)} | {b"new99": b"xx"}

    def read(_spark, _ref, work, known, *_):
        """What the job finds, whose rows come in any order."""
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
