"""tagmac.s3: uploads with tags, and reads that return only verified bytes."""

import errno
import io
import os
import pickle

import boto3
import pytest
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import NoCredentialsError
from proxy import Rule

import tagmac
import tagmac.s3
from tagmac.s3.client import client
from tagmac.s3.reading import read_range
from tagmac.s3.stored import ALGORITHM, KEY_ID, NONCE, TAG
from tagmac.s3.url import Url

KEY = tagmac.Key(bytes(range(16)))
KEYS = [KEY, tagmac.Key(bytes(16), "UMAC-64"), tagmac.Key(bytes(32), "HMAC-SHA256", tag_bits=128)]
PARTS = TransferConfig(multipart_threshold=5 << 20, multipart_chunksize=5 << 20)
SIZES = [0, 1, 5 << 20, (17 << 20) + 3]


def data(size: int) -> bytes:
    return (bytes(range(251)) * (size // 251 + 1))[:size]


class Pipe(io.RawIOBase):
    """A stream that returns few bytes at a time and cannot seek."""

    def __init__(self, content: bytes) -> None:
        self.file = io.BytesIO(content)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self.file.read(min(size, 777_777) if size >= 0 else -1)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
@pytest.mark.parametrize("size", SIZES)
def test_what_is_uploaded_is_read_back(s3, bucket, tmp_path, key, size):
    (tmp_path / "file").write_bytes(data(size))
    made = tagmac.s3.upload_file(s3, tmp_path / "file", f"s3://{bucket}/a", key, config=PARTS)
    assert (made.bytes, made.where) == (size, "metadata")
    key.verify(data(size), made.tag, made.nonce)
    assert s3.head_object(Bucket=bucket, Key="a")["Metadata"][TAG] == made.tag.hex()
    for in_memory in (0, 1 << 30):
        with tagmac.s3.open_verified(s3, f"s3://{bucket}/a", key, in_memory=in_memory) as file:
            assert file.read() == data(size)

    made = tagmac.s3.upload_stream(s3, Pipe(data(size)), f"s3://{bucket}/b", key, config=PARTS)
    assert (made.bytes, made.where) == (size, "object tags" if size >= 8 << 20 else "metadata")
    key.verify(data(size), made.tag, made.nonce)
    with tagmac.s3.open_verified(s3, f"s3a://{bucket}/b", key) as file:
        assert file.read() == data(size)


def test_the_callers_metadata_stays(s3, bucket, tmp_path):
    (tmp_path / "file").write_bytes(b"x")
    extra = {"Metadata": {"mine": "1"}, "ContentType": "text/plain"}
    tagmac.s3.upload_file(s3, tmp_path / "file", f"s3://{bucket}/a", KEY, extra_args=extra)
    head = s3.head_object(Bucket=bucket, Key="a")
    assert (head["Metadata"]["mine"], head["ContentType"]) == ("1", "text/plain")
    assert extra["Metadata"] == {"mine": "1"}


@pytest.mark.parametrize("size", [100, 7 << 20, pytest.param(17 << 20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("fault", ["status", "refuse"])
def test_a_part_that_is_sent_again_counts_once(bucket, tmp_path, proxy, size, fault):
    (tmp_path / "file").write_bytes(data(size))
    proxy.rules.append(Rule(fault, method="PUT", path="/a", times=2))
    made = tagmac.s3.upload_file(
        boto3.client("s3"), tmp_path / "file", f"s3://{bucket}/a", KEY, config=PARTS
    )
    assert made.tag == KEY.tag(data(size))
    proxy.rules.append(Rule(fault, method="PUT", path="/b", times=2))
    made = tagmac.s3.upload_stream(
        boto3.client("s3"), Pipe(data(size)), f"s3://{bucket}/b", KEY, config=PARTS
    )
    assert made.tag == KEY.tag(data(size))
    assert proxy.rules[0].met > 2 and proxy.rules[1].met > 2
    for name in "ab":
        assert tagmac.s3.open_verified(
            boto3.client("s3"), f"s3://{bucket}/{name}", KEY
        ).read() == data(size)


@pytest.mark.parametrize("threshold", [5 << 20, 1 << 30])
def test_a_file_that_changes_meanwhile_is_not_stored(bucket, tmp_path, proxy, threshold):
    path = tmp_path / "file"
    path.write_bytes(data(17 << 20))

    def change() -> None:
        with open(path, "r+b") as file:
            file.seek((17 << 20) - 1)
            file.write(b"!")

    s3 = boto3.client("s3")
    # Change the file when the upload begins, after it was tagged.
    s3.meta.events.register("before-call.s3", lambda **_: change())
    config = TransferConfig(multipart_threshold=threshold, multipart_chunksize=5 << 20)
    with pytest.raises(tagmac.s3.ObjectChanged, match=f"s3://{bucket}/a: the file changed while"):
        tagmac.s3.upload_file(s3, path, f"s3://{bucket}/a", KEY, config=config)
    assert boto3.client("s3").list_objects_v2(Bucket=bucket)["KeyCount"] == 0


def test_a_flipped_bit_is_found(s3, bucket, proxy):
    through = boto3.client("s3")
    tagmac.s3.upload_stream(s3, io.BytesIO(data(9 << 20)), f"s3://{bucket}/a", KEY)
    for in_memory in (0, 1 << 30):
        proxy.rules[:] = [Rule("flip", method="GET", path="/a$", bytes=8 << 20)]
        with pytest.raises(tagmac.InvalidTag):
            tagmac.s3.open_verified(through, f"s3://{bucket}/a", KEY, in_memory=in_memory)
    # A store that returns other bytes only the second time.
    proxy.rules[:] = [Rule("flip", method="GET", path="/a$", after=1, bytes=5)]
    with tagmac.s3.open_verified(through, f"s3://{bucket}/a", KEY, in_memory=0) as file:
        with pytest.raises(tagmac.s3.ObjectError, match="the store returned other bytes from 0 on"):
            file.read(1)
        assert file.read(1) == data(1)


def test_a_large_object_is_seekable(s3, bucket):
    tagmac.s3.upload_stream(s3, io.BytesIO(data(3_000_000)), f"s3://{bucket}/a", KEY)
    with tagmac.s3.open_verified(s3, f"s3://{bucket}/a", KEY, in_memory=0, chunk=100_000) as file:
        for at, count in [
            (2_999_990, 100),
            (0, 10),
            (99_999, 2),
            (250_000, 300_000),
            (3_000_000, 1),
        ]:
            file.seek(at)
            assert file.read(count) == data(3_000_000)[at : at + count]
        file.seek(-7, io.SEEK_END)
        assert file.read() == data(3_000_000)[-7:]


def test_an_object_that_changes_while_it_is_read(s3, bucket):
    tagmac.s3.upload_stream(s3, io.BytesIO(data(300_000)), f"s3://{bucket}/a", KEY)
    with tagmac.s3.open_verified(s3, f"s3://{bucket}/a", KEY, in_memory=0, chunk=100_000) as file:
        assert file.read(5) == data(5)
        tagmac.s3.upload_stream(s3, io.BytesIO(data(300_001)), f"s3://{bucket}/a", KEY)
        with pytest.raises(tagmac.s3.ObjectChanged, match="it changed after it was listed"):
            file.read()


def test_what_stands_beside_an_object_is_not_believed(s3, bucket):
    other = tagmac.Key(bytes(16))
    good = {TAG: KEY.tag(b"data").hex(), ALGORITHM: KEY.name, KEY_ID: KEY.id}
    for change, line in [
        ({TAG: None}, "the object has no tag: no tagmac-tag in the metadata or the object tags"),
        ({TAG: good[TAG][:16]}, "expected a tag of 16 bytes, found 8"),
        ({TAG: ""}, "expected a tag of 16 bytes, found 0"),
        ({TAG: "zz" * 16}, "tagmac-tag: expected hex digits, found 'zz"),
        ({ALGORITHM: "CMAC-AES128"}, "expected tagmac-algorithm PMAC-AES128, found 'CMAC-AES128'"),
        ({ALGORITHM: None}, "expected tagmac-algorithm PMAC-AES128, found 'none'"),
        ({KEY_ID: other.id}, f"expected tagmac-key-id {KEY.id}, found '{other.id}'"),
    ]:
        metadata = {name: value for name, value in {**good, **change}.items() if value is not None}
        s3.put_object(Bucket=bucket, Key="a", Body=b"data", Metadata=metadata)
        with pytest.raises(tagmac.s3.TagMissing) as found:
            tagmac.s3.open_verified(s3, f"s3://{bucket}/a", KEY)
        assert line in str(found.value)
    s3.put_object(
        Bucket=bucket, Key="a", Body=b"data", Metadata={**good, TAG: KEY.tag(b"atad").hex()}
    )
    with pytest.raises(tagmac.InvalidTag):
        tagmac.s3.open_verified(s3, f"s3://{bucket}/a", KEY)
    nonced = tagmac.Key(bytes(16), "UMAC-64")
    metadata = {TAG: bytes(8).hex(), ALGORITHM: nonced.name, KEY_ID: nonced.id, NONCE: "00" * 99}
    s3.put_object(Bucket=bucket, Key="a", Body=b"data", Metadata=metadata)
    with pytest.raises(tagmac.s3.TagMissing, match="tagmac-nonce: .*expected a nonce of 1 to 16"):
        tagmac.s3.open_verified(s3, f"s3://{bucket}/a", nonced)


@pytest.mark.parametrize("size", [100, 9 << 20])
def test_the_callers_object_tags_stay(s3, bucket, size):
    # Metadata copied from another object has that object's tag.
    old = {TAG: "00" * 16, "TagMac-Key-Id": "0", "mine": "1"}
    extra = {"Tagging": "retention=7y&cost=a%20b", "Metadata": old}
    url = f"s3://{bucket}/a"
    tagmac.s3.upload_stream(s3, Pipe(data(size)), url, KEY, extra_args=extra, config=PARTS)
    assert tagmac.s3.open_verified(s3, url, KEY).read() == data(size)
    found = {t["Key"]: t["Value"] for t in s3.get_object_tagging(Bucket=bucket, Key="a")["TagSet"]}
    assert (found["retention"], found["cost"]) == ("7y", "a b")
    assert s3.head_object(Bucket=bucket, Key="a")["Metadata"]["mine"] == "1"
    extra = {"Tagging": "&".join(f"t{n}=1" for n in range(8))}
    if size > 8 << 20:
        with pytest.raises(ValueError, match="expected at most 7 object tags, found 8"):
            tagmac.s3.upload_stream(s3, Pipe(data(size)), url, KEY, extra_args=extra)


def test_errors_travel():
    error = tagmac.s3.ObjectChanged(Url("b", "k"), "why")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), "s3://b/k: why")


def test_an_object_that_is_not_there(s3, bucket):
    for error in (FileNotFoundError, tagmac.s3.ObjectError, tagmac.s3.ObjectMissing):
        with pytest.raises(error, match=f"^s3://{bucket}/none: no such object$") as found:
            tagmac.s3.open_verified(s3, f"s3://{bucket}/none", KEY)
        assert found.value.errno == errno.ENOENT
        again = pickle.loads(pickle.dumps(found.value))
        assert (type(again), str(again)) == (type(found.value), str(found.value))
    for url in ("none", "http://b/k", "s3:///k", "s3a://"):
        with pytest.raises(ValueError, match="not a URL of the form s3://BUCKET/KEY"):
            tagmac.s3.open_verified(s3, url, KEY)


@pytest.mark.parametrize("fault", ["status", "refuse", "reset", "short"])
def test_faults_are_tried_again_and_no_byte_counts_twice(bucket, proxy, fault):
    size = 3 << 20
    etag = client().put_object(Bucket=bucket, Key="a", Body=data(size))["ETag"].strip('"')
    proxy.rules.append(Rule(fault, method="GET", times=3, bytes=(1 << 20) + 77))
    for start, end in [(0, size), (1000, size), (1000, size - 1)]:
        proxy.rules[0].met = 0
        found = bytearray()
        read_range(client(), Url(bucket, "a"), etag, size, start, end, found.extend)
        assert found == data(size)[start:end]
        assert proxy.rules[0].met >= 3


def test_faults_that_do_not_end_are_named(bucket, proxy, monkeypatch):
    monkeypatch.setattr("tagmac.s3.reading.time.sleep", lambda _: None)
    etag = client().put_object(Bucket=bucket, Key="a", Body=data(100))["ETag"].strip('"')
    proxy.rules.append(Rule("short", method="GET", times=None, bytes=0))
    with pytest.raises(tagmac.s3.ObjectError, match=f"s3://{bucket}/a: .*, 8 times"):
        read_range(client(), Url(bucket, "a"), etag, 100, 0, 100, bytes)
    proxy.rules[:] = [Rule("trim", method="GET", times=None, bytes=50)]
    with pytest.raises(tagmac.s3.ObjectChanged, match="expected 100 bytes from 0 on, found 50"):
        read_range(client(), Url(bucket, "a"), etag, 100, 0, 100, bytes)


@pytest.mark.skipif(
    os.environ.get("TAGMAC_S3_SERVER") != "versitygw", reason="moto grants everything"
)
def test_no_permission(s3, bucket):
    etag = s3.put_object(Bucket=bucket, Key="a", Body=b"x")["ETag"].strip('"')
    reader = boto3.client(
        "s3",
        aws_access_key_id=os.environ["TAGMAC_S3_READER_ID"],
        aws_secret_access_key=os.environ["TAGMAC_S3_READER_SECRET"],
    )
    with pytest.raises(tagmac.s3.ObjectDenied, match=f"s3://{bucket}/a: no permission to read it"):
        read_range(reader, Url(bucket, "a"), etag, 1, 0, 1, bytes)


UPLOADS = {
    "file": lambda s3, url, path: tagmac.s3.upload_file(s3, path, url, KEY, config=PARTS),
    "stream": lambda s3, url, path: tagmac.s3.upload_stream(
        s3, Pipe(path.read_bytes()), url, KEY, config=PARTS
    ),
}


@pytest.mark.parametrize("size", [1, 17 << 20])
@pytest.mark.parametrize("upload", UPLOADS)
def test_uploads_that_fail_name_the_object(s3, bucket, proxy, tmp_path, upload, size):
    path = tmp_path / "file"
    path.write_bytes(data(size))
    with pytest.raises(tagmac.s3.ObjectError, match="^s3://no-such-bucket/a: .*NoSuchBucket"):
        UPLOADS[upload](s3, "s3://no-such-bucket/a", path)
    refused = Rule("status", path="/a", status=403, code="AccessDenied", times=None)
    proxy.rules.append(refused)
    with pytest.raises(tagmac.s3.ObjectDenied) as found:
        UPLOADS[upload](client(), f"s3://{bucket}/a", path)
    line = f"s3://{bucket}/a: no permission to write it (AccessDenied)"
    assert str(found.value) == line and refused.met
    # The cause is preserved.
    assert found.value.__cause__ is not None


def test_a_tag_that_cannot_be_stored_is_named(bucket, proxy):
    refused = Rule("status", method="PUT", path="tagging", status=403, code="AccessDenied")
    proxy.rules.append(refused)
    with pytest.raises(tagmac.s3.ObjectDenied, match=f"s3://{bucket}/a: no permission to write"):
        tagmac.s3.upload_stream(client(), Pipe(data(17 << 20)), f"s3://{bucket}/a", KEY)


def test_what_fails_every_time_is_tried_once():
    class Client:
        asked = 0

        def get_object(self, **_):
            self.asked += 1
            raise NoCredentialsError

    counted = Client()
    with pytest.raises(tagmac.s3.ObjectError, match="s3://b/k: Unable to locate credentials"):
        read_range(counted, Url("b", "k"), "e", 1, 0, 1, bytearray().extend)
    assert counted.asked == 1


def test_settings_that_no_client_can_have_are_one_line(monkeypatch):
    from tagmac.s3 import client as module

    for name, value in (
        ("AWS_PROFILE", "none"), ("AWS_ENDPOINT_URL", "no url"), ("AWS_DEFAULT_REGION", "x@evil/"),
    ):  # fmt: skip
        with monkeypatch.context() as changed:
            changed.setattr(module, "_clients", {})
            changed.setattr(boto3, "DEFAULT_SESSION", None)
            changed.setenv(name, value)
            with pytest.raises(OSError, match=f"^S3: .*{value}") as found:
                client()
            assert "\n" not in str(found.value)


@pytest.mark.parametrize("bucket", ["x@evil", "a?b", "a#b", "a%2fb", "a:1"])
def test_buckets_that_no_host_can_have_are_asked_for_nothing(proxy, tmp_path, bucket):
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(tagmac.s3.ObjectError, match="^s3://.*Invalid bucket name"):
        tagmac.s3.open_verified(client(), f"s3://{bucket}/k", KEY)
    with pytest.raises(tagmac.s3.ObjectError, match="^s3://.*Invalid bucket name"):
        tagmac.s3.upload_file(client(), tmp_path / "file", f"s3://{bucket}/k", KEY)
    assert not proxy.log


def test_an_archived_object_is_named(s3, bucket, proxy):
    tagmac.s3.upload_stream(s3, io.BytesIO(b"x"), f"s3://{bucket}/a", KEY)
    archived = Rule("status", method="GET", path="/a$", status=403, code="InvalidObjectState")
    proxy.rules.append(archived)
    with pytest.raises(tagmac.s3.ObjectError, match=f"s3://{bucket}/a: the object is archived; rest"):
        tagmac.s3.open_verified(client(), f"s3://{bucket}/a", KEY)


@pytest.mark.parametrize("key", [".", "..", "a/../b", "./a", "a/."])
def test_keys_that_no_url_can_ask_for_are_refused(s3, bucket, tmp_path, key):
    """Like the command, it refuses names that not every client could read."""
    (tmp_path / "file").write_bytes(b"x")
    url, match = f"s3://{bucket}/{key}", "expected a key without '.' or '..' between slashes"
    for call in (
        lambda: tagmac.s3.upload_file(s3, tmp_path / "file", url, KEY),
        lambda: tagmac.s3.upload_stream(s3, io.BytesIO(b"x"), url, KEY),
        lambda: tagmac.s3.open_verified(s3, url, KEY),
    ):
        with pytest.raises(ValueError, match=match):
            call()
    with pytest.raises(tagmac.s3.ObjectError, match=match):
        read_range(s3, Url(bucket, key), "e", 1, 0, 1, bytes)
    assert s3.list_objects_v2(Bucket=bucket)["KeyCount"] == 0


@pytest.mark.parametrize("at", [0, (12 << 20) - 1])
def test_a_file_that_changes_before_a_part_is_sent_again_is_not_stored(
    bucket, tmp_path, proxy, at
):
    path = tmp_path / "file"
    path.write_bytes(data(12 << 20))

    def change() -> None:
        with open(path, "r+b") as file:
            file.seek(at)
            file.write(b"!")

    config = TransferConfig(multipart_threshold=1 << 30)
    s3 = boto3.client("s3", config=Config(retries={"max_attempts": 4}))
    # Everything is read and sent, and the response is lost.
    lost = Rule("refuse", method="PUT", path="/a", times=1)
    proxy.rules[:] = [lost]
    sent: list[int] = []

    def before_sending(**_: object) -> None:
        sent.append(len(sent))
        if len(sent) == 2:
            change()

    s3.meta.events.register("before-send.s3", before_sending)
    with pytest.raises(tagmac.s3.ObjectChanged, match="the file changed while it was uploaded"):
        tagmac.s3.upload_file(s3, path, f"s3://{bucket}/a", KEY, config=config)
    assert lost.met and len(sent) > 1


class Shrinking:
    """A client that does something to the file before each upload begins."""

    def __init__(self, s3, happens) -> None:
        self._s3, self._happens = s3, happens

    def upload_fileobj(self, *arguments, **options):
        self._happens()
        return self._s3.upload_fileobj(*arguments, **options)


@pytest.mark.parametrize("size", [8 << 20, 10 << 20, (12 << 20) - 1, (12 << 20) + 1])
@pytest.mark.parametrize("threshold", [5 << 20, 1 << 30])
def test_a_file_that_is_shorter_or_longer_after_its_tag_is_not_stored(
    s3, bucket, tmp_path, threshold, size
):
    path = tmp_path / "file"
    path.write_bytes(data(12 << 20))
    config = TransferConfig(multipart_threshold=threshold, multipart_chunksize=5 << 20)
    changing = Shrinking(s3, lambda: os.truncate(path, size))
    with pytest.raises(tagmac.s3.ObjectChanged, match="the file changed while it was uploaded"):
        tagmac.s3.upload_file(changing, path, f"s3://{bucket}/a", KEY, config=config)
    assert s3.list_objects_v2(Bucket=bucket)["KeyCount"] == 0


@pytest.mark.parametrize("size", [0, 8 << 20, (12 << 20) - 1])
def test_a_file_that_is_shorter_after_it_was_read_is_not_stored(bucket, tmp_path, size):
    path = tmp_path / "file"
    path.write_bytes(data(12 << 20))
    s3 = boto3.client("s3", config=Config(retries={"max_attempts": 2}))
    # boto3 has computed its checksum by then, from the whole file.
    s3.meta.events.register("before-send.s3", lambda **_: os.truncate(path, size))
    config = TransferConfig(multipart_threshold=1 << 30)
    with pytest.raises(tagmac.s3.ObjectChanged, match="the file changed while it was uploaded"):
        tagmac.s3.upload_file(s3, path, f"s3://{bucket}/a", KEY, config=config)
    assert boto3.client("s3").list_objects_v2(Bucket=bucket)["KeyCount"] == 0


def test_the_size_of_a_file_is_that_which_was_tagged(tmp_path):
    from tagmac.s3.upload import _Hashed, _Steady

    path, url, size = tmp_path / "file", Url("b", "k"), (3 << 20) + 5
    path.write_bytes(data(size))
    with open(path, "rb") as file:
        steady = _Steady(file, url, size)
        os.truncate(path, 1 << 20)
        # A client seeks to the end to find the length, even after everything was hashed.
        assert steady.seek(0, io.SEEK_END) == size and steady.seek(-5, io.SEEK_CUR) == size - 5
        steady.seek(0)
        assert steady.read(1 << 20) == data(1 << 20)
        with pytest.raises(tagmac.s3.ObjectChanged):
            steady.read(1)
        with pytest.raises(ValueError, match="expected a position of at least 0, found -1"):
            steady.seek(-1)
    # A source that ends early or late is an error too.
    for found in (data(99), data(101)):
        body = _Hashed(io.BytesIO(found), KEY.new())
        body.expected = (url, 100, KEY.tag(data(100)))
        with pytest.raises(tagmac.s3.ObjectChanged):
            body.read()
            body.read(1)


def test_a_stream_that_has_nothing_now_has_not_ended(s3, bucket):
    """A nonblocking stream returns None. The bytes so far must not be stored as the whole object.
    """
    for first in (100, 9 << 20):
        class Waits(io.RawIOBase):
            pieces = [data(first), None, b"more"]  # noqa: RUF012

            def readable(self) -> bool:
                return True

            def read(self, size: int = -1):
                piece = self.pieces[0]
                if piece is None or len(piece) <= size:
                    return self.pieces.pop(0)
                self.pieces[0] = piece[size:]
                return piece[:size]

        with pytest.raises(BlockingIOError, match="the stream is in nonblocking mode"):
            tagmac.s3.upload_stream(s3, Waits(), f"s3://{bucket}/a", KEY)
        assert s3.list_objects_v2(Bucket=bucket)["KeyCount"] == 0


@pytest.mark.parametrize("body", [b"<Tagging><TagSet>", b"gone", b"\xff", b"<a>" * 10_000])
def test_what_is_no_xml_is_an_error_of_the_object(s3, bucket, proxy, tmp_path, body):
    s3.put_object(Bucket=bucket, Key="a", Body=b"x")
    # botocore looks for errors in a response with status 200, and not in others.
    garbage = {"status": 206, "body": body, "times": None}
    proxy.rules[:] = [Rule("status", method="GET", path="tagging", **garbage)]
    with pytest.raises(tagmac.s3.ObjectError, match=f"^s3://{bucket}/a: "):
        tagmac.s3.open_verified(client(), f"s3://{bucket}/a", KEY)
    path = tmp_path / "file"
    path.write_bytes(data(17 << 20))
    proxy.rules[:] = [Rule("status", method="POST", path="uploads", **garbage)]
    with pytest.raises(tagmac.s3.ObjectError, match=f"^s3://{bucket}/a: "):
        tagmac.s3.upload_file(client(), path, f"s3://{bucket}/a", KEY, config=PARTS)


@pytest.mark.parametrize("method", ["HEAD", "GET"])
@pytest.mark.parametrize("header", ["Last-Modified", "x-amz-missing-meta"])
def test_a_header_that_is_no_number_or_time_is_an_error_of_the_object(
    s3, bucket, proxy, method, header
):
    tagmac.s3.upload_stream(s3, io.BytesIO(b"x"), f"s3://{bucket}/a", KEY)
    rule = Rule("status", method=method, path="/a$", status=200, answer={header: "x"}, times=None)
    proxy.rules[:] = [rule]
    with pytest.raises(tagmac.s3.ObjectError, match=f"^s3://{bucket}/a: "):
        tagmac.s3.open_verified(client(), f"s3://{bucket}/a", KEY)
