"""tag_many of Arrow arrays and streams: all layouts, malformed ones, and arrays that change or
fail.
"""

import ctypes

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_many import KEY, one_by_one

import tagmac

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
        # pyarrow itself cannot make the other index types.
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
    """Values around the 12 bytes that fit in a view, in separate buffers."""
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
    # Indices over 127 must not be read as negative.
    array = pa.DictionaryArray.from_arrays(
        pa.array([200, 255], pa.uint8()), pa.array([b"%d" % i for i in range(256)])
    )
    assert tagmac.tag_many(KEY, array) == one_by_one([b"200", b"255"])
    # A null in the dictionary matters only if it is used.
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
    # A null may have any index.
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
    """An offset over the last one, below the previous one, or below 0 is refused."""
    data = pa.py_buffer(b"onetwo")
    for wrong in ((0, 3, 2, 6), (0, 7, 7, 6), (0, -1, 3, 6)):
        array = pa.Array.from_buffers(pa.binary(), 3, [None, offsets(*wrong), data])
        with pytest.raises(ValueError, match="^invalid Arrow array: .*[Oo]ffset"):
            tagmac.tag_many(KEY, array)
    # The last offset of a slice is below 0.
    array = pa.Array.from_buffers(pa.binary(), 3, [None, offsets(0, -1, 3, 6), data])
    with pytest.raises(ValueError, match="^invalid Arrow array: the last offset is negative$"):
        tagmac.tag_many(KEY, array[:1])


def test_offsets_that_change():
    """The last offset at import is the end of the bytes. A producer may change it later, while it
    makes the next array, and that is not followed.
    """
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
    with pytest.raises(ValueError, match="^invalid Arrow array: it changed while it was read$"):
        tagmac.tag_many(KEY, stream)


def odd(buffer):
    """The same bytes at an odd address."""
    return pa.py_buffer(b"x" + buffer.to_pybytes()).slice(1)


def test_buffers_that_are_not_aligned():
    """Arrow recommends alignment and does not require it."""
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
    """Arrow streams, from chunked arrays and other libraries' columns."""
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
    """ArrowArrayStream, for streams that pyarrow cannot make."""

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
    with pytest.raises(ValueError, match=f"the Arrow stream failed with error 5: {shown}$"):
        tagmac.tag_many(KEY, stream)
    assert calls == ["schema", "array", "array"][: after + 1]
    # The previous arrays are released.
    assert pa.total_allocated_bytes() == before
    stream.release = Stream.Release()
    with pytest.raises(ValueError, match="the Arrow array was released"):
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
    # Moved out by another consumer.
    pa.Array._import_from_c_capsule(schema, array)
    with pytest.raises(ValueError, match="the Arrow array was released"):
        tagmac.tag_many(KEY, Broken((schema, array)))


class Kept:
    """Keeps the capsules of its array or stream."""

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
    """The nonces are exported while there are views of the messages. Another consumer of the
    capsules would release the messages' memory.
    """
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
