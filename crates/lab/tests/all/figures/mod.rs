//! The figures of the papers, drawn.

use tagmac_figures::escaped;
use tagmac_lab::figures::find;
use tagmac_lab::speeds::kept;

mod key_limits;
mod modes;

/// Each picture has another description, and runs nothing.
#[test]
fn pictures_have_words() {
    let speeds = kept().expect("the kept records");
    for name in ["lightmac-1", "umac-3", "key-life", "key-limits", "key-borders"] {
        let drawing = (find(name).expect("a figure").draw)(&speeds).expect("a picture");
        let label = format!("role=\"img\" aria-label=\"{}\"", escaped(&drawing.alternative));
        assert!(drawing.svg.contains(&label) && drawing.alternative.len() > 80, "{name}");
        assert!(!drawing.svg.contains("NaN") && !drawing.svg.contains("<script"), "{name}");
    }
}

/// Each mode has its curve and its name, and LightMAC ends at 63 messages.
#[test]
fn figure_1_has_all_its_curves() {
    let speeds = kept().expect("the kept records");
    let drawing = (find("lightmac-1").expect("a figure").draw)(&speeds).expect("a picture");
    for name in ["OMAC", "EMAC", "PMAC", "PMAC_Plus", "3kf9", "PMACX", "PMAC/P", "LightMAC"] {
        assert!(drawing.svg.matches(name).count() >= 2, "{name}");
    }
    assert!(drawing.alternative.contains("LightMAC: 32768 blocks at q = 1, 32768 at q = 63"));
}
