"""Files in a store. Their leaves are requested, verified and then released."""

from __future__ import annotations

import errno
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from threading import Lock
from typing import Any, Final

from .._tagmac import Content, InvalidTag, SealedFile
from .._reader import VerifiedReader

#: The longest request, unless a leaf is longer.
_REQUEST: Final = 16 << 20
#: Reads below this size read ahead if they are sequential.
_SMALL: Final = 256 << 10
#: Longer answers are not kept, except for leaves that are partly used.
_KEPT: Final = 512 << 10
#: Errors that programs take for a file that does not exist, with a default instead of its bytes.
_ABSENT: Final = (FileNotFoundError, IsADirectoryError, NotADirectoryError)

#: A range of a file.
Range = tuple["StoredFile", int, int]
#: The file and the first byte of a leaf.
_Leaf = tuple[str, int]
#: Bytes of whole leaves, and their offset in the file.
_Piece = tuple[int, bytes]


class Store:
    """An untrusted file system, and verified leaves of its files."""

    def __init__(self, fs: Any, cache_bytes: int) -> None:
        self.fs, self.cache = fs, _Cache(cache_bytes)

    def read(self, wanted: Sequence[Range], ahead: int = 0) -> list[bytes | Exception]:
        """Reads ranges. Each leaf is requested at most once. If there are requests, the last one is
        longer by up to `ahead` bytes.
        """
        found: dict[_Leaf, _Piece | Exception] = {}
        needed: dict[_Leaf, StoredFile] = {}
        for file, start, end in wanted:
            for leaf in file.leaves(start, end):
                which = file.relative, leaf
                if which in found or which in needed:
                    continue
                piece = self.cache.get(which)
                if piece is None:
                    needed[which] = file
                else:
                    found[which] = piece
        if needed and ahead:
            file, _, end = wanted[-1]
            for leaf in file.leaves(end, min(end + ahead, file.size)):
                if self.cache.get((file.relative, leaf)) is None:
                    needed[file.relative, leaf] = file
        if needed:
            requests = list(_joined(needed))
            for request, data in zip(requests, self._fetch(requests), strict=True):
                verified = self._verified(request, data)
                self._keep(request[0], verified, wanted, bool(ahead))
                found.update(verified)
        return [_assembled(each, found) for each in wanted]

    def _fetch(self, requests: Sequence[Range]) -> list[Any]:
        """Requests ranges of the store. Nothing that it returns is trusted."""
        if len(requests) == 1:
            [(file, start, end)] = requests
            try:
                return [self.fs.cat_file(file.path, start=start, end=end)]
            except Exception as error:
                return [error]
        paths = [file.path for file, _, _ in requests]
        starts, ends = [start for _, start, _ in requests], [end for _, _, end in requests]
        answers = list(self.fs.cat_ranges(paths, starts, ends, on_error="return"))
        if len(answers) != len(requests):
            raise OSError(errno.EIO, f"expected {len(requests)} ranges, found {len(answers)}")
        return answers

    def _verified(
        self, request: Range, answer: Any
    ) -> dict[_Leaf, _Piece | Exception]:
        """Verifies the leaves of an answer."""
        file, start, end = request
        leaves = list(file.leaves(start, end))
        if isinstance(answer, _ABSENT):
            answer = OSError(errno.EIO, "the store does not have this sealed file", file.path)
        if isinstance(answer, Exception):
            return {(file.relative, leaf): answer for leaf in leaves}
        # Other objects could be a view of memory that still changes.
        data = answer if type(answer) is bytes else bytes(memoryview(answer))
        if len(data) != end - start:
            short = f"expected {end - start} bytes from byte {start} on, found {len(data)}"
            wrong = InvalidTag(f"{file.path}: {short}")
            return {(file.relative, leaf): wrong for leaf in leaves}
        try:
            file.content.verify(start, data)
        except InvalidTag:
            return {(file.relative, leaf): file.piece(leaf, start, data) for leaf in leaves}
        return {(file.relative, leaf): (start, data) for leaf in leaves}

    def _keep(
        self,
        file: StoredFile,
        verified: Mapping[_Leaf, _Piece | Exception],
        wanted: Sequence[Range],
        has_more: bool,
    ) -> None:
        """Keeps what is likely to be read again, or next."""
        size = file.content.leaf_size
        ends = {at for one, *bounds in wanted if one.relative == file.relative for at in bounds}
        partly = {at - at % size for at in ends if at % size and at != file.size}
        for (_, leaf), piece in verified.items():
            if isinstance(piece, Exception):
                continue
            start, data = piece
            if has_more or len(data) <= min(_KEPT, self.cache.limit // 4):
                if leaf == start:
                    self.cache.put(file, start, data)
            elif leaf in partly:
                self.cache.put(file, leaf, data[leaf - start : leaf - start + size])


class LocalFile:
    """A sealed file of this machine, which is read without its store."""

    def __init__(self, path: str, file: SealedFile) -> None:
        self.path, self.size = path, file.size
        self.read_at = file.read_at

    def read(self, start: int | None, end: int | None) -> bytes:
        """Returns the bytes of a range. Negative numbers count from the end."""
        first, last = bounds(self.size, start, end)
        return self.read_at(first, last - first)


class StoredFile:
    """A sealed file in a store."""

    def __init__(self, store: Store, path: str, relative: str, content: Content) -> None:
        self.store, self.path, self.relative, self.content = store, path, relative, content
        self.size = content.size

    def read_at(self, offset: int, length: int) -> bytes:
        end = min(offset + length, self.size)
        return bytes_or_raise(self.store.read([(self, min(offset, end), end)])[0])

    def read(self, start: int | None, end: int | None) -> bytes:
        """Returns the bytes of a range. Negative numbers count from the end."""
        return bytes_or_raise(self.store.read([(self, *bounds(self.size, start, end))])[0])

    def leaves(self, start: int, end: int) -> range:
        """Returns the first byte of each leaf that a range has bytes of."""
        leaf = self.content.leaf_size
        return range(start - start % leaf, end, leaf) if start < end else range(0)

    def piece(self, leaf: int, start: int, data: bytes) -> _Piece | Exception:
        """Verifies one leaf of the data from `start` on."""
        part = data[leaf - start : leaf - start + self.content.leaf_size]
        try:
            self.content.verify(leaf, part)
        except InvalidTag as error:
            return error
        return leaf, part


class FileReader(VerifiedReader):
    """A sealed file of a file system, open for reading."""

    def __init__(self, fs: Any, file: StoredFile | LocalFile, block_size: int) -> None:
        super().__init__(file, file.path)
        self.path, self.fs, self.blocksize = file.path, fs, block_size

    def info(self) -> dict[str, Any]:
        """Returns the entry, as the file system does."""
        info: dict[str, Any] = self.fs.info(self.path)
        return info


class StoredReader(FileReader):
    """A sealed file in a store, open for reading. Small sequential reads read ahead."""

    def __init__(self, fs: Any, file: StoredFile, block_size: int) -> None:
        super().__init__(fs, file, block_size)
        self._file = file
        #: The end of the last read, and the number of bytes that were read sequentially up to it.
        self._end = self._run = 0

    def _next(self, length: int) -> bytes:
        start, end = self._at, self._at + length
        self._run = self._run + length if start == self._end else 0
        self._end = end
        ahead = min(self._run, self.blocksize, self._file.store.cache.limit // 4)
        wanted = [(self._file, start, end)]
        return bytes_or_raise(self._file.store.read(wanted, ahead if length < _SMALL else 0)[0])


class _Cache:
    """Verified leaves, with a limit in bytes. The leaves of a request leave together, the least
    recently used ones first. The newest ones are always kept.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.bytes = 0
        self._pieces: OrderedDict[_Leaf, tuple[bytes, range]] = OrderedDict()
        #: The first leaf of the piece that a leaf is in.
        self._first: dict[_Leaf, int] = {}
        self._lock = Lock()

    def get(self, which: _Leaf) -> _Piece | None:
        with self._lock:
            first = self._first.get(which)
            if first is None:
                return None
            name = which[0], first
            self._pieces.move_to_end(name)
            return first, self._pieces[name][0]

    def put(self, file: StoredFile, start: int, data: bytes) -> None:
        leaves = file.leaves(start, start + len(data))
        with self._lock:
            self._remove((file.relative, start))
            self._pieces[file.relative, start] = data, leaves
            self._first.update(((file.relative, leaf), start) for leaf in leaves)
            self.bytes += len(data)
            while self.bytes > self.limit and len(self._pieces) > 1:
                self._remove(next(iter(self._pieces)))

    def _remove(self, name: _Leaf) -> None:
        data, leaves = self._pieces.pop(name, (b"", range(0)))
        self.bytes -= len(data)
        for leaf in leaves:
            # A piece of another thread may have it too.
            if self._first.get((name[0], leaf)) == name[1]:
                del self._first[name[0], leaf]


def _joined(needed: Mapping[_Leaf, StoredFile]) -> Iterator[Range]:
    """Joins adjacent leaves to requests."""
    for _, leaves in groupby(sorted(needed), key=lambda which: which[0]):
        start = end = 0
        file = None
        for which in leaves:
            leaf = which[1]
            if file is None or leaf != end or end - start >= _REQUEST:
                if file is not None:
                    yield file, start, end
                file, start = needed[which], leaf
            end = min(leaf + file.content.leaf_size, file.size)
        if file is not None:
            yield file, start, end


def _assembled(
    wanted: Range, found: Mapping[_Leaf, _Piece | Exception]
) -> bytes | Exception:
    """Returns the bytes of a range, of pieces that are verified."""
    file, at, end = wanted
    leaf, parts = file.content.leaf_size, []
    while at < end:
        piece = found[file.relative, at - at % leaf]
        if isinstance(piece, Exception):
            return piece
        start, data = piece
        first, last = at - start, min(end - start, len(data))
        parts.append(data if last - first == len(data) else memoryview(data)[first:last])
        at = start + last
    return parts[0] if len(parts) == 1 and type(parts[0]) is bytes else b"".join(parts)


def bounds(size: int, start: int | None, end: int | None) -> tuple[int, int]:
    """Returns the bounds of a range as numbers within a file of `size` bytes."""
    first, last, _ = slice(start, end).indices(size)
    return first, max(first, last)


def bytes_or_raise(found: bytes | Exception) -> bytes:
    if isinstance(found, Exception):
        raise found
    return found


