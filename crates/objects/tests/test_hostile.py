"""The same lies from each kind of store: the tag is right, or one line describes the problem.

No answer makes the command run forever, exceed its memory limits, follow the store to another host, or
print control characters.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from conftest import COMMAND, Ran
from hostile import BUCKET, MAX_REQUESTS, STORES, Answer, Hostile, Listed, Request
from lies import (
    LARGE,
    PREFIX,
    SMALL,
    archived,
    at_first,
    body,
    chunked,
    denied,
    drip,
    empty_pages,
    endless,
    error,
    flipped,
    flood,
    from_second,
    header,
    headers,
    length,
    loop,
    other_form,
    page,
    raw,
    shifted,
    stream,
    whole,
)


#: Runs a command and writes its peak memory. A process inherits the peak of the one that forked it,
#: so a small process forks here instead of the tests.
MEASURE = """
import os, sys
pid = os.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
_, status, used = os.wait4(pid, 0)
os.write(int(sys.argv[1]), str(used.ru_maxrss).encode())
os._exit(os.waitstatus_to_exitcode(status) & 255)
"""
#: The memory of the command and its libraries, with 32 requests and a page.
MAX_MEMORY = 160 << 20


@pytest.fixture(params=STORES)
def store(request):
    with Hostile(STORES[request.param]) as made:
        made.objects[PREFIX + "a"] = SMALL
        yield made
        assert made.count() <= MAX_REQUESTS, "expected an end"


@pytest.fixture
def run(tmp_path, store):
    """Runs the command with a key. Only the store's variables are set."""
    return runner(tmp_path, store)


def runner(folder, store):
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AWS_", "GOOGLE_", "AZURE_")) and "proxy" not in name.lower()
    }
    clean |= {"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"}
    subprocess.run([COMMAND, "keygen", "-o", "k"], cwd=folder, check=True, capture_output=True)

    def command(what: str, *args: str, environment: dict[str, str] | None = None) -> Ran:
        with tempfile.TemporaryFile() as memory:
            fd = memory.fileno()
            done = subprocess.run(
                [sys.executable, "-S", "-E", "-c", MEASURE, str(fd), COMMAND, what, "-k", "k", *args],
                cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, pass_fds=[fd], check=False,
                env=clean | store.environment() | (environment or {}), timeout=1200,
            )  # fmt: skip
            memory.seek(0)
            command.memory = int(memory.read()) << 10
        assert command.memory < MAX_MEMORY, f"{command.memory >> 20} MiB"
        texts = [text.decode(errors="surrogateescape") for text in (done.stdout, done.stderr)]
        ran = Ran(done.returncode, *texts)
        assert "\x1b" not in ran.out + ran.err and "panic" not in ran.err
        return ran

    command.folder = folder
    return command


def url(store: Hostile, key: str = "") -> str:
    return f"{store.kind.scheme}://{BUCKET}/{PREFIX}{key}"


def tag(run, content: bytes) -> str:
    """Returns the tag of bytes, from a file."""
    run.folder.joinpath("bytes").write_bytes(content)
    return run("tag", "bytes").exits(0).out.split(" = ")[1].strip()


def line(run, store: Hostile, key: str, content: bytes) -> str:
    return f"PMAC-AES128 ({url(store, key)}) = {tag(run, content)}\n"


@dataclass
class Case:
    """A lie and the text expected in the message; empty if the tag is right in the end."""

    name: str
    lie: Callable[[Hostile, Request, Answer], Answer]
    says: str = ""
    #: The maximum number of requests of the kind that is lied to.
    requests: int = MAX_REQUESTS


