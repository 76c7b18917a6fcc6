"""Verified reads of objects by the manifest of their bucket, which is written here as its page says."""

import hashlib
import io
import random
from pathlib import Path

import fsspec
import pytest

import tagmac
from tagmac import _tagmac
from tagmac.fsspec import VerifiedFileSystem

LEAF = 4096
#: In byte order, unlike the order of a directory.
OBJECTS = {
    "a": random.Random(1).randbytes(50_000),
    "a-b": b"x" * LEAF,
    "d/c": random.Random(2).randbytes(LEAF + 1),
    "d/e/f": b"f",
    "d/e/g": b"",
    "z": random.Random(3).randbytes(50_000),
}


def number(value: int) -> bytes:
    return value.to_bytes(8, "little")


@pytest.fixture
def place(tmp_path):
    for name, data in OBJECTS.items():
        path = tmp_path / "t" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path


@pytest.fixture
def key():
    return tagmac.Key.generate()


def leaf_tags(place: Path, key: tagmac.Key, names: list[str]) -> bytes:
    """Returns the leaf tags of files, which are those of objects with the same contents."""
    found = b""
    for name in names:
        folder = place / "one"
        folder.mkdir()
        (folder / "f").write_bytes(OBJECTS[name])
        tagmac.seal(folder, key, place / "one.m", leaves=LEAF, new_chain=True)
        found += (place / "one.m.1.leaves").read_bytes()[16:]
        (folder / "f").unlink()
        folder.rmdir()
    return found


@pytest.fixture
def manifest(place, key):
    """The manifest of the bucket, with empty objects that mark folders."""
    objects = dict(sorted((OBJECTS | {"d/": b"", "empty/": b""}).items()))
    tags = {name: key.tag(data) for name, data in objects.items()}
    text, record = _tagmac.shard_seal(
        key, 0, [name.encode() for name in objects], [len(data) for data in objects.values()],
        list(tags.values()),
    )  # fmt: skip
    folder = place / "m"
    folder.mkdir()
    (folder / _tagmac.shard_name(record)).write_bytes(text)
    (folder / "root").write_bytes(_tagmac.root_seal(key, [record], leaves=LEAF))
    long = [name for name, data in objects.items() if len(data) > LEAF]
    hashed = number(LEAF)
    for name in long:
        hashed += number(16) + tags[name] + number(len(objects[name]))
    file = f"leaves-{hashlib.sha256(hashed).hexdigest()[:32]}"
    data = b"tagmac-leaves-1\n" + leaf_tags(place, key, long)
    (folder / file).write_bytes(data)
    return folder


@pytest.fixture
def fs(place, key, manifest):
    """Keeps no leaf but the newest ones."""
    return VerifiedFileSystem(manifest=manifest, key=key, root=str(place / "t"), cache_bytes=0)


def test_a_manifest_of_a_bucket(key, manifest):
    opened = tagmac.Manifest(manifest, key)
    assert opened.is_bucket and opened.sequence == 1 and len(opened.day) == 10
    names = [(entry.path, entry.kind, entry.size) for entry in opened.entries()]
    assert names == [
        ("a", "file", 50_000), ("a-b", "file", LEAF), ("d", "dir", None), ("empty", "dir", None),
        ("z", "file", 50_000),
    ]  # fmt: skip
    assert [entry.path for entry in opened.entries("d")] == ["d/c", "d/e"]
    assert [entry.path for entry in opened.entries("empty")] == []
    assert [entry.path for entry in opened.entries(recursive=True)] == sorted(OBJECTS)
    assert opened.info("d/e").kind == "dir" and opened.info("d/e/f").size == 1
    for path in ("none", "d/e/", "d/e/f/g", "d/"):
        if path == "d/":
            assert opened.info(path).kind == "file"
            continue
        with pytest.raises(FileNotFoundError):
            opened.entries(path)
    for name, data in OBJECTS.items():
        opened.content(name).verify(0, data)
        if data:
            with pytest.raises(tagmac.InvalidTag):
                opened.content(name).verify(0, bytes([data[0] ^ 1]) + data[1:])
    with pytest.raises(tagmac.WrongKey):
        tagmac.Manifest(manifest, tagmac.Key.generate())


