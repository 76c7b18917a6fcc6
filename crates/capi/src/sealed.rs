// Sealed directories: verified reads of their files.

use std::ffi::{c_char, c_int};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tagmac_border::{Failure, FailureKind, bytes, ensure};
use tagmac_files::Error;
use tagmac_files::leaves::content::{Contents, SealedContent};
use tagmac_files::leaves::tree::SealedTree;
use tagmac_files::leaves::verified::{Leaf, VerifiedFile};
use tagmac_files::manifest::ManifestError;
use tagmac_files::raw_key::RawKey;
use zeroize::Zeroizing;

use crate::file::{failed, open_key, path};
use crate::key::{Key, keyed};
use crate::slot::{Held, free, slot};
use crate::status::{status, value};

/// An open manifest, whose seal was verified. Begin with zeros: `tagmac_manifest manifest = {0};`.
/// Several threads may use one manifest at the same time, except while it is opened or freed. Do
/// not move or copy it: the calls refuse a copy.
#[repr(C)]
pub struct Manifest {
    opaque: [usize; 4],
}

/// The sealed content of a file, which verifies bytes wherever they come from. Begin with zeros:
/// `tagmac_content content = {0};`. Threads and copies: as for a tagmac_manifest.
#[repr(C)]
pub struct Content {
    opaque: [usize; 4],
}

/// An open file of a sealed directory. Its bytes are verified before a call returns them. Begin with
/// zeros: `tagmac_file file = {0};`. Threads and copies: as for a tagmac_manifest.
#[repr(C)]
pub struct File {
    opaque: [usize; 4],
}

/// The contents of a `tagmac_manifest`.
struct Opened(Arc<Contents>);

impl Held for Opened {
    const NAME: &'static str = "tagmac_manifest";
    const MAGIC: usize = 0x6d61_6e69;
}

/// The contents of a `tagmac_content`.
struct Described(SealedContent);

impl Held for Described {
    const NAME: &'static str = "tagmac_content";
    const MAGIC: usize = 0x636f_6e74;
}

/// The contents of a `tagmac_file`.
struct Reading {
    file: VerifiedFile,
    /// The leaf that was read last, for small reads.
    last: Mutex<Leaf>,
}

impl Held for Reading {
    const NAME: &'static str = "tagmac_file";
    const MAGIC: usize = 0x6669_6c65;
}

/// The failure for an error of a lookup.
fn missing(error: Error) -> Failure {
    match &error {
        Error::Manifest(why) if matches!(**why, ManifestError::NoEntry { .. }) => {
            Failure::from(error).of(FailureKind::Input)
        }
        _ => failed(error),
    }
}

/// Opens the manifest of a directory and verifies its seal, which covers all its lines.
///
/// TAGMAC_MISMATCH if the manifest was changed or is not one. TAGMAC_INPUT if it is missing or was
/// sealed under another key. An attacker may put back an older manifest: compare
/// tagmac_manifest_sequence() with the last one that you saw.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn tagmac_manifest_open(
    manifest: *mut Manifest,
    key: *const Key,
    path: *const c_char,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a manifest, a key and a string.
        let (mut manifest, key, path) = unsafe {
            let manifest = slot::<Opened, Manifest>(manifest)?.alone()?;
            (manifest, keyed(key)?, self::path("the path", path)?)
        };
        manifest.vacant()?;
        let raw = RawKey::new(key.mac.algorithm(), Zeroizing::new(key.bytes().to_vec()))?;
        let contents = Contents::open(&open_key(key), &raw, path).map_err(failed)?;
        manifest.put(Opened(Arc::new(contents)))
    })
}

/// Returns the manifest's number in its chain, which counts up from 1 when a directory is sealed
/// again. 0 for an empty manifest, and for a version without chains.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_manifest_sequence(manifest: *const Manifest) -> u64 {
    value(0, || {
        // SAFETY: the header requires a manifest.
        let manifest = unsafe { slot::<Opened, Manifest>(manifest) }?.read()?;
        Ok(manifest.0.chain().sequence)
    })
}

/// Frees a manifest and leaves zeros. Its contents and files stay valid. Does nothing to an empty
/// manifest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_manifest_free(manifest: *mut Manifest) -> c_int {
    // SAFETY: the header requires a manifest.
    status(|| unsafe { free::<Opened, Manifest>(manifest) })
}

/// Looks up the file at `path`, relative to the sealed directory.
///
/// TAGMAC_INPUT if the manifest has no such entry, or if its leaf tags cannot be read. TAGMAC_MISUSE
/// if it is not a file, or if it is longer than 64 MiB and was sealed without leaf tags.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_content_init(
    content: *mut Content,
    manifest: *const Manifest,
    path: *const c_char,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a content, a manifest and a string.
        let (mut content, manifest, path) = unsafe {
            let content = slot::<Described, Content>(content)?.alone()?;
            let manifest = slot::<Opened, Manifest>(manifest)?.read()?;
            (content, manifest, self::path("the path", path)?)
        };
        content.vacant()?;
        let found = manifest.0.content(path.as_os_str().as_encoded_bytes(), path);
        content.put(Described(found.map_err(missing)?))
    })
}

/// Returns the size of the content in bytes. 0 for an empty one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_content_bytes(content: *const Content) -> u64 {
    // SAFETY: the header requires a content.
    value(0, || Ok(unsafe { slot::<Described, Content>(content) }?.read()?.0.size()))
}

