//! Finds the C libraries with pkg-config. Sets `cfg(linked = "nettle")` for a library that it
//! finds, else `PEERS_NETTLE` to the reason. Sets `PEERS_NETTLE_VERSION` to pkg-config's version,
//! and `PEERS_BLAKE3_VERSION` to a crate's version in Cargo.lock.

use std::{env, fs, path::Path};

/// The cargo feature, the name for pkg-config, and the oldest version with all functions that are
/// called.
const LIBRARIES: [(&str, &str, &str); 4] = [
    ("nettle", "nettle", "3.6"),
    ("openssl", "libcrypto", "3.0"),
    ("sodium", "libsodium", "1.0.12"),
    ("tomcrypt", "libtomcrypt", "1.18"),
];

/// The crates with a MAC, and AES.
const CRATES: [&str; 11] = [
    "aegis", "aes", "blake3", "cmac", "ghash", "highway", "hmac", "pmac", "poly1305", "ring",
    "sha2",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for (feature, package, oldest) in LIBRARIES {
        println!("cargo::rustc-check-cfg=cfg(linked, values(\"{feature}\"))");
        let name = feature.to_uppercase();
        match find(feature, package, oldest) {
            Ok(library) => {
                println!("cargo::rustc-cfg=linked=\"{feature}\"");
                println!("cargo::rustc-env=PEERS_{name}_VERSION={}", library.version);
                #[cfg(feature = "tomcrypt")]
                if feature == "tomcrypt" {
                    const SOURCE: &str = "src/tomcrypt.c";
                    println!("cargo::rerun-if-changed={SOURCE}");
                    cc::Build::new()
                        .includes(&library.include_paths)
                        .file(SOURCE)
                        .compile("peers_tomcrypt");
                }
            }
            Err(reason) => println!("cargo::rustc-env=PEERS_{name}={reason}"),
        }
    }
    lock();
}

/// Finds a library and tells cargo to link it. The error is one line with the reason.
fn find(feature: &str, package: &str, oldest: &str) -> Result<pkg_config::Library, String> {
    use pkg_config::Error;
    if env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase())).is_none() {
        return Err(format!("built without the feature '{feature}'"));
    }
    let found = pkg_config::Config::new().atleast_version(oldest).probe(package);
    found.map_err(|error| match error {
        Error::ProbeFailure { .. } | Error::Failure { .. } => {
            format!("no {package}.pc of version {oldest} or later")
        }
        Error::CrossCompilation => "pkg-config is for this machine, not for the target".into(),
        Error::Command { .. } => "no pkg-config".into(),
        error => error.to_string().lines().next().unwrap_or("pkg-config failed").into(),
    })
}

/// Reads the versions of the crates. Panics if the lock file does not have exactly one version of a
/// crate.
fn lock() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("set by cargo");
    let path = Path::new(&root).join("../Cargo.lock");
    println!("cargo::rerun-if-changed={}", path.display());
    let lock = fs::read_to_string(&path).expect("Cargo.lock of the workspace");
    let lines: Vec<&str> = lock.lines().collect();
    for name in CRATES {
        let line = format!("name = \"{name}\"");
        let versions: Vec<&str> = lines
            .windows(2)
            .filter(|pair| pair[0] == line)
            .filter_map(|pair| pair[1].strip_prefix("version = \"")?.strip_suffix('"'))
            .collect();
        let [version] = versions[..] else {
            panic!("Cargo.lock: expected one version of {name}, found {versions:?}");
        };
        println!("cargo::rustc-env=PEERS_{}_VERSION={version}", name.to_uppercase());
    }
}
