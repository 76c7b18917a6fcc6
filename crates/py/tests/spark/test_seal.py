"""Manifests and audits on the cluster, without faults."""

import hmac
import os
import re
import shutil
import subprocess
import sys

import pytest
from manifests import KEY, OTHER, check, data, files, fill
from proxy import Rule

import tagmac
from tagmac import _tagmac
from tagmac.s3 import ObjectError
from tagmac.spark import Difference, ManifestDamaged, PlaceError, audit, seal, tag_objects
from tagmac.spark.cluster import JobFailed
from tagmac.spark.command import main
from tagmac.spark.places import Folder

UNIT = 1 << 20
OBJECTS = {
    "p/": b"", "p/a": b"", "p/a-b": b"1", "p/b/c": data(1000), "p/big": data(5 * UNIT + 77),
    "p/edge": data(2 * UNIT), "p/ä tab\t%41+?": data(17), "p/z/": b"", "p2/not": b"other", "q": b"other",
}  # fmt: skip
KEY_BYTES = bytes(range(100, 116))
BELOW = {name[2:]: body for name, body in OBJECTS.items() if name.startswith("p/") and name != "p/"}


@pytest.fixture
def ref(tmp_path):
    KEY.save(tmp_path / "key")
    return tagmac.KeyRef.file(tmp_path / "key")


@pytest.mark.parametrize(
    "alg", ["PMAC-AES128", "UMAC-64", pytest.param("CMAC-AES128", marks=pytest.mark.slow)]
)
def test_a_manifest_says_what_is_there(spark, s3, bucket, tmp_path, alg):
    fill(s3, bucket, OBJECTS)
    key = tagmac.Key.generate(alg)
    key.save(tmp_path / "key")
    ref, where = tagmac.KeyRef.file(tmp_path / "key"), tmp_path / "manifest"
    made = seal(spark, f"s3a://{bucket}/p", ref, str(where), range_bytes=UNIT)
    assert (made.objects, made.bytes, made.shards) == (len(BELOW), sum(map(len, BELOW.values())), 1)
    check(key, where, BELOW)
    # Only the manifest is left.
    assert len(files(where)) == 2
    report = audit(spark, str(where), f"s3://{bucket}/p/", ref, range_bytes=UNIT)
    assert report.ok and report.unchanged == len(BELOW)
    # For any ranges.
    report = audit(spark, str(where), f"s3://{bucket}/p/", ref)
    assert report.ok and report.is_complete and report.differences == ()


def without_days(texts):
    """Returns the contents of files without days, and without seals, which depend on them."""
    return [re.sub(rb"\d{4}-\d\d-\d\d|\b[0-9a-f]{64}\b", b"", text) for text in texts]


def test_the_same_bucket_has_the_same_manifest(spark, s3, bucket, tmp_path, ref):
    fill(s3, bucket, OBJECTS)
    seal(spark, f"s3://{bucket}/p", ref, str(tmp_path / "a"), range_bytes=UNIT)
    seal(spark, f"s3://{bucket}/p", ref, str(tmp_path / "b"), streams=1)
    [a, b] = [without_days(dict(sorted(files(tmp_path / name).items())).values()) for name in "ab"]
    assert a == b
    fill(s3, bucket, {f"m/{name}": b"x" for name in "ab"})
    made = seal(spark, f"s3://{bucket}/p", ref, f"s3://{bucket}/manifests/p")
    found = s3.list_objects_v2(Bucket=bucket, Prefix="manifests/")["Contents"]
    assert len(found) == made.shards + 1
    texts = [s3.get_object(Bucket=bucket, Key=each["Key"])["Body"].read() for each in found]
    assert without_days(texts) == a
    assert audit(spark, f"s3://{bucket}/manifests/p", f"s3://{bucket}/p", ref).ok


