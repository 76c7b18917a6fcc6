"""Faults while Spark works: the manifest is right, or an error names what is missing.

Nothing here depends on chance: the proxy injects a fault at a chosen request.
"""

import json
import os
import subprocess
import sys
import threading

import pytest
from cluster import kill
from manifests import KEY, OTHER, check, data, files, fill
from proxy import Rule

import tagmac
from tagmac.spark import Difference, Unreadable, audit, seal

UNIT = 1 << 20
OBJECTS = {f"p/{n:03}": data(n * 100, n) for n in range(40)} | {"p/big": data(6 * UNIT + 5, 99)}
BELOW = {name[2:]: body for name, body in OBJECTS.items()}


@pytest.fixture
def ref(tmp_path):
    KEY.save(tmp_path / "key")
    return tagmac.KeyRef.file(tmp_path / "key")


@pytest.fixture
def where(tmp_path):
    return tmp_path / "manifest"


@pytest.fixture
def filled(s3, bucket):
    fill(s3, bucket, OBJECTS)
    return f"s3://{bucket}/p"


def sealed(spark, filled, ref, where):
    seal(spark, filled, ref, str(where), range_bytes=UNIT)
    check(KEY, where, BELOW)
    assert len(files(where)) == 2
    return files(where)


def kill_at(proxy, killed, processes, path, **more):
    """Kills the processes that `processes` returns, at the first GET of the path when there are
    any, and records their number.

    The requesting task may have been killed since, at another path. It then repeats the request.
    """
    one_by_one = threading.Lock()

    def call():
        with one_by_one:
            count = 0 if rule.times == 0 else kill(processes())
            if count:
                killed.append(count)
                rule.times = 0

    rule = Rule("call", method="GET", path=path, times=None, call=call, **more)
    proxy.rules.append(rule)


@pytest.mark.slow
def test_killed_python_workers_change_nothing(spark, proxy, cluster, filled, ref, where, tmp_path):
    plain = sealed(spark, filled, ref, tmp_path / "plain")
    killed = []
    for path in ("/p/017", "/p/031"):
        kill_at(proxy, killed, cluster.python_workers, path)
    # Also in the middle of a large object.
    kill_at(proxy, killed, cluster.python_workers, "/p/big", range=f"bytes={3 * UNIT}-")
    assert sealed(spark, filled, ref, where) == plain
    assert len(killed) == 3
    proxy.rules.clear()
    kill_at(proxy, killed, cluster.python_workers, "/p/023")
    assert audit(spark, str(where), filled, ref, range_bytes=UNIT).ok
    assert len(killed) == 4


def test_killed_executors_change_nothing(spark, proxy, cluster, filled, ref, where, tmp_path):
    plain = sealed(spark, filled, ref, tmp_path / "plain")
    killed = []
    one = lambda: cluster.executors()[:1]  # noqa: E731
    kill_at(proxy, killed, one, "/p/big", range=f"bytes={3 * UNIT}-")
    assert sealed(spark, filled, ref, where) == plain
    kill_at(proxy, killed, cluster.executors, "/p/023")
    assert audit(spark, str(where), filled, ref, range_bytes=UNIT).ok
    assert len(killed) == 2


def test_tasks_that_run_twice_change_nothing(spark, filled, ref, where, tmp_path, monkeypatch):
    plain = sealed(spark, filled, ref, tmp_path / "plain")
    # The worst case of speculation: each object is read twice, and both results arrive.
    from tagmac.spark import sealing

    once = sealing.hash_objects
    monkeypatch.setattr(sealing, "hash_objects", lambda *some: once(*some).union(once(*some)))
    assert sealed(spark, filled, ref, where) == plain


FAULTS = {
    "503": Rule("status", status=503, code="ServiceUnavailable", times=3),
    "SlowDown": Rule("status", status=503, code="SlowDown", times=3),
    "500": Rule("status", status=500, code="InternalError", times=3),
    "no answer": Rule("refuse", times=3),
    "reset": Rule("reset", times=3, bytes=1000),
    "short": Rule("short", times=3, bytes=1000),
}


SLOW = pytest.mark.slow


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    "path",
    [pytest.param("/p/030$", marks=SLOW), "/p/big$", pytest.param("list-type=2", marks=SLOW)],
)
def test_faults_of_the_network_change_nothing(spark, proxy, filled, ref, where, fault, path):
    rule = FAULTS[fault]
    rule.method, rule.path, rule.met = "GET", path, 0
    proxy.rules.append(rule)
    sealed(spark, filled, ref, where)
    assert rule.met >= 3


