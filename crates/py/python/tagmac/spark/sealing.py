"""Seals buckets: the workers read all objects, and the task that made a shard writes it.

Stages, with ═ for a shuffle:

    listing ─ ranges ═ by name and start ─ read: tags and partials ═ by shard, sorted
            ─ join: one tag per object ─ write shards ─ the driver seals their records
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import tagmac
from tagmac import _tagmac

from ..s3.errors import ObjectError
from ..s3.url import Url
from .buckets import MAX_OBJECTS, check_limit
from .cluster import Say, job, rows, task_count
from .items import DDL, Item, from_batches, ranges, to_batches
from .joining import join
from .keyed import pinned, unit_of
from .listings import Listing, listing_of, read_listing_file
from .places import ROOT, Place, PlaceError, Prefix, place
from .tasks import STREAMS, read_items

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MAX_ROOT_BYTES = 64 << 20
MAX_SHARD_TASKS = 2000
#: Maximum length of a stamp in bytes.
MAX_STAMP = 1024
#: Maximum errors that a task or the driver names.
MAX_ERRORS = 100

_SHARD = pa.schema(
    [
        ("number", pa.int64()),
        ("record", pa.binary()),
        ("error", pa.string()),
        ("errors", pa.int64()),
    ]
)
_SHARD_DDL = "number long, record binary, error string, errors long"


class Unreadable(OSError):
    """Some objects could not be read: `errors` has the first messages, and `count` the number of
    objects.
    """

    def __init__(self, errors: list[str], count: int) -> None:
        more = f", and {count - len(errors)} more" if count > len(errors) else ""
        super().__init__(
            f"{count} objects cannot be read: {'; '.join(errors[:3])}"
            + (more if count <= 3 else "; ...")
        )
        self.errors, self.count = errors, count

    def __reduce__(self) -> tuple[type[Unreadable], tuple[list[str], int]]:
        return type(self), (self.errors, self.count)


@dataclass(frozen=True)
class Sealed:
    """The result of sealing: the manifest's place, and the numbers of objects, bytes and shards."""

    manifest: str
    objects: int
    bytes: int
    shards: int


def seal(
    spark: SparkSession,
    prefix: str,
    key_ref: tagmac.KeyRef,
    manifest: str,
    *,
    replace_manifest: bool = False,
    new_chain: bool = False,
    range_bytes: int | None = None,
    streams: int = STREAMS,
    max_objects: int = MAX_OBJECTS,
    progress: Say | None = None,
) -> Sealed:
    """Seals all objects below `prefix` (s3://bucket/prefix, gs:// or az://): writes a manifest to `manifest`, which
    is also a URL, or a folder that the driver and all workers share.

    The root is written last, so the manifest exists once its root does. An existing manifest is
    kept unless `replace_manifest` is True. Then the new one continues its chain, unless `new_chain`
    is True. `range_bytes` is the length of a range that is read at
    once, and `streams` the number of requests of a task at once. `progress` is called with lines of
    text.

    Raises `Unreadable` if an object cannot be read, and `PlaceError` if the manifest exists or
    cannot be written. Raises `InvalidTag` if the chain of a damaged manifest would be continued. Raises `ObjectError` if the bucket cannot be listed, or has no objects or
    more than `max_objects` below the prefix, and `JobFailed` if Spark gives up. Then no manifest is
    written.
    """
    check_limit(max_objects)
    ref, key = pinned(key_ref)
    below, where = Url.parse_prefix(prefix), place(manifest)
    check_apart(below, where)
    old_root, old = _old_manifest(key, where, replace_manifest, new_chain)
    unit = unit_of(key, range_bytes)
    with listing_of(spark, below, where, unit, max_objects, progress) as listing:
        if not listing.objects:
            # A mistyped prefix looks like an empty one.
            raise ObjectError(below, "no objects below it")
        records = _shards(spark, ref, listing, unit, streams, progress)
    root = _tagmac.root_seal(key, records, after=None if new_chain else old_root)
    names = [_tagmac.shard_name(each) for each in records]
    _check_there(where, names)
    if old_root is None:
        # A root that appeared meanwhile belongs to another run.
        where.write(ROOT, root, new=True)
    else:
        where.replace(ROOT, root, old_root)
    for name in old.difference(names):
        where.remove(name)
    return Sealed(manifest, listing.objects, listing.size, len(records))


def stamp(version: str) -> bytes | None:
    """Returns the stamp for an ETag without quotes. A weak one, `W/`, belongs to several contents."""
    etag = f'"{version}"'.encode()
    is_stamp = version and not version.startswith("W/") and len(etag) <= MAX_STAMP
    return etag if is_stamp else None


def check_apart(prefix: Url, where: Place) -> None:
    """Rejects a manifest below the prefix that it covers: it would cover itself."""
    if (
        isinstance(where, Prefix)
        and where.url.root == prefix.root
        and where.url.key.startswith(prefix.key)
    ):
        raise ValueError(
            f"{where.url}: the manifest must be outside of {prefix}, which it covers"
        )


