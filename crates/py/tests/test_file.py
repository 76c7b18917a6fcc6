"""file_digest: paths and file objects."""

import io
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading

import pytest
from conftest import within_limit

import tagmac

KEY = tagmac.Key(bytes(range(16)))
STEP, PIECE = 128 << 10, 512 << 10
SIZES = [0, 1, 16, 17, STEP - 1, STEP, STEP + 1, PIECE, PIECE + 1, 3 * PIECE, 5_000_001]


@pytest.fixture(scope="module")
def data():
    return random.Random(1).randbytes(max(SIZES))


@pytest.mark.parametrize("size", SIZES)
def test_sizes(tmp_path, data, some, size):
    key, nonce = some
    path = tmp_path / "file"
    path.write_bytes(data[:size])
    expected = key.tag(data[:size], nonce)
    for threads in (0, 1, 2, 7):
        assert tagmac.file_digest(path, key, nonce=nonce, threads=threads) == expected
    with path.open("rb") as file:
        assert tagmac.file_digest(file, key, nonce=nonce) == expected
    with path.open("rb", buffering=0) as file:
        assert tagmac.file_digest(file, key, nonce=nonce) == expected
    assert tagmac.file_digest(io.BytesIO(data[:size]), key, nonce=nonce) == expected


def test_every_algorithm(tmp_path, data, each):
    key, nonce = each
    data = within_limit(key, nonce, data[:2_000_003])
    path = tmp_path / "file"
    path.write_bytes(data)
    expected = key.tag(data, nonce)
    assert tagmac.file_digest(path, key, nonce=nonce, threads=2) == expected


def test_names(tmp_path):
    path = tmp_path / "näme"
    path.write_bytes(b"x")
    for name in (path, str(path), os.fsencode(path)):
        assert tagmac.file_digest(name, KEY) == KEY.tag(b"x")
    assert tagmac.file_digest(path, bytes(range(16)), tag_bits=64) == KEY.tag(b"x")[:8]
    assert tagmac.file_digest(path, bytes(16), "cmac-aes128") == tagmac.digest(
        bytes(16), b"x", "CMAC-AES128"
    )


def test_a_file_object_is_read_from_where_it_stands(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    with path.open("rb") as file:
        file.read(4)
        assert tagmac.file_digest(file, KEY) == KEY.tag(b"456789")
        assert tagmac.file_digest(file, KEY) == KEY.tag(b"")
        assert not file.closed


def test_pipes_and_files_that_say_they_are_empty(tmp_path, data):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(data,))
    writer.start()
    assert tagmac.file_digest(fifo, KEY) == KEY.tag(data)
    writer.join()
    version = pathlib.Path("/proc/version")
    if version.exists():
        assert tagmac.file_digest(version, KEY) == KEY.tag(version.read_bytes())


