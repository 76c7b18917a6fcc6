"""Lists buckets in parallel.

S3 lists names in order, a thousand at a time, and each answer says where the next one begins, so
one listing cannot be split. But a listing may begin after any name, and the driver finds such names
by asking for the first name after each letter. The split decides only how even the work is: the
ranges cover every name.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from ..s3 import stores
from ..s3.errors import READING_FAILURES, ObjectError
from ..s3.reading import one_line
from ..s3.url import Url
from .items import Item

#: Twenty times S3's limit.
MAX_OBJECT_BYTES = 1 << 50
#: Default limit of objects in a listing: a store could send an endless one.
MAX_OBJECTS = 100_000_000
#: Maximum number of consecutive pages without objects.
MAX_EMPTY_PAGES = 1000
#: Maximum number of requests for each range that the driver looks for.
REQUESTS_PER_RANGE = 8


class ListingFailed(ObjectError):
    """The store refused or failed a listing."""


@dataclass(frozen=True)
class NameRange:
    """The names after `after`, up to and including `upto`, or to the end if it is None."""

    after: str
    upto: str | None


def list_range(
    s3: Any, prefix: Url, names: NameRange, *, max_objects: int = MAX_OBJECTS
) -> Iterator[Item]:
    """Lists the objects of a range, in byte order of their names. An object with the prefix itself
    as its name (the marker of a folder) is left out.
    """
    count = 0
    for key, entry in list_names(s3, prefix, names.after):
        if names.upto is not None and key > names.upto:
            return
        size = entry.get("Size", -1)
        if not 0 <= size <= MAX_OBJECT_BYTES:
            # A forged size would be split into any number of ranges.
            url = prefix.at(key)
            raise ObjectError(url, f"expected at most {MAX_OBJECT_BYTES} bytes, found {size}")
        if key != prefix.key:
            count += 1
            check_count(prefix, count, max_objects)
            etag = entry.get("ETag", "").strip('"')
            yield Item(prefix.root, key.encode(), etag, size)


def list_names(s3: Any, prefix: Url, after: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Lists the names after `after` in byte order, with their entries. Raises ListingFailed if the
    listing fails, and another ObjectError if it has unexpected names.
    """
    last = None
    # The other stores have no listings that begin after a name, and split_names does not split.
    for key, entry in entries(s3, prefix, after) if prefix.is_s3 else _stored(prefix):
        # Python orders strings by code points, which is the byte order of their UTF-8.
        if last is None and key <= after:
            raise ObjectError(prefix, f"expected names after {after!r}, found {key!r}")
        if last is not None and key <= last:
            raise ObjectError(prefix, f"expected names in byte order, found {key!r} after {last!r}")
        last = key
        yield key, entry


def _stored(prefix: Url) -> Iterator[tuple[str, dict[str, Any]]]:
    """Lists a prefix in another store than S3."""
    try:
        yield from stores.entries(prefix)
    except OSError as error:
        reason = str(error).removeprefix(f"{prefix}: ")
        raise ListingFailed(prefix, f"cannot list it: {reason}") from None


def check_count(prefix: Url, objects: int, most: int) -> None:
    """Raises ObjectError if a listing has too many objects."""
    if objects > most:
        raise ObjectError(
            prefix,
            f"the listing has more than {most} objects; max_objects "
            "(--max-objects) raises the limit",
        )


def check_limit(max_objects: int) -> None:
    """Raises ValueError for a limit below 1."""
    if max_objects < 1:
        raise ValueError(f"max_objects: expected at least 1, found {max_objects}")


def entries(s3: Any, prefix: Url, after: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Lists the names after `after` in the store's order, with their entries. All begin with the
    prefix. The errors are those of list_names.
    """
    start = {"StartAfter": after} if after else {}
    pages = s3.get_paginator("list_objects_v2").paginate(
        Bucket=prefix.bucket, Prefix=prefix.key, **start
    )
    empty = 0
    try:
        for page in pages:
            contents = page.get("Contents", [])
            empty = 0 if contents else empty + 1
            if empty > MAX_EMPTY_PAGES:
                reason = f"the listing has over {MAX_EMPTY_PAGES} empty pages in a row"
                raise ObjectError(prefix, reason)
            for entry in contents:
                key = entry.get("Key", "")
                if not key or not key.startswith(prefix.key):
                    raise ObjectError(prefix, f"expected names below {prefix}, found {key!r}")
                yield key, entry
    except (ClientError, *READING_FAILURES) as error:
        raise ListingFailed(prefix, f"cannot list it: {one_line(error)}") from None


def split_names(s3: Any, prefix: Url, wanted: int) -> list[NameRange]:
    """Splits the names below a prefix into about `wanted` ranges, or into one if they fit in a
    page. Listings of other stores than S3 are not split.
    """
    if not prefix.is_s3:
        return [NameRange("", None)]
    requests = REQUESTS_PER_RANGE * wanted
    bounds: set[str] = set()
    stems = deque([prefix.key])

    def after(stem: str, bound: str) -> str | None:
        nonlocal requests
        requests -= 1
        names, _ = _page(s3, prefix, stem, bound, 1)
        return names[0] if names else None

    while stems and len(bounds) + 1 < wanted and requests > 0:
        stem = stems.popleft()
        names, more = _page(s3, prefix, stem, "", 1000)
        requests -= 1
        if not more:
            continue
        # If all names have more letters in common, continue after those.
        common = os.path.commonprefix(names)
        if len(common) > len(stem) and (bound := _following(common)) and not after(stem, bound):
            stems.append(common)
            continue
        name = next(iter(names), None)
        while name is not None and requests > 0:
            letter = name[: len(stem) + 1]
            stems.append(letter)
            bound = _following(letter)
            # If the bound itself is a name, it is the last one of its range.
            name = after(stem, bound) if bound else None
            if bound and name is not None:
                bounds.add(bound)
    cuts = sorted(bounds)
    return [NameRange(after, upto) for after, upto in zip(["", *cuts], [*cuts, None], strict=True)]


def _page(s3: Any, prefix: Url, stem: str, after: str, count: int) -> tuple[list[str], bool]:
    """Returns some names that are longer than the stem and begin with it, and whether there are
    more. Other names, which a listing should not contain, split nothing; list_range refuses them.
    """
    start = {"StartAfter": after} if after else {}
    try:
        page = s3.list_objects_v2(Bucket=prefix.bucket, Prefix=stem, MaxKeys=count, **start)
    except (ClientError, *READING_FAILURES) as error:
        raise ListingFailed(prefix, f"cannot list it: {one_line(error)}") from None
    names = [entry.get("Key", "") for entry in page.get("Contents", [])]
    names = [name for name in names if name.startswith(stem) and name != stem]
    return names, bool(names) and page.get("IsTruncated", False)


def _following(stem: str) -> str | None:
    """The smallest text after all names that begin with the stem; None if no text is."""
    number = ord(stem[-1]) + 1
    if 0xD800 <= number < 0xE000:
        number = 0xE000
    return stem[:-1] + chr(number) if number <= 0x10FFFF else None
