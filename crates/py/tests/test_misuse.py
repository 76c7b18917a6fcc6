"""Bad input of every kind raises one typed exception and never crashes."""

import array
import ctypes
import itertools
import sys

import numpy as np
import pytest

import tagmac

KEY = tagmac.Key(bytes(16))
NOT_BYTES = [None, "text", 7, 1.5, [1, 2], {}, object(), tagmac, KEY]


def calls_with(bad):
    """Every call with `bad` in place of bytes. Some calls accept None."""
    yield lambda: tagmac.Key(bad)
    yield lambda: KEY.tag(bad)
    yield lambda: KEY.verify(bad, bytes(16))
    yield lambda: KEY.verify(b"", bad)
    yield lambda: KEY.new().update(bad)
    yield lambda: KEY.new().verify(bad)
    yield lambda: tagmac.digest(bytes(16), bad)
    yield lambda: tagmac.verify(bytes(16), bad, bytes(16))
    yield lambda: tagmac.verify(bytes(16), b"", bad)
    yield lambda: tagmac.tag_many(KEY, [b"", bad])
    yield lambda: tagmac.tag_many(bad, [])
    yield lambda: KEY.restore(bad)
    yield lambda: tagmac.Part.open(KEY, bad)
    yield lambda: tagmac.Part(KEY, object="o", version="1").update(bad)
    yield lambda: tagmac.Part(KEY, object="o", version=bad if bad != "text" else None)
    yield lambda: tagmac.combine(KEY, [bad])
    yield lambda: tagmac.verify_many(KEY, [b""], [bad])
    yield lambda: tagmac.verify_many(KEY, [bad], bytes(16))
    if bad is not KEY:
        yield lambda: tagmac.new(bad)
        yield lambda: tagmac.digest(bad, b"")
        yield lambda: tagmac.file_digest(__file__, bad)
    if bad is not None:
        yield lambda: KEY.tag(b"", bad)
        yield lambda: KEY.new(bad)
        yield lambda: tagmac.new(bytes(16), bad)
        yield lambda: tagmac.umac64.new(bytes(16), bad, b"1")
        yield lambda: tagmac.umac64.new(bytes(16), b"", bad)


@pytest.mark.parametrize("bad", NOT_BYTES, ids=lambda bad: type(bad).__name__)
def test_wrong_types(bad):
    for i, call in enumerate(calls_with(bad)):
        if bad is KEY and i in (0, 10):
            continue
        with pytest.raises(TypeError):
            call()


def test_what_was_meant(tmp_path):
    """Text and files in place of bytes."""
    path = tmp_path / "file"
    path.write_text("text")
    hint = r"use text.encode\(\) for text, bytes.fromhex\(text\) for hex"
    for call in (
        lambda: KEY.tag("text"),
        lambda: KEY.verify(b"text", "00" * 16),
        lambda: KEY.new("text"),
        lambda: tagmac.Key("00" * 16),
        lambda: tagmac.digest(bytes(16), "text"),
        lambda: tagmac.tag_many(KEY, "text"),
        lambda: tagmac.tag_many(KEY, ""),
        lambda: tagmac.verify_many(KEY, [b""], "00" * 16),
    ):
        with pytest.raises(TypeError, match=f"^expected bytes, found str: {hint}$"):
            call()
    with (
        path.open() as text,
        pytest.raises(TypeError, match="^message 0: expected bytes, found str"),
    ):
        tagmac.tag_many(KEY, text)
    for mode, name in (("r", "TextIOWrapper"), ("rb", "BufferedReader")):
        with path.open(mode) as file:
            hint = "to tag a file, use tagmac.file_digest with a file in binary mode"
            line = f"^expected bytes, found {name}: {hint}$"
            for call in (KEY.tag, KEY.new().update, lambda file: tagmac.digest(bytes(16), file)):
                with pytest.raises(TypeError, match=line):
                    call(file)
    for bad, name in ((None, "NoneType"), (7, "int"), ([1], "list"), (KEY, "Key")):
        with pytest.raises(TypeError, match=f"^expected bytes, found {name}$"):
            KEY.tag(bad)


