"""Buckets are sealed and audited every night: chains, carried objects, filters, lists and parts."""

import shutil

import pytest
from conftest import any_name
from proxy import Rule
from test_manifest import FORMATS, entries

OBJECTS = {"a": b"a", "b/c": b"", "b-c": b"x" * 1000, "d.tmp": b"tmp", "z": b"z"}


@pytest.fixture
def nightly(place):
    """Returns a place with objects."""
    for name, body in OBJECTS.items():
        place.put("o/" + name, body)
    return place


def seal(place, *options, output="m"):
    return place.keyed("seal", place.url + "o", "-o", output, *options)


def audit(place, *options, manifest="m"):
    return place.keyed("audit", *options, manifest, place.url + "o")


def gets(place):
    """Returns the number of requests for objects so far."""
    return place.proxy.count(method="GET", path=f"{place.prefix}o/")


def header(place, name="m"):
    """Returns the lines of a root between the key and the records."""
    lines = place.folder.joinpath(name, "root").read_text().splitlines()
    return lines[4 : next(i for i, line in enumerate(lines) if "\t" in line)]


def test_a_chain(nightly):
    seal(nightly).exits(0)
    first = header(nightly)
    assert first[0] == "options: none" and first[2:] == ["first: -", "links: 0", "filters: 0"]
    number, day = first[1].removeprefix("sequence: ").split(" ")
    assert number == "1"
    audit(nightly, "--pin", "pin").exits(0)
    old = nightly.folder.joinpath("m/root").read_bytes()
    old_seal = old.decode().split("seal: ")[1].strip()
    audit(nightly, "--expect", old_seal).exits(0)
    seal(nightly).exits(0)
    second = header(nightly)
    assert second[1].startswith("sequence: 2 ")
    assert second[2:5] == [f"first: {old_seal}", "links: 1", f"1 {day} {old_seal}"]
    audit(nightly, "--expect", old_seal).exits(1).prints("")
    audit(nightly, "--pin", "pin").exits(0)
    # The old root names the same shard, and is refused: it is older than the pinned one.
    shutil.copytree(nightly.folder / "m", nightly.folder / "new")
    nightly.folder.joinpath("m/root").write_bytes(old)
    audit(nightly).exits(0)
    audit(nightly, "--pin", "pin").exits(1).prints("")
    # A fork has the same number.
    nightly.put("o/a", b"b")
    seal(nightly).exits(0)
    audit(nightly, "--pin", "pin").exits(1).prints("")
    nightly.put("o/a", b"a")
    audit(nightly, "--pin", "pin", manifest="new").exits(0)
    seal(nightly, "--new-chain").exits(0)
    assert header(nightly)[2] == "first: -"
    audit(nightly, "--pin", "pin").exits(1).prints("")


def test_a_manifest_that_cannot_be_continued(nightly):
    seal(nightly).exits(0)
    root = nightly.folder / "m/root"
    root.write_bytes(root.read_bytes().replace(b"entries: 5", b"entries: 6"))
    ran = seal(nightly).exits(1)
    ran.says("the new manifest cannot continue the old one: m/root: the seal does not match")
    seal(nightly, "--new-chain").exits(0)
    audit(nightly).exits(0)
    nightly.run("keygen", "-o", "k2").exits(0)
    nightly.run("seal", "-k", "k2", nightly.url + "o", "-o", "m").exits(3)


@pytest.mark.parametrize("where", ["folder", "bucket"])
def test_what_shows_no_change_is_not_read(nightly, where):
    place = nightly
    old = "m" if where == "folder" else place.url + "m"
    seal(place, output=old).exits(0)
    before = gets(place)
    ran = seal(place, "--since", old, output=old).exits(0)
    ran.says(f"sealed in {old}: 5 objects, 1005 bytes, 5 not read, as they show no change\n")
    assert gets(place) == before
    audit(place, manifest=old).exits(0).says("5 unchanged")
    place.put("o/a", b"b")
    place.put("o/new", b"new")
    place.delete("o/z")
    before = gets(place)
    seal(place, "--since", old).exits(0).says("3 not read, as they show no change")
    assert gets(place) == before + 2
    audit(place).exits(0).says("5 unchanged, 0 changed, 0 new, 0 missing, 0 renamed")
    # Reading everything gives the same entries, except for the day.
    seal(place, output="full").exits(0)
    [one, other] = [entries(place.folder / name) for name in ("m", "full")]
    assert [line[:3] + line[4:] for line in one] == [line[:3] + line[4:] for line in other]
    # The new place continues the chain of the old one.
    assert header(place)[1].startswith("sequence: 3 ")


def test_carried_objects_keep_their_day_and_nonce(nightly):
    place = nightly
    place.run("keygen", "-a", "UMAC-64", "-o", "k2").exits(0)
    seal = ("seal", "-k", "k2", place.url + "o", "-o", "m")
    place.run(*seal).exits(0)
    before = entries(place.folder / "m")
    place.put("o/a", b"b")
    place.run(*seal, "--since", "m").exits(0).says("4 not read")
    after = entries(place.folder / "m")
    assert [one[-1] for one in before] == [one[-1] for one in after]
    assert [one == other for one, other in zip(before, after, strict=True)] == [False, *[True] * 4]
    place.run("audit", "-k", "k2", "m", place.url + "o").exits(0)


