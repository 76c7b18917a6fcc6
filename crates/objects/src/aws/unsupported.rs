//! AWS settings that AWS's tools support and tagmac does not.
//!
//! Each changes where a request goes or how it is signed. If the command ignored them, a request for
//! a private store could go to AWS, signed with that store's key. So it rejects each by its name.

use tagmac_files::Error;

use crate::aws::files::Profile;
use crate::aws::provider::Source;
use crate::endpoint::is_true;

/// The condition for a setting to matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// Always.
    Always,
    /// If the store is S3 in AWS.
    S3,
    /// If the store is S3 in AWS, or a service of AWS issues the keys.
    Aws,
    /// If AWS STS issues the keys.
    Sts,
    /// If the instance issues the keys.
    Instance,
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

const SETTINGS: [Setting; 15] = [
    // Settings that change where a request goes.
    ("AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint", Values::True, When::Aws),
    ("AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint", Values::True, When::Aws),
    ("", "s3.use_dualstack_endpoint", Values::True, When::S3),
    ("", "s3.use_accelerate_endpoint", Values::True, When::S3),
    ("", "s3.addressing_style", Values::This("virtual"), When::Always),
    (
        "AWS_S3_US_EAST_1_REGIONAL_ENDPOINT",
        "s3_us_east_1_regional_endpoint",
        Values::This("legacy"),
        When::S3,
    ),
    ("", "s3.us_east_1_regional_endpoint", Values::This("legacy"), When::S3),
    ("AWS_STS_REGIONAL_ENDPOINTS", "sts_regional_endpoints", Values::This("legacy"), When::Sts),
    ("AWS_PROXY_URL", "", Values::Any, When::Always),
    // Names of `object_store`, not of AWS's tools.
    ("AWS_METADATA_ENDPOINT", "", Values::Any, When::Instance),
    ("AWS_IMDSV1_FALLBACK", "", Values::True, When::Instance),
    // Settings that change how it is signed.
    ("AWS_AUTH_SCHEME_PREFERENCE", "auth_scheme_preference", Values::Any, When::Always),
    ("AWS_SIGV4A_SIGNING_REGION_SET", "sigv4a_signing_region_set", Values::Any, When::Always),
    ("", "s3.signature_version", Values::NotThis("s3v4"), When::Always),
    ("AWS_SECURITY_TOKEN", "aws_security_token", Values::Any, When::Always),
];

/// The services that a run uses.
pub struct Used<'a> {
    /// Returns the value of a variable; `None` if it is empty.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// True if the store is S3 in AWS.
    pub is_s3_aws: bool,
    /// The source of the keys; `None` if nothing is signed.
    pub source: Option<&'a Source>,
}

impl Used<'_> {
    /// Rejects settings that are not supported.
    pub fn check(&self, profile: &Profile) -> Result<(), Error> {
        let counts = |when| match when {
            When::Always => true,
            When::S3 => self.is_s3_aws,
            When::Aws => self.is_s3_aws || self.source.is_some_and(Source::uses_aws),
            When::Sts => self.source.is_some_and(Source::uses_aws_sts),
            When::Instance => self.source.is_some_and(Source::uses_instance),
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
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::aws::endpoints::Service;
    use crate::aws::files::Files;
    use crate::aws::key::Key;
    use crate::aws::machine::Instance;
    use crate::aws::sts::Role;
    use crate::aws::tests::value;

    fn check(
        variables: &[(&str, &str)],
        text: &str,
        is_s3_aws: bool,
        source: &Source,
    ) -> Result<(), String> {
        let variable = |name: &str| value(variables, name);
        let profile = Files::with(text, "").profile("default").unwrap_or_default();
        let used = Used { variable: &variable, is_s3_aws, source: Some(source) };
        used.check(&profile).map_err(|error| error.to_string())
    }

    fn fixed() -> Source {
        Source::Fixed(Arc::new(Key::new(String::new(), String::new(), None)))
    }

    fn role(is_aws: bool) -> Source {
        let sts = Service { url: String::new(), region: String::new(), is_aws };
        let [arn, session] = [const { String::new() }; 2];
        let base = Box::new(fixed());
        Source::Role(Role { arn, session, external_id: None, seconds: None, sts }, base)
    }

    fn instance() -> Source {
        let timeout = Duration::ZERO;
        Source::Instance(Instance { url: String::new(), timeout, attempts: 1, is_last: true })
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
            // The uses for which the setting matters, and others.
            let (matters, not) = match when {
                When::Always => (vec![(true, fixed()), (false, fixed())], vec![]),
                When::S3 => (vec![(true, fixed())], vec![(false, role(true))]),
                When::Aws => (
                    vec![(true, fixed()), (false, role(true))],
                    vec![(false, fixed()), (false, role(false)), (false, instance())],
                ),
                When::Sts => {
                    (vec![(false, role(true))], vec![(true, fixed()), (true, role(false))])
                }
                When::Instance => (vec![(false, instance())], vec![(true, role(true))]),
            };
            let text = |value| match setting.split_once('.') {
                Some((outer, inner)) => format!("[default]\n{outer} =\n  {inner} = {value}\n"),
                None => format!("[default]\n{setting} = {value}\n"),
            };
            for (is_s3_aws, source) in &matters {
                let check =
                    |variables: &[_], text: &str| check(variables, text, *is_s3_aws, source);
                if !variable.is_empty() {
                    let error = check(&[(variable, refused)], "").unwrap_err();
                    let line = format!("{variable}: tagmac does not support");
                    assert!(error.contains(&line), "{error}");
                    assert_eq!(check(&[(variable, taken)], ""), Ok(()), "{variable}={taken}");
                }
                if !setting.is_empty() {
                    let error = check(&[], &text(refused)).unwrap_err();
                    let line = format!("profile default: tagmac does not support {setting}");
                    assert!(error.contains(&line), "{error}");
                    assert_eq!(check(&[], &text(taken)), Ok(()), "{setting}={taken}");
                }
            }
            for (is_s3_aws, source) in &not {
                let found = check(&[(variable, refused)], &text(refused), *is_s3_aws, source);
                assert_eq!(found, Ok(()), "{variable} {setting}");
            }
        }
    }
}
