"""Directories: manifests and audits."""

import logging
import os
import random
import re
import signal
import subprocess
import threading

import pytest

import tagmac


@pytest.fixture
def tree(tmp_path):
    """A directory with entries of every kind."""
    root = tmp_path / "tree"
    (root / "d").mkdir(parents=True)
    for name in ("same", "changed", "renamed", "missing", "d/deep"):
        (root / name).write_bytes(name.encode() * 1000)
    (root / "large").write_bytes(random.Random(5).randbytes(5_000_000))
    (root / "link").symlink_to("same")
    os.mkfifo(root / "pipe")
    (root / os.fsdecode(b"\xff\n")).write_bytes(b"a name of any bytes")
    return root


@pytest.fixture
def manifest(tmp_path):
    return tmp_path / "manifest"


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("alg", ["PMAC-AES128", "UMAC-64", "HMAC-SHA256"])
def test_what_an_audit_finds(alg, threads, tree, manifest):
    key = tagmac.Key.generate(alg)
    sealed = tagmac.seal(tree, key, manifest, threads=threads)
    size = sum(path.lstat().st_size for path in tree.rglob("*") if path.name not in ("d", "link"))
    assert (sealed.files, sealed.directories, sealed.links) == (7, 1, 1)
    assert (sealed.bytes, sealed.special, sealed.skipped, sealed.unreadable) == (size, 0, 1, 0)
    assert repr(sealed) == f"<tagmac.Sealed files=7 directories=1 links=1 bytes={size}>"
    report = tagmac.audit(manifest, tree, key, threads=threads)
    assert report
    assert report.ok
    assert (report.unchanged, report.skipped, report.differences) == (9, 1, [])

    (tree / "changed").write_bytes(b"other" * 1000 + b"xx")
    flipped = bytearray((tree / "large").read_bytes())
    flipped[4_000_000] ^= 1
    (tree / "large").write_bytes(flipped)
    (tree / "renamed").rename(tree / "d" / "elsewhere")
    (tree / "missing").unlink()
    (tree / "new").write_bytes(b"not there before")
    (tree / "link").unlink()
    (tree / "link").symlink_to("changed")
    report = tagmac.audit(str(manifest), str(tree), key, threads=threads)
    assert not report
    assert not report.ok
    found = {d.path: (d.kind, d.status, d.was, d.changes, d.reason) for d in report.differences}
    size = [("size", "7000", "5002")]
    assert found == {
        "changed": ("file", "changed", None, size, None),
        "large": ("file", "changed", None, [("content", None, None)], None),
        "link": ("link", "changed", None, [("target", "same", "changed")], None),
        "d/elsewhere": ("file", "renamed", "renamed", [], None),
        "missing": ("file", "missing", None, [], None),
        "new": ("file", "new", None, [], None),
    }
    counts = (report.unchanged, report.changed, report.new, report.missing, report.renamed)
    assert counts == (4, 3, 1, 1, 1)
    assert report.renames_complete
    assert repr(report) == (
        "<tagmac.AuditReport unchanged=4 changed=3 new=1 missing=1 renamed=1 unreadable=0>"
    )
    assert repr(report.differences[0]) == '<tagmac.Difference "changed" changed>'


def test_the_commands_manifests_are_ours(saved, command, tree, manifest):
    key, path = saved
    options = {"mode": True, "mtime": True, "special": True, "one_file_system": True}
    flags = [f"--{name.replace('_', '-')}" for name in options]
    tagmac.seal(tree, key, manifest, **options)
    command("seal", "-k", path, "-o", "theirs", *flags, "tree")
    theirs = manifest.with_name("theirs")
    # The day, the stamp of a file, and so the seal depend on the time.
    varying = re.compile(rb"\t\d{4}-\d\d-\d\d\t[^\t]+|^(?:sequence|seal): .*", re.MULTILINE)
    assert varying.sub(b"", theirs.read_bytes()) == varying.sub(b"", manifest.read_bytes())
    command("audit", "-k", path, "manifest", "tree")
    assert tagmac.audit(theirs, tree, key)
    (tree / "same").chmod(0o600)
    command("audit", "-k", path, "manifest", "tree", exits=1)
    [difference] = tagmac.audit(theirs, tree, key).differences
    assert [what for what, _, _ in difference.changes] == ["mode"]


