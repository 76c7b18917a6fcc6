"""Tags objects, as a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

import tagmac

from ..s3.client import client_for
from ..s3.errors import ObjectError
from ..s3.reading import describe
from ..s3.url import Url
from .buckets import MAX_OBJECTS, NameRange, check_limit, list_range, split_names
from .cluster import TASKS_PER_CORE, cores, rows
from .items import DDL, Item, from_batches, ranges, to_batches
from .joining import join
from .keyed import pinned, unit_of
from .tasks import STREAMS, at_once, read_items

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TAGGED = pa.schema(
    [
        ("name", pa.string()), ("version", pa.string()), ("size", pa.int64()),
        ("nonce", pa.binary()), ("tag", pa.binary()), ("error", pa.string()),
    ]
)  # fmt: skip
_TAGGED_DDL = "name string, version string, size long, nonce binary, tag binary, error string"
#: Minimum tasks of a job of unknown size.
LEAST_TASKS = 64


class ObjectsUnreadable(OSError):
    """An object could not be read, with errors="raise"."""


def tag_objects(
    spark: SparkSession,
    objects: str | DataFrame,
    key_ref: tagmac.KeyRef,
    *,
    errors: Literal["raise", "column"] = "raise",
    range_bytes: int | None = None,
    streams: int = STREAMS,
    tasks: int | None = None,
    max_objects: int = MAX_OBJECTS,
) -> DataFrame:
    """Returns a data frame with the tags of objects: all objects below s3://bucket/prefix (or gs://, az://), or those
    whose URLs are in the column `name` of a data frame, each once.

    The columns are `name` (the URL), `version` (the ETag), `size` in bytes, `nonce`
    (null for a deterministic MAC), `tag` and `error`. With errors="column", `error` says why an
    object has no tag; with errors="raise", the job fails with `ObjectsUnreadable`.

    Spark reads the objects when the data frame is used, and again each time it is used: write it
    somewhere. A task that lists more than `max_objects` objects fails. `range_bytes` is the length
    of a range that is read at once, and `streams` the number of requests of a task at once.
    """
    check_limit(max_objects)
    if errors not in ("raise", "column"):
        raise ValueError(f"errors: expected 'raise' or 'column', found {errors!r}")
    ref, key = pinned(key_ref)
    unit = unit_of(key, range_bytes)
    tasks = tasks or max(LEAST_TASKS, TASKS_PER_CORE * cores(spark))
    if isinstance(objects, str):
        frame = _listed(spark, Url.parse_prefix(objects), unit, max_objects)
    else:
        # Repartition before the requests: the frame's partitions may be few or uneven.
        frame = (
            objects.select("name")
            .distinct()
            .repartition(tasks, "name")
            .mapInArrow(_asked(unit, streams), DDL)
        )
    frame = frame.repartition(tasks, "bucket", "name", "start")
    frame = frame.mapInArrow(read_items(ref, streams), DDL)
    frame = frame.repartition(tasks, "bucket", "name").sortWithinPartitions(
        "bucket", "name", "start"
    )
    return frame.mapInArrow(_finished(ref, errors), _TAGGED_DDL)


def _listed(spark: SparkSession, prefix: Url, unit: int | None, max_objects: int) -> DataFrame:
    """Returns the items of all objects below a prefix."""
    names = split_names(client_for(prefix), prefix, TASKS_PER_CORE * cores(spark))
    frame = rows(spark, "after string, upto string", [(each.after, each.upto) for each in names])

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        def items() -> Iterator[Item]:
            for batch in batches:
                for row in batch.to_pylist():
                    names = NameRange(row["after"], row["upto"])
                    for item in list_range(client_for(prefix), prefix, names, max_objects=max_objects):
                        yield from ranges(item, unit)

        return to_batches(items())

    return frame.mapInArrow(work, DDL)


def _asked(unit: int | None, streams: int) -> Any:
    """Returns the items of objects given by URL, after requesting each one's version and size."""

    def ask(text: str | None) -> Item:
        try:
            url = Url.parse_object("NULL" if text is None else text)
        except ValueError as error:
            return Item("", (text or "").encode(), "", 0, error=str(error))
        item = Item(url.root, url.key.encode(), "", 0)
        try:
            head = describe(client_for(url), url)
        except ObjectError as error:
            return replace(item, error=str(error))
        size = head.get("ContentLength", -1)
        if size < 0:
            return replace(item, error=str(ObjectError(url, "the store returned no length")))
        return replace(item, version=head.get("ETag", "").strip('"'), size=size)

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        texts = (text for batch in batches for text in batch.column(0).to_pylist())
        found = at_once(ask, texts, streams)
        return to_batches(part for item in found for part in ranges(item, unit))

    return work


def _finished(ref: tagmac.KeyRef, errors: str) -> Any:
    """Returns the function that makes one row for each object."""

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        made: list[dict[str, Any]] = []
        for item in join(ref.resolve(), from_batches(batches)):
            if item.error is not None and errors == "raise":
                raise ObjectsUnreadable(item.error)
            name = item.name.decode(errors="backslashreplace")
            row: dict[str, Any] = {
                "name": str(Url.below(item.bucket, name)) if item.bucket else name,
                "error": item.error,
            }
            if item.error is None:
                row |= {
                    "version": item.version,
                    "size": item.size,
                    "nonce": item.nonce,
                    "tag": item.tag,
                }
            made.append(row)
            if len(made) == 4096:
                yield pa.RecordBatch.from_pylist(made, schema=_TAGGED)
                made = []
        if made:
            yield pa.RecordBatch.from_pylist(made, schema=_TAGGED)

    return work