def test_a_manifest_continues_a_chain(spark, s3, bucket, tmp_path, ref):
    fill(s3, bucket, {"p/a": b"x"})
    where, prefix = tmp_path / "manifest", f"s3://{bucket}/p"
    sequence = lambda: (where / "root").read_text().splitlines()[5].split(" ")[1]  # noqa: E731
    for number in "12":
        seal(spark, prefix, ref, str(where), replace_manifest=True)
        assert sequence() == number
    _, first = (where / "root").read_bytes().split(b"seal: ")
    (where / "root").write_bytes((where / "root").read_bytes().replace(first, b"0" * 64 + b"\n"))
    with pytest.raises(tagmac.InvalidTag, match="the seal does not match"):
        seal(spark, prefix, ref, str(where), replace_manifest=True)
    seal(spark, prefix, ref, str(where), replace_manifest=True, new_chain=True)
    assert sequence() == "1" and audit(spark, str(where), prefix, ref).ok


def hkdf(salt, key, info):
    """Returns the first 32 bytes of HKDF-SHA256."""
    return hmac.digest(hmac.digest(salt, key, "sha256"), info + b"\1", "sha256")


def _rewrite(where, change):
    """Seals the root of a folder again, with other lines above its records."""
    text = (where / "root").read_bytes().split(b"seal: ")[0]
    changed = change(text)
    assert changed != text
    raw = hkdf(b"tagmac manifest key 2", KEY_BYTES, b"PMAC-AES128")
    seal = hmac.digest(raw, changed, "sha256").hex().encode()
    (where / "root").write_bytes(changed + b"seal: " + seal + b"\n")


def test_filters_and_lists_of_the_command(spark, s3, bucket, tmp_path, ref):
    fill(s3, bucket, {"p/a": b"x", "p/b/c": b"y"})
    where, prefix = tmp_path / "manifest", f"s3://{bucket}/p"
    seal(spark, prefix, ref, str(where))
    fill(s3, bucket, {"p/new": b"z", "p/b/x.tmp": b"z", "p/cache/d": b"z"})
    _rewrite(where, lambda text: text.replace(b"filters: 0\n", b"filters: 2\n*.tmp\ncache/\n"))
    assert audit(spark, str(where), prefix, ref).differences == (Difference("new", b"new"),)
    _rewrite(where, lambda text: text.replace(b"options: none", b"options: listed"))
    assert audit(spark, str(where), prefix, ref).ok


def test_archived_objects_of_the_command_are_counted(spark, s3, bucket, tmp_path, ref):
    fill(s3, bucket, {"p/a": b"x", "p/b": b"y"})
    where, prefix = tmp_path / "manifest", f"s3://{bucket}/p"
    seal(spark, prefix, ref, str(where))
    (shard,) = where.glob("shard-*")
    lines = shard.read_bytes().split(b"seal: ")[0].split(b"\n")
    size, nonce, _, _, stamp, name = lines[5].split(b"\t")
    lines[5] = b"\t".join([size, nonce, b"-", b"-", stamp, name])
    raw = hkdf(b"tagmac manifest key 2", KEY_BYTES, b"PMAC-AES128")
    text = b"\n".join(lines)
    seal_of = hmac.digest(raw, text, "sha256").hex()
    shard.unlink()
    new = text + f"seal: {seal_of}\n".encode()
    (where / f"shard-00000000-{seal_of[:16]}").write_bytes(new)
    length, old = len(new), shard.name

    def change(root):
        record = next(line for line in root.split(b"\n") if b"\t" in line)
        columns = record.split(b"\t")
        assert old.endswith(columns[4][:16].decode())
        columns[1], columns[4] = str(length).encode(), seal_of.encode()
        return root.replace(record, b"\t".join(columns))

    _rewrite(where, change)
    report = audit(spark, str(where), prefix, ref)
    assert report.ok and (report.unchanged, report.not_read) == (1, 1)
    s3.delete_object(Bucket=bucket, Key="p/a")
    report = audit(spark, str(where), prefix, ref)
    assert report.differences == (Difference("missing", b"a"),) and report.not_read == 0


