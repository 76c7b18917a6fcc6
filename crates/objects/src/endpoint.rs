//! Endpoints: where a store is and how it may be reached.

use std::env;
use std::net::IpAddr;

use tagmac_files::Error;
use tagmac_files::escaped::Escaped;

/// The longest label of a DNS name.
const MAX_LABEL_BYTES: usize = 63;

/// The way to reach an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Over TLS.
    Tls,
    /// On this machine, where other machines cannot listen.
    Loopback,
    /// Over plain HTTP, which the user allows.
    Plain,
}

/// The environment variables for an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The variable with the endpoint.
    pub endpoint: &'a str,
    /// The variable that allows plain HTTP to other machines.
    pub allow_http: &'static str,
}

impl Names<'_> {
    /// Returns whether the user allows plain HTTP to other machines.
    pub fn allows_http(self) -> bool {
        env::var(self.allow_http).is_ok_and(|value| is_true(&value))
    }

    /// Returns how an endpoint is reached. Rejects an endpoint that others could listen to, unless
    /// the user allows that.
    pub fn check(self, endpoint: &str, allow_http: bool) -> Result<Reach, Error> {
        let Names { endpoint: name, allow_http: allow } = self;
        let shown = Escaped::text(endpoint.as_bytes()).to_string();
        let wrong = |what: &str| Error::usage(format_args!("{name}: {what}, found {shown}"));
        let uri: http::Uri = endpoint.parse().map_err(|_| wrong("expected a URL"))?;
        let url = url::Url::parse(endpoint).map_err(|_| wrong("expected a URL"))?;
        let host = uri.host().ok_or_else(|| wrong("expected https:// and a host"))?;
        // These parts are not shown, because they could be passwords.
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(Error::usage(format_args!("{name}: the URL must not contain '@'")));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(Error::usage(format_args!(
                "{name}: the URL must not contain a query or a fragment"
            )));
        }
        match uri.scheme_str() {
            Some("https") => Ok(Reach::Tls),
            Some("http") if is_loopback(host) => Ok(Reach::Loopback),
            Some("http") if allow_http => Ok(Reach::Plain),
            Some("http") => Err(wrong(&format!("expected https://, or {allow}=true"))),
            _ => Err(wrong("expected https://")),
        }
    }
}

/// Rejects the URL of a service for keys, unless it uses TLS, or its host is this machine or on its
/// local link, or the user allows plain HTTP.
pub fn check_near(name: &str, url: &str, allow_http: bool) -> Result<(), Error> {
    let wrong = |what: &str| Err(Error::usage(format_args!("{name}: {what}")));
    // The URL is not shown, because it could contain a password.
    let (Ok(uri), Ok(_)) = (url.parse::<http::Uri>(), url::Url::parse(url)) else {
        return wrong("expected a URL");
    };
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return wrong("the URL must not contain '@'");
    }
    match (uri.scheme_str(), uri.host()) {
        (Some("https"), Some(_)) => Ok(()),
        (Some("http"), Some(host)) if allow_http || is_beside(host) => Ok(()),
        (Some("http"), Some(_)) => {
            wrong("expected https://, an address of this machine, or AWS_ALLOW_HTTP=true")
        }
        _ => wrong("expected https://"),
    }
}

/// Rejects a value that becomes part of a host name, unless it is a single label. With the region
/// `x@example.org/` requests would go to example.org.
pub fn check_label(name: &str, value: &str) -> Result<(), Error> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if (1..=MAX_LABEL_BYTES).contains(&value.len()) && value.bytes().all(is_plain) {
        return Ok(());
    }
    Err(Error::usage(format_args!(
        "{name}: expected a name of letters, digits, - and _, at most {MAX_LABEL_BYTES} bytes long, \
         found {}",
        Escaped::text(value.as_bytes())
    )))
}

