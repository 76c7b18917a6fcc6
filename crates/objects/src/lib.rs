//! Reads objects of S3, Google Cloud Storage and Azure.
//!
//! | what | where |
//! |---|---|
//! | `s3://bucket/key`, and what the other stores are called | [`tagmac_files::url`] |
//! | endpoints and credentials, from the environment and its files | `config`, `endpoint`, `profile`, `aws` |
//! | requests, and in what the stores differ | `requests`, `listing`, `dialect`, `signer`, `connector` |
//! | a range of an object, whatever happens to the connection | `range`, `pace`, `retry` |
//! | a manifest that is kept in a store | [`Prefix`] |
//! | an object's tag, a part of it, and the tags of all below a prefix | [`read`], [`bucket`] |
//!
//! `object_store` has the credentials and the signatures. Its names of objects leave out some that
//! stores allow (`a//b`, `a/`, a percent sign), and it believes what it is answered: a listing has any
//! length, an error any text. So requests are made here, the same way for all stores.
//!
//! What comes is hashed as it comes, by the task that it comes to: what is in memory is what the
//! connections hold, or for a MAC without parts a range for each of them. Each request says by
//! `If-Match`, and by the version where the store has versions, which content it is for, so that an
//! object that changes meanwhile is named and never mixed.

#![forbid(unsafe_code)]

mod aws;
pub mod bucket;
mod config;
mod connector;
mod dialect;
mod endpoint;
mod failure;
mod listing;
mod object;
mod objects;
mod pace;
mod place;
mod profile;
mod range;
pub mod read;
mod requests;
mod retry;
mod signer;

pub use object::ObjectVersion;
pub use objects::{Bucket, Limits, Objects};
pub use place::Prefix;
