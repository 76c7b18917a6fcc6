"""Readers of sealed files, and the manifests that a process has open."""

from __future__ import annotations

import io
import os
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any, Final, Protocol

from ._keyref import KeyRef
from ._tagmac import Key, Manifest

#: The longest result of `peek`.
_PEEK: Final = 8192
#: The number of manifests that a process keeps open.
_MAX_OPEN: Final = 16


class Source(Protocol):
    """A sealed file."""

    @property
    def size(self) -> int:
        """The size in bytes."""

    def read_at(self, offset: int, length: int) -> bytes:
        """Returns verified bytes: `length` of them, or fewer at the end of the file."""


class VerifiedReader(io.BufferedIOBase):
    """A sealed file, open for reading. `open_verified` makes it.

    It is seekable. Nothing of a leaf that differs is returned; `InvalidTag` is raised instead.
    """

    def __init__(self, source: Source, name: str) -> None:
        self._source = source
        self._at = 0
        self.size = source.size
        """The size in bytes."""
        self.name = name
        """The path or URL."""
        self.mode = "rb"

    def read_at(self, offset: int, length: int) -> bytes:
        """Returns the bytes from `offset` on: `length` of them, or fewer at the end of the file.
        The position is neither used nor changed, so any number of threads may call this at once.
        """
        if offset < 0 or length < 0:
            raise ValueError(f"expected numbers from 0 on, found {offset} and {length}")
        self._check_open()
        return self._source.read_at(offset, length)

    def read(self, size: int | None = -1, /) -> bytes:
        """Returns `size` bytes, by default all, or fewer at the end of the file."""
        self._check_open()
        left = max(self.size - self._at, 0)
        data = self._next(left if size is None or size < 0 else min(size, left))
        self._at += len(data)
        return data

    def read1(self, size: int = -1, /) -> bytes:
        """Returns up to `size` bytes."""
        return self.read(_PEEK if size < 0 else size)

    def readinto(self, buffer: Any, /) -> int:
        """Fills a buffer, as far as the file goes. Returns the number of bytes."""
        with memoryview(buffer).cast("B") as view:
            data = self.read(len(view))
            view[: len(data)] = data
        return len(data)

    def readinto1(self, buffer: Any, /) -> int:
        """Fills a buffer, as far as the file goes. Returns the number of bytes."""
        return self.readinto(buffer)

    def peek(self, _size: int = 0, /) -> bytes:
        """Returns some of the next bytes without moving the position."""
        return self.read_at(self._at, _PEEK)

    def _next(self, length: int) -> bytes:
        """Reads from the position on."""
        return self._source.read_at(self._at, length)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Moves the position, as in other files."""
        self._check_open()
        starts = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}
        if whence not in starts:
            raise ValueError(f"whence: expected 0, 1 or 2, found {whence}")
        if starts[whence] + offset < 0:
            raise ValueError(f"the position {starts[whence] + offset} is before the file")
        self._at = starts[whence] + offset
        return self._at

    def tell(self) -> int:
        """Returns the position."""
        self._check_open()
        return self._at

    def readable(self) -> bool:
        """Returns True."""
        return True

    def seekable(self) -> bool:
        """Returns True."""
        return True

    def close(self) -> None:
        """Closes the file."""
        super().close()
        self.__dict__.pop("_source", None)

    def _check_open(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__name__} {self.name!r}>"


_opened: OrderedDict[tuple[object, ...], Manifest] = OrderedDict()
_lock = Lock()


def opened(
    manifest: str | os.PathLike[str],
    key: Key | KeyRef,
    options: Mapping[str, Any] | None = None,
) -> Manifest:
    """Opens a manifest, or returns one that this process has opened already, unless the file was
    replaced since. One at a URL, which has the storage options `options`, is always opened again.
    """
    key = key.resolve() if isinstance(key, KeyRef) else key
    if "://" in (url := os.fspath(manifest)):
        import fsspec

        fs, folder = fsspec.url_to_fs(url, **(options or {}))

        def read(name: str, start: int, end: int) -> bytes:
            return bytes(fs.cat_file(f"{folder.rstrip('/')}/{name}", start=start, end=end))

        return Manifest(url, key, read=read)
    path = os.path.abspath(manifest)
    found = os.stat(os.path.join(path, "root") if os.path.isdir(path) else path)
    stamp = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    which = (path, key, *stamp)
    with _lock:
        known = _opened.get(which)
        if known is not None:
            _opened.move_to_end(which)
            return known
    # Not under the lock: a large manifest takes time.
    made = Manifest(path, key)
    with _lock:
        _opened[which] = made
        while len(_opened) > _MAX_OPEN:
            _opened.popitem(last=False)
    return made


VerifiedReader.__module__ = "tagmac"