def test_other_wrong_types():
    calls = [
        lambda: tagmac.Key(),
        lambda: tagmac.Key(bytes(16), 7),
        lambda: tagmac.Key(bytes(16), "PMAC-AES128", 64),
        lambda: tagmac.Key.from_file(7),
        lambda: tagmac.Key.from_file(None),
        lambda: tagmac.Mac(),
        lambda: tagmac.new(bytes(16), alg=b"PMAC-AES128"),
        lambda: tagmac.new(bytes(16), b"", "PMAC-AES128", b"nonce"),
        lambda: tagmac.new(bytes(16), tag_bits="64"),
        lambda: tagmac.new(bytes(16), bits=64),
        lambda: KEY.new().hexverify(b"00"),
        lambda: KEY.new().digest(1),
        lambda: tagmac.file_digest(7, KEY),
        lambda: tagmac.file_digest(None, KEY),
        lambda: tagmac.file_digest(__file__, KEY, threads="2"),
        lambda: tagmac.file_digest(__file__, KEY, progress=7),
        lambda: tagmac.tag_many(KEY, 7),
        lambda: tagmac.tag_many(KEY, b"one message"),
        lambda: tagmac.tag_many(KEY, array.array("I", [1, 2])),
        lambda: setattr(KEY, "name", "x"),
        lambda: type("Sub", (tagmac.Key,), {}),
        lambda: type("Sub", (tagmac.Mac,), {}),
    ]
    for i, call in enumerate(calls):
        with pytest.raises((TypeError, AttributeError)):
            call()
            pytest.fail(f"call {i} did nothing")


def test_wrong_lengths(each):
    key, nonce = each
    name = key.name
    right = next(n for n in range(65) if takes(n, name))
    for length in [0, 1, right - 1, right + 1, 15, 65, 10_000]:
        if not takes(length, name):
            with pytest.raises(ValueError, match=f"expected a key of .* bytes.*, found {length}$"):
                tagmac.new(bytes(length), alg=name, nonce=nonce)
    for bits in [0, 7 if name.startswith(("U", "C", "H", "POLY")) else 257, 512, sys.maxsize]:
        with pytest.raises(ValueError, match=f"expected a tag length of .* bits.*, found {bits}$"):
            tagmac.new(bytes(right), alg=name, nonce=nonce, tag_bits=bits)
        with pytest.raises(ValueError, match="expected a tag length"):
            tagmac.new(key, nonce=nonce, tag_bits=bits)
    for bits in (-1, 1 << 64, -(1 << 200)):
        with pytest.raises(OverflowError):
            tagmac.new(key, nonce=nonce, tag_bits=bits)


def takes(length, name):
    try:
        tagmac.Key(bytes(length), name)
    except ValueError:
        return False
    return True


def test_names():
    for name in (
        "",
        "ROT13",
        "PMAC",
        "PMAC-AES128 ",
        "x" * 100_000,
        "\0",
        "ÄES",
        "LIGHTMAC-AES128-S9",
    ):
        with pytest.raises(ValueError, match="^unknown algorithm"):
            tagmac.new(bytes(16), alg=name)
    with pytest.raises(ValueError):
        tagmac.new(bytes(16), alg="\ud800")
    with pytest.raises(ValueError, match="expected a key for UMAC-64, found one for PMAC-AES128"):
        tagmac.digest(KEY, b"", "UMAC-64", nonce=b"1")


def test_a_key_is_set_once():
    with pytest.raises(TypeError):
        tagmac.Key(tagmac.Key(bytes(16)))
    key = tagmac.Key(bytes(16))
    key.__init__(bytes(range(16)))
    assert key.id == tagmac.Key(bytes(16)).id


