//! Tests of the order of the places, and of the settings that are rejected.

use super::*;
use crate::aws::files::Files;
use crate::aws::tests::value;

/// The environment has a key.
const ENVIRONMENT: [(&str, &str); 2] = [(KEY_ID, "env"), (SECRET, "s")];
const IDENTITY: [(&str, &str); 2] =
    [("AWS_WEB_IDENTITY_TOKEN_FILE", "f"), ("AWS_ROLE_ARN", "arn:env")];
const CONTAINER_URI: (&str, &str) = ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/x");
/// The settings of a profile, by precedence.
const ROLE: &str = "role_arn = arn:p\nsource_profile = base\n";
const WEB: &str = "web_identity_token_file = /f\n";
const SSO: &str = "sso_account_id = 1\nsso_role_name = r\nsso_session = s\n";
const LOGIN: &str = "login_session = x\n";
const PROCESS: &str = "credential_process = /bin/keys 'a b'\n";
const KEYS: &str = "aws_access_key_id = own\naws_secret_access_key = s\n";
const SECTIONS: &str = "[sso-session s]\nsso_region = eu-1\nsso_start_url = https://u\n\
                        [profile base]\naws_access_key_id = base\naws_secret_access_key = s\n";

fn shown(source: &Source) -> String {
    match source {
        Source::Fixed(key) => format!("key {}", key.credential().key_id),
        Source::Process(process) => format!("run {}", process.words.join("|")),
        Source::Sso(Sso { account, role, portal, oidc, .. }) => {
            format!("sso {account} {role} {} {}", portal.url, oidc.url)
        }
        Source::Role(Role { arn, session, external_id, seconds, sts }, base) => {
            let external = external_id.as_deref().unwrap_or("-");
            let seconds = seconds.map_or("-".into(), |seconds| seconds.to_string());
            format!("{arn} {session} {external} {seconds} {} <- {}", sts.url, shown(base))
        }
        Source::WebIdentity(WebIdentity { token_file, arn, session, sts }) => {
            format!("web {} {arn} {session} {}", token_file.display(), sts.url)
        }
        Source::Container(Container { url, token }) => match token {
            Token::None => format!("container {url}"),
            Token::Text(token) => format!("container {url} {}", token.as_str()),
            Token::File(path) => format!("container {url} < {}", path.display()),
        },
        Source::Instance(Instance { url, timeout, attempts, is_last }) => {
            format!("instance {url} {timeout:?} {attempts} {is_last}")
        }
        Source::Nowhere => "nowhere".into(),
    }
}

/// Returns the source for an environment and both files, without a home directory.
fn with_files(variables: &[(&str, &str)], files: &Files) -> Result<String, String> {
    let variable = |name: &str| value(variables, name);
    let profile = files.chosen(&|_| None).unwrap();
    let endpoints = Endpoints { variable: &variable, files, profile: &profile, allow_http: false };
    let source = Chain { endpoints: &endpoints, region: "eu-2" }.source();
    source.map(|source| shown(&source)).map_err(|error| error.to_string())
}

fn found(variables: &[(&str, &str)], config: &str) -> Result<String, String> {
    let mut files = Files::with(config, "");
    files.home = Some("/h".into());
    with_files(variables, &files)
}

fn is(variables: &[(&str, &str)], config: &str, expected: &str) {
    assert_eq!(found(variables, config).as_deref(), Ok(expected), "{config}");
}

fn refuses(variables: &[(&str, &str)], config: &str, expected: &str) {
    let error = found(variables, config).unwrap_err();
    assert!(error.contains(expected), "expected {expected}, found {error}");
}

#[test]
fn the_places_have_an_order() {
    let sts = "https://sts.eu-2.amazonaws.com";
    let all = [ROLE, SSO, LOGIN, PROCESS, KEYS].concat();
    let config = |settings: &str| format!("[default]\n{settings}{SECTIONS}");
    let variables = [&ENVIRONMENT[..], &IDENTITY, &[CONTAINER_URI]].concat();
    is(&variables, &config(&all), "key env");
    is(&variables[2..], &config(&all), &format!("web f arn:env tagmac {sts}"));
    is(&variables[4..], &config(&(all.clone() + WEB)), &format!("web /f arn:p tagmac {sts}"));
    is(&variables[4..], &config(&all), &format!("arn:p tagmac - - {sts} <- key base"));
    let rest = all.strip_prefix(ROLE).unwrap();
    let sso = "sso 1 r https://portal.sso.eu-1.amazonaws.com https://oidc.eu-1.amazonaws.com";
    is(&variables[4..], &config(rest), sso);
    let rest = rest.strip_prefix(SSO).unwrap();
    refuses(
        &variables[4..],
        &config(rest),
        "profile default: tagmac does not support login_session",
    );
    let rest = rest.strip_prefix(LOGIN).unwrap();
    is(&variables[4..], &config(rest), "run /bin/keys|a b");
    is(&variables[4..], &config(KEYS), "key own");
    is(&variables[4..], "", "container http://169.254.170.2/v2/x");
    is(&[], "", "instance http://169.254.169.254 1s 1 true");
    is(&[("AWS_EC2_METADATA_DISABLED", "true")], "", "nowhere");
}

