//! nettle: UMAC (RFC 4418) and Poly1305-AES (Bernstein 2005).
//!
//! nettle's functions do not return errors, and abort on lengths that they do not accept, so this
//! module checks lengths first. The caller provides a context, which is plain data private to
//! nettle.

use std::hint::black_box;

use crate::adversarial::{Answer, Subject};
use crate::info::{Info, Library, Visit, exactly};

/// Space for any of nettle's contexts. In nettle 3.8.1 on x86-64, `umac32_ctx` has 2392 bytes,
/// `umac64_ctx` 2520, `umac96_ctx` 2640, `umac128_ctx` 2768 and `poly1305_aes_ctx` 272, all aligned
/// to 8. This space is much larger, so that the contexts of a later nettle fit. It is aligned to a
/// cache line, so that timings do not depend on the allocator. The test at the end compares with
/// the headers.
#[repr(C, align(64))]
struct Context([u8; 8192]);

impl Context {
    fn zeroed() -> Box<Context> {
        Box::new(Context([0; 8192]))
    }
}

/// Sets a key of 16 bytes (UMAC) or 32 (Poly1305-AES).
type SetKey = unsafe extern "C" fn(*mut Context, *const u8);
type SetNonce = unsafe extern "C" fn(*mut Context, usize, *const u8);
type Update = unsafe extern "C" fn(*mut Context, usize, *const u8);
type Digest = unsafe extern "C" fn(*mut Context, usize, *mut u8);

/// nettle's four functions for one tag length.
struct Umac {
    tag_bytes: usize,
    set_key: SetKey,
    set_nonce: SetNonce,
    update: Update,
    digest: Digest,
}

/// Declares and lists the functions of each UMAC.
macro_rules! umac {
    ($($tag_bytes:literal: $set_key:ident $set_nonce:ident $update:ident $digest:ident;)*) => {
                unsafe extern "C" {
            $(
                fn $set_key(context: *mut Context, key: *const u8);
                fn $set_nonce(context: *mut Context, length: usize, nonce: *const u8);
                fn $update(context: *mut Context, length: usize, data: *const u8);
                fn $digest(context: *mut Context, length: usize, digest: *mut u8);
            )*
        }

        static UMAC: [Umac; 4] = [$(Umac {
            tag_bytes: $tag_bytes,
            set_key: $set_key,
            set_nonce: $set_nonce,
            update: $update,
            digest: $digest,
        }),*];
    };
}

umac! {
    4: nettle_umac32_set_key nettle_umac32_set_nonce nettle_umac32_update nettle_umac32_digest;
    8: nettle_umac64_set_key nettle_umac64_set_nonce nettle_umac64_update nettle_umac64_digest;
    12: nettle_umac96_set_key nettle_umac96_set_nonce nettle_umac96_update nettle_umac96_digest;
    16: nettle_umac128_set_key nettle_umac128_set_nonce nettle_umac128_update nettle_umac128_digest;
}

unsafe extern "C" {
    fn nettle_poly1305_aes_set_key(context: *mut Context, key: *const u8);
    fn nettle_poly1305_aes_set_nonce(context: *mut Context, nonce: *const u8);
    fn nettle_poly1305_aes_update(context: *mut Context, length: usize, data: *const u8);
    fn nettle_poly1305_aes_digest(context: *mut Context, length: usize, digest: *mut u8);
}

/// UMAC-32, -64, -96 or -128 of nettle.
///
/// ```
/// let mut umac = peers::NettleUmac::new(b"abcdefghijklmnop", 8);
/// let mut tag = [0; 8];
/// umac.tag(b"bcdefghi", b"abc", &mut tag);
/// assert_eq!(tag, [0xd4, 0xd7, 0xb9, 0xf6, 0xbd, 0x4f, 0xbf, 0xcf]);
/// ```
pub struct NettleUmac {
    umac: &'static Umac,
    context: Box<Context>,
}

impl NettleUmac {
    /// Makes a UMAC with tags of 4, 8, 12 or 16 bytes and a nonce of 16 zero bytes. Panics at
    /// another tag length.
    pub fn new(key: &[u8; 16], tag_bytes: usize) -> NettleUmac {
        let umac = UMAC.iter().find(|umac| umac.tag_bytes == tag_bytes);
        let umac = umac.unwrap_or_else(|| panic!("nettle: no UMAC with {tag_bytes} bytes of tag"));
        let mut context = Context::zeroed();
        // SAFETY: the context is large enough and aligned; UMAC keys have 16 bytes.
        unsafe { (umac.set_key)(&mut *context, key.as_ptr()) };
        NettleUmac { umac, context }
    }

    /// Returns the length of a tag in bytes.
    pub fn tag_bytes(&self) -> usize {
        self.umac.tag_bytes
    }

    /// Writes the tag of a message: nonce, update, digest. Panics when they do.
    pub fn tag(&mut self, nonce: &[u8], message: &[u8], tag: &mut [u8]) {
        self.set_nonce(nonce);
        self.next(message, tag);
    }

