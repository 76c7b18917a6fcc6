//! A store of `object_store` 0.14 as one of 0.13, the version of DataFusion 55.

use std::fmt;
use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use object_store as new;
use object_store_13 as old;
use old::path::Path;
use old::{Error, Result};

/// The adapter. It can only read.
#[derive(Debug)]
pub struct Bridge<S>(pub S);

impl<S: fmt::Display> fmt::Display for Bridge<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn path(path: &Path) -> Result<new::path::Path> {
    new::path::Path::parse(path).map_err(|error| error_of(error.into()))
}

fn old_path(path: &new::path::Path) -> Result<Path> {
    Ok(Path::parse(path)?)
}

fn error_of(error: new::Error) -> Error {
    match error {
        new::Error::NotFound { path, source } => Error::NotFound { path, source },
        new::Error::NotModified { path, source } => Error::NotModified { path, source },
        new::Error::Precondition { path, source } => Error::Precondition { path, source },
        new::Error::NotSupported { source } => Error::NotSupported { source },
        // `NotSealed::find` looks at the sources.
        error => Error::Generic { store: "bridge", source: error.into() },
    }
}

fn meta(meta: new::ObjectMeta) -> Result<old::ObjectMeta> {
    let new::ObjectMeta { location, last_modified, size, e_tag, version } = meta;
    let location = old_path(&location)?;
    Ok(old::ObjectMeta { location, last_modified, size, e_tag, version })
}

fn options(options: old::GetOptions) -> new::GetOptions {
    new::GetOptions {
        if_match: options.if_match,
        if_none_match: options.if_none_match,
        if_modified_since: options.if_modified_since,
        if_unmodified_since: options.if_unmodified_since,
        range: options.range.map(|range| match range {
            old::GetRange::Bounded(range) => new::GetRange::Bounded(range),
            old::GetRange::Offset(start) => new::GetRange::Offset(start),
            old::GetRange::Suffix(length) => new::GetRange::Suffix(length),
        }),
        version: options.version,
        head: options.head,
        extensions: options.extensions,
    }
}

fn read_only<T>() -> Result<T> {
    Err(Error::NotSupported { source: "this adapter can only read".into() })
}

#[async_trait]
impl<S: new::ObjectStore> old::ObjectStore for Bridge<S> {
    async fn get_opts(&self, location: &Path, asked: old::GetOptions) -> Result<old::GetResult> {
        let found = self.0.get_opts(&path(location)?, options(asked)).await.map_err(error_of)?;
        let (range, meta) = (found.range.clone(), meta(found.meta.clone())?);
        let pieces = found.into_stream().map_err(error_of).boxed();
        let payload = old::GetResultPayload::Stream(pieces);
        Ok(old::GetResult { payload, meta, range, attributes: Default::default() })
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.0.get_ranges(&path(location)?, ranges).await.map_err(error_of)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<old::ObjectMeta>> {
        match prefix.map(path).transpose() {
            Ok(prefix) => {
                let metas = self.0.list(prefix.as_ref()).map_err(error_of);
                metas.and_then(|found| async { meta(found) }).boxed()
            }
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<old::ListResult> {
        let prefix = prefix.map(path).transpose()?;
        let found = self.0.list_with_delimiter(prefix.as_ref()).await.map_err(error_of)?;
        let common_prefixes = found.common_prefixes.iter().map(old_path).collect::<Result<_>>()?;
        let objects = found.objects.into_iter().map(meta).collect::<Result<_>>()?;
        Ok(old::ListResult { common_prefixes, objects })
    }

    async fn put_opts(
        &self,
        _: &Path,
        _: old::PutPayload,
        _: old::PutOptions,
    ) -> Result<old::PutResult> {
        read_only()
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: old::PutMultipartOptions,
    ) -> Result<Box<dyn old::MultipartUpload>> {
        read_only()
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        locations.map(|_| read_only()).boxed()
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: old::CopyOptions) -> Result<()> {
        read_only()
    }
}
