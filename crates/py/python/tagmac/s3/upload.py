"""Uploads by boto3's transfers, with the tag beside the object.

A multipart upload's metadata is fixed when it begins, before a byte of it is sent. So a file is read
twice: once for the tag, which goes into the metadata, and once to be sent; what is sent is hashed
on its way, and unless it has the very tag that the metadata says, the upload is aborted before the object
exists. What boto3 reads again, for a retry or after a checksum, has to be the same bytes: each chunk is
tagged in memory under a key of the upload's own. A stream can be read once: its tag becomes an object tag right after the upload, which a
reader without it refuses.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from os import PathLike
from typing import IO, Any
from urllib.parse import parse_qsl

import tagmac
from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.exceptions import ClientError

from .chunks import ChunkReader, Chunks
from .errors import CLIENT_FAILURES, ObjectChanged, ObjectError
from .nonces import new_nonce
from .reading import failed
from .stored import Stored, without_ours
from .url import Url

#: Of a stream, so much is looked at before the upload begins: what is shorter is sent as a file is.
LOOK_AHEAD = 8 << 20
#: A file is read by chunks.
CHUNK = 1 << 20
#: S3's limit.
MAX_OBJECT_TAGS = 10
#: What boto3 raises for requests that fail.
REQUEST_ERRORS = (Boto3Error, *CLIENT_FAILURES, ClientError)


@dataclass(frozen=True)
class Uploaded:
    """What was stored with an object, and where."""

    tag: bytes
    nonce: bytes | None
    bytes: int
    #: "metadata" or "object tags".
    where: str


class _Steady(ChunkReader):
    """A file that has the same bytes each time that they are read, as many as were tagged, or an
    error."""

    def __init__(self, file: IO[bytes], url: Url, size: int) -> None:
        super().__init__(size, CHUNK)
        self._file, self._url = file, url
        self._chunks = Chunks(CHUNK)
        self.failed: ObjectChanged | None = None

    def load(self, number: int) -> bytes:
        # Each is tagged when it is read for the first time, and those before it are by then.
        for each in range(min(number, self._chunks.count), number + 1):
            start, end = self.bounds(each)
            self._file.seek(start)
            # After the last byte there is one more if the file grew.
            chunk = _exactly(self._file, end - start + (end == self._size))
            if len(chunk) != end - start:
                raise self._fail()
            if each == self._chunks.count:
                self._chunks.add(chunk)
            else:
                try:
                    self._chunks.verify(each, chunk)
                except tagmac.InvalidTag:
                    raise self._fail() from None
        return chunk

    def _fail(self) -> ObjectChanged:
        self.failed = _changed(self._url)
        return self.failed


def _changed(url: Url) -> ObjectChanged:
    return ObjectChanged(url, "the file changed while it was uploaded: nothing was stored")


class _Hashed(io.RawIOBase):
    """A file as boto3 reads it. Each byte is hashed the first time that it is read: a retry seeks
    back and reads again, which counts nothing twice."""

    def __init__(self, file: Any, mac: tagmac.Mac) -> None:
        self._file, self._mac = file, mac
        self._at = self.hashed = 0
        #: Once so many bytes were hashed, whether they have this tag is found out before the last
        #: of them are handed on.
        self.expected: tuple[Url, int, bytes] | None = None
        self.failed: ObjectChanged | None = None
        #: Whether all of them were read, and have the tag.
        self.matched = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self.expected is not None

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = self._file.seek(offset, whence)
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        count = None if size is None or size < 0 else size
        piece = _exactly(self._file, count)
        new = self._at + len(piece) - self.hashed
        if new > len(piece):
            raise OSError(f"expected no bytes left out, found a read at {self._at}")
        if new > 0:
            self._mac.update(memoryview(piece)[len(piece) - new :])
            self.hashed += new
        if self.expected is not None:
            _, all_bytes, _ = self.expected
            left = max(0, all_bytes - self._at)
            is_short = len(piece) < (left if count is None else min(count, left))
            self._hold_against(*self.expected, is_short)
        self._at += len(piece)
        return piece

    def _hold_against(self, url: Url, size: int, tag: bytes, is_short: bool) -> None:
        if self.hashed < size and not is_short:
            return
        if self.hashed == size and not is_short:
            try:
                self._mac.verify(tag)
                self.matched = True
                return
            except tagmac.InvalidTag:
                pass
        self.failed = _changed(url)
        raise self.failed


def upload_file(
    client: Any,
    path: str | PathLike[str],
    url: str,
    key: tagmac.Key,
    *,
    extra_args: dict[str, Any] | None = None,
    config: Any = None,
    callback: Any = None,
) -> Uploaded:
    """Uploads a file to s3://bucket/key, as boto3's upload_file does, with its tag in the metadata.

    The file is read twice. If it changes meanwhile, ObjectChanged is raised and nothing is stored.
    """
    target, nonce, options = Url.parse_object(url), new_nonce(key), (extra_args, config, callback)
    with open(path, "rb") as file:
        start = file.read(LOOK_AHEAD)
        if len(start) < LOOK_AHEAD:
            return _send_bytes(client, start, target, key, nonce, *options)
        file.seek(0)
        tag = tagmac.file_digest(file, key, nonce=nonce)
        size = file.tell()
        steady = _Steady(file, target, size)
        return _send(client, steady, size, target, key, Stored(tag, nonce), *options)


def upload_stream(
    client: Any,
    stream: IO[bytes],
    url: str,
    key: tagmac.Key,
    *,
    extra_args: dict[str, Any] | None = None,
    config: Any = None,
    callback: Any = None,
) -> Uploaded:
    """Uploads what a stream has to s3://bucket/key, as boto3's upload_fileobj does.

    Up to 8 MiB, the tag is in the metadata. More is sent as it is read, and the tag becomes an object
    tag when all was sent: until then, and if that fails, the object has none, and open_verified
    refuses it.
    """
    target, nonce = Url.parse_object(url), new_nonce(key)
    start = _exactly(stream, LOOK_AHEAD)
    if len(start) < LOOK_AHEAD:
        return _send_bytes(client, start, target, key, nonce, extra_args, config, callback)
    extra = dict(extra_args or {})
    extra["Metadata"] = without_ours(extra.get("Metadata", {}))
    # Object tags are set as a whole: the caller's go with ours.
    tags = without_ours(dict(parse_qsl(extra.get("Tagging", ""), keep_blank_values=True)))
    most = MAX_OBJECT_TAGS - len(Stored(b"", nonce).fields(key))
    if len(tags) > most:
        raise ValueError(f"Tagging: expected at most {most} object tags, found {len(tags)}")
    body = _Hashed(_Chained(start, stream), key.new(nonce=nonce))
    try:
        client.upload_fileobj(
            body,
            target.bucket,
            target.key,
            ExtraArgs=extra,
            Callback=callback,
            Config=_config(config),
        )
    except REQUEST_ERRORS as error:
        raise failed(target, error) from error
    stored = Stored(body._mac.digest(), nonce)
    tags |= stored.fields(key)
    entries = [{"Key": name, "Value": value} for name, value in tags.items()]
    try:
        client.put_object_tagging(Bucket=target.bucket, Key=target.key, Tagging={"TagSet": entries})
    except REQUEST_ERRORS as error:
        # Without its tag the object is one that open_verified refuses.
        raise failed(target, error) from error
    return Uploaded(stored.tag, nonce, body.hashed, "object tags")


def _send_bytes(
    client: Any, data: bytes, url: Url, key: tagmac.Key, nonce: bytes | None,
    extra_args: dict[str, Any] | None, config: Any, callback: Any,
) -> Uploaded:  # fmt: skip
    """Uploads what is in memory: what is tagged is what is sent."""
    stored = Stored(key.tag(data, nonce), nonce)
    return _send(
        client, io.BytesIO(data), len(data), url, key, stored, extra_args, config, callback
    )


def _send(
    client: Any, file: IO[bytes] | _Steady, size: int, url: Url, key: tagmac.Key, stored: Stored,
    extra_args: dict[str, Any] | None, config: Any, callback: Any,
) -> Uploaded:  # fmt: skip
    """Uploads a file whose tag is known, if that is still its tag."""
    extra = dict(extra_args or {})
    extra["Metadata"] = without_ours(extra.get("Metadata", {})) | stored.fields(key)
    body = _Hashed(file, key.new(nonce=stored.nonce))
    body.expected = (url, size, stored.tag)
    try:
        client.upload_fileobj(
            body, url.bucket, url.key, ExtraArgs=extra, Callback=callback, Config=_config(config)
        )
    except Exception as error:
        # In a request that boto3 sends again and again, ours is the cause of the last one's.
        if changed := body.failed or getattr(file, "failed", None):
            raise changed from None
        if isinstance(error, REQUEST_ERRORS):
            raise failed(url, error) from error
        raise
    if not body.matched:
        raise ObjectError(url, "expected an upload of all bytes, found one of fewer")
    return Uploaded(stored.tag, stored.nonce, size, "metadata")


def _config(config: Any) -> Any:
    """Boto3's own transfers: those of awscrt read what they send past our hands."""
    if config is None:
        return TransferConfig(preferred_transfer_client="classic")
    config.preferred_transfer_client = "classic"
    return config


def _exactly(stream: Any, count: int | None) -> bytes:
    """So many bytes, or all there are."""
    pieces: list[bytes] = []
    while count is None or count > 0:
        piece = stream.read(LOOK_AHEAD if count is None else count)
        # That is not its end: it has nothing now, and may have more later.
        if piece is None:
            raise BlockingIOError(
                "expected a stream that waits for its bytes, found one that does not"
            )
        if not piece:
            break
        pieces.append(piece)
        count = None if count is None else count - len(piece)
    return b"".join(pieces)


class _Chained(io.RawIOBase):
    """A stream whose first bytes were read already. A read may have fewer bytes than are asked for."""

    def __init__(self, start: bytes, rest: IO[bytes]) -> None:
        self._start, self._rest = memoryview(start), rest

    def read(self, size: int = -1) -> bytes | None:
        if not self._start:
            return self._rest.read(size)
        count = len(self._start) if size < 0 else size
        start, self._start = bytes(self._start[:count]), self._start[count:]
        return start