def test_errors_are_pythons(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        tagmac.file_digest(tmp_path / "none", KEY)
    assert error.value.filename == str(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        tagmac.file_digest(tmp_path, KEY)
    with pytest.raises(ValueError):
        closed = io.BytesIO()
        closed.close()
        tagmac.file_digest(closed, KEY)
    with pytest.raises(ValueError, match="limit"):
        path = tmp_path / "file"
        path.write_bytes(bytes(1 << 20))
        tagmac.file_digest(path, tagmac.Key.generate("LIGHTMAC-AES128-S8"), threads=2)


def test_files_in_text_mode(tmp_path):
    path = tmp_path / "file"
    path.write_text("text")
    line = (
        r'^the file is open in text mode; open it with open\(path, "rb"\)$'
    )
    with path.open() as file, tempfile.NamedTemporaryFile("w+") as named:
        for text in (file, named, io.StringIO("text")):
            with pytest.raises(TypeError, match=line):
                tagmac.file_digest(text, KEY)
        assert file.read() == "text"

    class OnlyRead:
        def read(self, size=-1):
            return b""

    with pytest.raises(
        TypeError, match="^expected a path or a file with readinto, found OnlyRead$"
    ):
        tagmac.file_digest(OnlyRead(), KEY)

    class PathThatReads(OnlyRead):
        def __fspath__(self):
            return str(path)

    assert tagmac.file_digest(PathThatReads(), KEY) == KEY.tag(b"text")


@pytest.mark.parametrize("result", [None, -1, 1 << 40, "x"])
def test_file_objects_that_lie(result):
    class Liar:
        def readinto(self, buffer):
            return result

    with pytest.raises((OSError, ValueError, OverflowError, TypeError)):
        tagmac.file_digest(Liar(), KEY)


def test_a_file_object_that_meddles_with_the_buffer():
    class Meddler:
        def readinto(self, buffer):
            buffer.clear()

    with pytest.raises(BufferError):
        tagmac.file_digest(Meddler(), KEY)


def test_a_file_object_that_fails():
    class Broken:
        def readinto(self, buffer):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tagmac.file_digest(Broken(), KEY)


@pytest.mark.parametrize("threads", [1, 3])
def test_progress(tmp_path, data, threads):
    path = tmp_path / "file"
    path.write_bytes(data)
    calls = []
    tagmac.file_digest(path, KEY, threads=threads, progress=lambda *call: calls.append(call))
    assert calls[0] == (0, len(data)) and calls[-1] == (len(data), len(data))
    assert calls == sorted(calls)
    calls.clear()
    tagmac.file_digest(io.BytesIO(data), KEY, progress=lambda *call: calls.append(call))
    assert calls[0] == (0, None) and calls[-1] == (len(data), None)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_progress_stops_the_work(tmp_path, at):
    """At the first call, at a later one, or at the last."""
    path = tmp_path / "file"
    # In one case so long that the work takes longer than the time between two calls.
    size = 1 << 36 if at == 1 else 5_000_000
    with path.open("wb") as file:
        file.truncate(size)
    calls = []

    def stop(done, total):
        calls.append(done)
        if at == 0 or at == 1 and done > 0 or done == total:
            raise InterruptedError(f"at {done}")

    with pytest.raises(InterruptedError):
        tagmac.file_digest(path, KEY, threads=2, progress=stop)
    assert len(calls) == 1 if at == 0 else len(calls) > 1
    assert (calls[-1] == size) == (at == 2)


def test_a_file_that_changes(tmp_path, data):
    path = tmp_path / "file"
    path.write_bytes(data)
    for size in (len(data) + 1, 100):

        def change(done, total):
            if done == 0:
                os.truncate(path, size)

        for alg in ("PMAC-AES128", "HMAC-SHA256"):
            path.write_bytes(data)
            with pytest.raises(OSError, match="the file changed while it was read"):
                tagmac.file_digest(path, bytes(16), alg, progress=change)


@pytest.mark.parametrize("what", ["file", "fifo"])
def test_ctrl_c(tmp_path, what):
    path = tmp_path / what
    if what == "fifo":
        os.mkfifo(path)
    else:
        with path.open("wb") as file:
            file.truncate(1 << 40)
    code = (
        # A shell's background children ignore the signal.
        "import signal, sys, tagmac\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def ready(done, total):\n"
        "    if done == 0:\n"
        "        print('ready', flush=True)\n"
        "try:\n"
        "    tagmac.file_digest(sys.argv[1], bytes(16), progress=ready)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped')\n"
    )
    command = [sys.executable, "-c", code, path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        # The file takes minutes, and the pipe has no writer.
        writer = os.open(path, os.O_RDWR) if what == "fifo" else None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate()[0] == "stopped\n"
        if writer is not None:
            os.close(writer)


def test_swapped_arguments_are_named(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"x")
    for swapped in ((KEY, path), (KEY, str(path)), (bytes(16), path), (bytes(16), str(path))):
        with pytest.raises(TypeError, match=r"^the file comes before the key: file_digest\(file, "):
            tagmac.file_digest(*swapped)
    # Two paths are not swapped: the second one is wrong.
    with pytest.raises(TypeError, match="^expected bytes, found str"):
        tagmac.file_digest(path, str(path))
