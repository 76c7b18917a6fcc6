//! `tagmac mount`: a read-only view of a sealed tree, for every program.

#[cfg(all(feature = "mount", target_os = "linux"))]
mod failures;
#[cfg(all(feature = "mount", target_os = "linux"))]
mod nodes;
#[cfg(all(feature = "mount", target_os = "linux"))]
mod view;

use tagmac_files::Error;

use crate::args::MountArgs;

/// Explains that this build cannot mount.
#[cfg(not(all(feature = "mount", target_os = "linux")))]
pub fn run(_: &MountArgs) -> Result<(), Error> {
    Err(Error::usage("this build cannot mount; build on Linux with --features mount"))
}

/// Mounts the tree until a signal or another program ends it.
#[cfg(all(feature = "mount", target_os = "linux"))]
pub fn run(args: &MountArgs) -> Result<(), Error> {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use fuser::{Config, MountOption, SessionACL};
    use rustix::mount::UnmountFlags;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use tagmac_files::ReadError;
    use tagmac_files::escaped::Escaped;

    use crate::diagnostic::diagnostic;
    use crate::{names, read};

    /// The time between two looks at the signals.
    const PAUSE: Duration = Duration::from_millis(100);

    read::names(&args.sealed)?;
    names::file(&args.mountpoint)?;
    let tree = read::open(&args.sealed)?;
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::RO,
        MountOption::NoSuid,
        MountOption::NoDev,
        MountOption::DefaultPermissions,
        MountOption::FSName("tagmac".into()),
        MountOption::Subtype("tagmac".into()),
    ];
    config.acl = if args.allow_other { SessionACL::All } else { SessionACL::Owner };
    config.n_threads = Some(tagmac_files::read::threads(0));
    let failed = |error| Error::file(&args.mountpoint, ReadError::Io(error));
    // The kernel would accept a file too.
    if !std::fs::metadata(&args.mountpoint).map_err(failed)?.is_dir() {
        return Err(failed(std::io::ErrorKind::NotADirectory.into()));
    }
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, ended.clone()).map_err(failed)?;
    }
    let session = fuser::spawn_mount(view::View::new(tree), &args.mountpoint, &config);
    let session = session.map_err(failed)?;
    let name = Escaped::name(&args.mountpoint);
    if !args.quiet {
        diagnostic(format_args!("{name}: mounted"));
    }
    while !ended.load(Ordering::Relaxed) && !session.guard.is_finished() {
        std::thread::sleep(PAUSE);
    }
    if session.guard.is_finished() {
        return session.join().map_err(failed);
    }
    // Programs may have files open. Without this, root would fail with EBUSY and leave a dead mount.
    if rustix::process::geteuid().is_root() {
        let detached = rustix::mount::unmount(&args.mountpoint, UnmountFlags::DETACH);
        return detached.map_err(|error| failed(error.into()));
    }
    drop(session);
    Ok(())
}
