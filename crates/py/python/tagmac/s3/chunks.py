"""Bytes that are read twice and are the same the second time."""

from __future__ import annotations

import tagmac


class Chunks:
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
            self.add(self._open)
            self._open.clear()

    def add(self, chunk: bytes | bytearray) -> None:
        """Adds a whole chunk."""
        self._tags += self._tag(self.count, chunk)

    def verify(self, number: int, chunk: bytes | bytearray) -> None:
        """Raises InvalidTag unless a chunk is the one of this number."""
        count = self._key.digest_size
        self._key.verify(
            self._message(number, chunk), self._tags[number * count : (number + 1) * count]
        )

    def _tag(self, number: int, chunk: bytes | bytearray) -> bytes:
        return self._key.tag(self._message(number, chunk))

    @property
    def count(self) -> int:
        """How many chunks there are so far."""
        return len(self._tags) // self._key.digest_size

    @staticmethod
    def _message(number: int, chunk: bytes | bytearray) -> bytes:
        return number.to_bytes(8, "little") + chunk
