// What concerns the library as a whole: its version, its errors, what there is in it.

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use tagmac::isa::Level;
use tagmac_any::Algorithm;
use tagmac_border::{Failure, Quoted, text};
use zeroize::Zeroize;

use crate::status::{
    TAGMAC_INPUT, TAGMAC_INTERNAL, TAGMAC_LIMIT, TAGMAC_MISMATCH, TAGMAC_MISUSE, TAGMAC_OK,
    constant, status, value, with_last,
};

/// The algorithms' names for C.
static NAMES: LazyLock<Vec<CString>> = LazyLock::new(|| {
    let name = |algorithm: Algorithm| CString::new(algorithm.name()).expect("a name has no NUL");
    Algorithm::all().map(name).collect()
});
static LEVELS: LazyLock<Vec<CString>> = LazyLock::new(|| {
    let name = |name: &&str| CString::new(*name).expect("a name has no NUL");
    Level::NAMES.iter().map(name).collect()
});
/// The place of the chosen level in `Level::NAMES`, from 1; 0 for the best.
static CHOSEN: AtomicUsize = AtomicUsize::new(0);

/// The name of an algorithm for C.
pub fn name_of(algorithm: Algorithm) -> *const c_char {
    let place = Algorithm::all().position(|other| other == algorithm);
    constant(&NAMES[place.expect("an algorithm of the registry")])
}

/// The level that keys are made for.
pub fn level() -> Result<Level, Failure> {
    match CHOSEN.load(Ordering::Relaxed) {
        0 => Ok(Level::best()),
        place => Ok(Level::from_name(Level::NAMES[place - 1])?),
    }
}

/// The algorithm that C names.
///
/// # Safety
///
/// As [`text`].
pub unsafe fn algorithm(name: *const c_char) -> Result<Algorithm, Failure> {
    // SAFETY: the caller's word.
    let name = Quoted(unsafe { text("an algorithm's name", name) }?);
    let found = (!name.is_too_long()).then(|| Algorithm::from_name(name.0).ok()).flatten();
    found.ok_or_else(|| {
        format!("expected the name of an algorithm, see tagmac_algorithm(), found {name}").into()
    })
}

/// The lengths of an algorithm's keys, nonces and tags. Keys and nonces count in bytes, tags in
/// bits, because PMAC, LightMAC and EliMAC have tags of any number of bits.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sizes {
    /// The shortest key in bytes.
    pub key_min: usize,
    /// The longest key in bytes.
    pub key_max: usize,
    /// Bytes that a new key should have.
    pub key_new: usize,
    /// The shortest nonce in bytes. 0: the algorithm takes no nonce.
    pub nonce_min: usize,
    /// The longest nonce in bytes.
    pub nonce_max: usize,
    /// The shortest tag in bits.
    pub tag_bits_min: usize,
    /// The longest tag in bits. It is the default.
    pub tag_bits_max: usize,
    /// Tag lengths go up in steps of this many bits.
    pub tag_bits_step: usize,
    /// Bytes of a block, for tagmac_hazmat.h. 0: the algorithm has no parts.
    pub block: usize,
    /// The most bytes of a message. UINT64_MAX: no limit in reach.
    pub message_max: u64,
    /// Zeros, for later versions.
    pub reserved: [u64; 4],
}

/// The version of the library, such as "0.1.0". The macro TAGMAC_VERSION is that of the header.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_version() -> *const c_char {
    static VERSION: LazyLock<CString> =
        LazyLock::new(|| CString::new(env!("CARGO_PKG_VERSION")).expect("a version has no NUL"));
    value(c"".as_ptr(), || Ok(constant(&VERSION)))
}

/// Bytes for a line of tagmac_error_string().
#[expect(dead_code, reason = "for C alone")]
pub const TAGMAC_ERROR_SIZE: usize = 256;

