"""Faults of networks and servers: the tag is right, or the message names the fault."""

import random
import re

import pytest
from conftest import RANGE, real_server, unsigned
from proxy import Proxy, Rule

BODY = random.Random(1).randbytes(3 * RANGE + 100)


@pytest.fixture
def large(place):
    """Returns the URL of a large object and its line."""
    url = place.put("large", BODY)
    return url, place.line(url, BODY)


@pytest.mark.parametrize(
    "rule",
    [
        Rule("status", status=503, code="SlowDown", times=3),
        Rule("status", status=500, code="InternalError", times=3),
        Rule("status", status=429, code="TooManyRequests", times=3),
        Rule("refuse", times=3),
        Rule("reset", bytes=100_000, times=3),
        Rule("reset", bytes=0, times=3),
        Rule("short", bytes=RANGE - 1, times=3),
        Rule("short", bytes=0, times=3),
        Rule("trim", bytes=70_000, times=3),
    ],
    ids=lambda rule: f"{rule.fault}-{rule.status if rule.fault == 'status' else rule.bytes}",
)
def test_what_passes_is_tried_again(place, large, rule):
    url, line = large
    rule.method, rule.path = "GET", "/large"
    place.proxy.rules.append(rule)
    place.keyed("tag", url).exits(0).prints(line)
    assert rule.met > rule.times


def ranges(place):
    """Returns the `Range` headers of all requests so far."""
    headers = [
        {name.lower(): value for name, value in request.headers.items()}
        for request in place.proxy.log
    ]
    return [found["range"] for found in headers if "range" in found]


def test_a_body_goes_on_where_it_was_cut(place, large):
    url, line = large
    place.proxy.rules.append(Rule("short", method="GET", range="bytes=0-", bytes=5_000_000))
    place.proxy.log.clear()
    place.keyed("tag", url).exits(0).prints(line)
    starts = [int(re.search(r"\d+", text)[0]) for text in ranges(place)]
    # Not a reset, which also discards data that arrived but was not read yet.
    assert [start for start in starts if start % RANGE] == [5_000_000]


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_what_does_not_pass_is_named(place, method):
    url = place.put("o", b"x")
    place.proxy.rules.append(Rule("status", method=method, path="/o$", times=None))
    place.keyed("tag", url).exits(4).prints("").says(f"{url}: the store is busy (503", "(8 tries)")


def test_a_listing_is_tried_again(place):
    url = place.put("o", b"x")
    place.proxy.rules += [Rule("status", path="list-type", times=2), Rule("reset", path="list-type", bytes=20)]
    place.keyed("tag", "-r", place.url).exits(0).prints(place.line(url, b"x"))


@unsigned
def test_an_answer_of_another_content_is_not_taken(place, large):
    """The server ignores If-Match."""
    url, _ = large
    calls = []

    def change():
        calls.append(len(calls))
        if len(calls) == 3:
            # Runs before the second range is requested.
            place.put("large", BODY[::-1])

    strip = Rule("strip", path="/large", headers=("If-Match",), times=None, call=change)
    place.proxy.rules.append(strip)
    ran = place.keyed("tag", "--num-threads", "1", url).exits(4).prints("")
    ran.says("the object changed while it was read")
    assert len(calls) == 3


@pytest.mark.parametrize("length", [len(BODY), 10, RANGE])
def test_an_object_that_changes_while_it_is_read(place, large, length):
    url, _ = large
    change = Rule("call", method="GET", path="/large", after=1, call=lambda: place.put("large", b"y" * length))
    place.proxy.rules.append(change)
    ran = place.keyed("tag", "--num-threads", "1", url).exits(4).prints("")
    ran.says(f"{url}: the object changed while it was read")


def test_an_object_that_is_deleted_while_it_is_read(place, large):
    url, _ = large
    gone = Rule("call", method="GET", path="/large", after=1, call=lambda: place.delete("large"))
    place.proxy.rules.append(gone)
    ran = place.keyed("tag", "--num-threads", "1", url).exits(4).prints("")
    ran.says(f"{url}: the object was deleted while it was read")


