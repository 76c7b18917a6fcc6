"""Keys from files, variables and commands, references to them, and objects that cannot be pickled.
"""

import base64
import copy
import io
import os
import pickle
import subprocess
import sys

import pytest
from tagmac import _keyref

import tagmac

BYTES = bytes(range(16))
ID = tagmac.Key(BYTES).id
# Keys of several algorithms, so that no test finds another test's key in the cache.
FRESH = tagmac.Key.generate


@pytest.fixture(autouse=True)
def forget():
    """Clears the cache, so that each test looks like a new process to references."""
    _keyref._resolved.clear()


def test_every_source_gives_the_same_key(saved, monkeypatch):
    key, path = saved
    monkeypatch.setenv("TAGMAC_TEST_KEY", path.read_text())
    assert tagmac.Key.from_file(path).id == key.id
    assert tagmac.Key.from_env("TAGMAC_TEST_KEY").id == key.id
    assert tagmac.Key.from_command(["cat", str(path)]).id == key.id
    # A shell's $(...) removes the last line feed.
    monkeypatch.setenv("TAGMAC_TEST_KEY", path.read_text().rstrip("\n"))
    assert tagmac.Key.from_env("TAGMAC_TEST_KEY").id == key.id
    path.write_text(path.read_text().rstrip("\n"))
    assert tagmac.Key.from_command(("cat", str(path))).id == key.id
    with pytest.raises(ValueError, match="key file .*my.key: line 6: .*found the end of the file"):
        tagmac.Key.from_file(path)


@pytest.mark.parametrize(
    ("format", "text"),
    [("raw", BYTES), ("hex", BYTES.hex().encode()), ("base64", base64.b64encode(BYTES) + b"\n")],
)
def test_keys_of_other_programs(format, text, tmp_path):
    path = tmp_path / "key"
    path.write_bytes(text)
    alg = "pmac-aes128"
    assert tagmac.Key.from_file(path, alg=alg, format=format).id == ID
    assert tagmac.Key.from_command(["cat", str(path)], alg=alg, format=format).id == ID
    key = tagmac.Key.from_file(path, alg=alg, format=format, tag_bits=64)
    assert key.digest_size == 8
    with pytest.raises(
        ValueError, match="alg: a bare key needs its algorithm's name"
    ):
        tagmac.Key.from_file(path, format=format)
    with pytest.raises(ValueError, match="not a key file; for other keys give format raw"):
        tagmac.Key.from_file(path)
    with pytest.raises(ValueError, match="expected a key of 32 bytes, found 16"):
        tagmac.Key.from_file(path, alg="PMAC-AES256", format=format)


def test_what_is_refused(saved, monkeypatch, tmp_path):
    key, path = saved
    with pytest.raises(FileNotFoundError) as error:
        tagmac.Key.from_file(tmp_path / "none")
    assert error.value.filename == str(tmp_path / "none")
    with pytest.raises(
        ValueError, match="format: expected one of auto, raw, hex, base64, found 'x'"
    ):
        tagmac.Key.from_file(path, format="x")
    with pytest.raises(
        ValueError, match="expected a key for UMAC-64 \\(alg\\), found one for PMAC"
    ):
        tagmac.Key.from_file(path, alg="UMAC-64")
    with pytest.raises(
        ValueError, match="environment variable TAGMAC_NONE: the variable is not set"
    ):
        tagmac.Key.from_env("TAGMAC_NONE")
    for name in ("", "A=B", "A\0B"):
        with pytest.raises(ValueError, match="the variable's name is empty or contains"):
            tagmac.Key.from_env(name)
    for command in ("cat", b"cat", [], 7, None, [7]):
        with pytest.raises(TypeError, match="command: expected a list of words"):
            tagmac.Key.from_command(command)
    for words, line in [
        (
            ["false", "secret"],
            "command false: the command failed: exit status: 1",
        ),
        (["tagmac-no-such-command", "secret"], "command tagmac-no-such-command: No such file"),
        (
            ["true", "secret"],
            "command true: the key is empty",
        ),
        (["yes", "secret"], "command yes: longer than 64 KiB"),
    ]:
        with pytest.raises(ValueError, match=line) as error:
            tagmac.Key.from_command(words)
        assert "secret" not in str(error.value)
    # The command does not inherit standard input.
    with pytest.raises(ValueError, match="the key is empty"):
        tagmac.Key.from_command(["cat"])
    os.mkfifo(tmp_path / "pipe")
    for file in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ValueError, match="key file "):
            tagmac.Key.from_file(file)


