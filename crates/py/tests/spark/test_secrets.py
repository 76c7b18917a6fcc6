"""No key leaks into plans, event logs, logs, shuffle files or listings."""

import base64
import itertools
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from manifests import KEY, data, fill

import tagmac
from tagmac.spark import audit, read_parquet, seal, tag_column, tag_objects

UNIT = 1 << 20
SECRET = bytes(range(100, 116))  # KEY's bytes
#: For the positive control: planted where a key must not be.
PLANTED = bytes(range(200, 216))


def forms(secret: bytes) -> dict[str, bytes]:
    """The forms in which a key may appear."""
    found = {"raw": secret, "hex": secret.hex().encode(), "HEX": secret.hex().upper().encode()}
    found["repr"] = repr(secret)[2:-1].encode()
    for start in range(3):
        # Base64 of the key inside a longer text, at any alignment.
        text = base64.b64encode(bytes(start) + secret)
        found[f"base64+{start}"] = text[[0, 2, 3][start] : -(-len(text) // 4) * 4 - 4]
    return found


def found_in(folder: Path, secret: bytes) -> set[tuple[str, str]]:
    """The files that contain a key, and in which form."""
    wanted, found = forms(secret), set()
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            text = path.read_bytes()
            found |= {
                (str(path.relative_to(folder)), form)
                for form, what in wanted.items()
                if what in text
            }
    return found


def kinds(found: set[tuple[str, str]]) -> set[str]:
    """The subfolder of the cluster's folder: events, local, logs or work."""
    return {path.split("/")[0].split("-")[0] for path, _ in found}


def test_forms():
    for before, secret in itertools.product(range(7), (SECRET, PLANTED)):
        text = base64.b64encode(b"x" * before + secret + b"y" * 5)
        assert (
            sum(what in text for form, what in forms(secret).items() if form.startswith("base64"))
            == 1
        )


def test_no_key_is_anywhere(spark, cluster, s3, bucket, tmp_path, capfd):
    from pyspark.sql import functions as F

    fill(s3, bucket, {f"p/{n}": data(n) for n in range(20)} | {"p/big": data(5 * UNIT)})
    KEY.save(tmp_path / "key")
    (tmp_path / "tree").mkdir()
    pq.write_table(pa.table({"text": ["a"] * 100}), tmp_path / "tree" / "a.parquet")
    sealed = str(tmp_path / "sealed")
    tagmac.seal(tmp_path / "tree", KEY, sealed, leaves=4096)
    refs = [tagmac.KeyRef.file(tmp_path / "key"), tagmac.KeyRef.env("TAGMAC_TEST_KEY_OF_ALL")]
    said = []
    for number, ref in enumerate(refs):
        where = tmp_path / f"manifest-{number}"
        seal(spark, f"s3://{bucket}/p", ref, str(where), range_bytes=UNIT, progress=said.append)
        assert audit(
            spark, str(where), f"s3://{bucket}/p", ref, range_bytes=UNIT, progress=said.append
        ).ok
        assert len(found_in(where, SECRET)) == 0
        # As in users' queries: shuffled, and with the plan available.
        frame = tag_objects(spark, f"s3://{bucket}/p", ref, range_bytes=UNIT).repartition(2, "tag")
        rows = spark.range(100).select(F.col("id").cast("string").alias("text"))
        column = rows.select("text", tag_column("text", ref).alias("tag")).repartition(2, "tag")
        files = read_parquet(spark, str(tmp_path / "tree"), ref, sealed).repartition(2, "text")
        for each in (frame, column, files):
            each.count()
            each.explain(mode="extended")
            said.append(each._jdf.queryExecution().toString())
        said += [repr(ref), str(frame), str(column), str(files)]

    # The control: it must be found where it was planted.
    def leak(batches):
        for batch in batches:
            print(PLANTED.hex(), file=sys.stderr, flush=True)
            yield batch

    planted = F.lit(PLANTED).alias("planted")
    spark.sparkContext.setJobDescription(base64.b64encode(b"?" + PLANTED).decode())
    kept = (
        spark.range(10)
        .mapInArrow(leak, "id long")
        .select("id", planted)
        .repartition(2, "id")
        .persist()
    )
    kept.count()
    spark.sparkContext.setJobDescription(None)
    said.append(PLANTED.hex())
    # Spark writes some of it later. If it never does, the limit of objects-server ends the test.
    control: set[tuple[str, str]] = set()
    while not {"events", "local", "work", "raw", "hex"} <= kinds(control) | {f for _, f in control}:
        control = found_in(cluster.folder, PLANTED)
    kept.unpersist()

    found = found_in(cluster.folder, SECRET)
    assert found == set()
    out, err = capfd.readouterr()
    everything = "\n".join([*map(str, said), out, err]).encode()
    assert forms(PLANTED)["hex"] in everything
    for form, what in forms(SECRET).items():
        assert what not in everything, form
    # The text of the key file, which is in the workers' environment, must not appear either.
    text = next(
        line for line in (tmp_path / "key").read_text().splitlines() if line.startswith("key: ")
    )
    for path in cluster.folder.rglob("*"):
        if path.is_file():
            assert text.encode() not in path.read_bytes(), path
