"""Fixtures: a place with a key, a bucket, and the command, which reads through a proxy with faults.

`scripts/test-objects` runs the tests with a server; `scripts/objects-server` sets the environment.
TAGMAC is the path of the command.
"""

import json
import os
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import boto3
import botocore.config
import pytest
from proxy import Proxy

COMMAND = os.environ["TAGMAC"]
SERVER = os.environ["TAGMAC_S3_SERVER"]
RANGE = 8 << 20


@dataclass
class Ran:
    """The result of a run of the command."""

    code: int
    out: str
    err: str

    def exits(self, code: int) -> "Ran":
        assert self.code == code, f"out: {self.out}\nerr: {self.err}"
        # Each message is one line.
        assert all(line.startswith("tagmac: ") for line in self.err.splitlines()), self.err
        return self

    def says(self, *texts: str) -> "Ran":
        for text in texts:
            assert text in self.err, f"expected {text}, found {self.err}"
        return self

    def prints(self, out: str) -> "Ran":
        assert self.out == out, self.err
        return self


class Place:
    """A folder with the key `k`, and a prefix in a bucket for this test only."""

    def __init__(self, folder: Path, proxy: Proxy):
        self.folder, self.proxy = folder, proxy
        self.s3 = boto3.client("s3", config=botocore.config.Config(retries={"max_attempts": 3}))
        self.bucket, self.versioned = (
            os.environ[name] for name in ("TAGMAC_S3_BUCKET", "TAGMAC_S3_VERSIONED")
        )
        self.prefix = f"{uuid.uuid4().hex}/"
        self.url = f"s3://{self.bucket}/{self.prefix}"
        self.run("keygen", "-o", "k").exits(0)

    def run(self, *args: str | bytes, environment: dict[str, str] | None = None) -> Ran:
        """Runs the command; its requests go through the proxy."""
        variables = os.environ | {"AWS_ENDPOINT_URL": self.proxy.url} | (environment or {})
        done = subprocess.run(
            [COMMAND, *args], cwd=self.folder, env=variables, capture_output=True, timeout=1200,
            check=False, stdin=subprocess.DEVNULL,
        )
        text = [stream.decode(errors="surrogateescape") for stream in (done.stdout, done.stderr)]
        return Ran(done.returncode, *text)

    def keyed(self, what: str, *args: str | bytes, **more) -> Ran:
        """Runs the command with the key."""
        return self.run(what, "-k", "k", *args, **more)

    def put(self, name: str, body: bytes, versioned: bool = False) -> str:
        """Writes an object below the prefix and returns its URL."""
        bucket = self.versioned if versioned else self.bucket
        self.s3.put_object(Bucket=bucket, Key=self.prefix + name, Body=body)
        return f"s3://{bucket}/{self.prefix}{name}"

    def delete(self, name: str) -> None:
        self.s3.delete_object(Bucket=self.bucket, Key=self.prefix + name)

    def tag(self, body: bytes, *options: str) -> str:
        """Returns the tag of bytes in hex, as the command computes it from a file."""
        self.folder.joinpath("bytes").write_bytes(body)
        return self.keyed("tag", *options, "bytes").exits(0).out.split(" = ")[1].strip()

    def line(self, url: str, body: bytes) -> str:
        """Returns the line of an object in a list."""
        return f"PMAC-AES128 ({url}) = {self.tag(body)}\n"


@pytest.fixture
def proxy():
    endpoint = urlsplit(os.environ["AWS_ENDPOINT_URL"])
    with Proxy(endpoint.hostname, endpoint.port) as proxy:
        yield proxy


@pytest.fixture
def place(tmp_path, proxy):
    return Place(tmp_path, proxy)


#: versitygw stores objects as files, so their keys must be valid file names.
any_name = pytest.mark.skipif(SERVER == "versitygw", reason="versitygw keeps objects as files")
#: The server would notice when the proxy changes a request.
unsigned = pytest.mark.skipif(SERVER == "versitygw", reason="versitygw checks signatures")
#: Tests of checks that moto does not make.
real_server = pytest.mark.skipif(SERVER == "moto", reason="moto does not check rights or signatures")


@pytest.fixture
def deny(place):
    """Denies one object to a user. Returns the user's environment."""

    def deny_object(key: str) -> dict[str, str]:
        bucket = f"arn:aws:s3:::{place.bucket}"
        reader = {"AWS": [os.environ["TAGMAC_S3_READER_ID"]]}
        rules = [
            ("Allow", "s3:ListBucket", bucket),
            ("Allow", "s3:GetObject", f"{bucket}/*"),
            ("Deny", "s3:GetObject", f"{bucket}/{key}"),
        ]
        policy = [
            {"Effect": effect, "Principal": reader, "Action": [action], "Resource": [resource]}
            for effect, action, resource in rules
        ]
        policy = json.dumps({"Version": "2012-10-17", "Statement": policy})
        place.s3.put_bucket_policy(Bucket=place.bucket, Policy=policy)
        return {
            "AWS_ACCESS_KEY_ID": os.environ["TAGMAC_S3_READER_ID"],
            "AWS_SECRET_ACCESS_KEY": os.environ["TAGMAC_S3_READER_SECRET"],
        }

    yield deny_object
    place.s3.delete_bucket_policy(Bucket=place.bucket)