def test_a_folder_that_workers_do_not_share_is_refused(
    spark, s3, bucket, tmp_path, ref, monkeypatch
):
    fill(s3, bucket, OBJECTS)
    write, where = Folder.write, tmp_path / "manifest"
    # The driver has a different folder with this name.
    own = lambda self, *some, **more: write(Folder(f"{tmp_path}/own"), *some, **more)  # noqa: E731
    monkeypatch.setattr(Folder, "write", own)
    with pytest.raises(RuntimeError, match="use a place that the driver and all workers share"):
        seal(spark, f"s3://{bucket}/p", ref, str(where))
    assert not where.exists() or files(where) == {}


def test_of_two_seals_at_once_one_is_refused(spark, proxy, s3, bucket, tmp_path, ref):
    where, other = tmp_path / "manifest", tmp_path / "other"
    for place in (where, other):
        fill(s3, bucket, OBJECTS | {"p/a": str(place).encode()})
        seal(spark, f"s3://{bucket}/p", ref, str(place))
    fill(s3, bucket, OBJECTS | {"p/a": b"?"})
    # Like another seal that ends while this one reads.
    ends = lambda: shutil.copytree(other, where, dirs_exist_ok=True)  # noqa: E731
    proxy.rules.append(Rule("call", method="GET", path="/p/edge$", call=ends))
    with pytest.raises(PlaceError, match="root: .*: another seal ran at the same time"):
        seal(spark, f"s3://{bucket}/p", ref, str(where), replace_manifest=True)
    found = files(where)
    assert all(found[name] == text for name, text in files(other).items())


def test_what_changed_is_found(spark, s3, bucket, tmp_path, ref):
    fill(s3, bucket, OBJECTS)
    where = str(tmp_path / "manifest")
    seal(spark, f"s3://{bucket}/p", ref, where, range_bytes=UNIT)
    flipped = bytearray(OBJECTS["p/big"])
    flipped[3 * UNIT] ^= 1
    fill(
        s3,
        bucket,
        {"p/big": bytes(flipped), "p/a-b": b"12", "p/moved": OBJECTS["p/edge"], "p/new": b"?"},
    )
    for name in ("p/edge", "p/b/c"):
        s3.delete_object(Bucket=bucket, Key=name)
    report = audit(spark, where, f"s3://{bucket}/p", ref, range_bytes=UNIT)
    assert report.differences == (
        Difference("changed", b"a-b", "size: expected 1, found 2"),
        Difference("missing", b"b/c"),
        # The report must not contain the current tag: it is valid for bytes that an attacker may
        # have chosen.
        Difference("changed", b"big", "content"),
        Difference("renamed", b"moved", before=b"edge"),
        Difference("new", b"new"),
    )
    counts = {"changed": 2, "missing": 1, "new": 1, "renamed": 1, "unreadable": 0}
    assert (report.counts, report.unchanged) == (counts, len(BELOW) - 4)
    assert not report and not report.ok
    assert KEY.tag(bytes(flipped)).hex() not in repr(report)
    few = audit(spark, where, f"s3://{bucket}/p", ref, max_differences=2)
    assert len(few.differences) == 2 and not few.is_complete
    # The kept differences contain no pair, so none is renamed.
    assert sum(few.counts.values()) == 6


@pytest.mark.parametrize("alg", ["UMAC-64", pytest.param("HMAC-SHA256", marks=pytest.mark.slow)])
def test_renamed_objects_under_nonces_and_without_parts(spark, s3, bucket, tmp_path, alg):
    key = tagmac.Key.generate(alg)
    key.save(tmp_path / "key")
    ref, where = tagmac.KeyRef.file(tmp_path / "key"), str(tmp_path / "manifest")
    fill(s3, bucket, {"p/a": data(3000), "p/b": data(3000, 1), "p/c": data(3000, 2), "p/d": b""})
    seal(spark, f"s3://{bucket}/p", ref, where, range_bytes=2048)
    for old, new in [("p/a", "p/y"), ("p/b", "p/x")]:
        s3.copy_object(Bucket=bucket, Key=new, CopySource={"Bucket": bucket, "Key": old})
        s3.delete_object(Bucket=bucket, Key=old)
    fill(s3, bucket, {"p/z": data(3000, 3)})
    report = audit(spark, where, f"s3://{bucket}/p", ref, range_bytes=2048)
    assert report.differences == (
        Difference("renamed", b"x", before=b"b"), Difference("renamed", b"y", before=b"a"), Difference("new", b"z"),
    )  # fmt: skip


