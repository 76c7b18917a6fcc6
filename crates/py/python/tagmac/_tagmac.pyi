from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Final, NoReturn, Protocol, SupportsIndex, final

from typing_extensions import Buffer

from .types import Algorithm, KeyFormat, Kind, Status

__all__ = [
    "AuditReport",
    "BudgetExhausted",
    "Content",
    "Difference",
    "Filter",
    "IncompleteObject",
    "InvalidTag",
    "Key",
    "Mac",
    "Manifest",
    "ManifestEntry",
    "NonceRequired",
    "NonceReuse",
    "Part",
    "Partial",
    "ReserveUsedUp",
    "SHARD_ENTRIES",
    "STATUSES",
    "Sealed",
    "SealedFile",
    "Session",
    "Tree",
    "WrongKey",
    "WrongObject",
    "__version__",
    "algorithms_available",
    "audit",
    "combine",
    "digest",
    "file_digest",
    "new",
    "record_fields",
    "rename_pairs",
    "rename_readings",
    "root_open",
    "root_seal",
    "seal",
    "shard_name",
    "shard_open",
    "shard_seal",
    "tag_many",
    "verify",
    "verify_many",
]

__version__: Final[str]
algorithms_available: Final[tuple[Algorithm, ...]]

class BudgetExhausted(ValueError):
    """The key's budget is used up; use a new key."""

class IncompleteObject(ValueError):
    """Partials do not cover the object: a range is missing or present twice."""

class InvalidTag(ValueError):
    """A tag or a seal is wrong."""

    indices: tuple[int, ...]

class NonceRequired(ValueError):
    """The MAC needs a nonce for each message."""

class NonceReuse(ValueError):
    """The call could produce two tags under one nonce, which lets an attacker forge others."""

class ReserveUsedUp(ValueError):
    """The session has used its reserve; call reserve and save, and store the result."""

class WrongKey(ValueError):
    """The data belongs to another key."""

class WrongObject(ValueError):
    """A partial belongs to another object or version."""

