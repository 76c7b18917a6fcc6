//! Finds the objects of a listing in an earlier manifest.

use std::iter::Peekable;

use crate::error::Error;
use crate::objects::object::Object;
use crate::objects::reader::{ObjectManifest, Objects};

/// The objects of an earlier manifest, which follow a listing. Both are in byte order of the names,
/// so each shard is read once. It is verified before one of its objects is returned.
pub struct Earlier<'a> {
    objects: Peekable<Objects<'a>>,
}

impl<'a> Earlier<'a> {
    /// The objects of `manifest`.
    pub fn new(manifest: &'a ObjectManifest<'_>) -> Earlier<'a> {
        Earlier { objects: manifest.objects().peekable() }
    }

    /// Returns the object with this name, which must follow all previous ones.
    pub fn find(&mut self, name: &[u8]) -> Result<Option<Object>, Error> {
        let is_before = |object: &Result<Object, Error>| match object {
            Ok(object) => *object.name <= *name,
            Err(_) => true,
        };
        while let Some(object) = self.objects.next_if(is_before) {
            let object = object?;
            if object.name == name {
                return Ok(Some(object));
            }
        }
        Ok(None)
    }
}
