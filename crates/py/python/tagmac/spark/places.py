"""Where the files of a manifest are kept: a folder that all workers share, or a prefix of a bucket.

Both write a file whole or not at all. A shard's name has part of its seal in it, so a task that
runs twice writes the same file, or another one beside it that no root names.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from botocore.exceptions import ClientError

from ..s3.client import client
from ..s3.errors import READING_FAILURES, ObjectError
from ..s3.reading import one_line
from ..s3.url import Url, is_url
from .buckets import ListingFailed, entries

#: Of a file that is replaced: a root.
MAX_REPLACED_BYTES = 64 << 20
#: Of a folder that is removed.
MAX_REMOVED = 1_000_000


class PlaceError(OSError):
    """A file of the manifest that cannot be read or written."""


class Place(Protocol):
    """A place of files, which tasks take with them."""

    def shown(self, name: str) -> str:
        """A file's name in messages."""

    def read(self, name: str, max_bytes: int) -> bytes | None:
        """A whole file, or None if there is none. An error if it is longer."""

    def has(self, name: str) -> bool:
        """Whether there is a file of that name."""

    def write(self, name: str, data: bytes, *, new: bool = False) -> None:
        """Writes a file; new: an error if there is one."""

    def replace(self, name: str, data: bytes, old: bytes) -> None:
        """Writes a file in the place of one with the content old. An error if that is not there."""

    def remove(self, name: str) -> None:
        """Removes a file, if that is possible: never an error."""

    def remove_folder(self, name: str) -> None:
        """Removes all files whose names begin with this one and a slash, as far as that is possible.
        An error if a listing of them has others: those stay."""


def place(where: str) -> Place:
    """The place at s3://bucket/prefix, or the folder of that path."""
    if is_url(where):
        return Prefix(Url.parse_prefix(where))
    if "://" in where:
        raise ValueError(f"{where}: expected s3://BUCKET/PREFIX or a folder, found neither")
    return Folder(os.path.abspath(where))


@dataclass(frozen=True)
class Folder:
    """A folder of a file system that all workers see."""

    path: str

    def shown(self, name: str) -> str:
        return f"{self.path}/{name}"

    def read(self, name: str, max_bytes: int) -> bytes | None:
        path = Path(self.path, name)
        try:
            if not path.is_file() and path.exists():
                raise PlaceError(f"{path}: expected a regular file, found none")
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
            # One at a time compares and replaces, the command too. Where the file system has no
            # locks, two could do so in the same moment.
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
                # Unlike a rename, a link replaces nothing.
                os.link(draft, path)
            else:
                os.replace(draft, path)
        except FileExistsError:
            raise PlaceError(f"{path}: expected no manifest there, found one") from None
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
    """The objects below a prefix, which ends in a slash unless it is the whole bucket."""

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
            raise PlaceError(f"{self.shown(name)}: expected no manifest there, found one") from None

    def replace(self, name: str, data: bytes, old: bytes) -> None:
        found = self._content(name, MAX_REPLACED_BYTES)
        if found is None or found[0] != old:
            raise _replaced(self.shown(name))
        try:
            self._put(name, data, {"IfMatch": found[1]} if found[1] else {})
        except _Refused:
            # It may have arrived, and the answer not.
            if self.read(name, MAX_REPLACED_BYTES) != data:
                raise _replaced(self.shown(name)) from None

    def _content(self, name: str, max_bytes: int) -> tuple[bytes, str] | None:
        """A whole file and its ETag, or None if there is none."""
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
        """Writes a file. _Refused if what is there is not what the condition says."""
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
        folder = Url(self.url.bucket, f"{self.url.key}{name}/")
        try:
            # In any order: directory buckets have none.
            for count, (key, _) in enumerate(entries(client(), folder), 1):
                if count > MAX_REMOVED:
                    raise ObjectError(
                        folder, f"expected at most {MAX_REMOVED} files to remove, found more"
                    )
                # On its way to the store it could become the key of another file.
                if not {".", ".."}.isdisjoint(key[len(folder.key) :].split("/")):
                    raise ObjectError(folder, f"expected names below {folder}, found {key!r}")
                client().delete_object(Bucket=folder.bucket, Key=key)
        except (ListingFailed, ClientError, *READING_FAILURES):
            # What may not be listed or deleted stays.
            return
        except ObjectError as error:
            raise PlaceError(str(error)) from None


class _Refused(Exception):
    """A write whose condition is not so."""


def _status(error: ClientError) -> int:
    status: int = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status


def _replaced(shown: str) -> PlaceError:
    return PlaceError(
        f"{shown}: expected the manifest that was there at the start, found a change: another seal "
        "ran meanwhile"
    )


def _bounded(shown: str, data: bytes, max_bytes: int) -> bytes:
    if len(data) > max_bytes:
        raise PlaceError(f"{shown}: expected at most {max_bytes} bytes, found more")
    return data
