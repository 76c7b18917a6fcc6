//! Finds the source of the keys, in the order of AWS's tools:
//!
//! 1. keys in the environment,
//! 2. a web identity token of the environment,
//! 3. the profile: a role, IAM Identity Center, keys in the credentials file, a program, keys in
//!    the config file,
//! 4. the service of a container,
//! 5. the metadata service of an instance.
//!
//! The AWS CLI and boto3 try a profile's role before 2.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tagmac_files::Error;
use tagmac_files::escaped::Escaped;
use zeroize::Zeroizing;

use crate::aws::endpoints::{Endpoints, Kind};
use crate::aws::files::{Profile, Section};
use crate::aws::key::{Key, is_plain};
use crate::aws::machine::{Container, Instance, Token};
use crate::aws::process::{Process, split};
use crate::aws::provider::Source;
use crate::aws::sso::{Sso, token_file};
use crate::aws::sts::{Role, WebIdentity};
use crate::endpoint::{check_label, check_near, is_true};

/// The host of the service of a container with a relative URI.
const CONTAINER: &str = "http://169.254.170.2";
const INSTANCE: &str = "http://169.254.169.254";
const INSTANCE_V6: &str = "http://[fd00:ec2::254]";
/// The name of a role's session, if none is set.
const SESSION: &str = "tagmac";
/// The seconds that AWS STS allows for the keys of a role.
const ROLE_SECONDS: std::ops::RangeInclusive<u32> = 900..=43200;
const MAX_METADATA_SECONDS: u64 = 60;
const MAX_METADATA_ATTEMPTS: u64 = 10;

const KEY_ID: &str = "AWS_ACCESS_KEY_ID";
const SECRET: &str = "AWS_SECRET_ACCESS_KEY";
const TOKENS: [&str; 2] = ["AWS_SESSION_TOKEN", "AWS_TOKEN"];

/// Settings of a profile that need other settings.
const INCOMPLETE: [(&str, &str); 6] = [
    ("source_profile", "role_arn"),
    ("credential_source", "role_arn"),
    ("sso_session", "sso_account_id and sso_role_name"),
    ("sso_start_url", "sso_account_id and sso_role_name"),
    ("aws_secret_access_key", "aws_access_key_id"),
    ("aws_session_token", "aws_access_key_id"),
];

/// Finds the source of the keys.
pub struct Chain<'a> {
    /// The settings.
    pub endpoints: &'a Endpoints<'a>,
    /// The region, whose name is a label.
    pub region: &'a str,
}

/// Returns whether the environment has keys or a web identity token.
pub fn is_in_environment(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    variable(KEY_ID).is_some() || variable("AWS_WEB_IDENTITY_TOKEN_FILE").is_some()
}

