"""Settings: stores and keys that the command finds, and settings that it refuses."""

import json
import os

import pytest
from conftest import SERVER
from proxy import Rule

KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
#: An environment without keys.
WITHOUT_KEYS = dict.fromkeys(KEYS, "")


@pytest.fixture
def url(place):
    return place.put("o", b"x")


def files(place, credentials="", config=""):
    """Writes the files of AWS's tools. Returns an environment with them and without keys."""
    for name, text in (("credentials", credentials), ("config", config)):
        place.folder.joinpath(name).write_text(text)
    return WITHOUT_KEYS | {
        "AWS_SHARED_CREDENTIALS_FILE": str(place.folder / "credentials"),
        "AWS_CONFIG_FILE": str(place.folder / "config"),
    }


def keys(profile="default"):
    key, secret = (os.environ[name] for name in KEYS)
    return f"[{profile}]\naws_access_key_id = {key}\naws_secret_access_key = {secret}\n"


def test_keys_in_files(place, url):
    place.keyed("tag", url, environment=files(place, keys())).exits(0)
    named = files(place, keys("one"), "[profile one]\nregion = us-east-1\n")
    place.keyed("tag", url, environment=named | {"AWS_PROFILE": "one"}).exits(0)
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE"):
        ran = place.keyed("tag", url, environment=named | {name: "two"}).exits(2)
        ran.says(f"{name}: ", "have no profile with the name two")


@pytest.mark.parametrize("setting", ["login_session", "mfa_serial"])
def test_keys_that_another_tool_makes(place, url, setting):
    role = "role_arn = arn:r\nsource_profile = default\n" if setting == "mfa_serial" else ""
    made = files(place, "", f"[default]\n{role}{setting} = x\n")
    ran = place.keyed("tag", url, environment=made).exits(2)
    ran.says(f"tagmac does not support {setting}; ", "aws configure export-credentials")
    # Keys in the environment take precedence.
    own = {name: os.environ[name] for name in KEYS} | {"AWS_PROFILE": "default"}
    place.keyed("tag", url, environment=made | own).exits(0)
    # A public object needs no keys. versitygw refuses this request, because it has no public
    # objects.
    if SERVER == "moto":
        place.s3.put_object_acl(Bucket=place.bucket, Key=f"{place.prefix}o", ACL="public-read")
    ran = place.keyed("tag", url, environment=made | {"AWS_SKIP_SIGNATURE": "true"})
    ran.exits(0 if SERVER == "moto" else 4)
    assert setting not in ran.err


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("sso_session = x", "sso_session needs sso_account_id and sso_role_name"),
        ("sso_account_id = x", "its settings for SSO lack sso_role_name"),
        ("source_profile = x", "source_profile needs role_arn"),
        ("role_arn = x", "role_arn needs source_profile, credential_source or web_identity_token"),
        ("role_arn = x\nsource_profile = y", "source_profile: there is no profile y"),
        ("role_arn = x\nsource_profile = default", "source_profile: default appears twice in the chain"),
        ("web_identity_token_file = x", "web_identity_token_file needs role_arn"),
        ("credential_process = 'x", "credential_process: expected a program and its arguments"),
    ],
)
def test_incomplete_settings_for_keys(place, url, settings, said):
    """If they were ignored, the machine's role would sign."""
    made = files(place, "", f"[default]\n{settings}\n")
    place.keyed("tag", url, environment=made).exits(2).prints("").says(f"profile default: {said}")


def issued(key_id="role"):
    """Returns a rule of the proxy that issues keys as STS does."""
    keys = f"<AccessKeyId>{key_id}</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"
    times = "<SessionToken>t</SessionToken><Expiration>2038-01-01T00:00:00Z</Expiration>"
    body = f"<R><AssumeRoleResult><Credentials>{keys}{times}</Credentials></AssumeRoleResult></R>"
    return Rule("status", method="POST", path="^/$", status=200, body=body.encode(), times=None)


def signers(place):
    """Returns the methods of the requests so far, each with the ID of the key that signed."""
    signed = [(r.method, r.headers.get("authorization", "")) for r in place.proxy.log]
    return [(method, text.partition("Credential=")[2].partition("/")[0]) for method, text in signed]


