"""tag_many and verify_many: sequences, rows of NumPy arrays, nonces. test_many_arrow.py tests the
layouts of Arrow.
"""

import gc
import weakref

import numpy as np
import pyarrow as pa
import pytest

import tagmac

KEY = tagmac.Key(bytes(range(16)))
MESSAGES = [b"", b"one", b"x" * 15, b"y" * 16, b"z" * 5000, b"one"]


def one_by_one(messages, key=KEY, nonces=None):
    nonces = nonces or [None] * len(messages)
    return b"".join(
        key.tag(message, nonce) for message, nonce in zip(messages, nonces, strict=True)
    )


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        iter,
        lambda messages: (message for message in messages),
        lambda messages: [bytearray(message) for message in messages],
        lambda messages: [memoryview(message) for message in messages],
        lambda messages: np.array(messages, dtype=object).tolist(),
        lambda messages: pa.array(messages, pa.binary()),
        lambda messages: pa.array(messages, pa.large_binary()),
        lambda messages: pa.array([message.decode() for message in messages], pa.string()),
        lambda messages: pa.array([message.decode() for message in messages], pa.large_string()),
        lambda messages: pa.array(messages, pa.binary_view()),
        lambda messages: pa.array([message.decode() for message in messages], pa.string_view()),
        lambda messages: pa.array(messages, pa.binary()).dictionary_encode(),
        lambda messages: pa.array([b"cut off", *messages, b"too"], pa.binary())[1:-1],
        lambda messages: pa.array([b"cut off", *messages, b"too"], pa.binary_view())[1:-1],
        lambda messages: pa.array([b"cut off", *messages, b"too"]).dictionary_encode()[1:-1],
        lambda messages: pa.array([b"cut off", *messages, b"too"], pa.large_binary())[1:-1],
    ],
)
def test_containers(make):
    assert tagmac.tag_many(KEY, make(MESSAGES)) == one_by_one(MESSAGES)


def test_of_none():
    empty = [[], (), pa.array([], pa.binary()), np.zeros((0, 8), "u1"), pa.array([b"x"])[:0]]
    for nothing in empty:
        assert tagmac.tag_many(KEY, nothing) == b""


def test_rows():
    rows = np.random.default_rng(1).integers(0, 256, (100, 33), dtype="u1")
    expected = one_by_one([row.tobytes() for row in rows])
    assert tagmac.tag_many(KEY, rows) == expected
    assert tagmac.tag_many(KEY, memoryview(rows)) == expected
    assert tagmac.tag_many(KEY, rows[10:20]) == expected[160:320]
    wide = rows.astype("<u4")
    assert tagmac.tag_many(KEY, wide) == one_by_one([row.tobytes() for row in wide])
    assert tagmac.tag_many(KEY, np.zeros((3, 0), "u1")) == KEY.tag(b"") * 3
    tags = np.frombuffer(tagmac.tag_many(KEY, rows), "u1").reshape(-1, KEY.digest_size)
    assert tags.shape == (100, 16)
    for wrong in (rows[:, :8], rows.T, rows[::2]):
        with pytest.raises((BufferError, ValueError)):
            tagmac.tag_many(KEY, wrong)
    for dimensions in (1, 3):
        with pytest.raises(TypeError, match=f"^the array has {dimensions} dimensions: "):
            tagmac.tag_many(KEY, np.zeros((2,) * dimensions, "u1"))


def test_fixed_size_binary():
    messages = [b"0123456789ab", b"ab0123456789", b"............"]
    array = pa.array([b"x" * 12, *messages], pa.binary(12))[1:]
    assert tagmac.tag_many(KEY, array) == one_by_one(messages)
    assert tagmac.tag_many(KEY, pa.array([b"", b""], pa.binary(0))) == KEY.tag(b"") * 2


