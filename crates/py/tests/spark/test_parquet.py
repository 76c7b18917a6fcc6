"""Verified reads of Parquet files: the same data frame as Spark's own reader, or an error."""

import datetime as dt
import decimal
import pickle
import re

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from manifests import KEY, OTHER, fill
from test_faults import kill_at

import tagmac
from tagmac.spark import read_parquet

LEAF = 4096


@pytest.fixture
def ref(tmp_path):
    KEY.save(tmp_path / "key")
    return tagmac.KeyRef.file(tmp_path / "key")


@pytest.fixture
def tree(tmp_path):
    made = tmp_path / "tree"
    made.mkdir()
    return made


@pytest.fixture
def read(spark, ref, tree, tmp_path):
    """Seals the tree, and reads it or a path in it."""

    def read(path="", sealed=True, **options):
        manifest = tmp_path / "manifest"
        if sealed:
            tagmac.seal(tree, KEY, manifest, leaves=LEAF)
        where = {"root": str(tree)} if path else {}
        return read_parquet(spark, str(tree / path), ref, str(manifest), **where, **options)

    return read


def same(frame, plain):
    """Asserts that two data frames are equal, apart from the order of their rows."""
    assert frame.schema == plain.schema
    names = [f"`{name}`" for name in plain.columns]
    found, expected = (sorted(map(repr, each.select(names).collect())) for each in (frame, plain))
    assert found == expected


def instant(*words):
    return dt.datetime(*words, tzinfo=dt.UTC)


#: Columns that Spark reads. Each has three values and a null.
TYPES = {
    "bool": (pa.bool_(), [True, False, True]),
    "int8": (pa.int8(), [-128, 0, 127]),
    "int16": (pa.int16(), [-(2**15), 0, 2**15 - 1]),
    "int32": (pa.int32(), [-(2**31), 0, 2**31 - 1]),
    "int64": (pa.int64(), [-(2**63), 0, 2**63 - 1]),
    "uint8": (pa.uint8(), [0, 1, 255]),
    "uint16": (pa.uint16(), [0, 1, 2**16 - 1]),
    "uint32": (pa.uint32(), [0, 1, 2**32 - 1]),
    "uint64": (pa.uint64(), [0, 1, 2**64 - 1]),
    "float": (pa.float32(), [0.5, -1.25, float("inf")]),
    "double": (pa.float64(), [0.1, -1e300, 5e-324]),
    "decimal": (pa.decimal128(9, 2), [decimal.Decimal("1.25"), decimal.Decimal("-9999999.99"), 0]),
    "decimal38": (pa.decimal128(38, 10), [decimal.Decimal(10) ** 27, decimal.Decimal("1e-10"), 0]),
    "string": (pa.string(), ["", "ä\0", "x" * 1000]),
    "large_string": (pa.large_string(), ["", "b", "c"]),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), ["b", "a", "b"]),
    "binary": (pa.binary(), [b"", b"\xff\0", b"c"]),
    "fixed": (pa.binary(3), [b"abc", b"\0\0\0", b"xyz"]),
    "date": (pa.date32(), [dt.date(1582, 10, 15), dt.date(1970, 1, 1), dt.date(9999, 12, 31)]),
    "instant": (pa.timestamp("us", "UTC"), [instant(1900, 1, 1), instant(2026, 11, 28, 1, 2, 3, 4)]),
    "instant_ms": (pa.timestamp("ms", "Europe/Berlin"), [instant(1970, 1, 1), instant(2000, 7, 1)]),
    "local": (pa.timestamp("us"), [dt.datetime(1900, 1, 1), dt.datetime(2026, 11, 28, 1, 2, 3, 4)]),
    "list": (pa.list_(pa.int32()), [[], [1, None, 2], [3]]),
    "lists": (pa.large_list(pa.list_(pa.string())), [[["a"], None], [[]], []]),
    "struct": (
        pa.struct([("a", pa.uint8()), ("b.c", pa.list_(pa.timestamp("us", "UTC")))]),
        [{"a": 1, "b.c": [instant(2020, 1, 1), None]}, {"a": None, "b.c": None}, {"a": 2, "b.c": []}],
    ),
    "map": (
        pa.map_(pa.string(), pa.struct([("d", pa.decimal128(5, 1))])),
        [[("k", {"d": decimal.Decimal("1.5")})], [], [("a", None), ("b", {"d": None})]],
    ),
}


def table(rows=4):
    columns = {"id": pa.array(range(rows), pa.int64())}
    for name, (kind, values) in TYPES.items():
        every = [*values, None]
        columns[name] = pa.array([every[n % len(every)] for n in range(rows)], kind)
    return pa.table(columns)


