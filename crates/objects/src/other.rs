//! Stores other than S3, by `object_store`, which also tries again where that helps.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::{
    GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, UpdateVersion,
};
use tagmac_files::Error;

use crate::connector::Connector;
use crate::failure::{CHANGED, Failure, root_cause};
use crate::listing::Page;
use crate::object::{Body, Facts, Listed, Over, Span};
use tagmac_files::url::{Scheme, Url};

/// A store other than S3.
pub struct Other {
    store: Arc<dyn ObjectStore>,
}

impl Other {
    /// The store of a URL, with keys from the environment.
    pub fn new(url: &Url) -> Result<Other, Error> {
        let bucket = &*url.bucket;
        let store: object_store::Result<Arc<dyn ObjectStore>> = match url.scheme {
            Scheme::Gs => GoogleCloudStorageBuilder::from_env()
                .with_http_connector(Connector)
                .with_bucket_name(bucket)
                .build()
                .map(|store| Arc::new(store) as _),
            Scheme::Az => MicrosoftAzureBuilder::from_env()
                .with_http_connector(Connector)
                .with_container_name(bucket)
                .build()
                .map(|store| Arc::new(store) as _),
            Scheme::S3 => unreachable!("S3 has requests of its own"),
        };
        // What the library says may have the setting in it, and that may be a key.
        let settings = if url.scheme == Scheme::Gs { "GOOGLE_" } else { "AZURE_" };
        let wrong = |_| {
            Error::usage(format_args!(
                "{url}: expected settings for this store in {settings}*, found none that can be used"
            ))
        };
        Ok(Other { store: store.map_err(wrong)? })
    }

    /// The bytes of a range of the content that is expected.
    pub async fn get(&self, key: &str, span: Span, expected: &Facts) -> Result<Body, Failure> {
        if expected.size == 0 {
            // The library has no range of nothing.
            let pieces = futures_util::stream::empty().boxed();
            return Ok(Body { facts: self.facts(key).await?, start: 0, pieces });
        }
        let options = GetOptions {
            range: Some(GetRange::Bounded(span.start..span.end)),
            if_match: expected.strong_etag().map(String::from),
            version: expected.version.clone(),
            ..GetOptions::default()
        };
        let found = self.store.get_opts(&path(key)?, options).await.map_err(failure)?;
        let (facts, start) = (facts(&found.meta), found.range.start);
        Ok(Body { facts, start, pieces: found.into_stream().map_err(failure).boxed() })
    }

    /// What is known of an object.
    pub async fn facts(&self, key: &str) -> Result<Facts, Failure> {
        self.store.head(&path(key)?).await.map(|meta| facts(&meta)).map_err(failure)
    }

    /// Writes an object, in the place of another one only if that may be.
    pub async fn put(&self, key: &str, bytes: Bytes, over: Over<'_>) -> Result<(), Failure> {
        let mode = match over {
            Over::Nothing => PutMode::Create,
            Over::This(Facts { etag: e_tag, version, .. }) => {
                let (e_tag, version) = (e_tag.clone(), version.clone());
                PutMode::Update(UpdateVersion { e_tag, version })
            }
            Over::Anything => PutMode::Overwrite,
        };
        let put = self.store.put_opts(&path(key)?, bytes.into(), mode.into()).await;
        put.map(drop).map_err(failure)
    }

    /// Removes an object. It may be gone.
    pub async fn delete(&self, key: &str) -> Result<(), Failure> {
        match self.store.delete(&path(key)?).await.map_err(failure) {
            Err(Failure::Missing) => Ok(()),
            deleted => deleted,
        }
    }

    /// All below a prefix, on one page: the order of the listing is the store's, and not everywhere
    /// that of the keys.
    pub async fn page(&self, prefix: &str) -> Result<Page, Failure> {
        let folder = match prefix.strip_suffix('/') {
            Some(folder) => Some(path(folder)?),
            None => None,
        };
        let listed = self
            .store
            .list(folder.as_ref())
            .map_ok(|meta| Listed { key: meta.location.as_ref().into(), facts: facts(&meta) });
        let mut objects: Vec<Listed> = listed.try_collect().await.map_err(failure)?;
        objects.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(Page { objects, next: None })
    }
}

/// The library's form of a key. It has none for some, and another key's for others.
fn path(key: &str) -> Result<Path, Failure> {
    match Path::parse(key) {
        Ok(path) if path.as_ref() == key => Ok(path),
        _ => Err(Failure::Final(
            "expected a key without '//', '.', '..' or a slash at its ends, which cannot be read here"
                .into(),
        )),
    }
}

fn facts(meta: &ObjectMeta) -> Facts {
    Facts { size: meta.size, etag: meta.e_tag.clone(), version: meta.version.clone() }
}

fn failure(error: object_store::Error) -> Failure {
    use object_store::Error as Store;
    match error {
        Store::NotFound { .. } => Failure::Missing,
        Store::Precondition { .. } => CHANGED,
        Store::AlreadyExists { .. } => Failure::Exists,
        Store::PermissionDenied { .. } | Store::Unauthenticated { .. } => {
            Failure::Final("the store denies access".into())
        }
        error => Failure::Final(root_cause(&error)),
    }
}
