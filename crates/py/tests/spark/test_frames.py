"""Data frames: tags of columns and of objects."""

import pytest
from manifests import KEY, data, fill
from proxy import Rule

import tagmac
from tagmac.spark import tag_column, tag_objects

UNIT = 1 << 20


@pytest.fixture
def ref(tmp_path):
    KEY.save(tmp_path / "key")
    return tagmac.KeyRef.file(tmp_path / "key")


def test_tags_of_a_column(spark, ref):
    values = [b"", b"a", None, data(5000), b"\xff", None]
    frame = spark.createDataFrame(
        [(n, value) for n, value in enumerate(values)], "id int, value binary"
    )
    rows = frame.select("id", tag_column("value", ref).alias("tag")).collect()
    assert {row.id: row.tag and bytes(row.tag) for row in rows} == {
        n: None if value is None else KEY.tag(value) for n, value in enumerate(values)
    }
    # 10,000 values in several batches and tasks, as strings.
    frame = spark.range(10_000).selectExpr("id", "if(id % 7 = 0, null, cast(id as string)) as text")
    rows = frame.repartition(5).select("id", tag_column(frame["text"], ref).alias("tag")).collect()
    assert len(rows) == 10_000
    for row in rows:
        assert (row.tag and bytes(row.tag)) == (
            None if row.id % 7 == 0 else KEY.tag(str(row.id).encode())
        )
    nothing = spark.createDataFrame([(None,)], "value binary")
    assert nothing.select(tag_column("value", ref).alias("tag")).first().tag is None
    assert nothing.limit(0).select(tag_column("value", ref).alias("tag")).collect() == []


def test_nonces_of_a_column(spark, tmp_path):
    key = tagmac.Key.generate("UMAC-64")
    key.save(tmp_path / "key")
    ref = tagmac.KeyRef.file(tmp_path / "key")
    with pytest.raises(tagmac.NonceRequired):
        tag_column("value", ref)
    data = [(n, str(n).encode() if n % 3 else None, n.to_bytes(8, "big")) for n in range(100)]
    frame = spark.createDataFrame(data, "id int, value binary, nonce binary")
    for row in frame.select("*", tag_column("value", ref, "nonce").alias("tag")).collect():
        assert row.tag == (key.tag(row.value, row.nonce) if row.id % 3 else None)
    bad = spark.createDataFrame([(b"x", None)], "value binary, nonce binary")
    with pytest.raises(Exception, match="1 values have no nonce"):
        bad.select(tag_column("value", ref, "nonce")).collect()


def test_a_key_is_not_taken(spark):
    for call in (lambda: tag_column("value", KEY), lambda: tag_objects(spark, "s3://b/p", KEY)):
        with pytest.raises(TypeError, match="expected a KeyRef"):
            call()
    with pytest.raises(tagmac.KeyUnavailable):
        tag_column("value", tagmac.KeyRef.file("/no/such/key"))


OBJECTS = {"p/a": b"", "p/b": data(3 * UNIT + 1), "p/ü b": b"x", "q": b"y"}


SLOW = pytest.mark.slow


@pytest.mark.parametrize("alg", ["PMAC-AES128", "UMAC-64", pytest.param("HMAC-SHA256", marks=SLOW)])
def test_tags_of_objects(spark, s3, bucket, tmp_path, alg):
    key = tagmac.Key.generate(alg)
    key.save(tmp_path / "key")
    ref = tagmac.KeyRef.file(tmp_path / "key")
    fill(s3, bucket, OBJECTS)
    listed = tag_objects(spark, f"s3a://{bucket}/p", ref, range_bytes=UNIT, tasks=4)
    assert listed.columns == ["name", "version", "size", "nonce", "tag", "error"]
    given = spark.createDataFrame([(f"s3a://{bucket}/{name}",) for name in OBJECTS], "name string")
    asked = tag_objects(spark, given, ref, range_bytes=UNIT, tasks=4)
    for frame, expected in [
        (listed, [name for name in OBJECTS if name != "q"]),
        (asked, list(OBJECTS)),
    ]:
        rows = {row.name: row for row in frame.collect()}
        assert set(rows) == {f"s3://{bucket}/{name}" for name in expected}
        for name in expected:
            row, head = rows[f"s3://{bucket}/{name}"], s3.head_object(Bucket=bucket, Key=name)
            assert (row.version, row.size, row.error) == (
                head["ETag"].strip('"'),
                len(OBJECTS[name]),
                None,
            )
            key.verify(OBJECTS[name], bytes(row.tag), row.nonce and bytes(row.nonce))


NOT_A_URL = "not a URL of the form s3://BUCKET/KEY, gs://BUCKET/KEY or az://CONTAINER/KEY"


def test_objects_that_cannot_be_read(spark, s3, bucket, proxy, ref):
    fill(s3, bucket, OBJECTS)
    names = [f"s3://{bucket}/p/a", f"s3://{bucket}/none", "p/a", None, f"s3://{bucket}/p/a"]
    given = spark.createDataFrame([(name,) for name in names], "name string")
    frame = tag_objects(spark, given, ref, errors="column", tasks=2)
    assert sorted((row.name, row.error) for row in frame.collect()) == [
        ("", f"NULL: {NOT_A_URL}"),
        ("p/a", f"p/a: {NOT_A_URL}"),
        (f"s3://{bucket}/none", f"s3://{bucket}/none: no such object"),
        (f"s3://{bucket}/p/a", None),
    ]
    with pytest.raises(Exception, match="ObjectsUnreadable"):
        tag_objects(spark, given, ref, tasks=2).collect()
    # One range of many fails on each try.
    proxy.rules.append(Rule("status", method="GET", path="/p/b$", range=f"bytes={UNIT}-", times=None,
                            status=403, code="AccessDenied"))  # fmt: skip
    frame = tag_objects(spark, f"s3://{bucket}/p", ref, errors="column", range_bytes=UNIT, tasks=4)
    errors = {row.name: row.error for row in frame.collect() if row.tag is None}
    assert errors == {
        f"s3://{bucket}/p/b": f"s3://{bucket}/p/b: no permission to read it (AccessDenied)"
    }
    with pytest.raises(ValueError, match="errors: expected 'raise' or 'column', found 'ignore'"):
        tag_objects(spark, f"s3://{bucket}/p", ref, errors="ignore")
