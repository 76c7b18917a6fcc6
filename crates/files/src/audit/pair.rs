//! A manifest and what is there side by side. Both have one order, so each is read once.

use std::cmp::Ordering;
use std::iter::Peekable;

use crate::error::Error;

/// An entry of the manifest, of what is there, or of both.
pub enum Pair<S, F> {
    /// One of both.
    Both(S, F),
    /// One of the manifest alone.
    Sealed(S),
    /// One that is there alone.
    Found(F),
}

/// The next entry in an order, or the first error.
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
