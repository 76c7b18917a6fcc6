"""Google Cloud Storage and Azure: the functions for S3 accept their URLs."""

import os
import subprocess
from dataclasses import replace

import pytest
from hostile import BUCKET, etag
from manifests import KEY, OTHER, check, data, files

import tagmac
from tagmac import _tagmac
from tagmac.s3 import ObjectChanged, ObjectDenied, ObjectError, open_verified, upload_file
from tagmac.s3.reading import read_range
from tagmac.s3.stored import Stored
from tagmac.s3.url import Url
from tagmac.spark import PlaceError, audit, seal, tag_objects
from tagmac.spark.buckets import NameRange, list_range, split_names
from tagmac.spark.places import MAX_REPLACED_BYTES, place
from tagmac.spark.sealing import check_apart
from tagmac.spark.tasks import read_item

MIB = 1 << 20
OBJECTS = {"a": b"", "b/c": data(1000), "big": data(3 * MIB + 77), "ä tab\t%41+?": data(17)}


@pytest.fixture(params=["gs", "az"])
def store(request, stores):
    """A store with an empty bucket."""
    made = stores[request.param]
    yield made
    made.objects.clear()
    made.on.clear()
    made.log.clear()


@pytest.fixture
def url(store):
    return f"{store.kind.name}://{BUCKET}"


@pytest.fixture
def ref(tmp_path):
    KEY.save(tmp_path / "key")
    return tagmac.KeyRef.file(tmp_path / "key")


def fill(store, objects, below="p/"):
    store.objects |= {below + name: body for name, body in objects.items()}


def test_urls_keep_their_store():
    for text in ("s3://b/k/ey", "gs://b/k", "az://b/"):
        made = Url.parse(text)
        assert str(made) == text and Url.below(made.root, made.key) == made
    assert Url.parse("s3a://b/k") == Url("b", "k") == Url.below("b", "k")
    assert Url.parse("gs://b/k") != Url("b", "k")
    with pytest.raises(ValueError, match="gs:///k: not a URL of the form s3://"):
        Url.parse("gs:///k")


def test_a_bucket_is_sealed_and_audited(spark, store, url, ref, tmp_path):
    fill(store, OBJECTS)
    made = seal(spark, f"{url}/p", ref, f"{url}/m", range_bytes=MIB)
    assert (made.objects, made.shards) == (len(OBJECTS), 1)
    manifest = {name: body for name, body in store.objects.items() if name.startswith("m/")}
    assert len(manifest) == 2, "the listing is removed"
    for name, body in manifest.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(body)
    check(KEY, tmp_path / "m", OBJECTS)
    report = audit(spark, f"{url}/m", f"{url}/p", ref, range_bytes=MIB)
    assert report.ok and report.unchanged == len(OBJECTS)
    fill(store, {"a": b"new", "big": data(3 * MIB + 76) + b"?", "moved": data(1000)})
    del store.objects["p/b/c"]
    report = audit(spark, f"{url}/m", f"{url}/p", ref, work=str(tmp_path / "work"))
    found = {(each.status, each.name) for each in report.differences}
    assert found == {("changed", b"a"), ("changed", b"big"), ("renamed", b"moved")}
    with pytest.raises(PlaceError, match=f"{url}/m/root: a manifest exists"):
        seal(spark, f"{url}/p", ref, f"{url}/m")
    seal(spark, f"{url}/p", ref, f"{url}/m", replace_manifest=True)
    assert audit(spark, f"{url}/m", f"{url}/p", ref).ok
    assert len(files(tmp_path / "work")) == 0


def test_the_manifest_may_be_in_another_store(spark, store, url, s3, bucket, ref):
    fill(store, OBJECTS)
    seal(spark, f"{url}/p", ref, f"s3://{bucket}/m")
    assert audit(spark, f"s3://{bucket}/m", f"{url}/p", ref).ok


def test_objects_are_tagged(spark, store, url, s3, bucket, ref):
    fill(store, OBJECTS)
    s3.put_object(Bucket=bucket, Key="x", Body=b"of S3")
    rows = tag_objects(spark, f"{url}/p", ref, range_bytes=MIB).collect()
    found = {row.name: bytes(row.tag) for row in rows}
    assert found == {f"{url}/p/{name}": KEY.tag(body) for name, body in OBJECTS.items()}
    names = [f"{url}/p/big", f"{url}/none", f"s3://{bucket}/x"]
    frame = spark.createDataFrame([(name,) for name in names], "name string")
    rows = {row.name: row for row in tag_objects(spark, frame, ref, errors="column").collect()}
    assert bytes(rows[names[0]].tag) == KEY.tag(OBJECTS["big"])
    assert rows[names[1]].error == f"{url}/none: no such object"
    assert bytes(rows[names[2]].tag) == KEY.tag(b"of S3")


def put_tagged(store, key, body, tag=None, made_by=KEY):
    """Writes an object with its tag in the metadata."""
    fields = Stored(made_by.tag(body) if tag is None else tag, None).fields(made_by)
    prefix, hyphen = ("x-goog-meta-", "-") if store.kind.name == "gs" else ("x-ms-meta-", "_")
    headers = {prefix + name.replace("-", hyphen): value for name, value in fields.items()}
    store.objects[key] = body
    store.on["HEAD"] = lambda _, answer: replace(answer, headers=answer.headers | headers)


