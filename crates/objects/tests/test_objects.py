"""The command reads objects: their tags equal those of the same bytes in a file."""

import os
import random

import pytest
from conftest import RANGE, any_name

#: Lengths around the limits of a requested range.
LENGTHS = [0, 1, 1000, RANGE - 1, RANGE, RANGE + 1, 3 * RANGE, 5 * RANGE + 17]


def bytes_of(length: int) -> bytes:
    return random.Random(length).randbytes(length)


@pytest.mark.parametrize("algorithm", ["PMAC-AES128", "LIGHTMAC-AES128-S24", "HMAC-SHA256"])
def test_lengths_around_every_edge(place, algorithm):
    place.run("keygen", "-a", algorithm, "-o", "k2").exits(0)
    for length in LENGTHS:
        body = bytes_of(length)
        url = place.put("o", body)
        place.folder.joinpath("o").write_bytes(body)
        expected = place.run("tag", "-k", "k2", "o").exits(0).out
        found = place.run("tag", "-k", "k2", url).exits(0).out
        assert found == expected.replace("(o)", f"({url})"), length


def test_a_nonce_for_each(place):
    place.run("keygen", "-a", "UMAC-64", "-o", "k2").exits(0)
    urls = [place.put(name, bytes_of(RANGE + 5)) for name in "ab"]
    lines = place.run("tag", "-k", "k2", *urls).exits(0).out
    nonces = {line.split(".n=")[1].split(" ")[0] for line in lines.splitlines()}
    assert len(nonces) == 2
    place.folder.joinpath("LIST").write_text(lines)
    place.run("check", "-k", "k2", "--allow-url", place.url, "LIST").exits(0)


def test_large_objects_are_read_by_ranges_and_small_ones_at_once(place):
    url = place.put("large", bytes_of(4 * RANGE + 1))
    place.proxy.log.clear()
    place.keyed("tag", url).exits(0)
    assert (place.proxy.count("HEAD"), place.proxy.count("GET")) == (1, 5)
    for request in place.proxy.log:
        if request.method == "GET":
            assert "If-Match" in {name.title() for name in request.headers}, request
    url = place.put("small", b"small")
    place.proxy.log.clear()
    place.keyed("tag", "-r", place.url + "small/..").exits(4)
    place.delete("large")
    place.proxy.log.clear()
    place.keyed("tag", "-r", place.url).exits(0).prints(place.line(url, b"small"))
    # One page of the listing, and the object.
    assert (place.proxy.count("HEAD"), place.proxy.count("GET")) == (0, 2)


def test_requests_at_once_are_limited(place):
    url = place.put("large", bytes_of(20 * RANGE))
    for number in ("1", "3"):
        place.proxy.most = 0
        place.keyed("tag", "--num-threads", number, url).exits(0)
        assert place.proxy.most <= int(number)


def test_all_below_a_prefix_in_order_of_their_keys(place):
    bodies = {name: name.encode() * 3 for name in ("a", "b/c", "b-c", "z", "b/d/e")}
    urls = {name: place.put(name, body) for name, body in bodies.items()}
    # The mark of a folder, and an object with a similar name outside the prefix.
    place.s3.put_object(Bucket=place.bucket, Key=place.prefix, Body=b"")
    place.s3.put_object(Bucket=place.bucket, Key=place.prefix[:-1] + "-2/x", Body=b"x")
    expected = [place.line(urls[name], bodies[name]) for name in sorted(bodies)]
    for url in (place.url, place.url.rstrip("/")):
        place.keyed("tag", "-r", url).exits(0).prints("".join(expected))
    lines = place.keyed("tag", "-r", place.url + "b").exits(0).out
    assert lines == "".join(line for line in expected if "/b/" in line)
    alias = place.keyed("tag", "-r", place.url.replace("s3:", "s3a:")).exits(0).out
    assert alias == "".join(expected).replace("s3:", "s3a:")


def test_many_pages_of_a_listing(place):
    names = [f"{number:05}" for number in range(2500)]
    for name in names:
        place.put(name, name.encode())
    lines = place.keyed("tag", "-r", place.url).exits(0).out.splitlines()
    assert len(lines) == len(names)
    assert all(f"/{name}) = " in line for name, line in zip(names, lines, strict=True))
    assert len({line.split(" = ")[1] for line in lines}) == len(names)