def test_a_version_stays_what_it_is(place):
    url = place.put("o", BODY, versioned=True)
    line = place.line(url, BODY)
    change = Rule("call", method="GET", path="/o", after=1, call=lambda: place.put("o", b"", versioned=True))
    place.proxy.rules.append(change)
    place.keyed("tag", "--num-threads", "1", url).exits(0).prints(line)
    assert place.keyed("tag", url).exits(0).out == place.line(url, b"")


@pytest.mark.parametrize("what", ["another content", "another size", "nothing"])
def test_an_object_that_changes_between_the_listing_and_its_reading(place, what):
    urls = {name: place.put(name, name.encode() * 9) for name in "abc"}

    def change():
        if what == "nothing":
            place.delete("b")
        else:
            place.put("b", b"x" * (9 if what == "another content" else 5))

    rule = Rule("call", method="GET", path="/b$", call=change)
    place.proxy.rules.append(rule)
    ran = place.keyed("tag", "-r", place.url).exits(4)
    ran.prints(place.line(urls["a"], b"a" * 9) + place.line(urls["c"], b"c" * 9))
    ran.says(urls["b"], "no such object" if what == "nothing" else "the object changed")


@real_server
def test_no_permission_on_one_object(place, deny):
    urls = {name: place.put(name, name.encode()) for name in "abc"}
    reader = deny(place.prefix + "b")
    ran = place.keyed("tag", "-r", place.url, environment=reader).exits(4)
    ran.prints(place.line(urls["a"], b"a") + place.line(urls["c"], b"c"))
    ran.says(f"{urls['b']}: the store denies access (403 AccessDenied)")
    ran = place.keyed("seal", place.url, "-o", "m", environment=reader).exits(4)
    ran.says(f"{urls['b']}: the store denies access", "m: not written, as 1 object could not be sealed")
    assert not place.folder.joinpath("m", "root").exists()
    ran = place.keyed("seal", "--skip-unreadable", place.url, "-o", "m", environment=reader).exits(4)
    ran.says("2 objects, 2 bytes, 1 unreadable and left out")


@real_server
def test_wrong_keys_are_refused(place):
    url = place.put("o", b"x")
    ran = place.keyed("tag", url, environment={"AWS_SECRET_ACCESS_KEY": "wrong"}).exits(4)
    ran.prints("").says("the store denies access (403")


def test_a_server_that_is_not_there(place):
    ran = place.keyed("tag", "s3://b/k", environment={"AWS_ENDPOINT_URL": "http://127.0.0.1:1"})
    ran.exits(4).says("s3://b/k: Connection refused (8 tries)")


@pytest.mark.parametrize("body", [b"", b"gone", b"<html></html>", b"<ListBucketResult/>"])
def test_what_is_no_listing_does_not_end_one(place, body):
    for number in range(1001):
        place.put(f"{number:04}", b"")
    place.proxy.rules.append(
        Rule("status", path="continuation-token", status=200, body=body, times=None)
    )
    ran = place.keyed("seal", place.url, "-o", "m").exits(4)
    ran.says(place.url, "the listing: ")
    assert not place.folder.joinpath("m", "root").exists()
    assert not list(place.folder.glob("m/shard-*"))


def test_redirects_are_not_followed(place):
    url = place.put("o", b"x")
    with Proxy(*place.proxy.upstream) as other:
        elsewhere = {"Location": other.url + f"/{place.bucket}/{place.prefix}o"}
        for status in (301, 302, 307, 308):
            rule = Rule("status", method="GET", path="/o$", status=status, answer=elsewhere)
            place.proxy.rules.append(rule)
            ran = place.keyed("tag", url).exits(4).prints("")
            ran.says(f"{url}: the store is elsewhere ({status}")
        assert other.log == []


