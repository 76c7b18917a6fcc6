//! The state of a MAC in use, EVP_MAC_CTX: the algorithm, the key, the nonce, and the current
//! message.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tagmac::isa::Level;
use tagmac::{Error, Tag};
use tagmac_any::{Algorithm, AnyMac, AnyStream};
use tagmac_border::{Failure, ensure};
use zeroize::Zeroizing;

use crate::key;
use crate::names::{Entry, ensure_any};
use crate::param::Param;

/// The maximum length of a message that is kept and tagged in one call: a stream would cost more than
/// the tag.
const SHORT: usize = 512;

/// A nonce. Duplicates made after it was set share it, so that only one of them can make a tag.
#[derive(Clone)]
struct Nonce {
    bytes: Vec<u8>,
    spent: Arc<AtomicBool>,
}

/// The state of the current message.
enum Message {
    /// Before INIT, and after FINAL.
    None,
    /// After INIT: parameters can still be set.
    Open,
    /// After the first UPDATE: `short` has the message so far.
    Short(Option<Nonce>),
    /// After more bytes.
    Long(AnyStream, Option<Nonce>),
}

/// See the top of this file.
pub struct Context {
    entry: &'static Entry,
    /// `None` until a cipher is chosen.
    algorithm: Option<Algorithm>,
    key: Option<Zeroizing<Vec<u8>>>,
    /// The length of a tag in bytes, if it is not the longest.
    size: Option<usize>,
    /// Made from the three fields above; `None` after one of them changes.
    mac: Option<AnyMac>,
    /// Set, and not yet used by this context.
    nonce: Option<Nonce>,
    message: Message,
    short: [u8; SHORT],
    /// The number of bytes in `short`.
    kept: usize,
}

impl Context {
    pub fn new(entry: &'static Entry) -> Context {
        Context::of(entry, entry.only())
    }

    /// A context with its MAC chosen.
    pub fn with(entry: &'static Entry, algorithm: Algorithm) -> Context {
        Context::of(entry, Some(algorithm))
    }

    fn of(entry: &'static Entry, algorithm: Option<Algorithm>) -> Context {
        Context {
            entry,
            algorithm,
            key: None,
            size: None,
            mac: None,
            nonce: None,
            message: Message::None,
            short: [0; SHORT],
            kept: 0,
        }
    }

    /// DUPCTX.
    pub fn duplicate(&self) -> Context {
        Context {
            entry: self.entry,
            algorithm: self.algorithm,
            key: self.key.clone(),
            size: self.size,
            mac: self.mac.clone(),
            nonce: self.nonce.clone(),
            message: match &self.message {
                Message::None => Message::None,
                Message::Open => Message::Open,
                Message::Short(nonce) => Message::Short(nonce.clone()),
                Message::Long(stream, nonce) => Message::Long(stream.fork(), nonce.clone()),
            },
            short: self.short,
            kept: self.kept,
        }
    }

    fn algorithm(&self) -> Result<Algorithm, Failure> {
        self.algorithm.ok_or_else(|| self.entry.wants_cipher())
    }

    /// Returns the MAC under the key.
    fn mac(&mut self) -> Result<&AnyMac, Failure> {
        if self.mac.is_none() {
            let algorithm = self.algorithm()?;
            let key = self.key.as_ref().ok_or("no key is set")?;
            let bits = self.size.map_or(algorithm.default_tag_bits(), |size| 8 * size);
            let mac = AnyMac::with_options(algorithm, key, bits, Level::best());
            self.mac = Some(mac.map_err(|error| Failure::from(error).about(algorithm))?);
        }
        Ok(self.mac.as_ref().expect("made above"))
    }