@final
class Key:
    """A key and its algorithm, prepared once for any number of messages.

    `Key(key, alg="PMAC-AES128", *, tag_bits=None)` is a key made of the bytes `key`. `tag_bits` is
    the length of tags in bits, by default the algorithm's longest. `ValueError` is raised for an
    unknown algorithm and for a wrong length of key or tag.

    A key may be used from several threads at once. It cannot be pickled or copied; send a `KeyRef`.

    ```python
    >>> import tagmac
    >>> key = tagmac.Key(bytes(16))
    >>> key.tag(b"pay 100 to Bob").hex()
    '2d53ca9b986604a1c1b4b53e444021d2'

    ```
    """

    def __new__(
        cls, key: Buffer, alg: Algorithm | str = "PMAC-AES128", *, tag_bits: int | None = None
    ) -> Key: ...
    @staticmethod
    def generate(alg: Algorithm | str = "PMAC-AES128", *, tag_bits: int | None = None) -> Key:
        """Returns a new random key for the algorithm `alg`.

        Raises `OSError` if the system's random generator fails.
        """

    @staticmethod
    def from_file(
        path: str | PathLike[str],
        *,
        alg: Algorithm | str | None = None,
        format: KeyFormat = "auto",
        tag_bits: int | None = None,
    ) -> Key:
        """Returns the key in a file. As with the command, nobody else may be able to write the file
        or to replace it.

        `format` is "auto" for a key file that `save` or `tagmac keygen` wrote, and "raw", "hex" or
        "base64" for a bare key, which needs `alg`. For a key file, `alg` is the algorithm that it
        must have.

        Raises `OSError` if the file cannot be read, and `ValueError` if others could have written
        it or if it contains no such key.
        """

    @staticmethod
    def from_env(
        name: str,
        *,
        alg: Algorithm | str | None = None,
        format: KeyFormat = "auto",
        tag_bits: int | None = None,
    ) -> Key:
        """Returns the key in an environment variable. The formats are those of `from_file`; the
        last line feed may be missing.

        Raises `ValueError` if the variable is not set or contains no such key.
        """

    @staticmethod
    def from_command(
        command: Sequence[str],
        *,
        alg: Algorithm | str | None = None,
        format: KeyFormat = "auto",
        tag_bits: int | None = None,
    ) -> Key:
        """Returns the key that a command writes to its standard output. `command` is a list of
        words and does not go through a shell. The formats are those of `from_env`.

        Raises `ValueError` if the command fails or writes no such key.
        """

    def __reduce_ex__(self, _protocol: SupportsIndex) -> NoReturn: ...
    def save(self, path: str | PathLike[str]) -> None:
        """Writes the key to a new key file that only its owner can read.

        Raises `FileExistsError` if the file exists, and `OSError` if it cannot be written.
        """

    def tag(self, msg: Buffer, nonce: Buffer | None = None) -> bytes:
        """Returns the tag of a message as bytes.

        Raises `NonceRequired` if the MAC needs a nonce and none is given, and `ValueError` for a
        nonce of the wrong length or a message over the MAC's limit.
        """

    def verify(self, msg: Buffer, tag: Buffer, nonce: Buffer | None = None) -> None:
        """Checks the tag of a message in constant time.

        Raises `InvalidTag` if the tag is wrong.
        """

    def new(self, msg: Buffer | None = None, nonce: Buffer | None = None) -> Mac:
        """Returns a `Mac` for one message, which is given in pieces. `msg` is the first piece."""

    def restore(self, saved: Buffer) -> Mac:
        """Returns the `Mac` that `Mac.save` saved under this key, to continue its message.

        Raises `InvalidTag` if the bytes were changed or belong to another key or algorithm, and
        `ValueError` if their tags have another length.

        If the MAC needs a nonce, restore each saved state only once. Nothing can detect a second
        time, and two tags under one nonce let an attacker forge others.
        """

    @property
    def id(self) -> str:
        """The key's public id, 16 hex digits. It distinguishes keys and reveals nothing about them.
        """

    @property
    def name(self) -> Algorithm:
        """The name of the algorithm."""

    @property
    def digest_size(self) -> int:
        """The length of a tag in bytes."""

    @property
    def key_size(self) -> int:
        """The length of the key in bytes."""

    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Mac:
    """The MAC of one message, which is given in pieces. `new` and `Key.new` create it.

    If the MAC needs a nonce, the first call of `digest`, `hexdigest`, `verify` or `hexverify` ends
    the message. These may be called again, but `update` and `copy` then raise `NonceReuse`.

    ```python
    >>> import tagmac
    >>> mac = tagmac.new(bytes(16), b"pay 100 ")
    >>> mac.update(b"to Bob").hexdigest()
    '2d53ca9b986604a1c1b4b53e444021d2'

    ```
    """

    def update(self, data: Buffer) -> Mac:
        """Appends `data` to the message. Returns the object itself, so that calls can be chained.

        Raises `NonceReuse` once the message has ended or was saved under a nonce.
        """

    def digest(self) -> bytes:
        """Returns the tag of the message so far, as bytes."""

    def hexdigest(self) -> str:
        """Returns the tag of the message so far, in lower-case hex."""

    def verify(self, tag: Buffer) -> None:
        """Checks the tag of the message in constant time.

        Raises `InvalidTag` if the tag is wrong.
        """

    def hexverify(self, tag: str) -> None:
        """Checks the tag of the message, given in hex, in constant time.

        Raises `InvalidTag` if the tag is wrong or is not hex.
        """

    def copy(self) -> Mac:
        """Returns a second object with the same message so far.

        Raises `NonceReuse` if the MAC needs a nonce.
        """

    def save(self) -> bytes:
        """Returns the state of the message so far, encrypted under a key derived from the MAC's.
        `Key.restore` continues the message, also in another process or on another machine.

        If the MAC needs a nonce, this object ends here, so that only one message uses the nonce:
        its other methods then raise `NonceReuse`. `ValueError` is raised for CMAC, HMAC and the
        UMAC of 1999, and for an object whose key was bytes.
        """

    def __reduce_ex__(self, _protocol: SupportsIndex) -> NoReturn: ...
    @property
    def name(self) -> Algorithm:
        """The name of the algorithm."""

    @property
    def digest_size(self) -> int:
        """The length of the tag in bytes."""

    @property
    def key_size(self) -> int:
        """The length of the key in bytes."""

    @property
    def block_size(self) -> int | None:
        """The length of a block in bytes; None for CMAC and HMAC, whose messages cannot be hashed
        in parts.
        """

