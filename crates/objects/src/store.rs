//! The stores that there are, behind one type.

use bytes::Bytes;
use tagmac_files::Error;
use tagmac_files::url::{Scheme, Url};

use crate::failure::Failure;
use crate::listing::Page;
use crate::object::{Body, Facts, Over, Span};
use crate::other::Other;
use crate::s3::S3;

/// A bucket's store.
pub enum Store {
    /// S3.
    S3(S3),
    /// Another one.
    Other(Other),
}

impl Store {
    /// The store of a URL's bucket.
    pub fn new(url: &Url) -> Result<Store, Error> {
        match url.scheme {
            Scheme::S3 => S3::new(url).map(Store::S3),
            _ => Other::new(url).map(Store::Other),
        }
    }

    /// The bytes of a range of the content that is expected.
    pub async fn get(&self, key: &str, span: Span, expected: &Facts) -> Result<Body, Failure> {
        match self {
            Store::S3(s3) => s3.get(key, span, expected).await,
            Store::Other(other) => other.get(key, span, expected).await,
        }
    }

    /// What is known of an object.
    pub async fn facts(&self, key: &str) -> Result<Facts, Failure> {
        match self {
            Store::S3(s3) => s3.facts(key).await,
            Store::Other(other) => other.facts(key).await,
        }
    }

    /// Writes an object, in the place of another one only if that may be.
    pub async fn put(&self, key: &str, bytes: Bytes, over: Over<'_>) -> Result<(), Failure> {
        match self {
            Store::S3(s3) => s3.put(key, bytes, over).await,
            Store::Other(other) => other.put(key, bytes, over).await,
        }
    }

    /// Removes an object. It may be gone.
    pub async fn delete(&self, key: &str) -> Result<(), Failure> {
        match self {
            Store::S3(s3) => s3.delete(key).await,
            Store::Other(other) => other.delete(key).await,
        }
    }

    /// The first page of the listing of a prefix, or the one that a token stands for.
    pub async fn page(&self, prefix: &str, token: Option<&str>) -> Result<Page, Failure> {
        match self {
            Store::S3(s3) => s3.page(prefix, token).await,
            Store::Other(other) => other.page(prefix).await,
        }
    }
}
