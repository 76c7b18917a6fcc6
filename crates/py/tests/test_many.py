"""tag_many: sequences, Arrow arrays, rows of NumPy arrays."""

import ctypes
import gc
import weakref

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        with pytest.raises(TypeError, match=f"found one of {dimensions}"):
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
            line = f"^message {second}: expected a new nonce, found that of message {first}$"
            with pytest.raises(tagmac.NonceReuse, match=line):
                tagmac.tag_many(key, messages, make(twice))
            # Those who check tags may have two messages of one nonce, only one of which is right.
            with pytest.raises(tagmac.InvalidTag) as error:
                tagmac.verify_many(key, messages, bytes(len(expected)), make(twice))
            assert error.value.indices == tuple(range(count))


@pytest.mark.parametrize("bits", [32, 64, 96, 128])
def test_nonces_of_two_lengths(bits):
    """Zeros fill up UMAC's nonces, so that one is also a longer one."""
    key = tagmac.Key(bytes(16), f"UMAC-{bits}")
    assert key.tag(b"message", b"\x10") == key.tag(b"message", b"\x10\0")
    line = "^message 2: expected a nonce of 1 bytes as for message 1, found one of 2$"
    for third in (b"\x10\0", b"zz"):
        with pytest.raises(tagmac.NonceReuse, match=line):
            tagmac.tag_many(key, [b"message"] * 3, [b"\x10", b"\x11", third])


def test_without_nonces_messages_may_be_one():
    key = tagmac.Key(bytes(16))
    assert tagmac.tag_many(key, [b"message"] * 3, [b""] * 3) == key.tag(b"message") * 3


def test_short_tags():
    key = tagmac.Key(bytes(16), tag_bits=20)
    assert tagmac.tag_many(key, MESSAGES) == one_by_one(MESSAGES, key)


KINDS = [
    pa.binary(),
    pa.large_binary(),
    pa.binary_view(),
    *(
        pa.dictionary(index, value)
        for index, value in [
            (pa.int8(), pa.binary()),
            (pa.uint16(), pa.large_binary()),
            (pa.int32(), pa.binary()),
            (pa.uint64(), pa.binary()),
        ]
    ),
]


def arrow(values, kind):
    if isinstance(kind, pa.DictionaryType):
        # pyarrow cannot make the other kinds of numbers by itself.
        array = pa.array(values, kind.value_type).dictionary_encode()
        return pa.DictionaryArray.from_arrays(array.indices.cast(kind.index_type), array.dictionary)
    return pa.array(values, kind)


@given(st.lists(st.one_of(st.binary(), st.none())), st.integers(0, 9), st.integers(0, 9))
def test_arrow_slices(values, cut, end):
    for kind in KINDS:
        array = arrow(values, kind)[cut : cut + end]
        messages = array.to_pylist()
        if None in messages:
            with pytest.raises(ValueError, match=f"message {messages.index(None)}: .* a null"):
                tagmac.tag_many(KEY, array)
        else:
            assert tagmac.tag_many(KEY, array) == one_by_one(messages)


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1, 2]),
        pa.array([[b"x"]]),
        pa.array([1, 2, 1]).dictionary_encode(),
        pa.nulls(3),
        pa.RecordBatch.from_pydict({"a": [b"x"]}),
    ],
    ids=lambda array: str(getattr(array, "type", "batch")),
)
def test_other_arrow_types(array):
    with pytest.raises(TypeError, match="expected an Arrow array of binary or string values"):
        tagmac.tag_many(KEY, array)


@given(st.lists(st.binary(max_size=40), min_size=1), st.integers(0, 9))
def test_views_in_several_buffers(values, cut):
    """Values around the 12 bytes that a view has itself, in buffers of their own."""
    parts = [pa.array([b"before", value, b"x" * 13], pa.binary_view()) for value in values]
    array = pa.concat_arrays(parts)[cut:]
    assert tagmac.tag_many(KEY, array) == one_by_one(array.to_pylist())


@pytest.mark.parametrize("length", [0, 1, 11, 12, 13, 14, 70_000])
def test_lengths_of_views(length):
    values = [bytes([i]) * length for i in range(5)]
    assert tagmac.tag_many(KEY, pa.array(values, pa.binary_view())) == one_by_one(values)