#[test]
fn keys_of_the_credentials_file_come_before_a_program() {
    let config = format!("[default]\n{PROCESS}{LOGIN}");
    let files = Files::with(&config, &format!("[default]\n{KEYS}"));
    assert_eq!(with_files(&[], &files).as_deref(), Ok("key own"));
    let files = Files::with(&format!("[default]\n{KEYS}"), &format!("[default]\n{PROCESS}"));
    assert_eq!(with_files(&[], &files).as_deref(), Ok("run /bin/keys|a b"));
}

#[test]
fn old_files_of_keys_are_refused() {
    for name in ["AWS_CREDENTIAL_FILE", "BOTO_CONFIG"] {
        refuses(&[(name, "f"), CONTAINER_URI], "", &format!("{name}: tagmac does not support"));
        is(&[(name, "f")], &format!("[default]\n{KEYS}"), "key own");
    }
}

#[test]
fn keys_are_complete() {
    refuses(&ENVIRONMENT[..1], "", "AWS_ACCESS_KEY_ID needs AWS_SECRET_ACCESS_KEY, which is not");
    refuses(&ENVIRONMENT[1..], "", "AWS_SECRET_ACCESS_KEY needs AWS_ACCESS_KEY_ID, which is not");
    for name in TOKENS {
        let needs = format!("{name} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, which are");
        refuses(&[(name, "t")], &format!("[default]\n{KEYS}"), &needs);
        is(&[&[(name, "t")][..], &ENVIRONMENT].concat(), "", "key env");
        let line = format!("{name}: contains a blank");
        refuses(&[&[(name, "secret t")][..], &ENVIRONMENT].concat(), "", &line);
    }
    refuses(&[(KEY_ID, "a b"), (SECRET, "s")], "", "AWS_ACCESS_KEY_ID: contains a blank");
    for (setting, needs) in [
        ("aws_access_key_id", "aws_secret_access_key"),
        ("aws_secret_access_key", "aws_access_key_id"),
        ("aws_session_token", "aws_access_key_id"),
    ] {
        let config = format!("[default]\n{setting} = x\n");
        refuses(&[], &config, &format!("profile default: {setting} needs {needs}"));
        let config = format!("[default]\n{KEYS}{setting} = a b\n");
        refuses(&[], &config, &format!("profile default: {setting}: contains a blank"));
    }
    let config = format!("[default]\n{KEYS}aws_security_token = t\n");
    refuses(&[], &config, "profile default: tagmac does not support aws_security_token");
}

#[test]
fn a_token_of_a_web_identity_has_a_role() {
    refuses(&IDENTITY[..1], "", "AWS_WEB_IDENTITY_TOKEN_FILE needs AWS_ROLE_ARN, which is not set");
    // The token comes from the environment, so its role must come from there too.
    refuses(&IDENTITY[..1], "[default]\nrole_arn = r\n", "needs AWS_ROLE_ARN");
    refuses(&[], &format!("[default]\n{WEB}{KEYS}"), "web_identity_token_file needs role_arn");
    let own =
        [("AWS_ROLE_SESSION_NAME", "n"), ("AWS_ENDPOINT_URL_STS", "https://e"), ("AWS_TOKEN", "t")];
    is(&[&IDENTITY[..], &own].concat(), "", "web f arn:env n https://e");
    let config = format!("[default]\n{WEB}role_arn = arn:p\nrole_session_name = m\n");
    is(&own[..2], &config, "web /f arn:p m https://e");
    refuses(&[("AWS_ENDPOINT_URL_STS", "http://example.org")], &config, "AWS_ENDPOINT_URL_STS: ");
}

