import sys
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Final, NoReturn, Protocol, SupportsIndex, final

from typing_extensions import Buffer

__all__ = [
    "BudgetExhausted",
    "Filter",
    "IncompleteObject",
    "InvalidTag",
    "Key",
    "Mac",
    "NonceRequired",
    "NonceReuse",
    "ReserveUsedUp",
    "SHARD_ENTRIES",
    "STATUSES",
    "Session",
    "WrongKey",
    "WrongObject",
    "__version__",
    "algorithms_available",
    "digest",
    "file_digest",
    "new",
    "record_fields",
    "rename_pairs",
    "rename_readings",
    "root_open",
    "root_seal",
    "shard_name",
    "shard_open",
    "shard_seal",
    "tag_many",
    "verify",
    "verify_many",
]

if sys.platform != "win32":
    __all__ += [
        "AuditReport",
        "Content",
        "Difference",
        "Manifest",
        "ManifestEntry",
        "Part",
        "Partial",
        "Sealed",
        "SealedFile",
        "Tree",
        "audit",
        "combine",
        "seal",
    ]

__version__: Final[str]
algorithms_available: Final[tuple[str, ...]]

class BudgetExhausted(ValueError): ...
class IncompleteObject(ValueError): ...

class InvalidTag(ValueError):
    indices: tuple[int, ...]

class NonceRequired(ValueError): ...
class NonceReuse(ValueError): ...
class ReserveUsedUp(ValueError): ...
class WrongKey(ValueError): ...
class WrongObject(ValueError): ...

@final
class Key:
    def __new__(
        cls, key: Buffer, alg: str = "PMAC-AES128", *, tag_bits: int | None = None
    ) -> Key: ...
    @staticmethod
    def generate(alg: str = "PMAC-AES128", *, tag_bits: int | None = None) -> Key: ...
    if sys.platform != "win32":
        @staticmethod
        def from_file(
            path: str | PathLike[str],
            *,
            alg: str | None = None,
            format: str = "auto",
            tag_bits: int | None = None,
        ) -> Key: ...
        @staticmethod
        def from_env(
            name: str,
            *,
            alg: str | None = None,
            format: str = "auto",
            tag_bits: int | None = None,
        ) -> Key: ...
        @staticmethod
        def from_command(
            command: Sequence[str],
            *,
            alg: str | None = None,
            format: str = "auto",
            tag_bits: int | None = None,
        ) -> Key: ...

    def __reduce_ex__(self, _protocol: SupportsIndex) -> NoReturn: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def tag(self, msg: Buffer, nonce: Buffer | None = None) -> bytes: ...
    def verify(self, msg: Buffer, tag: Buffer, nonce: Buffer | None = None) -> None: ...
    def new(self, msg: Buffer | None = None, nonce: Buffer | None = None) -> Mac: ...
    def restore(self, saved: Buffer) -> Mac: ...
    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def digest_size(self) -> int: ...
    @property
    def key_size(self) -> int: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Mac:
    def update(self, data: Buffer) -> Mac: ...
    def digest(self) -> bytes: ...
    def hexdigest(self) -> str: ...
    def verify(self, tag: Buffer) -> None: ...
    def hexverify(self, tag: str) -> None: ...
    def copy(self) -> Mac: ...
    def save(self) -> bytes: ...
    def __reduce_ex__(self, _protocol: SupportsIndex) -> NoReturn: ...
    @property
    def name(self) -> str: ...
    @property
    def digest_size(self) -> int: ...
    @property
    def key_size(self) -> int: ...
    @property
    def block_size(self) -> int | None: ...

@final
class Session:
    def __new__(
        cls,
        key: Key,
        *,
        next_nonce: Buffer | None = None,
        max_message_bytes: int | None = None,
        probability: float | None = 2.3283064365386963e-10,
        saved: Buffer | None = None,
    ) -> Session: ...
    def tag(self, msg: Buffer) -> tuple[bytes, bytes]: ...
    def verify(
        self,
        msg: Buffer,
        tag: Buffer,
        nonce: Buffer | None = None,
        *,
        words: int | None = None,
    ) -> None: ...
    def allow_grades(self, probability: float) -> None: ...
    def reserve(self, messages: int) -> None: ...
    def save(self) -> bytes: ...
    def __reduce_ex__(self, _protocol: SupportsIndex) -> NoReturn: ...
    @property
    def used(self) -> int: ...
    @property
    def left(self) -> int: ...
    @property
    def reserved(self) -> int: ...
    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...

class _ArrowArray(Protocol):
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class _Reader(Protocol):
    def readinto(self, buffer: bytearray, /) -> int | None: ...

