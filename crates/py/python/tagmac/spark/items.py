"""Items that travel between tasks: objects or ranges of them, and their results.

An item is a range of one version of an object, or the whole of it. Large objects are split into
many items, so that none keeps one worker busy while the others are idle. Names are bytes here,
because they are sorted by their bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

#: Default length of a range, rounded down to whole blocks of the MAC.
RANGE_BYTES = 64 << 20
#: A batch is full at this number of rows, or of bytes of partials.
BATCH_ROWS, BATCH_BYTES = 4096, 16 << 20


@dataclass(frozen=True)
class Item:
    """A range of an object, the object's expected tag, and the result."""

    #: `Url.root`
    bucket: str
    name: bytes
    version: str
    size: int
    start: int = 0
    end: int = 0
    #: The object's index among all objects; -1 if they are not numbered.
    index: int = -1
    #: The nonce to tag under; None for a new one.
    nonce: bytes | None = None
    expected: bytes | None = None
    tag: bytes | None = None
    partial: bytes | None = None
    error: str | None = None

    @property
    def is_whole(self) -> bool:
        """True if the range is the whole object."""
        return self.start == 0 and self.end == self.size

    @property
    def is_last(self) -> bool:
        """True if the object ends with this range."""
        return self.end == self.size


SCHEMA = pa.schema(
    [
        ("bucket", pa.string()), ("name", pa.binary()), ("version", pa.string()), ("size", pa.int64()),
        ("start", pa.int64()), ("end", pa.int64()), ("index", pa.int64()), ("nonce", pa.binary()),
        ("expected", pa.binary()), ("tag", pa.binary()), ("partial", pa.binary()), ("error", pa.string()),
    ]
)  # fmt: skip
#: The same schema for Spark.
DDL = (
    "bucket string, name binary, version string, size long, start long, end long, index long, "
    "nonce binary, expected binary, tag binary, partial binary, error string"
)


def ranges(item: Item, range_bytes: int | None) -> Iterator[Item]:
    """Splits an object into ranges. If `range_bytes` is None, for a MAC without parts, the range is
    the whole object.
    """
    if range_bytes is None or item.size <= range_bytes:
        yield replace(item, start=0, end=item.size)
        return
    for start in range(0, item.size, range_bytes):
        yield replace(item, start=start, end=min(start + range_bytes, item.size))


def count_ranges(size: int, range_bytes: int | None) -> int:
    """Returns the number of ranges that `ranges` splits an object into."""
    return 1 if range_bytes is None else max(1, -(-size // range_bytes))


def to_batches(items: Iterable[Item]) -> Iterator[pa.RecordBatch]:
    """Converts items to Arrow batches."""
    rows: list[Item] = []
    held = 0
    for item in items:
        rows.append(item)
        held += len(item.partial or b"")
        if len(rows) >= BATCH_ROWS or held >= BATCH_BYTES:
            yield _batch(rows)
            rows, held = [], 0
    if rows:
        yield _batch(rows)


def _batch(rows: list[Item]) -> pa.RecordBatch:
    columns = [pa.array([getattr(row, field.name) for row in rows], field.type) for field in SCHEMA]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def from_batches(batches: Iterable[Any]) -> Iterator[Item]:
    """Converts Arrow batches to items. Missing columns have their defaults."""
    for batch in batches:
        names = batch.schema.names
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield Item(**dict(zip(names, row, strict=True)))


def from_row(row: Any) -> Item:
    """Converts a row that Spark returned to the driver."""
    values: dict[str, Any] = row.asDict()
    for name, value in values.items():
        if isinstance(value, bytearray):
            values[name] = bytes(value)
    return Item(**values)
