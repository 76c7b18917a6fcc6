//! Merges a manifest with the entries found. Both are in the same order, so each is read once.

use std::cmp::Ordering;
use std::iter::Peekable;

use crate::error::Error;

/// An entry of the manifest, an entry found, or both.
pub enum Pair<S, F> {
    /// The entry is in both.
    Both(S, F),
    /// The entry is only in the manifest.
    Sealed(S),
    /// The entry was found, and is not in the manifest.
    Found(F),
}

/// Returns the next entry in order, or the first error.
pub fn next<S, F>(
    sealed: &mut Peekable<impl Iterator<Item = Result<S, Error>>>,
    found: &mut Peekable<impl Iterator<Item = Result<F, Error>>>,
    order: impl FnOnce(&S, &F) -> Ordering,
) -> Option<Result<Pair<S, F>, Error>> {
    let order = match (sealed.peek(), found.peek()) {
        (None, None) => return None,
        (Some(Err(_)), _) | (Some(Ok(_)), None) => Ordering::Less,
        (_, Some(Err(_))) | (None, Some(Ok(_))) => Ordering::Greater,
        (Some(Ok(sealed)), Some(Ok(found))) => order(sealed, found),
    };
    Some(match order {
        Ordering::Less => sealed.next()?.map(Pair::Sealed),
        Ordering::Greater => found.next()?.map(Pair::Found),
        Ordering::Equal => match (sealed.next()?, found.next()?) {
            (Ok(sealed), Ok(found)) => Ok(Pair::Both(sealed, found)),
            (Err(error), _) | (_, Err(error)) => Err(error),
        },
    })
}