def test_a_body_that_stays_short_is_named(spark, proxy, filled, ref, where):
    proxy.rules.append(Rule("trim", method="GET", path="/p/030$", times=None, bytes=1000))
    proxy.rules.append(
        Rule("trim", method="GET", path="/p/big$", range=f"bytes={2 * UNIT}-", times=None, bytes=1)
    )
    with pytest.raises(Unreadable) as found:
        seal(spark, filled, ref, str(where), range_bytes=UNIT)
    first, second = found.value.errors
    assert first == f"{filled}/030: expected 3000 bytes from 0 on, found 1000: it changed"
    assert second == f"{filled}/big: expected {UNIT} bytes from {2 * UNIT} on, found 1: it changed"
    assert found.value.count == 2
    assert "root" not in files(where)


CHANGES = {
    "overwritten": (
        lambda s3, b, k: s3.put_object(Bucket=b, Key=k, Body=b"other"),
        "it changed after it was listed",
    ),
    "deleted": (
        lambda s3, b, k: s3.delete_object(Bucket=b, Key=k),
        "it was deleted after it was listed",
    ),
    "truncated": (
        lambda s3, b, k: s3.put_object(Bucket=b, Key=k, Body=OBJECTS[k][:-5]),
        "it changed after it was listed",
    ),
    "same length": (
        lambda s3, b, k: s3.put_object(Bucket=b, Key=k, Body=bytes(len(OBJECTS[k]))),
        "it changed after it was listed",
    ),
}


@pytest.mark.parametrize(
    "change",
    [
        "overwritten",
        "deleted",
        *(pytest.param(name, marks=SLOW) for name in ("truncated", "same length")),
    ],
)
def test_objects_that_change_between_listing_and_reading_are_named(
    spark, s3, bucket, proxy, filled, ref, where, tmp_path, change
):
    act, line = CHANGES[change]
    sealed(spark, filled, ref, tmp_path / "plain")
    # The small one before it is read, the large one when half of it is read.
    proxy.rules.append(
        Rule("call", method="GET", path="/p/030$", call=lambda: act(s3, bucket, "p/030"))
    )
    proxy.rules.append(Rule("call", method="GET", path="/p/big$", range=f"bytes={3 * UNIT}-",
                            call=lambda: act(s3, bucket, "p/big")))  # fmt: skip
    with pytest.raises(Unreadable) as found:
        seal(spark, filled, ref, str(where), range_bytes=UNIT)
    assert found.value.errors == [f"{filled}/030: {line}", f"{filled}/big: {line}"]
    assert not any(name == "root" for name in files(where)) and not any(
        "list" in name for name in files(where)
    )
    # An audit that lists them while they exist finds the same.
    fill(s3, bucket, OBJECTS)
    for rule in proxy.rules:
        rule.met = 0
    report = audit(spark, str(tmp_path / "plain"), filled, ref, range_bytes=UNIT)
    if change == "deleted":
        assert report.differences == (Difference("missing", b"030"), Difference("missing", b"big"))
    else:
        assert [(each.status, each.name) for each in report.differences] == [
            ("unreadable", b"030"), ("unreadable", b"big"),
        ]  # fmt: skip
        assert all(each.detail.endswith(line) for each in report.differences)
    assert report.unchanged == len(OBJECTS) - 2


def test_what_is_added_after_the_listing_is_left_for_the_next(
    spark, s3, bucket, proxy, filled, ref, where
):
    add = lambda: fill(s3, bucket, {"p/000a": b"new", "p/zzz": b"new"})  # noqa: E731
    proxy.rules.append(Rule("call", method="GET", path="/p/030$", call=add))
    sealed(spark, filled, ref, where)
    report = audit(spark, str(where), filled, ref)
    assert report.differences == (Difference("new", b"000a"), Difference("new", b"zzz"))


def test_a_listing_that_somebody_changes_is_refused(spark, filled, ref, where, monkeypatch):
    from tagmac.spark import listings

    make = listings.make_listing

    def made(*arguments):
        listing = make(*arguments)
        for path in where.glob(".tagmac-list-*/*"):
            path.write_bytes(path.read_bytes().replace(b"p/030", b"p/031"))
        return listing

    monkeypatch.setattr(listings, "make_listing", made)
    line = "the listing's file was changed"
    with pytest.raises(RuntimeError, match=line):
        seal(spark, filled, ref, str(where), range_bytes=UNIT)
    assert files(where) == {}


