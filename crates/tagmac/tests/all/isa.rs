//! Operations that a safe kernel may use on a level, and the list of levels.

use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use std::{env, io::ErrorKind, process::Command};

use tagmac::isa::{
    BitSlices, Block, Blocks64, CipherBlock, Isa, Kernel, Lanes, Level, ScalarBlocks,
};
use tagmac::isa::{Status, Words};

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

/// Pseudorandom bytes.
fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 167 + i / 16 + 1) as u8).collect()
}

/// Compares lanes that are kept, gathered and joined with their definitions on bytes.
fn check_lanes<L: Lanes>(lanes: L) {
    let (n, narrow) = (L::Block::BYTES, lanes.narrow());
    let message = bytes(n * L::LANES);
    let block = |j: usize| &message[n * j..][..n];
    let stored = |a: L::V| {
        let mut stored = vec![0; n * L::LANES];
        lanes.store_lanes(a, &mut stored);
        stored
    };
    let whole = lanes.load(&message);
    for count in 0..=L::LANES {
        let mut expected = vec![0; n * L::LANES];
        expected[..n * count].copy_from_slice(&message[..n * count]);
        assert_eq!(stored(lanes.keep_lanes(whole, count)), expected, "{count} lanes kept");
        assert_eq!(stored(lanes.load_lanes(&message[..n * count])), expected, "{count} loaded");
    }
    let turned = |j: usize| block(L::LANES - 1 - j);
    for step in n.div_ceil(2)..=n {
        let gathered = |piece: &dyn Fn(usize) -> Vec<u8>| -> Vec<u8> {
            (0..L::LANES).flat_map(|j| [vec![0; n - step], piece(j)].concat()).collect()
        };
        let last = lanes.gather((step, lanes.stride(step)), turned);
        assert_eq!(stored(last), gathered(&|j| turned(j)[n - step..].to_vec()), "last {step}");
        let first = lanes.gather_first(step, turned);
        assert_eq!(stored(first), gathered(&|j| turned(j)[..step].to_vec()), "first {step}");
    }
    let sum =
        (0..L::LANES).fold(L::Block::ZERO, |sum, j| sum.xor(&L::Block::zero_filled(block(j))));
    assert!(narrow.lane0(lanes.xor_lanes(whole)).as_ref() == sum.as_ref(), "xor of the lanes");
    for count in 0..=n {
        let last = narrow.lane0(lanes.last_bytes(block(0), count));
        let expected = L::Block::zero_filled(&block(0)[n - count..]);
        assert!(last.as_ref() == expected.as_ref(), "the last {count} bytes");
    }
}

/// Compares the operations for key schedules, lane by lane, with definitions on one block.
fn check_level<I: Isa>(isa: I) {
    assert_eq!(isa.run_outlined(|| [1, 2, 3]), [1, 2, 3]);
    let message = bytes(32 * I::LANES);
    let (left, right) = message.split_at(16 * I::LANES);
    let (a, b) = (isa.load(left), isa.load(right));
    let check = |what: &str, x: I::V, expected: &dyn Fn(Block, Block) -> Block| {
        let mut stored = vec![0; 16 * I::LANES];
        isa.store_lanes(x, &mut stored);
        for (j, found) in stored.as_chunks().0.iter().enumerate() {
            let expected = expected(left.as_chunks().0[j], right.as_chunks().0[j]);
            assert_eq!(*found, expected, "{what}, lane {j}");
        }
    };
    let number = u128::from_be_bytes;
    check("a & b", isa.and(a, b), &|a, b| (number(a) & number(b)).to_be_bytes());
    check("times x", isa.times_x(a), &|a, _| {
        ((number(a) << 1) ^ ((number(a) >> 127) * 0x87)).to_be_bytes()
    });
    check("over x", isa.over_x(a), &|a, _| {
        ((number(a) >> 1) ^ ((number(a) & 1) * (1 << 127 | 0x43))).to_be_bytes()
    });
    // FIPS-197, section 5.2. ShiftRows does not change a block of four equal words.
    let sub_word = |word: [u8; 4]| -> [u8; 4] {
        let (one, four) = (isa.narrow(), [word; 4].concat());
        let sub = one.aes_last(one.load(&four), one.splat(&[0; 16]));
        *one.lane0(sub).first_chunk().expect("a word")
    };
    for rcon in [None, Some(0x36)] {
        check("words of key", isa.next_key_words(a, b, rcon), &|before, last| {
            let mut word = *last.last_chunk::<4>().expect("a word");
            word.rotate_left(rcon.map_or(0, |_| 1));
            let mut word = sub_word(word);
            word[0] ^= rcon.unwrap_or(0);
            let mut next = before;
            for words in next.as_chunks_mut::<4>().0 {
                word.iter_mut().zip(&*words).for_each(|(sum, byte)| *sum ^= byte);
                *words = word;
            }
            next
        });
    }
}

/// Splits and joins the words of numbers.
fn check_words<A: Words>(words: A) {
    let n = 2 * A::LANES;
    let stored = |a: A::W| {
        let mut stored = vec![0; n];
        words.store(a, &mut stored);
        stored
    };
    let message = bytes(16 * n);
    let numbers: Vec<u128> =
        message.as_chunks().0.iter().copied().map(u128::from_le_bytes).collect();
    let (low, high) = words.deinterleave_numbers(&numbers);
    let mut again = vec![0; n];
    words.interleave_numbers((low, high), &mut again);
    assert_eq!(again, numbers, "apart and together");
    let pair = |(low, high): (u64, u64)| (high as u128) << 64 | low as u128;
    let mut pairs: Vec<u128> = stored(low).into_iter().zip(stored(high)).map(pair).collect();
    assert_eq!(pairs[0], numbers[0], "number 0 is first");
    pairs.sort();
    let mut sorted = numbers;
    sorted.sort();
    assert_eq!(pairs, sorted, "each number once");
    let row: Vec<u64> = (1..=n as u64).map(|j| j << 56 | j).collect();
    let first = (row[1] as u128) << 64 | row[0] as u128;
    assert_eq!(words.lane0(words.load(&row)), first.to_le_bytes());
}

/// Half a vector.
fn check_bit_slices<A: BitSlices>(words: A) {
    let half = words.with_half(|half| half.lane0(half.splat(7)));
    assert_eq!(half, [7u64; 2].map(u64::to_le_bytes).as_flattened());
}

struct Operations;

impl Kernel for Operations {
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        check_level(isa);
        check_level(isa.narrow());
        check_lanes(isa);
        check_lanes(isa.narrow());
        check_lanes(Blocks64::new(isa));
        check_words(isa.words());
        check_words(isa.words().narrow());
        check_bit_slices(isa.words());
    }
}

/// Includes operations that no MAC here uses: a user's cipher may.
#[test]
fn operations_are_what_they_say() {
    for level in Level::all() {
        let passes = catch_unwind(|| level.run(Operations)).is_ok();
        assert!(passes, "{level}");
    }
    check_lanes(ScalarBlocks::<[u8; 5]>::default());
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

/// CPUID does not report whether the system preserves AVX registers; XGETBV does. If the system
/// does not, AVX instructions end the program. qemu has such a CPU, on which this test runs once
/// more.
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
        // `scripts/test` requires it.
        Err(error) if error.kind() == ErrorKind::NotFound => eprintln!("skipped: no qemu-x86_64"),
        Err(error) => panic!("qemu-x86_64: {error}"),
    }
}