@final
class Session:
    """A key with its nonces and its budget, for the sender of many messages, such as packets.

    `Session(key, *, next_nonce=None, max_message_bytes=None, probability=2**-32, saved=None)` is a
    new session, or the one that `save` saved. A new one counts its nonces from `next_nonce`, by
    default zeros. Messages have at most `max_message_bytes` bytes, by default 1 MiB. `tag` and
    `reserve` raise `BudgetExhausted` before a forgery becomes more likely than `probability`. With
    None there is no limit; CMAC and HMAC, which no theorem here bounds, need that.

    Use one session per key: two would use the same nonces. A session that ends with the process
    need not be saved, and needs a key that nothing else uses. A session that outlives the process
    must be stored before it is used: `reserve` sets aside the nonces of the next messages, and
    `save` returns a state that never reuses them. Store that state in place of the previous one,
    and only then use the tags. A session that was saved or restored tags only the messages that its
    last save covers.

    ```python
    >>> import tagmac
    >>> key = tagmac.Key(bytes(16), "UMAC-64")
    >>> stored = tagmac.Session(key).save()                # once, where the key is made
    >>> session = tagmac.Session(key, saved=stored)        # at each start
    >>> session.reserve(1000)
    >>> stored = session.save()                            # store it before you tag
    >>> nonce, tag = session.tag(b"packet")
    >>> key.verify(b"packet", tag, nonce)

    ```
    """

    def __new__(
        cls,
        key: Key,
        *,
        next_nonce: Buffer | None = None,
        max_message_bytes: int | None = None,
        probability: float | None = 2.3283064365386963e-10,
        saved: Buffer | None = None,
    ) -> Session: ...
    def tag(self, msg: Buffer) -> tuple[bytes, bytes]:
        """Returns the next nonce and the tag of a message under it. The nonce is empty for a
        deterministic MAC.

        Raises `ReserveUsedUp` if the last save does not cover the message, and `BudgetExhausted` if
        the key must not tag another one.
        """

    def verify(
        self,
        msg: Buffer,
        tag: Buffer,
        nonce: Buffer | None = None,
        *,
        words: int | None = None,
    ) -> None:
        """Checks the tag of a message in constant time, and counts a failure. `nonce` is the one
        that the message's sender used; the session's own nonces stay unused.

        `words` is None to check the whole tag. With 1, 2, 3 or 4, a session of UMAC-128 checks only
        that number of words of 4 bytes; `allow_grades` must allow it first.

        Raises `InvalidTag` if the tag is wrong, and `BudgetExhausted` if the budget allows no more
        failures; then nothing is checked. Save the session after a failure if an attacker can make
        the process restart.
        """

    def allow_grades(self, probability: float) -> None:
        """Allows a session of UMAC-128 to check only the first words of tags.

        From now on fewer failures are allowed, for each number of words. Their number is the
        largest that keeps the chance that any forgery ever passes, at any number of words, within
        `probability`. Below 1.5e-9 it is 0, and first words stay refused.

        There is no bound after a forgery whose first word passed. Check the whole tag before you
        accept the next message, and stop using the key if it is wrong. An attacker who can change
        the last bytes of a tag in transit can thus force you to stop using the key.

        Failures are saved with the session, and this permission is not: call it again for a
        restored one.
        """

    def reserve(self, messages: int) -> None:
        """Sets aside the nonces and the budget of `messages` more messages. Then call `save`, and
        store the result before you tag.

        Raises `BudgetExhausted` if the budget or the nonces do not suffice; then nothing is
        reserved.
        """

    def save(self) -> bytes:
        """Returns the state of the session after all reserved messages, as bytes. Store it in place
        of the previous state, and only then tag. From now on the session tags the reserved
        messages, and no others until the next save.
        """

    def __reduce_ex__(self, _protocol: SupportsIndex) -> NoReturn: ...
    @property
    def used(self) -> int:
        """Number of messages tagged under the key, including those that were reserved before the
        session was restored.
        """

    @property
    def left(self) -> int:
        """Number of messages that the key may still tag, including the reserved ones."""

    @property
    def reserved(self) -> int:
        """Number of messages that are reserved and not tagged yet."""

    @property
    def id(self) -> str:
        """The key's public id, 16 hex digits."""

    @property
    def name(self) -> Algorithm:
        """The name of the algorithm."""

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
    alg: Algorithm | str | None = None,
    *,
    nonce: Buffer | None = None,
    tag_bits: int | None = None,
) -> Mac:
    """Returns a `Mac` for one message, which is given in pieces. `msg` is the first piece.

    The parameters have the order of `hmac.new`. `key` is bytes or a `Key`, and `alg` an algorithm's
    name, by default the key's, or PMAC-AES128 for bytes. `tag_bits` is the length of the tag in
    bits.

    Raises `NonceRequired` if the MAC needs a nonce and none is given, and `ValueError` for an
    unknown algorithm and for a key, nonce or tag of the wrong length.
    """