def test_a_pipe_of_the_process(saved):
    key, path = saved
    reader, writer = os.pipe()
    with open(reader, "rb"), open(writer, "wb") as to:
        to.write(path.read_bytes())
        to.close()
        assert tagmac.Key.from_file(f"/dev/fd/{reader}").id == key.id


def test_a_file_that_others_can_write(saved, tmp_path, caplog):
    _, path = saved
    for mode in (0o620, 0o602, 0o666):
        path.chmod(mode)
        with pytest.raises(
            ValueError, match=f"others can write to it \\(mode {mode:04o}\\)"
        ):
            tagmac.Key.from_file(path)
    path.chmod(0o600)
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    path.rename(folder / "my.key")
    with pytest.raises(ValueError, match="others can put another key into the folder "):
        tagmac.Key.from_file(folder / "my.key")
    folder.chmod(0o755)
    assert not caplog.records
    (folder / "my.key").chmod(0o644)
    tagmac.Key.from_file(folder / "my.key")
    [record] = caplog.records
    assert (record.name, record.levelname) == ("tagmac", "WARNING")
    assert "expected mode 0600, found 0644: others can read the key" in record.message


def test_a_newline_after_a_text_is_remarked_on(tmp_path, caplog):
    path = tmp_path / "key"
    for text, remarks in ((b"sixteen letters.", 0), (b"fifteen letters\n", 1)):
        path.write_bytes(text)
        path.chmod(0o600)
        tagmac.Key.from_file(path, alg="PMAC-AES128", format="raw")
        assert len(caplog.records) == remarks
    assert "the key is a text and its newline is part of the key" in caplog.records[0].message


def holders():
    """All objects that contain a key or its state."""
    key = FRESH()
    return [key, key.new(b"x"), tagmac.Part(key, object="o", version="1"), tagmac.Session(key)]


@pytest.mark.parametrize("thing", holders(), ids=lambda thing: type(thing).__name__)
@pytest.mark.parametrize(
    "leave",
    [
        *[lambda thing, p=p: pickle.dumps(thing, p) for p in range(pickle.HIGHEST_PROTOCOL + 1)],
        lambda thing: pickle.Pickler(io.BytesIO()).dump([thing]),
        copy.copy,
        copy.deepcopy,
        lambda thing: copy.deepcopy({"key": [thing]}),
    ],
)
def test_no_key_is_pickled_or_copied(thing, leave):
    with pytest.raises(TypeError) as error:
        leave(thing)
    text = str(error.value)
    assert f"tagmac.{type(thing).__name__} cannot be pickled or copied; " in text
    assert text.endswith(" a tagmac.KeyRef and call resolve() where the key is used")


def test_references(saved, monkeypatch, tmp_path):
    key, path = saved
    monkeypatch.setenv("TAGMAC_TEST_KEY", path.read_text())
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    for ref in (
        tagmac.KeyRef.file(path),
        tagmac.KeyRef.file(str(path), id=key.id, alg="pmac-aes128"),
        tagmac.KeyRef.env("TAGMAC_TEST_KEY"),
        tagmac.KeyRef.command(["cat", str(path)]),
        tagmac.KeyRef.secret("my.key", id=key.id),
    ):
        for again in (ref, copy.deepcopy(ref), pickle.loads(pickle.dumps(ref))):
            assert again == ref
            assert hash(again) == hash(ref)
            assert again.resolve().id == key.id
            # Read once in a process, not once for each copy.
            assert again.resolve() is ref.resolve()
    assert tagmac.KeyRef.file(path, tag_bits=64).resolve().digest_size == 8


