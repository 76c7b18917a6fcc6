"""Tags the values of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

import tagmac

from .keyed import pinned

if TYPE_CHECKING:
    from pyspark.sql import Column


def tag_column(
    col: Column | str, key_ref: tagmac.KeyRef, nonce: Column | str | None = None
) -> Column:
    """Returns a column with the tag of each value of a binary or string column; null for a null.

    A string's tag is that of its UTF-8 encoding. If the MAC needs nonces, `nonce` is a column with
    one for each value; `NonceRequired` is raised without it.
    """
    from pyspark.sql.functions import arrow_udf
    from pyspark.sql.types import BinaryType

    ref, key = pinned(key_ref)
    if nonce is None:
        key.new()  # raises NonceRequired on the driver instead of in a task

        def tags(values: pa.Array) -> pa.Array:
            return _tags(ref, values, None)

        return arrow_udf(tags, BinaryType())(col)

    def tags_with_nonces(values: pa.Array, nonces: pa.Array) -> pa.Array:
        return _tags(ref, values, nonces)

    return arrow_udf(tags_with_nonces, BinaryType())(col, nonce)


def _tags(ref: tagmac.KeyRef, values: Any, nonces: Any) -> Any:
    """Tags one batch in one call."""
    valid = values.is_valid()
    if values.null_count:
        nonces = None if nonces is None else nonces.filter(valid)
        values = values.filter(valid)
    if nonces is not None and nonces.null_count:
        raise ValueError(
            f"{nonces.null_count} values have no nonce; the nonce column must not be null"
        )
    key = ref.resolve()
    made = tagmac.tag_many(key, values, nonces)
    size = key.digest_size
    tags = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(size), len(values), [None, pa.py_buffer(made)]
    )
    tags = tags.cast(pa.binary())
    if len(values) == len(valid):
        return tags
    # Put nulls back: the index of the tag for a value, and null for a null.
    numbers = pa.compute.cumulative_sum(valid.cast(pa.int64()))
    numbers = pa.compute.if_else(
        valid, pa.compute.subtract(numbers, 1), pa.scalar(None, pa.int64())
    )
    return tags.take(numbers)