def test_the_types_are_those_of_spark(spark, tree, read):
    pq.write_table(table(50), tree / "a.parquet", row_group_size=7)
    pq.write_table(table(0), tree / "empty.parquet")
    pq.write_table(table(3), tree / "z.parquet", use_dictionary=False, data_page_version="2.0")
    frame, plain = read(), spark.read.parquet(str(tree))
    same(frame, plain)
    assert frame.count() == 53
    for names in (["dictionary", "id"], ["struct", "map", "uint64"]):
        same(read(sealed=False, columns=names), plain.select(names))


def test_old_timestamps_and_durations(spark, tree, read):
    times = pa.array([dt.datetime(2020, 1, 1, 12), None], pa.timestamp("us"))
    nested = pa.StructArray.from_arrays([times], ["at"])
    spans = pa.array([5, None], pa.duration("us"))
    made = pa.table({"time": times, "nested": nested, "span": spans})
    pq.write_table(made, tree / "a.parquet", use_deprecated_int96_timestamps=True)
    same(read(), spark.read.parquet(str(tree)))


def test_nanoseconds_are_read_if_nothing_is_lost(tree, read):
    pq.write_table(pa.table({"t": pa.array([1000], pa.timestamp("ns", "UTC"))}), tree / "a.parquet")
    assert read().selectExpr("unix_micros(t)").first()[0] == 1
    pq.write_table(pa.table({"t": pa.array([1001], pa.timestamp("ns", "UTC"))}), tree / "a.parquet")
    with pytest.raises(Exception, match="would lose data: 1001"):
        read().collect()


def test_types_that_spark_does_not_have(tree, read):
    pq.write_table(pa.table({"a": [1], "t": pa.array([5], pa.time64("us"))}), tree / "a.parquet")
    with pytest.raises(TypeError, match=r"column t: Spark does not have the type time64\[us\]"):
        read()


def test_what_spark_writes(spark, tree, read):
    frame = spark.range(1000).selectExpr(
        "id", "id % 3 as n", "if(id % 5 = 0, null, cast(id as string)) as text",
        "array(id, null) as list", "named_struct('a', current_timestamp(), 'b', map('k', id)) as more",
        "cast(id as decimal(20, 3)) as price", "date_add(date'2026-01-01', cast(id as int)) as day",
        "concat('a b/', id % 2, '=%') as part", "if(id % 7 = 0, null, id % 7) as week",
        "date_add(date'2026-01-01', cast(id % 2 as int)) as on", "id % 2 + 0.5 as half",
    )  # fmt: skip
    frame.repartition(2).write.partitionBy("part", "week", "on", "half").parquet(str(tree / "made"))
    plain = spark.read.parquet(str(tree / "made"))
    same(read("made"), plain)
    same(read("made", sealed=False, columns=["week", "id"]), plain.select("week", "id"))
    filters = [("week", "==", 3), ("id", "<", 500)]
    same(read("made", sealed=False, filters=filters), plain.where("week = 3 and id < 500"))
    nothing = ds.field("part").is_null()
    assert read("made", sealed=False, filters=nothing).collect() == []


def test_each_row_is_read_once(spark, tree, read):
    for n in range(4):
        part = pa.table({"id": range(1000 * n, 1000 * (n + 1)), "text": ["x" * 100] * 1000})
        pq.write_table(part, tree / f"{n}.parquet", row_group_size=90, compression="none")
    for task_bytes in (30_000, 100_001, 1 << 30):
        frame = read(task_bytes=task_bytes)
        assert sorted(row.id for row in frame.collect()) == list(range(4000))
    assert frame.rdd.getNumPartitions() == 2  # one for each core
    assert read("2.parquet").count() == 1000


