//! Keeps traits to the library's own types: those of `isa`, so that a new vector operation breaks
//! nobody, and others that nobody else can keep the promises of.

/// What no other crate can implement.
pub trait Sealed {}
