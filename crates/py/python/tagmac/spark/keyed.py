"""Keys in workers: a reference travels, the key does not.

The driver resolves the reference first, and pins it to the key that it found. A worker that finds
another key, or none, stops its task with a line that says so; Spark then tries the task elsewhere.
"""

from __future__ import annotations

from dataclasses import replace

import tagmac

from .items import RANGE_BYTES


#: Spark's properties for variables of the environment. The UI and event logs show them all.
_SHOWN = (
    "spark.executorEnv.",
    "spark.driverEnv.",
    "spark.yarn.appMasterEnv.",
    "spark.kubernetes.driverEnv.",
)


def pinned(ref: tagmac.KeyRef) -> tuple[tagmac.KeyRef, tagmac.Key]:
    """In the driver: a reference that leads to no other key, and the key."""
    if not isinstance(ref, tagmac.KeyRef):
        found = type(ref).__name__
        raise TypeError(f"expected a KeyRef, such as tagmac.KeyRef.file(PATH), found a {found}")
    if ref.kind == "env":
        _not_shown(ref.where[0])
    key = ref.resolve()
    return replace(ref, id=key.id, alg=key.name), key


def _not_shown(name: str) -> None:
    """Refuses a variable that is one of Spark's properties: a key in it is no secret any more."""
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession()
    for start in _SHOWN if spark is not None else ():
        if spark is not None and spark.conf.get(start + name, None) is not None:
            raise ValueError(
                f"{start}{name}: expected a key that is no Spark property, found one: event logs and "
                "the UI show it; use KeyRef.file or KeyRef.secret, or set it where the workers start"
            )


def unit_of(key: tagmac.Key, range_bytes: int | None) -> int | None:
    """The bytes of a range, of whole blocks; or None if the MAC has no parts: its objects are read
    in one piece."""
    try:
        block = tagmac.Part(key, object=b"-", version=b"-").block_size
    except ValueError:
        return None
    if range_bytes is None:
        return RANGE_BYTES - RANGE_BYTES % block
    if range_bytes < 1 or range_bytes % block:
        raise ValueError(
            f"range_bytes: expected a multiple of {block}, the block of {key.name}, "
            f"found {range_bytes}"
        )
    return range_bytes