impl Chain<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        (self.endpoints.variable)(name)
    }

    /// Returns the source of the keys.
    pub fn source(&self) -> Result<Source, Error> {
        if let Some(key) = self.key_of_environment()? {
            return Ok(Source::Fixed(key));
        }
        if let Some(file) = self.variable("AWS_WEB_IDENTITY_TOKEN_FILE") {
            // Without the role the token would be ignored, and the machine's role would sign.
            let Some(arn) = self.variable("AWS_ROLE_ARN") else {
                return Err(Error::usage(
                    "AWS_WEB_IDENTITY_TOKEN_FILE needs AWS_ROLE_ARN, which is not set",
                ));
            };
            let session = self.variable("AWS_ROLE_SESSION_NAME");
            return self.web_identity(file.into(), arn, session);
        }
        let profile = self.endpoints.profile;
        let mut visited = vec![profile.name.clone()];
        match self.of_profile(profile, false, &mut visited)? {
            Some(source) => Ok(source),
            None => self.machine(),
        }
    }

    /// Returns the keys of the environment.
    fn key_of_environment(&self) -> Result<Option<Arc<Key>>, Error> {
        let token_name = TOKENS.into_iter().find(|name| self.variable(name).is_some());
        let [id, secret] = [KEY_ID, SECRET].map(|name| self.variable(name));
        let lone = token_name.or(secret.is_some().then_some(SECRET));
        let Some(id) = id else {
            return match lone {
                // The web identity's keys replace them.
                Some(_) if is_in_environment(self.endpoints.variable) => Ok(None),
                Some(SECRET) => {
                    Err(Error::usage(format_args!("{SECRET} needs {KEY_ID}, which is not set")))
                }
                Some(name) => Err(Error::usage(format_args!(
                    "{name} needs {KEY_ID} and {SECRET}, which are not set"
                ))),
                None => Ok(None),
            };
        };
        let Some(secret) = secret else {
            return Err(Error::usage(format_args!("{KEY_ID} needs {SECRET}, which is not set")));
        };
        let token = token_name.and_then(|name| self.variable(name));
        let names = [KEY_ID, SECRET, token_name.unwrap_or_default()].map(String::from);
        checked(names, id, secret, token).map(Some)
    }

    /// Returns the source of a profile's keys; `None` if it has no settings for keys. If `is_base`,
    /// the keys are for the role of another profile. Then a profile's keys count before its role.
    fn of_profile(
        &self,
        profile: &Profile,
        is_base: bool,
        visited: &mut Vec<String>,
    ) -> Result<Option<Source>, Error> {
        let has_keys = profile.get("aws_access_key_id").is_some();
        if profile.get("aws_security_token").is_some() {
            return Err(profile.refused("aws_security_token"));
        }
        match (profile.get("role_arn"), profile.get("web_identity_token_file")) {
            (Some(arn), Some(file)) => {
                let session = profile.get("role_session_name").map(String::from);
                return self.web_identity(file.into(), arn.into(), session).map(Some);
            }
            (Some(arn), None) if !(is_base && has_keys) => {
                return self.role(profile, arn, visited).map(Some);
            }
            (None, Some(_)) => {
                return Err(profile.wrong("web_identity_token_file needs role_arn"));
            }
            _ => {}
        }
        if ["sso_account_id", "sso_role_name"].iter().any(|name| profile.get(name).is_some()) {
            return self.sso(profile).map(Some);
        }
        if has_keys && profile.keys_in_credentials {
            return key_of(profile).map(Some);
        }
        if profile.get("login_session").is_some() {
            return Err(profile.refused_keys("login_session"));
        }
        if let Some(line) = profile.get("credential_process") {
            let words = split(line).filter(|words| words.first().is_some_and(|w| !w.is_empty()));
            let words = words.ok_or_else(|| {
                profile.wrong(
                    "credential_process: expected a program and its arguments; check the quotes",
                )
            })?;
            return Ok(Some(Source::Process(Process { profile: profile.shown(), words })));
        }
        if has_keys {
            return key_of(profile).map(Some);
        }
        // Without this check the machine's role would sign.
        for (setting, needs) in INCOMPLETE {
            if profile.get(setting).is_some() {
                return Err(profile.wrong(format_args!("{setting} needs {needs}")));
            }
        }
        Ok(None)
    }

    /// Returns the role of a profile.
    fn role(
        &self,
        profile: &Profile,
        arn: &str,
        visited: &mut Vec<String>,
    ) -> Result<Source, Error> {
        // The code changes each minute, and the command cannot ask for it.
        if profile.get("mfa_serial").is_some() {
            return Err(profile.refused_keys("mfa_serial"));
        }
        let base = match (profile.get("source_profile"), profile.get("credential_source")) {
            (Some(name), None) => self.source_profile(profile, name, visited)?,
            (None, Some(source)) => self.credential_source(profile, source)?,
            (Some(_), Some(_)) => {
                return Err(
                    profile.wrong("set either source_profile or credential_source, not both")
                );
            }
            (None, None) => {
                return Err(profile.wrong(
                    "role_arn needs source_profile, credential_source or web_identity_token_file",
                ));
            }
        };
        let seconds = profile.get("duration_seconds").map(|value| {
            let seconds = value.parse().ok().filter(|seconds| ROLE_SECONDS.contains(seconds));
            seconds.ok_or_else(|| {
                let (least, most) = (ROLE_SECONDS.start(), ROLE_SECONDS.end());
                profile.wrong(format_args!(
                    "duration_seconds: expected a number from {least} to {most}, found {}",
                    Escaped::text(value.as_bytes())
                ))
            })
        });
        let role = Role {
            arn: arn.into(),
            session: profile.get("role_session_name").unwrap_or(SESSION).into(),
            external_id: profile.get("external_id").map(String::from),
            seconds: seconds.transpose()?,
            sts: self.endpoints.service(Kind::Sts, self.region)?,
        };
        Ok(Source::Role(role, Box::new(base)))
    }

    fn source_profile(
        &self,
        profile: &Profile,
        name: &str,
        visited: &mut Vec<String>,
    ) -> Result<Source, Error> {
        let shown = Escaped::text(name.as_bytes()).to_string();
        let found = self.endpoints.files.profile(name).ok_or_else(|| {
            profile.wrong(format_args!("source_profile: there is no profile {shown}"))
        })?;
        // A profile may name itself if it has keys.
        let has_keys = found.get("aws_access_key_id").is_some();
        if visited.iter().any(|visited| visited == name) && !(name == profile.name && has_keys) {
            return Err(
                profile.wrong(format_args!("source_profile: {shown} appears twice in the chain"))
            );
        }
        visited.push(name.into());
        self.of_profile(&found, true, visited)?.ok_or_else(|| {
            profile.wrong(format_args!("source_profile: the profile {shown} has no keys"))
        })
    }

    fn credential_source(&self, profile: &Profile, source: &str) -> Result<Source, Error> {
        let needs = |what: &str| {
            profile.wrong(format_args!("credential_source {source} needs {what}, which is not set"))
        };
        match source {
            "Environment" => {
                let key = self.key_of_environment()?.ok_or_else(|| needs(KEY_ID))?;
                Ok(Source::Fixed(key))
            }
            "EcsContainer" => {
                let container = self.container()?;
                container.ok_or_else(|| needs("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"))
            }
            "Ec2InstanceMetadata" if self.is_metadata_disabled() => Err(profile.wrong(
                "credential_source Ec2InstanceMetadata: AWS_EC2_METADATA_DISABLED forbids it",
            )),
            "Ec2InstanceMetadata" => self.instance(false),
            _ => Err(profile.wrong(format_args!(
                "credential_source: expected Environment, EcsContainer or Ec2InstanceMetadata, \
                 found {}",
                Escaped::text(source.as_bytes())
            ))),
        }
    }

    fn web_identity(
        &self,
        token_file: PathBuf,
        arn: String,
        session: Option<String>,
    ) -> Result<Source, Error> {
        let session = session.unwrap_or_else(|| SESSION.into());
        let sts = self.endpoints.service(Kind::Sts, self.region)?;
        Ok(Source::WebIdentity(WebIdentity { token_file, arn, session, sts }))
    }

    fn sso(&self, profile: &Profile) -> Result<Source, Error> {
        let session = match profile.get("sso_session") {
            None => None,
            Some(name) => {
                let found = self.endpoints.files.section("sso-session", name);
                let shown = Escaped::text(name.as_bytes());
                Some((
                    name,
                    found.ok_or_else(|| {
                        profile.wrong(format_args!("the section [sso-session {shown}] is missing"))
                    })?,
                ))
            }
        };
        let section = session.as_ref().map(|(_, section)| section);
        let of = |setting: &'static str| -> Result<&str, Error> {
            let of_session = section.and_then(|section: &Section| section.get(setting));
            match (profile.get(setting), of_session) {
                (Some(own), Some(other)) if own != other => Err(profile.wrong(format_args!(
                    "{setting} differs from that of its section [sso-session]"
                ))),
                (Some(found), None) if section.is_none() => Ok(found),
                (_, Some(found)) => Ok(found),
                _ => Err(profile.wrong(format_args!("its settings for SSO lack {setting}"))),
            }
        };
        let own = |setting: &'static str| {
            let missing = || profile.wrong(format_args!("its settings for SSO lack {setting}"));
            profile.get(setting).map(String::from).ok_or_else(missing)
        };
        let (account, role) = (own("sso_account_id")?, own("sso_role_name")?);
        let (region, start_url) = (of("sso_region")?, of("sso_start_url")?);
        // The region becomes part of a host.
        check_label(&format!("profile {}: sso_region", profile.shown()), region)?;
        let Some(home) = &self.endpoints.files.home else {
            return Err(profile.wrong("HOME is not set, so ~/.aws/sso/cache is unknown"));
        };
        Ok(Source::Sso(Sso {
            profile: profile.shown(),
            account,
            role,
            token_file: token_file(home, session.as_ref().map_or(start_url, |(name, _)| name)),
            portal: self.endpoints.service(Kind::Sso, region)?,
            oidc: self.endpoints.service(Kind::SsoOidc, region)?,
        }))
    }

    /// Returns the source of the machine's keys.
    fn machine(&self) -> Result<Source, Error> {
        // boto3 looks for keys in these files before it asks the machine.
        for name in ["AWS_CREDENTIAL_FILE", "BOTO_CONFIG"] {
            if self.variable(name).is_some() {
                return Err(Error::usage(format_args!(
                    "{name}: tagmac does not support this setting; unset it"
                )));
            }
        }
        match self.container()? {
            Some(source) => Ok(source),
            None if self.is_metadata_disabled() => Ok(Source::Nowhere),
            None => self.instance(true),
        }
    }

    fn container(&self) -> Result<Option<Source>, Error> {
        let relative = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
        let full = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
        let url = match (self.variable(relative), self.variable(full)) {
            // The path is appended to a host name, so it must not be able to change the host.
            (Some(path), _) if !path.starts_with('/') => {
                return Err(Error::usage(format_args!("{relative}: the path must begin with /")));
            }
            (Some(path), _) => format!("{CONTAINER}{path}"),
            (None, Some(url)) => {
                check_near(full, &url, self.endpoints.allow_http)?;
                url
            }
            (None, None) => return Ok(None),
        };
        let file = self.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
        let token = "AWS_CONTAINER_AUTHORIZATION_TOKEN";
        let token = match (file, self.variable(token)) {
            (Some(file), _) => Token::File(file.into()),
            (None, Some(text)) => Token::Text(Zeroizing::new(text)),
            (None, None) => Token::None,
        };
        Ok(Some(Source::Container(Container { url, token })))
    }

    fn is_metadata_disabled(&self) -> bool {
        self.variable("AWS_EC2_METADATA_DISABLED").is_some_and(|value| is_true(&value))
    }

    fn instance(&self, is_last: bool) -> Result<Source, Error> {
        let url = match self.setting("AWS_EC2_METADATA_SERVICE_ENDPOINT") {
            Some((name, url)) => {
                check_near(&name, &url, self.endpoints.allow_http)?;
                url.trim_end_matches('/').into()
            }
            None => match self.setting("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE") {
                Some((_, mode)) if mode.eq_ignore_ascii_case("ipv6") => INSTANCE_V6.into(),
                Some((name, mode)) if !mode.eq_ignore_ascii_case("ipv4") => {
                    let mode = Escaped::text(mode.as_bytes());
                    return Err(Error::usage(format_args!(
                        "{name}: expected IPv4 or IPv6, found {mode}"
                    )));
                }
                _ => INSTANCE.into(),
            },
        };
        let number = |name, most| match self.setting(name) {
            None => Ok(1),
            Some((name, value)) => {
                let number = value.parse().ok().filter(|number| (1..=most).contains(number));
                number.ok_or_else(|| {
                    Error::usage(format_args!(
                        "{name}: expected a number from 1 to {most}, found {}",
                        Escaped::text(value.as_bytes())
                    ))
                })
            }
        };
        let seconds = number("AWS_METADATA_SERVICE_TIMEOUT", MAX_METADATA_SECONDS)?;
        let attempts = number("AWS_METADATA_SERVICE_NUM_ATTEMPTS", MAX_METADATA_ATTEMPTS)?;
        let timeout = Duration::from_secs(seconds);
        let attempts = u32::try_from(attempts).unwrap_or(1);
        Ok(Source::Instance(Instance { url, timeout, attempts, is_last }))
    }

    /// Returns the value of a variable, or of the profile's setting with the same name.
    fn setting(&self, variable: &'static str) -> Option<(String, String)> {
        if let Some(value) = self.variable(variable) {
            return Some((variable.into(), value));
        }
        let setting = variable.trim_start_matches("AWS_").to_ascii_lowercase();
        let value = self.endpoints.profile.get(&setting)?.into();
        Some((format!("profile {}: {setting}", self.endpoints.profile.shown()), value))
    }
}

