//! A list of names in one piece of memory.

use std::cmp::Ordering;
use std::ops::Range;

/// The maximum length of the text in bytes.
pub const MAX_TEXT: u64 = 1 << 30;

/// A list of names. Its size is that of its text, and eight bytes for each name. With a vector for
/// each name it would be three times as large.
#[derive(Debug, Default)]
pub struct NameList {
    text: Vec<u8>,
    /// Start and end of each name in the text.
    spans: Vec<(u32, u32)>,
}

impl NameList {
    /// Splits a text of at most [`MAX_TEXT`] bytes at every `end`. Empty names are left out.
    pub fn split(text: Vec<u8>, end: u8) -> NameList {
        assert!(text.len() as u64 <= MAX_TEXT, "a longer text has other offsets");
        let mut spans = Vec::new();
        let mut start = 0;
        for name in text.split(|&byte| byte == end) {
            let stop = start + name.len();
            if !name.is_empty() {
                spans.push((start as u32, stop as u32));
            }
            start = stop + 1;
        }
        NameList { text, spans }
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns the name at `index`.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.spans.get(index).map(|&span| &self.text[range(span)])
    }

    /// Returns all names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.spans.iter().map(|&span| &self.text[range(span)])
    }

    /// Replaces each name by the part of its bytes that `shorten` returns, after it may have changed
    /// them. Names that become empty are left out.
    pub fn shorten<E>(
        &mut self,
        mut shorten: impl FnMut(&mut [u8]) -> Result<Range<usize>, E>,
    ) -> Result<(), E> {
        for span in &mut self.spans {
            let kept = shorten(&mut self.text[range(*span)])?;
            let start = span.0;
            *span = (start + kept.start as u32, start + kept.end as u32);
        }
        self.spans.retain(|span| span.0 < span.1);
        Ok(())
    }

    /// Sorts the names, and leaves out repeated ones.
    pub fn sort(&mut self, order: impl Fn(&[u8], &[u8]) -> Ordering) {
        let NameList { text, spans } = self;
        spans.sort_unstable_by(|&a, &b| order(&text[range(a)], &text[range(b)]));
        spans.dedup_by(|a, b| text[range(*a)] == text[range(*b)]);
    }
}

fn range((start, end): (u32, u32)) -> Range<usize> {
    start as usize..end as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &NameList) -> Vec<&str> {
        list.iter().map(|name| str::from_utf8(name).unwrap()).collect()
    }

    #[test]
    fn a_text_is_split_shortened_and_sorted() {
        let mut list = NameList::split(b"b\n\n./c\na\n./\nb".to_vec(), b'\n');
        assert_eq!(names(&list), ["b", "./c", "a", "./", "b"]);
        let plain = |name: &mut [u8]| -> Result<_, ()> {
            let cut = if name.starts_with(b"./") { 2 } else { 0 };
            Ok(cut..name.len())
        };
        list.shorten(plain).unwrap();
        assert_eq!(names(&list), ["b", "c", "a", "b"]);
        list.sort(|a, b| a.cmp(b));
        assert_eq!(names(&list), ["a", "b", "c"]);
        assert_eq!((list.len(), list.get(1), list.get(3)), (3, Some(&b"b"[..]), None));
        assert_eq!(list.shorten(|_| Err("refused")), Err("refused"));
        assert!(NameList::split(b"\0\0".to_vec(), 0).is_empty());
    }
}
