//! Finds the gaps of the traces: kernels in this program, on levels that memcheck does not know. It
//! is compiled like the command. Each kernel must be in a trace, so an unwatched one is a failure.
//! The audit counts their conditional jumps, indexed operands and divisions that are in a trace:
//! these were the same under all keys.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::symbols::{self, Function, Instruction};
use crate::tally::Tally;
use crate::trace;

/// Kernels of these functions run only on known answers: the self-test, and the search for a level
/// that passes it.
const WITHOUT_SECRETS: &[&str] = &["isa::usable", "filter_map_try_fold"];

/// Kernels that no call here reaches: their caller, the maximum per level, and the reason.
const UNREACHED: [(&str, usize, &str); 3] = [
    // PMAC with `Aes256` itself, which only raw keys use; the registry uses `LongAes`.
    ("construction::absorb", 1, "bit strings under a cipher that only raw keys have"),
    // Poly1305-AES has no parameter, so the library compiles a separate kernel for the known
    // answer.
    ("construction::one_shot", 1, "the known answer of Poly1305-AES, whose key is public"),
    // The 13-bit counter is watched with AES-128.
    ("lightmac::strings::add", 3, "counters that do not end on a byte, with other ciphers"),
];

/// Returns whether an instruction of a kernel may depend only on lengths.
fn is_sensitive(code: &Instruction) -> bool {
    let mnemonic = code.mnemonic.as_str();
    let is_jump = mnemonic.starts_with('j') && !mnemonic.starts_with("jmp");
    let is_division = mnemonic.starts_with("div") || mnemonic.starts_with("idiv");
    // Some have prefixes that objdump prints as the mnemonic.
    let is_nop = mnemonic.starts_with("nop") || code.operands.contains("nop");
    // (base,index,scale) or (,index,scale).
    let is_indexed = code.operands.contains(",%")
        && code
            .operands
            .split('(')
            .skip(1)
            .any(|memory| memory.split(')').next().is_some_and(|memory| memory.contains(",%")));
    let is_address = is_indexed && !mnemonic.starts_with("lea") && !is_nop;
    is_jump || is_division || is_address
}

/// Returns the level that a function is a kernel of.
fn level(function: &Function) -> Option<&'static str> {
    let levels = [
        ("Portable", "portable"),
        ("Aesni", "aesni"),
        ("Avx2", "avx2"),
        ("Vaes", "vaes"),
        ("Avx512", "avx512"),
    ];
    let name = function.name.split_once("::inside")?.0;
    // `level::Avx2::call`, or `<level::Avx2 as Isa>::call` for a function of a trait.
    let is_of = |ty: &str| {
        let mut places = name.split("level::").filter_map(|rest| rest.strip_prefix(ty));
        places.any(|rest| rest.starts_with([':', '>', ' ']))
    };
    levels.into_iter().find(|(ty, _)| is_of(ty)).map(|(_, level)| level)
}

/// Maps each function, by address, to the functions that call it.
fn callers(functions: &[Function]) -> BTreeMap<u64, BTreeSet<&str>> {
    let pointers = symbols::pointers();
    let address = |digits: &str| u64::from_str_radix(digits, 16).ok();
    // `12f0 <name>` has the address of the target. `*0x3a(%rip)  # 12f0 <name>` has the place in
    // memory where that address is stored.
    let target = |operands: &str| match operands.strip_prefix('*') {
        None => address(operands.split(' ').next()?),
        Some(place) => {
            let place = place.split_once("(%rip)")?.1.trim().strip_prefix("# ")?;
            pointers.get(&address(place.split(' ').next()?)?).copied()
        }
    };
    let mut callers: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
    for function in functions {
        for code in &function.code {
            let is_call = code.mnemonic.starts_with("call") || code.mnemonic.starts_with("jmp");
            if let Some(target) = is_call.then(|| target(&code.operands)).flatten() {
                callers.entry(target).or_default().insert(&function.name);
            }
        }
    }
    callers
}

/// Compares the kernels of these levels with the functions that traces reached.
pub fn run(functions: &[Function], levels: &[&str], folder: &Path, with_planted: bool) -> Tally {
    let callers = callers(functions);
    let mut reached_places: Vec<u8> = Vec::new();
    for level in levels {
        let of_level = fs::read(trace::ran_file(folder, level)).unwrap_or_default();
        reached_places.resize(reached_places.len().max(of_level.len()), 0);
        reached_places.iter_mut().zip(of_level).for_each(|(all, of_level)| *all |= of_level);
    }
    let is_reached = |at: u64| reached_places.get(at as usize).is_some_and(|reached| *reached != 0);
    let mut tally = Tally::default();
    let mut counts: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    let mut missing: BTreeMap<(&str, usize), usize> = BTreeMap::new();
    for function in functions {
        let Some(level) = level(function).filter(|level| levels.contains(level)) else { continue };
        let none = BTreeSet::new();
        let callers = callers.get(&function.code[0].at).unwrap_or(&none);
        let is_known =
            callers.iter().any(|caller| WITHOUT_SECRETS.iter().any(|name| caller.contains(name)));
        let is_leak = callers.iter().any(|caller| caller.contains("ctime::leaks"));
        if is_known || is_leak && !with_planted {
            continue;
        }
        let sensitive = function.code.iter().filter(|code| is_sensitive(code));
        let (reached, unreached): (Vec<_>, Vec<_>) =
            sensitive.partition(|code| is_reached(code.at));
        let count = counts.entry(level).or_default();
        let is_entered = usize::from(!reached.is_empty());
        let now = [1, is_entered, reached.len(), unreached.len()];
        count.iter_mut().zip(now).for_each(|(count, now)| *count += now);
        let is_missing = reached.is_empty() && !unreached.is_empty();
        let listed = UNREACHED
            .iter()
            .position(|(name, ..)| callers.iter().all(|caller| caller.contains(name)));
        if let Some(i) = listed.filter(|_| is_missing && !callers.is_empty()) {
            let (_, most, why) = UNREACHED[i];
            let found = missing.entry((level, i)).or_insert(0);
            *found += 1;
            if *found <= most {
                tally.note(format_args!("audit, {level}: a kernel is in no trace: {why}"));
                continue;
            }
        }
        let failure = is_missing.then(|| {
            format!(
                "audit, {level}, {} with {} jumps, indices and divisions, called by {callers:?}, is not in any trace",
                function.name,
                unreached.len()
            )
        });
        tally.check(failure);
    }
    for (level, [kernels, entered, reached, unreached]) in counts {
        tally.note(format_args!(
            "audit, {level}: {entered} of {kernels} kernels in traces, with {reached} of {} of their conditional jumps, indexed operands and divisions",
            reached + unreached
        ));
    }
    tally
}