def digest(
    key: Buffer | Key,
    msg: Buffer,
    alg: Algorithm | str | None = None,
    *,
    nonce: Buffer | None = None,
    tag_bits: int | None = None,
) -> bytes:
    """Returns the tag of a message as bytes. The parameters are those of `new`."""

def verify(
    key: Buffer | Key,
    msg: Buffer,
    tag: Buffer,
    alg: Algorithm | str | None = None,
    *,
    nonce: Buffer | None = None,
    tag_bits: int | None = None,
) -> None:
    """Checks the tag of a message in constant time. The other parameters are those of `new`.

    Raises `InvalidTag` if the tag is wrong.
    """

def file_digest(
    file: str | bytes | PathLike[str] | PathLike[bytes] | _Reader,
    key: Buffer | Key,
    alg: Algorithm | str | None = None,
    *,
    nonce: Buffer | None = None,
    tag_bits: int | None = None,
    threads: int = 0,
    progress: Callable[[int, int | None], object] | None = None,
) -> bytes:
    """Returns the tag of a file as bytes.

    `file` is a path or a binary file object. A regular file given by its path is read on `threads`
    threads (0: one for each core). A file object is read in order from its current position. `key`,
    `alg`, `nonce` and `tag_bits` are as in `new`.

    `progress(done, total)` is called at the start, at the end, and at intervals. Both are bytes;
    `total` is None if the size is unknown. An exception that it raises stops the work and is passed
    on.

    Raises `OSError` if the file cannot be read or changes meanwhile, and `TypeError` if it is open
    in text mode or comes after the key. Raises `NonceRequired` if the MAC needs a nonce and none is
    given.
    """

def tag_many(
    key: Key,
    buffers: Iterable[Buffer] | Buffer | _ArrowArray | _ArrowStream,
    nonces: Iterable[Buffer] | Buffer | _ArrowArray | _ArrowStream | None = None,
) -> bytes:
    """Returns the tags of many messages, concatenated in one bytes object.

    `buffers` is a sequence of bytes-like objects, an Arrow array of binary or string values, or a
    two-dimensional array with a message in each row. `nonces` has the same kinds, with one nonce
    for each message. All nonces must have one length and be different, or `NonceReuse` is raised.

    ```python
    >>> import tagmac
    >>> tagmac.tag_many(tagmac.Key(bytes(16)), [b"one", b"two"]).hex()
    'c835672f6302c5720b94ca0c0d4a1e1706207531b3c6eb51b1f3f98840abe6ba'

    ```
    """

def verify_many(
    key: Key,
    buffers: Iterable[Buffer] | Buffer | _ArrowArray | _ArrowStream,
    tags: Iterable[Buffer] | Buffer | _ArrowArray | _ArrowStream,
    nonces: Iterable[Buffer] | Buffer | _ArrowArray | _ArrowStream | None = None,
) -> None:
    """Checks the tags of many messages, each in constant time.

    `buffers` and `nonces` are as in `tag_many`. `tags` is its result, or a container with one tag
    for each message, of the kinds that `buffers` may have.

    Raises `InvalidTag` if any tag is wrong. Its attribute `indices` is a tuple of the indices of
    all messages whose tag is wrong.
    """

# Manifests of buckets, used by tagmac.spark.

SHARD_ENTRIES: Final[int]
STATUSES: Final[tuple[Status, ...]]

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
) -> tuple[bytes, bytes]:
    """Returns the text of a shard and its record for the root.

    `names` must be in byte order. `nonces` is needed if the MAC needs them. `day` is the day on
    which the objects were read, as YYYY-MM-DD, by default today. `stamps` has a stamp or `None` for
    each object.
    """

def shard_name(record: bytes) -> str:
    """Returns the file name of the shard with this record."""

def record_fields(record: bytes) -> tuple[int, int, int, int, bytes, bytes]:
    """Returns the fields of a record: number, length, entries, bytes, first and last name."""

def shard_open(
    key: Key, record: bytes, text: bytes, *, version: int = 2, shown: str | None = None
) -> tuple[
    list[bytes],
    list[int],
    list[bytes | None],
    list[bytes],
    list[str | None],
    list[bytes | None],
]:
    """Returns the names, sizes, tags, nonces, days and stamps of a shard, after checking that it is
    the one that the record describes in a root of this version. The tag of an archived object is
    `None`, and so are days and stamps that are not known.

    `shown` is the shard's name in errors.
    """

