//! Chooses Nettle's ABI by the package, since two have this source, and names the shared library for
//! the dynamic linker. The number goes up when a program that was linked before can no longer run.

const ABI: u32 = 0;

fn main() {
    println!("cargo::rerun-if-changed=../capi-nettle/build.rs");
    println!("cargo::rustc-check-cfg=cfg(nettle, values(\"3\", \"4\"))");
    let name = std::env::var("CARGO_PKG_NAME").expect("a package has a name");
    let nettle = if name.ends_with('4') { 4 } else { 3 };
    println!("cargo::rustc-cfg=nettle=\"{nettle}\"");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,lib{name}.so.{ABI}");
        // Rust's thread-locals do not live through an unloading.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
