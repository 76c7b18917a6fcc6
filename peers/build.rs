//! Finds the C libraries with pkg-config, and intel-ipsec-mb, which has no file for it, by compiling a
//! program. Sets `cfg(linked = "nettle")` for a library that it
//! finds, else `PEERS_NETTLE` to the reason. Sets `PEERS_NETTLE_VERSION` to pkg-config's version,
//! and `PEERS_BLAKE3_VERSION` to a crate's version in Cargo.lock.

use std::{env, fs, path::Path, process};

/// The cargo feature, the name for pkg-config, and the oldest version with all functions that are
/// called.
const LIBRARIES: [(&str, &str, &str); 4] = [
    ("nettle", "nettle", "3.6"),
    ("openssl", "libcrypto", "3.0"),
    ("sodium", "libsodium", "1.0.12"),
    ("tomcrypt", "libtomcrypt", "1.18"),
];

/// The crates with a MAC, and AES.
const CRATES: [&str; 12] = [
    "aegis",
    "aes",
    "blake3",
    "cmac",
    "ghash",
    "highway",
    "hmac",
    "pmac",
    "poly1305",
    "ring",
    "sha2",
    "twox-hash",
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
            Err(reason) => {
                println!("cargo::rustc-env=PEERS_{name}={reason}");
                look_again();
            }
        }
    }
    println!("cargo::rustc-check-cfg=cfg(linked, values(\"ipsec-mb\"))");
    match find_ipsec_mb() {
        Ok(()) => println!("cargo::rustc-cfg=linked=\"ipsec-mb\""),
        Err(reason) => println!("cargo::rustc-env=PEERS_IPSEC_MB={reason}"),
    }
    lock();
}

/// Compiles the calls of intel-ipsec-mb and tells cargo to link it.
fn find_ipsec_mb() -> Result<(), &'static str> {
    #[cfg(feature = "ipsec-mb")]
    {
        const SOURCE: &str = "src/ipsec_mb.c";
        println!("cargo::rerun-if-changed={SOURCE}");
        if env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch != "x86_64") {
            return Err("only for x86-64");
        }
        let mut build = cc::Build::new();
        build.file(SOURCE).cargo_warnings(false);
        build.try_compile("peers_ipsec_mb").map_err(|_| "no intel-ipsec-mb.h of version 1.3")?;
        println!("cargo::rustc-link-lib=IPSec_MB");
        Ok(())
    }
    #[cfg(not(feature = "ipsec-mb"))]
    Err("built without the feature 'ipsec-mb'")
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

/// Makes cargo run this again after an installation of a library.
fn look_again() {
    let mut command = process::Command::new("pkg-config");
    let Ok(output) = command.args(["--variable=pc_path", "pkg-config"]).output() else { return };
    let folders = String::from_utf8_lossy(&output.stdout);
    for folder in folders.trim().split(':').filter(|folder| Path::new(folder).is_dir()) {
        println!("cargo::rerun-if-changed={folder}");
    }
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
        let name = name.to_uppercase().replace('-', "_");
        println!("cargo::rustc-env=PEERS_{name}_VERSION={version}");
    }
}
