"""Certificates and proxies, for each kind of store."""

import ssl
import subprocess

import pytest
from hostile import STORES, Hostile, Tunnel
from lies import PREFIX, SMALL
from test_hostile import line, runner, url

HOST = "store.example.org"
SUBJECT = f"subjectAltName=IP:127.0.0.1,DNS:{HOST}"


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    """Returns a folder with the certificates of an authority and of a server under it."""
    folder = tmp_path_factory.mktemp("tls")
    folder.joinpath("extensions").write_text(SUBJECT)
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    for args in (
        ["req", "-x509", *curve, "-subj", "/CN=test authority", "-keyout", "ca.key", "-out", "ca.pem"],
        ["req", *curve[:5], "-subj", "/CN=test store", "-keyout", "key.pem", "-out", "csr.pem"],
        ["x509", "-req", "-in", "csr.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
         "-days", "2", "-extfile", "extensions", "-out", "cert.pem"],
    ):  # fmt: skip
        subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture(params=STORES)
def store(request, certificates):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificates / "cert.pem", certificates / "key.pem")
    with Hostile(STORES[request.param], tls) as made:
        made.objects[PREFIX + "a"] = SMALL
        yield made


@pytest.fixture
def run(tmp_path, store):
    return runner(tmp_path, store)


def trusted(store, certificates) -> dict[str, str]:
    """Returns the variables that make a client trust the authority."""
    name = "AWS_CA_BUNDLE" if store.kind.name == "s3" else "SSL_CERT_FILE"
    return {name: str(certificates / "ca.pem")}


def test_a_certificate_of_ones_own_authority(store, run, certificates):
    ran = run("tag", url(store, "a"), environment=trusted(store, certificates)).exits(0)
    ran.prints(line(run, store, "a", SMALL))


def test_a_certificate_that_is_not_trusted_fails_at_once(store, run, certificates):
    ran = run("tag", url(store, "a")).exits(4).prints("")
    variable, = trusted(store, certificates)
    ran.says(f"{url(store, 'a')}: invalid peer certificate: UnknownIssuer; set {variable} to a f")
    assert "tries" not in ran.err and store.log == []


def test_a_certificate_of_another_host_fails_at_once(store, run, certificates):
    there = {store.kind.endpoint: store.url.replace("127.0.0.1", "localhost")}
    ran = run("tag", url(store, "a"), environment=trusted(store, certificates) | there)
    ran.exits(4).prints("").says("certificate")
    assert "tries" not in ran.err and store.log == []


def test_a_proxy_of_the_environment_is_asked(store, run, certificates):
    there = {store.kind.endpoint: f"https://{HOST}"} | trusted(store, certificates)
    with Tunnel(store.port) as proxy:
        ran = run("tag", url(store, "a"), environment=there | {"HTTPS_PROXY": proxy.url}).exits(0)
        ran.prints(line(run, store, "a", SMALL))
        assert proxy.log and set(proxy.log) == {f"CONNECT {HOST}:443 HTTP/1.1"}


@pytest.mark.parametrize("store", ["s3"], indirect=True)
def test_a_bundle_of_a_profile(store, run, certificates, tmp_path):
    tmp_path.joinpath("config").write_text(f"[default]\nca_bundle = {certificates / 'ca.pem'}\n")
    there = {"AWS_CONFIG_FILE": str(tmp_path / "config")}
    run("tag", url(store, "a"), environment=there).exits(0)
    # The environment's bundle takes precedence.
    there["AWS_CA_BUNDLE"] = str(certificates / "cert.pem")
    run("tag", url(store, "a"), environment=there).exits(4).says("certificate")


@pytest.mark.parametrize("store", ["s3"], indirect=True)
def test_a_bundle_that_is_none_is_named(store, run, tmp_path):
    tmp_path.joinpath("empty").write_text("")
    for path, what in ((tmp_path / "none", "No such file"), (tmp_path / "empty", "no certificates in PEM"),
                       (tmp_path, "not a regular file, or larger than 16 MiB")):  # fmt: skip
        ran = run("tag", url(store, "a"), environment={"AWS_CA_BUNDLE": str(path)}).exits(2)
        ran.says(f"AWS_CA_BUNDLE: {path}: ", what)