def test_a_role_is_assumed(place, url):
    """The store's endpoint also issues the keys, as for AWS's tools, so no request goes to AWS."""
    place.proxy.rules.append(issued())
    config = "[default]\nrole_arn = arn:r\nsource_profile = base\nrole_session_name = me\n"
    made = files(place, keys("base"), config)
    ran = place.keyed("tag", url, environment=made)
    # versitygw does not know the key of the role.
    ran.exits(0 if SERVER == "moto" else 4)
    (first, by), *rest = signers(place)
    assert (first, by) == ("POST", os.environ[KEYS[0]])
    assert rest and all(found[1] == "role" for found in rest)
    assert all(r.headers["x-amz-security-token"] == "t" for r in place.proxy.log[1:])


def test_roles_are_assumed_in_a_chain(place, url):
    place.proxy.rules.append(issued())
    config = (
        "[default]\nrole_arn = arn:1\nsource_profile = middle\n"
        "[profile middle]\nrole_arn = arn:2\nsource_profile = base\n"
    )
    place.keyed("tag", url, environment=files(place, keys("base"), config))
    assert signers(place)[:2] == [("POST", os.environ[KEYS[0]]), ("POST", "role")]


def test_a_role_that_is_denied(place, url):
    place.proxy.rules.append(
        Rule("status", method="POST", path="^/$", status=403, code="AccessDenied", times=None)
    )
    config = "[default]\nrole_arn = arn:r\nsource_profile = base\n"
    ran = place.keyed("tag", url, environment=files(place, keys("base"), config)).exits(4)
    ran.prints("").says("keys of the role arn:r from http://", "rejects the request (403 AccessDenied)")


def test_a_profile_with_a_web_identity(place, url):
    place.proxy.rules.append(issued())
    place.folder.joinpath("token").write_text("hunter2\n")
    setting = f"web_identity_token_file = {place.folder / 'token'}"
    # The keys of the profile are not used.
    made = files(place, keys(), f"[default]\nrole_arn = arn:r\n{setting}\n")
    ran = place.keyed("tag", url, environment=made).exits(0 if SERVER == "moto" else 4)
    assert signers(place)[0] == ("POST", "") and "hunter2" not in ran.err


def test_a_program_prints_keys(place, url):
    key, secret = (os.environ[name] for name in KEYS)
    text = json.dumps({"Version": 1, "AccessKeyId": key, "SecretAccessKey": secret})
    program = place.folder / "my keys"
    program.write_text(f"#!/bin/sh\necho ran >> {place.folder}/ran\ncat '{place.folder}'/\"$1\"\n")
    program.chmod(0o700)
    place.folder.joinpath("out put").write_text(text)
    config = f"[default]\ncredential_process = '{program}' \"out put\"\n"
    made = files(place, "", config)
    place.keyed("tag", url, environment=made).exits(0)
    assert place.folder.joinpath("ran").read_text() == "ran\n"
    place.folder.joinpath("out put").write_text("hunter2")
    ran = place.keyed("tag", url, environment=made).exits(4).prints("")
    ran.says("profile default: credential_process: the answer is not valid JSON")
    assert "hunter2" not in ran.err
    program.write_text("#!/bin/sh\nexit 3\n")
    ran = place.keyed("tag", url, environment=made).exits(4)
    ran.says("credential_process: the program failed: exit status: 3")


def test_sso_without_a_token(place, url):
    config = (
        "[default]\nsso_session = s\nsso_account_id = 1\nsso_role_name = r\n"
        "[sso-session s]\nsso_region = us-east-1\nsso_start_url = https://example.org\n"
    )
    made = files(place, "", config) | {"HOME": str(place.folder)}
    ran = place.keyed("tag", url, environment=made).exits(4).prints("")
    ran.says("profile default: there is no token of IAM Identity Center; run 'aws sso login ")
    assert not place.proxy.log


def test_keys_of_a_container(place, url):
    key, secret = (os.environ[name] for name in KEYS)
    body = json.dumps({"AccessKeyId": key, "SecretAccessKey": secret}).encode()
    place.proxy.rules.append(Rule("status", path="^/keys$", status=200, body=body, times=None))
    uri = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{place.proxy.url}/keys"}
    token = {"AWS_CONTAINER_AUTHORIZATION_TOKEN": "hunter2"}
    place.keyed("tag", url, environment=files(place) | uri | token).exits(0)
    assert place.proxy.log[0].headers["authorization"] == "hunter2"
    assert place.proxy.count(path="^/keys$") == 1


