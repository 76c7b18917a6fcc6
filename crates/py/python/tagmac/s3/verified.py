"""A reader of objects that returns only verified bytes.

A small object is read into memory and verified there. A large one is read twice. The first time,
its tag is verified, and each of its chunks is tagged in memory under a key of this reader. The
second time, a chunk is returned only if it has its first tag. So even a store that answers the same
request with other bytes cannot get them through.
"""

from __future__ import annotations

import io
from typing import Any

import tagmac

from .chunks import ChunkReader, Chunks
from .errors import ObjectError
from .reading import describe, read_range
from .stored import stored_tag
from .url import Url

#: Objects up to this length are verified in memory; larger ones chunk by chunk.
IN_MEMORY = 64 << 20
CHUNK = 1 << 20


def open_verified(
    client: Any, url: str, key: tagmac.Key, *, in_memory: int = IN_MEMORY, chunk: int = CHUNK
) -> io.BufferedReader:
    """Opens the object at `url` (s3://bucket/key, gs:// or az://) for reading, once it is verified
    under the key. `client` is used for S3 only, and may be None for the others.

    Returns a seekable binary reader. An object of at most `in_memory` bytes is read once and kept
    in memory. A larger one is read twice, and takes 16 bytes of memory for each `chunk` bytes.

    Raises `tagmac.InvalidTag` if the tag is wrong, `FileNotFoundError` if the object does not
    exist, and `ObjectError` (an `OSError`) if it has no tag or cannot be read.
    """
    target = Url.parse_object(url)
    if chunk < 1:
        raise ValueError(f"chunk: expected at least 1 byte, found {chunk}")
    head = describe(client, target)
    stored = stored_tag(client, target, key, head)
    etag, size = head.get("ETag", "").strip('"'), head.get("ContentLength", -1)
    if size < 0:
        raise ObjectError(target, "the store returned no length")
    mac = key.new(nonce=stored.nonce)
    if size <= in_memory:
        memory = bytearray()
        read_range(client, target, etag, size, 0, size, memory.extend)
        mac.update(memory).verify(stored.tag)
        return io.BufferedReader(io.BytesIO(memory))
    chunks = Chunks(chunk)

    def both(piece: bytes) -> None:
        mac.update(piece)
        chunks.update(piece)

    read_range(client, target, etag, size, 0, size, both)
    mac.verify(stored.tag)
    chunks.close()
    return io.BufferedReader(_Again(client, target, etag, size, chunks), chunk)


class _Again(ChunkReader):
    """A verified object, read a second time chunk by chunk."""

    def __init__(self, client: Any, url: Url, etag: str, size: int, chunks: Chunks) -> None:
        super().__init__(size, chunks.size)
        self._client, self._url, self._etag, self._chunks = client, url, etag, chunks

    def load(self, number: int) -> bytearray:
        (start, end), chunk = self.bounds(number), bytearray()
        read_range(self._client, self._url, self._etag, self._size, start, end, chunk.extend)
        try:
            self._chunks.verify(number, chunk)
        except tagmac.InvalidTag:
            raise ObjectError(
                self._url,
                f"the store returned other bytes from {start} on, under the ETag of those verified",
            ) from None
        return chunk