def new(
    key: Buffer | Key,
    msg: Buffer | None = None,
    alg: str | None = None,
    *,
    nonce: Buffer | None = None,
    tag_bits: int | None = None,
) -> Mac: ...
def digest(
    key: Buffer | Key,
    msg: Buffer,
    alg: str | None = None,
    *,
    nonce: Buffer | None = None,
    tag_bits: int | None = None,
) -> bytes: ...
def verify(
    key: Buffer | Key,
    msg: Buffer,
    tag: Buffer,
    alg: str | None = None,
    *,
    nonce: Buffer | None = None,
    tag_bits: int | None = None,
) -> None: ...
def file_digest(
    file: str | bytes | PathLike[str] | PathLike[bytes] | _Reader,
    key: Buffer | Key,
    alg: str | None = None,
    *,
    nonce: Buffer | None = None,
    tag_bits: int | None = None,
    threads: int = 0,
    progress: Callable[[int, int | None], object] | None = None,
) -> bytes: ...
def tag_many(
    key: Key,
    buffers: Iterable[Buffer] | Buffer | _ArrowArray | _ArrowStream,
    nonces: Iterable[Buffer] | Buffer | _ArrowArray | _ArrowStream | None = None,
) -> bytes: ...
def verify_many(
    key: Key,
    buffers: Iterable[Buffer] | Buffer | _ArrowArray | _ArrowStream,
    tags: Iterable[Buffer] | Buffer | _ArrowArray | _ArrowStream,
    nonces: Iterable[Buffer] | Buffer | _ArrowArray | _ArrowStream | None = None,
) -> None: ...

# Manifests of buckets, used by tagmac.spark.

SHARD_ENTRIES: Final[int]
STATUSES: Final[tuple[str, ...]]

def shard_seal(
    key: Key,
    number: int,
    names: Sequence[bytes],
    sizes: Sequence[int],
    tags: Sequence[bytes],
    nonces: Sequence[bytes] | None = None,
    *,
    day: str | None = None,
    stamps: Sequence[bytes | None] | None = None,
) -> tuple[bytes, bytes]: ...
def shard_name(record: bytes) -> str: ...
def record_fields(record: bytes) -> tuple[int, int, int, int, bytes, bytes]: ...
def shard_open(
    key: Key, record: bytes, text: bytes, *, version: int = 2, shown: str | None = None
) -> tuple[
    list[bytes],
    list[int],
    list[bytes | None],
    list[bytes],
    list[str | None],
    list[bytes | None],
]: ...
def root_seal(key: Key, records: Sequence[bytes], *, after: bytes | None = None) -> bytes: ...
def root_open(
    key: Key, text: bytes, *, shown: str | None = None
) -> tuple[list[bytes], int, bool, list[bytes]]: ...
@final
class Filter:
    def __new__(cls, patterns: Sequence[bytes]) -> Filter: ...
    def leaves_out(self, name: bytes) -> bool: ...

def rename_readings(
    key: Key, missing: Sequence[tuple[int, bytes | None, bytes]], sizes: Sequence[int]
) -> list[tuple[int, bytes | None]]: ...
def rename_pairs(
    key: Key,
    missing: Sequence[tuple[int, bytes | None, bytes]],
    read: Sequence[tuple[int, tuple[int, bytes | None, bytes]]],
) -> list[tuple[int, int]]: ...

