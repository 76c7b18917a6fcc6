//! Reads objects from S3, Google Cloud Storage and Azure.
//!
//! | what | where |
//! |---|---|
//! | URLs, such as `s3://bucket/key` | [`tagmac_files::url`] |
//! | endpoints and credentials, from the environment and its files | `config`, `endpoint`, `aws` |
//! | requests, and the differences between the stores | `requests`, `listing`, `dialect`, `signer`, `connector` |
//! | ranges of an object, with retries | `range`, `pace`, `retry` |
//! | manifests in a store | [`Prefix`] |
//! | an object that a manifest describes, whose bytes are verified before they are released | [`sealed`] |
//! | an object store whose bytes are verified before they are returned | [`verified`] |
//! | the tag of an object, a part of it, and the tags of all objects below a prefix | [`read`], [`bucket`] |
//!
//! `object_store` provides signatures, and the credentials of Google Cloud Storage and Azure. Its own requests are not used, for two
//! reasons: it cannot name some objects that stores allow (`a//b`, `a/`, a percent sign), and it
//! does not limit the size of a listing or an error. So this crate makes the requests, in the same
//! way for all stores.
//!
//! The task that receives bytes hashes them as they arrive. Memory holds only what the connections
//! have, or, for a MAC without parts, one range for each. Each request is bound to one content of
//! the object by `If-Match`, and by the version if the store has versions. So an object that
//! changes while it is read is reported, and contents are never mixed.

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
mod range;
pub mod read;
mod requests;
mod retry;
pub mod sealed;
mod signer;
pub mod verified;

pub use object_store;

pub use failure::{DENIED, Failure};
pub use object::{Metadata, ObjectVersion};
pub use objects::{Bucket, Limits, Objects};
pub use place::Prefix;
