"""Programs that read through fsspec: they read verified data without a change, and none of them takes
damage for data.
"""

import random

import dask.dataframe
import duckdb
import numpy as np
import pandas as pd
import pyarrow.dataset
import pyarrow.parquet
import pytest
import zarr

import tagmac
from tagmac.fsspec import VerifiedFileSystem

ROWS = 20_000
COLUMNS = [f"c{number:02}" for number in range(50)]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A directory `t` of tables and arrays, with its manifest."""
    folder = tmp_path_factory.mktemp("readers")
    root = folder / "t"
    (root / "parts").mkdir(parents=True)
    some = np.random.default_rng(1)
    frame = pd.DataFrame({name: some.random(ROWS) for name in COLUMNS})
    frame.to_parquet(root / "x.parquet", row_group_size=5000)
    frame[COLUMNS[:3]].to_csv(root / "x.csv", index=False)
    for number in range(4):
        part = frame[COLUMNS[:5]][number * 5000 : (number + 1) * 5000]
        part.to_parquet(root / "parts" / f"{number}.parquet")
    array = zarr.create_array(root / "a.zarr", shape=(300, 300), chunks=(100, 100), dtype="f8")
    array[:] = some.random((300, 300)) + 1
    key = tagmac.Key.generate()
    key.save(folder / "k")
    tagmac.seal(root, key, folder / "m", leaves=4096)
    return folder


@pytest.fixture
def options(tree):
    key = tagmac.KeyRef.file(tree / "k")
    return {"manifest": str(tree / "m"), "key": key, "root": str(tree / "t")}


@pytest.fixture
def damage(tree):
    """Changes some bytes of a file until the end of the test."""
    saved = []

    def change(name: str, start: int = 0) -> None:
        path = tree / "t" / name
        saved.append((path, path.read_bytes()))
        data = bytearray(saved[-1][1])
        data[start : start + 9] = bytes(255 - byte for byte in data[start : start + 9])
        path.write_bytes(data)

    yield change
    for path, data in saved:
        path.write_bytes(data)


def middle(tree, name):
    return (tree / "t" / name).stat().st_size // 2


def test_pandas(tree, options, damage):
    url, storage = f"tagmac::file://{tree}/t/x", {"tagmac": options}
    for read, end in ((pd.read_parquet, ".parquet"), (pd.read_csv, ".csv")):
        expected = read(f"{tree}/t/x{end}")
        pd.testing.assert_frame_equal(read(url + end, storage_options=storage), expected)
        with pytest.raises(FileNotFoundError):
            read(f"{url}y{end}", storage_options=storage)
        damage(f"x{end}", middle(tree, f"x{end}"))
        with pytest.raises(tagmac.InvalidTag):
            read(url + end, storage_options=storage)
    del options["root"]
    with pytest.raises(tagmac.InvalidTag):
        pd.read_csv(f"{url}.csv", storage_options=storage)


def test_pyarrow_reads_few_bytes(tree, options, damage):
    fs, path = VerifiedFileSystem(**options), f"{tree}/t/x.parquet"
    asked = []
    fetch = fs._store._fetch
    fs._store._fetch = lambda requests: asked.extend(requests) or fetch(requests)
    columns = [COLUMNS[7], COLUMNS[8], COLUMNS[30]]
    found = pyarrow.parquet.read_table(path, filesystem=fs, columns=columns)
    assert found.equals(pyarrow.parquet.read_table(path, columns=columns))
    details = pyarrow.parquet.ParquetFile(path).metadata
    needed = details.serialized_size
    for group in range(details.num_row_groups):
        for column in range(details.num_columns):
            chunk = details.row_group(group).column(column)
            if chunk.path_in_schema in columns:
                needed += chunk.total_compressed_size
    ranges = sorted((start, end) for _, start, end in asked)
    assert all(end <= start for (_, end), (start, _) in zip(ranges, ranges[1:]))
    # Two leaves of each row group are partly used, and some of the end.
    assert sum(end - start for start, end in ranges) < needed + (4 * 2 + 17) * 4096
    damage("x.parquet", 4)
    assert pyarrow.parquet.read_table(path, filesystem=fs, columns=columns).equals(found)
    with pytest.raises(tagmac.InvalidTag):
        pyarrow.parquet.read_table(path, filesystem=fs, columns=COLUMNS[:1])


def test_pyarrow_dataset(tree, options, damage):
    fs = VerifiedFileSystem(**options)
    parts = pyarrow.dataset.dataset(f"{tree}/t/parts", filesystem=fs)
    assert [file.rsplit("/", 1)[-1] for file in parts.files] == [f"{n}.parquet" for n in range(4)]
    expected = pyarrow.dataset.dataset(tree / "t/parts").to_table()
    assert parts.to_table().equals(expected)
    some = pyarrow.dataset.field(COLUMNS[0]) < 0.1
    assert parts.to_table(filter=some).equals(expected.filter(some))
    # The manifest says which files there are.
    (tree / "t/parts/4.parquet").write_bytes((tree / "t/parts/3.parquet").read_bytes())
    (tree / "t/parts/2.parquet").rename(tree / "hidden")
    hidden = pyarrow.dataset.dataset(f"{tree}/t/parts", filesystem=fs)
    assert hidden.files == parts.files
    fresh = VerifiedFileSystem(**options)
    with pytest.raises(OSError, match="the store does not have this sealed file"):
        pyarrow.dataset.dataset(f"{tree}/t/parts", filesystem=fresh).to_table()
    (tree / "hidden").rename(tree / "t/parts/2.parquet")
    (tree / "t/parts/4.parquet").unlink()
    damage("parts/1.parquet", middle(tree, "parts/1.parquet"))
    fresh = VerifiedFileSystem(**options)
    with pytest.raises(tagmac.InvalidTag):
        pyarrow.dataset.dataset(f"{tree}/t/parts", filesystem=fresh).to_table()


def test_dask(tree, options, damage):
    # Dask keeps the file system, which would keep verified leaves.
    storage = {"tagmac": options | {"cache_bytes": 0}}
    frame = dask.dataframe.read_parquet(f"tagmac::file://{tree}/t/parts/*.parquet", storage_options=storage)
    expected = pd.read_parquet(tree / "t/parts")
    for scheduler in ("sync", "threads", "processes"):
        found = frame.compute(scheduler=scheduler).reset_index(drop=True)
        pd.testing.assert_frame_equal(found, expected.reset_index(drop=True))
    damage("parts/3.parquet", middle(tree, "parts/3.parquet"))
    with pytest.raises(tagmac.InvalidTag):
        dask.dataframe.read_parquet(
            f"tagmac::file://{tree}/t/parts/*.parquet", storage_options=storage
        ).sum().compute(scheduler="sync")


def test_duckdb(tree, options, damage):
    database = duckdb.connect()
    database.register_filesystem(VerifiedFileSystem(**options))
    query = "SELECT count(*), min(c01), max(c02) FROM read_parquet('{}/t/parts/*.parquet')"
    expected = duckdb.sql(query.format(tree)).fetchall()
    assert database.sql(query.format(f"tagmac://{tree}")).fetchall() == expected
    query = "SELECT count(*), min(c00 + c02) FROM read_csv('{}/t/x.csv')"
    assert database.sql(query.format(f"tagmac://{tree}")).fetchall() == duckdb.sql(query.format(tree)).fetchall()
    damage("x.csv", middle(tree, "x.csv"))
    with pytest.raises(Exception, match="differ from those sealed"):
        fresh = duckdb.connect()
        fresh.register_filesystem(VerifiedFileSystem(**options))
        fresh.sql(query.format(f"tagmac://{tree}")).fetchall()


def test_zarr(tree, options, damage):
    def array():
        store = zarr.storage.FsspecStore.from_url(
            f"tagmac::file://{tree}/t/a.zarr", storage_options={"tagmac": options}, read_only=True
        )
        return zarr.open_array(store, mode="r")

    expected = zarr.open_array(tree / "t/a.zarr", mode="r")[:]
    assert (array()[:] == expected).all()
    assert (array()[150, 20:130] == expected[150, 20:130]).all()
    # A chunk that is hidden is not one of zeros.
    (tree / "t/a.zarr/c/1/1").rename(tree / "hidden")
    assert (zarr.open_array(tree / "t/a.zarr", mode="r")[100:200, 100:200] == 0).all()
    with pytest.raises(OSError, match="the store does not have this sealed file"):
        array()[:]
    (tree / "hidden").rename(tree / "t/a.zarr/c/1/1")
    damage("a.zarr/c/2/2", random.Random(1).randrange(50_000))
    assert (array()[:200] == expected[:200]).all()
    with pytest.raises(tagmac.InvalidTag):
        array()[:]