def root_seal(
    key: Key, records: Sequence[bytes], *, after: bytes | None = None, leaves: int | None = None
) -> bytes:
    """Returns the text of the root, given the records of all shards in order. `after` is the text
    of a root whose chain this one continues. `leaves` is the length of leaves in bytes, if the
    objects have leaf tags.
    """

def root_open(
    key: Key, text: bytes, *, shown: str | None = None
) -> tuple[list[bytes], int, bool, list[bytes]]:
    """Returns the records of a root's shards in order, the version of the manifest, whether its
    objects are those of a list, and the patterns of the objects left out.

    `shown` is the root's name in errors.
    """

@final
class Filter:
    """The filters of a root."""

    def __new__(cls, patterns: Sequence[bytes]) -> Filter: ...
    def leaves_out(self, name: bytes) -> bool:
        """Returns whether the object with this name is left out."""

def rename_readings(
    key: Key, missing: Sequence[tuple[int, bytes | None, bytes]], sizes: Sequence[int]
) -> list[tuple[int, bytes | None]]:
    """Returns the readings that find renamed objects: the index of a new object among `sizes`, and
    the nonce to tag it under.

    `missing` has a size, a nonce and a tag for each missing object. It and `sizes` are in byte
    order of the names.
    """

def rename_pairs(
    key: Key,
    missing: Sequence[tuple[int, bytes | None, bytes]],
    read: Sequence[tuple[int, tuple[int, bytes | None, bytes]]],
) -> list[tuple[int, int]]:
    """Returns pairs of the index of a new object and of the missing object that it was.

    `read` has, in the order of `rename_readings`, the index of a new object and its size, nonce and
    tag as read. Readings that failed may be left out.
    """

@final
class Part:
    """The hash of one range of an object. `combine` makes the object's tag from the hashes of all
    ranges.

    `Part(key, *, object, version, start=0, last=False)` begins the range at byte `start`, a
    multiple of `block_size`. `object` is the object's name. `version` identifies its content: a
    version id, an ETag or an upload's id, which no other content of that name may have. `last` is
    True for the range at the end of the object; every other range ends at a multiple of
    `block_size`. Call `update` with the bytes of the range, then `seal` once.

    ```python
    >>> import tagmac
    >>> key = tagmac.Key(bytes(16))
    >>> first = tagmac.Part(key, object="photo", version="1").update(bytes(64)).seal()
    >>> rest = tagmac.Part(key, object="photo", version="1", start=64, last=True)
    >>> blobs = [first, rest.update(b"end").seal()]
    >>> tagmac.combine(key, blobs) == key.tag(bytes(64) + b"end")
    True

    ```
    """

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
    def open(key: Key, blob: Buffer) -> Partial:
        """Opens a partial that `seal` or the command made, and checks that it is intact.

        Raises `InvalidTag` if it is damaged, and `WrongKey` if it was made under another key.
        """

    def update(self, data: Buffer) -> Part:
        """Appends bytes to the range. Returns the object itself, so that calls can be chained."""

    def seal(self) -> bytes:
        """Returns the partial as bytes, encrypted under a key derived from the MAC's. It can be
        called once.

        Raises `ValueError` if the range is empty, or if it ends within a block and is not the last.
        """

    def __reduce_ex__(self, _protocol: SupportsIndex) -> NoReturn: ...
    @property
    def object(self) -> bytes:
        """The object's name, as bytes."""

    @property
    def version(self) -> bytes:
        """The version of the object's content, as bytes."""

    @property
    def start(self) -> int:
        """The offset of the range's first byte."""

    @property
    def end(self) -> int:
        """The end of the range so far: the offset after its last byte."""

    @property
    def last(self) -> bool:
        """True if the object ends with this range."""

    @property
    def block_size(self) -> int:
        """The length of a block in bytes. Ranges start and end at multiples of it, except for the
        end of the last one.
        """

    @property
    def name(self) -> Algorithm:
        """The name of the algorithm."""

