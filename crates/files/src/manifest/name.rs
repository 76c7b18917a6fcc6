//! Escaping of names in manifests: columns contain no tabs and line ends.

const ESCAPES: [(u8, u8); 4] = [(b'\\', b'\\'), (b'\t', b't'), (b'\n', b'n'), (b'\r', b'r')];

/// Appends the escaped name to `out`.
pub fn escape(name: &[u8], out: &mut Vec<u8>) {
    let mut rest = name;
    // Most names have nothing to escape.
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\\' | b'\t' | b'\n' | b'\r'))
    {
        let letter =
            ESCAPES.iter().find(|(plain, _)| *plain == rest[at]).expect("all are listed").1;
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(&[b'\\', letter]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Reverses [`escape`]; `None` if there is an unknown escape.
pub fn unescape(text: &[u8]) -> Option<Vec<u8>> {
    let mut name = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&byte| byte == b'\\') {
        let letter = rest.get(at + 1)?;
        name.extend_from_slice(&rest[..at]);
        name.push(ESCAPES.iter().find(|(_, one)| one == letter)?.0);
        rest = &rest[at + 2..];
    }
    name.extend_from_slice(rest);
    Some(name)
}