    /// Writes the tag of a message under the nonce after the last one, as nettle's users do with
    /// consecutive nonces. One AES call then makes the pads of four (UMAC-32) or two (UMAC-64)
    /// messages; [`tag`](NettleUmac::tag) needs one for each message.
    pub fn next(&mut self, message: &[u8], tag: &mut [u8]) {
        self.update(message);
        self.digest(tag);
    }

    /// Sets the nonce of the next digest. Panics unless it has 1 to 16 bytes.
    pub fn set_nonce(&mut self, nonce: &[u8]) {
        let length = nonce.len();
        assert!(
            (1..=16).contains(&length),
            "nettle: a UMAC nonce has 1 to 16 bytes, found {length}"
        );
        // SAFETY: the context has its key, and nettle accepts the nonce's length.
        unsafe { (self.umac.set_nonce)(&mut *self.context, length, nonce.as_ptr()) };
    }

    /// Adds more of the message.
    pub fn update(&mut self, data: &[u8]) {
        // SAFETY: the context has its key; the length is that of the data.
        unsafe { (self.umac.update)(&mut *self.context, data.len(), data.as_ptr()) };
    }

    /// Writes the tag of the data since the last digest, and increments the nonce. Panics unless
    /// `tag` has the length of a tag.
    pub fn digest(&mut self, tag: &mut [u8]) {
        assert_eq!(tag.len(), self.umac.tag_bytes, "nettle: bytes of a UMAC tag");
        // SAFETY: the context has its key, and the tag the length of this UMAC.
        unsafe { (self.umac.digest)(&mut *self.context, tag.len(), tag.as_mut_ptr()) };
    }
}

/// Poly1305-AES of nettle.
///
/// ```
/// let mut mac = peers::NettlePoly1305Aes::new(&[0; 32]);
/// let mut tag = [0; 16];
/// mac.tag(&[0; 16], b"r = 0 makes the tag AES of the nonce", &mut tag);
/// assert_eq!(tag[..4], [0x66, 0xe9, 0x4b, 0xd4]);
/// ```
pub struct NettlePoly1305Aes {
    context: Box<Context>,
}

impl NettlePoly1305Aes {
    /// Makes a MAC from the AES key followed by `r`, which nettle clamps. The nonce is zero.
    pub fn new(key: &[u8; 32]) -> NettlePoly1305Aes {
        let mut context = Context::zeroed();
        // SAFETY: the context is large enough and aligned; the key has its 32 bytes.
        unsafe { nettle_poly1305_aes_set_key(&mut *context, key.as_ptr()) };
        NettlePoly1305Aes { context }
    }

    /// Writes the tag of a message: nonce, update, digest.
    pub fn tag(&mut self, nonce: &[u8; 16], message: &[u8], tag: &mut [u8; 16]) {
        self.set_nonce(nonce);
        self.next(message, tag);
    }

    /// Writes the tag of a message under the nonce after the last one.
    pub fn next(&mut self, message: &[u8], tag: &mut [u8; 16]) {
        self.update(message);
        self.digest(tag);
    }

    /// Sets the nonce of the next digest.
    pub fn set_nonce(&mut self, nonce: &[u8; 16]) {
        // SAFETY: the context has its key; the nonce has its 16 bytes.
        unsafe { nettle_poly1305_aes_set_nonce(&mut *self.context, nonce.as_ptr()) };
    }

    /// Adds more of the message.
    pub fn update(&mut self, data: &[u8]) {
        // SAFETY: the context has its key; the length is that of the data.
        unsafe { nettle_poly1305_aes_update(&mut *self.context, data.len(), data.as_ptr()) };
    }

    /// Writes the tag of the data since the last digest, and increments the nonce.
    pub fn digest(&mut self, tag: &mut [u8; 16]) {
        // SAFETY: the context has its key; the tag has its 16 bytes.
        unsafe { nettle_poly1305_aes_digest(&mut *self.context, tag.len(), tag.as_mut_ptr()) };
    }
}

pub(crate) fn all(visit: &mut impl Visit) {
    let library = Library { name: "nettle", version: env!("PEERS_NETTLE_VERSION").into() };
    umac::<4>(visit, &library, "UMAC-32", ["nettle UMAC-32", "nettle UMAC-32, counting"]);
    umac::<8>(visit, &library, "UMAC-64", ["nettle UMAC-64", "nettle UMAC-64, counting"]);
    umac::<12>(visit, &library, "UMAC-96", ["nettle UMAC-96", "nettle UMAC-96, counting"]);
    umac::<16>(visit, &library, "UMAC-128", ["nettle UMAC-128", "nettle UMAC-128, counting"]);
    let call = "poly1305_aes_set_nonce, update, digest";
    let info = library.info("nettle Poly1305-AES", "POLY1305-AES", [32, 16, 16], call);
    visit.peer(info, |key, nonce| {
        let mut mac = NettlePoly1305Aes::new(&exactly(key));
        let nonce = exactly(nonce);
        move |message: &[u8]| {
            let mut tag = [0; 16];
            mac.tag(black_box(&nonce), message, &mut tag);
            tag
        }
    });
    let call = "poly1305_aes_update, digest, which counts the nonce up";
    let name = "nettle Poly1305-AES, counting";
    let info = library.info(name, "POLY1305-AES", [32, 16, 16], call);
    visit.peer(Info { repeats: false, ..info }, |key, nonce| {
        let mut mac = NettlePoly1305Aes::new(&exactly(key));
        mac.set_nonce(&exactly(nonce));
        move |message: &[u8]| {
            let mut tag = [0; 16];
            mac.next(message, &mut tag);
            tag
        }
    });
}