def test_a_token_has_keys_beside_it(place, url):
    for name in ("AWS_SESSION_TOKEN", "AWS_TOKEN"):
        found = files(place, keys()) | {name: "t"}
        place.keyed("tag", url, environment=found).exits(2).says(f"{name} needs AWS_ACCESS_KEY_ID")


@pytest.mark.parametrize(
    ("endpoint", "found"),
    [
        ("http://example.org", "expected https://, or AWS_ALLOW_HTTP=true"),
        ("http://user:hunter2@127.0.0.1", "the URL must not contain '@'"),
        ("127.0.0.1:9000", "expected"),
        ("http://127.0.0.1:99999", "expected a URL"),
    ],
)
def test_endpoints_that_are_refused(place, url, endpoint, found):
    settings = {"AWS_ALLOW_HTTP": "false"}
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AWS_ENDPOINT_URL_S3"):
        named = settings | {"AWS_ENDPOINT_URL": "", name: endpoint}
        ran = place.keyed("tag", url, environment=named).exits(2)
        ran.prints("").says(f"{name}: {found}")
        assert "hunter2" not in ran.err
    made = files(place, keys(), f"[default]\nendpoint_url = {endpoint}\n")
    ran = place.keyed("tag", url, environment=settings | {"AWS_ENDPOINT_URL": ""} | made).exits(2)
    ran.prints("").says("profile default: endpoint_url: " + found)