/// Returns the keys of a profile.
fn key_of(profile: &Profile) -> Result<Source, Error> {
    let [id, secret, token] = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"];
    let names =
        [id, secret, token].map(|setting| format!("profile {}: {setting}", profile.shown()));
    let of = |setting| profile.get(setting).map(String::from);
    match (of(id), of(secret)) {
        (Some(id), Some(secret)) => checked(names, id, secret, of(token)).map(Source::Fixed),
        _ => Err(profile.wrong(format_args!("{id} needs {secret}"))),
    }
}

/// Rejects keys that cannot be sent in a header. The message does not contain the key.
fn checked(
    names: [String; 3],
    id: String,
    secret: String,
    token: Option<String>,
) -> Result<Arc<Key>, Error> {
    let [is_good_id, is_good_secret] = [&id, &secret].map(|text| is_plain(text));
    let is_good_token = token.as_ref().is_none_or(|token| is_plain(token));
    let key = Arc::new(Key::new(id, secret, token));
    let good = [is_good_id, is_good_secret, is_good_token];
    match names.iter().zip(good).find(|(_, is_good)| !is_good) {
        None => Ok(key),
        Some((name, _)) => Err(Error::usage(format_args!(
            "{name}: contains a blank or a character that is not printable ASCII"
        ))),
    }
}

#[cfg(test)]
mod tests;
