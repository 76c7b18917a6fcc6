//! Names that are nearly right.

use tagmac_lab::nearest;

#[test]
fn the_nearest_names() {
    let names = ["PMAC1", "PMAC/P", "XOR-MAC", "CBC-MAC", "ZMAC"];
    assert_eq!(nearest("pmac_p", names.into_iter())[0], "PMAC/P");
    assert_eq!(nearest("XORMAC", names.into_iter())[0], "XOR-MAC");
    assert_eq!(nearest("", names.into_iter()).len(), 3);
}
