"""Storage of a manifest's files: a folder that all workers share, or a prefix of a bucket.

Both write a file completely or not at all. A shard's name contains part of its seal, so a task that
runs twice writes the same file, or another one that no root refers to.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from botocore.exceptions import ClientError

import tagmac

from ..s3 import stores
from ..s3.client import client
from ..s3.errors import READING_FAILURES, ObjectError
from ..s3.reading import one_line
from ..s3.url import Url, is_url
from .buckets import ListingFailed, entries, list_names

#: The file that is written under a condition.
ROOT = "root"
#: Maximum length of a file to replace, which is a root.
MAX_REPLACED_BYTES = 64 << 20
#: Maximum number of files in a folder to remove.
MAX_REMOVED = 1_000_000


class PlaceError(OSError):
    """A file of the manifest is missing, or cannot be read or written."""


class Place(Protocol):
    """Storage for files, which Spark sends to tasks."""

    def shown(self, name: str) -> str:
        """Returns a file's name for messages."""

    def read(self, name: str, max_bytes: int) -> bytes | None:
        """Reads a whole file; None if it does not exist. Raises PlaceError if it is longer than
        `max_bytes`.
        """

    def has(self, name: str) -> bool:
        """True if the file exists."""

    def write(self, name: str, data: bytes, *, new: bool = False) -> None:
        """Writes a file. Raises PlaceError if `new` is True and the file exists."""

    def replace(self, name: str, data: bytes, old: bytes) -> None:
        """Replaces a file with the content `old`. Raises PlaceError if the file is missing or
        differs.
        """

    def remove(self, name: str) -> None:
        """Removes a file if possible. Never raises an error."""

    def remove_folder(self, name: str) -> None:
        """Removes all files in a folder, as far as possible. Raises PlaceError if a listing
        contains names outside it, which are not removed.
        """


def place(where: str) -> Place:
    """Returns the place at s3://bucket/prefix, gs:// or az://, or the folder with that path."""
    if is_url(where):
        url = Url.parse_prefix(where)
        return Prefix(url) if url.is_s3 else StorePrefix(url)
    if "://" in where:
        raise ValueError(f"{where}: neither s3://, gs:// or az:// with BUCKET/PREFIX nor a folder")
    return Folder(os.path.abspath(where))