    /// INIT: drops the current message, and begins one under a new key or under the present one. If
    /// the new key is refused, the present one stays.
    pub fn init<'p>(
        &mut self,
        key: Option<&[u8]>,
        params: impl Iterator<Item = &'p Param>,
    ) -> Result<(), Failure> {
        self.message = Message::None;
        self.set(params)?;
        if let Some(key) = key {
            let before = (self.key.take(), self.mac.take());
            let made = self.set_key(key).and_then(|()| self.mac().map(drop));
            if let Err(failure) = made {
                (self.key, self.mac) = before;
                return Err(failure);
            }
        }
        let takes_nonce = self.mac()?.algorithm().takes_nonce();
        // With a new key the nonce may be set between INIT and the message. The present key needs a
        // nonce that is new.
        ensure(
            key.is_some() || !takes_nonce || self.nonce.is_some(),
            || "no new nonce is set: pass one as the parameter iv",
        )?;
        self.message = Message::Open;
        Ok(())
    }

    fn set_key(&mut self, key: &[u8]) -> Result<(), Failure> {
        self.key = Some(key::copied(key)?);
        self.mac = None;
        Ok(())
    }

    /// Begins the message, if it has not begun.
    fn begin(&mut self) -> Result<(), Failure> {
        match self.message {
            Message::Short(_) | Message::Long(..) => return Ok(()),
            Message::None => return Err("no message has begun: call init first".into()),
            Message::Open => {}
        }
        let algorithm = self.mac()?.algorithm();
        let checked = algorithm.check_nonce(bytes_of(&self.nonce).len());
        checked.map_err(|error| Failure::from(error).about("the nonce, parameter iv"))?;
        self.message = Message::Short(self.nonce.take());
        self.kept = 0;
        Ok(())
    }

    /// UPDATE.
    pub fn update(&mut self, data: &[u8]) -> Result<(), Failure> {
        self.begin()?;
        if let Message::Short(nonce) = &mut self.message {
            if let Some(room) = self.short[self.kept..].get_mut(..data.len()) {
                room.copy_from_slice(data);
                self.kept += data.len();
                return Ok(());
            }
            let mac = made(&self.mac)?;
            let mut stream = mac.stream(bytes_of(nonce))?;
            stream.update(&self.short[..self.kept]);
            self.message = Message::Long(stream, nonce.take());
        }
        if let Message::Long(stream, _) = &mut self.message {
            stream.update(data);
        }
        Ok(())
    }

    /// FINAL: ends the message and passes its tag to `put`. Of all contexts that share a nonce,
    /// only the first to finish makes a tag.
    pub fn finish(&mut self, put: impl FnOnce(&[u8])) -> Result<(), Failure> {
        self.begin()?;
        let message = std::mem::replace(&mut self.message, Message::None);
        if let Message::Short(Some(nonce)) | Message::Long(_, Some(nonce)) = &message {
            ensure(
                !nonce.spent.swap(true, Ordering::Relaxed),
                || "the nonce is used: a duplicate of this context made a tag under it",
            )?;
        }
        let tag = match message {
            Message::Long(stream, _) => stream.tag()?,
            Message::Short(nonce) => {
                let mac = made(&self.mac)?;
                mac.tag(bytes_of(&nonce), &self.short[..self.kept])?
            }
            Message::None | Message::Open => unreachable!("begun above"),
        };
        put(tag.as_bytes());
        Ok(())
    }

    /// Ends the message and checks its tag in constant time. Checking a tag does not use up the
    /// nonce.
    pub fn verify(&mut self, tag: &[u8]) -> Result<(), Failure> {
        let size = self.size();
        self.begin()?;
        let message = std::mem::replace(&mut self.message, Message::None);
        let tag = Tag::new(tag, 8 * size)?;
        let verdict = match message {
            Message::Long(stream, _) => stream.verify(&tag),
            Message::Short(nonce) => {
                let mac = made(&self.mac)?;
                mac.verify(bytes_of(&nonce), &self.short[..self.kept], &tag)
            }
            Message::None | Message::Open => unreachable!("begun above"),
        };
        verdict.map_err(Failure::from)
    }

    /// Returns the length of a tag in bytes; 0 until a cipher is chosen.
    pub fn size(&self) -> usize {
        let most = self.algorithm.map_or(0, |algorithm| algorithm.default_tag_bits().div_ceil(8));
        self.size.unwrap_or(most)
    }

    /// GET_CTX_PARAMS.
    pub fn get<'p>(&self, params: impl Iterator<Item = &'p mut Param>) -> Result<(), Failure> {
        get(self.size(), self.algorithm, params)
    }

    /// SET_CTX_PARAMS. Ignores unknown parameters, as OpenSSL's own providers do.
    pub fn set<'p>(&mut self, params: impl Iterator<Item = &'p Param>) -> Result<(), Failure> {
        for param in params {
            let ours = matches!(param.name(), "key" | "iv" | "size" | "cipher");
            ensure(
                !ours || !matches!(self.message, Message::Short(_) | Message::Long(..)),
                || format!("'{}' cannot change during a message", param.name()),
            )?;
            match param.name() {
                "key" => self.set_key(param.octets()?)?,
                "iv" => self.set_nonce(param.octets()?)?,
                "size" => self.set_size(param.number()?)?,
                "cipher" => self.set_cipher(param.text()?)?,
                // EVP_MAC_finalXOF() does not tell its caller how much of the buffer was filled.
                "xof" => ensure(param.number()? == 0, || "xof: tags have a fixed length")?,
                _ => {}
            }
        }
        Ok(())
    }

    fn set_nonce(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if let Some(algorithm) = self.algorithm {
            let checked = algorithm.check_nonce(bytes.len());
            checked.map_err(|error| Failure::from(error).about("the nonce, parameter iv"))?;
        }
        ensure_any("a nonce", bytes.len(), |algorithm| *algorithm.nonce_bytes().end())?;
        self.nonce = Some(Nonce { bytes: bytes.into(), spent: Arc::default() });
        Ok(())
    }

    fn set_size(&mut self, size: u64) -> Result<(), Failure> {
        let size = usize::try_from(size).ok().filter(|size| *size <= tagmac::Tag::MAX_BYTES);
        let size = size.ok_or("size: a tag has at most 32 bytes")?;
        match self.algorithm {
            Some(algorithm) => algorithm.check_tag_bits(8 * size)?,
            // The algorithm checks it once it is chosen.
            None => ensure(size > 0, || Error::TagBytes { expected: 1, found: 0 })?,
        }
        self.size = Some(size);
        self.mac = None;
        Ok(())
    }

    fn set_cipher(&mut self, cipher: &str) -> Result<(), Failure> {
        let algorithm = self.entry.chosen(cipher)?;
        if self.algorithm != Some(algorithm) {
            self.algorithm = Some(algorithm);
            self.mac = None;
        }
        Ok(())
    }
}