@pytest.mark.parametrize("alg", ["LIGHTMAC-AES128-S32", "UMAC99-STD-60"])
def test_ranges_fit_the_blocks_of_any_mac(spark, s3, bucket, tmp_path, alg, monkeypatch):
    # The default range is not a multiple of LightMAC's 12 bytes, so it is rounded; here it is also
    # small.
    monkeypatch.setattr("tagmac.spark.keyed.RANGE_BYTES", 10_000)
    key = tagmac.Key.generate(alg)
    key.save(tmp_path / "key")
    ref, where = tagmac.KeyRef.file(tmp_path / "key"), tmp_path / "manifest"
    objects = {"a": data(50_000), "b": data(9_999), "c": b""}
    fill(s3, bucket, {f"p/{name}": body for name, body in objects.items()})
    seal(spark, f"s3://{bucket}/p", ref, str(where))
    check(key, where, objects)
    assert audit(spark, str(where), f"s3://{bucket}/p", ref).ok


def test_a_key_in_sparks_properties_is_refused(spark, bucket, tmp_path):
    spark.conf.set("spark.executorEnv.TAGMAC_SHOWN", "anything")
    try:
        for call in (
            lambda ref: seal(spark, f"s3://{bucket}/p", ref, str(tmp_path / "m")),
            lambda ref: audit(spark, str(tmp_path / "m"), f"s3://{bucket}/p", ref),
        ):
            with pytest.raises(ValueError, match="event logs and UI show this property"):
                call(tagmac.KeyRef.env("TAGMAC_SHOWN"))
    finally:
        spark.conf.unset("spark.executorEnv.TAGMAC_SHOWN")


def test_an_empty_prefix(spark, s3, bucket, tmp_path, ref):
    where = str(tmp_path / "manifest")
    fill(s3, bucket, {"p/": b"", "q": b"y"})
    # A mistyped prefix would look the same.
    with pytest.raises(
        ObjectError, match=f"s3://{bucket}/p/: no objects below it"
    ):
        seal(spark, f"s3://{bucket}/p", ref, where)
    assert files(tmp_path / "manifest") == {}
    # An empty manifest, as other programs may write it.
    (tmp_path / "manifest").mkdir(exist_ok=True)
    (tmp_path / "manifest/root").write_bytes(_tagmac.root_seal(KEY, []))
    assert audit(spark, where, f"s3://{bucket}/p", ref).ok
    fill(s3, bucket, {"p/a": b"x"})
    assert audit(spark, where, f"s3://{bucket}/p", ref).differences == (Difference("new", b"a"),)
    seal(spark, f"s3://{bucket}/p", ref, where, replace_manifest=True)
    s3.delete_object(Bucket=bucket, Key="p/a")
    assert audit(spark, where, f"s3://{bucket}/p", ref).differences == (
        Difference("missing", b"a"),
    )


def test_a_manifest_is_replaced_only_if_asked(spark, s3, bucket, tmp_path, ref):
    fill(s3, bucket, {"p/a": b"x"})
    where = tmp_path / "manifest"
    seal(spark, f"s3://{bucket}/p", ref, str(where))
    before = files(where)
    with pytest.raises(PlaceError, match="root: a manifest exists"):
        seal(spark, f"s3://{bucket}/p", ref, str(where))
    OTHER.save(tmp_path / "other")
    with pytest.raises(tagmac.WrongKey):
        seal(spark, f"s3://{bucket}/p", tagmac.KeyRef.file(tmp_path / "other"), str(where),
             replace_manifest=True)  # fmt: skip
    fill(s3, bucket, {"p/a": b"y"})
    seal(spark, f"s3://{bucket}/p", ref, str(where), replace_manifest=True)
    after = files(where)
    assert len(after) == 2 and set(after) & set(before) == {"root"}
    check(KEY, where, {"a": b"y"})