def test_a_virtual_host_is_its_bucket_s(place, url):
    hosted = {"AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "true"}
    place.keyed("tag", url, environment=hosted).exits(2).says("needs a host that begins with")


@pytest.mark.parametrize("value", ["hunter2\nx", "hunter2\u00e9", "hunter2 x"])
def test_keys_that_no_header_can_have(place, url, value):
    for name in (*KEYS, "AWS_SESSION_TOKEN", "AWS_TOKEN"):
        ran = place.keyed("tag", url, environment={name: value}).exits(2)
        ran.says(f"{name}: contains a blank or a character that is not")
        assert "hunter2" not in ran.err


@pytest.mark.parametrize("value", ["hunter2\u00e9", "hunter2 x"])
def test_keys_of_a_profile_that_no_header_can_have(place, url, value):
    for name in ("aws_access_key_id", "aws_secret_access_key", "aws_session_token"):
        made = files(place, keys(), f"[default]\n{name} = {value}\n")
        if name != "aws_session_token":
            place.folder.joinpath("credentials").write_text(
                "".join(line for line in keys().splitlines(True) if name not in line)
            )
        ran = place.keyed("tag", url, environment=made).exits(2)
        ran.says(f"profile default: {name}: contains a blank or a character that is not")
        assert "hunter2" not in ran.err


HOSTS = ["x@127.0.0.1:1/", "a.b/..", "x/y", "x?y", "x#y", "x\\y", "a.b", "x" * 64]


@pytest.mark.parametrize("value", HOSTS)
@pytest.mark.parametrize("with_endpoint", [True, False])
def test_regions_that_no_host_can_have(place, url, value, with_endpoint):
    """A request for the region `x@evil/` would go to the host evil."""
    nowhere = {} if with_endpoint else {"AWS_ENDPOINT_URL": ""}
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        region = {"AWS_REGION": "", "AWS_DEFAULT_REGION": "", name: value}
        ran = place.keyed("tag", url, environment=nowhere | region).exits(2)
        ran.prints("").says(f"tagmac: {name}: expected a name of letters, digits, - and _")
    config = files(place, keys(), f"[default]\nregion = {value}\n")
    config |= {"AWS_REGION": "", "AWS_DEFAULT_REGION": ""}
    ran = place.keyed("tag", url, environment=nowhere | config).exits(2)
    ran.prints("").says("profile default: region: expected a name of letters, digits, - and _")


def test_a_region_that_is_empty_is_none(place, url):
    config = files(place, keys(), "[default]\nregion =\n")
    place.keyed("tag", url, environment=config | {"AWS_REGION": "", "AWS_DEFAULT_REGION": ""}).exits(0)


@pytest.mark.parametrize("value", HOSTS)
def test_accounts_that_no_host_can_have(place, value):
    settings = {"AZURE_STORAGE_ACCOUNT_KEY": "a2V5a2V5", "AZURE_STORAGE_ACCOUNT_NAME": value}
    for more in ({}, {"AZURE_STORAGE_USE_EMULATOR": "true"}, {"AZURE_USE_FABRIC_ENDPOINT": "true"}):
        ran = place.keyed("tag", "az://container/key", environment=settings | more).exits(2)
        ran.prints("").says("AZURE_STORAGE_ACCOUNT_NAME: expected a name of letters")


@pytest.mark.parametrize("value", ["../x", "x/y", "x?y", "x#", "..", "x@y"])
def test_tenants_that_no_path_can_have(place, value):
    for name in ("AZURE_TENANT_ID", "AZURE_STORAGE_TENANT_ID", "AZURE_AUTHORITY_ID"):
        for client in ("i", ""):
            settings = {"AZURE_STORAGE_ACCOUNT_NAME": "account", name: value}
            settings |= {"AZURE_CLIENT_ID": client, "AZURE_CLIENT_SECRET": "s"}
            ran = place.keyed("tag", "az://container/key", environment=settings).exits(2)
            ran.prints("").says(f"{name}: expected a tenant of letters")


@pytest.mark.parametrize(
    "value", ["http://example.org", "https://a@example.org", "https://example.org/?x", "a@example.org"]
)
def test_services_that_give_keys_are_named_by_a_url(place, url, value):
    for name in ("AZURE_AUTHORITY_HOST", "AZURE_STORAGE_AUTHORITY_HOST"):
        settings = {"AZURE_STORAGE_ACCOUNT_NAME": "account", "AZURE_TENANT_ID": "t"}
        settings |= {"AZURE_CLIENT_ID": "i", "AZURE_CLIENT_SECRET": "s", name: value}
        ran = place.keyed("tag", "az://container/key", environment=settings).exits(2)
        ran.prints("").says(f"{name}: ")
    token = {"AWS_WEB_IDENTITY_TOKEN_FILE": "f", "AWS_ROLE_ARN": "r", "AWS_ENDPOINT_URL_STS": value}
    no_http = {"AWS_ALLOW_HTTP": ""}
    ran = place.keyed("tag", "s3://bucket/o", environment=WITHOUT_KEYS | token | no_http).exits(2)
    ran.prints("").says("AWS_ENDPOINT_URL_STS: ")
    # The service is not used for keys that are in the environment.
    place.keyed("tag", url, environment=token).exits(0)


def test_services_that_nobody_asks_for_keys(place):
    settings = {"AZURE_STORAGE_ACCOUNT_NAME": "account", "AZURE_STORAGE_ACCOUNT_KEY": "a2V5a2V5"}
    settings |= {"AZURE_TENANT_ID": "../x", "AZURE_AUTHORITY_HOST": "http://example.org"}
    for name in ("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"):
        ran = place.keyed("tag", "az://container/key", environment=settings | {name: "ftp://x"})
        ran.exits(2).says(f"tagmac: {name}: expected https://, found ftp://x")


def test_a_service_that_gives_keys_may_be_named_by_its_host(place):
    settings = {"AZURE_STORAGE_ACCOUNT_NAME": "account", "AZURE_TENANT_ID": "t"}
    # No server listens on this port.
    settings |= {"AZURE_AUTHORITY_HOST": "127.0.0.1:1"}
    settings |= {"AZURE_CLIENT_ID": "i", "AZURE_CLIENT_SECRET": "s"}
    ran = place.keyed("tag", "az://container/key", environment=settings).exits(4)
    ran.says("no credentials for Azure")


def test_a_container_s_path_is_one(place, url):
    settings = WITHOUT_KEYS | {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "@example.org/"}
    settings |= {"AWS_EC2_METADATA_DISABLED": ""}
    ran = place.keyed("tag", url, environment=settings).exits(2).prints("")
    ran.says("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: the path must begin with /")


def test_a_token_of_a_web_identity_has_a_role(place, url):
    """Without a role, the machine's role would sign."""
    settings = WITHOUT_KEYS | {"AWS_EC2_METADATA_DISABLED": ""}
    ran = place.keyed("tag", url, environment=settings | {"AWS_WEB_IDENTITY_TOKEN_FILE": "f"})
    ran.exits(2).prints("").says("AWS_WEB_IDENTITY_TOKEN_FILE needs AWS_ROLE_ARN")
    # Keys take precedence over the token.
    place.keyed("tag", url, environment={"AWS_WEB_IDENTITY_TOKEN_FILE": "f"}).exits(0)
    # AWS's tools would exchange the token of a profile, whether it has keys or not.
    for text in ("", keys()):
        made = files(place, text, "[default]\nweb_identity_token_file = f\n")
        ran = place.keyed("tag", url, environment=made).exits(2)
        ran.says("profile default: web_identity_token_file needs role_arn")


@pytest.mark.parametrize("name", [b"AWS_ENDPOINT_URL", b"AWS_REGION", b"AWS_ROLE_ARN"])
def test_settings_that_are_no_text_are_not_skipped(place, url, name):
    ran = place.keyed("tag", url, environment={name: b"\xff"}).exits(2)
    ran.prints("").says(f"{name.decode()}: not valid UTF-8")


@pytest.mark.parametrize("variable", ["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"])
def test_files_are_found_from_home(place, url, variable):
    """AWS's tools also expand `$HOME` and another user's `~user`; tagmac supports only `~`."""
    place.folder.joinpath("mine").write_text(keys())
    nothing = files(place) | {"HOME": str(place.folder)}
    place.keyed("tag", url, environment=nothing | {variable: "~/mine"}).exits(0)
    for path, said in (
        ("~/none", "no such file; use /dev/null"),
        (str(place.folder / "none"), "no such file; use /dev/null"),
        ("$HOME/mine", "no such file; use /dev/null"),
        ("~root/mine", "only ~/ is supported"),
    ):
        # If the file were ignored, other keys and endpoints would be used.
        ran = place.keyed("tag", url, environment=nothing | {variable: path}).exits(2)
        ran.prints("").says(f"{variable}: ", said)
        # With keys in the environment, the credentials file is not needed.
        own = {name: os.environ[name] for name in KEYS}
        ran = place.keyed("tag", url, environment=nothing | own | {variable: path})
        needed = variable == "AWS_CONFIG_FILE" or path == "~root/mine"
        ran.exits(2 if needed else 0)
    ran = place.keyed("tag", url, environment=nothing | {variable: "~/mine", "HOME": ""}).exits(2)
    ran.says(f"{variable}: ~/mine: HOME is not set")
    place.keyed("tag", url, environment={variable: "/dev/null"}).exits(0)


def test_settings_of_other_stores_are_not_shown(place):
    settings = {"GOOGLE_SERVICE_ACCOUNT_KEY": '"hunter2"'}
    ran = place.keyed("tag", "gs://bucket/key", environment=settings)
    assert ran.code in (2, 4) and "hunter2" not in ran.err
    ran = place.keyed("tag", "az://container/key").exits(2).says("AZURE_")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AWS_USE_FIPS_ENDPOINT", "true"),
        ("AWS_USE_DUALSTACK_ENDPOINT", "true"),
        ("AWS_AUTH_SCHEME_PREFERENCE", "sigv4a"),
        ("AWS_SIGV4A_SIGNING_REGION_SET", "*"),
        ("AWS_SECURITY_TOKEN", "t"),
        ("AWS_PROXY_URL", "http://127.0.0.1:1"),
    ],
)
def test_variables_that_are_not_followed_are_refused(place, name, value):
    """Each changes where a request goes or how it is signed. The tests of `aws` cover all of them."""
    nowhere = {"AWS_ENDPOINT_URL": "", name: value}
    ran = place.keyed("tag", f"s3://{place.bucket}/o", environment=nowhere).exits(2)
    ran.prints("").says(f"{name}: tagmac does not support this setting")


