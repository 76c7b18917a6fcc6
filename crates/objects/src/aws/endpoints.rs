//! Endpoints of AWS's services: those that the environment and the config file name, in the order
//! of AWS's tools, and AWS's own.
//!
//! An endpoint for all services (`AWS_ENDPOINT_URL`, or a profile's `endpoint_url`) also counts for
//! the services that issue keys. So the keys and tokens of a private store do not go to AWS.

use tagmac_files::Error;
use tagmac_files::escaped::Escaped;

use crate::aws::files::{Files, Profile};
use crate::endpoint::Names;

/// A service of AWS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The object store.
    S3,
    /// Issues the keys of roles.
    Sts,
    /// IAM Identity Center, which issues the keys of its users' roles.
    Sso,
    /// Renews the tokens of IAM Identity Center.
    SsoOidc,
}

impl Kind {
    /// The environment variable with the endpoint.
    fn variable(self) -> &'static str {
        match self {
            Kind::S3 => "AWS_ENDPOINT_URL_S3",
            Kind::Sts => "AWS_ENDPOINT_URL_STS",
            Kind::Sso => "AWS_ENDPOINT_URL_SSO",
            Kind::SsoOidc => "AWS_ENDPOINT_URL_SSO_OIDC",
        }
    }

    /// The name in a services section.
    fn setting(self) -> &'static str {
        match self {
            Kind::S3 => "s3",
            Kind::Sts => "sts",
            Kind::Sso => "sso",
            Kind::SsoOidc => "sso_oidc",
        }
    }

    /// The host in AWS, without the region.
    fn host(self) -> &'static str {
        match self {
            Kind::S3 => "s3",
            Kind::Sts => "sts",
            Kind::Sso => "portal.sso",
            Kind::SsoOidc => "oidc",
        }
    }
}

/// An endpoint and the setting that names it.
#[derive(Debug, PartialEq, Eq)]
pub struct Configured {
    /// The setting.
    pub named_by: String,
    /// The URL.
    pub url: String,
}

/// A service that issues keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// The URL, without a slash at the end.
    pub url: String,
    /// The region in signatures.
    pub region: String,
    /// True if the URL is AWS's own.
    pub is_aws: bool,
}

/// The settings that name endpoints.
pub struct Endpoints<'a> {
    /// Returns the value of an environment variable; `None` if it is empty.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The files of AWS's tools.
    pub files: &'a Files,
    /// The profile.
    pub profile: &'a Profile,
    /// True if the user allows plain HTTP to other machines.
    pub allow_http: bool,
}

impl Endpoints<'_> {
    /// Returns the endpoint that the settings name.
    pub fn configured(&self, kind: Kind) -> Result<Option<Configured>, Error> {
        let found = |named_by: &str, url| Ok(Some(Configured { named_by: named_by.into(), url }));
        let Endpoints { variable, files, profile, .. } = self;
        if !self.are_ignored()? {
            for name in [kind.variable(), "AWS_ENDPOINT_URL"] {
                if let Some(url) = variable(name) {
                    return found(name, url);
                }
            }
        }
        // An alias for this variable, which AWS's tools do not know.
        if let Some(url) = variable("AWS_ENDPOINT").filter(|_| kind == Kind::S3) {
            return found("AWS_ENDPOINT", url);
        }
        if self.are_ignored()? {
            return Ok(None);
        }
        if let Some(name) = profile.get("services") {
            let shown = Escaped::text(name.as_bytes()).to_string();
            let section = files.section("services", name);
            let section = section.filter(|section| section.names().next().is_some());
            let section = section.ok_or_else(|| {
                profile.wrong(format_args!("the section [services {shown}] is missing"))
            })?;
            let setting = format!("{}.endpoint_url", kind.setting());
            // The others could change where a request goes or how it is signed.
            let prefix = format!("{}.", kind.setting());
            let mut names = section.names().filter(|name| *name != setting);
            // An endpoint outside the service's settings does not count for AWS's tools.
            let is_wrong = |name: &&str| *name == "endpoint_url" || name.starts_with(&prefix);
            if let Some(other) = names.find(is_wrong) {
                return Err(Error::usage(format_args!(
                    "services {shown}: tagmac does not support {}",
                    Escaped::text(other.as_bytes())
                )));
            }
            if let Some(url) = section.get(&setting) {
                return found(&format!("services {shown}: {setting}"), url.into());
            }
        }
        match profile.get("endpoint_url") {
            Some(url) => found(&format!("profile {}: endpoint_url", profile.shown()), url.into()),
            None => Ok(None),
        }
    }

    /// Returns whether the user wants AWS's own endpoints. A value that is neither true nor false
    /// is rejected, because a request for a private store could go to AWS.
    fn are_ignored(&self) -> Result<bool, Error> {
        let name = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS";
        let setting = "ignore_configured_endpoint_urls";
        let (name, value) = match (self.variable)(name) {
            Some(value) => (name.into(), value),
            None => match self.profile.get(setting) {
                Some(value) => {
                    (format!("profile {}: {setting}", self.profile.shown()), value.into())
                }
                None => return Ok(false),
            },
        };
        match () {
            () if value.eq_ignore_ascii_case("true") => Ok(true),
            () if value.eq_ignore_ascii_case("false") => Ok(false),
            () => Err(Error::usage(format_args!(
                "{name}: expected true or false, found {}",
                Escaped::text(value.as_bytes())
            ))),
        }
    }

    /// Returns a service that issues keys, in a region whose name is a label.
    pub fn service(&self, kind: Kind, region: &str) -> Result<Service, Error> {
        let (url, is_aws) = match self.configured(kind)? {
            Some(Configured { named_by, url }) => {
                let names = Names { endpoint: &named_by, allow_http: "AWS_ALLOW_HTTP" };
                names.check(&url, self.allow_http)?;
                (url.trim_end_matches('/').into(), false)
            }
            None => (aws_url(kind, region), true),
        };
        Ok(Service { url, region: region.into(), is_aws })
    }
}