/// Returns whether the value of a setting means yes.
pub fn is_true(value: &str) -> bool {
    ["1", "true", "on", "yes", "y"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}

/// Returns whether a host is this machine.
pub fn is_loopback(host: &str) -> bool {
    host == "localhost" || ip(host).is_some_and(|ip| ip.is_loopback())
}

/// Returns whether a host is this machine or an address where a cloud offers keys to the machine.
/// Routers do not forward packets to such addresses.
pub fn is_beside(host: &str) -> bool {
    // The range of EC2 on IPv6: fd00:ec2::/32.
    let is_ec2 = |ip: IpAddr| matches!(ip, IpAddr::V6(ip) if ip.segments()[..2] == [0xfd00, 0xec2]);
    let is_link_local = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    is_loopback(host)
        || matches!(host, "metadata.google.internal" | "metadata")
        || ip(host).is_some_and(|ip| is_link_local(ip) || is_ec2(ip))
}

fn ip(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: Names = Names { endpoint: "E", allow_http: "A" };

    #[test]
    fn plain_http_is_for_this_machine_or_for_who_asks_for_it() {
        for (endpoint, allow, expected) in [
            ("https://example.org", false, Some(Reach::Tls)),
            ("http://127.0.0.1:9000", false, Some(Reach::Loopback)),
            ("http://[::1]:9000/", true, Some(Reach::Loopback)),
            ("http://localhost", false, Some(Reach::Loopback)),
            ("http://example.org", true, Some(Reach::Plain)),
            ("http://127.0.0.1:99999", true, None),
            ("http://example.org", false, None),
            ("http://127.0.0.1.example.org", false, None),
            ("http://localhost.example.org", false, None),
            ("ftp://127.0.0.1", true, None),
            ("127.0.0.1:9000", true, None),
            ("https://user:secret@example.org", false, None),
            ("https://example.org/?sig=secret", false, None),
            ("", false, None),
        ] {
            let found = NAMES.check(endpoint, allow);
            if let Err(error) = &found {
                assert!(!error.to_string().contains("secret"), "{error}");
            }
            assert_eq!(found.ok(), expected, "{endpoint}");
        }
    }

    #[test]
    fn a_label_of_a_host_is_one() {
        for label in ["us-east-1", "auto", "RegionOne", "a_b", "0", &"x".repeat(63)] {
            assert!(check_label("R", label).is_ok(), "{label}");
        }
        let long = "x".repeat(64);
        for label in [
            "", "x@evil/", "a.b", "..", "a.b/..", "x/", "x?", "x#", "x:1", "x\\", "x%2e", "x y",
            "x\n", "\u{e9}", "x\0", &long,
        ] {
            let error = check_label("R", label).unwrap_err().to_string();
            assert!(error.contains("R: expected a name of letters"), "{error}");
        }
    }

    #[test]
    fn services_for_keys_are_near() {
        let check = |url, allow| check_near("N", url, allow).map_err(|error| error.to_string());
        for url in [
            "https://example.org/keys?x",
            "http://127.0.0.1:1/",
            "http://[::1]/",
            "http://169.254.170.23/v1",
            "http://[fd00:ec2::23]/v1",
        ] {
            assert_eq!(check(url, false), Ok(()), "{url}");
        }
        assert_eq!(check("http://example.org/", true), Ok(()));
        for (url, what) in [
            ("http://example.org/", "N: expected https://, an address of this machine"),
            ("http://169.254.170.2.example.org/", "N: expected https://, an address"),
            ("https://u:secret@example.org", "N: the URL must not contain '@'"),
            ("ftp://127.0.0.1/", "N: expected https://"),
            ("/secret", "N: expected a URL"),
            ("", "N: expected a URL"),
        ] {
            let error = check(url, false).unwrap_err();
            assert!(error.starts_with(what) && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn keys_come_from_beside_the_machine() {
        for host in ["127.0.0.1", "[::1]", "169.254.169.254", "[fd00:ec2::254]", "[fe80::1]"] {
            assert!(is_beside(host), "{host}");
        }
        assert!(is_beside("metadata.google.internal") && is_beside("localhost"));
        for host in ["10.0.0.1", "169.253.0.1", "example.org", "metadata.example.org", "[fd00::1]"]
        {
            assert!(!is_beside(host), "{host}");
        }
    }
}