@pytest.mark.parametrize("size", [0, 5, 9 * MIB])
def test_a_verified_object_is_read(store, url, size):
    body = data(size)
    put_tagged(store, "o", body)
    for in_memory in (64 << 20, 1):
        with open_verified(None, f"{url}/o", KEY, in_memory=in_memory) as file:
            assert file.read() == body
    put_tagged(store, "o", body, tag=bytes(16))
    with pytest.raises(tagmac.InvalidTag):
        open_verified(None, f"{url}/o", KEY)
    with pytest.raises(ObjectError, match="tagmac-key-id"):
        open_verified(None, f"{url}/o", OTHER)
    with pytest.raises(FileNotFoundError, match=f"{url}/none: no such object"):
        open_verified(None, f"{url}/none", KEY)
    store.on.clear()
    with pytest.raises(tagmac.s3.TagMissing):
        open_verified(None, f"{url}/o", KEY)


def read(url, body, size=None):
    found = bytearray()
    target, tag = Url.parse(f"{url}/o"), etag(body).strip('"')
    size = len(body) if size is None else size
    read_range(None, target, tag, size, 0, size, found.extend)
    return bytes(found)


def test_each_request_is_bound_to_a_version(store, url):
    body = store.objects["o"] = data(20 * MIB)
    assert read(url, body) == body
    changed = lambda request, answer: (  # noqa: E731
        answer if request.number < 2 else replace(answer, status=412, body=b"")
    )
    store.log.clear()
    store.on["GET"] = changed
    with pytest.raises(ObjectChanged, match=f"{url}/o: it changed after it was listed"):
        read(url, body)
    store.on.clear()
    with pytest.raises(ObjectChanged, match="it changed"):
        read(url, b"other", len(body))
    del store.objects["o"]
    with pytest.raises(ObjectChanged, match="it was deleted after it was listed"):
        read(url, body)
    store.on["GET"] = lambda _, answer: replace(answer, status=403, body=b"")
    with pytest.raises(ObjectDenied, match="the store denies access"):
        read(url, body)
    with pytest.raises(ObjectError, match="no ETag"):
        read_range(None, Url.parse(f"{url}/o"), "", 1, 0, 1, bytes)
    with pytest.raises(ObjectError, match="expected a key without"):
        read_range(None, Url.parse(f"{url}/a/../o"), "e", 1, 0, 1, bytes)


def test_a_listing_is_one_range(store, url):
    fill(store, {f"{number:03}": b"x" for number in range(50)})
    fill(store, {"": b""})
    store.page_size = 7
    prefix = Url.parse_prefix(f"{url}/p")
    assert split_names(None, prefix, 16) == [NameRange("", None)]
    found = list(list_range(None, prefix, NameRange("", None)))
    assert [item.name.decode() for item in found] == [f"p/{number:03}" for number in range(50)]
    assert {item.bucket for item in found} == {url}
    assert read_item(KEY, None, replace(found[0], end=1)).tag == KEY.tag(b"x")
    with pytest.raises(ObjectError, match="more than 49 objects"):
        list(list_range(None, prefix, NameRange("", None), max_objects=49))
    store.page_size = 1000
    store.on["LIST"] = lambda _, answer: replace(answer, status=403, body=b"")
    with pytest.raises(ObjectError, match=f"{url}/p/: cannot list it: the store denies access"):
        list(list_range(None, prefix, NameRange("", None)))


def test_files_of_a_manifest(store, url):
    where = place(f"{url}/m")
    assert where.read("root", 1) is None and not where.has("root")
    where.write("root", b"one", new=True)
    assert where.read("root", 3) == b"one" and where.has("root")
    with pytest.raises(PlaceError, match=f"{url}/m/root: .*exists"):
        where.write("root", b"two", new=True)
    with pytest.raises(PlaceError, match="longer than 2 bytes"):
        where.read("root", 2)
    where.replace("root", b"two", b"one")
    with pytest.raises(PlaceError, match="another seal ran"):
        where.replace("root", b"three", b"one")
    assert where.read("root", MAX_REPLACED_BYTES) == b"two"
    for name in ("work/a", "work/b", "work2"):
        where.write(name, b"x")
    where.remove_folder("work")
    where.remove("none")
    assert sorted(store.objects) == ["m/root", "m/work2"]
    store.on["LIST"] = lambda _, answer: replace(answer, status=403, body=b"")
    where.remove_folder("work2")
    with pytest.raises(ValueError, match="the manifest must be outside of"):
        check_apart(Url.parse_prefix(url), where)
    check_apart(Url.parse_prefix(f"s3://{BUCKET}"), where)


def test_uploads_are_for_s3(url, tmp_path):
    with pytest.raises(ValueError, match=f"{url}/o: uploads are for s3:// only"):
        upload_file(None, tmp_path / "none", f"{url}/o", KEY)


def test_a_build_without_the_stores(monkeypatch, url):
    monkeypatch.delattr(_tagmac, "Store")
    with pytest.raises(ValueError, match="built without Google Cloud Storage and Azure"):
        place(f"{url}/m").has("root")


def test_a_missing_setting_is_named(store, url):
    name = store.kind.endpoint
    without = {key: value for key, value in os.environ.items() if not key.startswith(("GOOGLE_", "AZURE_"))}
    script = f"from tagmac.spark.places import place; place('{url}/m').has('root')"
    ran = subprocess.run(
        [os.sys.executable, "-c", script], env=without | {name: "ftp://x"}, capture_output=True, text=True
    )
    assert ran.returncode == 1 and ran.stderr.count("Error: ") == 1, ran.stderr
