"""Checks an installed tagmac, on any platform: scripts/check-wheels runs it.

Run it as `python smoke.py`. It needs only tagmac and the standard library. `--replace-nothing` is
for Wine 8, which cannot replace a file, and lists open files that were removed.
"""

import doctest
import hmac
import importlib.metadata
import os
import platform
import sys
import sysconfig
import tempfile
import threading
from pathlib import Path

import tagmac

KEY = tagmac.Key(bytes(range(16)))
MESSAGE = b"pay 100 to Bob"
TAG = "9e734e637ff8ed4e707b6ef745d34b84"
REPLACES = "--replace-nothing" not in sys.argv[1:]


def metadata() -> None:
    about = importlib.metadata.metadata("tagmac")
    assert about["Version"] == tagmac.__version__
    assert about["License-Expression"] == "MIT OR Apache-2.0"
    files = importlib.metadata.files("tagmac") or []
    for name in about.get_all("License-File"):
        (found,) = [file for file in files if str(file).endswith(f"licenses/{name}")]
        assert len(found.read_text()) > 1000, name
    names = {str(file) for file in files}
    modules = ("py.typed", "_tagmac.pyi", "fsspec/__init__.py", "s3/__init__.py")
    assert {f"tagmac/{name}" for name in modules} <= names
    (entry,) = importlib.metadata.entry_points(group="fsspec.specs", name="tagmac")
    assert entry.value == "tagmac.fsspec:VerifiedFileSystem"
    # The metadata that a package index shows.
    page = doctest.DocTestParser().get_doctest(about.get_payload(), {}, "README.md", None, 0)
    assert len(page.examples) > 3
    assert doctest.DocTestRunner().run(page).failed == 0


def algorithms() -> None:
    assert len(tagmac.algorithms_available) > 10
    assert KEY.tag(MESSAGE).hex() == TAG
    key = bytes(range(32))
    assert tagmac.new(key, MESSAGE, "HMAC-SHA256").digest() == hmac.digest(key, MESSAGE, "sha256")
    for name in tagmac.algorithms_available:
        made = tagmac.Key.generate(name)
        nonce = bytes(16 if name.startswith("POLY") else 8)
        try:
            tag = made.tag(MESSAGE)
        except tagmac.NonceRequired:
            tag = made.tag(MESSAGE, nonce)
        else:
            nonce = b""
        made.verify(MESSAGE, tag, nonce)
        try:
            made.verify(MESSAGE + b"0", tag, nonce)
        except tagmac.InvalidTag:
            continue
        raise AssertionError(f"{name}: a wrong message has passed")


def files() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=not REPLACES) as folder:
        path = Path(folder, "data")
        path.write_bytes(os.urandom(3_000_001))
        assert tagmac.file_digest(path, KEY, threads=2) == KEY.tag(path.read_bytes())
        KEY.save(Path(folder, "my.key"))
        assert tagmac.Key.from_file(Path(folder, "my.key")) == KEY
        tree = Path(folder, "tree")
        tree.mkdir()
        for name in ("a", "b"):
            Path(tree, name).write_text(name)
        manifest = Path(folder, "manifest")
        tagmac.seal(tree, KEY, manifest)
        assert tagmac.audit(manifest, tree, KEY)
        Path(tree, "a").write_text("A")
        assert [one.path for one in tagmac.audit(manifest, tree, KEY).differences] == ["a"]
        Path(tree, "b").write_bytes(bytes(10_000))
        if not REPLACES:
            manifest = Path(folder, "another")
        tagmac.seal(tree, KEY, manifest, leaves=4096)
        with tagmac.open_verified(tree / "b", KEY, manifest=manifest) as file:
            assert file.read_at(5000, 10) == bytes(10)


def threads() -> None:
    shared = KEY.new()
    piece = bytes(5000)

    def work() -> None:
        for _ in range(200):
            shared.update(piece)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert shared.digest() == KEY.tag(piece * 800)
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        # Importing tagmac must not re-enable the GIL.
        assert not sys._is_gil_enabled()


for check in (metadata, algorithms, files, threads):
    check()
system = f"{platform.system()}, {platform.machine()}"
print(f"tagmac {tagmac.__version__} on Python {platform.python_version()}, {system}: all right")
