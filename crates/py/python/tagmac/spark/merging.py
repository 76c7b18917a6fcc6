"""Merges a listing with a manifest, to find missing objects, new ones, and those to read.

Both are sorted by name and stored in pieces: the manifest's shards and the listing's files. Each
task reads one shard and the files whose names overlap it, once each. So nothing is shuffled, and no
task holds more than a shard and a file.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import tagmac
from tagmac import _tagmac

from ..s3.errors import ObjectError
from ..s3.url import Url, check_key
from .items import Item, ranges, to_batches
from .listings import Listing, ListingFile, read_listing_file
from .places import Place

#: Prefixes of an item's error, for differences that are found without reading the object.
MISSING, NEW, CHANGED, DAMAGED = "missing:", "new:", "changed: ", "damaged: "
#: The error of an item that has no tag to compare with, because the object was archived.
NOT_READ = "not read:"
MAX_SHARD_BYTES = 1 << 30

STRETCH_DDL = (
    "record binary, after binary, upto binary, files array<struct<file: string, sha256: binary>>"
)


@dataclass(frozen=True)
class Rules:
    """The rules of a manifest's root that hold for all shards and objects."""

    version: int
    #: True if the objects are those of a list, so that others are not new.
    listed: bool
    filters: tuple[bytes, ...]


@dataclass(frozen=True)
class Shard:
    """A shard's record in the manifest's root."""

    record: bytes
    length: int
    objects: int
    size: int
    first: bytes
    last: bytes

    @staticmethod
    def parse(record: bytes) -> Shard:
        _, length, objects, size, first, last = _tagmac.record_fields(record)
        return Shard(record, length, objects, size, first, last)


def stretches(shards: list[Shard], listing: Listing) -> list[tuple[Any, ...]]:
    """Returns a row for each shard: its record, its range of names, and the files with names in
    that range. The last row has the names after all shards, and no record.
    """
    cut = len(listing.prefix.key.encode())
    lasts = [file.last[cut:] for file in listing.files]
    rows: list[tuple[Any, ...]] = []
    after: bytes | None = None
    for shard in [*shards, None]:
        upto = None if shard is None else shard.last
        files: list[ListingFile] = []
        # Start at the first file with a name after `after`.
        number = 0 if after is None else bisect_right(lasts, after)
        while number < len(listing.files):
            file = listing.files[number]
            if upto is not None and file.first[cut:] > upto:
                break
            files.append(file)
            number += 1
        record = None if shard is None else shard.record
        if record is not None or files:
            rows.append((record, after, upto, [(file.file, file.sha256) for file in files]))
        after = upto
    return rows


def merge_items(
    ref: tagmac.KeyRef, where: Place, rules: Rules, listing: Listing, unit: int | None
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Returns the function that Spark maps over batches of stretches. It yields items to read, and
    differences.
    """
    prefix, work_files = listing.prefix, listing.place

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        key, filters = ref.resolve(), _tagmac.Filter(rules.filters)
        cut = len(prefix.key.encode())

        def items() -> Iterator[Item]:
            for batch in batches:
                for row in batch.to_pylist():
                    sealed = _sealed(key, where, rules.version, prefix, row["record"])
                    if isinstance(sealed, Item):
                        yield sealed
                        continue
                    listed: Iterable[Item] = _listed(prefix, work_files, row)
                    if rules.filters:
                        listed = (each for each in listed if not filters.leaves_out(each.name[cut:]))
                    for item in _merged(sealed, listed):
                        if rules.listed and item.error == NEW:
                            continue
                        yield from ranges(item, unit) if item.error is None else [item]

        return to_batches(items())

    return work


def _sealed(
    key: tagmac.Key, where: Place, version: int, prefix: Url, record: bytes | None
) -> list[Item] | Item:
    """Reads the objects of a shard, or returns an item with the shard's error."""
    if record is None:
        return []
    file = _tagmac.shard_name(record)
    shown, length = where.shown(file), Shard.parse(record).length
    if length > MAX_SHARD_BYTES:
        return _damaged(
            prefix, f"{shown}: expected at most {MAX_SHARD_BYTES} bytes, found {length}"
        )
    text = where.read(file, length)
    if text is None:
        return _damaged(prefix, f"{shown}: the manifest's shard is missing")
    try:
        columns = _tagmac.shard_open(key, record, text, version=version, shown=shown)
    except ValueError as error:
        return _damaged(prefix, str(error))
    stem = prefix.key.encode()
    return [
        Item(prefix.root, stem + name, "", size, 0, size, nonce=nonce or None, expected=tag)
        for name, size, tag, nonce, _, _ in zip(*columns, strict=True)
    ]


def _damaged(prefix: Url, line: str) -> Item:
    return Item(prefix.root, b"", "", 0, error=DAMAGED + line)


def _listed(prefix: Url, place: Place, row: dict[str, Any]) -> Iterator[Item]:
    """Yields the listed objects of a stretch."""
    stem = prefix.key.encode()
    after = None if row["after"] is None else stem + row["after"]
    upto = None if row["upto"] is None else stem + row["upto"]
    for file in row["files"]:
        for item in read_listing_file(prefix, place, file["file"], file["sha256"]):
            if (after is None or item.name > after) and (upto is None or item.name <= upto):
                yield item


def _merged(sealed: list[Item], listed: Iterable[Item]) -> Iterator[Item]:
    """Merges both in order. An item without an error must be read and have the expected tag."""
    rest = iter(sealed)
    entry = next(rest, None)
    for item in listed:
        while entry is not None and entry.name < item.name:
            yield replace(entry, error=MISSING)
            entry = next(rest, None)
        if entry is None or entry.name > item.name:
            yield replace(item, start=0, end=item.size, error=_refused(item) or NEW)
        elif entry.size != item.size:
            change = f"{CHANGED}size: expected {entry.size}, found {item.size}"
            yield replace(item, start=0, end=item.size, error=change)
            entry = next(rest, None)
        else:
            error = NOT_READ if entry.expected is None else None
            yield replace(item, nonce=entry.nonce, expected=entry.expected, error=error)
            entry = next(rest, None)
    while entry is not None:
        yield replace(entry, error=MISSING)
        entry = next(rest, None)


def _refused(item: Item) -> str | None:
    """Returns the error of an object that can never be read; None for others. Such an object is
    missing from the manifest even if it is old.
    """
    key = item.name.decode(errors="surrogateescape")
    try:
        check_key(key)
    except ValueError as error:
        return str(ObjectError(Url.below(item.bucket, key), str(error)))
    return None
