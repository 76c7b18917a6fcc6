//! A listing and a manifest side by side. They have one order, so each is read once.

use std::cmp::Ordering;
use std::iter::Peekable;

use crate::error::Error;
use crate::escaped::Escaped;
use crate::objects::object::Object;
use crate::objects::tagger::Listed;

/// An object of the listing, of the manifest, or of both.
pub enum Item<T> {
    /// One of both.
    Both(Object, Listed<T>),
    /// One of the manifest alone.
    Missing(Object),
    /// One of the listing alone.
    New(Listed<T>),
    /// The manifest or the listing cannot be read, or is wrong.
    Wrong(Error),
}

/// The objects of a listing and of a manifest.
pub struct Merge<S: Iterator, F: Iterator> {
    sealed: Peekable<S>,
    found: Peekable<F>,
    /// The name that was listed last.
    last: Vec<u8>,
}

impl<T, S, F> Merge<S, F>
where
    S: Iterator<Item = Result<Object, Error>>,
    F: Iterator<Item = Result<Listed<T>, Error>>,
{
    /// The objects of a manifest, `sealed`, and of a listing, `found`.
    pub fn new(sealed: S, found: F) -> Merge<S, F> {
        Merge { sealed: sealed.peekable(), found: found.peekable(), last: Vec::new() }
    }

    /// The next object of the listing. Out of order it would be missing and new at once.
    fn next_found(&mut self) -> Option<Result<Listed<T>, Error>> {
        let found = match self.found.next()? {
            Ok(found) => found,
            error => return Some(error),
        };
        if self.last >= found.name {
            let [last, name] = [&self.last, &found.name].map(|name| Escaped::bytes(name));
            return Some(Err(Error::io(format_args!(
                "{name}: expected a listing in byte order of names, found this one after {last}"
            ))));
        }
        self.last.clone_from(&found.name);
        Some(Ok(found))
    }
}

impl<T, S, F> Iterator for Merge<S, F>
where
    S: Iterator<Item = Result<Object, Error>>,
    F: Iterator<Item = Result<Listed<T>, Error>>,
{
    type Item = Item<T>;

    fn next(&mut self) -> Option<Item<T>> {
        let order = match (self.sealed.peek(), self.found.peek()) {
            (None, None) => return None,
            (Some(Err(_)), _) => return self.sealed.next()?.err().map(Item::Wrong),
            (_, Some(Err(_))) => return self.found.next()?.err().map(Item::Wrong),
            (Some(Ok(_)), None) => Ordering::Less,
            (None, Some(Ok(_))) => Ordering::Greater,
            (Some(Ok(sealed)), Some(Ok(found))) => sealed.name.cmp(&found.name),
        };
        let sealed = if order.is_le() { self.sealed.next()?.ok() } else { None };
        let found = if order.is_ge() { self.next_found() } else { None };
        Some(match (sealed, found.transpose()) {
            (_, Err(error)) => Item::Wrong(error),
            (Some(sealed), Ok(Some(found))) => Item::Both(sealed, found),
            (Some(sealed), Ok(None)) => Item::Missing(sealed),
            (None, Ok(found)) => Item::New(found?),
        })
    }
}
