//! Suggestions for a mistyped name.

/// Returns the at most three known names that are nearest to an unknown one, nearest first.
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

/// Returns a line about an unknown name.
pub fn unknown<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str>) -> String {
    format!("{what} '{name}': unknown; nearest: {}", nearest(name, names).join(", "))
}
