//! What a safe kernel may do with a level, and which levels there are.

use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use std::{env, io::ErrorKind, process::Command};

use tagmac::isa::{Isa, Kernel, Lanes, Level, Status};

/// Loads two vectors of pieces from data that is `short` bytes too short.
struct Spread {
    step: usize,
    at: usize,
    short: usize,
}

impl Kernel for Spread {
    type Out = [u8; 16];

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> [u8; 16] {
        let needed = 16 + 2 * I::LANES * self.step;
        let data = vec![1; needed - self.short];
        let [a, b] = isa.load_strided::<2>(&data, self.at, isa.stride(self.step));
        let narrow = isa.narrow();
        narrow.lane0(narrow.xor(isa.xor_lanes(a), isa.xor_lanes(b)))
    }
}

#[test]
fn pieces_past_the_end_of_the_data_are_never_loaded() {
    let loads = |level: Level, spread| catch_unwind(AssertUnwindSafe(|| level.run(spread))).is_ok();
    for level in Level::all() {
        for step in 8..=16 {
            let spread = |at, short| Spread { step, at, short };
            assert!(loads(level, spread(16, 0)), "{level}, {step}: all of the data");
            for short in [1, step, 16 + step] {
                assert!(!loads(level, spread(16, short)), "{level}, {step}: {short} bytes short");
            }
            for at in [17, 1 << 20, usize::MAX / 2, usize::MAX - 15, usize::MAX] {
                assert!(!loads(level, spread(at, 0)), "{level}, {step}: from byte {at}");
            }
        }
    }
}

#[test]
fn the_best_level_is_the_last_one() {
    assert_eq!(Some(Level::best()), Level::all().last());
    for level in Level::all() {
        assert_eq!(Level::from_name(level.name()), Ok(level));
    }
}

#[test]
fn no_rung_gives_wrong_answers() {
    for name in Level::NAMES {
        assert_ne!(Level::status(name), Some(Status::SelfTestFailed), "{name}");
    }
}

/// Whether the system keeps AVX registers is not what CPUID says of AVX: XGETBV says it. Where it does
/// not keep them, instructions on them end the program. Such a CPU is one of qemu's, on which this test
/// runs once more.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn no_level_needs_registers_that_the_system_does_not_keep() {
    const HERE: &str = "TAGMAC_TEST_WITHOUT_XSAVE";
    if env::var_os(HERE).is_some() {
        let status = |name| (name, Level::status(name));
        assert_eq!(status("aesni"), ("aesni", Some(Status::Usable)));
        for name in ["avx2", "vaes", "avx512"] {
            assert_eq!(status(name), (name, Some(Status::Unsupported)));
        }
        return;
    }
    let mut qemu = Command::new("qemu-x86_64");
    qemu.args(["-cpu", "max,-xsave"]).arg(env::current_exe().expect("this program"));
    let name = "isa::no_level_needs_registers_that_the_system_does_not_keep";
    match qemu.args(["--exact", name]).env(HERE, "1").output() {
        Ok(ran) => assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout)),
        // `scripts/test` has it.
        Err(error) if error.kind() == ErrorKind::NotFound => eprintln!("skipped: no qemu-x86_64"),
        Err(error) => panic!("qemu-x86_64: {error}"),
    }
}
