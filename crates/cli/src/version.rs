//! What this command is: for reports of bugs.

use std::sync::LazyLock;

use tagmac::isa::Level;

/// The version, the commit if the build knew one, the target, and the level that this CPU has.
pub fn long() -> &'static str {
    static LONG: LazyLock<String> = LazyLock::new(|| {
        let commit = option_env!("TAGMAC_COMMIT").unwrap_or("unknown");
        let (target, level) = (env!("TAGMAC_TARGET"), Level::best());
        let version = env!("CARGO_PKG_VERSION");
        format!("{version}\ncommit: {commit}\ntarget: {target}\nlevel: {level}")
    });
    &LONG
}