def damage(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def two_groups(path):
    """Writes a file with two row groups of two columns, and returns the offset of each column."""
    rows = 20_000
    made = pa.table({"a": range(rows), "b": [n * n for n in range(rows)]})
    pq.write_table(made, path, row_group_size=rows // 2, compression="none", use_dictionary=False)
    groups = pq.read_metadata(path)
    return [[groups.row_group(n).column(m).data_page_offset for m in (0, 1)] for n in (0, 1)]


def test_damaged_bytes_are_never_used(tree, read):
    (tree / "sub").mkdir()
    path = tree / "sub" / "x.parquet"
    [[_, _], [_, wrong]] = two_groups(path)
    assert read().count() == 20_000
    wrong += 2 * LEAF
    damage(path, wrong)
    leaf = wrong // LEAF * LEAF
    line = re.escape(f"InvalidTag: {path}: bytes {leaf} to {leaf + LEAF} differ from those sealed")
    for frame in (read(sealed=False), read(sealed=False, columns=["b"])):
        with pytest.raises(Exception, match=line):
            frame.count()
    # The other column and the other row group are unchanged, and nothing else is read.
    assert read(sealed=False, columns=["a"]).count() == 20_000
    assert read(sealed=False, filters=[("a", "<", 10_000)]).count() == 10_000
    # The footer.
    damage(path, wrong)
    damage(path, path.stat().st_size - 20)
    with pytest.raises(tagmac.InvalidTag, match=f"{path}: bytes "):
        read(sealed=False)


def test_the_manifest_says_which_files_there_are(spark, tree, read, ref, tmp_path):
    for name in "abc":
        pq.write_table(pa.table({"name": [name]}), tree / f"{name}.parquet")
    for name in ("_SUCCESS", "_metadata", ".a.crc"):
        (tree / name).write_bytes(b"not Parquet")
    (tree / "0-empty").write_bytes(b"")
    assert sorted(row.name for row in read().collect()) == ["a", "b", "c"]
    (tree / "d.parquet").write_bytes((tree / "a.parquet").read_bytes())
    assert read(sealed=False).count() == 3
    frame = read(sealed=False)
    (tree / "c.parquet").rename(tmp_path / "c")
    with pytest.raises(Exception, match=f"the store does not have this sealed file.*{tree}/c.parquet"):
        frame.count()
    # A file in the place of another.
    (tree / "c.parquet").write_bytes((tree / "b.parquet").read_bytes())
    with pytest.raises(Exception, match=f"InvalidTag: {tree}/c.parquet"):
        frame.count()
    (tmp_path / "c").rename(tree / "c.parquet")
    assert frame.count() == 3
    assert read().count() == 4
    with pytest.raises(Exception, match="not the manifest that the driver opened; it was replaced"):
        frame.count()


def test_what_is_refused(spark, tree, read, ref, tmp_path):
    with pytest.raises(FileNotFoundError, match="the manifest has no Parquet files there"):
        read()
    pq.write_table(pa.table({"a": [1]}), tree / "a.parquet")
    read()
    with pytest.raises(FileNotFoundError):
        read("none", sealed=False)
    with pytest.raises(ValueError, match=r"columns: expected some of \['a'\], found \['b'\]"):
        read(sealed=False, columns=["b"])
    with pytest.raises(ValueError, match="No match for FieldRef.Name\\(b\\)"):
        read(sealed=False, filters=[("b", "==", 1)])
    with pytest.raises(ValueError, match="task_bytes: expected a positive number, found 0"):
        read(sealed=False, task_bytes=0)
    manifest = str(tmp_path / "manifest")
    with pytest.raises(TypeError, match="expected a KeyRef"):
        read_parquet(spark, str(tree), KEY, manifest)
    OTHER.save(tmp_path / "other")
    with pytest.raises(tagmac.WrongKey):
        read_parquet(spark, str(tree), tagmac.KeyRef.file(tmp_path / "other"), manifest)
    (tree / "link").symlink_to("a.parquet")
    with pytest.raises(ValueError, match=f"{tree}/link: expected a file, found a link"):
        read()
    (tree / "link").unlink()
    (tree / "p=1").mkdir()
    pq.write_table(pa.table({"a": [1]}), tree / "p=1" / "b.parquet")
    with pytest.raises(ValueError, match=r"partition columns \[\] in all paths, found \['p'\]"):
        read()
    (tree / "a.parquet").unlink()
    (tree / "p=1").rename(tree / "a=1")
    with pytest.raises(ValueError, match=r"\['a'\] are columns of the file and of its path"):
        read()


def test_killed_executors_change_nothing(
    spark, proxy, cluster, s3, bucket, tree, ref, tmp_path
):
    for n in range(6):
        rows = pa.table({"id": range(1000 * n, 1000 * (n + 1)), "text": [f"{n}" * 50] * 1000})
        pq.write_table(rows, tree / f"{n}.parquet", row_group_size=300)
    fill(s3, bucket, {f"p/{path.name}": path.read_bytes() for path in tree.iterdir()})
    manifest = tmp_path / "manifest"
    tagmac.seal(tree, KEY, manifest, leaves=LEAF)
    frame = read_parquet(spark, f"s3://{bucket}/p", ref, str(manifest), task_bytes=20_000)
    assert frame.rdd.getNumPartitions() > 2
    killed = []
    kill_at(proxy, killed, cluster.executors, "/p/3.parquet")
    assert sorted(row.id for row in frame.collect()) == list(range(6000))
    kill_at(proxy, killed, cluster.python_workers, "/p/5.parquet")
    assert frame.groupBy().sum("id").first()[0] == sum(range(6000))
    assert len(killed) == 2


def test_no_key_is_in_the_plan(read, tree, ref):
    pq.write_table(pa.table({"a": [1]}), tree / "a.parquet")
    frame = read()
    from pyspark import cloudpickle
    from tagmac.spark.parquet import Source, _reader

    source = Source("m", str(tree), ref, None, None)
    closure = cloudpickle.dumps(_reader(source, ["[]"], pa.schema([]), [], None))
    for text in (closure, frame._jdf.queryExecution().toString().encode(), pickle.dumps(source)):
        for secret in (bytes(range(100, 116)), bytes(range(100, 116)).hex().encode()):
            assert secret not in text
