"""Fixtures of the tests of tagmac.s3 and tagmac.spark. scripts/test-spark runs them: they need an
S3 server, which scripts/objects-server starts, and the packages of `pip install tagmac[spark]`.
"""

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
if "TAGMAC_S3_SERVER" not in os.environ:
    collect_ignore_glob = ["test_*.py"]
else:
    sys.path[:0] = [str(HERE), str(HERE.parents[2] / "objects/tests")]
    #: The server itself; everything else goes through the proxy.
    DIRECT = os.environ["AWS_ENDPOINT_URL"]


@pytest.fixture
def s3():
    """A client that bypasses the proxy."""
    import boto3

    return boto3.client("s3", endpoint_url=DIRECT)


@pytest.fixture
def bucket(s3):
    """An empty bucket, which is emptied afterwards."""
    name = os.environ["TAGMAC_S3_BUCKET"]
    yield name
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=name):
        for entry in page.get("Contents", []):
            s3.delete_object(Bucket=name, Key=entry["Key"])


@pytest.fixture(scope="session")
def _proxy():
    from proxy import Proxy

    from tagmac.s3 import client

    host, port = DIRECT.removeprefix("http://").split(":")
    with Proxy(host, int(port)) as made:
        os.environ["AWS_ENDPOINT_URL"] = made.url
        client._clients.clear()
        yield made


@pytest.fixture
def proxy(_proxy):
    """The fault-injecting proxy that all clients except `s3` use, without rules."""
    _proxy.rules.clear()
    _proxy.log.clear()
    yield _proxy
    _proxy.rules.clear()


@pytest.fixture(scope="session")
def stores():
    """Google Cloud Storage and Azure, each with one bucket: servers that are honest here."""
    from hostile import STORES, Hostile

    with Hostile(STORES["gs"]) as google, Hostile(STORES["az"]) as azure:
        os.environ.update(google.environment() | azure.environment())
        yield {"gs": google, "az": azure}


@pytest.fixture(scope="session")
def cluster(_proxy, stores, tmp_path_factory):
    """The cluster. Its workers use the proxy and the stores."""
    from cluster import Cluster
    from manifests import KEY, OTHER, key_text

    folder = tmp_path_factory.mktemp("cluster")
    os.environ["TAGMAC_TEST_KEY"] = key_text(KEY, folder)
    os.environ["TAGMAC_TEST_KEY_OF_ALL"] = os.environ["TAGMAC_TEST_KEY"]
    env = {"TAGMAC_TEST_OTHER_KEY": key_text(OTHER, folder)}
    one = {"TAGMAC_TEST_KEY_OF_ONE": os.environ["TAGMAC_TEST_KEY"]}
    with Cluster(folder, env=env, envs=[one]) as made:
        yield made


@pytest.fixture(scope="session")
def session(cluster):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("tagmac tests")
    for name, value in cluster.conf().items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    yield made
    made.stop()


@pytest.fixture
def spark(session, proxy):
    """A session on the cluster, with a proxy that has no rules."""
    return session