@final
class Partial:
    """The range that a partial covers. `Part.open` returns it once the partial is checked."""

    @property
    def object(self) -> bytes:
        """The object's name, as bytes: the partial's name up to its last @."""

    @property
    def version(self) -> bytes | None:
        """The version of the object's content, as bytes; None if the partial was made without one.
        """

    @property
    def start(self) -> int:
        """The offset of the range's first byte."""

    @property
    def end(self) -> int:
        """The end of the range: the offset after its last byte."""

    @property
    def last(self) -> bool:
        """True if the object ends with this range."""

    @property
    def name(self) -> Algorithm:
        """The name of the algorithm."""

def combine(
    key: Key,
    blobs: Iterable[Buffer] | Buffer | _ArrowArray | _ArrowStream,
    nonce: Buffer | None = None,
    *,
    object: str | Buffer | None = None,
    version: str | Buffer | None = None,
) -> bytes:
    """Returns the tag of the object that the partials cover, as bytes.

    `blobs` contains the results of `Part.seal` or of the command `tagmac part`, in any order and in
    any container that `tag_many` accepts. `nonce` is the tag's nonce, if the MAC needs one. All
    partials must be of one object and version, and of `object` and `version` if these are given.

    Raises `IncompleteObject` if a range is missing or present twice, `WrongObject` or `WrongKey` if
    a partial belongs to another object, version or key, and `InvalidTag` if one is damaged.
    """

@final
class Tree:
    """A file whose tag is updated with each edit, without reading the whole file again. The hashes
    of its leaves are in a sidecar file, FILE.tagmac.

    `Tree(path, key, *, threads=0, progress=None)` is a file with a sidecar; `Tree.create` makes the
    sidecar. `progress(done, total)` is called with the bytes done and in total.

    Each method updates the file and its sidecar, as `tagmac update` does, and returns the nonce and
    the tag of the file afterwards. The nonce is empty for a deterministic MAC. If you kept the
    previous tag, pass it as `expect`: `InvalidTag` is raised if it is not the file's.
    """

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
    ) -> Tree:
        """Creates the sidecar of a file. It reads the file once and accepts its content.

        `leaf` is the approximate length of a leaf in bytes, by default 64 KiB.

        Raises `ValueError` if the file has a sidecar already.
        """

    def tag(self, *, expect: Buffer | None = None) -> tuple[bytes, bytes]:
        """Returns the nonce and the tag of the file. Only the file's length is checked."""

    def patch(
        self, offset: int, data: Buffer, *, expect: Buffer | None = None
    ) -> tuple[bytes, bytes]:
        """Writes `data` at `offset`. The affected leaves are verified first."""

    def append(self, *, expect: Buffer | None = None) -> tuple[bytes, bytes]:
        """Accepts bytes that were appended to the file."""

    def truncate(self, length: int, *, expect: Buffer | None = None) -> tuple[bytes, bytes]:
        """Truncates the file to `length` bytes. The bytes that it removes are verified first."""

    def range(
        self, offset: int, length: int, *, expect: Buffer | None = None
    ) -> tuple[bytes, bytes]:
        """Accepts the current content of all leaves that overlap the `length` bytes at `offset`."""

    def finish(self, *, expect: Buffer | None = None) -> tuple[bytes, bytes]:
        """Finishes an interrupted edit. Bytes that are not the edit's stay untouched."""

    def undo(self, *, expect: Buffer | None = None) -> tuple[bytes, bytes]:
        """Undoes an interrupted edit. Bytes that are not the edit's stay untouched."""

    @property
    def name(self) -> Algorithm:
        """The name of the algorithm."""

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
) -> Sealed:
    """Seals a directory: writes a manifest of all its entries to the file `manifest`, replacing an
    old one.

    `mode`, `mtime`, `owner`, `xattrs` and `special` also seal file modes, modification times,
    owners, extended attributes, and pipes, sockets and devices. `one_file_system` skips other file
    systems. `exclude` is a list of patterns in the syntax of gitignore, `exclude_caches` leaves out
    the contents of directories with a CACHEDIR.TAG, and `max_depth` limits the depth; the manifest
    records them, and `audit` applies them. Files that show no change since the manifest `since` are
    not read. `leaves` is the length of leaves in bytes, from 4096 to 64 MiB, such as 65536: then
    `open_verified` can read ranges of the files. `new_chain` starts a new chain instead of
    continuing that of the manifest that is replaced. `threads` is the number of threads (0: one for
    each core).

    An entry that cannot be read raises `OSError`, and no manifest is written, unless
    `skip_unreadable` leaves such entries out. `progress(bytes, total_bytes, entries,
    total_entries)` is called at intervals and at the end.
    """

