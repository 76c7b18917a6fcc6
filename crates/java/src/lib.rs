//! The native half of `java/tagmac`: the methods of its class `org.tagmac.Native`.
//!
//! Java has no pointers to anything here, only [handles](table): a handle that was freed, forged or
//! is of another kind is an exception, at any time and from any thread. [`env`] has all calls of
//! JNI. Arguments from Java are checked here again, because reflection reaches private methods.
//! Only ranges of arrays that [`foreign`] reads are checked in Java alone.

mod context;
mod env;
mod foreign;
mod info;
mod key;
#[cfg(unix)]
mod manifest;
mod many;
mod open;
mod scratch;
mod session;
mod source;
mod table;
mod thrown;
