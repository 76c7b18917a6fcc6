//! Writes the headers from the sources, and compares them with those in `include/`. After a change:
//!
//! ```console
//! $ TAGMAC_WRITE_HEADERS=1 cargo test -p tagmac-capi --test header
//! ```

use std::path::Path;

/// Whether the headers are to be written in place of being compared.
const WRITE: &str = "TAGMAC_WRITE_HEADERS";

const TAGMAC: &str = "\
// tagmac: message authentication with parallel MACs.
//
// A MAC is a short tag that depends on every bit of a message and on a secret key. Anyone who has
// the key can check later that the message has not changed; without the key nobody can make a valid
// tag.
//
//     tagmac_key key = {0};
//     uint8_t tag[16];
//     char line[TAGMAC_ERROR_SIZE];
//     if (tagmac_key_init(&key, \"PMAC-AES128\", bytes, 16, 0)
//         || tagmac_key_tag(&key, tag, 16, NULL, 0, message, message_size))
//         fprintf(stderr, \"%s\\n\", tagmac_error_string(line, sizeof line));
//     tagmac_key_free(&key);
//
// Calls that return int return 0 if all went well, and one of the negative numbers below if not; then
// tagmac_error_string() says why, and nothing was written. Compare with 0 to know whether a tag is right:
// TAGMAC_MISMATCH is the answer to a forgery, and all others mean that nothing was checked. No misuse
// that can be noticed crashes: it gives TAGMAC_MISUSE. Memory that is too short for its size, and
// objects that are freed while another thread uses them, cannot be noticed.
//
// Objects live in your memory. They begin as zeros, hold no pointer to anything of yours, and must
// be freed with their free call. Results may overlap inputs. With a size of 0 any pointer will do,
// NULL too. If memory runs out, the process ends.
//
// NONCES. UMAC and Poly1305-AES take a nonce with each message. If one serves two messages under
// one key, others can be forged from the tags; a tagmac_session counts them, across restarts too. All
// nonces of a key have one length, because UMAC takes some of two lengths for the same one.
// All others take none and cannot go wrong in this way: take PMAC-AES128 unless you know why not.
//
// Link with -ltagmac, or by pkg-config with tagmac. More is in docs/guide/c.md.

// The version of this header.
#define TAGMAC_VERSION \"@VERSION@\"

#if defined(__GNUC__) || defined(__clang__)
#define TAGMAC_MUST_USE __attribute__((warn_unused_result))
#else
#define TAGMAC_MUST_USE
#endif";

const HAZMAT: &str = "\
// Low-level operations that can break security if misused: parts of messages.
//
// A part is the keyed hash of a range of a message. Parts of neighbouring ranges join, in any
// grouping, and the first part with the rest of the message gives the tag.
//
// Parts are as secret as the key: anyone who sees the sums of some ranges can forge tags. A part
// authenticates nothing: only the whole message has a tag, so check it before you use any of the
// bytes. Joining refuses ranges that do not fit and parts of another key, but it cannot know that
// two parts are of the same message. And nothing here knows which nonces were used.";

/// One header from some of the sources.
fn header(name: &str, sources: &[&str], includes: &str, intro: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config =
        cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("a configuration");
    config.include_guard = Some(format!("{}_H", name.to_uppercase()));
    let intro = intro.replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    config.after_includes = Some(format!("{includes}\n\n{intro}"));
    let builder = cbindgen::Builder::new().with_config(config);
    let builder = sources
        .iter()
        .fold(builder, |builder, source| builder.with_src(root.join("src").join(source)));
    let mut text = Vec::new();
    builder.generate().expect("a header").write(&mut text);
    let text = String::from_utf8(text).expect("text");
    let path = root.join("include").join(name).with_extension("h");
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, text).expect("a header written");
        return;
    }
    let found = std::fs::read_to_string(&path).expect("a header");
    let line = text.lines().zip(found.lines()).position(|(a, b)| a != b).map(|line| line + 1);
    let place = path.display();
    assert!(
        text == found,
        "{place} is not that of the sources (line {line:?}): write it by {WRITE}=1"
    );
}

#[test]
fn tagmac_is_up_to_date() {
    let sources = ["status.rs", "global.rs", "key.rs", "stream.rs", "session.rs"];
    header("tagmac", &sources, "#include <stddef.h>\n#include <stdint.h>", TAGMAC);
}

#[test]
fn tagmac_hazmat_is_up_to_date() {
    header("tagmac_hazmat", &["hazmat.rs"], "#include \"tagmac.h\"", HAZMAT);
}