def test_a_manifest_is_replaced_whole(saved, tree, manifest):
    key, _ = saved
    tagmac.seal(tree, key, manifest)
    before = manifest.read_bytes()
    (tree / "new").write_bytes(b"new")
    tagmac.seal(tree, key, manifest)
    assert manifest.read_bytes() != before
    manifest.write_bytes(b"a file that is no manifest")
    with pytest.raises((ValueError, OSError), match="manifest"):
        tagmac.seal(tree, key, manifest)
    assert manifest.read_bytes() == b"a file that is no manifest"


def test_what_is_refused(saved, tree, manifest, tmp_path):
    key, _ = saved
    tagmac.seal(tree, key, manifest)
    text = manifest.read_bytes()
    for altered in (
        text[:-2] + b"0\n",
        text.replace(b"same", b"sane"),
        b"",
        text + b"x",
        b"no manifest",
    ):
        other = tmp_path / "altered"
        other.write_bytes(altered)
        if altered == text:
            continue
        with pytest.raises(tagmac.InvalidTag, match="altered: "):
            tagmac.audit(other, tree, key)
    with pytest.raises(tagmac.WrongKey):
        tagmac.audit(manifest, tree, tagmac.Key.generate())
    with pytest.raises(OSError, match="none: No such file"):
        tagmac.audit(tmp_path / "none", tree, key)
    for directory in (tmp_path / "none", manifest):
        with pytest.raises(OSError, match="No such file|ot a directory"):
            tagmac.audit(manifest, directory, key)
        with pytest.raises(OSError, match="No such file|ot a directory"):
            tagmac.seal(directory, key, tmp_path / "other")
    assert not (tmp_path / "other").exists()
    for call in (
        lambda: tagmac.seal(tree, bytes(16), manifest),
        lambda: tagmac.seal(tree, key),
        lambda: tagmac.seal(tree, key, manifest, True),
        lambda: tagmac.audit(manifest, tree, bytes(16)),
        lambda: tagmac.audit(manifest, 7, key),
        lambda: tagmac.audit(manifest, tree, key, progress=7, threads=1),
    ):
        with pytest.raises(TypeError):
            call()


def test_what_cannot_be_read(saved, tmp_path, manifest, caplog):
    """A path that exceeds the system's limit: root can read everything else."""
    key, _ = saved
    tree, name = tmp_path / "tree", "x" * 250
    tree.mkdir()
    script = "cd tree; for i in $(seq 20); do mkdir $0; cd -P $0; echo x > f; done"
    subprocess.run(["sh", "-c", script, name], cwd=tmp_path, check=True)
    with pytest.raises(OSError, match="manifest: not written, as 1 entry could not be sealed"):
        tagmac.seal(tree, key, manifest)
    assert not manifest.exists()
    sealed = tagmac.seal(tree, key, manifest, skip_unreadable=True)
    assert (sealed.files, sealed.unreadable) == (16, 1)
    why = "paths in it that are longer than 4096 bytes: 1"
    assert all(why in record.message for record in caplog.records)
    report = tagmac.audit(manifest, tree, key)
    assert (report.unchanged, report.unreadable) == (31, 1)
    assert not report
    [difference] = report.differences
    assert difference.path == "/".join([name] * 16)
    assert (difference.status, difference.reason) == ("unreadable", why)


def test_remarks_are_logged(saved, tree, manifest, caplog):
    key, _ = saved
    tagmac.seal(tree, key, manifest)
    [record] = caplog.records
    assert (record.name, record.levelname) == ("tagmac", "WARNING")
    assert "pipe" in record.message


@pytest.mark.parametrize("threads", [1, 4])
def test_progress(saved, tree, manifest, threads):
    key, _ = saved
    told = []
    tagmac.seal(tree, key, manifest, threads=threads, progress=lambda *args: told.append(args))
    size = tagmac.seal(tree, key, manifest).bytes
    assert told[-1] == (size, size, 9, 9)
    assert told == sorted(told)
    told.clear()
    tagmac.audit(manifest, tree, key, threads=threads, progress=lambda *args: told.append(args))
    assert told[-1] == (size, size, 9, 9)


@pytest.fixture
def endless(tree):
    """A tree that takes far longer than the time between two calls, and little space. The long part
    comes after everything that may cause a warning, also for one thread.
    """
    for name in ("y", "z"):
        os.truncate(os.open(tree / name, os.O_CREAT | os.O_WRONLY), 1 << 36)
    return tree


