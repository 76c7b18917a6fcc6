"""Objects are sealed and audited, with the manifest in a folder or in a bucket."""

import os
import shutil
from pathlib import Path

import pytest
from conftest import RANGE, any_name
from proxy import Rule

FORMATS = Path(__file__).resolve().parents[3] / "vectors/formats"

OBJECTS = {"a": b"a", "b/c": b"", "b-c": b"x" * 1000, "large": b"l" * (RANGE + 1), "z": b"z"}


@pytest.fixture(params=["folder", "bucket"])
def sealed(place, request):
    """Returns a place with sealed objects and the location of their manifest."""
    for name, body in OBJECTS.items():
        place.put("o/" + name, body)
    manifest = "m" if request.param == "folder" else place.url + "m"
    ran = place.keyed("seal", place.url + "o", "-o", manifest).exits(0).prints("")
    size = sum(map(len, OBJECTS.values()))
    ran.says(f"tagmac: sealed in {manifest}: 5 objects, {size} bytes\n")
    return place, manifest


def audit(sealed, *options):
    place, manifest = sealed
    return place.keyed("audit", *options, manifest, place.url + "o/")


def test_nothing_changed(sealed):
    audit(sealed).exits(0).prints("").says("5 unchanged, 0 changed, 0 new, 0 missing, 0 renamed")
    audit(sealed, "--quiet").exits(0).prints("")


def test_each_difference_is_found(sealed):
    place, _ = sealed
    large = bytearray(OBJECTS["large"])
    large[RANGE] ^= 1
    place.put("o/large", bytes(large))
    place.put("o/b-c", b"longer" * 1000)
    place.put("o/new", b"new")
    place.put("o/renamed", OBJECTS["a"])
    place.delete("o/a")
    place.delete("o/z")
    audit(sealed).exits(1).prints(
        "b-c: changed: size: expected 1000, found 6000\n"
        "large: changed: content\n"
        "new: new\n"
        "renamed: renamed: it was a\n"
        "z: missing\n"
    ).says("1 unchanged, 2 changed, 1 new, 1 missing, 1 renamed")
    out = audit(sealed, "--json").exits(1).out
    assert '"kind":"object","status":"missing"' in out and '"summary"' in out
    place.keyed("seal", place.url + "o", "-o", sealed[1]).exits(0)
    audit(sealed).exits(0)


def test_equal_objects_have_equal_shards(place):
    for name, body in OBJECTS.items():
        place.put("o/" + name, body)
        place.put("p/q/" + name, body)
    for prefix, manifest in (("o", "m"), ("p/q/", "n"), ("o", "m")):
        place.keyed("seal", place.url + prefix, "-o", manifest).exits(0)
    if entries(place.folder / "m") != entries(place.folder / "n"):
        pytest.skip("midnight has passed")
    files = [sorted(place.folder.joinpath(name).iterdir()) for name in ("m", "n")]
    assert [file.name for file in files[0]] == [file.name for file in files[1]]
    assert files[0][1].read_bytes() == files[1][1].read_bytes()
    # The root has its own place in its own chain.
    assert files[0][0].name == "root"
    assert files[0][0].read_bytes() != files[1][0].read_bytes()


def entries(folder: Path) -> list[list[str]]:
    """Returns the columns of the entries of a manifest with one shard."""
    (shard,) = folder.glob("shard-*")
    columns = [line.split("\t") for line in shard.read_text().splitlines()]
    return [line for line in columns if len(line) > 1]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", sorted(os.listdir(FORMATS)))
def test_manifests_of_an_older_build(place, name, version):
    """TAGMAC_WRITE_FORMATS=1 writes missing manifests; use it only for a format with a new version."""
    shutil.copy(FORMATS / name / "k", place.folder / "k")
    place.folder.joinpath("k").chmod(0o600)
    for object_name, body in OBJECTS.items():
        place.put("o/" + object_name, body)
    stored = FORMATS / name / ("bucket" if version == 1 else "bucket-2")
    if "TAGMAC_WRITE_FORMATS" in os.environ and not stored.exists():
        place.keyed("seal", place.url + "o", "-o", "m").exits(0)
        shutil.copytree(place.folder / "m", stored)
    assert f"tagmac-object-root-{version}\n" in stored.joinpath("root").read_text()
    ran = place.keyed("audit", str(stored), place.url + "o/").exits(0).says("5 unchanged")
    assert ("the manifest has version 1; the next seal writes version 2" in ran.err) == (version == 1)
    place.keyed("seal", place.url + "o", "-o", "again").exits(0)
    if ".n=" not in place.keyed("tag", "k").exits(0).out:
        # Without nonces, only the day and the stamp of an entry may be other ones.
        [one, other] = [entries(each) for each in (place.folder / "again", stored)]
        assert [[*line[:3], line[-1]] for line in one] == [[*line[:3], line[-1]] for line in other]
    place.put("o/a", b"b")
    place.keyed("audit", str(stored), place.url + "o/").exits(1).prints("a: changed: content\n")


