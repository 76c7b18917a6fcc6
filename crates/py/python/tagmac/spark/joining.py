"""Joins ranges to objects: items in order of object and start become one item per object.

If a task ran twice, a range may be present twice. That is harmless if both lead to the same tag;
anything else is an error that names the object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

import tagmac

from ..s3.nonces import new_nonce
from ..s3.url import Url, shown
from .items import Item, from_batches, to_batches


def join_items(ref: tagmac.KeyRef) -> Any:
    """Returns the function that Spark maps over batches of sorted items."""

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        return to_batches(join(ref.resolve(), from_batches(batches)))

    return work


def join(key: tagmac.Key, items: Iterable[Item]) -> Iterator[Item]:
    """Yields one item for each object, with its tag or its error."""
    for _, group in groupby(items, lambda item: (item.bucket, item.name, item.index)):
        yield _object(key, list(group))


def _object(key: tagmac.Key, items: list[Item]) -> Item:
    first = items[0]
    found = next((item for item in items if item.error is not None), None)
    if found is not None:
        return found
    for other in items[1:]:
        if (other.version, other.size) != (first.version, first.size):
            return _failed(
                first, f"it changed: both version {first.version} and {other.version} were read"
            )
    if first.is_whole:
        if any((item.tag, item.nonce) != (first.tag, first.nonce) for item in items[1:]):
            return _failed(first, "two readings have different tags")
        return first
    # The first copy of each range, and the last.
    once, again = (
        {item.start: item for item in reversed(items)},
        {item.start: item for item in items},
    )
    nonce = first.nonce if first.nonce is not None else new_nonce(key)
    try:
        tag = _combined(key, once, nonce)
        if len(items) > len(once) and _combined(key, again, nonce) != tag:
            return _failed(
                first, "two readings of a range lead to different tags"
            )
    except ValueError as error:
        return _failed(first, str(error))
    return replace(first, start=0, end=first.size, nonce=nonce, tag=tag, partial=None)


def _combined(key: tagmac.Key, items: dict[int, Item], nonce: bytes | None) -> bytes:
    blobs = [item.partial or b"" for item in items.values()]
    any_item = next(iter(items.values()))
    return tagmac.combine(
        key, blobs, nonce, object=any_item.name, version=any_item.version.encode()
    )


def _failed(item: Item, reason: str) -> Item:
    name = item.name.decode(errors="backslashreplace")
    return replace(
        item, error=f"{Url.below(item.bucket, shown(name))}: {reason}", tag=None, partial=None
    )