def test_ranges_are_read(place, key, manifest, fs):
    root = str(place / "t")
    for name, data in OBJECTS.items():
        assert fs.cat_file(f"{root}/{name}") == data
        assert fs.cat_file(f"{root}/{name}", start=4000, end=9000) == data[4000:9000]
        with tagmac.open_verified(place / "t" / name, key, manifest=manifest, root=root) as file:
            assert file.read() == data
    path = place / "t/z"
    damaged = bytearray(OBJECTS["z"])
    damaged[LEAF] ^= 1
    path.write_bytes(damaged)
    with fs.open(str(path)) as file:
        assert file.read(LEAF) == damaged[:LEAF]
        with pytest.raises(tagmac.InvalidTag):
            file.read(1)
        file.seek(2 * LEAF)
        assert file.read() == damaged[2 * LEAF :]
    # Another object of the same size.
    path.write_bytes(OBJECTS["a"])
    with pytest.raises(tagmac.InvalidTag):
        fs.cat_file(str(path))
    path.unlink()
    with pytest.raises(OSError) as error:
        fs.cat_file(str(path))
    assert not isinstance(error.value, FileNotFoundError)


def test_listings_come_from_the_manifest(place, fs):
    root = str(place / "t")
    (place / "t/d/added").write_bytes(b"")
    (place / "t/a").unlink()
    assert [path.removeprefix(f"{root}/") for path in fs.find(root)] == sorted(OBJECTS)
    found = fs.find(root, withdirs=True)
    assert {f"{root}/d", f"{root}/d/e", f"{root}/empty"} <= set(found)
    walked = {top.removeprefix(root): (dirs, files) for top, dirs, files in fs.walk(root)}
    assert walked == {
        "": (["d", "empty"], ["a", "a-b", "z"]),
        "/d": (["e"], ["c"]),
        "/d/e": ([], ["f", "g"]),
        "/empty": ([], []),
    }
    assert fs.glob(f"{root}/d/*") == [f"{root}/d/c", f"{root}/d/e"]
    assert fs.isdir(f"{root}/d") and not fs.exists(f"{root}/d/added")
    assert fs.info(f"{root}/d/c")["size"] == LEAF + 1
    assert fs.modified(f"{root}/a").date().isoformat() == fs.manifest.day


def test_a_replaced_manifest_is_opened_again(place, key, manifest, fs):
    old = fs.manifest.seal
    assert VerifiedFileSystem(manifest=manifest, key=key, root="/x").manifest.seal == old
    root = _tagmac.root_seal(key, [], after=(manifest / "root").read_bytes())
    (manifest / "new").write_bytes(root)
    (manifest / "new").replace(manifest / "root")
    made = VerifiedFileSystem(manifest=manifest, key=key, root=str(place / "t"))
    assert made.manifest.sequence == 2 and made.find(str(place / "t")) == []
    with pytest.raises(FileNotFoundError):
        made.open(str(place / "t/a"))


def test_a_manifest_in_a_store(place, key, manifest):
    memory = fsspec.filesystem("memory")
    for file in manifest.iterdir():
        memory.pipe_file(f"/manifests/{place.name}/{file.name}", file.read_bytes())
    url, root = f"memory://manifests/{place.name}", str(place / "t")
    fs = VerifiedFileSystem(manifest=url, key=key, root=root, manifest_options={"skip_instance_cache": True})
    for name, data in OBJECTS.items():
        assert fs.cat_file(f"{root}/{name}") == data
    [leaves] = memory.glob(f"/manifests/{place.name}/leaves-*")
    tags = memory.cat_file(leaves)
    # Those of two objects change places.
    one = 16 * 13
    memory.pipe_file(leaves, tags[:16] + tags[-one:] + tags[16 + one : -one] + tags[16 : 16 + one])
    for name in ("a", "z"):
        with pytest.raises(tagmac.InvalidTag):
            VerifiedFileSystem(manifest=url, key=key, root=root).cat_file(f"{root}/{name}")
    memory.pipe_file(leaves, tags[:-1])
    with pytest.raises(tagmac.InvalidTag):
        VerifiedFileSystem(manifest=url, key=key, root=root).cat_file(f"{root}/z")
    memory.rm_file(leaves)
    with pytest.raises(OSError):
        VerifiedFileSystem(manifest=url, key=key, root=root).cat_file(f"{root}/z")
    memory.pipe_file(f"/manifests/{place.name}/root", b"")
    with pytest.raises(tagmac.InvalidTag):
        VerifiedFileSystem(manifest=url, key=key, root=root)
    memory.rm(f"/manifests/{place.name}", recursive=True)
    with pytest.raises(OSError):
        VerifiedFileSystem(manifest=url, key=key, root=root)


def test_a_chain_of_urls(place, key, manifest):
    options = {"tagmac": {"manifest": str(manifest), "key": key, "root": str(place / "t")}}
    with fsspec.open(f"tagmac::file://{place}/t/a", **options) as file:
        assert io.BytesIO(file.read()).getvalue() == OBJECTS["a"]