def test_a_damaged_manifest_is_refused(spark, s3, bucket, tmp_path, ref):
    fill(s3, bucket, {"p/a": b"x"})
    where, prefix = tmp_path / "manifest", f"s3://{bucket}/p"
    with pytest.raises(PlaceError, match="root: no manifest there"):
        audit(spark, str(where), prefix, ref)
    seal(spark, prefix, ref, str(where))
    good = files(where)
    shard = next(name for name in good if name != "root")
    for name in good:
        for bad in (
            b"",
            good[name][:-5],
            good[name].replace(b"\t1\t", b"\t2\t").replace(b"1\n", b"2\n"),
        ):
            (where / name).write_bytes(bad)
            with pytest.raises(ManifestDamaged, match=name):
                audit(spark, str(where), prefix, ref)
        (where / name).write_bytes(good[name])
    (where / shard).unlink()
    with pytest.raises(ManifestDamaged, match="the manifest's shard is missing"):
        audit(spark, str(where), prefix, ref)
    tagmac.Key(bytes(16)).save(tmp_path / "other")
    with pytest.raises(tagmac.WrongKey, match="the manifest is sealed under another key"):
        audit(spark, str(where), prefix, tagmac.KeyRef.file(tmp_path / "other"))


def test_a_listing_has_a_limit(session, spark, s3, bucket, tmp_path, ref, capfd, monkeypatch):
    fill(s3, bucket, OBJECTS)
    where, prefix, count = str(tmp_path / "manifest"), f"s3://{bucket}/p", len(BELOW)
    line = f"s3://{bucket}/p/: the listing has more than {count - 1} objects"
    with pytest.raises((ObjectError, JobFailed), match=line):
        seal(spark, prefix, ref, where, max_objects=count - 1)
    assert files(tmp_path / "manifest") == {}
    seal(spark, prefix, ref, where, max_objects=count)
    before = files(tmp_path / "manifest")
    with pytest.raises((ObjectError, JobFailed), match=line):
        audit(spark, where, prefix, ref, max_objects=count - 1)
    assert audit(spark, where, prefix, ref, max_objects=count).ok
    assert files(tmp_path / "manifest") == before
    with pytest.raises(Exception, match=line):
        tag_objects(spark, prefix, ref, max_objects=count - 1).collect()
    assert len(tag_objects(spark, prefix, ref, max_objects=count).collect()) == count
    for call in (seal, audit):
        with pytest.raises(ValueError, match="max_objects: expected at least 1, found 0"):
            call(spark, prefix, ref, where, max_objects=0)
    monkeypatch.setattr(type(session), "stop", lambda _: None)
    command = ["audit", where, prefix, "-k", str(tmp_path / "key"), "--max-objects"]
    assert main([*command, str(count - 1)]) == 4
    assert line in capfd.readouterr().err
    assert main([*command, str(count)]) == 0


def test_a_store_that_names_other_files_loses_none(spark, proxy, s3, bucket, ref, capfd):
    """The listing of files to remove contains the manifest's root. The result must not depend on
    it.
    """
    fill(s3, bucket, OBJECTS)
    where, prefix = f"s3://{bucket}/m", f"s3://{bucket}/p"
    seal(spark, prefix, ref, where)
    page = (
        '<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated><Contents>'
        "<Key>m/root</Key><Size>1</Size><ETag>e</ETag></Contents></ListBucketResult>"
    )
    listed = Rule("status", method="GET", path="prefix=m.*tagmac-list", times=None, status=200, body=page.encode())
    proxy.rules.append(listed)
    fill(s3, bucket, {"p/a": b"new"})
    warning = re.compile(
        r"tagmac: warning: s3://.*: expected names below .*, found 'm/root': the listing's files were not deleted\n"
    )
    report = audit(spark, where, prefix, ref)
    assert listed.met and [(each.status, each.name) for each in report.differences] == [("changed", b"a")]
    assert len(warning.findall(capfd.readouterr().err)) == 1
    seal(spark, prefix, ref, where, replace_manifest=True)
    assert len(warning.findall(capfd.readouterr().err)) == 1
    # The first error is reported.
    with pytest.raises(ObjectError, match="no objects below it"):
        seal(spark, f"s3://{bucket}/none", ref, f"s3://{bucket}/m3")
    proxy.rules.clear()
    assert audit(spark, where, prefix, ref).ok


