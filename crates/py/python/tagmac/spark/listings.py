"""A bucket's listing, made once by the workers and stored near the manifest while it is in use.

Objects change while Spark works, and Spark repeats the work of a lost worker. So the listing is
stored in files of up to 50,000 objects, and the driver keeps their hashes: every later task, first
or repeated, uses exactly the same list.
"""

from __future__ import annotations

import hashlib
import io
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..s3.client import client_for
from ..s3.errors import ObjectError
from ..s3.reading import one_line
from ..s3.url import Url
from .buckets import NameRange, check_count, list_range, split_names
from .cluster import TASKS_PER_CORE, Say, cores, job, rows, to_stderr
from .items import Item, count_ranges
from .places import Place, PlaceError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: A file that shows workers that they share the driver's place.
DRIVER = "driver"
#: Maximum objects and bytes of a file. Names have at most 1024 bytes, and ETags few.
FILE_OBJECTS, MAX_FILE_BYTES = 50_000, 256 << 20

_FILE = pa.schema([("name", pa.binary()), ("version", pa.string()), ("size", pa.int64())])
_SUMMARY = pa.schema(
    [
        ("number", pa.int64()), ("file", pa.string()), ("sha256", pa.binary()), ("objects", pa.int64()),
        ("size", pa.int64()), ("items", pa.int64()), ("first", pa.binary()), ("last", pa.binary()),
    ]
)  # fmt: skip
_SUMMARY_DDL = "number long, file string, sha256 binary, objects long, size long, items long, first binary, last binary"


@dataclass(frozen=True)
class ListingFile:
    """One file of a listing."""

    number: int
    file: str
    sha256: bytes
    objects: int
    size: int
    #: Number of ranges of its objects.
    items: int
    first: bytes
    last: bytes


@dataclass(frozen=True)
class Listing:
    """The list of all objects below a prefix, in ordered files."""

    prefix: Url
    place: Place
    files: tuple[ListingFile, ...]

    @property
    def objects(self) -> int:
        return sum(file.objects for file in self.files)

    @property
    def size(self) -> int:
        """The total length of the objects in bytes."""
        return sum(file.size for file in self.files)

    @property
    def items(self) -> int:
        return sum(file.items for file in self.files)


@contextmanager
def listing_of(
    spark: SparkSession,
    prefix: Url,
    place: Place,
    range_bytes: int | None,
    max_objects: int,
    say: Say | None,
) -> Iterator[Listing]:
    """Lists the objects below a prefix. The listing is deleted when the block ends."""
    folder = f".tagmac-list-{secrets.token_hex(8)}"
    try:
        yield make_listing(spark, prefix, place, folder, range_bytes, max_objects, say)
    finally:
        # Remove the files of all attempts. A failure here must not hide another error: they are
        # only litter.
        try:
            place.remove_folder(folder)
        except Exception as error:
            where = "" if isinstance(error, PlaceError) else f"{place.shown(folder)}: "
            to_stderr(f"warning: {where}{one_line(error)}: the listing's files were not deleted")


def make_listing(
    spark: SparkSession,
    prefix: Url,
    place: Place,
    folder: str,
    range_bytes: int | None,
    max_objects: int,
    say: Say | None,
) -> Listing:
    """Lists the objects below a prefix into files in `folder`. Raises ObjectError if one task or
    all together list more than `max_objects`.
    """
    names = split_names(client_for(prefix), prefix, TASKS_PER_CORE * cores(spark))
    place.write(f"{folder}/{DRIVER}", DRIVER.encode())
    data = [(number, each.after, each.upto) for number, each in enumerate(names)]
    with job(spark, "listing", say):
        frame = rows(spark, "number long, after string, upto string", data)
        found = frame.mapInArrow(
            _lister(prefix, place, folder, range_bytes, max_objects), _SUMMARY_DDL
        ).collect()
    files = sorted((ListingFile(*row) for row in found), key=lambda file: file.first)
    for before, after in zip(files, files[1:], strict=False):
        if before.last >= after.first:
            raise ObjectError(prefix, f"two ranges of the listing have the name {after.first!r}")
    listing = Listing(prefix, place, tuple(files))
    check_count(prefix, listing.objects, max_objects)
    return listing


def _lister(
    prefix: Url, place: Place, folder: str, range_bytes: int | None, max_objects: int
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def work(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            if not place.has(f"{folder}/{DRIVER}"):
                raise PlaceError(
                    f"{place.shown('')}: the driver's files are not there; use a place that the "
                    "driver and all workers share"
                )
            for row in batch.to_pylist():
                names = NameRange(row["after"], row["upto"])
                objects = list_range(client_for(prefix), prefix, names, max_objects=max_objects)
                for file in _write(place, folder, row["number"], objects, range_bytes):
                    yield pa.RecordBatch.from_pylist([vars(file)], schema=_SUMMARY)

    return work


def _write(
    place: Place, folder: str, number: int, objects: Iterator[Item], range_bytes: int | None
) -> Iterator[ListingFile]:
    while piece := list(islice(objects, FILE_OBJECTS)):
        table = pa.RecordBatch.from_arrays(
            [
                pa.array([getattr(item, field.name) for item in piece], field.type)
                for field in _FILE
            ],
            schema=_FILE,
        )
        out = io.BytesIO()
        with pa.ipc.new_stream(out, _FILE) as writer:
            writer.write_batch(table)
        data = out.getvalue()
        # Give each attempt's file a new name: their contents may differ.
        file = f"{folder}/{number:06}-{secrets.token_hex(8)}"
        place.write(file, data)
        yield ListingFile(
            number, file, hashlib.sha256(data).digest(), len(piece), sum(item.size for item in piece),
            sum(count_ranges(item.size, range_bytes) for item in piece), piece[0].name, piece[-1].name,
        )  # fmt: skip


def read_listing_file(prefix: Url, place: Place, file: str, sha256: bytes) -> Iterator[Item]:
    """Reads the objects of a file, after checking that it is unchanged."""
    data = place.read(file, MAX_FILE_BYTES)
    if data is None or hashlib.sha256(data).digest() != sha256:
        found = "is missing" if data is None else "was changed"
        raise PlaceError(f"{place.shown(file)}: the listing's file {found}")
    with pa.ipc.open_stream(data) as reader:
        for batch in reader:
            columns = (batch.column(name).to_pylist() for name in _FILE.names)
            for name, version, size in zip(*columns, strict=True):
                yield Item(prefix.root, name, version, size)
