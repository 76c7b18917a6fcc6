"""Parts of objects: hashed in any pieces, joined in any order, and refusals."""

import random
import threading

import numpy as np
import pyarrow as pa
import pytest
from conftest import nonce_for, within_limit

import tagmac

KEY = tagmac.Key(bytes(range(16)))
WITH_PARTS = [
    name
    for name in tagmac.algorithms_available
    if tagmac.Key.generate(name).new(nonce=nonce_for(name)).block_size is not None
]


def pieces(data: bytes, length: int) -> list[bytes]:
    return [data[at : at + length] for at in range(0, len(data), length)]


def sealed(key, message, start, end, length=1 << 30, **name) -> bytes:
    """The partial of a range, hashed in pieces of `step` bytes."""
    name = name or {"object": "o", "version": "1"}
    part = tagmac.Part(key, start=start, last=end == len(message), **name)
    for piece in pieces(message[start:end], length):
        assert part.update(piece) is part
    return part.seal()


@pytest.mark.parametrize("alg", WITH_PARTS)
def test_any_split_in_any_order_is_the_tag(alg):
    key, nonce = tagmac.Key.generate(alg), nonce_for(alg)
    rng = random.Random(alg)
    block = tagmac.Part(key, object="o", version="1").block_size
    text = within_limit(key, nonce, rng.randbytes(3 * block + 20_000))
    for length in (0, 1, block - 1, block, block + 1, 2 * block, len(text)):
        message = text[: min(length, len(text))]
        last = (max(len(message), 1) - 1) // block
        cuts = {block * rng.randrange(last) for _ in range(3)} if last else set()
        ends = sorted((cuts | {last * block}) - {0})
        ranges = list(zip([0, *ends], [*ends, len(message)], strict=True))
        blobs = [
            sealed(key, message, start, end, rng.choice([1 + len(message) // 50, block, 1 << 30]))
            for start, end in ranges
        ]
        rng.shuffle(blobs)
        assert tagmac.combine(key, blobs, nonce) == key.tag(message, nonce)


def test_the_empty_object():
    blob = tagmac.Part(KEY, object="o", version="1", last=True).seal()
    assert tagmac.combine(KEY, [blob]) == KEY.tag(b"")


def test_short_tags():
    key = tagmac.Key(bytes(range(16)), tag_bits=64)
    blobs = [sealed(key, bytes(100), 0, 64), sealed(KEY, bytes(100), 64, 100)]
    assert tagmac.combine(key, blobs) == key.tag(bytes(100))
    assert tagmac.combine(KEY, blobs) == KEY.tag(bytes(100))


def test_what_a_part_says():
    part = tagmac.Part(KEY, object="photos/17@home", version=b"v1", start=32)
    assert (part.object, part.version) == (b"photos/17@home", b"v1")
    assert (part.start, part.end, part.last, part.block_size) == (32, 32, False, 16)
    assert part.update(bytearray(20)).update(np.zeros(12, "u1")).end == 64
    assert repr(part) == "<tagmac.Part PMAC-AES128 bytes 32 to 64>"
    blob = part.seal()
    assert part.end == 64
    partial = tagmac.Part.open(KEY, memoryview(blob))
    assert (partial.object, partial.version) == (b"photos/17@home", b"v1")
    assert (partial.start, partial.end, partial.last) == (32, 64, False)
    assert (partial.name, part.name) == ("PMAC-AES128", "PMAC-AES128")
    assert repr(partial) == "<tagmac.Partial PMAC-AES128 bytes 32 to 64>"


def test_names_of_every_byte():
    for name in (bytes(range(256)), "é\n\0", b"@", "x" * 65533):
        blob = sealed(KEY, b"abc", 0, 3, object=name, version="1")
        found = tagmac.Part.open(KEY, blob).object
        assert found == (name.encode() if isinstance(name, str) else name)
        assert tagmac.combine(KEY, [blob], object=name, version=b"1") == KEY.tag(b"abc")


def test_the_version_is_not_forgotten():
    with pytest.raises(TypeError, match="missing 1 required keyword argument: 'version'"):
        tagmac.Part(KEY, object="o")
    with pytest.raises(TypeError, match="positional"):
        tagmac.Part(KEY, "o", "1")
    for version, line in [
        ("", "version: the version is empty; expected a version ID, an ETag or an upload ID"),
        ("1@2", "version: a version must not contain '@', found 1@2"),
    ]:
        with pytest.raises(ValueError) as error:
            tagmac.Part(KEY, object="o", version=version)
        assert str(error.value) == line
    with pytest.raises(ValueError, match="object: the name is empty"):
        tagmac.Part(KEY, object=b"", version="1")
    with pytest.raises(ValueError, match="a name of 1 to 65535 bytes, found 65536"):
        tagmac.Part(KEY, object="x" * 65534, version="1")
    for bad in (None, 7, ["o"]):
        with pytest.raises(TypeError, match="object: expected str or bytes, found "):
            tagmac.Part(KEY, object=bad, version="1")
        with pytest.raises(TypeError, match="version: expected str or bytes, found "):
            tagmac.Part(KEY, object="o", version=bad)
    with pytest.raises(ValueError):
        tagmac.Part(KEY, object="\ud800", version="1")


def test_misplaced_ranges():
    line = "start: expected a multiple of PMAC-AES128's block of 16 bytes, found 17; the nearest: 16 and 32"
    with pytest.raises(ValueError) as error:
        tagmac.Part(KEY, object="o", version="1", start=17)
    assert str(error.value) == line
    for start in (-1, 1 << 64):
        with pytest.raises(OverflowError):
            tagmac.Part(KEY, object="o", version="1", start=start)
    with pytest.raises(ValueError, match="limit"):
        tagmac.Part(KEY, object="o", version="1", start=(1 << 64) - 16)
    part = tagmac.Part(KEY, object="o", version="1")
    with pytest.raises(ValueError, match="the range is empty"):
        part.seal()
    part.update(bytes(17))
    with pytest.raises(ValueError, match="not the object's last: .*block of 16 bytes, found 17"):
        part.seal()
    # A refusal loses nothing.
    assert tagmac.Part.open(KEY, part.update(bytes(15)).seal()).end == 32
    with pytest.raises(ValueError, match="at least 1 byte"):
        tagmac.Part(KEY, object="o", version="1", start=16, last=True).seal()


def test_a_part_is_sealed_once():
    part = tagmac.Part(KEY, object="o", version="1", last=True)
    part.seal()
    for again in (part.seal, lambda: part.update(b"more")):
        with pytest.raises(
            ValueError, match="the part was sealed; use a new one"
        ):
            again()


def test_over_the_limit():
    key = tagmac.Key.generate("LIGHTMAC-AES128-S8")
    part = tagmac.Part(key, object="o", version="1", last=True).update(bytes(256 * 15))
    with pytest.raises(ValueError, match="limit"):
        part.update(b"1")
    assert tagmac.combine(key, [part.seal()]) == key.tag(bytes(256 * 15))


@pytest.mark.parametrize("alg", ["CMAC-AES128", "HMAC-SHA256"])
def test_macs_without_parts(alg):
    key = tagmac.Key.generate(alg)
    for call in (
        lambda: tagmac.Part(key, object="o", version="1"),
        lambda: tagmac.Part.open(key, b""),
        lambda: tagmac.combine(key, [b""]),
    ):
        with pytest.raises(ValueError, match=f"{alg} cannot hash ranges"):
            call()


def test_nonces():
    key = tagmac.Key.generate("UMAC-64")
    blob = sealed(key, b"abc", 0, 3)
    with pytest.raises(tagmac.NonceRequired):
        tagmac.combine(key, [blob])
    with pytest.raises(ValueError, match="nonce"):
        tagmac.combine(key, [blob], bytes(17))
    with pytest.raises(ValueError, match="nonce"):
        tagmac.combine(KEY, [sealed(KEY, b"abc", 0, 3)], b"1")
    assert tagmac.combine(key, [blob], b"1") == key.tag(b"abc", b"1")


def test_what_is_no_whole():
    message = bytes(100)
    first, second, third = (sealed(KEY, message, a, b) for a, b in [(0, 32), (32, 64), (64, 100)])
    other_last = sealed(KEY, message[:64], 32, 64)
    for blobs, line in [
        ([], "there are no partials to combine"),
        ([third, first], "bytes 0 to 32 (blob 1) and bytes 64 to 100 (blob 0) do not adjoin: there is a gap"),
        (
            [first, second, first, third],
            "bytes 0 to 32 (blob 0) and bytes 0 to 32 (blob 2) do not adjoin: they overlap",
        ),
        ([second, third], "the range from byte 0 is missing; no range precedes bytes 32 to 64 (blob 0)"),
        (
            [first, second],
            "the last range (last=True) is missing; the others end with bytes 32 to 64 (blob 1)",
        ),
        ([first, other_last, third], "(blob 2) do not adjoin: the first is the object's last range"),
    ]:
        with pytest.raises(tagmac.IncompleteObject) as error:
            tagmac.combine(KEY, blobs)
        assert line in str(error.value)


def test_what_belongs_to_others():
    message = bytes(100)
    ours = sealed(KEY, message, 0, 64)
    for name, line in [
        (
            {"object": "o", "version": "2"},
            "blob 1: the partial is of o@2, not of o@1 (blob 0)",
        ),
        (
            {"object": "p", "version": "1"},
            "blob 1: the partial is of p@1, not of o@1 (blob 0)",
        ),
    ]:
        with pytest.raises(tagmac.WrongObject) as error:
            tagmac.combine(KEY, [ours, sealed(KEY, message, 64, 100, **name)])
        assert str(error.value) == line
    for asked, line in [
        ({"object": "p"}, "blob 0: the partial is of object o, not of object p"),
        ({"version": b"2"}, "blob 0: the partial is of version 1, not of version 2"),
        ({"object": "o", "version": "2"}, "of version 1, not of version 2"),
    ]:
        with pytest.raises(tagmac.WrongObject) as error:
            tagmac.combine(KEY, [ours], **asked)
        assert line in str(error.value)
    for other in (tagmac.Key(bytes(16)), tagmac.Key(bytes(range(32)), "POLY1305-AES")):
        blob = sealed(other, message, 64, 100)
        for call in (
            lambda b=blob: tagmac.combine(KEY, [ours, b]),
            lambda b=blob: tagmac.Part.open(KEY, b),
        ):
            with pytest.raises(
                tagmac.WrongKey, match=f"expected PMAC-AES128 and key id {KEY.id}"
            ):
                call()


def test_every_altered_byte_is_refused():
    blob = sealed(KEY, bytes(100), 0, 100)
    for at in range(len(blob)):
        altered = bytearray(blob)
        altered[at] ^= 1
        for call in (
            lambda a=altered: tagmac.Part.open(KEY, a),
            lambda a=altered: tagmac.combine(KEY, [a]),
        ):
            with pytest.raises((tagmac.InvalidTag, tagmac.WrongKey)):
                call()
    for cut in range(len(blob)):
        with pytest.raises(tagmac.InvalidTag):
            tagmac.Part.open(KEY, blob[:cut])
    with pytest.raises(tagmac.InvalidTag):
        tagmac.combine(KEY, [blob + b"x"])


def test_what_holds_blobs():
    message = bytes(100)
    blobs = [sealed(KEY, message, 0, 64), sealed(KEY, message, 64, 100)]
    tag = KEY.tag(message)
    assert tagmac.combine(KEY, tuple(blobs)) == tag
    assert tagmac.combine(KEY, iter(blobs)) == tag
    assert tagmac.combine(KEY, map(bytearray, blobs)) == tag
    assert tagmac.combine(KEY, pa.array(blobs)) == tag
    for bad in (blobs[0], 7, None):
        with pytest.raises(TypeError):
            tagmac.combine(KEY, bad)
    with pytest.raises(TypeError, match="^blob 1: "):
        tagmac.combine(KEY, [blobs[0], "text"])


def test_many_threads():
    """A part that several threads update has their bytes in some order, and all of them."""
    part = tagmac.Part(KEY, object="o", version="1", last=True)
    threads = [
        threading.Thread(target=lambda: [part.update(bytes(5000)) for _ in range(20)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert part.end == 400_000
    assert tagmac.combine(KEY, [part.seal()]) == KEY.tag(bytes(400_000))


def test_the_commands_files_are_ours(saved, command, tmp_path):
    key, path = saved
    message = random.Random(7).randbytes(3_000_000)
    (tmp_path / "file").write_bytes(message)
    cut = 1 << 20
    options = ("part", "-k", path, "--object", "o@1", "file")
    command(*options, "--start", 0, "--length", cut, "-o", "first")
    command(*options, "--start", cut, "--last", "-o", "last")
    theirs = [(tmp_path / name).read_bytes() for name in ("first", "last")]
    ours = [sealed(key, message, 0, cut, 77_777), sealed(key, message, cut, len(message), 1 << 16)]
    for one in (theirs, ours):
        opened = [tagmac.Part.open(key, blob) for blob in one]
        ranges = [(part.start, part.end, part.last) for part in opened]
        assert ranges == [(0, cut, False), (cut, len(message), True)]
        assert [(part.object, part.version) for part in opened] == [(b"o", b"1")] * 2
    tag = key.tag(message)
    for blobs in (theirs, ours, [theirs[0], ours[1]], [ours[0], theirs[1]]):
        assert tagmac.combine(key, blobs, object="o", version="1") == tag
        for name, blob in zip(("a", "b"), blobs, strict=True):
            (tmp_path / name).write_bytes(blob)
        line = command("combine", "-k", path, "--object", "o@1", "b", "a")
        assert line == f"PMAC-AES128 (o@1) = {tag.hex()}\n"
    # Partials that the command made without a version have the version None.
    command("part", "-k", path, "--object", "o", "file", "--start", 0, "--last", "-o", "whole")
    whole = (tmp_path / "whole").read_bytes()
    assert tagmac.Part.open(key, whole).version is None
    assert tagmac.combine(key, [whole], object="o") == tag
    with pytest.raises(tagmac.WrongObject, match="the partial is of no version, not of version 1"):
        tagmac.combine(key, [whole], version="1")
