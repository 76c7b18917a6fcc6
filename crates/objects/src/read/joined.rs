//! The parts of an object so far.

use std::collections::BTreeMap;
use std::sync::Mutex;

use tagmac::save::Zeroizing;
use tagmac_any::{AnyPart, Parts};

use crate::failure::Failure;

/// The bytes after a part: as secret as the key, since they are what a tag is finished with.
type Tail = Zeroizing<Vec<u8>>;

/// The parts so far: those from the start without a gap as one, the others until the gap closes.
pub struct Joined(Mutex<State>);

struct State {
    first: u64,
    whole: Option<AnyPart>,
    waiting: BTreeMap<u64, AnyPart>,
    tail: Tail,
    failure: Option<Failure>,
}

impl Joined {
    /// None yet, from byte `first` on.
    pub fn new(first: u64) -> Joined {
        let (waiting, tail) = (BTreeMap::new(), Tail::default());
        Joined(Mutex::new(State { first, whole: None, waiting, tail, failure: None }))
    }

    /// Adds a part with what comes after it, of which the last one's is kept apart. An error once
    /// anything failed.
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

    /// The whole, and what comes after it.
    pub fn finish(self) -> Result<(AnyPart, Tail), Failure> {
        let State { whole, tail, failure, .. } = self.0.into_inner().expect("no thread panics");
        match (failure, whole) {
            (Some(failure), _) => Err(failure),
            (None, Some(whole)) => Ok((whole, tail)),
            (None, None) => Err(Failure::Final("expected at least one range, found none".into())),
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
