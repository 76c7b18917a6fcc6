//! AWS settings that AWS's tools support and tagmac does not.
//!
//! Each changes where a request goes or how it is signed. If they were ignored, a request for a
//! private store could go to AWS, signed with that store's key. So each is rejected, with its name.

use tagmac_files::Error;
use tagmac_files::escaped::Escaped;

use crate::endpoint::is_true;
use crate::profile::Profile;

/// The source of the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Nothing is signed.
    Unused,
    /// The environment, or a profile.
    Given,
    /// AWS STS, in exchange for a web identity token.
    WebIdentity,
    /// The machine: the service of its container or instance.
    Machine,
}

impl Keys {
    /// Returns the source that the environment determines; `None` if it depends on the profile and
    /// the machine.
    pub fn of_environment(
        variable: &dyn Fn(&str) -> Option<String>,
        is_signed: bool,
    ) -> Option<Keys> {
        let is_set = |name| variable(name).is_some();
        match () {
            () if !is_signed => Some(Keys::Unused),
            () if is_set("AWS_ACCESS_KEY_ID") => Some(Keys::Given),
            () if is_set("AWS_WEB_IDENTITY_TOKEN_FILE") => Some(Keys::WebIdentity),
            () => None,
        }
    }
}

/// The condition for a setting to matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// Always.
    Always,
    /// If no environment variable names the endpoint.
    NoEndpoint,
    /// If the keys come from this source.
    With(Keys),
}

/// The values of a setting that are refused.
#[derive(Clone, Copy, Debug)]
enum Values {
    /// Every value.
    Any,
    /// Values that mean yes.
    True,
    /// Only this value.
    This(&'static str),
    /// Every value except this one.
    NotThis(&'static str),
}

impl Values {
    fn has(self, value: &str) -> bool {
        match self {
            Values::Any => true,
            Values::True => is_true(value),
            Values::This(this) => value.eq_ignore_ascii_case(this),
            Values::NotThis(this) => !value.eq_ignore_ascii_case(this),
        }
    }
}

/// An environment variable, the same setting in a profile, the refused values, and the condition.
type Setting = (&'static str, &'static str, Values, When);

const SETTINGS: [Setting; 18] = [
    // Settings that change where a request goes.
    ("AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint", Values::True, When::NoEndpoint),
    ("AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint", Values::True, When::NoEndpoint),
    ("", "s3.use_dualstack_endpoint", Values::True, When::NoEndpoint),
    ("", "s3.use_accelerate_endpoint", Values::True, When::NoEndpoint),
    ("", "s3.addressing_style", Values::This("virtual"), When::Always),
    (
        "AWS_S3_US_EAST_1_REGIONAL_ENDPOINT",
        "s3_us_east_1_regional_endpoint",
        Values::This("legacy"),
        When::NoEndpoint,
    ),
    ("", "s3.us_east_1_regional_endpoint", Values::This("legacy"), When::NoEndpoint),
    (
        "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
        "ignore_configured_endpoint_urls",
        Values::True,
        When::Always,
    ),
    ("AWS_PROXY_URL", "", Values::Any, When::Always),
    // Settings that change how it is signed.
    ("AWS_AUTH_SCHEME_PREFERENCE", "auth_scheme_preference", Values::Any, When::Always),
    ("AWS_SIGV4A_SIGNING_REGION_SET", "sigv4a_signing_region_set", Values::Any, When::Always),
    ("", "s3.signature_version", Values::NotThis("s3v4"), When::Always),
    ("AWS_SECURITY_TOKEN", "aws_security_token", Values::Any, When::Always),
    ("AWS_EC2_METADATA_DISABLED", "", Values::True, When::With(Keys::Machine)),
    (
        "AWS_EC2_METADATA_SERVICE_ENDPOINT",
        "ec2_metadata_service_endpoint",
        Values::Any,
        When::With(Keys::Machine),
    ),
    (
        "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE",
        "ec2_metadata_service_endpoint_mode",
        Values::NotThis("ipv4"),
        When::With(Keys::Machine),
    ),
    ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "", Values::Any, When::With(Keys::Machine)),
    (
        "AWS_STS_REGIONAL_ENDPOINTS",
        "sts_regional_endpoints",
        Values::This("legacy"),
        When::With(Keys::WebIdentity),
    ),
];

/// The environment of a process.
pub struct Environment<'a> {
    /// Returns the value of a variable; `None` if it is empty.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The source of the keys.
    pub keys: Keys,
}

