//! Joins the parts of an object.

use std::collections::BTreeMap;
use std::sync::Mutex;

use tagmac::save::Zeroizing;
use tagmac_any::{AnyPart, Parts};

use crate::failure::Failure;

/// The bytes after a part. They are as secret as the key, because the tag is finished with them.
pub type Tail = Zeroizing<Vec<u8>>;

/// The parts received. Contiguous parts from the start are joined; the others wait for the gap to
/// close.
pub struct Joined(Mutex<State>);

struct State {
    first: u64,
    whole: Option<AnyPart>,
    waiting: BTreeMap<u64, AnyPart>,
    tail: Tail,
    failure: Option<Failure>,
}

impl Joined {
    /// Starts without parts, at byte `first`.
    pub fn new(first: u64) -> Joined {
        let (waiting, tail) = (BTreeMap::new(), Tail::default());
        Joined(Mutex::new(State { first, whole: None, waiting, tail, failure: None }))
    }

    /// Adds a part and the bytes after it. The bytes after the last part are kept separately.
    /// Returns an error after any failure.
    pub fn put(
        &self,
        parts: Parts<'_>,
        part: Result<(AnyPart, Tail), Failure>,
        last: bool,
    ) -> Result<(), ()> {
        let mut state = self.0.lock().expect("no thread panics");
        if let Err(failure) = part.and_then(|part| state.join(parts, part, last)) {
            state.failure.get_or_insert(failure);
        }
        if state.failure.is_some() { Err(()) } else { Ok(()) }
    }

    /// Returns the whole part and the bytes after it.
    pub fn finish(self) -> Result<(AnyPart, Tail), Failure> {
        let State { whole, tail, failure, .. } = self.0.into_inner().expect("no thread panics");
        match (failure, whole) {
            (Some(failure), _) => Err(failure),
            (None, Some(whole)) => Ok((whole, tail)),
            (None, None) => Err(Failure::Final("internal error: no range was read".into())),
        }
    }
}

impl State {
    fn join(&mut self, parts: Parts<'_>, part: (AnyPart, Tail), last: bool) -> Result<(), Failure> {
        let wrong = |error: tagmac::hazmat::PartError| Failure::Final(error.to_string());
        let (mut part, tail) = part;
        if last {
            self.tail = tail;
        } else {
            parts.extend(&mut part, &tail).map_err(wrong)?;
        }
        self.waiting.insert(part.start(), part);
        loop {
            let end = self.whole.as_ref().map_or(self.first, AnyPart::end);
            let Some(next) = self.waiting.remove(&end) else { return Ok(()) };
            self.whole = Some(match self.whole.take() {
                Some(left) => parts.join(left, &next).map_err(wrong)?,
                None => next,
            });
        }
    }
}
