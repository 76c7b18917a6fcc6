//! Keeps the traits of `isa` to its own types, so that a new vector operation breaks nobody.

/// What no other crate can implement.
pub trait Sealed {}
