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
from botocore.exceptions import BotoCoreError, ClientError

from .errors import ObjectError
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

    Raises tagmac.InvalidTag if the tag is wrong, and ObjectError, an OSError, if there is none or
    the object cannot be read. An object of up to in_memory bytes is read once; a larger one is read
    twice, takes 16 bytes of memory for each chunk, and stays seekable.
    """
    target = Url.parse(url)
    if chunk < 1:
        raise ValueError(f"chunk: expected at least 1 byte, found {chunk}")
    try:
        head = client.head_object(Bucket=target.bucket, Key=target.key)
    except ClientError as error:
        raise answered(target, error) from None
    except BotoCoreError as error:
        raise ObjectError(target, one_line(error)) from None
    stored = stored_tag(client, target, key, head)
    etag, size = head.get("ETag", "").strip('"'), head["ContentLength"]
    mac = key.new(nonce=stored.nonce)
    if size <= in_memory:
        memory = bytearray()
        read_range(client, target, etag, size, 0, size, memory.extend)
        mac.update(memory).verify(stored.tag)
        return io.BufferedReader(io.BytesIO(memory))
    chunks = _Chunks(chunk)

    def both(piece: bytes) -> None:
        mac.update(piece)
        chunks.update(piece)

    read_range(client, target, etag, size, 0, size, both)
    mac.verify(stored.tag)
    chunks.close()
    return io.BufferedReader(_Again(client, target, etag, size, chunks), chunk)


class _Chunks:
    """The tags of an object's chunks, under a key that nobody else has."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._key = tagmac.Key.generate()
        self._tags = bytearray()
        self._open = bytearray()

    def update(self, piece: bytes) -> None:
        """More of the object."""
        rest = memoryview(piece)
        while rest:
            taken = rest[: self.size - len(self._open)]
            self._open += taken
            rest = rest[len(taken) :]
            if len(self._open) == self.size:
                self.close()

    def close(self) -> None:
        """Ends a chunk."""
        if self._open:
            number = len(self._tags) // self._key.digest_size
            self._tags += self._tag(number, self._open)
            self._open.clear()

    def verify(self, number: int, chunk: bytearray) -> None:
        """Raises InvalidTag unless a chunk is the one of this number."""
        count = self._key.digest_size
        self._key.verify(
            self._message(number, chunk), self._tags[number * count : (number + 1) * count]
        )

    def _tag(self, number: int, chunk: bytearray) -> bytes:
        return self._key.tag(self._message(number, chunk))

    @staticmethod
    def _message(number: int, chunk: bytearray) -> bytes:
        return number.to_bytes(8, "little") + chunk


class _Again(io.RawIOBase):
    """An object that was verified, read again chunk by chunk."""

    def __init__(self, client: Any, url: Url, etag: str, size: int, chunks: _Chunks) -> None:
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