def audit(
    manifest: str | PathLike[str],
    directory: str | PathLike[str],
    key: Key,
    *,
    quick: bool = False,
    subset: tuple[int, int] | None = None,
    sample: float | None = None,
    sample_leaves: float | None = None,
    max_bytes: int | None = None,
    oldest_first: bool = False,
    ledger: str | PathLike[str] | None = None,
    pin: str | PathLike[str] | None = None,
    expect: bytes | None = None,
    paths: Sequence[str | PathLike[str]] = ...,
    threads: int = 0,
    progress: Callable[[int, int | None, int, int | None], object] | None = None,
) -> AuditReport:
    """Compares a directory with its manifest, and reports all differences.

    The manifest's seal is checked first: `InvalidTag` is raised if it is damaged, `WrongKey` if it
    belongs to another key. `threads` and `progress` are as in `seal`.

    By default everything is read. `quick` reads nothing, and `subset=(n, t)` reads part n of t
    parts. `sample` reads a random share from 0 to 1, `sample_leaves` a random share of the leaves
    of each file, and `max_bytes` random files of at most this size in all. The metadata of the
    other files is compared. The file `ledger` keeps when each file was last read, and
    `oldest_first` chooses by it. The file `pin` keeps the last manifest, and `InvalidTag` is raised
    for an older one or a fork. `expect` is the only seal that is accepted. `paths` limits the audit
    to the entries at and below these paths in the directory.
    """

@final
class Sealed:
    """The number of entries that `seal` sealed, by kind."""

    @property
    def files(self) -> int:
        """Number of regular files."""

    @property
    def directories(self) -> int:
        """Number of directories."""

    @property
    def links(self) -> int:
        """Number of symbolic links."""

    @property
    def special(self) -> int:
        """Number of pipes, sockets and devices."""

    @property
    def bytes(self) -> int:
        """Total length of the files in bytes."""

    @property
    def skipped(self) -> int:
        """Number of pipes, sockets and devices that were left out, since `special` is False."""

    @property
    def unreadable(self) -> int:
        """Number of entries that could not be read and were left out."""

    @property
    def carried(self) -> int:
        """Number of files that were not read, because they show no change since `since`."""

    @property
    def left_out(self) -> int:
        """Number of entries that the filters left out, where a directory counts as one."""

@final
class AuditReport:
    """The result of `audit`. It is true if nothing that was compared differs from the manifest."""

    @property
    def ok(self) -> bool:
        """True if nothing that was compared differs from the manifest."""

    def __bool__(self) -> bool: ...
    @property
    def unchanged(self) -> int:
        """Number of entries that match the manifest."""

    @property
    def changed(self) -> int:
        """Number of entries that changed."""

    @property
    def new(self) -> int:
        """Number of entries that are not in the manifest."""

    @property
    def missing(self) -> int:
        """Number of entries in the manifest that no longer exist."""

    @property
    def renamed(self) -> int:
        """Number of files that were sealed under another path."""

    @property
    def unreadable(self) -> int:
        """Number of entries that could not be read, and so were not compared."""

    @property
    def not_read(self) -> int:
        """Number of files outside the part that was read, with unchanged metadata."""

    @property
    def skipped(self) -> int:
        """Number of pipes, sockets and devices that were not compared, since they were not sealed.
        """

    @property
    def left_out(self) -> int:
        """Number of entries that the sealed filters left out, where a directory counts as one."""

    @property
    def renames_complete(self) -> bool:
        """True if the search for renamed files was complete. Otherwise some are counted as new and
        missing.
        """

    @property
    def files_read(self) -> int:
        """Number of sealed files that were read as a whole."""

    @property
    def bytes_read(self) -> int:
        """Number of bytes that were read."""

    @property
    def leaves(self) -> int | None:
        """Number of leaves of all sealed files, where a file without leaf tags is one; None unless
        leaves were sampled.
        """

    @property
    def leaves_read(self) -> int | None:
        """Number of leaves that were read; None unless leaves were sampled."""

    @property
    def missed(self) -> float:
        """The probability that a change of ten files was missed; of ten leaves, if leaves were
        sampled.
        """

    @property
    def oldest_read(self) -> str | None:
        """The earliest day on which one of the files was last read, such as "2026-11-28"; None if
        it is not known.
        """

    @property
    def sequence(self) -> int:
        """The manifest's number in its chain; 0 for a version without chains."""

    @property
    def differences(self) -> list[Difference]:
        """All entries that differ from the manifest: first in the order of the tree, then new,
        missing and renamed files.
        """