def _check_there(where: Place, names: list[str]) -> None:
    """Raises PlaceError if a shard is missing, or if the driver cannot see it."""
    with ThreadPoolExecutor(STREAMS) as pool:
        for name, is_there in zip(names, pool.map(where.has, names), strict=True):
            if not is_there:
                raise PlaceError(
                    f"{where.shown(name)}: the shard is missing after it was written: another seal "
                    "ran at the same time"
                )


def _old_manifest(
    key: tagmac.Key, where: Place, replace_manifest: bool, new_chain: bool
) -> tuple[bytes | None, set[str]]:
    """Returns the root to replace and its shards' names, or None and no names."""
    there = where.read(ROOT, MAX_ROOT_BYTES)
    if there is None:
        return None, set()
    if not replace_manifest:
        raise PlaceError(
            f"{where.shown(ROOT)}: a manifest exists; replace_manifest (--replace) replaces it"
        )
    try:
        records, *_ = _tagmac.root_open(key, there, shown=where.shown(ROOT))
    except (tagmac.InvalidTag, tagmac.WrongKey):
        if not new_chain:
            raise
        # A root with a wrong seal may name any file, so remove none of them.
        return there, set()
    return there, {_tagmac.shard_name(record) for record in records}


def _shards(
    spark: SparkSession,
    ref: tagmac.KeyRef,
    listing: Listing,
    unit: int | None,
    streams: int,
    say: Say | None,
) -> list[bytes]:
    """Writes all shards, and returns their records in order."""
    work = hash_objects(spark, ref, listing, unit, streams)
    shards = -(-listing.objects // _tagmac.SHARD_ENTRIES)
    each = _tagmac.SHARD_ENTRIES
    work = work.repartition(min(shards, MAX_SHARD_TASKS), (work["index"] / each).cast("long"))
    work = work.sortWithinPartitions("index", "start")
    # One day for all shards, which tasks that run again write once more.
    day = datetime.now(UTC).date().isoformat()
    with job(spark, f"sealing {listing.objects} objects, {listing.size} bytes", say):
        made = work.mapInArrow(_shard_writer(ref, listing, day), _SHARD_DDL).collect()
    errors = [row.error for row in made if row.error is not None]
    if errors:
        raise Unreadable(errors[:MAX_ERRORS], sum(row.errors for row in made))
    records = {row.number: bytes(row.record) for row in made}
    if sorted(records) != list(range(shards)):
        raise PlaceError(f"expected records of {shards} shards, found {len(records)}")
    return [records[number] for number in range(shards)]


def hash_objects(
    spark: SparkSession, ref: tagmac.KeyRef, listing: Listing, unit: int | None, streams: int
) -> DataFrame:
    """Returns the items of all objects, with tags, partials and errors."""
    base, data = 0, []
    for file in listing.files:
        data.append((file.file, file.sha256, base))
        base += file.objects
    frame = rows(spark, "file string, sha256 binary, base long", data)
    prefix, where = listing.prefix, listing.place

    def cut(batches: Iterable[Any]) -> Iterator[Any]:
        def items() -> Iterator[Item]:
            for batch in batches:
                for row in batch.to_pylist():
                    objects = read_listing_file(prefix, where, row["file"], row["sha256"])
                    for index, item in enumerate(objects, row["base"]):
                        yield from ranges(replace(item, index=index), unit)

        return to_batches(items())

    tasks = task_count(spark, listing.items, listing.size)
    # Partition by name and start instead of round robin, so that a task's input does not change if
    # an earlier task runs again.
    frame = frame.mapInArrow(cut, DDL).repartition(tasks, "name", "start")
    return frame.mapInArrow(read_items(ref, streams), DDL)


def _shard_writer(ref: tagmac.KeyRef, listing: Listing, day: str) -> Any:
    where, objects, cut = listing.place, listing.objects, len(listing.prefix.key.encode())

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        key = ref.resolve()
        joined = join(key, from_batches(batches))
        for number, group in groupby(joined, lambda item: item.index // _tagmac.SHARD_ENTRIES):
            row = _shard(key, where, number, list(group), objects, cut, day)
            yield pa.RecordBatch.from_pylist(row, schema=_SHARD)

    return work


def _shard(
    key: tagmac.Key, where: Place, number: int, items: list[Item], objects: int, cut: int, day: str
) -> list[dict[str, Any]]:
    """Writes a shard if all its objects are present and have tags. Returns the rows that report it.
    """
    errors = [item.error for item in items if item.error is not None]
    first = number * _tagmac.SHARD_ENTRIES
    expected = range(first, min(first + _tagmac.SHARD_ENTRIES, objects))
    if [item.index for item in items] != list(expected):
        errors.append(f"shard {number}: expected {len(expected)} objects, found {len(items)}")
    if errors:
        rows = [{"number": number, "error": error, "errors": 0} for error in errors[:MAX_ERRORS]]
        rows[0]["errors"] = len(errors)
        return rows
    nonces = [item.nonce or b"" for item in items]
    text, record = _tagmac.shard_seal(
        key, number, [item.name[cut:] for item in items], [item.size for item in items],
        [item.tag or b"" for item in items], nonces if nonces[0] else None, day=day,
        stamps=[stamp(item.version) for item in items],
    )  # fmt: skip
    where.write(_tagmac.shard_name(record), text)
    return [{"number": number, "record": record, "errors": 0}]