impl Environment<'_> {
    /// Rejects settings that are not supported.
    pub fn check(&self, profile: &Profile) -> Result<(), Error> {
        let is_set = |name| (self.variable)(name).is_some();
        let has_endpoint = is_set("AWS_ENDPOINT_URL") || is_set("AWS_ENDPOINT_URL_S3");
        let counts = |when| match when {
            When::Always => true,
            When::NoEndpoint => !has_endpoint,
            When::With(keys) => self.keys == keys,
        };
        for (variable, setting, values, when) in SETTINGS {
            if !counts(when) {
                continue;
            }
            if !variable.is_empty() && (self.variable)(variable).is_some_and(|v| values.has(&v)) {
                return Err(Error::usage(format_args!(
                    "{variable}: tagmac does not support this setting; unset it"
                )));
            }
            if profile.get(setting).is_some_and(|value| values.has(value)) {
                return Err(profile.refused(setting));
            }
        }
        let uri = is_set("AWS_CONTAINER_CREDENTIALS_FULL_URI");
        let token = is_set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
        let machine_keys = self.keys == Keys::Machine;
        if machine_keys && uri && !token {
            return Err(Error::usage(
                "AWS_CONTAINER_CREDENTIALS_FULL_URI needs AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE, \
                 which is not set",
            ));
        }
        // Without the role the token would be ignored, and the machine's role would sign.
        if self.keys == Keys::WebIdentity && !is_set("AWS_ROLE_ARN") {
            return Err(Error::usage(
                "AWS_WEB_IDENTITY_TOKEN_FILE needs AWS_ROLE_ARN, which is not set",
            ));
        }
        let path = (self.variable)("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
        // The path is appended to a host name, so it must not be able to change the host.
        if machine_keys && path.is_some_and(|path| !path.starts_with('/')) {
            return Err(Error::usage(
                "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: the path must begin with /",
            ));
        }
        match profile.get("services").filter(|_| !has_endpoint) {
            Some(services) => check_services(profile, services),
            None => Ok(()),
        }
    }
}