def test_dictionaries():
    words = pa.array(["zero", None, "two", "", "four" * 10, "unused"], pa.string_view())
    for index in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        numbers = pa.array([4, 0, 2, 2, 3, 0], index)
        array = pa.DictionaryArray.from_arrays(numbers, words)
        messages = [word.encode() for word in array.to_pylist()]
        assert tagmac.tag_many(KEY, array) == one_by_one(messages)
        assert tagmac.tag_many(KEY, array[2:5]) == one_by_one(messages[2:5])
    # Numbers over 127, which are no negative ones.
    array = pa.DictionaryArray.from_arrays(
        pa.array([200, 255], pa.uint8()), pa.array([b"%d" % i for i in range(256)])
    )
    assert tagmac.tag_many(KEY, array) == one_by_one([b"200", b"255"])
    # A null in the dictionary counts where it is used.
    for numbers, row in [([0, 1, 2], 1), ([None, 1], 0), ([0, None], 1)]:
        array = pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int8()), words)
        with pytest.raises(ValueError, match=f"^message {row}: expected a value, found a null$"):
            tagmac.tag_many(KEY, array)
    umac = tagmac.Key.generate("UMAC-64")
    with pytest.raises(ValueError, match="^nonce 1: expected a value, found a null$"):
        tagmac.tag_many(umac, [b"a", b"b"], pa.array([b"1", None]))
    for wrong in (-1, 6, 100):
        array = pa.DictionaryArray.from_arrays(pa.array([0, wrong], pa.int8()), words, safe=False)
        with pytest.raises(ValueError, match=f"^invalid Arrow array: .* out of bounds: {wrong} "):
            tagmac.tag_many(KEY, array)
    # Under a null there may be any number.
    numbers = pa.Array.from_buffers(pa.int8(), 1, [pa.py_buffer(b"\0"), pa.py_buffer(b"\x63")])
    array = pa.DictionaryArray.from_arrays(numbers, words, safe=False)
    with pytest.raises(ValueError, match="^message 0: expected a value, found a null$"):
        tagmac.tag_many(KEY, array)


def view(length, start, number=0, prefix=b"3456"):
    numbers = (n.to_bytes(4, "little", signed=True) for n in (length, number, start))
    return b"".join([next(numbers), prefix, *numbers])


def test_broken_views():
    data = pa.py_buffer(b"0123456789abcdef")
    right = view(13, 3)
    for wrong, found in [
        (view(-1, 0), "Invalid buffer slice at 1: got 0..4294967295"),
        (view(13, 3, 1), "Invalid buffer index at 1: got index 1"),
        (view(13, 3, -1), "Invalid buffer index at 1: got index 4294967295"),
        (view(13, -1), "Invalid buffer slice at 1: got 4294967295.."),
        (view(13, 4), "Invalid buffer slice at 1: got 4..17"),
        (view(17, 0), "Invalid buffer slice at 1: got 0..17"),
        (view(2**31 - 1, 2**31 - 1), "Invalid buffer slice at 1: got 2147483647.."),
        (view(13, 3, prefix=b"0000"), "Mismatch between embedded prefix and data"),
        (b"\1\0\0\0one" + bytes(9), "View at index 1 contained non-zero padding"),
    ]:
        views = pa.py_buffer(right + wrong)
        array = pa.Array.from_buffers(pa.binary_view(), 2, [None, views, data])
        assert tagmac.tag_many(KEY, array[:1]) == KEY.tag(b"3456789abcdef")
        with pytest.raises(ValueError, match=f"^invalid Arrow array: {found}"):
            tagmac.tag_many(KEY, array)


def offsets(*numbers):
    return pa.py_buffer(np.array(numbers, "<i4").tobytes())


