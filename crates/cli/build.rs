//! Packs the vectors of the self-test, and leaves symbols out of the command: profiles of a workspace
//! do not reach `cargo install`.

use std::path::Path;
use std::{env, fs};

use miniz_oxide::deflate::compress_to_vec_zlib;

/// The vectors that `tagmac selftest` holds each level against, one array of rows each.
#[rustfmt::skip]
const VECTORS: &[&str] = &[
    "pmac",
    "lightmac",
    "elimac",
    "poly1305-aes",
    "umac",
    "umac99",
    "cmac",
    "hmac-sha256",
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    pack_vectors();
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") {
        println!("cargo:rustc-link-arg-bins=-Wl,--strip-all");
    }
}

/// Writes `vectors.z`: an array of the files' arrays, as zlib packs it.
fn pack_vectors() {
    let array = |name: &&str| {
        let path = format!("vectors/{name}.json");
        println!("cargo:rerun-if-changed={path}");
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let arrays: Vec<String> = VECTORS.iter().map(array).collect();
    let packed = compress_to_vec_zlib(format!("[{}]", arrays.join(",")).as_bytes(), 10);
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("vectors.z"), packed).expect("cargo's folder takes a file");
}
