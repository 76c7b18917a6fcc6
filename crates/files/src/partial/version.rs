//! Splits the name in a partial.

/// Returns the object's name, and the version if there is one.
pub fn split_version(name: &[u8]) -> (&[u8], Option<&[u8]>) {
    match name.iter().rposition(|&byte| byte == b'@') {
        Some(at) if at > 0 && at + 1 < name.len() => (&name[..at], Some(&name[at + 1..])),
        _ => (name, None),
    }
}
