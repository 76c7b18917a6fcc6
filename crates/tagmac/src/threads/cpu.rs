//! Keeps helpers off their caller's CPU, so that they run in parallel with it. Some kernels wake a
//! thread on the CPU of its waker even while another CPU is idle.

/// The CPUs that helpers may use, if the system reports them.
pub(super) struct Cpus {
    #[cfg(target_os = "linux")]
    all: Option<rustix::thread::CpuSet>,
}

/// A CPU, if the system reports it.
#[derive(Clone, Copy)]
pub(super) struct Cpu {
    #[cfg(target_os = "linux")]
    number: usize,
}

#[cfg(target_os = "linux")]
impl Cpu {
    /// The CPU of this thread.
    pub(super) fn current() -> Cpu {
        Cpu { number: rustix::thread::sched_getcpu() }
    }
}

#[cfg(target_os = "linux")]
impl Cpus {
    /// The CPUs of this thread, which the threads that it starts inherit.
    pub(super) fn of_this_thread() -> Cpus {
        Cpus { all: rustix::thread::sched_getaffinity(None).ok() }
    }

    /// Moves this thread off `cpu` if it runs there now. The CPU that an earlier call excluded is
    /// allowed again. Returns whether the thread was moved.
    pub(super) fn keep_from(&self, cpu: Cpu) -> bool {
        if rustix::thread::sched_getcpu() != cpu.number {
            return false;
        }
        let Some(mut others) = self.all else { return false };
        others.unset(cpu.number);
        // Refused if no other CPU is allowed; the thread then stays.
        rustix::thread::sched_setaffinity(None, &others).is_ok()
    }
}

#[cfg(not(target_os = "linux"))]
impl Cpu {
    /// The CPU of this thread.
    pub(super) fn current() -> Cpu {
        Cpu {}
    }
}

#[cfg(not(target_os = "linux"))]
impl Cpus {
    /// The CPUs of this thread, which the threads that it starts inherit.
    pub(super) fn of_this_thread() -> Cpus {
        Cpus {}
    }

    /// Does nothing: the system does not report a thread's CPU.
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
            // The system may have moved the thread meanwhile; it is then left alone.
            let now = sched_getaffinity(None).expect("a mask");
            assert!(now == all || now.count() == all.count() - 1);
            assert!(now.is_set(sched_getcpu()));
        }
        rustix::thread::sched_setaffinity(None, &all).expect("its own mask");
    }
}
