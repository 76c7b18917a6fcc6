"""Finds renamed objects: new ones with the content of missing ones. The choice of readings and of
pairs is the command's; the readings are a separate job.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import tagmac
from tagmac import _tagmac

from .cluster import Say, job, rows, task_count
from .items import DDL, SCHEMA, Item, from_batches, from_row, ranges, to_batches
from .joining import join
from .merging import MISSING, NEW
from .tasks import read_items

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Size, nonce and tag.
_Content = tuple[int, bytes | None, bytes]


@dataclass
class Renamed:
    """The new and the old name of each renamed object."""

    renamed: dict[bytes, bytes] = field(default_factory=dict)

    @property
    def gone(self) -> set[bytes]:
        """Names that are no longer new or missing."""
        return {*self.renamed, *self.renamed.values()}


def find_renamed(
    spark: SparkSession,
    ref: tagmac.KeyRef,
    key: tagmac.Key,
    found: list[Item],
    unit: int | None,
    streams: int,
    say: Say | None,
) -> Renamed:
    """Finds renamed objects among an audit's differences, which are in order of their names."""
    missing = [
        (item.name, (item.size, item.nonce, item.expected))
        for item in found
        if item.error == MISSING and item.expected is not None
    ]
    contents: list[_Content] = [content for _, content in missing]
    new = [item for item in found if item.error == NEW]
    readings = _tagmac.rename_readings(key, contents, [item.size for item in new])
    if not readings:
        return Renamed()
    work = [
        replace(new[number], error=None, nonce=nonce, index=index)
        for index, (number, nonce) in enumerate(readings)
    ]
    read = [
        (readings[item.index][0], (item.size, item.nonce, item.tag or b""))
        for item in _matched(spark, ref, work, frozenset(contents), unit, streams, say)
    ]
    pairs = _tagmac.rename_pairs(key, contents, read)
    return Renamed({new[number].name: missing[old][0] for number, old in pairs})


def _matched(
    spark: SparkSession,
    ref: tagmac.KeyRef,
    work: list[Item],
    known: frozenset[_Content],
    unit: int | None,
    streams: int,
    say: Say | None,
) -> list[Item]:
    """Reads objects, and returns those whose size, nonce and tag are in `known`, in the order of
    `work`. An object that cannot be read stays new. Tags that are not in `known` never leave the
    task.
    """
    items = [part for item in work for part in ranges(item, unit)]
    data = [tuple(getattr(item, field.name) for field in SCHEMA) for item in items]
    tasks = task_count(spark, len(items), sum(item.end - item.start for item in items))
    read = read_items(ref, streams)

    def is_known(item: Item) -> bool:
        return item.error is None and (item.size, item.nonce, item.tag) in known

    def tagged(batches: Iterable[Any]) -> Iterator[Any]:
        made = from_batches(read(batches))
        return to_batches(item for item in made if item.partial is not None or is_known(item))

    def joined(batches: Iterable[Any]) -> Iterator[Any]:
        return to_batches(filter(is_known, join(ref.resolve(), from_batches(batches))))

    with job(spark, f"looking for renamed objects among {len(work)}", say):
        frame = rows(spark, DDL, data).repartition(tasks, "name", "start", "index")
        frame = frame.mapInArrow(tagged, DDL).repartition(tasks, "name", "index")
        frame = frame.sortWithinPartitions("name", "index", "start")
        made = [from_row(row) for row in frame.mapInArrow(joined, DDL).collect()]
    return sorted(made, key=lambda item: item.index)
