//! Finds the C libraries by pkg-config: `cfg(linked = "nettle")` where nettle is, and else
//! `PEERS_NETTLE`, the reason why not. `PEERS_NETTLE_VERSION` is what pkg-config says.

use std::env;

/// Cargo feature, name for pkg-config, oldest version that has all that is called.
const LIBRARIES: [(&str, &str, &str); 2] =
    [("nettle", "nettle", "3.6"), ("openssl", "libcrypto", "3.0")];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for (feature, package, oldest) in LIBRARIES {
        println!("cargo::rustc-check-cfg=cfg(linked, values(\"{feature}\"))");
        let name = feature.to_uppercase();
        let found = match env::var_os(format!("CARGO_FEATURE_{name}")) {
            None => Err(format!("built without the feature '{feature}'")),
            Some(_) => pkg_config::Config::new()
                .atleast_version(oldest)
                .probe(package)
                .map_err(|error| reason(package, oldest, &error)),
        };
        match found {
            Ok(library) => {
                println!("cargo::rustc-cfg=linked=\"{feature}\"");
                println!("cargo::rustc-env=PEERS_{name}_VERSION={}", library.version);
            }
            Err(reason) => println!("cargo::rustc-env=PEERS_{name}={reason}"),
        }
    }
}

/// One line of why pkg-config finds nothing.
fn reason(package: &str, oldest: &str, error: &pkg_config::Error) -> String {
    use pkg_config::Error;
    match error {
        Error::ProbeFailure { .. } | Error::Failure { .. } => {
            format!("no {package}.pc of version {oldest} or later")
        }
        Error::CrossCompilation => "pkg-config is for this machine, not for the target".into(),
        error => error.to_string().lines().next().unwrap_or("pkg-config failed").into(),
    }
}
