//! The object's name in a partial: the name, `@` and the version.
//!
//! Parts of two contents with the same name can be mixed, and the mix has a tag that belongs to
//! neither of them. The version prevents this: an object store's version ID or ETag, or an upload
//! ID.

use tagmac_any::Partial;

use super::error::{Named, RangeError};

/// Returns `OBJECT@VERSION`. Versions contain no `@`, so the last one separates the two.
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

/// Rejects an object's name that is empty or too long.
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
        assert_eq!(refused(b"", b"1"), "object: the name is empty");
        let empty = "version: the version is empty; expected a version ID, an ETag or an upload ID";
        assert_eq!(refused(b"a", b""), empty);
        assert_eq!(refused(b"a", b"1@2"), "version: a version must not contain '@', found 1@2");
        let most = "object and version: expected a name of 1 to 65535 bytes, found 65536";
        assert_eq!(refused(&[b'a'; 65534], b"1"), most);
        assert!(versioned(&[b'a'; 65533], b"1").is_ok());
    }
}
