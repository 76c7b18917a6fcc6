"""The file system: names, sizes and listings from the manifest, bytes from the store."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, ClassVar, NoReturn

import fsspec
from fsspec.implementations.chained import ChainedFileSystem
from fsspec.implementations.local import LocalFileSystem

from .._keyref import KeyRef
from .._tagmac import InvalidTag, Key, Manifest, ManifestEntry, SealedFile
from .._reader import VerifiedReader, opened
from .stored import (
    FileReader,
    LocalFile,
    Range,
    Store,
    StoredFile,
    StoredReader,
    bounds,
    bytes_or_raise,
)


class VerifiedFileSystem(ChainedFileSystem):  # type: ignore[misc]
    """A sealed directory or bucket in any store. It is read-only.

    `manifest` is the path of the manifest, or the URL of a bucket's, which has the storage options
    `manifest_options`; and `key` the key or a reference; with a `KeyRef` the
    file system can be pickled. `root` is the sealed directory: a path in the file system `fs`, or a
    URL. In a chain such as `tagmac::s3://photos/x.parquet` the next URL gives the file system, and
    `root` is by default the folder of its file. `cache_bytes` limits the memory for verified
    leaves.

    Paths are those of the other file system. One that the manifest does not have raises
    `FileNotFoundError`. Bytes that differ from the sealed ones raise `InvalidTag`, and a file that
    the store does not have raises `OSError`.
    """

    protocol: ClassVar[str] = "tagmac"
    # Instances are cheap, and the cache would compare keys by their text.
    cachable: ClassVar[bool] = False

    def __init__(
        self,
        fs: Any = None,
        *,
        manifest: str | os.PathLike[str],
        key: Key | KeyRef,
        root: str | None = None,
        fo: str | None = None,
        target_protocol: str | None = None,
        target_options: Mapping[str, Any] | None = None,
        cache_bytes: int = 32 << 20,
        manifest_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.fs, self.root = _target(fs, root, fo, target_protocol, dict(target_options or {}))
        self._prefix = self.root if self.root.endswith("/") else f"{self.root}/"
        self.manifest: Manifest = opened(manifest, key, manifest_options)
        self._store = Store(self.fs, cache_bytes)
        # Not those derived from it, which may read elsewhere.
        self._is_local = type(self.fs) is LocalFileSystem

    def __dask_tokenize__(self) -> tuple[str, bytes]:
        return self._fs_token, self.manifest.seal

    # Listings

    def _relative(self, path: str) -> str:
        """Returns the path in the manifest."""
        path = self.fs._strip_protocol(self._strip_protocol(path))
        if path.rstrip("/") == self.root.rstrip("/"):
            return ""
        if not path.startswith(self._prefix):
            raise _missing(path)
        return path.removeprefix(self._prefix).rstrip("/")

    def _entry(self, path: str) -> ManifestEntry | None:
        """Returns the entry of a path, which is None for the root."""
        relative = self._relative(path)
        try:
            return self.manifest.info(relative) if relative else None
        except FileNotFoundError:
            raise _missing(path) from None

    def _details(self, entry: ManifestEntry | None) -> dict[str, Any]:
        if entry is None:
            return {"name": self.root, "size": 0, "type": "directory"}
        kind = "directory" if entry.kind == "dir" else entry.kind
        details = {"name": self._prefix + entry.path, "size": entry.size or 0, "type": kind}
        if entry.tag is not None:
            details["tag"] = entry.tag.hex()
        if entry.mtime_ns is not None:
            details["mtime"] = entry.mtime_ns / 1e9
        if entry.target is not None:
            details["destination"] = entry.target
        return details

    def info(self, path: str, **_options: Any) -> dict[str, Any]:
        """Returns the name, size and type of an entry, and the tag of a file, from the manifest."""
        return self._details(self._entry(path))

    def ls(self, path: str, detail: bool = True, **_options: Any) -> list[Any]:
        """Lists a directory, from the manifest."""
        entry = self._entry(path)
        if entry is not None and entry.kind != "dir":
            found = [self._details(entry)]
        else:
            entries = self.manifest.entries("" if entry is None else entry.path)
            found = [self._details(entry) for entry in entries]
        return found if detail else [each["name"] for each in found]

    def find(
        self,
        path: str,
        maxdepth: int | None = None,
        withdirs: bool = False,
        detail: bool = False,
        **options: Any,
    ) -> Any:
        """Lists all files below a path, from the manifest."""
        # A bucket's manifest has no entries of directories.
        if maxdepth is not None or (withdirs and self.manifest.is_bucket):
            return super().find(path, maxdepth, withdirs, detail, **options)
        try:
            entry = self._entry(path)
        except FileNotFoundError:
            return {} if detail else []
        relative = "" if entry is None else entry.path
        entries = [entry, *self.manifest.entries(relative, recursive=True)]
        infos = (self._details(each) for each in entries)
        found = {info["name"]: info for info in infos if withdirs or info["type"] != "directory"}
        return dict(sorted(found.items())) if detail else sorted(found)

    def walk(
        self,
        path: str,
        maxdepth: int | None = None,
        topdown: bool = True,
        on_error: str | Callable[[OSError], object] = "omit",
        **options: Any,
    ) -> Iterator[Any]:
        """Walks through a tree, from the manifest. If `on_error` is "omit", a directory that does
        not exist is empty; other errors are always raised.
        """
        handler = _raise_unless_missing if on_error == "omit" else on_error
        walked: Iterator[Any] = super().walk(path, maxdepth, topdown, handler, **options)
        return walked

    def exists(self, path: str, **_options: Any) -> bool:
        """Returns whether the manifest has an entry with this path."""
        return self._kind(path) is not None

    def _kind(self, path: str) -> str | None:
        """Returns "directory", "file" or another kind; None if the manifest has no such entry."""
        try:
            return str(self.info(path)["type"])
        except FileNotFoundError:
            return None

    def isdir(self, path: str) -> bool:
        """Returns whether the path is a directory in the manifest."""
        return self._kind(path) == "directory"

    def isfile(self, path: str) -> bool:
        """Returns whether the path is a file in the manifest."""
        return self._kind(path) == "file"

    def modified(self, path: str) -> datetime:
        """Returns the sealed modification time. If it was not sealed, the day of the manifest."""
        mtime = self.info(path).get("mtime")
        if mtime is None:
            return datetime.fromisoformat(self.manifest.day or "1970-01-01").replace(tzinfo=UTC)
        return datetime.fromtimestamp(mtime, UTC)

    def checksum(self, path: str) -> str:
        """Returns the tag of a file, which differs if the content does."""
        return str(self.info(path).get("tag", ""))

    def ukey(self, path: str) -> str:
        """Returns a text that differs if the content does."""
        info = self.info(path)
        return f"{info['name']}:{info['size']}:{info.get('tag')}"

    # Reads

    def _file(self, path: str) -> StoredFile | LocalFile:
        relative = self._relative(path)
        stored = self._prefix + relative
        if self._is_local:
            # The store reports errors, and reads what this cannot, such as files below links.
            with suppress(OSError, ValueError, InvalidTag):
                return LocalFile(stored, SealedFile(self.manifest, self.root, relative))
        try:
            content = self.manifest.content(relative)
        except (FileNotFoundError, ValueError):
            entry = self._entry(path)
            if entry is None or entry.kind == "dir":
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path) from None
            if entry.kind != "file":
                what = f"expected a file, found a {entry.kind}"
                raise OSError(errno.EINVAL, what, path) from None
            raise
        return StoredFile(self._store, stored, relative, content)

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | str | None = None,
        **_options: Any,
    ) -> VerifiedReader:
        if mode != "rb":
            self._refuse()
        ahead = block_size if isinstance(block_size, int) else self.blocksize
        file = self._file(path)
        if isinstance(file, LocalFile):
            return FileReader(self, file, ahead)
        return StoredReader(self, file, ahead)

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_options: Any
    ) -> bytes:
        """Returns the verified bytes of a range. Negative numbers count from the end."""
        return self._file(path).read(start, end)

    def cat_ranges(
        self,
        paths: list[str],
        starts: int | list[int | None] | None,
        ends: int | list[int | None] | None,
        max_gap: int | None = None,
        on_error: str = "return",
        **_options: Any,
    ) -> list[bytes | Exception]:
        """Returns the verified bytes of ranges, with as few requests as possible.
        `on_error="return"` returns an exception in the place of its range.
        """
        if max_gap is not None:
            raise NotImplementedError("max_gap")
        if not isinstance(paths, list):
            raise TypeError("paths: expected a list")
        starts = starts if isinstance(starts, list) else [starts] * len(paths)
        ends = ends if isinstance(ends, list) else [ends] * len(paths)
        if len(starts) != len(paths) or len(ends) != len(paths):
            raise ValueError("paths, starts and ends: expected equal lengths")
        found: list[bytes | Exception] = []
        files: dict[str, StoredFile | LocalFile] = {}
        ranges: dict[int, Range] = {}
        for number, (path, start, end) in enumerate(zip(paths, starts, ends, strict=True)):
            found.append(b"")
            try:
                file = files[path] = files.get(path) or self._file(path)
                if isinstance(file, LocalFile):
                    found[number] = file.read(start, end)
                else:
                    ranges[number] = (file, *bounds(file.size, start, end))
            except Exception as error:
                found[number] = error
        for number, each in zip(ranges, self._store.read(list(ranges.values())), strict=True):
            found[number] = each
        if on_error != "return":
            for each in found:
                bytes_or_raise(each)
        return found

    # Writes

    def _refuse(self, *_arguments: Any, **_options: Any) -> NoReturn:
        """Raises `OSError`: the file system is read-only."""
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    mkdir = makedirs = rmdir = rm_file = _rm = rm = cp_file = copy = mv = _refuse
    put_file = put = pipe_file = pipe = touch = write_text = start_transaction = _refuse

    def __repr__(self) -> str:
        return f"<tagmac.fsspec.VerifiedFileSystem {self.root}>"


def _missing(path: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def _raise_unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _target(
    fs: Any,
    root: str | None,
    fo: str | None,
    protocol: str | None,
    options: dict[str, Any],
) -> tuple[Any, str]:
    """Returns the file system with the sealed directory, and the directory's path in it."""
    root = root or None
    if fs is None and protocol is not None:
        fs = fsspec.filesystem(protocol, **options)
    elif fs is None and root is not None:
        fs, root = fsspec.url_to_fs(root, **options)
    if fs is None:
        raise ValueError("root: expected the path or URL of the sealed directory")
    if root is None:
        root = fs._parent(fo) if fo else ""
    elif "://" in root and not _is_of(root, fs):
        raise ValueError(f"root: {root} is not in the file system of the other URL")
    root = fs._strip_protocol(root)
    if not root:
        raise ValueError("root: expected the path or URL of the sealed directory")
    return fs, root


def _is_of(url: str, fs: Any) -> bool:
    protocols = (fs.protocol,) if isinstance(fs.protocol, str) else fs.protocol
    return url.split("://", 1)[0] in protocols


def open_url(
    url: str,
    key: Key | KeyRef,
    *,
    manifest: str | os.PathLike[str],
    root: str | os.PathLike[str] | None,
    options: Mapping[str, Any] | None,
) -> VerifiedReader:
    """Opens a file by its URL, for `tagmac.open_verified`."""
    fs, path = fsspec.url_to_fs(url, **(options or {}))
    root = None if root is None else os.fspath(root)
    sealed = VerifiedFileSystem(fs, manifest=manifest, key=key, root=root, fo=path)
    file: VerifiedReader = sealed.open(path, "rb")
    return file
