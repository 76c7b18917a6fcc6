"""Where the files of a manifest are kept: a folder that all workers share, or a prefix of a bucket.

Both write a file whole or not at all. A shard's name has part of its seal in it, so a task that
runs twice writes the same file, or another one beside it that no root names.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from botocore.exceptions import BotoCoreError, ClientError

from ..s3.client import client
from ..s3.reading import one_line
from ..s3.url import Url, is_url


class PlaceError(OSError):
    """A file of the manifest that cannot be read or written."""


class Place(Protocol):
    """A place of files, which tasks take with them."""

    def shown(self, name: str) -> str:
        """A file's name in messages."""

    def read(self, name: str, max_bytes: int) -> bytes | None:
        """A whole file, or None if there is none. An error if it is longer."""

    def write(self, name: str, data: bytes, *, new: bool = False) -> None:
        """Writes a file; new: an error if there is one."""

    def remove(self, name: str) -> None:
        """Removes a file, if that is possible: never an error."""

    def remove_folder(self, name: str) -> None:
        """Removes all files whose names begin with this one and a slash, if that is possible."""


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
        try:
            answer = client().get_object(Bucket=self.url.bucket, Key=self.url.key + name)
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == "NoSuchKey":
                return None
            raise PlaceError(f"{self.shown(name)}: {one_line(error)}") from None
        except BotoCoreError as error:
            raise PlaceError(f"{self.shown(name)}: {one_line(error)}") from None
        try:
            with contextlib.closing(answer["Body"]) as body:
                data: bytes = body.read(max_bytes + 1)
        except BotoCoreError as error:
            raise PlaceError(f"{self.shown(name)}: {one_line(error)}") from None
        return _bounded(self.shown(name), data, max_bytes)

    def write(self, name: str, data: bytes, *, new: bool = False) -> None:
        condition = {"IfNoneMatch": "*"} if new else {}
        try:
            client().put_object(
                Bucket=self.url.bucket, Key=self.url.key + name, Body=data, **condition
            )
        except ClientError as error:
            if error.response.get("ResponseMetadata", {}).get("HTTPStatusCode") in (409, 412):
                raise PlaceError(
                    f"{self.shown(name)}: expected no manifest there, found one"
                ) from None
            raise PlaceError(f"{self.shown(name)}: {one_line(error)}") from None
        except BotoCoreError as error:
            raise PlaceError(f"{self.shown(name)}: {one_line(error)}") from None

    def remove(self, name: str) -> None:
        with contextlib.suppress(ClientError, BotoCoreError):
            client().delete_object(Bucket=self.url.bucket, Key=self.url.key + name)

    def remove_folder(self, name: str) -> None:
        pages = client().get_paginator("list_objects_v2")
        start = f"{self.url.key}{name}/"
        with contextlib.suppress(ClientError, BotoCoreError):
            for page in pages.paginate(Bucket=self.url.bucket, Prefix=start):
                for entry in page.get("Contents", []):
                    client().delete_object(Bucket=self.url.bucket, Key=entry["Key"])


def _bounded(shown: str, data: bytes, max_bytes: int) -> bytes:
    if len(data) > max_bytes:
        raise PlaceError(f"{shown}: expected at most {max_bytes} bytes, found more")
    return data
