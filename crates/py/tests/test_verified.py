"""Verified reads: `Manifest`, `Content` and `open_verified` with files of this machine."""

import io
import os
import random
import threading

import pytest

import tagmac

LEAF = 4096
SIZES = (0, 1, LEAF - 1, LEAF, LEAF + 1, 2 * LEAF, 5 * LEAF + 7, 300_000)


def content(size: int) -> bytes:
    return random.Random(size).randbytes(size)


@pytest.fixture
def tree(tmp_path):
    """A sealed directory `t` with the manifest `m`."""
    root = tmp_path / "t"
    (root / "d" / "e").mkdir(parents=True)
    for size in SIZES:
        (root / "d" / str(size)).write_bytes(content(size))
    (root / "d" / "e" / "deep").write_bytes(b"deep")
    (root / "d-x").write_bytes(b"a name that sorts between")
    (root / "link").symlink_to("d-x")
    return root


@pytest.fixture
def sealed(tree, tmp_path):
    """The key and the path of the manifest."""
    key = tagmac.Key.generate()
    tagmac.seal(tree, key, tmp_path / "m", leaves=LEAF, mode=True, mtime=True)
    return key, tmp_path / "m"


def test_what_a_manifest_has(tree, sealed):
    key, path = sealed
    manifest = tagmac.Manifest(path, key)
    assert [entry.path for entry in manifest.entries()] == ["d", "d-x", "link"]
    assert [entry.kind for entry in manifest.entries("")] == ["dir", "file", "link"]
    names = sorted([*map(str, SIZES), "e"])
    assert [entry.path for entry in manifest.entries("d")] == [f"d/{name}" for name in names]
    deep = [entry.path for entry in manifest.entries("d", recursive=True)]
    assert deep == [f"d/{name}" for name in sorted([*map(str, SIZES), "e", "e/deep"])]
    assert len(manifest.entries(recursive=True)) == len(SIZES) + 5
    assert manifest.entries("d-x") == manifest.entries("d-x", recursive=True) == []
    entry = manifest.info("d/300000")
    found = (tree / "d/300000").stat()
    assert (entry.path, entry.kind, entry.size, entry.target) == ("d/300000", "file", 300_000, None)
    assert (entry.mtime_ns, entry.mode) == (found.st_mtime_ns, found.st_mode & 0o7777)
    assert entry.tag == key.tag(content(300_000))
    assert repr(entry) == '<tagmac.ManifestEntry file "d/300000">'
    link, folder = manifest.info("link"), manifest.info("d")
    assert (link.target, link.size, link.tag, folder.size, folder.target) == ("d-x", *[None] * 4)
    assert manifest.sequence == 1
    assert len(manifest.seal) == 32
    for call in (manifest.info, manifest.entries, manifest.content):
        for name in ("none", "d/", "/d", "./d", "d//e", "d/../d-x", "d/1/2", "d/e/deep\0"):
            with pytest.raises(FileNotFoundError):
                call(name)
    for name in ("d", "link"):
        with pytest.raises(ValueError, match="expected a file, found a"):
            manifest.content(name)
    with pytest.raises(tagmac.WrongKey):
        tagmac.Manifest(path, tagmac.Key.generate())
    with pytest.raises(OSError, match="No such file"):
        tagmac.Manifest(path.with_name("none"), key)
    damaged = bytearray(path.read_bytes())
    damaged[-70] ^= 1
    path.with_name("damaged").write_bytes(damaged)
    with pytest.raises(tagmac.InvalidTag):
        tagmac.Manifest(path.with_name("damaged"), key)


def test_directories_are_listed_with_seeks(tmp_path):
    """More entries below a directory than are read one by one."""
    key = tagmac.Key.generate()
    for folder in ("a", "a/b", "a/b\x01", "a/c"):
        (tmp_path / "t" / folder).mkdir(parents=True)
        for number in range(2500):
            (tmp_path / "t" / folder / f"{number:04}").touch()
    tagmac.seal(tmp_path / "t", key, tmp_path / "m")
    manifest = tagmac.Manifest(tmp_path / "m", key)
    assert [entry.path for entry in manifest.entries()] == ["a"]
    names = [entry.path for entry in manifest.entries("a")]
    assert names == [*(f"a/{number:04}" for number in range(2500)), "a/b", "a/b\x01", "a/c"]
    assert len(manifest.entries("a/b")) == 2500
    assert len(manifest.entries(recursive=True)) == 10_004