/// Returns the URL of AWS's own service in a region.
pub fn aws_url(kind: Kind, region: &str) -> String {
    format!("https://{}.{region}.{}", kind.host(), domain(region))
}

/// Returns the domain of a region's partition, from botocore's `partitions.json`.
fn domain(region: &str) -> &'static str {
    let domains = [
        ("cn-", "amazonaws.com.cn"),
        ("eusc-", "amazonaws.eu"),
        ("us-iso-", "c2s.ic.gov"),
        ("us-isob-", "sc2s.sgov.gov"),
        ("us-isof-", "csp.hci.ic.gov"),
        ("eu-isoe-", "cloud.adc-e.uk"),
    ];
    let found = domains.iter().find(|(prefix, _)| region.starts_with(prefix));
    found.map_or("amazonaws.com", |(_, domain)| domain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::tests::value;

    fn with<T>(
        variables: &[(&str, &str)],
        config: &str,
        run: impl FnOnce(&Endpoints) -> Result<T, Error>,
    ) -> Result<T, String> {
        let files = Files::with(config, "");
        let profile = files.profile("default").unwrap_or_default();
        let variable = |name: &str| value(variables, name);
        let endpoints =
            Endpoints { variable: &variable, files: &files, profile: &profile, allow_http: false };
        run(&endpoints).map_err(|error| error.to_string())
    }

    fn found(variables: &[(&str, &str)], config: &str, kind: Kind) -> Result<String, String> {
        let found = with(variables, config, |endpoints| endpoints.configured(kind))?;
        Ok(found.map_or("none".into(), |found| format!("{} {}", found.named_by, found.url)))
    }

    const CONFIG: &str = "[default]\nservices = x\nendpoint_url = https://p\n\
                          [services x]\ns3 =\n  endpoint_url = https://s\n";

    #[test]
    fn endpoints_have_an_order() {
        let all = [
            ("AWS_ENDPOINT_URL_S3", "https://3"),
            ("AWS_ENDPOINT_URL", "https://g"),
            ("AWS_ENDPOINT", "https://a"),
        ];
        let is = |variables: &[_], kind, expected: &str| {
            assert_eq!(found(variables, CONFIG, kind).as_deref(), Ok(expected));
        };
        is(&all, Kind::S3, "AWS_ENDPOINT_URL_S3 https://3");
        is(&all[1..], Kind::S3, "AWS_ENDPOINT_URL https://g");
        is(&all[2..], Kind::S3, "AWS_ENDPOINT https://a");
        is(&[], Kind::S3, "services x: s3.endpoint_url https://s");
        is(&all, Kind::Sts, "AWS_ENDPOINT_URL https://g");
        is(&all[2..], Kind::Sts, "profile default: endpoint_url https://p");
        is(
            &[("AWS_ENDPOINT_URL_STS", "https://t"), all[1]],
            Kind::Sts,
            "AWS_ENDPOINT_URL_STS https://t",
        );
        is(&[("AWS_ENDPOINT_URL_SSO", "https://t")], Kind::Sso, "AWS_ENDPOINT_URL_SSO https://t");
        let oidc = [("AWS_ENDPOINT_URL_SSO_OIDC", "https://t")];
        is(&oidc, Kind::SsoOidc, "AWS_ENDPOINT_URL_SSO_OIDC https://t");
        assert_eq!(found(&[], "", Kind::S3).as_deref(), Ok("none"));
    }

    #[test]
    fn endpoints_are_ignored_only_on_a_plain_request() {
        let name = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS";
        let all = |value| [(name, value), ("AWS_ENDPOINT_URL", "https://g")];
        for kind in [Kind::S3, Kind::Sts] {
            assert_eq!(found(&all("True"), CONFIG, kind).as_deref(), Ok("none"));
            assert!(found(&all("false"), CONFIG, kind).unwrap().contains("https://g"));
            let error = found(&all("1"), CONFIG, kind).unwrap_err();
            assert!(error.contains(&format!("{name}: expected true or false, found 1")), "{error}");
        }
        let config =
            CONFIG.replacen("services", "ignore_configured_endpoint_urls = true\nservices", 1);
        assert_eq!(found(&[], &config, Kind::S3).as_deref(), Ok("none"));
        // The environment's value takes precedence.
        assert!(found(&[(name, "false")], &config, Kind::S3).unwrap().contains("https://s"));
        let error = found(&[], &config.replace("true", "yes"), Kind::S3).unwrap_err();
        assert!(error.contains("profile default: ignore_configured_endpoint_urls: expected"));
        // AWS's tools do not know this variable.
        let own = [(name, "true"), ("AWS_ENDPOINT", "https://a")];
        assert_eq!(found(&own, CONFIG, Kind::S3).as_deref(), Ok("AWS_ENDPOINT https://a"));
    }

    #[test]
    fn a_services_section_is_complete() {
        let error = found(&[], "[default]\nservices = y\n", Kind::S3).unwrap_err();
        assert!(error.contains("the section [services y] is missing"), "{error}");
        let more = format!("{CONFIG}  signature_version = s3\n");
        let error = found(&[], &more, Kind::S3).unwrap_err();
        assert!(error.contains("services x: tagmac does not support s3.signature_version"));
        let empty = "[default]\nservices = y\n[services y]\n";
        assert!(found(&[], empty, Kind::S3).unwrap_err().contains("[services y] is missing"));
        let flat = format!("{empty}endpoint_url = https://e\n");
        let error = found(&[], &flat, Kind::S3).unwrap_err();
        assert!(error.contains("services y: tagmac does not support endpoint_url"), "{error}");
        // Settings of other services do not matter.
        let sts = "profile default: endpoint_url https://p";
        assert_eq!(found(&[], &more, Kind::Sts).as_deref(), Ok(sts));
        // The environment's endpoint takes precedence.
        let named = [("AWS_ENDPOINT_URL", "https://g")];
        assert!(found(&named, &more, Kind::S3).is_ok());
    }

    #[test]
    fn services_are_in_their_region() {
        let service = |variables: &[_], kind, region: &str| {
            with(variables, "", |endpoints| endpoints.service(kind, region))
        };
        for (kind, region, url) in [
            (Kind::Sts, "eu-west-1", "https://sts.eu-west-1.amazonaws.com"),
            (Kind::Sts, "cn-north-1", "https://sts.cn-north-1.amazonaws.com.cn"),
            (Kind::Sso, "us-east-1", "https://portal.sso.us-east-1.amazonaws.com"),
            (Kind::SsoOidc, "us-gov-west-1", "https://oidc.us-gov-west-1.amazonaws.com"),
        ] {
            let found = service(&[], kind, region).unwrap();
            assert_eq!((found.url.as_str(), found.is_aws), (url, true));
        }
        let own = service(&[("AWS_ENDPOINT_URL_STS", "https://e/")], Kind::Sts, "r").unwrap();
        assert_eq!((own.url.as_str(), own.is_aws), ("https://e", false));
        for wrong in ["http://example.org", "https://u@e", "https://e?x", "ftp://e", "e"] {
            let error = service(&[("AWS_ENDPOINT_URL", wrong)], Kind::Sts, "r").unwrap_err();
            assert!(error.starts_with("AWS_ENDPOINT_URL: "), "{error}");
        }
    }
}
