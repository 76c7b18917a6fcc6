// Calls that concern the whole library: versions, error messages, algorithms and levels.

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use tagmac::isa::Level;
use tagmac_any::Algorithm;
use tagmac_border::{Failure, Quoted, text};
use zeroize::Zeroize;

use crate::status::{
    TAGMAC_INPUT, TAGMAC_INTERNAL, TAGMAC_LIMIT, TAGMAC_MISMATCH, TAGMAC_MISUSE, TAGMAC_OK,
    TAGMAC_STOPPED, constant, status, value, with_last,
};

static NAMES: LazyLock<Vec<CString>> = LazyLock::new(|| {
    let name = |algorithm: Algorithm| CString::new(algorithm.name()).expect("a name has no NUL");
    Algorithm::all().map(name).collect()
});
static LEVELS: LazyLock<Vec<CString>> = LazyLock::new(|| {
    let name = |name: &&str| CString::new(*name).expect("a name has no NUL");
    Level::NAMES.iter().map(name).collect()
});
/// The index of the chosen level in `Level::NAMES`, plus 1; 0 for the best level.
static CHOSEN: AtomicUsize = AtomicUsize::new(0);

/// Returns the name of an algorithm as a C string.
pub fn name_of(algorithm: Algorithm) -> *const c_char {
    let place = Algorithm::all().position(|other| other == algorithm);
    constant(&NAMES[place.expect("an algorithm of the registry")])
}

/// Returns the level for new keys.
pub fn level() -> Result<Level, Failure> {
    match CHOSEN.load(Ordering::Relaxed) {
        0 => Ok(Level::best()),
        place => Ok(Level::from_name(Level::NAMES[place - 1])?),
    }
}

/// Finds an algorithm by a name of the registry, or by one that OpenSSL and others use, such as
/// PMAC-AES-128.
fn named(name: &str) -> Option<Algorithm> {
    let found = Algorithm::from_name(name).ok();
    let is_alias = |alias: &String| alias.eq_ignore_ascii_case(name);
    found.or_else(|| Algorithm::all().find(|one| one.aliases().iter().any(is_alias)))
}

/// Looks up an algorithm by its name.
///
/// # Safety
///
/// As [`text`].
pub unsafe fn algorithm(name: *const c_char) -> Result<Algorithm, Failure> {
    // SAFETY: guaranteed by the caller.
    let name = Quoted(unsafe { text("the algorithm's name", name) }?);
    let found = (!name.is_too_long()).then(|| named(name.0)).flatten();
    found.ok_or_else(|| {
        format!("algorithm {name} is unknown: tagmac_algorithm() lists the names").into()
    })
}

/// The lengths of an algorithm's keys, nonces and tags. Keys and nonces are in bytes. Tags are in
/// bits, because PMAC, LightMAC and EliMAC support tags of any number of bits.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sizes {
    /// The shortest key in bytes.
    pub key_min: usize,
    /// The longest key in bytes.
    pub key_max: usize,
    /// The recommended length of a new key in bytes.
    pub key_new: usize,
    /// The shortest nonce in bytes. 0: the algorithm does not use a nonce.
    pub nonce_min: usize,
    /// The longest nonce in bytes.
    pub nonce_max: usize,
    /// The shortest tag in bits.
    pub tag_bits_min: usize,
    /// The longest tag in bits, which is also the default.
    pub tag_bits_max: usize,
    /// The step between tag lengths in bits.
    pub tag_bits_step: usize,
    /// The size of a block in bytes, for tagmac_hazmat.h. 0: the algorithm does not support parts.
    pub block: usize,
    /// The longest message in bytes. UINT64_MAX: no practical limit.
    pub message_max: u64,
    /// Reserved for later versions; zero now.
    pub reserved: [u64; 4],
}

/// Returns the version of the library, such as "0.1.0". TAGMAC_VERSION is the version of the
/// header.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_version() -> *const c_char {
    static VERSION: LazyLock<CString> =
        LazyLock::new(|| CString::new(env!("CARGO_PKG_VERSION")).expect("a version has no NUL"));
    value(c"".as_ptr(), || Ok(constant(&VERSION)))
}

/// A buffer size that is enough for most lines of tagmac_error_string().
#[expect(dead_code, reason = "for C alone")]
pub const TAGMAC_ERROR_SIZE: usize = 256;

/// Describes a status in a few words, such as "wrong tag" for TAGMAC_MISMATCH. The string is a
/// constant: do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_status_string(status: c_int) -> *const c_char {
    constant(match status {
        TAGMAC_OK => c"success",
        TAGMAC_MISMATCH => c"wrong tag",
        TAGMAC_MISUSE => c"wrong call",
        TAGMAC_LIMIT => c"limit reached",
        TAGMAC_INPUT => c"unusable file or saved data",
        TAGMAC_INTERNAL => c"internal error",
        TAGMAC_STOPPED => c"stopped on request",
        _ => c"unknown status",
    })
}

