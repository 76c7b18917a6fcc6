"""Reads sealed Parquet files as a data frame.

The driver lists the files that the manifest has, and takes the columns from the footer of one of
them. Each task reads row groups through `VerifiedFileSystem`, so every byte is verified in the task
that uses it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow.fs import FSSpecHandler, PyFileSystem

import tagmac
from tagmac.fsspec import VerifiedFileSystem

from .arrow_types import columns_of
from .cluster import cores
from .keyed import pinned
from .partitions import Values, scalar, types_of, values_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

#: Default of the maximum bytes of a task, and the bytes for which the opening of a file counts.
TASK_BYTES, FILE_BYTES = 128 << 20, 4 << 20
#: Maximum rows of a batch, and its approximate bytes.
BATCH_ROWS, BATCH_BYTES = 1 << 16, 16 << 20

_FORMAT = ds.ParquetFileFormat(coerce_int96_timestamp_unit="us", pre_buffer=True)


@dataclass(frozen=True)
class Source:
    """A sealed directory or bucket, which tasks open with their own key."""

    manifest: str
    root: str
    ref: tagmac.KeyRef
    storage_options: Mapping[str, Any] | None
    manifest_options: Mapping[str, Any] | None
    #: The seal of the manifest that the driver opened.
    seal: bytes | None = None

    def open(self) -> VerifiedFileSystem:
        """Opens the file system. Raises ValueError if the manifest is not the driver's."""
        fs = VerifiedFileSystem(
            manifest=self.manifest, key=self.ref, root=self.root,
            target_options=self.storage_options, manifest_options=self.manifest_options,
        )  # fmt: skip
        if self.seal not in (None, fs.manifest.seal):
            raise ValueError(
                f"{self.manifest}: not the manifest that the driver opened; it was replaced, so "
                "call read_parquet again"
            )
        return fs


@dataclass(frozen=True)
class File:
    """A file with rows, or the row groups of it that begin in a range of its bytes."""

    path: str
    values: Values
    start: int
    end: int


def read_parquet(
    spark: SparkSession,
    url: str,
    key_ref: tagmac.KeyRef,
    manifest: str,
    *,
    root: str | None = None,
    columns: Sequence[str] | None = None,
    filters: Any = None,
    task_bytes: int = TASK_BYTES,
    storage_options: Mapping[str, Any] | None = None,
    manifest_options: Mapping[str, Any] | None = None,
) -> DataFrame:
    """Reads Parquet files as a data frame. Every byte is verified before it is used.

    `url` is a sealed directory or bucket, or a path in it. If it is not the sealed directory
    itself, `root` is the URL of that directory. `url` may also be a folder that the driver and all
    workers share. `manifest` is the path or URL of a manifest with leaf tags. `storage_options` and
    `manifest_options` are the options of fsspec for the two URLs.

    The manifest alone says which files there are. As in Spark, names that begin with `_` or `.` are
    left out, and directories COLUMN=VALUE are partition columns.

    `columns` chooses columns; others are not read. `filters`, a pyarrow expression or a list as for
    `pyarrow.parquet.read_table`, chooses rows; row groups whose statistics exclude them are not
    read. A filter of the data frame is applied after the read. `task_bytes` is the approximate
    length of the files of a task.

    Raises `FileNotFoundError` if the manifest has no file there, and `InvalidTag` if the manifest or
    a footer is damaged. A task fails with `InvalidTag` if its file differs from the sealed one, and
    with `OSError` if the store does not have the file.
    """
    from pyspark.sql.types import StructField, StructType

    ref, _ = pinned(key_ref)
    source = Source(_anywhere(manifest), _anywhere(root or url), ref, storage_options, manifest_options)
    fs = source.open()
    source = replace(source, seal=fs.manifest.seal)
    files = _files(fs, _anywhere(url))
    parts = types_of([file.values for file in files])
    types = _types(fs, files[0]) | parts
    names = list(types) if columns is None else list(columns)
    unknown = [name for name in names if name not in types]
    if unknown or not names:
        raise ValueError(f"columns: expected some of {list(types)}, found {unknown}")
    schema = pa.schema([(name, arrow) for name, (_, arrow) in types.items()])
    if filters is not None:
        filters = _expression(filters, schema)
    tasks = [_packed(task) for task in _tasks(files, task_bytes, cores(spark))]
    work = _reader(source, tasks, schema, names, filters)
    made = StructType([StructField(name, types[name][0]) for name in names])
    return spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(work, made)


def _anywhere(path: str) -> str:
    """Returns a URL unchanged, and the absolute form of a path: tasks have other folders."""
    return path if "://" in path else os.path.abspath(path)


