"""Objects in Google Cloud Storage and Azure.

boto3 has no client for them, so the compiled part of the package makes the requests, as in the
command. It must be built with the feature ``objects``. Endpoint and credentials come from
``GOOGLE_*`` and ``AZURE_*``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from tagmac import _tagmac

from .errors import GONE, ObjectChanged, ObjectDenied, ObjectError, ObjectMissing
from .url import Url, check_key

#: Length of a range that is requested at once.
PIECE = 8 << 20

_stores: dict[tuple[int, str], Any] = {}


def store(url: Url) -> Any:
    """Returns this process's connection to the store. The URL's key is the prefix of a manifest."""
    if not hasattr(_tagmac, "Store"):
        raise ValueError(
            f"{url}: this tagmac was built without Google Cloud Storage and Azure (the feature "
            "'objects')"
        )
    # Threads do not survive a fork, so a forked process gets new connections.
    name = (os.getpid(), str(url))
    found = _stores.get(name)
    if found is None:
        found = _stores.setdefault(name, _tagmac.Store(str(url)))
    return found


def describe(url: Url) -> dict[str, Any]:
    """Returns an object's properties, with the names that boto3 has for them."""
    size, etag, metadata = _asked(url, lambda bucket: bucket.describe(url.key), seen=False)
    # Azure allows no hyphens in names.
    fields = {name.replace("_", "-"): value for name, value in metadata}
    return {"ContentLength": size, "ETag": etag, "Metadata": fields}


def read_range(
    url: Url, etag: str, size: int, start: int, end: int, sink: Callable[[bytes], object]
) -> None:
    """Passes the bytes from `start` to `end` of the object's version `etag` to `sink`, in order."""
    at = start
    while True:
        upto = min(at + PIECE, end)
        found = _asked(url, lambda bucket: bucket.read(url.key, etag, size, at, upto))  # noqa: B023
        if found:
            sink(found)
        at = upto
        if at >= end:
            return


def entries(prefix: Url) -> Iterator[tuple[str, dict[str, Any]]]:
    """Lists the names below a prefix in byte order, with their entries as boto3 returns them."""
    listing = store(prefix.at("")).list(prefix.key)
    while page := listing.page():
        for key, size, etag in page:
            yield key, {"Size": size, "ETag": etag}


def _asked(url: Url, request: Callable[[Any], Any], *, seen: bool = True) -> Any:
    """Returns the result of a request. `seen` is True if a listing or an earlier response had the
    object.
    """
    try:
        check_key(url.key)
    except ValueError as error:
        raise ObjectError(url, str(error)) from None
    try:
        return request(store(url.at("")))
    except OSError as error:
        kind, _, reason = str(error).partition(": ")
    if kind == "missing":
        raise ObjectChanged(url, GONE) if seen else ObjectMissing(url)
    if kind == "changed":
        raise ObjectChanged(url, "it changed after it was listed")
    raise (ObjectDenied if kind == "denied" else ObjectError)(url, reason)
