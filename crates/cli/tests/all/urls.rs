//! URLs of objects, in a build without object stores. `scripts/test-objects` has the tests of a
//! build with them.

use crate::common::Place;

#[test]
fn urls_are_refused_where_they_cannot_be_read() {
    let place = Place::new();
    for url in ["s3://bucket/key", "s3a://bucket", "gs://bucket/key", "az://c/key", "file:///etc"] {
        let ran = place.keyed("tag", &[url]).exits(2).prints("");
        ran.says(&[url, "was built without object stores"]);
    }
    let line = "PMAC-AES128 (s3://bucket/key) = 00112233445566778899aabbccddeeff\n";
    place.file("LIST", line);
    let ran = place.keyed("check", &["LIST"]).exits(4);
    ran.says(&["s3://bucket/key: the list names a URL, but this tagmac was built without"]);
    place.keyed("check", &["--allow-url", "s3://bucket", "LIST"]).exits(2);
    // A file may have such a name.
    place.shell("mkdir -p s3:/bucket && echo > s3:/bucket/key").exits(0);
    place.keyed("tag", &["./s3://bucket/key"]).exits(0).in_silence();
}
