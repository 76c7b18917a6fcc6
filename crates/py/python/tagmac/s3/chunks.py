"""Checks that bytes read twice are the same the second time."""

from __future__ import annotations

import io
from typing import Any

import tagmac


class Chunks:
    """The tags of an object's chunks, under a random key that never leaves this object."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._key = tagmac.Key.generate()
        self._tags = bytearray()
        self._open = bytearray()

    def update(self, piece: bytes) -> None:
        """Appends bytes of the object."""
        rest = memoryview(piece)
        while rest:
            taken = rest[: self.size - len(self._open)]
            self._open += taken
            rest = rest[len(taken) :]
            if len(self._open) == self.size:
                self.close()

    def close(self) -> None:
        """Ends the current chunk, which may be shorter than the others."""
        if self._open:
            self.add(self._open)
            self._open.clear()

    def add(self, chunk: bytes | bytearray) -> None:
        """Adds the next chunk."""
        self._tags += self._tag(self.count, chunk)

    def verify(self, number: int, chunk: bytes | bytearray) -> None:
        """Checks that `chunk` is the chunk with this number. Raises `InvalidTag` if it is not."""
        count = self._key.digest_size
        self._key.verify(
            self._message(number, chunk), self._tags[number * count : (number + 1) * count]
        )

    def _tag(self, number: int, chunk: bytes | bytearray) -> bytes:
        return self._key.tag(self._message(number, chunk))

    @property
    def count(self) -> int:
        """Number of chunks so far."""
        return len(self._tags) // self._key.digest_size

    @staticmethod
    def _message(number: int, chunk: bytes | bytearray) -> bytes:
        return number.to_bytes(8, "little") + chunk


class ChunkReader(io.RawIOBase):
    """A seekable reader of `size` bytes, loaded chunk by chunk. If the source ends early, `load`
    must raise an error.
    """

    def __init__(self, size: int, chunk: int) -> None:
        self._size, self._chunk_bytes = size, chunk
        self._at, self._number, self._chunk = 0, -1, memoryview(b"")

    def load(self, number: int) -> bytes | bytearray:
        """Returns all bytes of a chunk. Raises an error if they differ from those seen first."""
        raise NotImplementedError

    def bounds(self, number: int) -> tuple[int, int]:
        """Returns the start and the end of a chunk."""
        start = number * self._chunk_bytes
        return start, min(start + self._chunk_bytes, self._size)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError(f"expected a position of at least 0, found {base + offset}")
        self._at = base + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        piece = self._piece(len(view))
        view[: len(piece)] = piece
        return len(piece)

    def read(self, size: int | None = -1) -> bytes:
        left = self._size if size is None or size < 0 else size
        pieces: list[memoryview] = []
        while piece := self._piece(left):
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)

    def _piece(self, count: int) -> memoryview:
        """Returns at most `count` of the next bytes, all from one chunk; b"" at the end."""
        if self._at >= self._size or count <= 0:
            return memoryview(b"")
        number, start = divmod(self._at, self._chunk_bytes)
        if number != self._number:
            self._chunk = memoryview(self.load(number))
            self._number = number
        piece = self._chunk[start : start + count]
        self._at += len(piece)
        return piece
