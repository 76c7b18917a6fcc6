"""The types of Parquet columns, as Spark reads them, and the Arrow types in which it receives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

#: Parquet's old type for timestamps. Arrow reads it without a time zone, Spark as an instant.
INT96 = "INT96"
UTC = pa.timestamp("us", "UTC")


class UnsupportedType(TypeError):
    """Spark does not have the type of a column."""


def columns_of(schema: pa.Schema, physical: list[str]) -> dict[str, tuple[DataType, pa.DataType]]:
    """Returns Spark's type and the Arrow type of each column.

    `physical` has the Parquet types of the file's leaf columns, which are in the order of the
    schema.
    """
    leaves, found = iter(physical), {}
    for field in schema:
        try:
            found[field.name] = _types(field.type, leaves)
        except UnsupportedType as error:
            raise UnsupportedType(f"column {field.name}: {error}") from None
    return found


def _types(at: Any, leaves: Iterator[str]) -> tuple[DataType, pa.DataType]:
    from pyspark.sql import types as spark

    if isinstance(at, pa.DictionaryType):
        at = at.value_type
    if _is_list(at):
        element, arrow = _types(at.value_type, leaves)
        return spark.ArrayType(element), pa.list_(pa.field("element", arrow))
    if isinstance(at, pa.MapType):
        (key, arrow_key), (item, arrow) = _types(at.key_type, leaves), _types(at.item_type, leaves)
        keys, items = pa.field("key", arrow_key, nullable=False), pa.field("value", arrow)
        return spark.MapType(key, item), pa.map_(keys, items)
    if isinstance(at, pa.StructType):
        fields = [(field.name, *_types(field.type, leaves)) for field in at.fields]
        made = [spark.StructField(name, each) for name, each, _ in fields]
        return spark.StructType(made), pa.struct([(name, arrow) for name, _, arrow in fields])
    return _simple(at, next(leaves))


def _is_list(at: Any) -> bool:
    kinds = pa.types
    return bool(kinds.is_list(at) or kinds.is_large_list(at) or kinds.is_fixed_size_list(at))


def _simple(at: Any, physical: str) -> tuple[DataType, pa.DataType]:
    from pyspark.sql import types as spark

    kinds = pa.types
    if kinds.is_timestamp(at):
        is_instant = at.tz is not None or physical == INT96
        return (
            (spark.TimestampType(), UTC)
            if is_instant
            else (spark.TimestampNTZType(), pa.timestamp("us"))
        )
    if kinds.is_decimal(at) and at.precision <= 38:
        return spark.DecimalType(at.precision, at.scale), pa.decimal128(at.precision, at.scale)
    # A type that is not in Parquet is stored as the next larger one.
    for has, made, arrow in (
        (kinds.is_boolean, spark.BooleanType(), pa.bool_()),
        (kinds.is_int8, spark.ByteType(), pa.int8()),
        (kinds.is_int16, spark.ShortType(), pa.int16()),
        (kinds.is_int32, spark.IntegerType(), pa.int32()),
        (kinds.is_int64, spark.LongType(), pa.int64()),
        (kinds.is_uint8, spark.ShortType(), pa.int16()),
        (kinds.is_uint16, spark.IntegerType(), pa.int32()),
        (kinds.is_uint32, spark.LongType(), pa.int64()),
        (kinds.is_uint64, spark.DecimalType(20, 0), pa.decimal128(20, 0)),
        (kinds.is_duration, spark.LongType(), pa.int64()),
        (kinds.is_float32, spark.FloatType(), pa.float32()),
        (kinds.is_float64, spark.DoubleType(), pa.float64()),
        (kinds.is_date, spark.DateType(), pa.date32()),
        (kinds.is_null, spark.NullType(), pa.null()),
    ):
        if has(at):
            return made, arrow
    if kinds.is_string(at) or kinds.is_large_string(at) or kinds.is_string_view(at):
        return spark.StringType(), pa.string()
    if (
        kinds.is_binary(at)
        or kinds.is_large_binary(at)
        or kinds.is_binary_view(at)
        or kinds.is_fixed_size_binary(at)
    ):
        return spark.BinaryType(), pa.binary()
    raise UnsupportedType(f"Spark does not have the type {at}")
