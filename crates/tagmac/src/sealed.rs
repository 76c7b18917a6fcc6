//! Seals traits against implementations in other crates. For those of `isa`, a new vector operation
//! is then a compatible change; for the others, only this crate can keep their promises.

/// A supertrait that other crates cannot implement.
pub trait Sealed {}
