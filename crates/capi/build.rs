//! Sets the soname of the library. Raise ABI when programs linked to an earlier version can no
//! longer run.

const ABI: u32 = 0;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtagmac.so.{ABI}");
        // Rust's thread-locals do not survive unloading.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
