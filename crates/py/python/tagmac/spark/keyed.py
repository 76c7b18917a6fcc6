"""Keys in workers: Spark transfers a reference instead of the key.

The driver resolves the reference first and pins it to that key. A worker fails its task if it finds
another key or cannot find one, and the message names the worker; Spark then tries the task
elsewhere.
"""

from __future__ import annotations

from dataclasses import replace

import tagmac

from .items import RANGE_BYTES


#: Spark's properties for environment variables. The UI and event logs show all of them.
_SHOWN = (
    "spark.executorEnv.",
    "spark.driverEnv.",
    "spark.yarn.appMasterEnv.",
    "spark.kubernetes.driverEnv.",
)


def pinned(ref: tagmac.KeyRef) -> tuple[tagmac.KeyRef, tagmac.Key]:
    """Resolves a reference on the driver. Returns it pinned to the key, and the key."""
    if not isinstance(ref, tagmac.KeyRef):
        found = type(ref).__name__
        raise TypeError(f"expected a KeyRef, such as tagmac.KeyRef.file(PATH), found {found}")
    if ref.kind == "env":
        _not_shown(ref.where[0])
    key = ref.resolve()
    return replace(ref, id=key.id, alg=key.name), key


def _not_shown(name: str) -> None:
    """Rejects an environment variable that a Spark property sets, because properties make the key public.
    """
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession()
    for start in _SHOWN if spark is not None else ():
        if spark is not None and spark.conf.get(start + name, None) is not None:
            raise ValueError(
                f"{start}{name}: Spark's event logs and UI show this property, so its key is not "
                "secret; use KeyRef.file or KeyRef.secret, or set it where the workers start"
            )


def unit_of(key: tagmac.Key, range_bytes: int | None) -> int | None:
    """Returns the length of a range, in whole blocks, or None if the MAC has no parts: then objects
    are read in one piece.
    """
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