@dataclass(frozen=True)
class Folder:
    """A folder that the driver and all workers share."""

    path: str

    def shown(self, name: str) -> str:
        return f"{self.path}/{name}"

    def read(self, name: str, max_bytes: int) -> bytes | None:
        path = Path(self.path, name)
        try:
            if not path.is_file() and path.exists():
                raise PlaceError(f"{path}: not a regular file")
            with open(path, "rb") as file:
                data = file.read(max_bytes + 1)
        except FileNotFoundError:
            return None
        return _bounded(self.shown(name), data, max_bytes)

    def has(self, name: str) -> bool:
        return Path(self.path, name).exists()

    def replace(self, name: str, data: bytes, old: bytes) -> None:
        folder = os.open(self.path, os.O_RDONLY)
        try:
            # The lock lets one process at a time compare and replace, the command included. On a
            # file system without locks, two could do so at once.
            with contextlib.suppress(OSError):
                fcntl.flock(folder, fcntl.LOCK_EX)
            if self.read(name, MAX_REPLACED_BYTES) != old:
                raise _replaced(self.shown(name))
            self.write(name, data)
        finally:
            os.close(folder)

    def write(self, name: str, data: bytes, *, new: bool = False) -> None:
        path = Path(self.path, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
        try:
            with open(draft, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if new:
                # Unlike a rename, a link fails if the file exists.
                os.link(draft, path)
            else:
                os.replace(draft, path)
        except FileExistsError:
            raise PlaceError(f"{path}: a manifest exists") from None
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(draft)

    def remove(self, name: str) -> None:
        with contextlib.suppress(OSError):
            Path(self.path, name).unlink()

    def remove_folder(self, name: str) -> None:
        shutil.rmtree(Path(self.path, name), ignore_errors=True)


@dataclass(frozen=True)
class Prefix:
    """The objects below a prefix, which ends in a slash unless it is empty."""

    url: Url

    def shown(self, name: str) -> str:
        return f"{self.url}{name}"

    def read(self, name: str, max_bytes: int) -> bytes | None:
        found = self._content(name, max_bytes)
        return None if found is None else found[0]

    def has(self, name: str) -> bool:
        try:
            client().head_object(Bucket=self.url.bucket, Key=self.url.key + name)
        except ClientError as error:
            if _status(error) == 404:
                return False
            raise self._failed(name, error) from None
        except READING_FAILURES as error:
            raise self._failed(name, error) from None
        return True

    def write(self, name: str, data: bytes, *, new: bool = False) -> None:
        try:
            self._put(name, data, {"IfNoneMatch": "*"} if new else {})
        except _Refused:
            raise PlaceError(f"{self.shown(name)}: a manifest exists") from None

    def replace(self, name: str, data: bytes, old: bytes) -> None:
        found = self._content(name, MAX_REPLACED_BYTES)
        if found is None or found[0] != old:
            raise _replaced(self.shown(name))
        try:
            self._put(name, data, {"IfMatch": found[1]} if found[1] else {})
        except _Refused:
            # An earlier try may have succeeded, and only its response was lost.
            if self.read(name, MAX_REPLACED_BYTES) != data:
                raise _replaced(self.shown(name)) from None

    def _content(self, name: str, max_bytes: int) -> tuple[bytes, str] | None:
        """Reads a whole file and its ETag; None if it does not exist."""
        try:
            answer = client().get_object(Bucket=self.url.bucket, Key=self.url.key + name)
            with contextlib.closing(answer["Body"]) as body:
                data: bytes = body.read(max_bytes + 1)
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == "NoSuchKey":
                return None
            raise self._failed(name, error) from None
        except READING_FAILURES as error:
            raise self._failed(name, error) from None
        return _bounded(self.shown(name), data, max_bytes), answer.get("ETag", "")

    def _put(self, name: str, data: bytes, condition: dict[str, str]) -> None:
        """Writes a file. Raises _Refused if the condition does not hold."""
        where = {"Bucket": self.url.bucket, "Key": self.url.key + name}
        try:
            client().put_object(**where, Body=data, **condition)
        except ClientError as error:
            if condition and _status(error) in (404, 409, 412):
                raise _Refused from None
            raise self._failed(name, error) from None
        except READING_FAILURES as error:
            raise self._failed(name, error) from None

    def _failed(self, name: str, error: BaseException) -> PlaceError:
        return PlaceError(f"{self.shown(name)}: {one_line(error)}")

    def remove(self, name: str) -> None:
        with contextlib.suppress(ClientError, *READING_FAILURES):
            client().delete_object(Bucket=self.url.bucket, Key=self.url.key + name)

    def remove_folder(self, name: str) -> None:
        folder = self.url.at(f"{self.url.key}{name}/")
        try:
            # The order does not matter: directory buckets list in any order.
            for count, (key, _) in enumerate(self._entries(folder), 1):
                if count > MAX_REMOVED:
                    raise ObjectError(
                        folder, f"more than {MAX_REMOVED} files in the folder; the rest is kept"
                    )
                # With dots, a client or proxy could turn the key into that of another file.
                if not {".", ".."}.isdisjoint(key[len(folder.key) :].split("/")):
                    raise ObjectError(folder, f"expected names below {folder}, found {key!r}")
                self._delete(key)
        except (ListingFailed, ClientError, *READING_FAILURES):
            # Removal is optional: leave what cannot be listed or deleted.
            return
        except ObjectError as error:
            raise PlaceError(str(error)) from None

    def _entries(self, folder: Url) -> Iterator[tuple[str, dict[str, Any]]]:
        return entries(client(), folder)

    def _delete(self, key: str) -> None:
        client().delete_object(Bucket=self.url.bucket, Key=key)


@dataclass(frozen=True)
class StorePrefix(Prefix):
    """The objects below a prefix in Google Cloud Storage or Azure."""

    def read(self, name: str, max_bytes: int) -> bytes | None:
        with _as_place_error():
            data: bytes | None = self._store().read_file(name, max_bytes)
        return data

    def has(self, name: str) -> bool:
        with _as_place_error():
            is_there: bool = self._store().has_file(name)
        return is_there

    def write(self, name: str, data: bytes, *, new: bool = False) -> None:
        with _as_place_error():
            if new:
                self._root(name).write_root(data, None)
            else:
                self._store().write_file(name, data)

    def replace(self, name: str, data: bytes, old: bytes) -> None:
        with _as_place_error():
            self._root(name).write_root(data, old)

    def remove(self, name: str) -> None:
        with contextlib.suppress(OSError):
            self._store().remove_file(name)

    def _entries(self, folder: Url) -> Iterator[tuple[str, dict[str, Any]]]:
        return list_names(None, folder)

    def _delete(self, key: str) -> None:
        self.remove(key[len(self.url.key) :])

    def _store(self) -> Any:
        return stores.store(self.url)

    def _root(self, name: str) -> Any:
        if name != ROOT:
            raise ValueError(f"expected the file {ROOT}, found {name}")
        return self._store()


@contextlib.contextmanager
def _as_place_error() -> Iterator[None]:
    try:
        yield
    except (OSError, tagmac.InvalidTag) as error:
        # InvalidTag for a file that is too long to be one of a manifest.
        raise PlaceError(str(error)) from None


class _Refused(Exception):
    """The condition of a write does not hold."""


def _status(error: ClientError) -> int:
    status: int = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status


def _replaced(shown: str) -> PlaceError:
    return PlaceError(
        f"{shown}: the manifest changed during the run: another seal ran at the same time"
    )


def _bounded(shown: str, data: bytes, max_bytes: int) -> bytes:
    if len(data) > max_bytes:
        raise PlaceError(f"{shown}: longer than {max_bytes} bytes")
    return data
