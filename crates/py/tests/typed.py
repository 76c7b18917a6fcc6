"""Code that type checkers must accept, and types that they must infer. Checked by mypy --strict
--python-version 3.12: earlier versions have no type for the buffer protocol.
"""

import io
from pathlib import Path
from typing import assert_type

import numpy as np
import pyarrow as pa

import tagmac
from tagmac.types import Algorithm, Kind, Status

key = tagmac.Key(bytes(16), "PMAC-AES128", tag_bits=64)
assert_type(key.tag(b"message"), bytes)
assert_type(key.tag(bytearray(b"message"), nonce=memoryview(b"1")), bytes)
assert_type(key.new(b"message", b"nonce").update(np.zeros(5)).hexdigest(), str)
assert_type(tagmac.Key.from_file(Path("my.key")).id, str)
assert_type(tagmac.Key.generate().new().block_size, int | None)
assert_type(tagmac.new(key, alg="UMAC-64", nonce=b"1").copy(), tagmac.Mac)
assert_type(tagmac.new(bytes(16), b"message", "CMAC-AES128").key_size, int)
assert_type(key == tagmac.Key(bytes(16)), bool)
assert_type(key.key_size, int)
assert_type(key.name, Algorithm)
assert_type(tagmac.algorithms_available[0], Algorithm)
assert_type(tagmac.umac64.new(bytes(16), b"message", nonce=b"1").digest(), bytes)
assert_type(tagmac.umac64.digest_size, int)
assert_type(tagmac.tag_many(key, [b"one", bytearray(b"two")]), bytes)
assert_type(tagmac.tag_many(key, np.zeros((5, 5)), nonces=[b"1"] * 5), bytes)
tagmac.tag_many(key, pa.array([b"one"]))
tagmac.tag_many(key, pa.chunked_array([[b"one"]]))
tagmac.verify(bytes(16), b"message", b"tag", "UMAC-64", nonce=b"1")
session = tagmac.Session(key, max_message_bytes=1500, probability=None, saved=bytearray(104))
assert_type(session.tag(memoryview(b"packet")), tuple[bytes, bytes])
assert_type(session.save(), bytes)
assert_type(session.left, int)
session.verify(b"message", memoryview(b"tag"), b"nonce", words=1)
session.allow_grades(2**-32)
for file in ("name", b"name", Path("name"), io.BytesIO(), open("name", "rb")):
    tagmac.file_digest(file, key, threads=2, progress=print)
part = tagmac.Part(key, object="o", version=b"1", start=0, last=True)
assert_type(part.update(b"bytes").seal(), bytes)
assert_type(tagmac.Part.open(key, memoryview(b"")).version, bytes | None)
assert_type(tagmac.combine(key, [b"", bytearray()], object="o", version="1"), bytes)
tagmac.combine(key, pa.array([b""]), nonce=b"1")
assert_type(key.restore(key.new(b"message").save()), tagmac.Mac)
tagmac.verify_many(key, [b"one"], tagmac.tag_many(key, [b"one"]))
ref = tagmac.KeyRef.command(["pass", "show"], id="0123456789abcdef", format="hex", alg="UMAC-64")
assert_type(ref.resolve(), tagmac.Key)
for where in (
    tagmac.KeyRef.file(Path("my.key")),
    tagmac.KeyRef.env("A"),
    tagmac.KeyRef.secret("b"),
):
    assert_type(where, tagmac.KeyRef)
assert_type(tagmac.seal(Path("tree"), key, "manifest", mtime=True, progress=print), tagmac.Sealed)
report = tagmac.audit("manifest", "tree", key)
manifest = tagmac.Manifest(Path("manifest"), key)
assert_type([entry.size for entry in manifest.entries("a", recursive=True)], list[int | None])
assert_type(manifest.info("a").mtime_ns, int | None)
manifest.content("a").verify(0, memoryview(b"leaf"))
with tagmac.open_verified(Path("a"), where, manifest="manifest", root=Path()) as verified:
    assert_type(verified.read_at(0, 5), bytes)
    assert_type(io.TextIOWrapper(verified).read(), str)
assert_type([(one.path, one.was, one.changes) for one in report.differences][0][0], str)
assert_type([(one.kind, one.status) for one in report.differences], list[tuple[Kind, Status]])
tree = tagmac.Tree.create(Path("data"), key, leaf=4096)
assert_type(tree.patch(0, b"bytes", expect=b"tag"), tuple[bytes, bytes])
try:
    key.verify(b"message", b"tag")
except tagmac.InvalidTag as error:
    assert_type(error, tagmac.InvalidTag)
    assert_type(error.indices, tuple[int, ...])

# Code that they must refuse: without an error here, mypy reports the comment as unused.
tagmac.Key.from_file("k", format="pem")  # type: ignore[arg-type]
tagmac.new("key")  # type: ignore[arg-type]
tagmac.Key(key)  # type: ignore[arg-type]
tagmac.Session(bytes(16))  # type: ignore[arg-type]
tagmac.digest(bytes(16), "message")  # type: ignore[arg-type]
tagmac.Part(key, object="o")  # type: ignore[call-arg]
tagmac.Part(bytes(16), object="o", version="1")  # type: ignore[arg-type]
tagmac.combine(key, "blob")  # type: ignore[arg-type]
tagmac.KeyRef.file("my.key", format="pem")  # type: ignore[arg-type]
