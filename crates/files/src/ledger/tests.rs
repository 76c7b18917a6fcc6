//! Laws of ledgers.