/// Returns the length of a leaf in bytes: what can be verified alone. Only the last leaf may be
/// shorter. A short file is one leaf.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_content_leaf(content: *const Content) -> u64 {
    // SAFETY: the header requires a content.
    value(0, || Ok(unsafe { slot::<Described, Content>(content) }?.read()?.0.leaf()))
}

/// Checks that `data` is what was sealed from byte `start` on: one whole leaf or several. 0 if it
/// is, TAGMAC_MISMATCH if it is not. Use the data only after 0. No thread may change it during the
/// call or afterwards.
///
/// TAGMAC_MISUSE if no leaf begins at `start`. TAGMAC_INPUT if the leaf tags cannot be read.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn tagmac_content_verify(
    content: *const Content,
    start: u64,
    data: *const u8,
    data_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a content, and memory of that size.
        let (content, data) = unsafe {
            let content = slot::<Described, Content>(content)?.read()?;
            (content, bytes("the data", data, data_size)?)
        };
        let content = &content.0;
        let leaf = content.leaf();
        ensure(start.is_multiple_of(leaf) && start < content.size().max(1), || {
            format!("start: expected a multiple of {leaf} below the size, found {start}")
        })?;
        leaves(content, start, data).map_err(failed)
    })
}

/// Verifies leaves from the one that begins at `start` on.
fn leaves(content: &SealedContent, mut start: u64, mut data: &[u8]) -> Result<(), Error> {
    loop {
        let range = content.range(start);
        let bytes = (range.end - range.start).min(data.len() as u64) as usize;
        let (leaf, rest) = data.split_at(bytes);
        let is_over = range.end == content.size() && !rest.is_empty();
        if is_over || !content.is_sealed(start, leaf)? {
            return Err(content.differs(range));
        }
        if rest.is_empty() {
            return Ok(());
        }
        (start, data) = (range.end, rest);
    }
}

/// Frees a content and leaves zeros. Does nothing to an empty content.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_content_free(content: *mut Content) -> c_int {
    // SAFETY: the header requires a content.
    status(|| unsafe { free::<Described, Content>(content) })
}

/// Opens the file at `path` in the directory `root`, to which the manifest belongs. Symbolic links
/// inside the directory are not followed.
///
/// TAGMAC_MISMATCH if it has another size than the sealed one. TAGMAC_INPUT if it cannot be opened,
/// and otherwise as for tagmac_content_init().
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn tagmac_file_open(
    file: *mut File,
    manifest: *const Manifest,
    root: *const c_char,
    path: *const c_char,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a file, a manifest and strings.
        let (mut file, manifest, root, path) = unsafe {
            let file = slot::<Reading, File>(file)?.alone()?;
            let manifest = slot::<Opened, Manifest>(manifest)?.read()?;
            let root: &Path = self::path("the root", root)?;
            (file, manifest, root, self::path("the path", path)?)
        };
        file.vacant()?;
        let mut tree = SealedTree::new(manifest.0.clone(), root).map_err(failed)?;
        let opened = tree.file(path.as_os_str().as_encoded_bytes()).map_err(missing)?;
        file.put(Reading { file: opened, last: Mutex::default() })
    })
}

/// Returns the size of the file in bytes. 0 for an empty tagmac_file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_file_bytes(file: *const File) -> u64 {
    // SAFETY: the header requires a file.
    value(0, || Ok(unsafe { slot::<Reading, File>(file) }?.read()?.file.content().size()))
}

/// Reads the verified bytes of the file from `offset` on, and writes their number to `read`: `size`,
/// or fewer only at the end of the file. Whole leaves are read and verified, so read in large steps
/// or in order.
///
/// TAGMAC_MISMATCH if the bytes are not the sealed ones, TAGMAC_INPUT if they cannot be read. Then
/// `out` holds only zeros. During the call it may hold bytes that are not verified yet: no other
/// thread may use them.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn tagmac_file_read(
    file: *const File,
    out: *mut u8,
    size: usize,
    offset: u64,
    read: *mut usize,
) -> c_int {
    status(|| {
        ensure(!read.is_null(), || "read is a null pointer")?;
        // SAFETY: the header requires a file, and memory of that size.
        let file = unsafe {
            bytes("the buffer", out, size)?;
            slot::<Reading, File>(file)?.read()?
        };
        let left = file.file.content().size().saturating_sub(offset);
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(size);
        let out = if count == 0 {
            &mut []
        } else {
            // SAFETY: `bytes` checked the memory, and its shared slice is gone. The header requires
            // that nothing else uses it.
            unsafe { std::slice::from_raw_parts_mut(out, count) }
        };
        if let Err(error) = file.fill(out, offset) {
            out.fill(0);
            return Err(failed(error));
        }
        // SAFETY: not null; the header requires the place, which need not be aligned.
        unsafe { read.write_unaligned(count) };
        Ok(())
    })
}

impl Reading {
    fn fill(&self, mut out: &mut [u8], mut offset: u64) -> Result<(), Error> {
        // Not held during the read, so that threads read at the same time.
        let kept = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut leaf = std::mem::take(&mut *kept());
        if self.file.content().size() == 0 {
            // An empty file can be a damaged one.
            self.file.read(0, &mut leaf)?;
        }
        while !out.is_empty() {
            let count = self.file.read_at(out, offset, &mut leaf)?;
            out = &mut out[count..];
            offset += count as u64;
        }
        *kept() = leaf;
        Ok(())
    }
}

/// Closes a file and leaves zeros. Does nothing to an empty tagmac_file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_file_free(file: *mut File) -> c_int {
    // SAFETY: the header requires a file.
    status(|| unsafe { free::<Reading, File>(file) })
}