@pytest.mark.parametrize("alg", ["PMAC-AES128", "LIGHTMAC-AES128", "ELIMAC-AES128"])
def test_content_verifies_leaves_and_nothing_else(alg, tree, tmp_path):
    key = tagmac.Key.generate(alg)
    tagmac.seal(tree, key, tmp_path / "n", leaves=LEAF)
    manifest = tagmac.Manifest(tmp_path / "n", key)
    for size in SIZES:
        sealed, data = manifest.content(f"d/{size}"), content(size)
        leaf = sealed.leaf_size
        assert sealed.size == size
        assert leaf == max(size, 1) or 4000 <= leaf <= LEAF
        starts = range(0, size or 1, leaf)
        for start in starts:
            good = data[start : start + leaf]
            sealed.verify(start, good)
            sealed.verify(start, bytearray(data[start : start + 2 * leaf]))
            for bad in (good + b"\0", good[:-1] or b"x", b"", bytes(len(good)) or b"y"):
                if bad != good:
                    with pytest.raises(tagmac.InvalidTag):
                        sealed.verify(start, bad)
            for other in starts:
                if other != start:
                    with pytest.raises(tagmac.InvalidTag):
                        sealed.verify(other, good)
        with pytest.raises(tagmac.InvalidTag):
            sealed.verify(0, data + b"\0")
        for wrong in (1, leaf * len(starts), 2**64 - 1):
            with pytest.raises(ValueError, match="start: expected a multiple"):
                sealed.verify(wrong, b"")
        with pytest.raises(OverflowError):
            sealed.verify(-1, b"")


def test_a_verified_file_reads_like_a_file(tree, sealed):
    key, manifest = sealed
    for size in SIZES:
        data = content(size)
        path = tree / "d" / str(size)
        with tagmac.open_verified(path, key, manifest=manifest, root=tree) as file:
            plain, some = io.BytesIO(data), random.Random(size)
            assert file.size == size
            assert file.readable()
            assert file.seekable()
            assert not file.writable()
            for _ in range(300):
                count = some.choice([0, 1, 10, LEAF, 3 * LEAF, some.randrange(size + 2)])
                match some.randrange(6):
                    case 0:
                        offset, whence = some.randrange(-size, size + 2), some.randrange(3)
                        base = (0, plain.tell(), size)[whence]
                        if base + offset < 0:
                            with pytest.raises(ValueError, match="before the file"):
                                file.seek(offset, whence)
                        else:
                            assert file.seek(offset, whence) == plain.seek(offset, whence)
                    case 1:
                        assert file.read(count) == plain.read(count)
                    case 2:
                        buffer, other = bytearray(count), bytearray(count)
                        assert file.readinto(buffer) == plain.readinto(other)
                        assert buffer == other
                    case 3:
                        assert file.readline() == plain.readline()
                    case 4:
                        at = some.randrange(size + 2)
                        assert file.read_at(at, count) == data[at : at + count]
                    case 5:
                        start = file.peek()
                        assert data[plain.tell() :].startswith(start)
                assert file.tell() == plain.tell()
            file.seek(0)
            assert file.read() == data
            assert file.read() == file.read(5) == file.read_at(2**60, 5) == b""
            for wrong in ((-1, 1), (0, -1)):
                with pytest.raises(ValueError, match="from 0 on"):
                    file.read_at(*wrong)
            with pytest.raises(ValueError, match="whence"):
                file.seek(0, 5)
            with pytest.raises(io.UnsupportedOperation):
                file.write(b"x")
        with pytest.raises(ValueError, match="closed"):
            file.read_at(0, 1)
        with pytest.raises(ValueError, match="closed"):
            file.read()
    text = io.TextIOWrapper(tagmac.open_verified(tree / "d-x", key, manifest=manifest))
    assert text.read() == "a name that sorts between"


def test_nothing_of_a_leaf_that_differs(tree, sealed):
    key, manifest = sealed
    path, good = tree / "d/300000", content(300_000)
    damaged = bytearray(good)
    damaged[10 * LEAF + 5] ^= 1
    path.write_bytes(damaged)
    with tagmac.open_verified(path, key, manifest=manifest, root=tree) as file:
        leaf = LEAF // 16 * 16
        assert file.read_at(0, 10 * leaf) == good[: 10 * leaf]
        assert file.read_at(11 * leaf, 10**9) == good[11 * leaf :]
        for at, count in ((10 * leaf, 1), (0, 300_000), (11 * leaf - 1, 1), (0, 10 * leaf + 1)):
            with pytest.raises(tagmac.InvalidTag, match="differ from those sealed"):
                file.read_at(at, count)
        file.seek(10 * leaf)
        for read in (file.read, file.readline, file.peek, lambda: file.readinto(bytearray(5))):
            with pytest.raises(tagmac.InvalidTag):
                read()
        assert file.tell() == 10 * leaf
        # Verified when it was opened, cut since.
        os.truncate(path, 299_999)
        with pytest.raises(tagmac.InvalidTag):
            file.read_at(299_500, 1)
    for change in (lambda: None, lambda: path.write_bytes(good + b"x")):
        change()
        with pytest.raises(tagmac.InvalidTag, match="expected 300000 bytes, found"):
            tagmac.open_verified(path, key, manifest=manifest, root=tree)
    (tree / "d/0").write_bytes(content(1))
    (tree / "d/1").write_bytes(content(300_000)[:1])
    for name in ("0", "1"):
        with pytest.raises(tagmac.InvalidTag):
            tagmac.open_verified(tree / "d" / name, key, manifest=manifest, root=tree).read()
    path.unlink()
    (tree / "new").write_bytes(b"new")
    (tree / "d/4096").unlink()
    (tree / "d/4096").symlink_to("../d-x")
    for name, error in (("d/300000", OSError), ("d/4096", OSError), ("new", FileNotFoundError)):
        with pytest.raises(error) as raised:
            tagmac.open_verified(tree / name, key, manifest=manifest, root=tree)
        # Programs treat a missing file as one without content.
        assert isinstance(raised.value, FileNotFoundError) == (error is FileNotFoundError)