def test_a_manifest_that_is_no_longer_what_was_sealed(sealed):
    place, manifest = sealed
    if manifest == "m":
        root = place.folder / "m/root"
        root.write_bytes(root.read_bytes().replace(b"entries: 5", b"entries: 6"))
    else:
        key = place.prefix + "m/root"
        text = place.s3.get_object(Bucket=place.bucket, Key=key)["Body"].read()
        text = text.replace(b"entries: 5", b"entries: 6")
        place.s3.put_object(Bucket=place.bucket, Key=key, Body=text)
    audit(sealed).exits(1).prints("").says("the seal does not match")
    place.run("keygen", "-o", "k2").exits(0)
    place.run("audit", "-k", "k2", manifest, place.url + "o").exits(3)


def test_a_manifest_is_not_among_its_objects(place):
    place.put("a", b"a")
    for what in (["seal", place.url, "-o", place.url + "m"], ["audit", place.url + "m", place.url]):
        place.keyed(*what).exits(2).says("a manifest cannot be below the objects")


def test_a_manifest_that_is_not_there(place):
    place.put("a", b"a")
    for manifest in ("none", place.url + "none"):
        place.keyed("audit", manifest, place.url + "a").exits(4).says("none/root: the manifest has no root")


def test_what_an_object_does_not_have(place):
    place.put("a", b"a")
    for option in ("--mode", "--mtime", "--special", "--one-file-system", "--owner", "--exclude-caches", "--max-depth=3"):
        ran = place.keyed("seal", option, place.url, "-o", "m").exits(2)
        ran.says(option.removesuffix("=3") + ": expected a directory")
    place.folder.joinpath("d").mkdir()
    place.keyed("seal", "d", "-o", place.url + "m").exits(2).says("-o: the manifest of a directory")
    place.keyed("audit", place.url + "m", "d").exits(2)


def test_an_object_that_cannot_be_read(place):
    for name in "abc":
        place.put("o/" + name, name.encode())
    place.keyed("seal", place.url + "o", "-o", "m").exits(0)
    broken = Rule("status", path="/o/b$", status=403, code="AccessDenied", times=None)
    place.proxy.rules.append(broken)
    ran = place.keyed("audit", "m", place.url + "o").exits(4)
    ran.prints("b: unreadable: the store denies access (403 AccessDenied)\n")
    before = place.folder.joinpath("m/root").read_bytes()
    place.keyed("seal", place.url + "o", "-o", "m").exits(4).says("m: not written")
    assert place.folder.joinpath("m/root").read_bytes() == before
    assert len(list(place.folder.joinpath("m").iterdir())) == 2
    gone = Rule("status", path="/o/b$", status=404, code="NoSuchKey", times=None)
    place.proxy.rules[:] = [gone]
    place.keyed("audit", "m", place.url + "o").exits(1).prints("b: missing\n")


def test_nonces(place):
    place.run("keygen", "-a", "POLY1305-AES", "-o", "k2").exits(0)
    for name in "ab":
        place.put("o/" + name, b"same")
    place.run("seal", "-k", "k2", place.url + "o", "-o", "m").exits(0)
    place.run("audit", "-k", "k2", "m", place.url + "o").exits(0)
    place.put("o/a", b"emas")
    place.run("audit", "-k", "k2", "m", place.url + "o").exits(1).prints("a: changed: content\n")


def test_after_a_failure_nothing_more_is_asked_for(place):
    for number in range(20):
        place.put(f"o/{number:02}", b"x")
    denied = Rule("status", path="/o/03$", status=403, code="AccessDenied", times=None)
    place.proxy.rules.append(denied)
    seal = ("seal", "--num-threads", "1", place.url + "o", "-o", "m")
    ran = place.keyed(*seal).exits(4)
    ran.says(f"{place.url}o/03: the store denies access", "as 1 object could not be sealed")
    assert place.proxy.count(path="/o/03$") and not place.proxy.count(path="/o/(0[4-9]|1)")
    # An option names all of them.
    place.keyed(*seal, "--skip-unreadable").exits(4).says("19 objects", "1 unreadable and left out")


@pytest.mark.parametrize("when", ["/o/z$", "/m/root$"])
def test_of_two_seals_at_once_one_is_refused(sealed, when):
    place, manifest = sealed
    if manifest == "m" and "root" in when:
        pytest.skip("no request writes a folder's root")
    seal = ("seal", "--num-threads", "1", place.url + "o", "-o", manifest)

    def other():
        place.put("o/a", b"other")
        place.keyed(*seal).exits(0)

    place.put("o/a", b"one")
    method = "PUT" if "root" in when else "GET"
    place.proxy.rules.append(Rule("call", method=method, path=when, call=other))
    ran = place.keyed(*seal).exits(4)
    ran.says("root: the manifest has changed since the start", "another seal ran")
    audit(sealed).exits(0)
    # The refused seal leaves no shards.
    place.keyed(*seal).exits(0)
    if manifest == "m":
        assert len(list(place.folder.joinpath("m").iterdir())) == 2


@any_name
def test_a_key_that_no_url_can_ask_for_is_unreadable_and_not_new(place):
    for name in ("a", "b/../c"):
        place.put("o/" + name, b"x")
    place.keyed("seal", place.url + "o", "-o", "m").exits(4).says("without '.' or '..' between slashes")
    place.keyed("seal", "--skip-unreadable", place.url + "o", "-o", "m").exits(4)
    ran = place.keyed("audit", "m", place.url + "o").exits(4)
    assert ran.out.startswith("b/../c: unreadable: expected a key without '.' or '..' between")
    ran.says("1 unchanged, 0 changed, 0 new", "1 unreadable")