/// Visits UMAC with nonces of 8 bytes: set for each message, or set once and counted by nettle.
fn umac<const BYTES: usize>(
    visit: &mut impl Visit,
    library: &Library,
    function: &'static str,
    [each, counting]: [&'static str; 2],
) {
    let lengths = [16, 8, BYTES];
    let info = library.info(each, function, lengths, "umac_set_nonce, update, digest");
    visit.peer(info, |key, nonce| {
        let mut mac = NettleUmac::new(&exactly(key), BYTES);
        let nonce: [u8; 8] = exactly(nonce);
        move |message: &[u8]| {
            let mut tag = [0; BYTES];
            mac.tag(black_box(&nonce), message, &mut tag);
            tag
        }
    });
    let call = "umac_update, digest, which counts the nonce up";
    let info = Info { repeats: false, ..library.info(counting, function, lengths, call) };
    visit.peer(info, |key, nonce| {
        let mut mac = NettleUmac::new(&exactly(key), BYTES);
        mac.set_nonce(&exactly::<8>(nonce));
        move |message: &[u8]| {
            let mut tag = [0; BYTES];
            mac.next(message, &mut tag);
            tag
        }
    });
}

/// Lists nettle's MACs for adversarial vectors.
pub(crate) fn subjects(all: &mut Vec<Subject>) {
    const NO_LENGTH: Answer = Answer::Unasked("the function has no length argument");
    const ABORT: Answer = Answer::Unasked("an assertion ends the process");
    let library = Library { name: "nettle", version: env!("PEERS_NETTLE_VERSION").into() };
    let names = ["UMAC-32", "UMAC-64", "UMAC-96", "UMAC-128"];
    for (umac, name) in UMAC.iter().zip(names) {
        all.push(Subject::new(&library, name, "umac_digest", |test| {
            let Ok(key) = test.key[..].try_into() else { return NO_LENGTH };
            if !(1..=16).contains(&test.nonce.len())
                || !(1..=umac.tag_bytes).contains(&test.tag.len())
            {
                return ABORT;
            }
            let mut mac = NettleUmac::new(key, umac.tag_bytes);
            mac.set_nonce(&test.nonce);
            mac.update(&test.message);
            let mut tag = vec![0; test.tag.len()];
            // SAFETY: the context has its key, and nettle accepts the tag's length.
            unsafe { (mac.umac.digest)(&mut *mac.context, tag.len(), tag.as_mut_ptr()) };
            Answer::accepted_if(tag == test.tag)
        }));
    }
    all.push(Subject::new(&library, "POLY1305-AES", "poly1305_aes_digest", |test| {
        let (Ok(key), Ok(nonce)) = (test.key[..].try_into(), test.nonce[..].try_into()) else {
            return NO_LENGTH;
        };
        if test.tag.len() > 16 {
            return Answer::Unasked("the function copies stack memory after the tag");
        }
        let mut mac = NettlePoly1305Aes::new(key);
        mac.set_nonce(nonce);
        mac.update(&test.message);
        let mut tag = vec![0; test.tag.len()];
        // SAFETY: the context has its key, and nettle accepts the tag's length.
        unsafe { nettle_poly1305_aes_digest(&mut *mac.context, tag.len(), tag.as_mut_ptr()) };
        Answer::accepted_if(tag == test.tag)
    }));
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::Context;

    /// The contexts fit, by the sizes in the library's own headers.
    #[test]
    fn contexts_fit() {
        let mut source = String::from("#include <nettle/umac.h>\n#include <nettle/poly1305.h>\n");
        for name in ["umac32", "umac64", "umac96", "umac128", "poly1305_aes"] {
            let (size, align) = (size_of::<Context>(), align_of::<Context>());
            source += &format!(
                "_Static_assert(sizeof(struct {name}_ctx) <= {size}, \"size\");\n\
                 _Static_assert(_Alignof(struct {name}_ctx) <= {align}, \"alignment\");\n"
            );
        }
        let mut command = Command::new("cc");
        command.args(["-std=c11", "-fsyntax-only", "-x", "c", "-"]).stdin(Stdio::piped());
        let mut compiler = command.spawn().expect("a C compiler");
        let mut input = compiler.stdin.take().expect("a pipe");
        input.write_all(source.as_bytes()).expect("a compiler that reads");
        drop(input);
        assert!(compiler.wait().expect("a compiler that ends").success());
    }
}
