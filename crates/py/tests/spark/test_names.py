"""Names with all characters that S3 allows. They need a server that keeps any name:
scripts/test-spark runs this file a second time, with moto. Local mode is enough: names do not
depend on where tasks run.
"""

import os
import sys

import pytest
from manifests import KEY, check, files, fill

import tagmac
from tagmac.spark import Unreadable, audit, seal, tag_objects

MOTO = os.environ.get("TAGMAC_S3_SERVER") == "moto"
NAMES = {
    # moto does not support line feeds in names. Listings use encoding-type=url for characters that
    # XML cannot express.
    "moto": [chr(n) for n in range(1, 128) if n not in (10, ord("."))] + ["//", "a//b", ".c/", "..d", "e/f.", "/", "...",
        "%41", "%2F", "a+b", "a b", " ", "a ", "?x=1", "#", "&amp;", "<&>\"'", "é", "e\u0301", "\u2028", "😀", "\U0010ffff",
        "\ufffe", "x" * 1022, "ä" * 511, "g", "g/", "g/h", "-", "--", "~", "*", "\\", "\\t", "a\tb", "a\rb", ".tagmac-1-2"],
    # Names that a file system keeps unchanged.
    "versitygw": [chr(n) for n in range(33, 127) if chr(n) not in "./"] + ["a\nb", "a\tb", "a\rb", "%41", "a+b", "a b",
        "?x=1", "&amp;", "<&>\"'", "é", "e\u0301", "\u2028", "😀", "folder/h", "\\t", "x" * 200],
}[os.environ.get("TAGMAC_S3_SERVER", "moto")]  # fmt: skip


@pytest.fixture(scope="module")
def local():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    made = (
        builder.config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    yield made
    if MOTO:
        made.stop()


def test_names_with_everything(local, proxy, s3, bucket, tmp_path):
    # Names in the bucket, and the same ones below a prefix with special characters.
    objects = {f"ä %41/{name}": f"{name}!".encode() for name in NAMES}
    fill(s3, bucket, objects)
    KEY.save(tmp_path / "key")
    ref = tagmac.KeyRef.file(tmp_path / "key")
    seal(local, f"s3://{bucket}/ä %41", ref, str(tmp_path / "below"))
    check(
        KEY,
        tmp_path / "below",
        {name.removeprefix("ä %41/"): body for name, body in objects.items()},
    )
    seal(local, f"s3://{bucket}", ref, str(tmp_path / "all"))
    check(KEY, tmp_path / "all", objects)
    for where, prefix in [("below", "/ä %41/"), ("all", "/")]:
        assert audit(local, str(tmp_path / where), f"s3://{bucket}{prefix}", ref).ok
    rows = tag_objects(local, f"s3://{bucket}", ref, tasks=2).collect()
    assert {row.name: bytes(row.tag) for row in rows} == {
        f"s3://{bucket}/{name}": KEY.tag(body) for name, body in objects.items()
    }


def test_names_that_no_url_can_ask_for(local, s3, bucket, tmp_path):
    if not MOTO:
        pytest.skip("no file system keeps them")
    names = [".", "..", "./c", "a/../d", "e/."]
    fill(s3, bucket, {name: b"x" for name in names} | {"good": b"x"})
    KEY.save(tmp_path / "key")
    ref = tagmac.KeyRef.file(tmp_path / "key")
    with pytest.raises(Unreadable, match="5 objects cannot be read: .*without '.' or '..'"):
        seal(local, f"s3://{bucket}", ref, str(tmp_path / "m"))
    assert not (tmp_path / "m").exists() or files(tmp_path / "m") == {}
