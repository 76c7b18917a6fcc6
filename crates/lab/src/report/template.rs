//! Pages with marks: `{{name}}` stands for what is made.

/// The text with each mark replaced.
///
/// # Errors
///
/// One line that names a mark which means nothing.
pub fn fill(text: &str, part: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut page = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (mark, after) = after.split_once("}}").ok_or("a mark has no end")?;
        page += before;
        page += &part(mark).ok_or_else(|| format!("nothing is called '{mark}'"))?;
        rest = after;
    }
    Ok(page + rest)
}
