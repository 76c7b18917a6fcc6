"""Listings, how they are split into ranges of names, and listings that are refused."""

import random
import re
from itertools import count

import pytest

from tagmac.s3.errors import ObjectError
from tagmac.s3.url import Url
from tagmac.spark import listings, places
from tagmac.spark.buckets import NameRange, list_range, split_names
from tagmac.spark.listings import listing_of
from tagmac.spark.places import PlaceError


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
    line = "s3://b/: the listing has more than 99 objects; max_objects .--max-objects. raises the limit"
    with pytest.raises(ObjectError, match=line):
        list(list_range(bucket, url, NameRange("", None), max_objects=99))
    # An endless listing, and one of empty pages.
    bucket.paginate = lambda **_: (
        {"Contents": [{"Key": f"{n:09}", "ETag": "e", "Size": 0}]} for n in count()
    )
    with pytest.raises(ObjectError, match="the listing has more than 5000 objects"):
        list(list_range(bucket, url, NameRange("", None), max_objects=5000))
    bucket.paginate = lambda **_: ({"Contents": [], "IsTruncated": True} for _ in count())
    with pytest.raises(ObjectError, match="the listing has over .* empty pages in a row"):
        list(list_range(bucket, url, NameRange("", None)))


def test_names_that_are_all_the_same_split_nothing():
    bucket = Names([])
    bucket.list_objects_v2 = lambda **_: {"Contents": [{"Key": "p"}], "IsTruncated": True}
    assert split_names(bucket, Url("b", "p"), 4) == [NameRange("", None)]


@pytest.mark.parametrize("prefix", ["", "p/"])
@pytest.mark.parametrize("entry", [{"Key": ""}, {}, {"Key": "p/"}, {"Key": "a"}, {"Key": "p/a"}])
def test_names_that_were_not_asked_for_split_nothing(prefix, entry):
    """A store answers every request with the same name."""
    bucket = Names([])
    bucket.list_objects_v2 = lambda **_: {"Contents": [entry], "IsTruncated": True}
    split = split_names(bucket, Url("b", prefix), 4)
    assert (split[0].after, split[-1].upto) == ("", None)
    assert [each.upto for each in split[:-1]] == [each.after for each in split[1:]]
    if prefix and entry.get("Key") != "p/a":
        assert split == [NameRange("", None)]


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (PlaceError("s3://b/m: expected x"), "s3://b/m: expected x"),
        (OSError("no credentials"), "s3://b/m/.tagmac-list-.*: no credentials"),
        (KeyError("Key"), "s3://b/m/.tagmac-list-.*: 'Key'"),
    ],
)
def test_files_of_a_listing_that_stay_end_nothing(monkeypatch, capsys, error, line):
    """The files are litter: a verdict, a root or another error takes precedence."""

    class Stuck(places.Prefix):
        def remove_folder(self, name):
            raise error

    where = Stuck(Url("b", "m/"))
    monkeypatch.setattr(listings, "make_listing", lambda *_: "a listing")
    warning = f"tagmac: warning: {line}: the listing's files were not deleted\n"
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
