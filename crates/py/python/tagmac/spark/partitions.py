"""Partition columns: directories with names of the form COLUMN=VALUE."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

#: The value of a null.
NULL = "__HIVE_DEFAULT_PARTITION__"
#: The columns of a file, with their values as text, or `None` for a null.
Values = dict[str, str | None]

_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def values_of(path: str) -> Values:
    """Returns the partition columns of a file's path, which begins below the directory to read."""
    found: Values = {}
    for part in path.split("/")[:-1]:
        name, is_column, value = part.partition("=")
        if is_column and name:
            found[unquote(name)] = None if value == NULL else unquote(value)
    return found


def types_of(files: Sequence[Values]) -> dict[str, tuple[DataType, pa.DataType]]:
    """Returns the type of each partition column: an integer, a number, a date or text. All values
    of a column have it.
    """
    from pyspark.sql import types as spark

    names = list(files[0])
    for other in files:
        if list(other) != names:
            raise ValueError(
                f"expected the partition columns {names} in all paths, found {list(other)}"
            )
    found: dict[str, tuple[DataType, pa.DataType]] = {}
    for name in names:
        values = {each[name] for each in files} - {None}
        texts = [value for value in values if value is not None]
        bits = [int(text).bit_length() for text in texts if _INTEGER.fullmatch(text)]
        if texts and len(bits) == len(texts) and max(bits) < 64:
            is_int = max(bits) < 32
            found[name] = (
                (spark.IntegerType(), pa.int32()) if is_int else (spark.LongType(), pa.int64())
            )
        elif texts and all(map(_NUMBER.fullmatch, texts)):
            found[name] = spark.DoubleType(), pa.float64()
        elif texts and all(map(_is_date, texts)):
            found[name] = spark.DateType(), pa.date32()
        else:
            found[name] = spark.StringType(), pa.string()
    return found


def scalar(value: str | None, at: pa.DataType) -> pa.Scalar:
    """Returns a value with the type of its column."""
    if value is not None and pa.types.is_integer(at):
        return pa.scalar(int(value), at)
    return pa.scalar(value, pa.string()).cast(at)


def _is_date(text: str) -> bool:
    try:
        return bool(_DATE.fullmatch(text) and date.fromisoformat(text))
    except ValueError:
        return False
