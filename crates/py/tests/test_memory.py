"""Sizes that exceed the machine's memory: MemoryError, and not an abort."""

import subprocess
import sys
import textwrap

import pytest

#: The start of each script. It leaves little memory, however much the interpreter uses.
START = """
    import itertools, mmap, resource, sys

    import numpy as np
    import pyarrow as pa
    import tagmac
    from tagmac import _tagmac

    MIB = 1 << 20
    KEY = tagmac.Key(bytes(16))
    UMAC = tagmac.Key(bytes(16), "UMAC-64")

    def leave(left):
        with open("/proc/self/statm") as file:
            taken = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + left, taken + left))

    def raises(error, call):
        try:
            call()
        except error as found:
            return str(found)
        raise AssertionError(f"expected {error}")
"""


def run(script, *arguments):
    text = textwrap.dedent(START) + textwrap.dedent(script)
    done = subprocess.run([sys.executable, "-c", text, *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "messages",
    [
        "np.zeros((1 << 40, 0), 'u1')",
        "pa.Array.from_buffers(pa.binary(0), (1 << 31) - 1, [None, pa.py_buffer(b'')])",
        "pa.chunked_array([pa.Array.from_buffers(pa.binary(0), 1 << 30, [None, pa.py_buffer(b'')])])",
        "itertools.repeat(b'')",
        "(bytearray() for _ in itertools.count())",
    ],
)
def test_more_messages_than_memory(messages):
    """The input is valid and has a few hundred bytes."""
    script = """
        leave(64 * MIB)
        messages = lambda: eval(sys.argv[1])
        raises(MemoryError, lambda: tagmac.tag_many(KEY, messages()))
        raises(MemoryError, lambda: tagmac.tag_many(UMAC, messages(), messages()))
        raises(MemoryError, lambda: tagmac.verify_many(KEY, messages(), b""))
        raises(MemoryError, lambda: tagmac.verify_many(KEY, [b""], messages()))
        raises(MemoryError, lambda: tagmac.combine(KEY, messages()))
        # Memory is left for calls that fit.
        assert len(tagmac.tag_many(KEY, [b""] * 1000)) == 16_000
    """
    run(script, messages)


def test_each_step_of_many_messages():
    """Memory runs out at the messages, at the nonces, at the tags and at the verdicts."""
    script = """
        rows = np.zeros((1 << 18, 8), "u1")
        unordered = np.ascontiguousarray(np.arange(1 << 18, dtype=">u8")[::-1].reshape(-1, 1).view("u1"))
        tags = np.zeros((1 << 18, 16), "u1")
        calls = (
            lambda: tagmac.tag_many(KEY, rows),
            lambda: tagmac.tag_many(UMAC, rows, unordered),
            lambda: tagmac.verify_many(KEY, rows, tags),
        )
        ended = set()
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        for call in calls:
            for left in range(0, 48, 3):
                with open("/proc/self/statm") as file:
                    taken = int(file.read().split()[0]) * resource.getpagesize()
                resource.setrlimit(resource.RLIMIT_AS, (taken + left * MIB, hard))
                try:
                    call()
                    ended.add("made")
                except (MemoryError, tagmac.InvalidTag) as error:
                    ended.add(type(error).__name__)
                resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        assert ended == {"made", "MemoryError", "InvalidTag"}, ended
    """
    run(script)


def test_lengths_are_not_believed():
    script = """
        leave(64 * MIB)
        for count in (1 << 40, 1 << 62):
            line = raises(TypeError, lambda: tagmac.Key.from_command(range(count)))
            assert line.startswith("command: expected a list of words"), line
            line = raises(ValueError, lambda: _tagmac.shard_seal(KEY, 0, [], range(count), []))
            assert line == f"expected 0 sizes, found {count}", line
            raises(TypeError, lambda: _tagmac.root_seal(KEY, range(count)))
    """
    run(script)


def test_one_argument_larger_than_what_is_left(tmp_path):
    """Every call with a buffer that cannot be copied: a result or an exception."""
    script = """
        big = mmap.mmap(-1, 64 * MIB)
        text = "x" * (48 * MIB)
        path = sys.argv[1]
        with open(path, "wb") as file:
            file.write(bytes(10_000))
        tree = tagmac.Tree.create(path, KEY)
        part = tagmac.Part(KEY, object="o", version="1").update(bytes(16)).seal()
        leave(40 * MIB)
        assert KEY.tag(big) == KEY.new(big).digest()
        assert len(tagmac.tag_many(KEY, [big, big])) == 32
        tagmac.Part(KEY, object="o", version="1").update(big)
        calls = (
            lambda: tagmac.Key(big),
            lambda: tagmac.Key(big, "HMAC-SHA256"),
            lambda: tagmac.new(big),
            lambda: tagmac.digest(big, b""),
            lambda: KEY.verify(b"", big),
            lambda: KEY.new().verify(big),
            lambda: KEY.restore(big),
            lambda: UMAC.tag(b"", big),
            lambda: UMAC.new(b"", big),
            lambda: tagmac.umac64.new(bytes(16), b"", big),
            lambda: tagmac.tag_many(UMAC, [b""], [big]),
            lambda: tagmac.verify_many(KEY, [b""], big),
            lambda: tagmac.verify_many(KEY, [b""], [big]),
            lambda: tagmac.Session(KEY, saved=big),
            lambda: tagmac.Session(UMAC, next_nonce=big),
            lambda: tagmac.Part(KEY, object=big, version="1"),
            lambda: tagmac.Part(KEY, object="o", version=big),
            lambda: tagmac.Part(KEY, object=text, version="1"),
            lambda: tagmac.Part.open(KEY, big),
            lambda: tagmac.combine(KEY, [big]),
            lambda: tagmac.combine(KEY, [part], object=big),
            lambda: tagmac.combine(KEY, [part], version=text),
            lambda: tree.tag(expect=big),
            lambda: tree.patch(0, big),
        )
        for i, call in enumerate(calls):
            try:
                call()
            except (ValueError, MemoryError, OSError):
                continue
            raise AssertionError(i)
        raises(MemoryError, lambda: KEY.restore(big))
        # The file is unchanged.
        assert tree.tag()[1] == tagmac.file_digest(path, KEY)
    """
    run(script, str(tmp_path / "file"))
