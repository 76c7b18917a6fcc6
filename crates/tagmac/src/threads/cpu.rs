//! Which CPU a thread is on, so that helpers work beside their caller and not after it: there are kernels that
//! wake a thread on the CPU of the one that wakes it, even while another is idle.

/// The CPUs that helpers may be on, where the system tells.
pub(super) struct Cpus {
    #[cfg(target_os = "linux")]
    all: Option<rustix::thread::CpuSet>,
}

/// A CPU, where the system tells.
#[derive(Clone, Copy)]
pub(super) struct Cpu {
    #[cfg(target_os = "linux")]
    number: usize,
}

#[cfg(target_os = "linux")]
impl Cpu {
    /// That of this thread.
    pub(super) fn current() -> Cpu {
        Cpu { number: rustix::thread::sched_getcpu() }
    }
}

#[cfg(target_os = "linux")]
impl Cpus {
    /// Those of this thread, which the threads that it starts inherit.
    pub(super) fn of_this_thread() -> Cpus {
        Cpus { all: rustix::thread::sched_getaffinity(None).ok() }
    }

    /// Keeps this thread from a CPU if it is there now, and no longer from the one that it was kept from
    /// before. Whether it left.
    pub(super) fn keep_from(&self, cpu: Cpu) -> bool {
        if rustix::thread::sched_getcpu() != cpu.number {
            return false;
        }
        let Some(mut others) = self.all else { return false };
        others.unset(cpu.number);
        // Refused if there are no others. The thread stays where it is then.
        rustix::thread::sched_setaffinity(None, &others).is_ok()
    }
}

#[cfg(not(target_os = "linux"))]
impl Cpu {
    /// That of this thread.
    pub(super) fn current() -> Cpu {
        Cpu {}
    }
}

#[cfg(not(target_os = "linux"))]
impl Cpus {
    /// Those of this thread, which the threads that it starts inherit.
    pub(super) fn of_this_thread() -> Cpus {
        Cpus {}
    }

    /// Nothing: the system does not say where a thread is.
    pub(super) fn keep_from(&self, _cpu: Cpu) -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::thread::{sched_getaffinity, sched_getcpu};

    use super::*;

    #[test]
    fn a_thread_leaves_a_cpu_and_may_come_back_to_it() {
        let cpus = Cpus::of_this_thread();
        let all = sched_getaffinity(None).expect("a mask");
        if all.count() < 2 {
            return;
        }
        for _ in 0..3 {
            let here = Cpu::current();
            cpus.keep_from(here);
            // The system may have moved it in between; then it was left alone.
            let now = sched_getaffinity(None).expect("a mask");
            assert!(now == all || now.count() == all.count() - 1);
            assert!(now.is_set(sched_getcpu()));
        }
        rustix::thread::sched_setaffinity(None, &all).expect("its own mask");
    }
}
