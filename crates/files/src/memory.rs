//! Allocations whose size comes from a file or other input. If memory is short, these return an
//! error, while Rust's collections would abort the process.

use std::io;

/// Returns an empty vector with a capacity of `bytes`.
pub fn reserved(bytes: usize) -> io::Result<Vec<u8>> {
    let mut room = Vec::new();
    room.try_reserve_exact(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
    Ok(room)
}

/// Returns a copy of `bytes`.
pub fn copied(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut copy = reserved(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_memory_is_left_for_is_an_error() {
        assert_eq!(copied(b"text").unwrap(), b"text");
        assert_eq!(reserved(isize::MAX as usize).unwrap_err().kind(), io::ErrorKind::OutOfMemory);
    }
}