def test_a_bucket_in_another_region(place):
    url = place.put("o", b"x")
    region = {"x-amz-bucket-region": "eu-north-1"}
    rule = Rule("status", path="/o$", status=301, code="PermanentRedirect", answer=region)
    place.proxy.rules.append(rule)
    place.keyed("tag", url).exits(4).says("the bucket is in the region eu-north-1: set AWS_REGION")


def test_a_key_that_is_longer_than_any(place):
    key = "k" * 4097
    body = (
        "<ListBucketResult><IsTruncated>false</IsTruncated>"
        f"<Contents><Key>{place.prefix}{key}</Key><Size>1</Size></Contents></ListBucketResult>"
    )
    rule = Rule("status", path="list-type", status=200, body=body.encode())
    place.proxy.rules.append(rule)
    place.keyed("tag", "-r", place.url).exits(4).says("a key has more than 4096 bytes")


def test_a_zero_byte_in_a_key_makes_no_line(place):
    key = f"{place.prefix}a%00PMAC-AES128+%28victim%29+%3D+00%00%23"
    body = (
        "<ListBucketResult><IsTruncated>false</IsTruncated><EncodingType>url</EncodingType>"
        f"<Contents><Key>{key}</Key><Size>0</Size><ETag>&quot;e&quot;</ETag></Contents>"
        "</ListBucketResult>"
    )
    answer = {"ETag": '"e"'}
    place.proxy.rules += [
        Rule("status", path="list-type", status=200, body=body.encode(), times=None),
        Rule("status", status=200, body=b"", answer=answer, times=None),
    ]
    place.keyed("tag", "-z", "-r", place.url).exits(4).prints("").says("contains a zero byte")
    # Escaped, it is one line.
    assert len(place.keyed("tag", "-r", place.url).exits(0).out.splitlines()) == 1


def test_a_server_on_this_machine_is_asked_by_no_proxy(place):
    url = place.put("o", b"x")
    with Proxy(*place.proxy.upstream) as other:
        proxies = dict.fromkeys(("http_proxy", "HTTP_PROXY", "ALL_PROXY"), other.url)
        place.keyed("tag", url, environment=proxies).exits(0)
        assert other.log == []


def test_a_root_whose_answer_is_lost_is_there(place):
    # The request arrives, but its answer is lost: for a new root, and for one that replaces
    # another.
    for body in (b"a", b"b"):
        place.put("o/a", body)
        lost = Rule("lose", method="PUT", path="/m/root$")
        place.proxy.rules[:] = [lost]
        place.keyed("seal", place.url + "o", "-o", place.url + "m").exits(0)
        assert lost.met == 2
    place.keyed("audit", place.url + "m", place.url + "o").exits(0)


def test_shards_of_another_root_are_left_alone(place):
    """A run that fails leaves the earlier shards in place."""
    for name in "ab":
        place.put("o/" + name, name.encode())
    place.keyed("seal", place.url + "o", "-o", "m").exits(0)
    before = {file.name: file.read_bytes() for file in place.folder.joinpath("m").iterdir()}
    root = place.folder / "m/root"
    root.write_bytes(before["root"] + b"x")
    rule = Rule("status", method="GET", path="/o/b$", status=403, code="AccessDenied", times=None)
    place.proxy.rules.append(rule)
    place.keyed("seal", place.url + "o", "-o", "m").exits(1).says("cannot continue the old one")
    place.keyed("seal", "--new-chain", place.url + "o", "-o", "m").exits(4)
    root.write_bytes(before["root"])
    place.proxy.rules.clear()
    assert {file.name for file in place.folder.joinpath("m").iterdir()} == set(before)
    place.keyed("audit", "m", place.url + "o").exits(0)


def test_an_archived_object_is_named(place):
    url = place.put("o", b"x")
    rule = Rule("status", method="GET", path="/o$", status=403, code="InvalidObjectState", times=None)
    place.proxy.rules.append(rule)
    place.keyed("tag", url).exits(4).says(f"{url}: the object is archived; restore it before")
    assert rule.met == 1