/// What a status means, in a few words, such as "wrong tag" for TAGMAC_MISMATCH. A constant.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_status_string(status: c_int) -> *const c_char {
    constant(match status {
        TAGMAC_OK => c"success",
        TAGMAC_MISMATCH => c"wrong tag",
        TAGMAC_MISUSE => c"wrong call",
        TAGMAC_LIMIT => c"limit reached",
        TAGMAC_INPUT => c"unusable key file or saved session",
        TAGMAC_INTERNAL => c"internal error",
        _ => c"unknown status",
    })
}

/// Writes why the last call on this thread that failed did so: one line, what was expected and what
/// was found; "" if none has failed. It never holds a key, a message or a right tag.
///
/// It ends in NUL, and is cut short where it is longer than the room: TAGMAC_ERROR_SIZE bytes are enough
/// unless it quotes a name or a path of yours. Gives `line` back, or "" if that is NULL or has no room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_error_string(line: *mut c_char, line_size: usize) -> *const c_char {
    if line.is_null() || line_size == 0 {
        return c"".as_ptr();
    }
    with_last(|last| {
        let room = last.len().min(line_size - 1);
        let size = (0..=room).rev().find(|&size| last.is_char_boundary(size)).unwrap_or(0);
        // SAFETY: the header asks for room of that size, and a line of ours does not overlap it.
        unsafe {
            line.copy_from_nonoverlapping(last.as_ptr().cast(), size);
            line.add(size).write(0);
        }
    });
    line
}

/// The name of an algorithm, such as "PMAC-AES128", counted from 0. NULL past the last one.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_algorithm(index: usize) -> *const c_char {
    value(std::ptr::null(), || {
        let name = NAMES.get(index).map(|name| constant(name));
        name.ok_or_else(|| format!("expected an index below {}, found {index}", NAMES.len()).into())
    })
}

/// The lengths of an algorithm's keys, nonces and tags.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_algorithm_sizes(
    sizes: *mut Sizes,
    algorithm: *const c_char,
) -> c_int {
    status(|| {
        // SAFETY: the header asks for a string that ends in NUL.
        let algorithm = unsafe { self::algorithm(algorithm) }?;
        let (key, nonce) = (algorithm.key_bytes(), algorithm.nonce_bytes());
        let tag = algorithm.tag_bits();
        tagmac_border::ensure(
            !sizes.is_null() && sizes.is_aligned(),
            "expected room for the sizes, found a null pointer, or one that is not aligned",
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
        // SAFETY: not null and aligned; the header asks for room.
        unsafe { sizes.write(found) };
        Ok(())
    })
}

/// The instruction set that new keys are made for, such as "avx2". The best that the CPU has, or
/// what tagmac_set_level() chose. NULL if there is none to use.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_level() -> *const c_char {
    value(std::ptr::null(), || {
        let level = level()?;
        let place = Level::NAMES.iter().position(|name| *name == level.name());
        Ok(constant(&LEVELS[place.expect("a level of this architecture")]))
    })
}

/// Chooses the instruction set for all keys made from now on, on all threads; NULL for the best.
/// For tests: tags are the same with all. The names are those of 'tagmac selftest'.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_set_level(name: *const c_char) -> c_int {
    status(|| {
        if name.is_null() {
            CHOSEN.store(0, Ordering::Relaxed);
            return Ok(());
        }
        // SAFETY: the header asks for a string that ends in NUL.
        let name = unsafe { text("a level's name", name) }?;
        let level = Level::from_name(name);
        let level = level.map_err(|error| format!("level {}: {error}", Quoted(name)))?;
        let place = Level::NAMES.iter().position(|name| *name == level.name());
        CHOSEN.store(place.expect("a level of this architecture") + 1, Ordering::Relaxed);
        Ok(())
    })
}

/// Overwrites memory with zeros. The compiler cannot leave it out, as it may with memset().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_memzero(memory: *mut c_void, size: usize) -> c_int {
    status(|| {
        // SAFETY: refuses null and what is too large; the header asks for the rest.
        unsafe { tagmac_border::bytes("memory", memory.cast(), size) }?;
        if size > 0 {
            // SAFETY: the memory is there, see above, and the shared slice is gone.
            unsafe { std::slice::from_raw_parts_mut(memory.cast::<u8>(), size) }.zeroize();
        }
        Ok(())
    })
}