#[test]
fn a_role_has_one_source() {
    let role = |settings: &str| format!("[default]\nrole_arn = arn:p\n{settings}{SECTIONS}");
    let sts = "https://sts.eu-2.amazonaws.com";
    let more =
        "external_id = x\nrole_session_name = n\nduration_seconds = 900\nsource_profile = base\n";
    is(&[], &role(more), &format!("arn:p n x 900 {sts} <- key base"));
    // A profile with keys and a role may name itself.
    let own = format!("source_profile = default\n{KEYS}");
    is(&[], &role(&own), &format!("arn:p tagmac - - {sts} <- key own"));
    is(
        &[],
        &role("credential_source = Ec2InstanceMetadata\n"),
        &format!("arn:p tagmac - - {sts} <- instance http://169.254.169.254 1s 1 false"),
    );
    is(
        &[CONTAINER_URI],
        &role("credential_source = EcsContainer\n"),
        &format!("arn:p tagmac - - {sts} <- container http://169.254.170.2/v2/x"),
    );
    for (settings, what) in [
        ("", "role_arn needs source_profile, credential_source or web_identity_token_file"),
        (KEYS, "role_arn needs source_profile, credential_source or web_identity_token_file"),
        (
            "source_profile = base\ncredential_source = Environment\n",
            "source_profile or credential_source, not both",
        ),
        ("source_profile = none\n", "source_profile: there is no profile none"),
        ("source_profile = base\nmfa_serial = m\n", "tagmac does not support mfa_serial; 'aws"),
        ("source_profile = base\nduration_seconds = 1\n", "a number from 900 to 43200, found 1"),
        ("source_profile = base\nduration_seconds = x\n", "a number from 900 to 43200, found x"),
        ("credential_source = environment\n", "expected Environment, EcsContainer or"),
        ("credential_source = Environment\n", "Environment needs AWS_ACCESS_KEY_ID, which is not"),
        ("credential_source = EcsContainer\n", "needs AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, wh"),
    ] {
        refuses(&[], &role(settings), "profile default: ");
        refuses(&[], &role(settings), what);
    }
    let disabled = [("AWS_EC2_METADATA_DISABLED", "true")];
    refuses(&disabled, &role("credential_source = Ec2InstanceMetadata\n"), "DISABLED forbids it");
}

#[test]
fn roles_form_a_chain_without_a_circle() {
    let chain = |last: &str| {
        format!(
            "[default]\nrole_arn = arn:1\nsource_profile = b\n\
             [profile b]\nrole_arn = arn:2\nsource_profile = c\n[profile c]\n{last}{SECTIONS}"
        )
    };
    let sts = "https://sts.eu-2.amazonaws.com";
    let roles = format!("arn:1 tagmac - - {sts} <- arn:2 tagmac - - {sts} <- ");
    is(&[], &chain(PROCESS), &format!("{roles}run /bin/keys|a b"));
    let both = format!("{ROLE}{KEYS}");
    is(&[], &chain(&both), &format!("{roles}key own"));
    let sso = "sso 1 r https://portal.sso.eu-1.amazonaws.com https://oidc.eu-1.amazonaws.com";
    is(&[], &chain(SSO), &format!("{roles}{sso}"));
    for name in ["default", "b", "c"] {
        let last = format!("role_arn = arn:3\nsource_profile = {name}\n");
        refuses(
            &[],
            &chain(&last),
            &format!("profile c: source_profile: {name} appears twice in the chain"),
        );
    }
    refuses(&[], &chain("region = x\n"), "profile b: source_profile: the profile c has no keys");
    // The machine's keys are used only by name.
    refuses(&[CONTAINER_URI], &chain(""), "profile b: source_profile: the profile c has no keys");
    refuses(
        &[],
        &chain("role_arn = r\nmfa_serial = m\n"),
        "profile c: tagmac does not support mfa",
    );
}

#[test]
fn sso_is_complete() {
    let legacy =
        "sso_account_id = 1\nsso_role_name = r\nsso_region = eu-3\nsso_start_url = https://u\n";
    let hosts = "https://portal.sso.eu-3.amazonaws.com https://oidc.eu-3.amazonaws.com";
    is(&[], &format!("[default]\n{legacy}"), &format!("sso 1 r {hosts}"));
    let own = [("AWS_ENDPOINT_URL_SSO", "https://a"), ("AWS_ENDPOINT_URL_SSO_OIDC", "https://b")];
    is(&own, &format!("[default]\n{legacy}"), "sso 1 r https://a https://b");
    for setting in ["sso_account_id", "sso_role_name", "sso_region", "sso_start_url"] {
        let lines = legacy.lines().filter(|line| !line.starts_with(setting));
        let rest: Vec<_> = lines.collect();
        let config = format!("[default]\n{}\n", rest.join("\n"));
        refuses(&[], &config, &format!("profile default: its settings for SSO lack {setting}"));
    }
    for setting in ["sso_session", "sso_start_url"] {
        let config = format!("[default]\n{setting} = x\n");
        refuses(&[], &config, &format!("{setting} needs sso_account_id and sso_role_name"));
        // AWS's tools use these for other tokens.
        is(&[], &format!("{config}{KEYS}"), "key own");
    }
    let session = |more: &str| format!("[default]\n{SSO}{more}{SECTIONS}");
    refuses(&[], &format!("[default]\n{SSO}"), "the section [sso-session s] is missing");
    refuses(
        &[],
        &session("sso_region = eu-9\n"),
        "sso_region differs from that of its section [sso-session]",
    );
    refuses(
        &[],
        &session("").replace("eu-1", "x@evil/"),
        "profile default: sso_region: expected a",
    );
    refuses(&[], &session("").replace("sso_start_url", "x"), "for SSO lack sso_start_url");
    let files = Files::with(&session(""), "");
    assert!(with_files(&[], &files).unwrap_err().contains("HOME is not set"));
}