def test_a_reference_holds_no_key(saved):
    key, path = saved
    ref = tagmac.KeyRef.command(["sh", "-c", f"cat '{path}' # secret"], id=key.id)
    ref2 = tagmac.KeyRef.file(path)
    hexed = next(line for line in path.read_text().splitlines() if line.startswith("key: "))[5:]
    for one in (ref, ref2):
        assert one.resolve().id == key.id
        for text in (repr(one), str(one), repr(pickle.dumps(one)), repr(one.__getstate__())):
            assert hexed not in text
            assert repr(bytes.fromhex(hexed))[2:-1] not in text
    assert repr(ref) == f"KeyRef.command(['sh', ...], id='{key.id}')"
    assert repr(ref2) == f"KeyRef.file('{path}')"
    assert repr(tagmac.KeyRef.env("A", alg="umac-64")) == "KeyRef.env('A', alg='UMAC-64')"


def test_pins(saved):
    key, path = saved
    other = "0123456789abcdef"
    with pytest.raises(tagmac.WrongKey) as error:
        tagmac.KeyRef.file(path, id=other).resolve()
    line = f"KeyRef.file('{path}', id='{other}'): expected a key with id {other}, found one with id {key.id}"
    assert str(error.value).startswith(line)
    with pytest.raises(
        tagmac.WrongKey, match="expected a key for UMAC-64, found one for PMAC-AES128"
    ):
        tagmac.KeyRef.file(path, alg="UMAC-64").resolve()
    # A refused key is refused again.
    with pytest.raises(tagmac.WrongKey):
        tagmac.KeyRef.file(path, id=other).resolve()
    for id in ("", "0123456789ABCDEF", "0123456789abcde", "0123456789abcdefg", "expected a key 0"):
        with pytest.raises(ValueError, match="id: expected 16 lower-case hex digits, found"):
            tagmac.KeyRef.file(path, id=id)
    with pytest.raises(
        ValueError, match="alg: unknown algorithm 'X': tagmac.algorithms_available lists"
    ):
        tagmac.KeyRef.file(path, alg="x")
    with pytest.raises(ValueError, match="alg: a bare key needs its algorithm's name"):
        tagmac.KeyRef.file(path, format="hex")


def test_references_that_lead_nowhere(tmp_path, monkeypatch):
    here = f"process {os.getpid()}"
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    for ref, line in [
        (
            tagmac.KeyRef.file(tmp_path / "none"),
            f"No such file or directory: '{tmp_path / 'none'}'",
        ),
        (tagmac.KeyRef.env("TAGMAC_NONE"), "environment variable TAGMAC_NONE: the variable"),
        (tagmac.KeyRef.command(["false"]), "command false: the command failed"),
        (
            tagmac.KeyRef.secret("tagmac-none"),
            "in /run/secrets; $CREDENTIALS_DIRECTORY",
        ),
    ]:
        with pytest.raises(tagmac.KeyUnavailable) as error:
            ref.resolve()
        text = str(error.value)
        assert text.startswith(f"{ref!r}: ")
        assert line in text
        assert here in text
    for name in ("", ".", "..", "a/b", "/etc/passwd", "a\0b"):
        with pytest.raises(ValueError, match="expected the name of a secret"):
            tagmac.KeyRef.secret(name)
    for words in ("cat", b"cat", []):
        with pytest.raises(TypeError, match="command: expected a list of words"):
            tagmac.KeyRef.command(words)


def test_another_process_resolves_for_itself(saved):
    key, path = saved
    ref = tagmac.KeyRef.file(path, id=key.id)
    ref.resolve()
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).resolve().id)"
    run = [sys.executable, "-c", code]
    out = subprocess.run(run, input=pickle.dumps(ref), capture_output=True, check=True)
    assert out.stdout.decode().strip() == key.id
    path.unlink()
    out = subprocess.run(run, input=pickle.dumps(ref), capture_output=True)
    assert out.returncode == 1
    assert b"tagmac.KeyUnavailable: KeyRef.file(" in out.stderr
    # This process has read the key.
    assert ref.resolve().id == key.id