@final
class Difference:
    """An entry that differs from the manifest."""

    @property
    def path(self) -> str:
        """The path relative to the directory."""

    @property
    def kind(self) -> Kind:
        """"file", "dir", "link", "pipe", "socket", "chardev" or "blockdev"."""

    @property
    def status(self) -> Status:
        """"changed", "new", "missing", "renamed" or "unreadable"."""

    @property
    def was(self) -> str | None:
        """The path that a renamed file had in the manifest; None for other entries."""

    @property
    def changes(self) -> list[tuple[str, str | None, str | None]]:
        """The changes of an entry, as tuples of a name, the sealed value and the value found. The
        names are size, content, target, kind, mode and mtime. The values are None for a content.
        """

    @property
    def reason(self) -> str | None:
        """The error of an unreadable entry; None for other entries."""

@final
class Manifest:
    """The manifest of a directory or of a bucket, whose files can be read from any place.

    `Manifest(path, key)` opens it and verifies the seal: `InvalidTag` is raised if it is damaged,
    `WrongKey` if it belongs to another key. The manifest of a bucket is a folder. If `read` is
    given, `path` is only its name in messages. `read(name, start, end)` returns a range of the file
    `name`, or fewer bytes if the file ends before. It raises `FileNotFoundError` for a missing
    file. Paths are relative to the sealed directory or prefix. A path without an entry raises
    `FileNotFoundError`. In a bucket, a path with objects below it is a directory.
    """

    def __new__(
        cls,
        path: str | PathLike[str],
        key: Key,
        *,
        read: Callable[[str, int, int], bytes] | None = None,
    ) -> Manifest: ...
    def info(self, path: str) -> ManifestEntry:
        """Returns the entry of a path."""

    def entries(self, path: str = ..., *, recursive: bool = False) -> list[ManifestEntry]:
        """Returns the entries in a directory, in the order of the manifest; with `recursive` also
        those in its directories. `""` is the sealed directory itself.
        """

    def content(self, path: str) -> Content:
        """Returns the sealed content of a file, which verifies bytes from any place."""

    @property
    def seal(self) -> bytes:
        """The seal. Manifests with equal seals have equal entries."""

    @property
    def sequence(self) -> int:
        """The manifest's number in its chain; 0 for a version without chains."""

    @property
    def day(self) -> str | None:
        """The day on which the manifest was sealed, as YYYY-MM-DD; None if it is not known."""

    @property
    def is_bucket(self) -> bool:
        """True if the manifest describes a bucket."""

@final
class ManifestEntry:
    """An entry of a manifest."""

    @property
    def path(self) -> str:
        """The path relative to the sealed directory."""

    @property
    def kind(self) -> Kind:
        """"file", "dir", "link", "pipe", "socket", "chardev" or "blockdev"."""

    @property
    def size(self) -> int | None:
        """The size of a file in bytes; None for other entries."""

    @property
    def tag(self) -> bytes | None:
        """The tag of a file's content; None for other entries."""

    @property
    def mode(self) -> int | None:
        """The permissions; None if they were not sealed."""

    @property
    def mtime_ns(self) -> int | None:
        """The modification time in nanoseconds since 1970; None if it was not sealed."""

    @property
    def target(self) -> str | None:
        """The target of a link; None for other entries."""

@final
class Content:
    """The content of a file, as it was sealed. It consists of leaves, which are verified one by
    one.
    """

    def verify(self, start: int, data: Buffer) -> None:
        """Checks that `data` is what was sealed from byte `start` on: one leaf or several. No
        thread may change `data` from then on, so use `bytes`.

        Raises `InvalidTag` if it is not, and `ValueError` if no leaf begins at `start`.
        """

    @property
    def size(self) -> int:
        """The size in bytes."""

    @property
    def leaf_size(self) -> int:
        """The length of a leaf in bytes. Only the last leaf may be shorter. A file without leaf
        tags has one leaf.
        """

# An open file, used by open_verified.

@final
class SealedFile:
    """An open file of a directory. All bytes that it returns are verified. For
    `tagmac.open_verified`.
    """

    def __new__(
        cls, manifest: Manifest, root: str | PathLike[str], path: str
    ) -> SealedFile: ...
    def read_at(self, offset: int, length: int) -> bytes:
        """Returns the verified bytes from `offset` on: `length` of them, or fewer at the end of the
        file.
        """

    @property
    def size(self) -> int:
        """The size in bytes."""
