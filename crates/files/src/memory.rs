//! Memory whose size is that of a file, or of another input. Where there is none, the work ends with an
//! error; Rust's own collections would end the process.

use std::io;

/// An empty vector with room for `bytes` bytes.
pub fn reserved(bytes: usize) -> io::Result<Vec<u8>> {
    let mut room = Vec::new();
    room.try_reserve_exact(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
    Ok(room)
}

/// A copy of some bytes.
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
