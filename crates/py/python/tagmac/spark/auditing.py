"""Audits: compares a bucket with its manifest.

Stages, with ═ for a shuffle:

    root ─ merge shards with the listing: missing, new or to be read ═ by name and start
         ─ read: compare whole objects at once, hash ranges ═ by name
         ─ join ranges and compare ─ the driver gets only differences and counts
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import tagmac
from tagmac import _tagmac

from ..s3.errors import GONE
from ..s3.url import Url
from .buckets import MAX_OBJECTS, check_limit
from .cluster import TASKS_PER_CORE, Say, cores, job, rows, task_count
from .items import DDL, Item, from_batches, from_row, to_batches
from .joining import join
from .keyed import pinned, unit_of
from .listings import Listing, listing_of
from .merging import (
    CHANGED,
    DAMAGED,
    MISSING,
    NEW,
    NOT_READ,
    STRETCH_DDL,
    Rules,
    Shard,
    merge_items,
    stretches,
)
from .places import ROOT, Place, PlaceError, place
from .renaming import find_renamed
from .sealing import MAX_ROOT_BYTES, check_apart
from .tasks import STREAMS, read_items

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Maximum number of differences that a report names.
MAX_DIFFERENCES = 100_000
#: Marks a task's row with its number of unchanged objects, in `index`.
UNCHANGED = "unchanged:"
#: Marks of rows with numbers of objects that do not differ.
SAME = (UNCHANGED, NOT_READ)

Status = Literal["changed", "new", "missing", "renamed", "unreadable"]


class ManifestDamaged(ValueError):
    """A manifest is damaged, or one of its shards is missing."""


@dataclass(frozen=True)
class Difference:
    """An object that differs from the manifest. Names are relative to the prefix."""

    status: Status
    name: bytes
    #: The change of a changed object, or the error of an unreadable one.
    detail: str = ""
    before: bytes | None = None


@dataclass(frozen=True)
class Report:
    """The result of an audit. It is true if nothing differs from the manifest."""

    unchanged: int
    #: In the order of their names. They are all differences if `is_complete`.
    differences: tuple[Difference, ...]
    counts: dict[Status, int]
    is_complete: bool
    #: Objects that were archived when they were sealed, so that they have no tag. Their sizes are
    #: unchanged.
    not_read: int = 0

    @property
    def ok(self) -> bool:
        """True if no object differs from the manifest, and every object with a tag was read."""
        return not any(self.counts.values())

    def __bool__(self) -> bool:
        return self.ok


def audit(
    spark: SparkSession,
    manifest: str,
    prefix: str,
    key_ref: tagmac.KeyRef,
    *,
    range_bytes: int | None = None,
    streams: int = STREAMS,
    max_differences: int = MAX_DIFFERENCES,
    max_objects: int = MAX_OBJECTS,
    work: str | None = None,
    progress: Say | None = None,
) -> Report:
    """Compares the objects below `prefix` (s3://bucket/prefix, gs:// or az://) with a manifest, and reports all
    differences.

    `work` is where the listing is kept during the audit: a prefix, or a folder that all workers
    share. By default it is the manifest's place. `range_bytes` is the length of a range that is
    read at once, and `streams` the number of requests of a task at once. `progress` is called with
    lines of text.

    Raises `ManifestDamaged` if the manifest is damaged, and `PlaceError` if it is missing or cannot
    be read. Raises `ObjectError` if the bucket cannot be listed or has more than `max_objects`
    objects below the prefix, and `JobFailed` if Spark gives up.
    """
    check_limit(max_objects)
    ref, key = pinned(key_ref)
    below, where = Url.parse_prefix(prefix), place(manifest)
    work_place = where if work is None else place(work)
    check_apart(below, where)
    check_apart(below, work_place)
    shards, rules = _open_root(key, where)
    unit = unit_of(key, range_bytes)
    with listing_of(spark, below, work_place, unit, max_objects, progress) as listing:
        found, same, counts = _compare(
            spark, ref, where, listing, shards, rules, unit, streams, max_differences, progress
        )
        is_complete = len(found) == sum(counts.values())
        pairs = find_renamed(spark, ref, key, found, unit, streams, progress)
    cut = len(below.key.encode())
    differences = [_difference(item, cut) for item in found if item.name not in pairs.gone]
    for new, old in pairs.renamed.items():
        differences.append(Difference("renamed", new[cut:], before=old[cut:]))
    counts["renamed"] = len(pairs.renamed)
    counts["new"] -= len(pairs.renamed)
    counts["missing"] -= len(pairs.renamed)
    differences.sort(key=lambda difference: difference.name)
    return Report(same[UNCHANGED], tuple(differences), counts, is_complete, same[NOT_READ])


def _open_root(key: tagmac.Key, where: Place) -> tuple[list[Shard], Rules]:
    shown = where.shown(ROOT)
    text = where.read(ROOT, MAX_ROOT_BYTES)
    if text is None:
        raise PlaceError(f"{shown}: no manifest there")
    try:
        records, version, listed, filters = _tagmac.root_open(key, text, shown=shown)
        return [Shard.parse(each) for each in records], Rules(version, listed, tuple(filters))
    except tagmac.InvalidTag as error:
        raise ManifestDamaged(str(error)) from None


def _compare(
    spark: SparkSession, ref: tagmac.KeyRef, where: Place, listing: Listing, shards: list[Shard],
    rules: Rules, unit: int | None, streams: int, most: int, say: Say | None,
) -> tuple[list[Item], dict[str, int], dict[Status, int]]:  # fmt: skip
    """Returns at most `most` differences, the numbers of unchanged objects and of those not read,
    and the number of differences by status.
    """
    counts: dict[Status, int] = dict.fromkeys(get_args(Status), 0)
    same = dict.fromkeys(SAME, 0)
    stretched = stretches(shards, listing)
    if not stretched:
        return [], same, counts
    items = listing.items + sum(shard.objects for shard in shards)
    frame = rows(spark, STRETCH_DDL, stretched)
    frame = frame.mapInArrow(merge_items(ref, where, rules, listing, unit), DDL)
    frame = frame.repartition(task_count(spark, items, listing.size), "name", "start")
    frame = frame.mapInArrow(_read_and_compare(ref, streams), DDL)
    tasks = TASKS_PER_CORE * cores(spark)
    frame = frame.repartition(tasks, "name").sortWithinPartitions("name", "start")
    # Names are spread evenly, so all tasks have about the same number of differences.
    frame = frame.mapInArrow(_join_and_compare(ref, max(1000, 2 * most // tasks)), DDL)
    found: list[Item] = []
    with job(spark, f"auditing {listing.objects} objects, {listing.size} bytes", say):
        for row in frame.collect():
            item = from_row(row)
            if item.error in SAME:
                same[item.error] += item.index
            elif item.error is not None and item.error.startswith("counts:"):
                counts[_status_named(item.version)] += item.index
            else:
                found.append(item)
    damaged = sorted(item.error or "" for item in found if (item.error or "").startswith(DAMAGED))
    if damaged:
        raise ManifestDamaged(damaged[0].removeprefix(DAMAGED))
    found.sort(key=lambda item: item.name)
    return found[:most], same, counts


def _status_named(name: str) -> Status:
    names: tuple[Status, ...] = ("changed", "missing", "new", "unreadable")
    return next(each for each in names if each == name)


def _status(item: Item) -> Status:
    """The status of an item with an error."""
    error = item.error or ""
    if error.startswith(CHANGED):
        return "changed"
    if error == MISSING or error.endswith(GONE):
        return "missing"
    return "new" if error == NEW else "unreadable"


def _difference(item: Item, cut: int) -> Difference:
    status, error = _status(item), item.error or ""
    detail = {"changed": error.removeprefix(CHANGED), "unreadable": error}.get(status, "")
    return Difference(status, item.name[cut:], detail)


def _verdict(item: Item) -> Item | None:
    """Returns None if an item has the expected tag, or else the item with its error."""
    if item.error is not None:
        return item
    if hmac.compare_digest(item.tag or b"", item.expected or b"-"):
        return None
    # Leave out the object's current tag: it must not reach an attacker who chose the object's
    # bytes.
    return replace(
        item, error=f"{CHANGED}content", tag=None, expected=None, nonce=None, partial=None
    )


def _read_and_compare(ref: tagmac.KeyRef, streams: int) -> Any:
    """Reads items, and returns ranges, differences, and the number of unchanged objects."""
    read = read_items(ref, streams)

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        def left() -> Iterator[Item]:
            same = dict.fromkeys(SAME, 0)
            for item in from_batches(read(batches)):
                if item.partial is not None:
                    yield item
                elif item.error == NOT_READ:
                    same[NOT_READ] += 1
                elif (verdict := _verdict(item)) is not None:
                    yield verdict
                else:
                    same[UNCHANGED] += 1
            for mark, count in same.items():
                if count:
                    yield Item("", b"", "", 0, index=count, error=mark)

        return to_batches(left())

    return work


def _join_and_compare(ref: tagmac.KeyRef, most: int) -> Any:
    """Joins ranges, and returns at most `most` differences, and the counts of all."""

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        key = ref.resolve()

        def left() -> Iterator[Item]:
            unchanged, named = 0, 0
            counts: dict[Status, int] = {}
            sums: list[Item] = []

            def objects() -> Iterator[Item]:
                for item in from_batches(batches):
                    if item.error is not None and item.error.startswith((*SAME, DAMAGED)):
                        sums.append(item)
                    else:
                        yield item

            for item in join(key, objects()):
                verdict = _verdict(item)
                if verdict is None:
                    unchanged += 1
                    continue
                status = _status(verdict)
                counts[status] = counts.get(status, 0) + 1
                if named < most:
                    named += 1
                    yield verdict
            for item in sums:
                if item.error == UNCHANGED:
                    unchanged += item.index
                else:
                    yield item
            yield Item("", b"", "", 0, index=unchanged, error=UNCHANGED)
            for status, count in counts.items():
                yield Item("", b"", status, 0, index=count, error="counts:")

        return to_batches(left())

    return work
