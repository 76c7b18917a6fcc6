//! `tagmac bounds --plot`: pictures of bounds, as SVG.

mod canvas;
mod figure;
mod keys;

use std::path::Path;

use tagmac_files::Error;

pub use keys::Line;

/// Draws figure 1 of the LightMAC paper.
pub fn figure(file: &Path) -> Result<(), Error> {
    canvas::check_name(file)?;
    canvas::write(file, figure::SIZE, figure::draw)
}

/// Draws what one key of each of these algorithms may authenticate. `title` says at which probability.
pub fn keys(file: &Path, title: &str, lines: &[Line]) -> Result<(), Error> {
    canvas::check_name(file)?;
    canvas::write(file, keys::SIZE, |canvas| keys::draw(canvas, title, lines))
}