def test_over_the_limit():
    # 2^8 blocks of 15 bytes.
    key = tagmac.Key(bytes(32), "LIGHTMAC-AES128-S8")
    most = 256 * 15 - 1
    while True:
        try:
            key.tag(bytes(most + 1))
            most += 1
        except ValueError:
            break
    long = bytes(most + 1)
    mac = key.new(long[:-1])
    mac.digest()
    mac.update(b"1")
    for call in (
        mac.digest,
        lambda: key.tag(long),
        lambda: key.new(long).digest(),
        lambda: key.new(long).verify(bytes(16)),
        lambda: tagmac.tag_many(key, [b"", long]),
    ):
        with pytest.raises(ValueError, match="over this MAC's limit of"):
            call()
    with pytest.raises(ValueError, match="^message 1: "):
        tagmac.tag_many(key, [b"", long])
    with pytest.raises(ValueError, match="limit"):
        key.verify(long, bytes(16))


def test_a_message_over_the_limit_ends_a_nonce():
    """No MAC with nonces has a reachable limit, so their messages end like others."""
    mac = tagmac.umac64.new(bytes(16), b"", b"1")
    mac.digest()
    with pytest.raises(tagmac.NonceReuse, match="new nonce"):
        mac.update(b"")


def test_buffers_in_other_shapes():
    numbers = np.arange(1000, dtype="<u8")
    assert KEY.tag(numbers) == KEY.tag(numbers.tobytes())
    assert KEY.tag(numbers.reshape(10, 100)) == KEY.tag(numbers.tobytes())
    assert KEY.tag(array.array("d", [1.5])) == KEY.tag(array.array("d", [1.5]).tobytes())
    assert KEY.tag(np.zeros((0, 5))) == KEY.tag(b"")
    for theirs in (
        ctypes.create_string_buffer(b"x" * 5000),
        (ctypes.c_uint32 * 3)(1, 2, 3),
        ((ctypes.c_uint8 * 3) * 2)(),
    ):
        assert KEY.tag(theirs) == KEY.tag(bytes(theirs))
        KEY.verify(theirs, ctypes.create_string_buffer(KEY.tag(bytes(theirs)), 16))
    assert len(tagmac.tag_many(KEY, ((ctypes.c_uint8 * 3) * 2)())) == 32
    for apart in (numbers[::2], numbers.reshape(10, 100).T, memoryview(bytes(100))[::3]):
        with pytest.raises((BufferError, ValueError)):
            KEY.tag(apart)
        with pytest.raises((BufferError, ValueError)):
            KEY.new().update(apart)
    released = memoryview(bytes(5))
    released.release()
    with pytest.raises(ValueError):
        KEY.tag(released)


def test_a_single_item():
    """Buffers without dimensions, as hashlib accepts them."""
    for item in (
        ctypes.c_uint32(0x01020304),
        ctypes.c_double(1.5),
        np.float64(1.5),
        np.uint8(7),
        np.complex128(1 + 2j),
        np.array(7, dtype="<u8"),
        np.zeros((), dtype=[("a", "u1"), ("b", "<f4")]),
        memoryview(np.float64(1.5)),
    ):
        assert memoryview(item).ndim == 0
        value = bytes(memoryview(item))
        assert KEY.tag(item) == KEY.tag(value)
        assert KEY.new(item).update(item).digest() == KEY.tag(2 * value)
        assert tagmac.tag_many(KEY, [item, item]) == 2 * KEY.tag(value)
        with pytest.raises(TypeError, match="^the array has 0 dimensions: pass .* of 2 dimensions"):
            tagmac.tag_many(KEY, item)
    umac = tagmac.Key(bytes(16), "UMAC-64")
    assert umac.tag(b"", np.uint64(7)) == umac.tag(b"", np.uint64(7).tobytes())
    # Text: its bytes would be NumPy's internal encoding.
    with pytest.raises(TypeError, match="expected bytes, found str_: use text.encode"):
        KEY.tag(np.str_("text"))
    with pytest.raises(TypeError, match="^message 0: expected bytes, found str_: use text.encode"):
        tagmac.tag_many(KEY, [np.str_("text")])


