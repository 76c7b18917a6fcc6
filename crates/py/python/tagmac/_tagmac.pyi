from collections.abc import Callable, Iterable
from os import PathLike
from typing import Final, Protocol, final

from typing_extensions import Buffer

__all__ = [
    "BudgetExhausted",
    "InvalidTag",
    "Key",
    "Mac",
    "NonceRequired",
    "NonceReuse",
    "ReserveUsedUp",
    "Session",
    "__version__",
    "algorithms_available",
    "digest",
    "file_digest",
    "new",
    "tag_many",
    "verify",
]

__version__: Final[str]
algorithms_available: Final[tuple[str, ...]]

class BudgetExhausted(ValueError): ...
class InvalidTag(ValueError): ...
class NonceRequired(ValueError): ...
class NonceReuse(ValueError): ...
class ReserveUsedUp(ValueError): ...

@final
class Key:
    def __new__(
        cls, key: Buffer, alg: str = "PMAC-AES128", *, tag_bits: int | None = None
    ) -> Key: ...
    @staticmethod
    def generate(alg: str = "PMAC-AES128", *, tag_bits: int | None = None) -> Key: ...
    @staticmethod
    def load(path: str | PathLike[str], *, tag_bits: int | None = None) -> Key: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def tag(self, msg: Buffer, nonce: Buffer | None = None) -> bytes: ...
    def verify(self, msg: Buffer, tag: Buffer, nonce: Buffer | None = None) -> None: ...
    def new(self, msg: Buffer | None = None, nonce: Buffer | None = None) -> Mac: ...
    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def digest_size(self) -> int: ...

@final
class Mac:
    def update(self, data: Buffer) -> Mac: ...
    def digest(self) -> bytes: ...
    def hexdigest(self) -> str: ...
    def verify(self, tag: Buffer) -> None: ...
    def hexverify(self, tag: str) -> None: ...
    def copy(self) -> Mac: ...
    @property
    def name(self) -> str: ...
    @property
    def digest_size(self) -> int: ...
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
    def reserve(self, messages: int) -> None: ...
    def save(self) -> bytes: ...
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

class _Reader(Protocol):
    def readinto(self, buffer: bytearray, /) -> int | None: ...

def new(
    key: Buffer | Key,
    msg: Buffer | None = None,
    *,
    alg: str | None = None,
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
    buffers: Iterable[Buffer] | Buffer | _ArrowArray,
    nonces: Iterable[Buffer] | Buffer | _ArrowArray | None = None,
) -> bytes: ...
