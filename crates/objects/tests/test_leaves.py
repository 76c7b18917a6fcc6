"""Objects are sealed with leaf tags, and ranges of them are verified."""

import random

import pytest
from conftest import RANGE, Place

LEAF = 64 << 10
OBJECTS = {
    "a": b"a",
    "b/empty": b"",
    "leaf": random.Random(1).randbytes(LEAF),
    "large": random.Random(2).randbytes(RANGE + LEAF + 9),
    "two": random.Random(3).randbytes(2 * LEAF),
    "z": random.Random(4).randbytes(2 * LEAF),
}


def raw(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


@pytest.fixture(params=["folder", "bucket"])
def sealed(place, request):
    """Returns a place with sealed objects and the location of their manifest."""
    for name, body in OBJECTS.items():
        place.put("o/" + name, body)
    manifest = "m" if request.param == "folder" else place.url + "m"
    place.keyed("seal", "--leaves", place.url + "o", "-o", manifest).exits(0)
    return place, manifest


def read(sealed, name: str, *options: str):
    place, manifest = sealed
    return place.keyed("read", *options, manifest, place.url + "o", name)


def leaf_files(place: Place) -> dict[str, bytes]:
    """Returns the files of leaf tags of the manifest in the bucket."""
    prefix = place.prefix + "m/leaves-"
    found = place.s3.list_objects_v2(Bucket=place.bucket, Prefix=prefix).get("Contents", [])
    get = place.s3.get_object
    return {
        each["Key"]: get(Bucket=place.bucket, Key=each["Key"])["Body"].read() for each in found
    }


def test_ranges_are_read(sealed):
    place, _ = sealed
    for name, body in OBJECTS.items():
        assert raw(read(sealed, name).exits(0).out) == body
    for start, length in [(0, 1), (LEAF - 1, 2), (RANGE - 1, LEAF), (RANGE + LEAF, 100)]:
        found = read(sealed, "large", "--range", f"{start}:{length}").exits(0).out
        assert raw(found) == OBJECTS["large"][start : start + length]
    read(sealed, "none").exits(2).says("the manifest has no entry with this path")
    read(sealed, "b").exits(2).says("expected a file, found a dir")
    audit = place.keyed("audit", sealed[1], place.url + "o").exits(0)
    audit.says("6 unchanged")


def test_damage_is_located(sealed):
    place, manifest = sealed
    large = bytearray(OBJECTS["large"])
    for at in (LEAF, 2 * LEAF, RANGE + LEAF):
        large[at] ^= 1
    place.put("o/large", bytes(large))
    place.put("o/two", OBJECTS["z"])
    place.put("o/z", OBJECTS["z"][:-1])
    audit = place.keyed("audit", "--locate", manifest, place.url + "o").exits(1)
    end = len(large)
    audit.says(
        f"large: damaged: 3 of 130 leaves: bytes {LEAF} to {3 * LEAF}, {RANGE + LEAF} to {end}\n",
        f"two: damaged: 2 of 2 leaves: bytes 0 to {2 * LEAF}\n",
        f"z: damaged: 1 of 2 leaves: bytes {LEAF} to {2 * LEAF}, {2 * LEAF - 1} bytes in all\n",
    )
    assert raw(read(sealed, "large", "--range", "0:65537").exits(1).out) == bytes(large[:LEAF])
    why = f"o/large: bytes {LEAF} to {2 * LEAF} differ from those sealed"
    read(sealed, "large", "--range", "100KiB:1").exits(1).prints("").says(why)
    read(sealed, "large", "--range", f"{3 * LEAF}:9").exits(0)
    read(sealed, "two").exits(1).prints("")
    read(sealed, "z").exits(1).prints("").says("expected 131072 bytes, found 131071")
    place.delete("o/z")
    read(sealed, "z").exits(4).prints("").says("no such object")


def test_leaves_are_sampled(sealed):
    place, manifest = sealed
    audit = ("audit", "--sample-leaves", "100%", manifest, place.url + "o")
    place.keyed(*audit).exits(0).says(
        "3 unchanged, 0 changed, 0 new, 0 missing, 0 renamed, 3 not read",
        "read 137 of 137 leaves",
        "damage to 10 leaves was missed with probability 0.00",
    )
    for share in ("0%", "20%"):
        place.keyed("audit", "--sample-leaves", share, manifest, place.url + "o").exits(0)
    large = bytearray(OBJECTS["large"])
    large[2 * LEAF] ^= 1
    place.put("o/large", bytes(large))
    place.keyed(*audit).exits(1).says(
        f"large: damaged, as far as it was read: 1 of 130 leaves: bytes {2 * LEAF} to {3 * LEAF}\n",
        "1 changed",
    )
    place.keyed("seal", place.url + "o", "-o", "none").exits(0)
    place.keyed("audit", "--sample-leaves", "5%", "none", place.url + "o").exits(2).says(
        "no leaf tags; seal it with leaf tags"
    )


def test_a_copy_in_a_directory_is_read_and_repaired(sealed):
    place, manifest = sealed
    for name, body in OBJECTS.items():
        path = place.folder / "copy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    path = place.folder / "copy/large"
    damaged = bytearray(OBJECTS["large"])
    damaged[7] ^= 1
    path.write_bytes(damaged)
    place.keyed("read", manifest, "copy", "large").exits(1).prints("")
    (place.folder / "other").write_bytes(OBJECTS["large"])
    place.keyed("repair", manifest, "copy", "large", "--from", "other").exits(0)
    assert path.read_bytes() == OBJECTS["large"]
    assert raw(place.keyed("read", manifest, "copy", "large").exits(0).out) == OBJECTS["large"]
    why = "expected a file, found the URL of an object"
    place.keyed("repair", manifest, place.url + "o", "large", "--from", "other").exits(2).says(why)


def test_leaf_tags_are_kept_and_carried_over(place):
    manifest = place.url + "m"
    for name, body in OBJECTS.items():
        place.put("o/" + name, body)
    seal = ("seal", place.url + "o", "-o", manifest, "--since", manifest)
    place.keyed(*seal[:4]).exits(0)
    assert not leaf_files(place)
    # Objects that are longer than a leaf are read again.
    place.keyed(*seal, "--leaves").exits(0).says("3 not read, as they show no change")
    first = leaf_files(place)
    assert [len(file) for file in first.values()] == [16 * (1 + 130 + 2 + 2)]
    place.keyed(*seal, "--leaves").exits(0).says("6 not read, as they show no change")
    assert leaf_files(place) == first
    place.put("o/two", b"2" * (3 * LEAF))
    place.keyed(*seal, "--leaves").exits(0).says("5 not read, as they show no change")
    second = leaf_files(place)
    (old,), (new,) = first.values(), second.values()
    assert old[: 16 * 131] == new[: 16 * 131] and old[-32:] == new[-32:] and len(new) == len(old) + 16
    assert first.keys().isdisjoint(second)
    # Without them, the objects are read again.
    (key,) = second
    place.s3.delete_object(Bucket=place.bucket, Key=key)
    read((place, manifest), "two").exits(4).says("the leaf tags are missing")
    place.keyed(*seal, "--leaves").exits(0).says("3 not read, as they show no change")
    assert leaf_files(place) == second
    place.s3.put_object(Bucket=place.bucket, Key=key, Body=new[:-1])
    read((place, manifest), "two").exits(1).says("expected 2176 bytes, found 2175")
    place.keyed(*seal, "--leaves=4KiB").exits(0).says("2 not read, as they show no change")
    assert read((place, manifest), "two").exits(0).out == "2" * (3 * LEAF)
    assert leaf_files(place).keys().isdisjoint(second)


def test_an_old_root_without_its_files_is_an_error(place):
    manifest = place.url + "m"
    place.put("o/two", OBJECTS["two"])
    place.keyed("seal", "--leaves", place.url + "o", "-o", manifest).exits(0)
    first = leaf_files(place)
    place.put("o/z", OBJECTS["z"])
    root = place.s3.get_object(Bucket=place.bucket, Key=place.prefix + "m/root")["Body"].read()
    place.keyed("seal", "--leaves", place.url + "o", "-o", manifest).exits(0)
    assert leaf_files(place).keys().isdisjoint(first)
    place.s3.put_object(Bucket=place.bucket, Key=place.prefix + "m/root", Body=root)
    read((place, manifest), "two").exits(1).prints("").says("the shard is missing")


def test_keys_without_leaf_tags(place):
    place.put("o/a", b"a")
    for algorithm in ("HMAC-SHA256", "UMAC-64"):
        place.run("keygen", "-a", algorithm, "-o", algorithm).exits(0)
        place.run("seal", "-k", algorithm, "--leaves", place.url + "o", "-o", "m").exits(2)
    place.keyed("seal", "--leaves", "--tag-bits", "64", place.url + "o", "-o", "m").exits(2)
    place.keyed("seal", place.url + "o", "-o", "m").exits(0)
    assert read((place, "m"), "a").exits(0).out == "a"