def test_pointers():
    """Pointers contain only addresses: their tag would not depend on the data."""

    class Named(ctypes.Structure):
        _fields_ = (("length", ctypes.c_uint32), ("name", ctypes.c_char_p))

    for kind in (
        ctypes.c_char_p,
        ctypes.c_void_p,
        ctypes.c_wchar_p,
        ctypes.POINTER(ctypes.c_int),
        ctypes.CFUNCTYPE(None),
        Named,
    ):
        for pointers in (kind(), (kind * 2)(), ((kind * 2) * 2)()):
            for call in (
                lambda it: KEY.tag(it),
                lambda it: KEY.verify(it, bytes(16)),
                lambda it: KEY.new().update(it),
                lambda it: tagmac.tag_many(KEY, it),
                lambda it: tagmac.tag_many(KEY, [it]),
            ):
                with pytest.raises(TypeError, match="found pointers, which contain only addresses$"):
                    call(pointers)


def test_arrays_of_objects():
    """Arrays of objects contain only addresses too. The error names the way out."""
    objects = np.empty((2, 2), dtype=object)
    objects[:] = [[[1], [2]], [b"x", b"y"]]
    fields = np.zeros((2, 2), dtype=[("a", "u1"), ("b", "O")])
    for pointers in (
        objects,
        fields,
        objects[:, 0],
        np.array(b"x", dtype=object),
        (ctypes.py_object * 2)(1, 2),
        ctypes.py_object(1),
    ):
        for call in (
            lambda it: KEY.tag(it),
            lambda it: KEY.verify(it, bytes(16)),
            lambda it: KEY.new().update(it),
            lambda it: tagmac.tag_many(KEY, it),
            lambda it: tagmac.tag_many(KEY, [it]),
        ):
            line = r"found an array of objects, which contains only their addresses: pass array.tolist\(\)"
            with pytest.raises(TypeError, match=line):
                call(pointers)
    messages = np.array([b"one", b"three"], dtype=object)
    assert tagmac.tag_many(KEY, messages.tolist()) == tagmac.tag_many(KEY, [b"one", b"three"])
    for plain in (
        np.zeros((2, 2), dtype=[("O", "u1"), ("Pz", "<u2")]),
        np.ones((2, 2), dtype="complex128"),
        np.ones((2, 2), dtype=[("a", "complex64"), ("b", "u1")]),
        np.ones((2, 2), dtype="clongdouble"),
        np.ones((2, 2), dtype="?"),
    ):
        assert KEY.tag(plain) == KEY.tag(plain.tobytes())


def test_a_buffer_is_given_back():
    data = bytearray(10_000)
    mac = KEY.new()
    mac.update(data)
    KEY.tag(data)
    tagmac.tag_many(KEY, [data, data])
    with pytest.raises(TypeError):
        tagmac.tag_many(KEY, [data, 7])
    # A bytearray that is still exported cannot change its length.
    data.append(1)


def test_huge_lengths(tmp_path):
    """More than 4 GiB of bytes, all mapped to the same page."""
    import mmap

    size = (1 << 32) + 17
    with (tmp_path / "sparse").open("w+b") as file:
        file.truncate(size)
        with mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ) as view:
            tag = KEY.tag(view)
        assert tagmac.file_digest(file.name, KEY) == tag


def test_random_arguments():
    """Every function with every pair of unusual values: an exception or a result, and no crash."""
    odd = [None, b"", b"x", bytes(16), "", "UMAC-64", -1, 0, 1 << 70, [], [b"x"], KEY, object()]
    classes = (tagmac.Key, tagmac.Session, tagmac.Part, tagmac.Tree)
    calls = (tagmac.new, tagmac.digest, tagmac.verify, tagmac.tag_many, tagmac.verify_many)
    methods = (KEY.tag, KEY.restore, tagmac.Key.from_env, tagmac.Part.open, tagmac.combine)
    for call in (*calls, *methods, *classes):
        for count in (1, 2, 3):
            for arguments in itertools.product(odd, repeat=count):
                try:
                    call(*arguments)
                except (TypeError, ValueError, OverflowError):
                    pass
