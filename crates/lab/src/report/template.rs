//! Templates with marks: `{{name}}` stands for a generated part.

/// Replaces each mark in a text.
///
/// # Errors
///
/// Returns one line about a mark without an end or an unknown mark.
pub fn fill(text: &str, part: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut page = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (mark, after) = after.split_once("}}").ok_or("a mark has no end")?;
        page += before;
        page += &part(mark).ok_or_else(|| format!("unknown mark '{mark}'"))?;
        rest = after;
    }
    Ok(page + rest)
}
