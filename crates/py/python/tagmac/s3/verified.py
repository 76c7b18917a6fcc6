"""A reader of objects that releases nothing unverified.

A small object is read into memory and verified there. A large one is read through once: its tag is
verified, and each of its chunks is tagged in memory under a key of this reader's own. Its bytes are
then read again, and a chunk is released if it has the tag that it had the first time. So not
even a store that answers the same request with other bytes gets one of them through.
"""

from __future__ import annotations

import io
from typing import Any

import tagmac
from botocore.exceptions import ClientError

from .chunks import Chunks
from .errors import READING_FAILURES, ObjectError
from .reading import answered, one_line, read_range
from .stored import stored_tag
from .url import Url

#: What is read into memory, and how much of a larger object is released at once.
IN_MEMORY = 64 << 20
CHUNK = 1 << 20


def open_verified(
    client: Any, url: str, key: tagmac.Key, *, in_memory: int = IN_MEMORY, chunk: int = CHUNK
) -> io.BufferedReader:
    """Opens s3://bucket/key for reading, if it has its tag under the key.

    Raises tagmac.InvalidTag if the tag is wrong, FileNotFoundError if there is no such object, and
    ObjectError, an OSError, if it has no tag or cannot be read. An object of up to in_memory bytes is read once; a larger one is read
    twice, takes 16 bytes of memory for each chunk, and stays seekable.
    """
    target = Url.parse_object(url)
    if chunk < 1:
        raise ValueError(f"chunk: expected at least 1 byte, found {chunk}")
    try:
        head = client.head_object(Bucket=target.bucket, Key=target.key)
    except ClientError as error:
        raise answered(target, error, seen=False) from None
    except READING_FAILURES as error:
        raise ObjectError(target, one_line(error)) from None
    stored = stored_tag(client, target, key, head)
    etag, size = head.get("ETag", "").strip('"'), head.get("ContentLength", -1)
    if size < 0:
        raise ObjectError(target, "expected a length, found none")
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


class _Again(io.RawIOBase):
    """An object that was verified, read again chunk by chunk."""

    def __init__(self, client: Any, url: Url, etag: str, size: int, chunks: Chunks) -> None:
        self._client, self._url, self._etag, self._size = client, url, etag, size
        self._chunks, self._at = chunks, 0
        self._number, self._chunk = -1, bytearray()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError(f"expected a position from 0 on, found {base + offset}")
        self._at = base + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        if self._at >= self._size or not view:
            return 0
        number, start = divmod(self._at, self._chunks.size)
        if number != self._number:
            self._load(number)
        piece = memoryview(self._chunk)[start : start + len(view)]
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def _load(self, number: int) -> None:
        start = number * self._chunks.size
        end = min(start + self._chunks.size, self._size)
        chunk = bytearray()
        read_range(self._client, self._url, self._etag, self._size, start, end, chunk.extend)
        try:
            self._chunks.verify(number, chunk)
        except tagmac.InvalidTag:
            raise ObjectError(
                self._url,
                f"expected the verified bytes from {start} on, found others of the same ETag",
            ) from None
        self._number, self._chunk = number, chunk
