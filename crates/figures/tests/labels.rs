//! The labels of the pictures in `docs/pictures` do not overlap, and those of README's picture are
//! large enough to read.

use std::fs;
use std::path::Path;

/// A label and its box: left, top, right and bottom.
struct Label {
    text: String,
    size: f64,
    sides: [f64; 4],
}

/// Returns the labels of an SVG file. Counts a letter as 0.56 of the size wide, the mean of common
/// sans-serif fonts.
fn labels(svg: &str) -> Vec<Label> {
    svg.split("<text ").skip(1).map(label).collect()
}

fn label(part: &str) -> Label {
    let (attributes, rest) = part.split_once('>').expect("the end of a tag");
    let attribute = |name: &str| {
        let found = format!(" {attributes}");
        let (_, value) = found.split_once(&format!(" {name}=\""))?;
        value.split_once('"').map(|(value, _)| value.to_string())
    };
    let number = |name: &str| -> f64 {
        let value = attribute(name).expect("a place and a size");
        value.trim_end_matches("px").parse().expect("a number")
    };
    let text = rest.split("</text>").next().unwrap_or_default().trim().to_string();
    let size = number("font-size");
    let letters =
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").chars().count();
    let width = letters as f64 * size * 0.56;
    let start = match attribute("text-anchor").as_deref() {
        Some("middle") => -width / 2.0,
        Some("end") => -width,
        _ => 0.0,
    };
    let (x, y) = (number("x"), number("y"));
    let half = size / 2.0;
    let sides = match attribute("transform") {
        Some(_) => [x - half, y - width / 2.0, x + half, y + width / 2.0],
        None => [x + start, y - half, x + start + width, y + half],
    };
    Label { text, size, sides }
}

/// Returns the pairs of labels that overlap by more than a pixel.
fn overlaps(labels: &[Label]) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for (at, one) in labels.iter().enumerate() {
        for other in &labels[at + 1..] {
            let [a, b] = [one.sides, other.sides];
            let is_apart =
                |low: usize, high: usize| a[high] <= b[low] + 1.0 || b[high] <= a[low] + 1.0;
            if !is_apart(0, 2) && !is_apart(1, 3) {
                found.push((&*one.text, &*other.text));
            }
        }
    }
    found
}

/// Returns the names and texts of all pictures.
fn pictures() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the pictures") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        found.push((name, fs::read_to_string(path).expect("a picture")));
    }
    found
}

#[test]
fn no_label_covers_another() {
    let pictures = pictures();
    assert!(pictures.len() >= 14, "{} pictures", pictures.len());
    for (name, svg) in &pictures {
        let labels = labels(svg);
        assert!(labels.len() >= 10, "{name}: {} labels", labels.len());
        assert_eq!(overlaps(&labels), [], "{name}");
    }
}

#[test]
fn labels_of_readme_are_12_pixels_or_more() {
    let readme: Vec<_> =
        pictures().into_iter().filter(|(name, _)| name.starts_with("speed")).collect();
    assert_eq!(readme.len(), 2, "light and dark");
    for (name, svg) in readme {
        assert!(svg.starts_with("<svg role=\"img\"") && svg.contains("width=\"800\""), "{name}");
        for Label { text, size, .. } in labels(&svg) {
            assert!(size >= 12.0, "{name}: {text}: {size} px");
        }
    }
}

#[test]
fn a_label_on_another_is_found() {
    let one = "<text x=\"10\" y=\"20\" font-size=\"12\" text-anchor=\"start\">\nlabel\n</text>";
    let near = "<text x=\"30\" y=\"25\" font-size=\"12\" text-anchor=\"middle\">other</text>";
    let far = "<text x=\"30\" y=\"40\" font-size=\"12\" text-anchor=\"middle\">other</text>";
    assert_eq!(overlaps(&labels(&format!("<svg>{one}{near}"))), [("label", "other")]);
    assert_eq!(overlaps(&labels(&format!("<svg>{one}{far}"))), []);
}
