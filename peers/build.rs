//! Finds the C libraries by pkg-config: `cfg(linked = "nettle")` where nettle is, else
//! `PEERS_NETTLE` with the reason why not; so for each. Versions are `PEERS_NETTLE_VERSION`, as
//! pkg-config says, and `PEERS_BLAKE3_VERSION`, as Cargo.lock says of a crate.

use std::{env, fs, path::Path};

/// Cargo feature, name for pkg-config, oldest version that has all that is called.
const LIBRARIES: [(&str, &str, &str); 4] = [
    ("nettle", "nettle", "3.6"),
    ("openssl", "libcrypto", "3.0"),
    ("sodium", "libsodium", "1.0.12"),
    ("tomcrypt", "libtomcrypt", "1.18"),
];

/// Those that carry a MAC, and AES.
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

/// The library, or one line that says why it is not there. Tells cargo to link it.
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

/// The versions of the crates. Panics at a crate that is in the lock file not once.
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