NAMES = [
    "a b", "a+b", "a%2Fb", "%", "a?b=c&d", "a#b", "é", "e\u0301", "\U0001f512", "a'b\"c", "a\\b",
    "(a) = b", "-", "a:b", "~", "a;b", "a,b", "a<b>&amp;", "[a]*", "$(a)`b`", "{}", "a|b", "@",
]  # fmt: skip
#: Names that no file can have, or that a file system changes.
ODD = ["a//b", "/a", "a/", "a/./", "\x01\x1f", "a\tb", "\r", "...", ".hidden", " ", "x" * 500, "\x7f"]


def names_are_read(place, names):
    bodies = {name: f"the object {number}".encode() for number, name in enumerate(names)}
    urls = {name: place.put(name, body) for name, body in bodies.items()}
    tags = {name: place.tag(body) for name, body in bodies.items()}
    for name in names:
        out = place.keyed("tag", "--json", urls[name]).exits(0).out
        assert f'"tag":"{tags[name]}"' in out, name
    listed = place.keyed("tag", "-r", "-z", place.url).exits(0).out.split("\0")[:-1]
    expected = [f"PMAC-AES128 ({urls[name]}) = {tags[name]}" for name in names]
    assert listed == sorted(expected, key=str.encode)
    place.folder.joinpath("LIST").write_text(place.keyed("tag", "-r", place.url).exits(0).out)
    place.keyed("check", "--quiet", "--allow-url", place.url, "LIST").exits(0).prints("")


def test_names_with_marks_of_urls_and_of_shells(place):
    names_are_read(place, NAMES)


@any_name
def test_names_that_no_file_has(place):
    names_are_read(place, [name for name in ODD if name != "a/./"])


@any_name
@pytest.mark.parametrize("name", [".", "..", "a/../b", "./a", "a/."])
def test_names_that_no_url_has_are_named(place, name):
    """A client would normalise such a URL to another key."""
    place.put("b", b"another")
    url = place.url + name
    place.keyed("tag", url).exits(4).prints("").says(url, "expected a key without '.' or '..'")


def test_names_that_no_object_has(place):
    place.keyed("tag", b"s3://bucket/\xff").exits(2).says("expected a URL in UTF-8")
    place.keyed("tag", "s3://").exits(2).says("expected s3://BUCKET/KEY")
    place.keyed("tag", f"s3://{place.bucket}").exits(4).says("; -r tags")
    place.keyed("tag", place.url + "none").exits(4).says("no such object; -r tags the objects below")
    place.keyed("tag", "s3://no-such-bucket-here/k").exits(4)
    place.keyed("tag", "-r", "s3://no-such-bucket-here/k").exits(4).says("NoSuchBucket")
    place.keyed("tag", "--checkpoint", "c", place.url + "x").exits(2).says("--checkpoint")


def test_an_empty_prefix(place):
    for args in (["tag", "-r", place.url], ["seal", place.url, "-o", "m"]):
        ran = place.keyed(*args).exits(4).prints("")
        ran.says(place.url, "no objects below this URL")
    assert not place.folder.joinpath("m").exists()


def test_an_object_that_is_missing_does_not_stop_the_others(place):
    one, other = place.put("a", b"a"), place.put("c", b"c")
    ran = place.keyed("tag", one, place.url + "b", other).exits(4)
    ran.prints(place.line(one, b"a") + place.line(other, b"c")).says("/b: no such object")


def test_a_list_makes_no_requests_unless_the_user_allows_them(place):
    lines = "".join(place.line(place.put(name, b"x"), b"x") for name in ("in/a", "in/b", "out"))
    place.folder.joinpath("LIST").write_text(lines)
    place.proxy.log.clear()
    ran = place.keyed("check", "LIST").exits(4)
    ran.says("the list names a URL; use --allow-url")
    assert place.proxy.log == []
    place.keyed("check", "--allow-url", place.url, "LIST").exits(0)
    place.proxy.log.clear()
    ran = place.keyed("check", "--allow-url", place.url + "in", "LIST").exits(4)
    assert ran.out.count(": OK\n") == 2 and "out: FAILED open or read" in ran.out
    assert not place.proxy.count("", "/out")
    # A name with the same beginning belongs to another folder.
    place.keyed("check", "--allow-url", place.url + "i", "LIST").exits(4)
    # A file can be checked together with objects. A wrong tag exits 1, whatever else fails.
    place.put("in/a", b"y")
    place.keyed("check", "--allow-url", place.url + "in", "LIST").exits(1)
    place.delete("in/a")
    ran = place.keyed("check", "--allow-url", place.url, "LIST").exits(1)
    ran.says("/in/a: no such object")