@pytest.mark.parametrize("with_keys", [True, False])
def test_a_services_section_names_the_store(place, url, with_keys):
    """If it were ignored, a request for a private store would go to AWS, signed with its key."""
    config = (
        "[default]\nservices = private\nendpoint_url = http://127.0.0.1:1\n"
        f"[services private]\ns3 =\n  endpoint_url = {place.proxy.url}\n"
    )
    made = files(place, "" if with_keys else keys(), config)
    if with_keys:
        made |= {name: os.environ[name] for name in KEYS}
    place.keyed("tag", url, environment=made | {"AWS_ENDPOINT_URL": ""}).exits(0)
    assert place.proxy.log
    place.folder.joinpath("config").write_text(config + "  signature_version = s3\n")
    ran = place.keyed("tag", url, environment=made | {"AWS_ENDPOINT_URL": ""}).exits(2)
    ran.prints("").says("services private: tagmac does not support s3.signature_version")
    place.folder.joinpath("config").write_text(config.replace("= private", "= other"))
    ran = place.keyed("tag", url, environment=made | {"AWS_ENDPOINT_URL": ""}).exits(2)
    ran.prints("").says("profile default: the section [services other] is missing")
    # The environment's endpoint takes precedence.
    place.keyed("tag", url, environment=made).exits(0)


