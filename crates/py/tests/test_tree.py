"""Tags that are updated with the edits of a file, and refusals."""

import gc
import os
import random
import weakref

import pytest
from conftest import nonce_for

import tagmac

MESSAGE = random.Random(3).randbytes(300_000)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "db"
    path.write_bytes(MESSAGE)
    return path


def test_a_tree_whose_callback_leads_back_to_it_goes(file):
    """Its key is released too."""

    class Job:
        def __init__(self):
            self.tree = tagmac.Tree(file, tagmac.Key(bytes(16)), progress=self.report)

        def report(self, *done):
            pass

    job = weakref.ref(Job())
    gc.collect()
    assert job() is None


def sidecar(file):
    return file.with_name(file.name + ".tagmac")


@pytest.mark.parametrize("alg", ["PMAC-AES128", "LIGHTMAC-AES128-S32", "POLY1305-AES", "UMAC-64"])
def test_a_tag_follows_edits(alg, file):
    key = tagmac.Key.generate(alg)
    tree = tagmac.Tree.create(file, key, leaf=4096)
    expected = bytearray(MESSAGE)

    def same(tagged):
        nonce, tag = tagged
        assert (nonce == b"") == (nonce_for(alg) is None)
        assert tag == key.tag(expected, nonce or None)
        assert file.read_bytes() == expected
        assert tree.tag() == tagged
        assert tree.tag(expect=tag) == tagged
        return tag

    tag = same(tree.tag())
    expected[5000:5007] = b"patched"
    tag = same(tree.patch(5000, b"patched", expect=tag))
    with file.open("ab") as out:
        out.write(b"more" * 5000)
    expected += b"more" * 5000
    tag = same(tree.append(expect=tag))
    del expected[70_000:]
    tag = same(tree.truncate(70_000))
    with file.open("r+b") as out:
        out.seek(9000)
        out.write(b"beside")
    expected[9000:9006] = b"beside"
    tag = same(tree.range(9000, 6))
    # Another Tree of the same file.
    tree = tagmac.Tree(str(file), key, threads=2)
    expected[:5] = bytes(5)
    same(tree.patch(0, bytearray(5)))


def test_what_changed_beside_is_refused(file):
    key = tagmac.Key.generate()
    tree = tagmac.Tree.create(file, key, leaf=4096)
    _, tag = tree.tag()
    with file.open("r+b") as out:
        out.write(b"not ours")
    before = file.read_bytes()
    with pytest.raises(tagmac.InvalidTag, match="db: bytes 0 to 4096 have changed since the last"):
        tree.patch(100, b"x")
    assert file.read_bytes() == before
    with pytest.raises(tagmac.InvalidTag, match="db: expect: the tag is not the expected one: "):
        tree.tag(expect=bytes(16))
    with pytest.raises(ValueError, match="^expect: PMAC-AES128: "):
        tree.tag(expect=b"short")
    with pytest.raises(tagmac.InvalidTag, match="restore the file"):
        file.write_bytes(MESSAGE[:-1])
        tree.tag(expect=tag)
    file.write_bytes(MESSAGE + b"more")
    with pytest.raises(
        tagmac.InvalidTag, match="found 300004: append\\(\\) accepts what was added$"
    ):
        tree.tag(expect=tag)
    file.write_bytes(MESSAGE[:-1] + b"\0more")
    with pytest.raises(
        tagmac.InvalidTag,
        match=r"; range\(299984, 16\) accepts them .*, and then append\(\) accepts what was added$",
    ):
        tree.append()


def test_misuse(file, tmp_path):
    key = tagmac.Key.generate()
    with pytest.raises(ValueError, match="db.tagmac: the sidecar does not exist"):
        tagmac.Tree(file, key).tag()
    with pytest.raises(ValueError, match="the sidecar does not exist; Tree.create creates"):
        tagmac.Tree(file, key).patch(0, b"x")
    assert not sidecar(file).exists()
    with pytest.raises(ValueError, match="^leaf: expected at most 67108864 bytes"):
        tagmac.Tree.create(file, key, leaf=1 << 30)
    tree = tagmac.Tree.create(file, key)
    assert repr(tree) == f'<tagmac.Tree PMAC-AES128 of "{file}">'
    with pytest.raises(ValueError, match="db.tagmac: the sidecar exists$"):
        tagmac.Tree.create(file, key)
    with pytest.raises(tagmac.WrongKey, match="the sidecar is sealed under another key"):
        tagmac.Tree(file, tagmac.Key.generate()).tag()
    with pytest.raises(OSError, match="none: No such file"):
        tagmac.Tree.create(tmp_path / "none", key)
    with pytest.raises(ValueError, match="cannot follow edits"):
        tagmac.Tree.create(file, tagmac.Key.generate("CMAC-AES128"))
    for call in (
        lambda: tree.patch(0, "text"),
        lambda: tree.patch(0),
        lambda: tree.truncate("1"),
        lambda: tree.tag(bytes(16)),
        lambda: tree.tag(expect="text"),
        lambda: tagmac.Tree(file, bytes(16)),
        lambda: tagmac.Tree(7, key),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(OverflowError):
        tree.truncate(-1)
    with pytest.raises(ValueError, match="db: length: expected at most the file's 300000 bytes"):
        tree.truncate(300_001)
    with pytest.raises(
        ValueError, match="db: offset and length: the range ends at byte 300001, after the file's 300000 bytes"
    ):
        tree.range(299_999, 2)
    with pytest.raises(ValueError, match="db: offset: expected an offset within the file's 300000"):
        tree.patch(1 << 62, b"x")
    with pytest.raises(ValueError, match="db: data: .*; append\\(\\) accepts what was added"):
        tree.patch(299_999, b"xy")
    with pytest.raises(ValueError, match="db: no edit was interrupted$"):
        tree.undo()


def test_an_altered_sidecar_is_refused(file):
    key = tagmac.Key.generate()
    tree = tagmac.Tree.create(file, key)
    sidecar(file).write_bytes(os.urandom(sidecar(file).stat().st_size))
    with pytest.raises(tagmac.InvalidTag):
        tree.tag()


def test_progress_and_stopping(file):
    key, told = tagmac.Key.generate(), []
    file.write_bytes(bytes(40_000_000))
    tagmac.Tree.create(file, key, progress=lambda *args: told.append(args))
    assert all(0 < done <= total == 40_000_000 for done, total in told)
    sidecar(file).unlink()

    def stop(done, total):
        raise KeyError("enough")

    # Signals are checked twenty times a second. A sparse file of zeros takes longer than that.
    os.truncate(file, 1 << 36)
    with pytest.raises(KeyError, match="enough"):
        tagmac.Tree.create(file, key, progress=stop)
    assert not sidecar(file).exists()


def test_the_commands_sidecar_is_ours(saved, command, file):
    key, path = saved
    tree = tagmac.Tree.create(file, key)
    _, tag = tree.tag()
    assert command("update", "-k", path, "db") == f"PMAC-AES128 (db) = {tag.hex()}\n"
    (file.parent / "patch").write_bytes(b"patched")
    line = command("update", "-k", path, "--patch", 7, "patch", "db")
    _, tag = tree.tag()
    assert line == f"PMAC-AES128 (db) = {tag.hex()}\n"
    assert tag == key.tag(file.read_bytes())