def test_the_command(session, proxy, s3, bucket, tmp_path, ref, capfd, monkeypatch):
    # The command ends its session, and this one is shared.
    monkeypatch.setattr(type(session), "stop", lambda _: None)
    fill(s3, bucket, OBJECTS)
    key, where, prefix = str(tmp_path / "key"), str(tmp_path / "manifest"), f"s3a://{bucket}/p"
    assert main(["seal", prefix, "-o", where, "-k", key, "--progress", "never"]) == 0
    assert capfd.readouterr().err.endswith(f"in 1 shards: {where}\n")
    assert main(["seal", prefix, "-o", where, "-k", key]) == 4
    assert main(["audit", where, prefix, "-k", key]) == 0
    assert main(["audit", where, prefix, "-k", str(tmp_path / "none")]) == 3
    assert main(["audit", where, "http://x", "-k", key]) == 2
    # An error is never exit status 1, whatever fails.
    monkeypatch.setattr("tagmac.spark.command.audit", lambda *_, **__: 1 // 0)
    assert main(["audit", where, prefix, "-k", key]) == 4
    assert "internal error: ZeroDivisionError" in capfd.readouterr().err
    monkeypatch.setattr("tagmac.spark.command.audit", audit)
    assert main(["audit", "s3://tagmac-no-such/m", prefix, "-k", key]) == 4
    assert main(["seal", f"s3://{bucket}/p", "-o", f"s3://{bucket}/p/m", "-k", key]) == 2
    capfd.readouterr()
    fill(s3, bucket, {"p/a": b"new"})
    assert main(["audit", where, prefix, "-k", key, "--progress", "always"]) == 1
    out, err = capfd.readouterr()
    assert out == "a: changed: size: expected 0, found 3\n"
    assert f"tagmac: {len(BELOW) - 1} unchanged, 1 changed, 0 new, 0 missing" in err
    assert main(["audit", where, prefix, "-k", key, "--json"]) == 1
    assert '"path": "a", "kind": "object", "status": "changed"' in capfd.readouterr().out
    (tmp_path / "manifest/root").write_bytes(b"?")
    assert main(["audit", where, prefix, "-k", key]) == 1


@pytest.mark.slow
def test_the_command_by_itself_and_by_spark_submit(cluster, proxy, s3, bucket, tmp_path, ref):
    fill(s3, bucket, OBJECTS)
    run = lambda *command: subprocess.run(  # noqa: E731
        command, capture_output=True, text=True, timeout=1200, check=False,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
    )  # fmt: skip
    module = [sys.executable, "-m", "tagmac.spark"]
    where, key = str(tmp_path / "manifest"), str(tmp_path / "key")
    assert run(*module, "--help").stdout.startswith("usage: tagmac.spark")
    assert run(*module, "seal").returncode == 2
    done = run(*module, "seal", f"s3a://{bucket}/p", "-o", where, "-k", key, "--master", "local[2]")
    assert done.returncode == 0, done.stderr
    check(KEY, tmp_path / "manifest", BELOW)
    script = run(*module, "--script").stdout.strip()
    submit = [sys.executable.rpartition("/")[0] + "/spark-submit", "--master", "local[2]", script]
    done = run(*submit, "audit", where, f"s3a://{bucket}/p", "-k", key)
    assert done.returncode == 0, done.stderr
    # It prints both of a Python program's streams on its standard output.
    assert f"tagmac: {len(BELOW)} unchanged, 0 changed" in done.stdout
    fill(s3, bucket, {"p/more": b"x"})
    done = run(*submit, "audit", where, f"s3a://{bucket}/p", "-k", key)
    assert done.returncode == 1 and done.stdout.startswith("more: new\n"), done.stderr