def test_broken_offsets():
    """None is over the last one, below the one before or below 0."""
    data = pa.py_buffer(b"onetwo")
    for wrong in ((0, 3, 2, 6), (0, 7, 7, 6), (0, -1, 3, 6)):
        array = pa.Array.from_buffers(pa.binary(), 3, [None, offsets(*wrong), data])
        with pytest.raises(ValueError, match="^invalid Arrow array: .*[Oo]ffset"):
            tagmac.tag_many(KEY, array)
    # The last one of a slice is below 0.
    array = pa.Array.from_buffers(pa.binary(), 3, [None, offsets(0, -1, 3, 6), data])
    with pytest.raises(ValueError, match="^invalid Arrow array: the last offset is negative$"):
        tagmac.tag_many(KEY, array[:1])


def test_offsets_that_change():
    """The last offset is the end of the bytes from when the array comes. What a producer writes
    there later, while it makes the next array, is not followed."""
    numbers = bytearray(np.array([0, 3], "<i4").tobytes())
    first = pa.Array.from_buffers(
        pa.binary(), 1, [None, pa.py_buffer(numbers), pa.py_buffer(b"onetwo")]
    )
    count = 0

    def array(_, out):
        nonlocal count
        count += 1
        if count == 1:
            first._export_to_c(out)
        elif count == 2:
            numbers[4] = 6
            pa.array([b"more"])._export_to_c(out)
        return 0

    def schema(_, out):
        pa.binary()._export_to_c(out)
        return 0

    stream = Stream(
        Stream.Get(schema), Stream.Get(array), Stream.Say(lambda _: None), Stream.Release(lambda _: None)
    )
    with pytest.raises(ValueError, match="^invalid Arrow array: it was changed while it was read$"):
        tagmac.tag_many(KEY, stream)


def odd(buffer):
    """The same bytes at an odd address."""
    return pa.py_buffer(b"x" + buffer.to_pybytes()).slice(1)


def test_buffers_that_are_not_aligned():
    """Arrow recommends alignment and does not ask for it."""
    values = [b"one", b"", b"two", b"y" * 20]
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        valid, numbers, *data = pa.array(values, kind).buffers()
        array = pa.Array.from_buffers(kind, len(values), [valid, odd(numbers), *data])
        assert tagmac.tag_many(KEY, array) == one_by_one(values)
        assert tagmac.tag_many(KEY, array[1:3]) == one_by_one(values[1:3])
    numbers = pa.array([3, 0, 2], pa.int16())
    numbers = pa.Array.from_buffers(numbers.type, 3, [None, odd(numbers.buffers()[1])])
    array = pa.DictionaryArray.from_arrays(numbers, pa.array(values))
    assert tagmac.tag_many(KEY, array) == one_by_one([values[i] for i in (3, 0, 2)])


@given(st.lists(st.lists(st.one_of(st.binary(), st.none()))))
def test_chunked_arrays(chunks):
    """Arrow's streams, as chunked arrays and other libraries' columns have them."""
    messages = [value for chunk in chunks for value in chunk]
    for kind in KINDS[:3]:
        array = pa.chunked_array([pa.array(chunk, kind) for chunk in chunks], kind)
        if None in messages:
            row = messages.index(None)
            with pytest.raises(ValueError, match=f"^message {row}: expected a value, found a null"):
                tagmac.tag_many(KEY, array)
        else:
            assert tagmac.tag_many(KEY, array) == one_by_one(messages)


def test_other_streams():
    words = pa.array(["one", "two", "one"], pa.string_view()).dictionary_encode()
    array = pa.chunked_array([words, words[1:]])
    assert tagmac.tag_many(KEY, array) == one_by_one([b"one", b"two", b"one", b"two", b"one"])
    tagmac.verify_many(KEY, array, tagmac.tag_many(KEY, array))
    for wrong in (
        pa.chunked_array([[1], [2]]),
        pa.chunked_array([], pa.int64()),
        pa.chunked_array([], pa.dictionary(pa.int8(), pa.int64())),
        pa.table({"a": [b"x"]}),
    ):
        with pytest.raises(TypeError, match="expected an Arrow array of binary or string values"):
            tagmac.tag_many(KEY, wrong)


