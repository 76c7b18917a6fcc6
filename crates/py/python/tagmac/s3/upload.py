"""Uploads through boto3's transfers, with the tag stored with the object.

A multipart upload's metadata is fixed before its first byte is sent. So a file is read twice: once
for the tag, which goes into the metadata, and once to be sent. The sent bytes are hashed, and the
upload is aborted before the object exists unless they have that tag. If boto3 reads bytes again,
for a retry or after a checksum, they must be the same: each chunk is tagged in memory under a key
of this upload.

A stream can be read only once. Its tag becomes an object tag right after the upload, and a reader
that finds no tag refuses the object.
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
from .url import Url, shown

#: Bytes of a stream that are read before the upload begins. A shorter stream is sent like a file.
LOOK_AHEAD = 8 << 20
#: Bytes of a file's chunk.
CHUNK = 1 << 20
#: S3's limit for each object.
MAX_OBJECT_TAGS = 10
#: Exceptions of boto3 for failed requests.
REQUEST_ERRORS = (Boto3Error, *CLIENT_FAILURES, ClientError)


@dataclass(frozen=True)
class Uploaded:
    """The tag and nonce stored with an object, its length in bytes, and where the tag is stored."""

    tag: bytes
    nonce: bytes | None
    bytes: int
    #: "metadata" or "object tags".
    where: str


class _Steady(ChunkReader):
    """A file of `size` bytes that returns the same bytes each time, or else raises ObjectChanged.
    """

    def __init__(self, file: IO[bytes], url: Url, size: int) -> None:
        super().__init__(size, CHUNK)
        self._file, self._url = file, url
        self._chunks = Chunks(CHUNK)
        self.failed: ObjectChanged | None = None

    def load(self, number: int) -> bytes:
        # A chunk is tagged when it is first read, after all previous ones.
        for each in range(min(number, self._chunks.count), number + 1):
            start, end = self.bounds(each)
            self._file.seek(start)
            # At the end, ask for one byte more, to notice a file that grew.
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
    """A file that hashes each byte the first time boto3 reads it. A retry seeks back and reads
    again, and these bytes are not hashed twice.
    """

    def __init__(self, file: Any, mac: tagmac.Mac) -> None:
        self._file, self._mac = file, mac
        self._at = self.hashed = 0
        #: The URL, length and tag to check. The tag is compared before the last bytes are returned.
        self.expected: tuple[Url, int, bytes] | None = None
        self.failed: ObjectChanged | None = None
        #: True once all bytes were read and the tag matched.
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
            raise OSError(f"boto3 skipped bytes: it read at {self._at} after byte {self.hashed}")
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
    """Uploads a file to `url` (s3://bucket/key) like boto3's `upload_file`, with its tag in the
    metadata.

    The file is read twice. If it changes meanwhile, `ObjectChanged` is raised and nothing is
    stored. `extra_args`, `config` and `callback` are passed to boto3. A failed request raises
    `ObjectError`.
    """
    target, nonce, options = _target(url), new_nonce(key), (extra_args, config, callback)
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
    """Uploads a stream to `url` (s3://bucket/key) like boto3's `upload_fileobj`.

    If the stream is shorter than 8 MiB, its tag is in the metadata. A longer one is sent while it
    is read, and its tag becomes an object tag afterwards. Before that, or if setting the tag fails,
    the object has no tag, and `open_verified` refuses it.
    """
    target, nonce = _target(url), new_nonce(key)
    start = _exactly(stream, LOOK_AHEAD)
    if len(start) < LOOK_AHEAD:
        return _send_bytes(client, start, target, key, nonce, extra_args, config, callback)
    extra = dict(extra_args or {})
    extra["Metadata"] = without_ours(extra.get("Metadata", {}))
    # Setting object tags replaces all of them, so include the caller's.
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
        # The object remains without its tag, so open_verified refuses it.
        raise failed(target, error) from error
    return Uploaded(stored.tag, nonce, body.hashed, "object tags")


def _send_bytes(
    client: Any, data: bytes, url: Url, key: tagmac.Key, nonce: bytes | None,
    extra_args: dict[str, Any] | None, config: Any, callback: Any,
) -> Uploaded:  # fmt: skip
    """Uploads bytes from memory, where they cannot change after they are tagged."""
    stored = Stored(key.tag(data, nonce), nonce)
    return _send(
        client, io.BytesIO(data), len(data), url, key, stored, extra_args, config, callback
    )


def _send(
    client: Any, file: IO[bytes] | _Steady, size: int, url: Url, key: tagmac.Key, stored: Stored,
    extra_args: dict[str, Any] | None, config: Any, callback: Any,
) -> Uploaded:  # fmt: skip
    """Uploads a file with a known tag, if it still has that tag."""
    extra = dict(extra_args or {})
    extra["Metadata"] = without_ours(extra.get("Metadata", {})) | stored.fields(key)
    body = _Hashed(file, key.new(nonce=stored.nonce))
    body.expected = (url, size, stored.tag)
    try:
        client.upload_fileobj(
            body, url.bucket, url.key, ExtraArgs=extra, Callback=callback, Config=_config(config)
        )
    except Exception as error:
        # boto3 retries such a request, so look for the first cause.
        if changed := body.failed or getattr(file, "failed", None):
            raise changed from None
        if isinstance(error, REQUEST_ERRORS):
            raise failed(url, error) from error
        raise
    if not body.matched:
        raise ObjectError(url, "boto3 ended the upload before it read all bytes")
    return Uploaded(stored.tag, stored.nonce, size, "metadata")


def _target(url: str) -> Url:
    """Parses the URL to upload to, which boto3 must know."""
    target = Url.parse_object(url)
    if not target.is_s3:
        raise ValueError(f"{shown(url)}: uploads are for s3:// only")
    return target


def _config(config: Any) -> Any:
    """Selects boto3's classic transfers: those of awscrt read the file by themselves."""
    if config is None:
        return TransferConfig(preferred_transfer_client="classic")
    config.preferred_transfer_client = "classic"
    return config


def _exactly(stream: Any, count: int | None) -> bytes:
    """Reads `count` bytes, or all if it is None; fewer only at the end of the stream."""
    pieces: list[bytes] = []
    while count is None or count > 0:
        piece = stream.read(LOOK_AHEAD if count is None else count)
        # A nonblocking stream returns None if it has no bytes yet; only b"" means its end.
        if piece is None:
            raise BlockingIOError(
                "the stream is in nonblocking mode and has no data now; open it in blocking mode"
            )
        if not piece:
            break
        pieces.append(piece)
        count = None if count is None else count - len(piece)
    return b"".join(pieces)


class _Chained(io.RawIOBase):
    """A stream whose first bytes were read already. A read may return fewer bytes than requested.
    """

    def __init__(self, start: bytes, rest: IO[bytes]) -> None:
        self._start, self._rest = memoryview(start), rest

    def read(self, size: int = -1) -> bytes | None:
        if not self._start:
            return self._rest.read(size)
        count = len(self._start) if size < 0 else size
        start, self._start = bytes(self._start[:count]), self._start[count:]
        return start