/// Writes one line to `line` that explains the last call that failed on this thread, or "" if no
/// call has failed. The line never contains a key, a message or a correct tag.
///
/// The line ends in NUL and is truncated to fit `line_size` bytes. TAGMAC_ERROR_SIZE bytes are
/// enough unless the line quotes a name or a path of yours. Returns `line`, or "" if `line` is NULL
/// or `line_size` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_error_string(line: *mut c_char, line_size: usize) -> *const c_char {
    if line.is_null() || line_size == 0 {
        return c"".as_ptr();
    }
    with_last(|last| {
        let room = last.len().min(line_size - 1);
        let size = (0..=room).rev().find(|&size| last.is_char_boundary(size)).unwrap_or(0);
        // SAFETY: the header requires a buffer of that size, and `last` cannot overlap it.
        unsafe {
            line.copy_from_nonoverlapping(last.as_ptr().cast(), size);
            line.add(size).write(0);
        }
    });
    line
}

/// Returns the name of algorithm number `index`, such as "PMAC-AES128". Counting starts at 0. NULL
/// after the last algorithm.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_algorithm(index: usize) -> *const c_char {
    value(std::ptr::null(), || {
        let name = NAMES.get(index).map(|name| constant(name));
        name.ok_or_else(|| format!("expected an index below {}, found {index}", NAMES.len()).into())
    })
}

/// Writes the lengths of an algorithm's keys, nonces and tags to `sizes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_algorithm_sizes(
    sizes: *mut Sizes,
    algorithm: *const c_char,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a NUL-terminated string.
        let algorithm = unsafe { self::algorithm(algorithm) }?;
        let (key, nonce) = (algorithm.key_bytes(), algorithm.nonce_bytes());
        let tag = algorithm.tag_bits();
        tagmac_border::ensure(
            !sizes.is_null() && sizes.is_aligned(),
            || "sizes: the pointer is null or not aligned",
        )?;
        let found = Sizes {
            key_min: *key.start(),
            key_max: *key.end(),
            key_new: algorithm.new_key_bytes(),
            nonce_min: *nonce.start(),
            nonce_max: *nonce.end(),
            tag_bits_min: *tag.start(),
            tag_bits_max: *tag.end(),
            tag_bits_step: algorithm.tag_step(),
            block: algorithm.block().unwrap_or(0),
            message_max: algorithm.max_message_bytes().unwrap_or(u64::MAX),
            reserved: [0; 4],
        };
        // SAFETY: not null and aligned; the header requires the memory.
        unsafe { sizes.write(found) };
        Ok(())
    })
}

/// Returns the name of the instruction set for new keys, such as "avx2". This is the best one that
/// the CPU supports, or the one that tagmac_set_level() chose. NULL if that one is not usable.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_level() -> *const c_char {
    value(std::ptr::null(), || {
        let level = level()?;
        let place = Level::NAMES.iter().position(|name| *name == level.name());
        Ok(constant(&LEVELS[place.expect("a level of this architecture")]))
    })
}

/// Chooses the instruction set for all keys made from now on, on all threads; NULL restores the
/// default, the best one. For tests: the tags are the same with every instruction set. 'tagmac
/// selftest' lists the names.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_set_level(name: *const c_char) -> c_int {
    status(|| {
        if name.is_null() {
            CHOSEN.store(0, Ordering::Relaxed);
            return Ok(());
        }
        // SAFETY: the header requires a NUL-terminated string.
        let name = unsafe { text("the level's name", name) }?;
        let level = Level::from_name(name);
        let level = level.map_err(|error| format!("level {}: {error}", Quoted(name)))?;
        let place = Level::NAMES.iter().position(|name| *name == level.name());
        CHOSEN.store(place.expect("a level of this architecture") + 1, Ordering::Relaxed);
        Ok(())
    })
}

/// Overwrites memory with zeros. Unlike memset(), the compiler cannot optimise it away.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_memzero(memory: *mut c_void, size: usize) -> c_int {
    status(|| {
        // SAFETY: `bytes` refuses null pointers and sizes that are too large; the header requires
        // the rest.
        unsafe { tagmac_border::bytes("memory", memory.cast(), size) }?;
        if size > 0 {
            // SAFETY: `bytes` checked the memory above, and its shared slice is gone.
            unsafe { std::slice::from_raw_parts_mut(memory.cast::<u8>(), size) }.zeroize();
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_libraries_are_known() {
        for (name, found) in [
            ("PMAC-AES-128", Some("PMAC-AES128")),
            ("pmac-aes-256", Some("PMAC-AES256")),
            ("LightMAC-AES-128", Some("LIGHTMAC-AES128-S32")),
            ("LIGHTMAC-PRESENT-80-S8", Some("LIGHTMAC-PRESENT80-S8")),
            ("UMAC64", Some("UMAC-64")),
            ("PMAC-AES--128", None),
            ("PMAC-AES-129", None),
            ("PMAC", None),
        ] {
            assert_eq!(named(name).map(Algorithm::name), found, "{name}");
        }
        for algorithm in Algorithm::all() {
            assert_eq!(named(algorithm.name()), Some(algorithm));
            for alias in algorithm.aliases() {
                assert_eq!(named(&alias), Some(algorithm), "{alias}");
            }
        }
    }
}
