"""Places of a manifest: a folder, or a prefix of a bucket."""

from itertools import count

import pytest
from botocore.exceptions import ClientError
from proxy import Rule
from test_listings import Names

from tagmac.s3.url import Url
from tagmac.spark import places
from tagmac.spark.places import PlaceError, place
from tagmac.spark.sealing import check_apart


def test_a_folder_of_objects_loses_what_it_has_alone(monkeypatch):
    """Only files of the folder are removed, whatever the store lists."""

    class Store(Names):
        def __init__(self, answers):
            self.answers, self.deleted = answers, []

        def paginate(self, **_):
            return self.answers

        def delete_object(self, Bucket, Key):
            self.deleted.append((Bucket, Key))

    def removed(answers):
        store = Store(answers)
        monkeypatch.setattr(places, "client", lambda: store)
        try:
            place("s3://b/m").remove_folder("work")
        finally:
            deleted[:] = store.deleted

    def page(*keys):
        return {"Contents": [{"Key": key} for key in keys]}

    deleted = []
    removed([page("m/work/1"), page("m/work/2")])
    assert deleted == [("b", "m/work/1"), ("b", "m/work/2")]
    # Directory buckets list names in any order.
    removed([page("m/work/2", "m/work/1"), page("m/work/0")])
    assert deleted == [("b", "m/work/2"), ("b", "m/work/1"), ("b", "m/work/0")]
    for other in ("m/root", "m/work", "m/work2/1", "", "x", "m/work/../root", "m/work/.."):
        with pytest.raises(PlaceError, match="s3://b/m/work/: expected names below s3://b/m/work/"):
            removed([page("m/work/1", other, "m/work/2")])
        assert deleted == [("b", "m/work/1")]
    with pytest.raises(PlaceError, match="expected names below s3://b/m/work/, found ''"):
        removed([{"Contents": [{}]}])
    assert deleted == []
    # An endless listing.
    endless = (page(f"m/work/{n:09}") for n in count())
    monkeypatch.setattr(places, "MAX_REMOVED", 100)
    with pytest.raises(PlaceError, match="more than 100 files in the folder"):
        removed(endless)
    # Files that it may not list or delete stay.
    def denied(**_):
        raise ClientError({"Error": {"Code": "AccessDenied"}}, "ListObjectsV2")

    store = Store([])
    store.paginate = denied
    monkeypatch.setattr(places, "client", lambda: store)
    place("s3://b/m").remove_folder("work")


def test_a_folder_is_a_place(tmp_path):
    where = place(str(tmp_path / "new"))
    assert where.read("root", 10) is None
    where.write("root", b"one", new=True)
    with pytest.raises(PlaceError, match="root: a manifest exists"):
        where.write("root", b"two", new=True)
    assert where.read("root", 3) == b"one"
    where.write("root", b"two!")
    with pytest.raises(PlaceError, match="root: longer than 3 bytes"):
        where.read("root", 3)
    where.write("work/a", b"")
    where.remove("work/a")
    where.remove("work/a")
    where.write("work/b", b"")
    where.remove_folder("work")
    where.remove_folder("work")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["root"]
    (tmp_path / "new/folder").mkdir()
    with pytest.raises(PlaceError, match="folder: not a regular file"):
        where.read("folder", 10)


def test_a_prefix_is_a_place(s3, bucket):
    where = place(f"s3a://{bucket}/manifest")
    assert where.read("root", 10) is None
    where.write("root", b"one", new=True)
    with pytest.raises(
        PlaceError, match=f"s3://{bucket}/manifest/root: a manifest exists"
    ):
        where.write("root", b"two", new=True)
    assert where.read("root", 3) == b"one"
    with pytest.raises(PlaceError, match="longer than 2 bytes"):
        where.read("root", 2)
    where.write("root", b"two")
    where.remove("root")
    assert where.read("root", 3) is None
    for name in ("work/a", "work/b", "work2"):
        where.write(name, b"x")
    where.remove_folder("work")
    left = s3.list_objects_v2(Bucket=bucket, Prefix="manifest/")["Contents"]
    assert [entry["Key"] for entry in left] == ["manifest/work2"]
    with pytest.raises(PlaceError, match="s3://tagmac-no-such/root: .*NoSuchBucket"):
        place("s3://tagmac-no-such").write("root", b"")
    with pytest.raises(ValueError, match="ftp://b/p: neither s3://, gs:// or az://"):
        place("ftp://b/p")


MEANWHILE = "root: the manifest changed during the run: another seal ran at the same time"


@pytest.mark.parametrize("kind", ["folder", "prefix"])
def test_a_file_is_replaced_only_if_it_is_the_one_that_was_seen(bucket, tmp_path, kind):
    where = place(str(tmp_path / "m") if kind == "folder" else f"s3://{bucket}/m")
    where.write("root", b"one")
    assert where.has("root") and not where.has("shard")
    where.replace("root", b"two", b"one")
    for data in (b"three", b"a longer one"):
        with pytest.raises(PlaceError, match=MEANWHILE):
            where.replace("root", data, b"one")
    assert where.read("root", 10) == b"two"
    where.remove("root")
    with pytest.raises(PlaceError, match=MEANWHILE):
        where.replace("root", b"three", b"two")
    assert not where.has("root")


def test_a_root_that_changes_while_it_is_replaced(bucket, proxy, s3):
    where = place(f"s3://{bucket}/m")
    where.write("root", b"one")
    other = lambda: s3.put_object(Bucket=bucket, Key="m/root", Body=b"two")  # noqa: E731
    proxy.rules.append(Rule("call", method="PUT", path="/m/root", call=other))
    with pytest.raises(PlaceError, match=MEANWHILE):
        where.replace("root", b"three", b"one")
    assert where.read("root", 10) == b"two"
    # The request arrives and its response is lost: the retry finds what the first try wrote.
    proxy.rules[:] = [Rule("lose", method="PUT", path="/m/root")]
    where.replace("root", b"three", b"two")
    assert where.read("root", 10) == b"three" and proxy.rules[0].met >= 2


def test_a_manifest_does_not_cover_itself(tmp_path):
    for prefix, where, refused in [
        ("s3://b/p", "s3://b/p/m", True),
        ("s3://b", "s3://b/m", True),
        ("s3://b/p", "s3://b/p2", False),
        ("s3://b/p", "s3://c/p/m", False),
        ("s3://b/p", str(tmp_path), False),
    ]:
        if refused:
            with pytest.raises(ValueError, match="the manifest must be outside of s3://b/"):
                check_apart(Url.parse_prefix(prefix), place(where))
        else:
            check_apart(Url.parse_prefix(prefix), place(where))
