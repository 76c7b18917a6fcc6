//! System calls: their names, their arguments and their possible results.

use libc::c_long;

/// Returns the names of calls that matter in reports; others are printed as numbers.
pub fn name(nr: c_long) -> String {
    macro_rules! names {
        ($($name:ident)*) => {
            match nr { $(libc::$name => stringify!($name).trim_start_matches("SYS_").into(),)*
                other => format!("call {other}") }
        };
    }
    names! {
        SYS_read SYS_write SYS_open SYS_close SYS_stat SYS_fstat SYS_lstat SYS_poll SYS_lseek SYS_mmap
        SYS_mprotect SYS_munmap SYS_brk SYS_rt_sigaction SYS_rt_sigprocmask SYS_ioctl SYS_pread64
        SYS_pwrite64 SYS_readv SYS_writev SYS_access SYS_mremap SYS_madvise SYS_dup SYS_getpid SYS_clone
        SYS_clone3 SYS_fork SYS_vfork SYS_execve SYS_wait4 SYS_waitid SYS_kill SYS_fcntl SYS_flock SYS_fsync
        SYS_fdatasync SYS_syncfs SYS_ftruncate SYS_getcwd SYS_mkdir SYS_mkdirat SYS_rename SYS_link SYS_unlink SYS_symlink SYS_readlink
        SYS_fchmod SYS_fchown SYS_getuid SYS_geteuid SYS_sigaltstack SYS_prctl SYS_arch_prctl SYS_gettid
        SYS_futex SYS_sched_getaffinity SYS_set_tid_address SYS_getdents64 SYS_openat SYS_newfstatat
        SYS_unlinkat SYS_renameat SYS_renameat2 SYS_linkat SYS_readlinkat SYS_set_robust_list SYS_pipe2
        SYS_prlimit64 SYS_getrandom SYS_statx SYS_rseq SYS_statfs SYS_fstatfs SYS_fadvise64 SYS_fallocate
        SYS_clock_nanosleep SYS_exit SYS_exit_group SYS_socketpair SYS_sendfile SYS_copy_file_range
        SYS_sched_yield SYS_getrlimit SYS_setrlimit SYS_pidfd_open SYS_faccessat2 SYS_uname SYS_close_range
    }
}

/// Returns whether a call is not counted: it cannot fail, or its frequency depends on the clock.
pub fn uncounted(nr: c_long) -> bool {
    [
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_rt_sigreturn,
        libc::SYS_restart_syscall,
        libc::SYS_clock_nanosleep,
        libc::SYS_nanosleep,
        libc::SYS_sched_yield,
        libc::SYS_execve,
    ]
    .contains(&nr)
}

/// Returns the indices of the arguments that are file names.
pub fn name_arguments(nr: c_long) -> &'static [usize] {
    match nr {
        libc::SYS_open | libc::SYS_unlink | libc::SYS_mkdir => &[0],
        libc::SYS_openat | libc::SYS_unlinkat | libc::SYS_mkdirat => &[1],
        libc::SYS_rename | libc::SYS_link => &[0, 1],
        libc::SYS_renameat | libc::SYS_renameat2 | libc::SYS_linkat => &[1, 3],
        _ => &[],
    }
}

/// Returns the index of the argument that is a number of bytes to read or write, if fewer are
/// allowed.
pub fn count_argument(nr: c_long) -> Option<usize> {
    match nr {
        libc::SYS_read | libc::SYS_write | libc::SYS_pread64 | libc::SYS_pwrite64 => Some(2),
        libc::SYS_getrandom => Some(1),
        _ => None,
    }
}

/// Returns whether a call writes bytes to a file.
pub fn writes(nr: c_long) -> bool {
    nr == libc::SYS_write || nr == libc::SYS_pwrite64
}

/// Returns whether a signal may interrupt this call, so that the caller must repeat it. Locks do
/// not count: the command never waits for one.
pub fn is_interruptible(nr: c_long) -> bool {
    [
        libc::SYS_read,
        libc::SYS_pread64,
        libc::SYS_write,
        libc::SYS_pwrite64,
        libc::SYS_open,
        libc::SYS_openat,
        libc::SYS_fsync,
        libc::SYS_fdatasync,
        libc::SYS_ftruncate,
        libc::SYS_getrandom,
        libc::SYS_wait4,
        libc::SYS_waitid,
        libc::SYS_futex,
        libc::SYS_close,
    ]
    .contains(&nr)
}

/// Returns whether a call syncs written data.
pub fn is_sync(nr: c_long) -> bool {
    [libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_syncfs].contains(&nr)
}

/// Returns whether the runtime makes the call for itself: for memory or a new thread.
pub fn is_of_the_runtime(nr: c_long) -> bool {
    [
        libc::SYS_mmap,
        libc::SYS_brk,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        // Needed by a new thread.
        libc::SYS_rseq,
        libc::SYS_set_robust_list,
        libc::SYS_rt_sigprocmask,
        libc::SYS_sigaltstack,
    ]
    .contains(&nr)
}