def test_two_files_and_two_versions_do_not_mix(tree, sealed, tmp_path):
    key, manifest = sealed
    a, b = tree / "d" / "a", tree / "d" / "b"
    for path, seed in ((a, 1), (b, 2)):
        path.write_bytes(random.Random(seed).randbytes(50_000))
    tagmac.seal(tree, key, manifest, leaves=LEAF)
    held = tagmac.open_verified(a, key, manifest=manifest, root=tree)
    a.rename(tmp_path / "x")
    b.rename(a)
    (tmp_path / "x").rename(b)
    for path in (a, b):
        with pytest.raises(tagmac.InvalidTag):
            tagmac.open_verified(path, key, manifest=manifest, root=tree).read_at(0, 1)
    assert held.read() == random.Random(1).randbytes(50_000)
    # A new manifest is seen, and an old one does not verify new data.
    old = manifest.read_bytes()
    tagmac.seal(tree, key, manifest, leaves=LEAF)
    with tagmac.open_verified(a, key, manifest=manifest, root=tree) as file:
        assert file.read() == random.Random(2).randbytes(50_000)
    manifest.write_bytes(old)
    with pytest.raises((tagmac.InvalidTag, OSError)):
        tagmac.open_verified(a, key, manifest=manifest, root=tree).read()


def test_where_a_file_is(tree, sealed, monkeypatch):
    key, manifest = sealed
    monkeypatch.chdir(tree.parent)
    places = (("t/d-x", "t"), ("t/./d/../d-x", "t/"), (tree / "d-x", "t"), ("t/d-x", None))
    for path, root in places:
        with tagmac.open_verified(path, key, manifest="m", root=root) as file:
            assert file.read() == b"a name that sorts between"
    for path in ("m", "t", "../m"):
        with pytest.raises(ValueError, match="expected a file in"):
            tagmac.open_verified(path, key, manifest="m", root="t")
    for path in ("t/d", "t/link"):
        with pytest.raises(ValueError, match="expected a file, found"):
            tagmac.open_verified(path, key, manifest="m", root="t")
    with pytest.raises(ValueError, match="only a URL"):
        tagmac.open_verified("t/d-x", key, manifest="m", options={})
    key.save("k")
    ref = tagmac.KeyRef.file("k")
    assert tagmac.open_verified("t/d-x", ref, manifest="m").read(6) == b"a name"
    with pytest.raises(tagmac.WrongKey):
        tagmac.open_verified("t/d-x", tagmac.Key.generate(), manifest="m")


def test_leaves_of_a_seal(tree, tmp_path, command, saved):
    key, path = saved
    for wrong in (0, 4095, (64 << 20) + 1):
        with pytest.raises(ValueError, match="leaves: expected 4096 to"):
            tagmac.seal(tree, key, tmp_path / "m", leaves=wrong)
    for alg in ("UMAC-64", "HMAC-SHA256"):
        with pytest.raises(ValueError, match=alg):
            tagmac.seal(tree, tagmac.Key.generate(alg), tmp_path / "m", leaves=LEAF)
    tagmac.seal(tree, key, tmp_path / "m", leaves=LEAF)
    command("repair", "-k", path, "--from", tree / "d/8192", tmp_path / "m", tree, "d/8192")
    with tagmac.open_verified(tree / "d/8192", key, manifest=tmp_path / "m", root=tree) as file:
        assert file.read_at(4090, 20) == content(8192)[4090:4110]
    command("seal", "-k", path, "-o", tmp_path / "c", "--leaves=4KiB", tree)
    with tagmac.open_verified(tree / "d/8192", key, manifest=tmp_path / "c", root=tree) as file:
        assert file.read() == content(8192)
    # Without leaf tags, short files are verified as a whole.
    tagmac.seal(tree, key, tmp_path / "w")
    with tagmac.open_verified(tree / "d/8192", key, manifest=tmp_path / "w", root=tree) as file:
        assert file.read_at(8000, 5) == content(8192)[8000:8005]


def test_threads_share_a_file(tree, sealed):
    key, manifest = sealed
    good, wrong = content(300_000), []
    file = tagmac.open_verified(tree / "d/300000", key, manifest=manifest, root=tree)

    def read(seed: int) -> None:
        some = random.Random(seed)
        for _ in range(500):
            at, count = some.randrange(300_000), some.choice([1, 100, LEAF, 50_000])
            if file.read_at(at, count) != good[at : at + count]:
                wrong.append((at, count))

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
