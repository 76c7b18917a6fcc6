//! The description of this build in `--version`, for bug reports.

use std::sync::LazyLock;

use tagmac::isa::Level;

/// Returns the version, the commit if the build knows it, the target, and the best level of this
/// CPU.
pub fn long() -> &'static str {
    static LONG: LazyLock<String> = LazyLock::new(|| {
        let commit = option_env!("TAGMAC_COMMIT").unwrap_or("unknown");
        let (target, level) = (env!("TAGMAC_TARGET"), Level::best());
        let version = env!("CARGO_PKG_VERSION");
        format!("{version}\ncommit: {commit}\ntarget: {target}\nlevel: {level}")
    });
    &LONG
}