def test_what_has_no_etag_has_no_stamp(nightly):
    place = nightly
    page = place.s3.list_objects_v2(Bucket=place.bucket, Prefix=place.prefix + "o/")
    keys = "".join(
        f"<Contents><Key>{each['Key']}</Key><Size>{each['Size']}</Size></Contents>"
        for each in page["Contents"]
    )
    body = f"<ListBucketResult><IsTruncated>false</IsTruncated>{keys}</ListBucketResult>"
    listing = Rule("status", path="list-type", status=200, body=body.encode(), times=None)
    place.proxy.rules.append(listing)
    seal(place).exits(0)
    assert [one[4] for one in entries(place.folder / "m")] == ["-"] * 5
    before = gets(place)
    seal(place, "--since", "m").exits(0).says("5 objects, 1005 bytes\n")
    assert gets(place) == before + 5
    audit(place, "--quick").exits(0).says("5 not read")


def test_the_manifest_of_since_is_checked(nightly):
    place = nightly
    seal(place, output="old").exits(0)
    (shard,) = place.folder.joinpath("old").glob("shard-*")
    text = shard.read_bytes()
    shard.write_bytes(text.replace(b"\tz\n", b"\ty\n"))
    seal(place, "--since", "old").exits(1).says(f"old/{shard.name}: the seal does not match")
    assert not place.folder.joinpath("m/root").exists()
    shard.write_bytes(text)
    place.run("keygen", "-o", "k2").exits(0)
    place.run("seal", "-k", "k2", place.url + "o", "-o", "m", "--since", "old").exits(3)
    seal(place, "--since", "none").exits(4).says("none/root: the manifest has no root")
    shutil.copy(FORMATS / "PMAC-AES128/k", place.folder / "k")
    place.folder.joinpath("k").chmod(0o600)
    ran = seal(place, "--since", str(FORMATS / "PMAC-AES128/bucket")).exits(0)
    ran.says("the manifest has version 1, which records no stamps: every object is read")
    assert header(place)[1].startswith("sequence: 1 ") and "first: -" not in header(place)


def test_filters_are_sealed_and_applied(nightly):
    place = nightly
    filters = ("--exclude", "*.tmp", "--exclude", "b/", "--exclude", "none")
    ran = seal(place, *filters).exits(0)
    ran.says("3 objects, 1002 bytes, 2 left out by the filters", "the pattern 'none' matched nothing")
    assert header(place)[-4:] == ["filters: 3", "*.tmp", "b/", "none"]
    place.put("o/new.tmp", b"x")
    audit(place).exits(0).says("3 unchanged, 0 changed, 0 new", "3 left out")
    place.put("o/new", b"x")
    audit(place).exits(1).prints("new: new\n")
    place.folder.joinpath("patterns").write_text("# comment\n*\n")
    ran = seal(place, "--exclude-from", "patterns", "--include", "z").exits(0)
    ran.says("1 object, 1 byte, 6 left out")
    seal(place, "--exclude", "!z").exits(2)


def test_lists_are_looked_up(nightly):
    place = nightly
    place.folder.joinpath("list").write_text("z\nb/c\nz\n")
    seal(place, "--files-from", "list").exits(0).says("2 objects, 1 byte\n")
    assert header(place)[0] == "options: listed"
    # Objects that are not in the list are not new.
    audit(place).exits(0).says("2 unchanged, 0 changed, 0 new")
    assert not place.proxy.count(path="list-type")
    place.delete("o/z")
    audit(place).exits(1).prints("z: missing\n")
    ran = seal(place, "--files-from", "list").exits(4)
    ran.says("o/z: no such object", "as 1 object could not be sealed")
    seal(place, "--files-from", "list", "--skip-unreadable").exits(4).says("1 object, 0 bytes")
    seal(place, "--files-from", "list", "--exclude", "x").exits(2).says("no filter can be used")
    place.folder.joinpath("list").write_bytes(b"\xff\n")
    seal(place, "--files-from", "list").exits(2).says("the name is not valid UTF-8")


def test_lists_and_since(nightly):
    place = nightly
    place.folder.joinpath("list").write_bytes(b"z\0a\0")
    listed = ("--files-from", "list", "-0")
    seal(place, *listed).exits(0)
    before = gets(place)
    seal(place, *listed, "--since", "m").exits(0).says("2 not read, as they show no change")
    assert gets(place) == before


def test_paths(nightly):
    place = nightly
    seal(place).exits(0)
    place.put("o/b/c", b"longer")
    place.put("o/b/new", b"new")
    place.put("o/z", b"y")
    place.keyed("audit", "m", place.url + "o", "b/").exits(1).prints(
        "b/c: changed: size: expected 0, found 6\n"
    )
    place.keyed("audit", "m", place.url + "o", "a", "d.tmp").exits(0).says("2 unchanged")
    ran = place.keyed("audit", "m", place.url + "o", "a", "b/new").exits(2)
    ran.says("b/new: the manifest has no entry with this path")