#[test]
fn a_program_is_a_list_of_words() {
    for line in ["'a", "a\\", "''", "\"a"] {
        let config = format!("[default]\ncredential_process = {line}\n");
        refuses(&[], &config, "profile default: credential_process: expected a program");
    }
}

#[test]
fn a_container_is_near() {
    let relative = |path| [("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", path)];
    for wrong in ["@example.org/", ".example.org/", ":80/", "x"] {
        refuses(&relative(wrong), "", "RELATIVE_URI: the path must begin with /");
        is(&[&relative(wrong)[..], &ENVIRONMENT].concat(), "", "key env");
    }
    let full = |url| ("AWS_CONTAINER_CREDENTIALS_FULL_URI", url);
    let near = full("http://169.254.170.23/v1/credentials");
    let file = ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/f");
    let token = ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "t");
    is(&[near], "", "container http://169.254.170.23/v1/credentials");
    is(&[near, token], "", "container http://169.254.170.23/v1/credentials t");
    is(&[near, token, file], "", "container http://169.254.170.23/v1/credentials < /f");
    is(&[near, token, CONTAINER_URI], "", "container http://169.254.170.2/v2/x t");
    for wrong in ["http://example.org/", "ftp://127.0.0.1/", "x", "http://u@127.0.0.1/"] {
        refuses(&[full(wrong)], "", "AWS_CONTAINER_CREDENTIALS_FULL_URI: ");
    }
}

#[test]
fn the_metadata_service_has_settings() {
    let endpoint = "AWS_EC2_METADATA_SERVICE_ENDPOINT";
    let mode = "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE";
    is(&[(mode, "IPv6")], "", "instance http://[fd00:ec2::254] 1s 1 true");
    is(&[(mode, "ipv4")], "", "instance http://169.254.169.254 1s 1 true");
    is(&[(mode, "IPv6"), (endpoint, "http://[::1]:1/")], "", "instance http://[::1]:1 1s 1 true");
    let numbers =
        [("AWS_METADATA_SERVICE_TIMEOUT", "5"), ("AWS_METADATA_SERVICE_NUM_ATTEMPTS", "3")];
    is(&numbers, "", "instance http://169.254.169.254 5s 3 true");
    let config = "[default]\nec2_metadata_service_endpoint_mode = ipv6\n\
                  metadata_service_timeout = 2\nmetadata_service_num_attempts = 4\n";
    is(&[], config, "instance http://[fd00:ec2::254] 2s 4 true");
    is(&numbers, config, "instance http://[fd00:ec2::254] 5s 3 true");
    refuses(&[(endpoint, "http://example.org")], "", &format!("{endpoint}: expected https://"));
    refuses(&[(mode, "x")], "", &format!("{mode}: expected IPv4 or IPv6, found x"));
    for (name, wrong) in [(numbers[0].0, "0"), (numbers[0].0, "61"), (numbers[1].0, "x")] {
        refuses(&[(name, wrong)], "", &format!("{name}: expected a number from 1 to "));
    }
    let wrong = "[default]\nmetadata_service_timeout = x\n";
    refuses(&[], wrong, "profile default: metadata_service_timeout: expected a number");
    // The instance is not asked.
    is(&[&ENVIRONMENT[..], &[(mode, "x")]].concat(), "", "key env");
}

#[test]
fn a_private_store_issues_its_own_keys() {
    let config = format!("[default]\n{ROLE}endpoint_url = https://store\n{SECTIONS}");
    is(&[], &config, "arn:p tagmac - - https://store <- key base");
    let variables = [("AWS_ENDPOINT_URL", "https://other")];
    is(&variables, &config, "arn:p tagmac - - https://other <- key base");
    let identity = [&IDENTITY[..], &variables].concat();
    is(&identity, "", "web f arn:env tagmac https://other");
    // An endpoint for S3 alone is not one for STS.
    let s3 = [("AWS_ENDPOINT_URL_S3", "https://other"), ("AWS_ENDPOINT", "https://other")];
    let config = config.replace("endpoint_url", "unused");
    is(&s3, &config, "arn:p tagmac - - https://sts.eu-2.amazonaws.com <- key base");
}
