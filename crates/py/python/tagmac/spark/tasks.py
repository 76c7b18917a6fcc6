"""A task's work on its items: it reads several at once, and makes tags and partials.

A whole object gets its tag. A range becomes a sealed partial of NAME@VERSION. An error of an object
becomes a row, so that one run reports all of them. An error of the worker, such as a missing key,
is an exception, and Spark runs the task elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from queue import SimpleQueue
from typing import Any, TypeVar

import tagmac

from ..s3.client import client_for
from ..s3.errors import ObjectError
from ..s3.nonces import new_nonce
from ..s3.reading import read_range
from ..s3.url import Url, shown
from .items import Item, from_batches, to_batches

#: Default number of requests of a task at once.
STREAMS = 8
#: Objects up to this length are tagged in one call.
SMALL = 1 << 20

In = TypeVar("In")
Out = TypeVar("Out")


def read_items(
    ref: tagmac.KeyRef, streams: int = STREAMS
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Returns the function that Spark maps over batches of items."""

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        key = ref.resolve()
        # Make the client here: boto3 must not make two on different threads.
        pairs = ((client_for(Url.below(item.bucket, "")), item) for item in from_batches(batches))
        return to_batches(at_once(lambda pair: read_item(key, *pair), pairs, streams))

    return work


def at_once(work: Callable[[In], Out], items: Iterable[In], streams: int) -> Iterator[Out]:
    """Yields the results of calls on threads, in any order. At most 2 * `streams` calls are pending
    at once.
    """
    done: SimpleQueue[tuple[Out | None, BaseException | None]] = SimpleQueue()

    def run(item: In) -> None:
        try:
            done.put((work(item), None))
        except BaseException as error:
            done.put((None, error))

    def take() -> Out:
        result, error = done.get()
        if error is not None:
            raise error
        return result  # type: ignore[return-value]

    begun = 0
    pool = ThreadPoolExecutor(streams)
    try:
        for item in items:
            if begun == 2 * streams:
                yield take()
                begun -= 1
            pool.submit(run, item)
            begun += 1
        for _ in range(begun):
            yield take()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def read_item(key: tagmac.Key, s3: Any, item: Item) -> Item:
    """Reads an item, and returns it with its tag, its partial or its error."""
    if item.error is not None:
        return item
    try:
        url = url_of(item)
        if not item.is_whole:
            return replace(item, partial=_partial(key, s3, url, item))
        nonce = item.nonce if item.nonce is not None else new_nonce(key)
        return replace(item, nonce=nonce, tag=_tag(key, s3, url, item, nonce))
    except ObjectError as error:
        return replace(item, error=str(error))
    except ValueError as error:
        # The object exceeds the MAC's limit, or its name is not UTF-8.
        name = item.name.decode(errors="backslashreplace")
        return replace(item, error=f"{Url.below(item.bucket, shown(name))}: {error}")


def url_of(item: Item) -> Url:
    """Returns the URL of an item's object."""
    return Url.below(item.bucket, item.name.decode())


def _tag(key: tagmac.Key, s3: Any, url: Url, item: Item, nonce: bytes | None) -> bytes:
    if item.size <= SMALL:
        pieces: list[bytes] = []
        read_range(s3, url, item.version, item.size, 0, item.size, pieces.append)
        return key.tag(pieces[0] if len(pieces) == 1 else b"".join(pieces), nonce)
    mac = key.new(nonce=nonce)
    read_range(s3, url, item.version, item.size, 0, item.size, mac.update)
    return mac.digest()


def _partial(key: tagmac.Key, s3: Any, url: Url, item: Item) -> bytes:
    version = item.version.encode()
    part = tagmac.Part(key, object=item.name, version=version, start=item.start, last=item.is_last)
    read_range(s3, url, item.version, item.size, item.start, item.end, part.update)
    return part.seal()
