//! Prints the line of a computed tag, as text or as JSON.

use tagmac_files::Error;
use tagmac_files::line::{End, Line};
use tagmac_files::open_key::OpenKey;
use tagmac_files::read::Tagged;

use crate::output;
use crate::record::FileRecord;

/// The form of the line.
#[derive(Clone, Copy, Default)]
pub struct Form {
    /// A JSON object.
    pub json: bool,
    /// A zero byte ends the line.
    pub zero: bool,
    /// `HEX  NAME`.
    pub untagged: bool,
}

/// Prints the line of a file's tag. `nonce` is empty for deterministic MACs.
pub fn print(
    form: Form,
    key: &OpenKey,
    name: &[u8],
    nonce: &[u8],
    tagged: &Tagged,
) -> Result<(), Error> {
    let line = Line {
        algorithm: (!form.untagged).then_some(key.mac.algorithm().name()),
        nonce: Some(nonce.to_vec()).filter(|nonce| !nonce.is_empty()),
        name: name.into(),
        tag: tagged.tag.as_bytes().to_vec(),
    };
    if form.json {
        let bytes = Some(tagged.bytes);
        return output::json(&FileRecord { bytes, ..FileRecord::of_line(&line, key, "tagged") });
    }
    output::line(&line, End::new(form.zero))
}
