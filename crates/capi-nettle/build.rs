//! Chooses Nettle's ABI by the name of the package, because two packages share this source. Sets
//! the soname of the library. Raise ABI when programs linked to an earlier version can no longer
//! run.

const ABI: u32 = 0;

fn main() {
    println!("cargo::rerun-if-changed=../capi-nettle/build.rs");
    println!("cargo::rustc-check-cfg=cfg(nettle, values(\"3\", \"4\"))");
    let name = std::env::var("CARGO_PKG_NAME").expect("a package has a name");
    let nettle = if name.ends_with('4') { 4 } else { 3 };
    println!("cargo::rustc-cfg=nettle=\"{nettle}\"");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,lib{name}.so.{ABI}");
        // Rust's thread-locals do not survive unloading.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
