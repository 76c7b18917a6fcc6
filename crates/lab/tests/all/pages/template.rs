//! Marks in pages.

use tagmac_lab::report::template::fill;

#[test]
fn marks() {
    let part = |mark: &str| (mark == "a b").then(|| "X".to_string());
    assert_eq!(fill("1 {{a b}} 2 {{a b}}\n", &part).as_deref(), Ok("1 X 2 X\n"));
    assert_eq!(fill("{{c}}", &part), Err("unknown mark 'c'".into()));
    assert_eq!(fill("{{c", &part), Err("a mark has no end".into()));
}