LAUGHS = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>&b;</Key></Contents></ListBucketResult>"""
NEVER = "the listing: "
ORDER = "the listing is not in byte order of the keys"

LISTINGS = [
    Case("endless", endless, "the listing has more than 2500 objects; --max-objects", 5),
    Case("the-same-page-again", page([Listed(PREFIX + "a", 0)], "t"), "is the token of this page", 3),
    Case("two-pages-in-a-loop", loop, ORDER, 4),
    Case("out-of-order", page([Listed(PREFIX + "b", 0), Listed(PREFIX + "a", 0)]), ORDER, 1),
    Case("one-key-twice", page([Listed(PREFIX + "a", 0), Listed(PREFIX + "a", 0)]), ORDER, 1),
    Case("of-another-prefix", page([Listed("q/a", 0)]), ORDER, 1),
    Case("of-a-prefix-that-begins-alike", page([Listed("p", 0)]), ORDER, 1),
    Case("empty-pages", empty_pages, "too many empty pages in a row", 1100),
    Case("an-empty-page-again", page([], "t"), "is the token of this page", 3),
    Case("a-page-too-long", body(b" " * (17 << 20)), "the answer has more than 16777216 bytes", 1),
    Case("a-page-without-end", stream, "the answer has more than 16777216 bytes", 1),
    Case("too-many-objects", page([Listed(f"{PREFIX}{n:06}", 0) for n in range(11_000)]),
         "a page has more than 10000 objects", 1),
    Case("a-key-too-long", page([Listed(PREFIX + "k" * 5000, 0)]), "a key has more than 4096 bytes", 1),
    Case("an-etag-too-long", page([Listed(PREFIX + "k", 0, '"' + "e" * 2000 + '"')]), NEVER, 1),
    Case("a-token-too-long", page([Listed(PREFIX + "k", 0)], "t" * 10_000), "a token for the next page", 1),
    Case("more-without-a-token", page([Listed(PREFIX + "k", 0)], ""), NEVER, 1),
    Case("no-key", page([Listed("", 0)]), "an object has no key", 1),
    Case("no-size", page([Listed(PREFIX + "k", None)]), "an object has no valid size", 1),
    Case("a-size-below-zero", page([Listed(PREFIX + "k", -1)]), "an object has no valid size", 1),
    Case("a-size-above-all", page([Listed(PREFIX + "k", 1 << 64)]), "an object has no valid size", 1),
    Case("nothing", body(b""), NEVER, 1),
    Case("a-word", body(b"gone"), NEVER, 1),
    Case("json", body(b'{"kind": "storage#objects", "items": []}'), NEVER, 1),
    Case("html", body(b"<html><body>Sign in</body></html>"), NEVER, 1),
    Case("bytes", body(bytes(range(256)) * 8), "invalid utf-8", 1),
    Case("controls", body(b"\x1b[2J<a/>"), NEVER, 1),
    Case("cut-off", lambda s, r, a: replace(a, body=a.body[:-9]), NEVER, 1),
    Case("twice", lambda s, r, a: replace(a, body=a.body * 2), NEVER, 1),
    Case("deep", body(b"<a>" * 100_000), NEVER, 1),
    Case("entities", body(LAUGHS), NEVER, 1),
    Case("of-another-store", other_form, NEVER, 1),
    Case("no-content", body(b"", 204), NEVER, 1),
    Case("not-modified", body(b"", 304), "the store is elsewhere (304)", 1),
    Case("denied", denied("AccessDenied"), "the store denies access (403 AccessDenied)", 1),
    Case("denied-with-controls", denied("\x1b[2J"), "the store denies access (403)", 1),
    Case("busy-and-then-not", at_first(2, body(b"", 503)), "", 3),
    Case("shorter-than-it-says", at_first(1, length(9)), "", 2),
    Case("reset", at_first(1, lambda s, r, a: replace(a, cut=20, reset=True)), "", 2),
    Case("1xx-flood", flood, "", 1),
    Case("headers", at_first(1, headers), "", 2),
    Case("no-http", at_first(1, raw(b"220 smtp.example.org\r\n")), "", 2),
    Case("half-an-answer", at_first(1, raw(b"HTTP/1.1 200")), "", 2),
]  # fmt: skip


@pytest.mark.parametrize("case", LISTINGS, ids=lambda case: case.name)
def test_listings(store, run, case):
    store.on["LIST"] = lambda request, answer: case.lie(store, request, answer)
    limit = ["--max-objects", "2500"] if case.name == "endless" else []
    ran = run("tag", *limit, "-r", url(store))
    assert store.count("LIST") <= case.requests
    if not case.says:
        ran.exits(0).prints(line(run, store, "a", SMALL))
        return
    ran.exits(4).says(case.says)
    assert len(ran.err) < 200_000
    # A listing with an error is never sealed.
    run("seal", *limit, url(store), "-o", "m").exits(4)
    assert not run.folder.joinpath("m", "root").exists()


CHANGED = "the object changed while it was read"
NO_RANGES = "not support range requests"

#: Lies about a small object, in answers to GET.
SMALL_GETS = [
    Case("longer", lambda s, r, a: replace(a, body=a.body + b"x"), NO_RANGES, 1),
    Case("much-longer", lambda s, r, a: replace(a, body=a.body * 100_000), NO_RANGES, 1),
    Case("longer-than-it-says", lambda s, r, a: replace(a, body=a.body + b"HTTP/1.1 200 X\r\n\r\n", length=len(a.body)), ""),
    Case("shorter-at-first", at_first(2, lambda s, r, a: replace(a, cut=5, length=len(a.body))), "", 3),
    Case("reset-at-first", at_first(2, lambda s, r, a: replace(a, cut=5, reset=True)), "", 3),
    Case("another-etag", header("ETag", '"other"'), CHANGED, 1),
    Case("no-etag", header("ETag", None), CHANGED, 1),
    Case("an-etag-of-bytes", header("ETag", '"\xff\xfe"'), CHANGED, 1),
    Case("another-size", header("Content-Range", f"bytes 0-{len(SMALL) - 1}/999"), CHANGED, 1),
    Case("another-place", header("Content-Range", f"bytes 5-{len(SMALL) + 4}/{len(SMALL)}"), NO_RANGES, 1),
    Case("no-place", header("Content-Range", None), "no valid Content-Range header", 1),
    Case("no-number", header("Content-Range", "bytes x-y/z"), "no valid Content-Range header", 1),
    Case("a-huge-number", header("Content-Range", f"bytes 0-1/{1 << 70}"), "no valid Content-Range header", 1),
    Case("gone", error(404), "no such object", 1),
    Case("another-since", error(412), CHANGED, 1),
    Case("no-such-range", error(416), CHANGED, 1),
    Case("denied", error(403, "AccessDenied"), "the store denies access (403 AccessDenied)", 1),
    Case("denied-with-controls", error(401, "\x1b[2J"), "the store denies access (401)", 1),
    Case("archived", archived, "the object is archived; restore it before reading it", 1),
    Case("a-teapot", error(418, "\x1b[2J"), "the store refuses the request (418)", 1),
    Case("busy-at-first", at_first(2, error(503, "SlowDown")), "", 3),
    Case("1xx-flood", flood, "", 1),
    Case("drip", drip, "", 1),
    Case("chunked", chunked, "", 1),
]  # fmt: skip


@pytest.mark.parametrize("case", SMALL_GETS, ids=lambda case: case.name)
def test_objects(store, run, case):
    store.on["GET"] = lambda request, answer: case.lie(store, request, answer)
    ran = run("tag", url(store, "a"))
    assert store.count("GET") <= case.requests
    if case.says:
        ran.exits(4).prints("").says(f"{url(store, 'a')}: ", case.says)
        assert len(ran.err) < 1000
    else:
        ran.exits(0).prints(line(run, store, "a", SMALL))


HEADS = [
    Case("smaller", lambda s, r, a: replace(a, length=5), CHANGED),
    Case("larger", lambda s, r, a: replace(a, length=1 << 40), CHANGED),
    Case("no-length", lambda s, r, a: replace(a, length=False), "no valid Content-Length header"),
    Case("gone", lambda s, r, a: Answer(404), "no such object"),
    Case("denied", lambda s, r, a: Answer(403), "the store denies access (403)"),
    Case("elsewhere", lambda s, r, a: Answer(301), "the store is elsewhere (301)"),
    Case("1xx-flood", flood, "right"),
]


@pytest.mark.parametrize("case", HEADS, ids=lambda case: case.name)
def test_what_is_known_of_an_object(store, run, case):
    store.on["HEAD"] = lambda request, answer: case.lie(store, request, answer)
    ran = run("tag", url(store, "a"))
    if case.says == "right":
        ran.exits(0).prints(line(run, store, "a", SMALL))
    else:
        ran.exits(4).prints("").says(f"{url(store, 'a')}: ", case.says)


LARGE_GETS = [
    Case("honest", lambda s, r, a: a, ""),
    Case("elsewhere-in-it", from_second(shifted(-4096)), NO_RANGES),
    Case("all-of-it", whole, NO_RANGES),
    Case("another-since", from_second(header("ETag", '"other"')), CHANGED),
    Case("deleted", from_second(error(404)), "deleted while it was read"),
    Case("cut-off-at-first", at_first(3, lambda s, r, a: replace(a, cut=100_000)), ""),
]


@pytest.mark.parametrize("case", LARGE_GETS, ids=lambda case: case.name)
def test_large_objects(store, run, case):
    store.objects[PREFIX + "large"] = LARGE
    store.on["GET"] = lambda request, answer: case.lie(store, request, answer)
    ran = run("tag", "--num-threads", "1", url(store, "large"))
    if case.says:
        ran.exits(4).prints("").says(case.says)
    else:
        ran.exits(0).prints(line(run, store, "large", LARGE))


@pytest.mark.parametrize("etag", [None, 'W/"e"'])
def test_without_a_strong_etag_a_large_object_is_refused(store, run, etag):
    store.objects[PREFIX + "large"] = LARGE
    def lie(store, request, answer):
        # A generation would also bind the requests to one content.
        return header("x-goog-generation", None)(store, request, header("ETag", etag)(store, request, answer))

    store.on = dict.fromkeys(("HEAD", "GET"), lambda request, answer: lie(store, request, answer))
    run("tag", url(store, "large")).exits(4).prints("").says("the store sent no strong ETag")


@pytest.mark.parametrize("kind", ["LIST", "HEAD", "GET"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(store, run, kind, status):
    with Hostile(store.kind) as other:
        other.objects = dict(store.objects)
        elsewhere = {"Location": f"{other.url}/{BUCKET}/{PREFIX}a"}
        store.on[kind] = lambda request, answer: Answer(status, elsewhere)
        args = ["-r", url(store)] if kind == "LIST" else [url(store, "a")]
        run("tag", *args).exits(4).prints("").says(f"the store is elsewhere ({status})")
        assert store.count(kind) == 1 and other.log == []


def test_an_object_that_is_not_what_was_tagged(store, run):
    run.folder.joinpath("LIST").write_text(line(run, store, "a", SMALL))
    allowed = ["--allow-url", url(store), "LIST"]
    run("check", *allowed).exits(0)
    store.on["GET"] = lambda request, answer: flipped(store, request, answer)
    run("check", *allowed).exits(1)


def test_names_with_controls_are_escaped(store, run):
    keys = ("\x7f[2J", "\u009b2J", "c\u202ed")
    for key in keys:
        store.objects[PREFIX + key] = b""
    store.on["GET"] = lambda request, answer: Answer(403)
    ran = run("tag", "-r", url(store)).exits(4).prints("")
    assert len(ran.err.splitlines()) == 4
    assert not set(ran.err) & {"\x7f", "\u009b", "\u202e"}


def manifest(store, run) -> str:
    """Seals a manifest in the store, of the objects in it."""
    where = f"{store.kind.scheme}://{BUCKET}/m"
    run("seal", url(store), "-o", where).exits(0)
    run("audit", where, url(store)).exits(0)
    return where


def test_manifests(store, run):
    where = manifest(store, run)
    run("seal", url(store), "-o", where).exits(0)
    store.objects[PREFIX + "a"] = b"other"
    run("audit", where, url(store)).exits(1)


@pytest.mark.parametrize("size", [1 << 40, (64 << 20) + 1])
def test_a_root_of_any_size_takes_no_memory(store, run, size):
    where = manifest(store, run)
    store.on["HEAD"] = lambda request, answer: replace(answer, length=size)
    run("audit", where, url(store)).exits(1).says("longer than 67108864 bytes")


def test_a_root_that_goes_on_is_cut_off(store, run):
    where = manifest(store, run)
    store.on["GET"] = lambda request, answer: stream(store, request, answer)
    run("audit", where, url(store)).exits(4)
    assert store.count("GET") < 10


def test_plain_http_is_for_this_machine(store, run):
    for endpoint in ("http://192.0.2.1", "http://store.example.org:9000"):
        there = {store.kind.endpoint: endpoint, store.kind.allow_http: "false"}
        ran = run("tag", url(store, "a"), environment=there).exits(2).prints("")
        ran.says(f"{store.kind.endpoint}: expected https://, or {store.kind.allow_http}=true")
    with_user = {store.kind.endpoint: "https://user:hunter2@store.example.org"}
    ran = run("tag", url(store, "a"), environment=with_user).exits(2).says("must not contain '@'")
    assert "hunter2" not in ran.err


def test_a_store_on_this_machine_is_asked_by_no_proxy(store, run):
    with Hostile(store.kind) as proxy:
        names = ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy")
        run("tag", url(store, "a"), environment=dict.fromkeys(names, proxy.url)).exits(0)
        assert proxy.log == []


def test_what_no_url_can_ask_for_is_refused(store, run):
    for key in (".", "..", "b/../a", "./a"):
        ran = run("tag", url(store, key)).exits(4).prints("")
        ran.says("expected a key without '.' or '..' between slashes")
    assert store.count() == 0


def test_keys_come_as_they_are(store, run):
    for key in ("b//c", "b/", "d%2Fe", "d e+f", "é", "g?h=i&j", "k#l"):
        store.objects[PREFIX + key] = key.encode()
    expected = [
        line(run, store, key.removeprefix(PREFIX), content)
        for key, content in sorted(store.objects.items(), key=lambda item: item[0].encode())
    ]
    run("tag", "-r", url(store)).exits(0).prints("".join(expected))


@pytest.mark.parametrize("algorithm", ["HMAC-SHA256", "CMAC-AES128"])
def test_a_large_object_takes_little_memory(store, run, algorithm):
    """A MAC that needs its ranges in order keeps them in memory until their turn."""
    key = run.folder / "k"
    key.unlink()
    subprocess.run([COMMAND, "keygen", "-a", algorithm, "-o", key], check=True, capture_output=True)
    store.objects[PREFIX + "large"] = LARGE
    assert run("tag", url(store, "large")).exits(0).out.split(" = ")[1].strip() == tag(run, LARGE)
    store.objects[PREFIX + "huge"] = bytes(128 << 20)
    run("tag", url(store, "huge")).exits(0)
    assert run.memory < 100 << 20


@pytest.mark.parametrize("is_there", [False, True])
def test_a_root_that_another_run_wrote_meanwhile_stays(store, run, is_there):
    where = manifest(store, run) if is_there else f"{store.kind.scheme}://{BUCKET}/m"
    # Another run writes the root just before this run does.
    store.honest, honest = lambda request, body: foreign(request, body), store.honest

    def foreign(request, body):
        if request.kind == "PUT" and request.key == "m/root":
            store.objects["m/root"] = b"another run's"
        return honest(request, body)

    store.objects[PREFIX + "b"] = b"more"
    run("seal", url(store), "-o", where).exits(4).says("m/root: the manifest ")
    assert store.objects["m/root"] == b"another run's"
