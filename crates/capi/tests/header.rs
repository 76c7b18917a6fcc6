//! Generates the headers from the sources and compares them with the files in `include/`. After a
//! change, write them:
//!
//! ```console
//! $ TAGMAC_WRITE_HEADERS=1 cargo test -p tagmac-capi --test header
//! ```

use std::path::Path;

/// The environment variable that makes the tests write the headers.
const WRITE: &str = "TAGMAC_WRITE_HEADERS";

const TAGMAC: &str = "\
// tagmac: message authentication with parallel MACs.
//
// A MAC is a short tag that depends on every bit of a message and on a secret key. Anyone who has
// the key can check later that the message has not changed. Without the key nobody can make a valid
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
// RETURN VALUES. Calls that return int return 0 on success and one of the negative numbers below on
// failure. After a failure nothing was written, and tagmac_error_string() gives the reason. Accept
// a message only if the verify call returned 0. TAGMAC_MISMATCH means that the tag is wrong; any
// other failure means that nothing was checked.
//
// MISUSE. Every misuse that the library can detect returns TAGMAC_MISUSE instead of crashing. It
// cannot detect a buffer shorter than its size, or an object that is freed while another thread
// uses it.
//
// MEMORY. Objects are in your memory. They must begin as zeros, keep no pointers to your memory,
// and must be freed with their free call. Outputs may overlap inputs. If a size is 0, its pointer
// is not used and may be NULL. If the library runs out of memory, it ends the process.
//
// NONCES. UMAC, UMAC99 and Poly1305-AES need a nonce with each message. Never use one nonce for two
// messages under the same key: with UMAC or Poly1305-AES, anyone who sees both tags can forge
// others. A tagmac_session counts nonces for you, even across restarts. Give all nonces of a key
// the same length, because UMAC pads nonces, and two of different lengths can become equal. All
// other algorithms work without nonces and avoid this risk: use PMAC-AES128 unless you have a
// reason not to.
//
// Link with -ltagmac, or use pkg-config with the name tagmac. docs/guide/c.md has a guide.

// The version of this header.
#define TAGMAC_VERSION \"@VERSION@\"

#if defined(__GNUC__) || defined(__clang__)
#define TAGMAC_MUST_USE __attribute__((warn_unused_result))
#else
#define TAGMAC_MUST_USE
#endif";

const FILES: &str = "\
// Files: their tags on several threads, sealed partials of ranges, and verified reads of a sealed
// directory. Not on Windows.
//
// The rules of tagmac.h hold here too. Each object has the size and alignment of a tagmac_key. Paths
// are strings of bytes that end in NUL, in any encoding.
//
// PARTIALS. A tagmac_range hashes a range of an object to a partial, on any machine with the key.
// tagmac_combine() makes the object's tag from all partials.
//
// SEALED DIRECTORIES. The command 'tagmac seal' writes a manifest of a directory, with tags of the
// leaves of its files. So any range of a file can be verified without the rest of the file: as a
// tagmac_file from this machine, or as a tagmac_content with bytes from anywhere.";

const HAZMAT: &str = "\
// Parts: hashes of ranges of a message. These are low-level operations that can break security if
// misused.
//
// A part is the keyed hash of a range of a message. Parts of adjacent ranges can be joined in any
// grouping. The part at the beginning of the message and the rest of the message determine the tag.
//
// Keep parts as secret as the key: anyone who sees the sums of some ranges can forge tags. A part
// authenticates nothing. Only the whole message has a tag, so check it before you use any of the
// bytes. Joining refuses ranges that are not adjacent and parts of another key, but it cannot
// detect that two parts come from different messages. These calls do not track which nonces were
// used.";

/// Generates one header and compares it with its file, or writes it.
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
    let sources =
        ["status.rs", "global.rs", "key.rs", "key_file.rs", "many.rs", "stream.rs", "session.rs"];
    header("tagmac", &sources, "#include <stddef.h>\n#include <stdint.h>", TAGMAC);
}

#[test]
fn tagmac_files_is_up_to_date() {
    let sources = ["file.rs", "range.rs", "sealed.rs"];
    header("tagmac_files", &sources, "#include \"tagmac.h\"", FILES);
}

#[test]
fn tagmac_hazmat_is_up_to_date() {
    header("tagmac_hazmat", &["hazmat.rs"], "#include \"tagmac.h\"", HAZMAT);
}