def _files(fs: VerifiedFileSystem, url: str) -> list[File]:
    """Returns the files below a URL that have bytes, in the order of their names."""
    top = fs.info(url)
    if top["type"] == "file":
        found, below = [top], len(top["name"])
    else:
        found = list(fs.find(url, detail=True).values())
        below = len(top["name"].rstrip("/")) + 1
    files = []
    for info in found:
        path = info["name"][below:]
        if any(map(_is_hidden, path.split("/"))):
            continue
        if info["type"] != "file":
            raise ValueError(f"{info['name']}: expected a file, found a {info['type']}")
        if info["size"]:
            files.append(File(info["name"], values_of(path), 0, info["size"]))
    if not files:
        raise FileNotFoundError(f"{url}: the manifest has no Parquet files there")
    return files


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _types(fs: VerifiedFileSystem, file: File) -> dict[str, tuple[DataType, pa.DataType]]:
    """Returns the types of the columns of a file."""
    fragment = _fragment(fs, file.path)
    leaves = fragment.metadata.schema
    physical = [leaves.column(number).physical_type for number in range(len(leaves))]
    types = columns_of(fragment.physical_schema, physical)
    if both := types.keys() & file.values.keys():
        raise ValueError(f"{file.path}: {sorted(both)} are columns of the file and of its path")
    return types


def _expression(filters: Any, schema: pa.Schema) -> ds.Expression:
    """Returns a filter as an expression, whose columns exist."""
    if not isinstance(filters, ds.Expression):
        from pyarrow.parquet import filters_to_expression

        filters = filters_to_expression(filters)
    # Raises pyarrow's error on the driver instead of in a task.
    ds.dataset(schema.empty_table()).scanner(filter=filters).to_table()
    return filters


def _tasks(files: Sequence[File], task_bytes: int, slots: int) -> Iterator[list[File]]:
    """Divides files among tasks as Spark does: large files are cut, small ones share a task."""
    if task_bytes < 1:
        raise ValueError(f"task_bytes: expected a positive number, found {task_bytes}")
    total = sum(file.end + FILE_BYTES for file in files)
    most = min(task_bytes, max(FILE_BYTES, total // slots))
    task: list[File] = []
    used = 0
    pieces = (
        replace(file, start=start, end=min(start + most, file.end))
        for file in files
        for start in range(0, file.end, most)
    )
    for piece in sorted(pieces, key=lambda piece: piece.start - piece.end):
        size = piece.end - piece.start
        if task and used + size > most:
            yield task
            task, used = [], 0
        task.append(piece)
        used += size + FILE_BYTES
    yield task


def _packed(task: Sequence[File]) -> str:
    """Returns a task as text. Each worker loads a list of strings quickly."""
    return json.dumps([[file.path, file.values, file.start, file.end] for file in task])


def _reader(
    source: Source, tasks: Sequence[str], schema: pa.Schema, names: list[str], filters: Any
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Returns the function that Spark maps over the numbers of tasks."""

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        fs = None
        for batch in batches:
            for number in batch.column(0).to_pylist():
                fs = fs or source.open()
                for file in json.loads(tasks[number]):
                    yield from _batches(fs, File(*file), schema, names, filters)

    return work


def _batches(
    fs: VerifiedFileSystem, file: File, schema: pa.Schema, names: list[str], filters: Any
) -> Iterator[pa.RecordBatch]:
    """Reads the row groups that begin in the file's range."""
    guarantees = []
    for name, value in file.values.items():
        made = scalar(value, schema.field(name).type)
        column = ds.field(name)
        guarantees.append(column == made if made.is_valid else column.is_null())
    fragment = _fragment(fs, file.path, reduce(and_, guarantees) if guarantees else None)
    groups = [fragment.metadata.row_group(n) for n in range(fragment.metadata.num_row_groups)]
    chosen = [n for n, group in enumerate(groups) if file.start <= _start(group) < file.end]
    rows = sum(groups[n].num_rows for n in chosen)
    if not rows:
        return
    # As rows of one group may be much longer than those of another, the longest count.
    widest = max(groups[n].total_byte_size / max(groups[n].num_rows, 1) for n in chosen)
    scanner = fragment.subset(row_group_ids=chosen).scanner(
        schema=schema,
        columns=names,
        filter=filters,
        batch_size=max(1, min(BATCH_ROWS, int(BATCH_BYTES / max(widest, 1)))),
        batch_readahead=1,
        fragment_readahead=0,
        use_threads=False,
    )
    for batch in scanner.to_batches():
        if batch.num_rows:
            yield batch


def _fragment(fs: VerifiedFileSystem, path: str, values: Any = None) -> ds.ParquetFileFragment:
    filesystem = PyFileSystem(FSSpecHandler(fs))
    return _FORMAT.make_fragment(path, filesystem, values)


def _start(group: Any) -> int:
    """Returns the first byte of a row group."""
    if not group.num_columns:
        return 0
    first = group.column(0)
    return int(first.dictionary_page_offset or first.data_page_offset)