/// Rejects a profile if its services section is missing or has settings for S3.
fn check_services(profile: &Profile, services: &str) -> Result<(), Error> {
    let shown = Escaped::text(services.as_bytes());
    match &profile.services {
        Some(found) if found.keys().any(|key| key == "s3" || key.starts_with("s3.")) => {
            Err(Error::usage(format_args!(
                "services {shown}: tagmac does not support s3 settings in this section; set \
                 AWS_ENDPOINT_URL or the profile's endpoint_url"
            )))
        }
        Some(_) => Ok(()),
        None => Err(Error::usage(format_args!(
            "profile {}: the section [services {shown}] is missing",
            profile.shown()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(variables: &[(&str, &str)], name: &str) -> Option<String> {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| String::from(*value))
    }

    fn check(variables: &[(&str, &str)], text: &str, keys: Keys) -> Result<(), String> {
        let variable = |name: &str| value(variables, name);
        let profile = Profile::parse("default", text, "").unwrap_or_default();
        let environment = Environment { variable: &variable, keys };
        environment.check(&profile).map_err(|error| error.to_string())
    }

    #[test]
    fn each_setting_that_is_not_followed_is_refused_by_its_name() {
        for (variable, setting, values, when) in SETTINGS {
            let (refused, taken) = match values {
                Values::Any => ("x", ""),
                Values::True => ("true", "false"),
                Values::This(this) => (this, "x"),
                Values::NotThis(this) => ("x", this),
            };
            let keys = match when {
                When::With(keys) => keys,
                _ => Keys::Given,
            };
            let mut others = Vec::new();
            if keys == Keys::WebIdentity {
                others = vec![("AWS_WEB_IDENTITY_TOKEN_FILE", "f"), ("AWS_ROLE_ARN", "r")];
            }
            if !variable.is_empty() {
                let with = |value| [&others[..], &[(variable, value)]].concat();
                let error = check(&with(refused), "", keys).unwrap_err();
                assert!(error.contains(&format!("{variable}: tagmac does not support")), "{error}");
                if !taken.is_empty() {
                    assert_eq!(check(&with(taken), "", keys), Ok(()), "{variable}={taken}");
                }
                if when != When::Always {
                    let endpoint = [("AWS_ENDPOINT_URL", "https://e"), (variable, refused)];
                    assert_eq!(check(&endpoint, "", Keys::Given), Ok(()), "{variable}");
                }
            }
            let text = |value| match setting.split_once('.') {
                Some((outer, inner)) => format!("[default]\n{outer} =\n  {inner} = {value}\n"),
                None => format!("[default]\n{setting} = {value}\n"),
            };
            if !setting.is_empty() {
                let error = check(&others, &text(refused), keys).unwrap_err();
                assert!(error.contains(&format!("does not support {setting}")), "{error}");
                if !taken.is_empty() {
                    assert_eq!(check(&others, &text(taken), keys), Ok(()), "{setting}={taken}");
                }
            }
        }
    }

    #[test]
    fn an_endpoint_of_a_services_section_is_refused() {
        let services = "[default]\nservices = x\n[services x]\ns3 =\n  endpoint_url = https://e\n";
        let error = check(&[], services, Keys::Given).unwrap_err();
        assert!(error.contains("services x: tagmac does not support s3 settings"), "{error}");
        // The environment's endpoint takes precedence.
        assert_eq!(check(&[("AWS_ENDPOINT_URL_S3", "https://e")], services, Keys::Given), Ok(()));
        let other =
            "[default]\nservices = x\n[services x]\ndynamodb =\n  endpoint_url = https://e\n";
        assert_eq!(check(&[], other, Keys::Given), Ok(()));
        let error = check(&[], "[default]\nservices = y\n", Keys::Given).unwrap_err();
        assert!(error.contains("the section [services y] is missing"), "{error}");
    }

    #[test]
    fn a_token_of_a_web_identity_has_a_role() {
        let token = ("AWS_WEB_IDENTITY_TOKEN_FILE", "f");
        let error = check(&[token], "", Keys::WebIdentity).unwrap_err();
        assert!(error.contains("AWS_WEB_IDENTITY_TOKEN_FILE needs AWS_ROLE_ARN"), "{error}");
        // The token comes from the environment, so its role must come from there too.
        assert!(check(&[token], "[default]\nrole_arn = r\n", Keys::WebIdentity).is_err());
        assert_eq!(check(&[token, ("AWS_ROLE_ARN", "r")], "", Keys::WebIdentity), Ok(()));
        for keys in [Keys::Given, Keys::Unused] {
            let legacy = ("AWS_STS_REGIONAL_ENDPOINTS", "legacy");
            assert_eq!(check(&[token, legacy], "", keys), Ok(()), "{keys:?}");
        }
    }

    #[test]
    fn keys_of_the_environment_come_first() {
        let keys = |variables: &[(&str, &str)], is_signed| {
            Keys::of_environment(&|name| value(variables, name), is_signed)
        };
        let (key, token) = (("AWS_ACCESS_KEY_ID", "k"), ("AWS_WEB_IDENTITY_TOKEN_FILE", "f"));
        assert_eq!(keys(&[], true), None);
        assert_eq!(keys(&[token], true), Some(Keys::WebIdentity));
        assert_eq!(keys(&[token, key], true), Some(Keys::Given));
        for variables in [&[][..], &[token], &[token, key]] {
            assert_eq!(keys(variables, false), Some(Keys::Unused));
        }
    }

    #[test]
    fn a_container_s_path_is_one() {
        let path = |path| [("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", path)];
        for wrong in ["@example.org/", ".example.org/", ":80/", "x"] {
            assert!(check(&path(wrong), "", Keys::Machine).is_err(), "{wrong}");
            assert_eq!(check(&path(wrong), "", Keys::Given), Ok(()));
        }
        assert_eq!(check(&path("/v2/x"), "", Keys::Machine), Ok(()));
    }

    #[test]
    fn a_container_s_service_has_a_token_file() {
        let uri = ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1/");
        assert!(check(&[uri], "", Keys::Machine).is_err());
        assert_eq!(check(&[uri], "", Keys::Given), Ok(()));
        let file = ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "f");
        assert_eq!(check(&[uri, file], "", Keys::Machine), Ok(()));
    }
}
