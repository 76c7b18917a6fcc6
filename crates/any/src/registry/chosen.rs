//! The MACs that are built, for programs that must be small.

/// The names of the MACs to build, with a space between two. All are built if the variable is not
/// set when this crate is compiled.
pub(super) const CHOSEN: Option<&str> = option_env!("TAGMAC_MACS");

/// Built in any case: it seals manifests and tags leaves.
const ALWAYS: &str = "HMAC-SHA256";

/// Returns whether the MAC with this name is built.
pub(crate) const fn is_chosen(name: &str) -> bool {
    match CHOSEN {
        None => true,
        Some(names) => has_word(names, name) || has_word(ALWAYS, name),
    }
}

/// Returns the number of names in the variable.
pub(super) const fn named() -> usize {
    let Some(names) = CHOSEN else { return 0 };
    let names = names.as_bytes();
    let (mut count, mut i) = (0, 0);
    while i < names.len() {
        let begins = i == 0 || names[i - 1] == b' ';
        count += (begins && names[i] != b' ') as usize;
        i += 1;
    }
    count
}

/// Returns whether `text` has this word between spaces.
pub(super) const fn has_word(text: &str, word: &str) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    let mut at = 0;
    while at + word.len() <= text.len() {
        let end = at + word.len();
        let is_whole =
            (at == 0 || text[at - 1] == b' ') && (end == text.len() || text[end] == b' ');
        let mut i = 0;
        while i < word.len() && text[at + i] == word[i] {
            i += 1;
        }
        if is_whole && i == word.len() {
            return true;
        }
        at += 1;
    }
    false
}

const _: () = {
    assert!(has_word("A-1 B-2", "A-1") && has_word("A-1 B-2", "B-2") && has_word("A", "A"));
    assert!(!has_word("A-1 B-2", "A") && !has_word("A-1 B-2", "B-20") && !has_word("", "A"));
};