def test_nonces(some):
    key, nonce = some
    if nonce is None:
        return
    count = len(MESSAGES)
    nonces = [i.to_bytes(len(nonce), "big") for i in range(count)]
    expected = one_by_one(MESSAGES, key, nonces)
    assert tagmac.tag_many(key, MESSAGES, nonces) == expected
    assert tagmac.tag_many(key, pa.array(MESSAGES), pa.array(nonces)) == expected
    rows = np.frombuffer(b"".join(nonces), "u1").reshape(count, -1)
    assert tagmac.tag_many(key, MESSAGES, nonces=rows) == expected
    with pytest.raises(ValueError, match="expected 6 nonces, found 5"):
        tagmac.tag_many(key, MESSAGES, nonces[:-1])
    with pytest.raises(ValueError, match="^message 2: expected a nonce") as error:
        tagmac.tag_many(key, MESSAGES, [*nonces[:2], b"", *nonces[3:]])
    assert type(error.value) is ValueError


@pytest.mark.parametrize("count", [2, 3, 300, 5000])
@pytest.mark.parametrize(
    "make", [list, pa.array, lambda nonces: pa.array(nonces).dictionary_encode()]
)
def test_a_nonce_twice(some, count, make):
    key, nonce = some
    if nonce is None:
        return
    size = len(nonce)
    up = [i.to_bytes(size, "big") for i in range(count)]
    down, apart = up[::-1], [i.to_bytes(size, "little") for i in range(count)]
    messages = [b"message"] * count
    for nonces in (up, down, apart):
        expected = one_by_one(messages, key, nonces)
        assert tagmac.tag_many(key, messages, make(nonces)) == expected
        for first, second in {(0, count - 1), (0, 1), (count // 2, count - 1)}:
            if first == second:
                continue
            twice = [*nonces[:second], nonces[first], *nonces[second + 1 :]]
            line = f"^message {second}: its nonce is that of message {first}; use each nonce once$"
            with pytest.raises(tagmac.NonceReuse, match=line):
                tagmac.tag_many(key, messages, make(twice))
            # A verifier may get two messages with one nonce, and only one is right.
            with pytest.raises(tagmac.InvalidTag) as error:
                tagmac.verify_many(key, messages, bytes(len(expected)), make(twice))
            assert error.value.indices == tuple(range(count))


@pytest.mark.parametrize("bits", [32, 64, 96, 128])
def test_nonces_of_two_lengths(bits):
    """UMAC pads nonces with zeros, so a nonce may equal a longer one."""
    key = tagmac.Key(bytes(16), f"UMAC-{bits}")
    assert key.tag(b"message", b"\x10") == key.tag(b"message", b"\x10\0")
    line = "^message 2: its nonce has 2 bytes, that of message 1 1; use one length$"
    for third in (b"\x10\0", b"zz"):
        with pytest.raises(tagmac.NonceReuse, match=line):
            tagmac.tag_many(key, [b"message"] * 3, [b"\x10", b"\x11", third])


def test_without_nonces_messages_may_be_one():
    key = tagmac.Key(bytes(16))
    assert tagmac.tag_many(key, [b"message"] * 3, [b""] * 3) == key.tag(b"message") * 3


def test_short_tags():
    key = tagmac.Key(bytes(16), tag_bits=20)
    assert tagmac.tag_many(key, MESSAGES) == one_by_one(MESSAGES, key)


def test_nothing_is_kept():
    class Bytes(bytes):
        pass

    message, array = Bytes(b"x" * 100), np.zeros((5, 5), "u1")
    gone = [weakref.ref(thing) for thing in (array,)]
    tagmac.tag_many(KEY, [message])
    tagmac.tag_many(KEY, array)
    del array
    gc.collect()
    assert [ref() for ref in gone] == [None]
    before = pa.total_allocated_bytes()
    for _ in range(100):
        tagmac.tag_many(KEY, pa.array([b"x" * 10_000]))
        tagmac.tag_many(KEY, pa.chunked_array([[b"x" * 10_000]] * 2))
    assert pa.total_allocated_bytes() == before


def test_many_are_verified(some):
    key, nonce = some
    messages = [bytes([i % 256]) * (i % 70) for i in range(600)]
    nonces = nonce and [i.to_bytes(len(nonce), "big") for i in range(600)]
    tags = tagmac.tag_many(key, messages, nonces)
    each = [tags[i : i + key.digest_size] for i in range(0, len(tags), key.digest_size)]
    rows = np.frombuffer(tags, "u1").reshape(600, -1)
    for kind in (tags, bytearray(tags), each, iter(each), pa.array(each), rows):
        assert tagmac.verify_many(key, messages, kind, nonces) is None
    wrong = bytearray(tags)
    for i in (0, 255, 256, 599):
        wrong[i * key.digest_size] ^= 1
    with pytest.raises(tagmac.InvalidTag) as error:
        tagmac.verify_many(key, messages, wrong, nonces)
    assert error.value.indices == (0, 255, 256, 599)
    assert str(error.value) == "message 0 and 3 more: the tags do not match the messages"
    assert tagmac.InvalidTag.indices == ()
    for i in (0, 300):
        for bad in (b"", each[i][:-1], each[i] + b"x", bytes(key.digest_size)):
            with pytest.raises(tagmac.InvalidTag, match=f"^message {i}: ") as error:
                tagmac.verify_many(key, messages, [*each[:i], bad, *each[i + 1 :]], nonces)
            assert error.value.indices == (i,)


def test_verify_many_refuses():
    tags = tagmac.tag_many(KEY, [b"a", b"b"])
    for bad, line in [
        (tags[:-1], "expected 32 bytes of tags, found 31"),
        (tags + tags, "expected 32 bytes of tags, found 64"),
        (b"", "expected 32 bytes of tags, found 0"),
        ([tags[:16]], "expected 2 tags, found 1"),
        ([], "expected 2 tags, found 0"),
    ]:
        with pytest.raises(ValueError, match=line) as error:
            tagmac.verify_many(KEY, [b"a", b"b"], bad)
        assert type(error.value) is ValueError
    for bad in (None, 7, [7, 8], "text", [tags[:16], "text"]):
        with pytest.raises(TypeError):
            tagmac.verify_many(KEY, [b"a", b"b"], bad)
    assert tagmac.verify_many(KEY, [], b"") is None
    assert tagmac.verify_many(KEY, [], []) is None
    umac = tagmac.Key.generate("UMAC-64")
    with pytest.raises(tagmac.NonceRequired):
        tagmac.verify_many(umac, [b"a"], bytes(8))
    with pytest.raises(ValueError, match="expected 1 nonces, found 2"):
        tagmac.verify_many(umac, [b"a"], bytes(8), [b"1", b"2"])
    with pytest.raises(ValueError, match="^message 1: expected a nonce of 1 to 16 bytes, found 17"):
        tagmac.verify_many(umac, [b"a", b"b"], bytes(16), [b"1", bytes(17)])
    # No tag is right for a message over the limit.
    light = tagmac.Key.generate("LIGHTMAC-AES128-S8")
    with pytest.raises(tagmac.InvalidTag) as error:
        tagmac.verify_many(light, [b"a", bytes(5000)], light.tag(b"a") + bytes(16))
    assert error.value.indices == (1,)


def test_short_tags_are_verified():
    for bits in (1, 7, 12, 64):
        key = tagmac.Key(bytes(range(16)), tag_bits=bits)
        tags = tagmac.tag_many(key, MESSAGES)
        tagmac.verify_many(key, MESSAGES, tags)
        with pytest.raises(tagmac.InvalidTag):
            tagmac.verify_many(key, MESSAGES, bytes([tags[0] ^ 0x80]) + tags[1:])
        # Bits after the tag's last bit do not count.
        if bits % 8:
            with pytest.raises(tagmac.InvalidTag):
                tagmac.verify_many(key, MESSAGES, bytes([tags[0] ^ 1]) + tags[1:])