if sys.platform != "win32":
    @final
    class Part:
        def __new__(
            cls,
            key: Key,
            *,
            object: str | Buffer,
            version: str | Buffer,
            start: int = 0,
            last: bool = False,
        ) -> Part: ...
        @staticmethod
        def open(key: Key, blob: Buffer) -> Partial: ...
        def update(self, data: Buffer) -> Part: ...
        def seal(self) -> bytes: ...
        def __reduce_ex__(self, _protocol: SupportsIndex) -> NoReturn: ...
        @property
        def object(self) -> bytes: ...
        @property
        def version(self) -> bytes: ...
        @property
        def start(self) -> int: ...
        @property
        def end(self) -> int: ...
        @property
        def last(self) -> bool: ...
        @property
        def block_size(self) -> int: ...
        @property
        def name(self) -> str: ...

    @final
    class Partial:
        @property
        def object(self) -> bytes: ...
        @property
        def version(self) -> bytes | None: ...
        @property
        def start(self) -> int: ...
        @property
        def end(self) -> int: ...
        @property
        def last(self) -> bool: ...
        @property
        def name(self) -> str: ...

    def combine(
        key: Key,
        blobs: Iterable[Buffer] | Buffer | _ArrowArray | _ArrowStream,
        nonce: Buffer | None = None,
        *,
        object: str | Buffer | None = None,
        version: str | Buffer | None = None,
    ) -> bytes: ...

    @final
    class Tree:
        def __new__(
            cls,
            path: str | PathLike[str],
            key: Key,
            *,
            threads: int = 0,
            progress: Callable[[int, int | None], object] | None = None,
        ) -> Tree: ...
        @staticmethod
        def create(
            path: str | PathLike[str],
            key: Key,
            *,
            leaf: int | None = None,
            threads: int = 0,
            progress: Callable[[int, int | None], object] | None = None,
        ) -> Tree: ...
        def tag(self, *, expect: Buffer | None = None) -> tuple[bytes, bytes]: ...
        def patch(
            self, offset: int, data: Buffer, *, expect: Buffer | None = None
        ) -> tuple[bytes, bytes]: ...
        def append(self, *, expect: Buffer | None = None) -> tuple[bytes, bytes]: ...
        def truncate(self, length: int, *, expect: Buffer | None = None) -> tuple[bytes, bytes]: ...
        def range(
            self, offset: int, length: int, *, expect: Buffer | None = None
        ) -> tuple[bytes, bytes]: ...
        def finish(self, *, expect: Buffer | None = None) -> tuple[bytes, bytes]: ...
        def undo(self, *, expect: Buffer | None = None) -> tuple[bytes, bytes]: ...
        @property
        def name(self) -> str: ...

    def seal(
        directory: str | PathLike[str],
        key: Key,
        manifest: str | PathLike[str],
        *,
        mode: bool = False,
        mtime: bool = False,
        owner: bool = False,
        xattrs: bool = False,
        special: bool = False,
        one_file_system: bool = False,
        exclude: Sequence[str] = ...,
        exclude_caches: bool = False,
        max_depth: int | None = None,
        since: str | PathLike[str] | None = None,
        leaves: int | None = None,
        new_chain: bool = False,
        skip_unreadable: bool = False,
        threads: int = 0,
        progress: Callable[[int, int | None, int, int | None], object] | None = None,
    ) -> Sealed: ...
    def audit(
        manifest: str | PathLike[str],
        directory: str | PathLike[str],
        key: Key,
        *,
        quick: bool = False,
        subset: tuple[int, int] | None = None,
        sample: float | None = None,
        max_bytes: int | None = None,
        oldest_first: bool = False,
        ledger: str | PathLike[str] | None = None,
        pin: str | PathLike[str] | None = None,
        expect: bytes | None = None,
        paths: Sequence[str | PathLike[str]] = ...,
        threads: int = 0,
        progress: Callable[[int, int | None, int, int | None], object] | None = None,
    ) -> AuditReport: ...
    @final
    class Sealed:
        @property
        def files(self) -> int: ...
        @property
        def directories(self) -> int: ...
        @property
        def links(self) -> int: ...
        @property
        def special(self) -> int: ...
        @property
        def bytes(self) -> int: ...
        @property
        def skipped(self) -> int: ...
        @property
        def unreadable(self) -> int: ...
        @property
        def carried(self) -> int: ...
        @property
        def left_out(self) -> int: ...

    @final
    class AuditReport:
        @property
        def ok(self) -> bool: ...
        def __bool__(self) -> bool: ...
        @property
        def unchanged(self) -> int: ...
        @property
        def changed(self) -> int: ...
        @property
        def new(self) -> int: ...
        @property
        def missing(self) -> int: ...
        @property
        def renamed(self) -> int: ...
        @property
        def unreadable(self) -> int: ...
        @property
        def not_read(self) -> int: ...
        @property
        def skipped(self) -> int: ...
        @property
        def left_out(self) -> int: ...
        @property
        def renames_complete(self) -> bool: ...
        @property
        def files_read(self) -> int: ...
        @property
        def bytes_read(self) -> int: ...
        @property
        def missed(self) -> float: ...
        @property
        def oldest_read(self) -> str | None: ...
        @property
        def sequence(self) -> int: ...
        @property
        def differences(self) -> list[Difference]: ...

    @final
    class Difference:
        @property
        def path(self) -> str: ...
        @property
        def kind(self) -> str: ...
        @property
        def status(self) -> str: ...
        @property
        def was(self) -> str | None: ...
        @property
        def changes(self) -> list[tuple[str, str | None, str | None]]: ...
        @property
        def reason(self) -> str | None: ...

    @final
    class Manifest:
        def __new__(cls, path: str | PathLike[str], key: Key) -> Manifest: ...
        def info(self, path: str) -> ManifestEntry: ...
        def entries(self, path: str = ..., *, recursive: bool = False) -> list[ManifestEntry]: ...
        def content(self, path: str) -> Content: ...
        @property
        def seal(self) -> bytes: ...
        @property
        def sequence(self) -> int: ...

    @final
    class ManifestEntry:
        @property
        def path(self) -> str: ...
        @property
        def kind(self) -> str: ...
        @property
        def size(self) -> int | None: ...
        @property
        def tag(self) -> bytes | None: ...
        @property
        def mode(self) -> int | None: ...
        @property
        def mtime_ns(self) -> int | None: ...
        @property
        def target(self) -> str | None: ...

    @final
    class Content:
        def verify(self, start: int, data: Buffer) -> None: ...
        @property
        def size(self) -> int: ...
        @property
        def leaf_size(self) -> int: ...

    # An open file, used by open_verified.

    @final
    class SealedFile:
        def __new__(
            cls, manifest: Manifest, root: str | PathLike[str], path: str
        ) -> SealedFile: ...
        def read_at(self, offset: int, length: int) -> bytes: ...
        @property
        def size(self) -> int: ...