def test_quick_audits_read_nothing(nightly):
    place = nightly
    seal(place).exits(0)
    before = gets(place)
    ran = audit(place, "--quick").exits(0).prints("")
    ran.says("5 not read", "a change that keeps size and ETag is not seen")
    place.put("o/z", b"y")
    ran = audit(place, "--quick").exits(1)
    assert ran.out.startswith('z: changed: version: expected "') and ran.out.count("\n") == 1
    assert gets(place) == before


def test_parts_of_an_audit(nightly):
    place = nightly
    for number in range(40):
        place.put(f"o/{number:02}", b"x" * number)
    seal(place).exits(0)
    before, read = gets(place), 0
    for part in range(1, 4):
        ran = audit(place, "--subset", f"{part}/3", "--ledger", "ledger").exits(0)
        count = int(ran.err.split("read ")[1].split(" ")[0])
        read += count
        ran.says(f"{count} unchanged" if part else "", f"{45 - count} not read")
    assert read == 45 and gets(place) == before + 45
    # The seal has read each object today, and so have the audits.
    audit(place, "--max-bytes", "100", "--ledger", "ledger", "--oldest-first").exits(0)
    place.put("o/z", b"y")
    ran = audit(place, "--sample", "0%").exits(1)
    assert ran.out.startswith("z: changed: version: ")


def test_archived_objects(nightly):
    place = nightly
    archived = Rule(
        "status", method="GET", path="/o/z$", status=403, code="InvalidObjectState", times=None
    )
    place.proxy.rules.append(archived)
    ran = seal(place).exits(0)
    ran.says("5 objects, 1005 bytes, 1 archived and not read")
    assert entries(place.folder / "m")[-1][1:4] == ["-", "-", "-"]
    # The listing shows no archive, so the object may have been restored.
    audit(place).exits(0).prints("").says("4 unchanged, 0 changed, 0 new", "1 not read")
    # A seal reads it as soon as it can.
    seal(place, "--since", "m").exits(0).says("4 not read, as they show no change, 1 archived")
    place.proxy.rules.clear()
    seal(place, "--since", "m").exits(0).says("4 not read, as they show no change\n")
    audit(place).exits(0).says("5 unchanged")
    # Archived after it was sealed.
    place.proxy.rules.append(archived)
    audit(place).exits(0).prints("").says("4 unchanged", "1 archived")
    audit(place, "--json").exits(0).says()
    place.put("o/z", b"longer")
    audit(place).exits(1).prints("z: changed: size: expected 1, found 6\n")


@any_name
def test_listings_tell_what_is_archived(nightly):
    place = nightly
    key = place.prefix + "o/z"
    place.s3.put_object(Bucket=place.bucket, Key=key, Body=b"z", StorageClass="GLACIER")
    seal(place).exits(0).says("1 archived and not read")
    audit(place).exits(0).prints("").says("4 unchanged, 0 changed", "1 archived")
    before = gets(place)
    seal(place, "--since", "m").exits(0).says("1 archived and not read")
    assert gets(place) == before
    place.s3.put_object(Bucket=place.bucket, Key=key, Body=b"y", StorageClass="GLACIER")
    ran = audit(place).exits(1)
    assert ran.out.startswith("z: changed: version: expected ")


def test_manifests_without_their_objects(nightly):
    seal(nightly).exits(0)
    shutil.copytree(nightly.folder / "m", nightly.folder / "old")
    nightly.put("o/a", b"other")
    nightly.put("o/new", b"new")
    nightly.delete("o/d.tmp")
    seal(nightly).exits(0)
    before = gets(nightly)
    seals = [line.split()[2] for line in nightly.keyed("manifest", "log", "m").exits(0).out.splitlines()]
    root = nightly.folder.joinpath("m/root").read_text()
    assert seals == [root.split("seal: ")[1].strip(), header(nightly)[2].removeprefix("first: ")]
    diff = nightly.keyed("manifest", "diff", "old", "m").exits(1)
    diff.prints("a: changed: size: expected 1, found 5\nnew: new\nd.tmp: missing\n")
    diff.says("the second manifest follows the first one directly")
    cat = nightly.keyed("manifest", "cat", "m", "b", "z").exits(0).out
    assert [line.split("\t")[-1] for line in cat.splitlines()] == ["b/c", "z"]
    assert gets(nightly) == before


def test_a_report_and_metrics(nightly):
    seal(nightly).exits(0)
    nightly.put("o/<b>", b"new")
    audit(nightly, "--report", "r.html", "--metrics", "x.prom").exits(1)
    page = nightly.folder.joinpath("r.html").read_text()
    assert "<h1>1 entry differs from the manifest</h1>" in page and "&lt;b&gt;" in page
    assert "tagmac_audit_success{" in nightly.folder.joinpath("x.prom").read_text()
