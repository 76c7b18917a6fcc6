//! A drawn figure.

/// A figure with its description.
pub struct Drawing {
    /// The picture, which includes the description.
    pub svg: String,
    /// The description in words.
    pub alternative: String,
}