class Stream(ctypes.Structure):
    """ArrowArrayStream, for streams that pyarrow does not make."""

    Get = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    Say = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    _fields_ = [
        ("get_schema", Get),
        ("get_next", Get),
        ("get_last_error", Say),
        ("release", Release),
        ("private_data", ctypes.c_void_p),
    ]

    def __arrow_c_stream__(self, requested_schema=None):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = (
            ctypes.py_object,
            (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p),
        )
        return new(ctypes.addressof(self), b"arrow_array_stream", None)


@pytest.mark.parametrize("line", [b"the disk is on fire", None])
@pytest.mark.parametrize("after", [0, 1, 2])
def test_streams_that_fail(line, after):
    before, calls = pa.total_allocated_bytes(), []
    text = line and ctypes.create_string_buffer(line)

    def schema(_, out):
        calls.append("schema")
        if after == 0:
            return 5
        pa.binary()._export_to_c(out)
        return 0

    def array(_, out):
        calls.append("array")
        if len(calls) > after:
            return 5
        pa.array([b"x" * 10_000])._export_to_c(out)
        return 0

    stream = Stream(
        Stream.Get(schema),
        Stream.Get(array),
        Stream.Say(lambda _: text and ctypes.addressof(text)),
        Stream.Release(lambda _: None),
    )
    shown = (line or b"").decode()
    with pytest.raises(ValueError, match=f"found error 5 of its stream: {shown}$"):
        tagmac.tag_many(KEY, stream)
    assert calls == ["schema", "array", "array"][: after + 1]
    # What came before is given back.
    assert pa.total_allocated_bytes() == before
    stream.release = Stream.Release()
    with pytest.raises(ValueError, match="found a released one"):
        tagmac.tag_many(KEY, stream)


def test_broken_exports():
    class Broken:
        def __init__(self, result):
            self.result = result

        def __arrow_c_array__(self, requested_schema=None):
            return self.result

    schema, array = pa.array([b"x"]).__arrow_c_array__()
    for result in (None, (), (schema,), (1, 2), (array, schema), (schema, schema), (array, array)):
        with pytest.raises((TypeError, ValueError, ImportError)):
            tagmac.tag_many(KEY, Broken(result))
    # Taken over by another consumer.
    pa.Array._import_from_c_capsule(schema, array)
    with pytest.raises(ValueError, match="found a released one"):
        tagmac.tag_many(KEY, Broken((schema, array)))


class Kept:
    """Keeps the capsules that its array or stream is exported in."""

    def __init__(self, exported):
        self.exported = exported

    def __arrow_c_array__(self, requested_schema=None):
        self.capsules = self.exported.__arrow_c_array__()
        self.exported = None
        return self.capsules


class KeptStream:
    def __init__(self, array):
        self.array = array

    def __arrow_c_stream__(self, requested_schema=None):
        self.capsule = self.array.__arrow_c_stream__()
        self.array = None
        return self.capsule


def test_others_cannot_release_an_array_in_use():
    """The nonces are made while there are views of the messages. Another consumer of the capsules would
    give back the memory of these."""
    key = tagmac.Key(bytes(16), "UMAC-64")
    messages, numbers = [bytes([i]) * (1 << 20) for i in range(4)], range(4)
    expected = tagmac.tag_many(key, messages, [bytes([i]) for i in numbers])
    kept = Kept(pa.array(messages, pa.binary()))

    def nonces():
        for i in numbers:
            with pytest.raises(ValueError, match="released"):
                pa.Array._import_from_c_capsule(*kept.capsules)
            yield bytes([i])

    before = pa.total_allocated_bytes()
    assert tagmac.tag_many(key, kept, nonces()) == expected
    assert pa.total_allocated_bytes() < before
    kept = KeptStream(pa.chunked_array([pa.array(messages, pa.binary())]))
    assert tagmac.tag_many(key, kept, [bytes([i]) for i in numbers]) == expected
    with pytest.raises(ValueError, match="released"):
        pa.RecordBatchReader._import_from_c_capsule(kept.capsule)


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
    # A message over the limit has no tag that could be right.
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
        # Bits beyond the tag's are no part of a tag.
        if bits % 8:
            with pytest.raises(tagmac.InvalidTag):
                tagmac.verify_many(key, MESSAGES, bytes([tags[0] ^ 1]) + tags[1:])