@pytest.mark.parametrize("threads", [1, 4])
def test_an_exception_ends_the_work(saved, endless, manifest, threads, tmp_path):
    key, _ = saved

    def stop(*args):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        tagmac.seal(endless, key, manifest, threads=threads, progress=stop)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my.key", "tree"]


@pytest.fixture
def ctrl_c():
    """Ctrl-C as in a terminal: a shell's background processes ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_the_work(saved, endless, manifest):
    key, _ = saved
    started = threading.Event()

    def interrupt():
        started.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        tagmac.seal(endless, key, manifest, progress=lambda *args: started.set())
    thread.join()
    assert not manifest.exists()


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_in_a_remark_ends_the_work(saved, endless, manifest):
    key, _ = saved

    class Interrupts(logging.Handler):
        def emit(self, record):
            # Only once: the interrupted work may log a warning too.
            if "pipe" in record.getMessage():
                os.kill(os.getpid(), signal.SIGINT)

    handler = Interrupts()
    logging.getLogger("tagmac").addHandler(handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            tagmac.seal(endless, key, manifest)
    finally:
        logging.getLogger("tagmac").removeHandler(handler)
    assert not manifest.exists()


def test_others_run_meanwhile(saved, endless, manifest):
    """The interpreter is free while a tree is read: another thread ends the work."""
    key, _ = saved
    ran, stop = threading.Event(), threading.Event()

    def other():
        ran.wait()
        stop.set()

    def look(*args):
        ran.set()
        if stop.is_set():
            raise KeyError("enough")

    thread = threading.Thread(target=other)
    thread.start()
    with pytest.raises(KeyError):
        tagmac.seal(endless, key, manifest, progress=look)
    thread.join()


def test_filters_and_what_was_not_read(tree, manifest, tmp_path):
    key = tagmac.Key.generate()
    sealed = tagmac.seal(tree, key, manifest, exclude=["*e", "!same"], max_depth=1, owner=True)
    assert (sealed.files, sealed.left_out, sealed.carried) == (5, 3, 0)
    (tree / "more").write_bytes(b"left out, as it ends in e")
    report = tagmac.audit(manifest, tree, key)
    assert report.ok
    assert report.left_out == 4
    (tree / "other").write_bytes(b"")
    assert [d.path for d in tagmac.audit(manifest, tree, key).differences] == ["other"]
    with pytest.raises(ValueError, match="pattern 'a//b': it contains an empty name"):
        tagmac.seal(tree, key, manifest, exclude=["a//b"])

    # Files that were just written are read again, whatever their times.
    tagmac.seal(tree, key, manifest)
    sealed = tagmac.seal(tree, key, manifest, since=manifest)
    assert 0 <= sealed.carried <= sealed.files
    assert tagmac.audit(manifest, tree, key).ok
    with pytest.raises(OSError, match="none: No such file or directory"):
        tagmac.seal(tree, key, manifest, since=tmp_path / "none")
    with pytest.raises(tagmac.WrongKey, match="cannot continue the old one"):
        tagmac.seal(tree, tagmac.Key.generate(), manifest)
    tagmac.seal(tree, tagmac.Key.generate(), manifest, new_chain=True)


def test_a_part_a_ledger_and_a_pin(tree, tmp_path):
    key = tagmac.Key.generate()
    manifest = tmp_path / "manifest"
    for number in range(20):
        (tree / f"f{number}").write_text(f"text {number}")
    files = tagmac.seal(tree, key, manifest).files
    first = manifest.read_bytes()
    records = {"ledger": tmp_path / "ledger", "pin": tmp_path / "pin"}

    parts = [tagmac.audit(manifest, tree, key, subset=(n, 3), **records) for n in (1, 2, 3)]
    assert sum(report.files_read for report in parts) == files
    assert all(report.ok and report.sequence == 1 for report in parts)
    assert all(report.not_read == files - report.files_read for report in parts)
    assert parts[0].missed > 0 and parts[0].oldest_read

    quick = tagmac.audit(manifest, tree, key, quick=True)
    assert (quick.files_read, quick.bytes_read, quick.missed) == (0, 0, 1.0)
    # Ledgers know what was read longest ago.
    report = tagmac.audit(manifest, tree, key, sample=1.0, oldest_first=True, **records)
    assert (report.files_read, report.missed) == (files, 0.0)
    assert tagmac.audit(manifest, tree, key, max_bytes=0).files_read <= 1

    seal = bytes.fromhex(first.rsplit(b"seal: ")[-1].strip().decode())
    assert tagmac.audit(manifest, tree, key, expect=seal)
    with pytest.raises(tagmac.InvalidTag, match="expected the seal 00"):
        tagmac.audit(manifest, tree, key, expect=bytes(32))

    # A manifest that is older than the pin.
    tagmac.seal(tree, key, manifest)
    assert tagmac.audit(manifest, tree, key, pin=records["pin"]).sequence == 2
    manifest.write_bytes(first)
    with pytest.raises(tagmac.InvalidTag, match="rolled back"):
        tagmac.audit(manifest, tree, key, pin=records["pin"])

    # In the directory they are not new files.
    inside = {"ledger": tree / "ledger", "pin": tree / "pin"}
    for _ in range(2):
        assert tagmac.audit(manifest, tree, key, **inside).ok
    assert inside["ledger"].exists() and inside["pin"].exists()
    assert [one.path for one in tagmac.audit(manifest, tree, key).differences] == ["ledger", "pin"]

    (tree / "f1").write_text("other")
    report = tagmac.audit(manifest, tree, key, paths=["./f0", "f2"])
    assert report.ok and report.unchanged == 2
    assert not tagmac.audit(manifest, tree, key, paths=["f1"])


def test_a_sample_of_leaves(tree, tmp_path):
    key, manifest = tagmac.Key.generate(), tmp_path / "manifest"
    large = bytearray(random.Random(1).randbytes(40 * 4096))
    (tree / "large").write_bytes(large)
    files = tagmac.seal(tree, key, manifest).files
    with pytest.raises(ValueError, match="no leaf tags; seal it with leaf tags"):
        tagmac.audit(manifest, tree, key, sample_leaves=1.0)
    tagmac.seal(tree, key, manifest, leaves=4096)
    report = tagmac.audit(manifest, tree, key, sample_leaves=1.0)
    # Four other files have two leaves each. The rest are not longer than a leaf.
    assert report.ok and report.not_read == 5 and report.files_read == files - 5
    assert report.leaves == report.leaves_read == files - 5 + 4 * 2 + 40 and report.missed == 0
    assert tagmac.audit(manifest, tree, key).leaves is None
    report = tagmac.audit(manifest, tree, key, sample_leaves=0.0)
    assert (report.leaves_read, report.bytes_read, report.missed) == (0, 0, 1.0)
    large[9 * 4096] ^= 1
    (tree / "large").write_bytes(large)
    (found,) = tagmac.audit(manifest, tree, key, sample_leaves=1.0).differences
    assert found.path == "large" and ("content", None, None) in found.changes


@pytest.mark.parametrize(
    "options, says",
    [
        ({"quick": True, "sample": 0.5}, "expected at most one"),
        ({"sample_leaves": 0.5, "sample": 0.5}, "expected at most one"),
        ({"sample_leaves": -0.5}, "from 0 to 1"),
        ({"paths": ["a"], "sample_leaves": 0.5}, "cannot be combined"),
        ({"sample_leaves": 0.5, "oldest_first": True, "ledger": "l"}, "needs a ledger"),
        ({"subset": (0, 3)}, "such as \\(3, 7\\)"),
        ({"subset": (4, 3)}, "such as \\(3, 7\\)"),
        ({"sample": 1.5}, "from 0 to 1"),
        ({"oldest_first": True}, "needs a ledger"),
        ({"quick": True, "ledger": "l"}, "a quick audit reads nothing"),
        ({"paths": ["a"], "sample": 0.5}, "cannot be combined"),
        ({"paths": ["/a"]}, "relative to the directory"),
        ({"paths": ["../a"]}, "relative to the directory"),
    ],
)
def test_parts_that_cannot_be(tree, tmp_path, options, says):
    key = tagmac.Key.generate()
    tagmac.seal(tree, key, tmp_path / "manifest")
    with pytest.raises(ValueError, match=says):
        tagmac.audit(tmp_path / "manifest", tree, key, **options)
