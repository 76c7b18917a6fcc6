//! What a figure is once it is drawn.

/// A picture.
pub struct Drawing {
    /// The picture, which also has the words.
    pub svg: String,
    /// What it shows, in words.
    pub alternative: String,
}
