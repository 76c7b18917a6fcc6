//! Packs the self-test's vectors, records the target and the commit, and strips symbols from the
//! command. Profiles of a workspace do not apply to `cargo install`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use miniz_oxide::deflate::compress_to_vec_zlib;

/// Files in `vectors/` that contain no MAC of the registry. `tagmac selftest` compares each level
/// with all others.
const OTHERS: &[&str] = &["aes", "parameters", "poly1305", "present", "rc6"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    pack_vectors();
    println!("cargo:rustc-env=TAGMAC_TARGET={}", env::var("TARGET").expect("cargo sets it"));
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    // Debug builds omit the commit: otherwise every commit would rebuild the tests.
    if is("PROFILE", "release") {
        if let Some(commit) = packaged_commit().or_else(commit) {
            println!("cargo:rustc-env=TAGMAC_COMMIT={commit}");
        }
        if is("CARGO_CFG_TARGET_OS", "linux") {
            println!("cargo:rustc-link-arg-bins=-Wl,--strip-all");
        }
    }
}

/// Returns the commit that cargo recorded next to the sources when it packaged them.
fn packaged_commit() -> Option<String> {
    let text = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    let commit = rest.split('"').nth(1)?;
    Some(commit.into()).filter(|commit: &String| is_commit(commit))
}

/// Returns the commit that is checked out, if these sources are the root of a repository and not a
/// folder in another one.
fn commit() -> Option<String> {
    let git = |args: &[&str]| {
        let ran = Command::new("git").args(args).output().ok()?;
        let text = String::from_utf8(ran.stdout).ok()?;
        ran.status.success().then(|| text.trim().to_string())
    };
    if git(&["rev-parse", "--show-prefix"])? != "crates/cli/" {
        return None;
    }
    // Every commit and every checkout adds a line here.
    println!("cargo:rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    let commit = git(&["rev-parse", "HEAD"]).filter(|commit| is_commit(commit))?;
    let changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if changed { format!("{commit}, with changes") } else { commit })
}

fn is_commit(text: &str) -> bool {
    text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Writes `vectors.z`: a zlib-compressed array of the arrays in the files.
fn pack_vectors() {
    println!("cargo:rerun-if-changed=vectors");
    let entries = fs::read_dir("vectors").unwrap_or_else(|error| panic!("vectors: {error}"));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.retain(|path| {
        !path.file_stem().is_some_and(|stem| OTHERS.iter().any(|other| stem == *other))
    });
    // Reproducible builds need a fixed order.
    paths.sort();
    let array = |path: &PathBuf| {
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let arrays: Vec<String> = paths.iter().map(array).collect();
    let packed = compress_to_vec_zlib(format!("[{}]", arrays.join(",")).as_bytes(), 10);
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("vectors.z"), packed).expect("OUT_DIR is writable");
}
