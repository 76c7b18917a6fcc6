//! What a partial calls its object: its name, `@`, and its version.
//!
//! Parts of two contents that have one name can be mixed, and the mix has a tag that neither has. So the
//! name says which version it is: an object store's version id or ETag, or the id of an upload.

use tagmac_any::Partial;

use super::error::{Named, RangeError};

/// `OBJECT@VERSION`. No version has an `@`, so the last one is where the name ends.
pub fn versioned(object: &[u8], version: &[u8]) -> Result<Vec<u8>, RangeError> {
    if object.is_empty() {
        return Err(RangeError::NoObject);
    }
    if version.is_empty() {
        return Err(RangeError::NoVersion);
    }
    if version.contains(&b'@') {
        return Err(RangeError::VersionWithAt { found: version.into() });
    }
    let name = [object, b"@", version].concat();
    check_length(Named::ObjectAndVersion, &name)?;
    Ok(name)
}

/// Refuses an object's name that no partial has room for.
pub fn check_object(name: &[u8]) -> Result<(), RangeError> {
    check_length(Named::Object, name)
}

fn check_length(what: Named, name: &[u8]) -> Result<(), RangeError> {
    let found = name.len();
    match (1..=Partial::MAX_OBJECT).contains(&found) {
        true => Ok(()),
        false => Err(RangeError::NameLength { name: what, found }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::version::split_version;
    use super::versioned;

    #[test]
    fn the_last_at_splits() {
        for (object, version) in [("a", "1"), ("a@b", "2"), ("a@", "3"), ("@", "4"), ("a/b", "-_.")]
        {
            let (object, version) = (object.as_bytes(), version.as_bytes());
            let name = versioned(object, version).unwrap();
            assert_eq!(split_version(&name), (object, Some(version)));
        }
        for name in [&b"a"[..], b"", b"@", b"@1", b"a@", b"a@b@"] {
            assert_eq!(split_version(name), (name, None));
        }
    }

    #[test]
    fn what_is_refused() {
        let refused =
            |object: &[u8], version: &[u8]| versioned(object, version).unwrap_err().to_string();
        assert_eq!(refused(b"", b"1"), "object: expected a name, found an empty one");
        let empty = "version: expected a version id, an ETag or an upload's id, found an empty one";
        assert_eq!(refused(b"a", b""), empty);
        assert_eq!(refused(b"a", b"1@2"), "version: expected one without '@', found 1@2");
        let most = "object and version: expected a name of 1 to 65535 bytes, found 65536";
        assert_eq!(refused(&[b'a'; 65534], b"1"), most);
        assert!(versioned(&[b'a'; 65533], b"1").is_ok());
    }
}
