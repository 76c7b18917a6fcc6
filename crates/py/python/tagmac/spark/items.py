"""What travels between tasks: objects, ranges of them, and what came out.

An item is a range of one version of an object, or the whole of it. Large objects are many items, so
none keeps a worker busy while the others are idle. Names are bytes here, because they are sorted by
their bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

#: A range of an object, by default, or as many whole blocks of the MAC as fit.
RANGE_BYTES = 64 << 20
#: Rows of a batch that a task hands on, and the bytes of partials after which it is full.
BATCH_ROWS, BATCH_BYTES = 4096, 16 << 20


@dataclass(frozen=True)
class Item:
    """A range of an object, what is expected of the object, and what came out."""

    bucket: str
    name: bytes
    version: str
    size: int
    start: int = 0
    end: int = 0
    #: The object's place among all, where they are numbered.
    index: int = -1
    #: The nonce to tag under; a new one where there is none.
    nonce: bytes | None = None
    expected: bytes | None = None
    tag: bytes | None = None
    partial: bytes | None = None
    error: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the range is the whole object."""
        return self.start == 0 and self.end == self.size

    @property
    def is_last(self) -> bool:
        """Whether the object ends with the range."""
        return self.end == self.size


SCHEMA = pa.schema(
    [
        ("bucket", pa.string()), ("name", pa.binary()), ("version", pa.string()), ("size", pa.int64()),
        ("start", pa.int64()), ("end", pa.int64()), ("index", pa.int64()), ("nonce", pa.binary()),
        ("expected", pa.binary()), ("tag", pa.binary()), ("partial", pa.binary()), ("error", pa.string()),
    ]
)  # fmt: skip
#: The same for Spark.
DDL = (
    "bucket string, name binary, version string, size long, start long, end long, index long, "
    "nonce binary, expected binary, tag binary, partial binary, error string"
)


def ranges(item: Item, range_bytes: int | None) -> Iterator[Item]:
    """The ranges of an object; None: all of it, for MACs without parts."""
    if range_bytes is None or item.size <= range_bytes:
        yield replace(item, start=0, end=item.size)
        return
    for start in range(0, item.size, range_bytes):
        yield replace(item, start=start, end=min(start + range_bytes, item.size))


def count_ranges(size: int, range_bytes: int | None) -> int:
    """How many `ranges` makes of an object."""
    return 1 if range_bytes is None else max(1, -(-size // range_bytes))


def to_batches(items: Iterable[Item]) -> Iterator[pa.RecordBatch]:
    """Items as Arrow has them."""
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
    """Items back from Arrow. Columns that are missing have their defaults."""
    for batch in batches:
        names = batch.schema.names
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield Item(**dict(zip(names, row, strict=True)))


def from_row(row: Any) -> Item:
    """An item that came to the driver."""
    values: dict[str, Any] = row.asDict()
    for name, value in values.items():
        if isinstance(value, bytearray):
            values[name] = bytes(value)
    return Item(**values)
