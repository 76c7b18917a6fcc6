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

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn marks() {
        let part = |mark: &str| (mark == "a b").then(|| "X".to_string());
        assert_eq!(fill("1 {{a b}} 2 {{a b}}\n", &part).as_deref(), Ok("1 X 2 X\n"));
        assert_eq!(fill("{{c}}", &part), Err("nothing is called 'c'".into()));
        assert_eq!(fill("{{c", &part), Err("a mark has no end".into()));
    }
}