@pytest.mark.slow
def test_a_listing_that_fails_leaves_nothing(spark, s3, bucket, proxy, ref, where):
    fill(s3, bucket, {f"p/{n:04}": b"" for n in range(1100)})
    # All names except the first, in tasks: the driver asks for single names.
    rule = Rule("status", method="GET", path="^(?!.*max-keys).*start-after=", times=None, status=403, code="AccessDenied")  # fmt: skip
    proxy.rules.append(rule)
    with pytest.raises(RuntimeError, match="cannot list it: "):
        seal(spark, f"s3://{bucket}/p", ref, str(where))
    assert rule.met and files(where) == {}


@pytest.mark.skipif(
    os.environ.get("TAGMAC_S3_SERVER") != "versitygw", reason="moto grants everything"
)
def test_no_permission_on_one_object(s3, bucket, filled, ref, where, tmp_path):
    reader = {"AWS": [os.environ["TAGMAC_S3_READER_ID"]]}
    everything = [f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"]
    rules = [
        {
            "Effect": "Allow",
            "Principal": reader,
            "Action": ["s3:GetObject", "s3:ListBucket"],
            "Resource": everything,
        },
        {
            "Effect": "Deny",
            "Principal": reader,
            "Action": ["s3:GetObject"],
            "Resource": [everything[0] + "/p/017"],
        },
    ]
    s3.put_bucket_policy(
        Bucket=bucket, Policy=json.dumps({"Version": "2012-10-17", "Statement": rules})
    )
    try:
        env = {
            **os.environ, "AWS_ACCESS_KEY_ID": os.environ["TAGMAC_S3_READER_ID"],
            "AWS_SECRET_ACCESS_KEY": os.environ["TAGMAC_S3_READER_SECRET"], "SPARK_LOCAL_IP": "127.0.0.1",
        }  # fmt: skip
        command = [
            sys.executable,
            "-m",
            "tagmac.spark",
            "seal",
            filled,
            "-o",
            str(where),
            "-k",
            str(tmp_path / "key"),
        ]
        done = subprocess.run(
            [*command, "--master", "local[2]"], env=env, capture_output=True, text=True, timeout=1200
        )
    finally:
        s3.delete_bucket_policy(Bucket=bucket)
    assert done.returncode == 4
    assert f"tagmac: {filled}/017: no permission to read it (AccessDenied)\n" in done.stderr
    assert done.stderr.endswith(
        "tagmac: error: 1 objects cannot be read; no manifest was written\n"
    )
    assert "root" not in files(where)


def test_a_key_that_only_one_worker_finds(spark, proxy, filled, where, monkeypatch):
    # The first worker of the cluster has it.
    monkeypatch.setenv("TAGMAC_TEST_KEY_OF_ONE", os.environ["TAGMAC_TEST_KEY"])
    try:
        sealed(spark, filled, tagmac.KeyRef.env("TAGMAC_TEST_KEY_OF_ONE"), where)
    except tagmac.KeyUnavailable as error:
        assert "TAGMAC_TEST_KEY_OF_ONE" in str(error) and "\n" not in str(error)
        assert "root" not in files(where)


def test_a_key_that_no_worker_finds(spark, filled, where, monkeypatch):
    monkeypatch.setenv("TAGMAC_TEST_KEY_OF_NONE", os.environ["TAGMAC_TEST_KEY"])
    with pytest.raises(tagmac.KeyUnavailable, match="TAGMAC_TEST_KEY_OF_NONE"):
        seal(spark, filled, tagmac.KeyRef.env("TAGMAC_TEST_KEY_OF_NONE"), str(where))
    assert files(where) == {}


def test_a_worker_with_another_key_is_refused(spark, filled, where, monkeypatch):
    # All workers have another key under this name.
    monkeypatch.setenv("TAGMAC_TEST_OTHER_KEY", os.environ["TAGMAC_TEST_KEY"])
    with pytest.raises(
        tagmac.WrongKey, match=f"expected a key with id {KEY.id}, found one with id {OTHER.id}"
    ):
        seal(spark, filled, tagmac.KeyRef.env("TAGMAC_TEST_OTHER_KEY"), str(where))
    assert files(where) == {}
