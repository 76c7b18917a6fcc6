"""Reads ranges of one version of an object.

Every request has If-Match with the version's ETag, so bytes of two versions never mix: the store
answers 412 if the object changed. After a reset or a short body, the next request asks only for the
missing bytes, and no byte reaches the sink twice.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from botocore.exceptions import (
    ClientError,
    HTTPClientError,
    IncompleteReadError,
    ResponseStreamingError,
)

from . import stores
from .errors import (
    CLIENT_FAILURES,
    GONE,
    READING_FAILURES,
    ObjectChanged,
    ObjectDenied,
    ObjectError,
    ObjectMissing,
)
from .url import Url, check_key, shown

PIECE = 1 << 20
#: Consecutive requests without a new byte before giving up.
TRIES = 8
LONGEST_WAIT = 20.0

#: Errors of a connection, which a retry may avoid. Botocore's other exceptions, such as missing
#: credentials, would recur.
PASSING = (HTTPClientError, IncompleteReadError, ResponseStreamingError, OSError)

Sink = Callable[[bytes], object]


def read_range(
    client: Any, url: Url, etag: str, size: int, start: int, end: int, sink: Sink
) -> None:
    """Passes the bytes from `start` to `end` to `sink`, in order. `size` is the length of the
    object's version `etag`. `client` is used for S3 only.
    """
    if not etag:
        raise ObjectError(url, "the store returned no ETag, which binds requests to a version")
    try:
        check_key(url.key)
    except ValueError as error:
        raise ObjectError(url, str(error)) from None
    if not url.is_s3:
        stores.read_range(url, etag, size, start, end, sink)
        return
    at, tries = start, 0
    while True:
        before = at
        try:
            body = _open(client, url, etag, size, at, end)
            try:
                while at < end:
                    piece = body.read(min(PIECE, end - at))
                    if not piece:
                        raise _Short(f"expected {end - before} bytes, found {at - before}")
                    sink(piece)
                    at += len(piece)
            finally:
                body.close()
            return
        except (*CLIENT_FAILURES, OSError, _Short) as error:
            if isinstance(error, ObjectError):
                raise
            if not isinstance(error, (*PASSING, _Short)):
                raise ObjectError(url, one_line(error)) from None
            tries = 1 if at > before else tries + 1
            if tries >= TRIES:
                raise ObjectError(url, f"{one_line(error)}, {tries} times") from None
            time.sleep(random.uniform(0.5, 1) * min(LONGEST_WAIT, 0.1 * 2**tries))


def describe(client: Any, url: Url) -> dict[str, Any]:
    """Returns an object's properties, as boto3's head_object does."""
    if not url.is_s3:
        return stores.describe(url)
    try:
        head: dict[str, Any] = client.head_object(Bucket=url.bucket, Key=url.key)
    except ClientError as error:
        raise answered(url, error, seen=False) from None
    except READING_FAILURES as error:
        raise ObjectError(url, one_line(error)) from None
    return head


class _Short(Exception):
    """A body ended early."""


def _open(client: Any, url: Url, etag: str, size: int, at: int, end: int) -> Any:
    """Opens the bytes from `at` to `end`, and checks the ETag, length and range in the response."""
    # Request the whole object without a range: an empty object has no valid one.
    ranged = {} if (at, end) == (0, size) else {"Range": f"bytes={at}-{end - 1}"}
    try:
        answer = client.get_object(Bucket=url.bucket, Key=url.key, IfMatch=f'"{etag}"', **ranged)
    except ClientError as error:
        raise answered(url, error) from None
    except ValueError as error:
        raise ObjectError(url, one_line(error)) from None
    body = answer["Body"]
    try:
        if answer.get("ETag", "").strip('"') != etag:
            raise ObjectChanged(
                url, f"expected ETag {etag}, found {answer.get('ETag')}: it changed"
            )
        found = answer.get("ContentLength")
        if found != end - at:
            raise ObjectChanged(
                url, f"expected {end - at} bytes from {at} on, found {found}: it changed"
            )
        if ranged:
            expected, found = f"bytes {at}-{end - 1}/{size}", answer.get("ContentRange")
            if found != expected:
                raise ObjectChanged(url, f"expected {expected}, found {found}: it changed")
    except ObjectError:
        body.close()
        raise
    return body


def failed(url: Url, error: BaseException) -> ObjectError:
    """Makes an ObjectError of a failed upload request. Boto3's transfers wrap the response in their
    own exceptions.
    """
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ClientError):
        cause = cause.__cause__ or cause.__context__
    if cause is None:
        return ObjectError(url, one_line(error))
    if cause.response.get("ResponseMetadata", {}).get("HTTPStatusCode") == 403:
        code = cause.response.get("Error", {}).get("Code", "")
        return ObjectDenied(url, f"no permission to write it ({shown(code)})")
    return ObjectError(url, one_line(cause))


def answered(url: Url, error: ClientError, *, seen: bool = True) -> ObjectError:
    """Makes an ObjectError of an error response to a reading request. `seen` is True if a listing
    or an earlier response had the object.
    """
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    code = error.response.get("Error", {}).get("Code", "")
    if status in (412, 416):
        return ObjectChanged(url, "it changed after it was listed")
    if status == 404 and code != "NoSuchBucket":
        return ObjectChanged(url, GONE) if seen else ObjectMissing(url)
    if code == "InvalidObjectState":
        return ObjectError(url, f"the object is archived; restore it before reading it ({code})")
    if status == 403:
        return ObjectDenied(url, f"no permission to read it ({shown(code)})")
    return ObjectError(url, one_line(error))


def one_line(error: BaseException) -> str:
    """Returns an exception's text in one line."""
    return shown(" ".join(str(error).split())[:500]) or type(error).__name__