/// The MAC, which exists once a message has begun.
fn made(mac: &Option<AnyMac>) -> Result<&AnyMac, Failure> {
    mac.as_ref().ok_or_else(|| "no key is set".into())
}

fn bytes_of(nonce: &Option<Nonce>) -> &[u8] {
    nonce.as_ref().map_or(&[], |nonce| &nonce.bytes)
}

/// Answers queries for parameters of a context, or of an algorithm without one.
pub fn get<'p>(
    size: usize,
    algorithm: Option<Algorithm>,
    params: impl Iterator<Item = &'p mut Param>,
) -> Result<(), Failure> {
    for param in params {
        match (param.name(), algorithm.and_then(|algorithm| algorithm.block())) {
            ("size", _) => param.set_number(size)?,
            ("block-size", Some(block)) => param.set_number(block)?,
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::ENTRIES;
    use crate::param::octets;

    #[test]
    fn what_no_mac_takes_is_refused_before_it_is_copied() {
        let long = vec![7; 1 << 20];
        for entry in ENTRIES.iter() {
            let mut context = Context::new(entry);
            for name in [c"key", c"iv"] {
                let failure = context.set([&octets(name, &long)].into_iter()).unwrap_err();
                let line = failure.into_line();
                assert!(line.contains(" 1048576"), "{line}");
            }
            let failure = context.init(Some(&long), std::iter::empty()).unwrap_err();
            assert!(failure.into_line().contains("found 1048576"));
        }
    }

    /// However a message is cut, and wherever the context is duplicated, the tag is the same.
    #[test]
    fn short_and_long_messages_in_pieces() {
        let data: Vec<u8> = (0..3 * SHORT).map(|i| (i * 7) as u8).collect();
        for name in ["PMAC-AES128", "POLY1305-AES", "UMAC-64", "HMAC-SHA256"] {
            let algorithm: Algorithm = name.parse().expect("a name");
            let entry = ENTRIES.iter().find(|entry| entry.only() == Some(algorithm));
            let key = vec![7; algorithm.new_key_bytes()];
            let nonce = vec![9; *algorithm.nonce_bytes().end()];
            let mac = AnyMac::new(algorithm, &key).expect("a key");
            for length in [0, 1, SHORT - 1, SHORT, SHORT + 1, 3 * SHORT] {
                let message = &data[..length];
                let tag = mac.tag(&nonce, message).expect("short enough");
                let wrong = Tag::new(&vec![0; tag.as_bytes().len()], mac.tag_bits());
                assert_ne!(wrong.expect("a length"), tag);
                for piece in [1, 100, SHORT, 3 * SHORT] {
                    let mut context = Context::new(entry.expect("an entry"));
                    if !nonce.is_empty() {
                        context.set([&octets(c"iv", &nonce)].into_iter()).expect("a nonce");
                    }
                    context.init(Some(&key), std::iter::empty()).expect("a key");
                    let mut duplicate = context.duplicate();
                    for (i, piece) in message.chunks(piece).enumerate() {
                        context.update(piece).expect("begun");
                        duplicate.update(piece).expect("begun");
                        if i == 3 {
                            duplicate = context.duplicate();
                        }
                    }
                    let mut verifier = context.duplicate();
                    assert!(verifier.duplicate().verify(&vec![0; tag.as_bytes().len()]).is_err());
                    verifier.verify(tag.as_bytes()).expect("the right tag");
                    assert!(verifier.update(b"more").is_err(), "the message has ended");
                    let mut made: Vec<u8> = Vec::new();
                    context.finish(|tag| made.extend(tag)).expect("the first tag");
                    assert_eq!(made, tag.as_bytes(), "{name}, {length} in pieces of {piece}");
                    let again = duplicate.finish(|tag| assert_eq!(made, tag));
                    assert_eq!(again.is_ok(), nonce.is_empty(), "a nonce is for one tag");
                }
            }
        }
    }
}
