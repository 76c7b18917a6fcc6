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
    /// After the first UPDATE.
    Begun(AnyStream, Option<Nonce>),
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
        let message = Message::None;
        Context { entry, algorithm, key: None, size: None, mac: None, nonce: None, message }
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
                Message::Begun(stream, nonce) => Message::Begun(stream.fork(), nonce.clone()),
            },
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
            "no new nonce is set: pass one as the parameter iv",
        )?;
        self.message = Message::Open;
        Ok(())
    }

    fn set_key(&mut self, key: &[u8]) -> Result<(), Failure> {
        self.key = Some(key::copied(key)?);
        self.mac = None;
        Ok(())
    }

    /// Returns the current message; begins it if necessary.
    fn begun(&mut self) -> Result<&mut AnyStream, Failure> {
        match &self.message {
            Message::Begun(..) => {}
            Message::None => return Err("no message has begun: call init first".into()),
            Message::Open => {
                self.mac()?;
                let mac = self.mac.as_ref().expect("made above");
                let nonce = self.nonce.as_ref();
                let stream = mac.stream(nonce.map_or(&[], |nonce| &nonce.bytes));
                let stream = stream
                    .map_err(|error| Failure::from(error).about("the nonce, parameter iv"))?;
                self.message = Message::Begun(stream, self.nonce.take());
            }
        }
        let Message::Begun(stream, _) = &mut self.message else { unreachable!("begun above") };
        Ok(stream)
    }

    /// UPDATE.
    pub fn update(&mut self, data: &[u8]) -> Result<(), Failure> {
        self.begun()?.update(data);
        Ok(())
    }

    /// FINAL: ends the message and passes its tag to `put`. Of all contexts that share a nonce,
    /// only the first to finish makes a tag.
    pub fn finish(&mut self, put: impl FnOnce(&[u8])) -> Result<(), Failure> {
        self.begun()?;
        let message = std::mem::replace(&mut self.message, Message::None);
        let Message::Begun(stream, nonce) = message else { unreachable!("begun above") };
        if let Some(nonce) = nonce {
            ensure(
                !nonce.spent.swap(true, Ordering::Relaxed),
                "the nonce is used: a duplicate of this context made a tag under it",
            )?;
        }
        put(stream.tag()?.as_bytes());
        Ok(())
    }

    /// Ends the message and checks its tag in constant time. Checking a tag does not use up the
    /// nonce.
    pub fn verify(&mut self, tag: &[u8]) -> Result<(), Failure> {
        let size = self.size();
        self.begun()?;
        let message = std::mem::replace(&mut self.message, Message::None);
        let Message::Begun(stream, _) = message else { unreachable!("begun above") };
        let tag = Tag::new(tag, 8 * size)?;
        stream.verify(&tag).map_err(Failure::from)
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
                !ours || !matches!(self.message, Message::Begun(..)),
                format_args!("'{}' cannot change during a message", param.name()),
            )?;
            match param.name() {
                "key" => self.set_key(param.octets()?)?,
                "iv" => self.set_nonce(param.octets()?)?,
                "size" => self.set_size(param.number()?)?,
                "cipher" => self.set_cipher(param.text()?)?,
                // EVP_MAC_finalXOF() does not tell its caller how much of the buffer was filled.
                "xof" => ensure(param.number()? == 0, "xof: tags have a fixed length")?,
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
            None => ensure(size > 0, Error::TagBytes { expected: 1, found: 0 })?,
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
}