def test_endpoints_that_are_ignored(place, url):
    """Only a plain true sends requests to AWS."""
    for value in ("1", "yes", "x"):
        ignored = {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": value}
        ran = place.keyed("tag", url, environment=ignored).exits(2).prints("")
        ran.says(f"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: expected true or false, found {value}")
    place.keyed("tag", url, environment={"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "false"}).exits(0)
    made = files(place, keys(), "[default]\nignore_configured_endpoint_urls = yes\n")
    ran = place.keyed("tag", url, environment=made).exits(2)
    ran.says("profile default: ignore_configured_endpoint_urls: expected true or false")


def test_settings_of_a_profile_that_are_not_followed_are_refused(place, url):
    for setting, shown in (
        ("use_fips_endpoint = true", "use_fips_endpoint"),
        ("s3 =\n  addressing_style = virtual", "s3.addressing_style"),
        ("s3 =\n  use_accelerate_endpoint = true", "s3.use_accelerate_endpoint"),
    ):
        made = files(place, keys(), f"[profile default]\n{setting}\n") | {"AWS_ENDPOINT_URL": ""}
        ran = place.keyed("tag", url, environment=made).exits(2).prints("")
        ran.says(f"profile default: tagmac does not support {shown}")


def test_a_config_that_cannot_be_read_is_named(place, url):
    """The config file may name the store."""
    made = {"AWS_CONFIG_FILE": str(place.folder)}
    place.keyed("tag", url, environment=made).exits(4).says("not a regular file, or larger than 1 MiB")


@pytest.mark.parametrize(
    ("scheme", "name"),
    [
        ("gs", "STORAGE_EMULATOR_HOST"),
        ("gs", "GOOGLE_CLOUD_UNIVERSE_DOMAIN"),
        ("gs", "GOOGLE_PROXY_URL"),
        ("az", "AZURE_STORAGE_CONNECTION_STRING"),
        ("az", "AZURE_STORAGE_SERVICE_ENDPOINT"),
        ("az", "AZURE_STORAGE_AUTH_MODE"),
        ("az", "AZURE_STORAGE_ENCRYPTION_KEY"),
        ("az", "AZURE_PROXY_URL"),
    ],
)
def test_variables_of_other_stores_that_are_not_followed_are_refused(place, scheme, name):
    ran = place.keyed("tag", f"{scheme}://bucket/o", environment={name: "hunter2"}).exits(2)
    ran.says(f"{name}: tagmac does not support this variable")
    assert "hunter2" not in ran.err


def test_a_service_account_that_names_a_store_is_refused(place):
    text = '{"gcs_base_url": "http://127.0.0.1:1"}'
    place.folder.joinpath("account").write_text(text)
    for name in ("GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_PATH", "SERVICE_ACCOUNT"):
        account = {name: str(place.folder / "account")}
        ran = place.keyed("tag", "gs://bucket/o", environment=account).exits(2)
        ran.says(f"tagmac: {name}: tagmac does not support gcs_base_url")
    account = {"GOOGLE_SERVICE_ACCOUNT_KEY": text}
    ran = place.keyed("tag", "gs://bucket/o", environment=account).exits(2)
    ran.says("GOOGLE_SERVICE_ACCOUNT_KEY: tagmac does not support gcs_base_url")
