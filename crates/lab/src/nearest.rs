//! What a mistyped name was probably meant to be.

/// The names nearest to one that is not among them, nearest first: at most three.
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let letters = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase()).collect()
    };
    let wanted = letters(name);
    let mut by_distance: Vec<(usize, &str)> =
        names.map(|name| (strsim::osa_distance(&wanted, &letters(name)), name)).collect();
    by_distance.sort();
    by_distance.into_iter().take(3).map(|(_, name)| name).collect()
}

/// One line for a name that is not among these.
pub fn unknown<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str>) -> String {
    format!("{what} '{name}': not known; nearest: {}", nearest(name, names).join(", "))
}