def test_a_raw_tag(place):
    url = place.put("o", b"bytes")
    raw = bytes.fromhex(place.tag(b"bytes"))
    place.folder.joinpath("t").write_bytes(raw)
    place.keyed("check", "--raw-tag", "t", url).exits(0).prints(f"{url}: OK\n")
    place.put("o", b"other")
    place.keyed("check", "--raw-tag", "t", url).exits(1)


def test_parts(place):
    body = bytes_of(3 * RANGE + 100)
    url = place.put("o", body)
    middle = str(RANGE + 1024)
    place.keyed("part", "--start", "0", "--length", middle, url, "-o", "1").exits(0).prints("")
    place.keyed("part", "--start", middle, "--last", url, "-o", "2").exits(0)
    etag = place.s3.head_object(Bucket=place.bucket, Key=place.prefix + "o")["ETag"].strip('"')
    name = f"{place.prefix}o@{etag}"
    expected = place.line(url, body)
    place.keyed("combine", "--object", name, "--name", url, "2", "1").exits(0).prints(expected)
    # A part of another content has another name.
    place.put("o", body[::-1])
    place.keyed("part", "--start", middle, "--last", url, "-o", "3").exits(0)
    place.keyed("combine", "1", "3").exits(1).says("the partial is of", ", not of")


def test_parts_of_a_version(place):
    url = place.put("o", b"first" * 100, versioned=True)
    version = place.s3.head_object(Bucket=place.versioned, Key=place.prefix + "o")["VersionId"]
    place.keyed("part", "--start", "0", "--last", url, "-o", "1").exits(0)
    line = place.keyed("combine", "1").exits(0).out
    assert line.startswith(f"PMAC-AES128 ({place.prefix}o@{version}) = ")


def test_parts_that_are_not_there(place):
    url = place.put("o", b"x" * 100)
    ran = place.keyed("part", "--start", "96", "--length", "16", url, "-o", "p").exits(4)
    ran.says(f"{url}: expected at least 112 bytes, found 100")
    place.keyed("part", "--start", "8", "--last", url, "-o", "p").exits(2).says("--start")
    place.keyed("part", "--start", "0", "--last", "--length", "16", url, "-o", "p").exits(2)
    place.keyed("part", "--start", "0", "--last", url + "none", "-o", "p").exits(4)
    place.keyed("part", "--start", "0", "--last", "k", "-o", "p").exits(2).says("--object")
    assert not place.folder.joinpath("p").exists()


def test_progress_in_objects_and_bytes(place):
    for name in "ab":
        place.put(name, bytes_of(1000))
    ran = place.keyed("tag", "--progress", "json", "-r", place.url)
    last = ran.err.splitlines()[-1]
    assert '"files":2' in last and '"bytes":2000' in last, ran.err


def test_a_file_has_a_path_and_no_url(place):
    for what in (["tag"], ["tag", "-r"], ["seal", "-o", "m"]):
        ran = place.keyed(*what, "file:///etc/hostname").exits(2)
        ran.says("write the file's path instead of its URL")
    ran = place.keyed("check", "--allow-url", "file:///etc", "k").exits(2)


def test_a_part_of_another_place_needs_a_name(place):
    url = place.put("o", bytes_of(2048))
    elsewhere = ["part", "--start", "0", "--at", "512", "--last", url, "-o", "p"]
    place.keyed(*elsewhere).exits(2).says("--at differs from --start")
    place.keyed(*elsewhere, "--object", "half").exits(0)
    # An empty part is allowed, as it is for a file.
    end = ["part", "--object", "e", "--start", "0", "--at", "2048", "--last", url, "-o", "q"]
    place.keyed(*end).exits(0)


def test_no_secret_is_shown(place):
    url = place.put("o", b"x")
    secret = os.environ["AWS_SECRET_ACCESS_KEY"]
    ran = place.keyed("tag", url, place.url + "none", "--progress", "json")
    wrong = place.keyed("tag", url, environment={"AWS_SECRET_ACCESS_KEY": "not-" + secret})
    for text in (ran.out, ran.err, wrong.out, wrong.err):
        assert secret not in text and "Signature" not in text
    for request in place.proxy.log:
        assert secret not in str(request)
