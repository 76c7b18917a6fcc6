//! The texts of the commands. Those about manifests are in `trees`.

#[cfg(test)]
use super::trees::*;

/// The texts about one command that follow its options. At most 80 columns.
pub struct CommandHelp {
    pub name: &'static str,
    /// Examples, or the columns of the output.
    pub examples: &'static str,
    pub details: &'static str,
    /// Names of topics.
    pub topics: &'static [&'static str],
}

impl CommandHelp {
    /// The end of `tagmac COMMAND --help`.
    pub fn short(&self) -> String {
        let details = format!("Details: 'tagmac help {}'", self.name);
        let details = Some(details).filter(|_| !self.details.is_empty());
        let pointers: Vec<String> = details.into_iter().chain(self.topic_names()).collect();
        paragraphs(&[self.examples, &pointers.join("\n")])
    }

    /// The end of `tagmac help COMMAND` and of the manual page.
    pub fn long(&self) -> String {
        paragraphs(&[self.examples, self.details, &self.topic_names().unwrap_or_default()])
    }

    fn topic_names(&self) -> Option<String> {
        let names = format!("Topics:  'tagmac help TOPIC' with {}", self.topics.join(", "));
        Some(names).filter(|_| !self.topics.is_empty())
    }
}

fn paragraphs(texts: &[&str]) -> String {
    let texts: Vec<&str> = texts.iter().copied().filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}

/// The examples of `tagmac --help`.
pub const EXAMPLES: &str = "\
Examples:
  tagmac keygen -o my.key               make a key
  tagmac tag -k my.key -r . > LIST      tag every file below this directory
  tagmac check -k my.key LIST           check the files against their tags
  tagmac seal -k my.key DIR -o M        write a manifest of a directory
  tagmac audit -k my.key M DIR          compare the directory with the manifest";

#[cfg(test)]
pub const ALL: [&CommandHelp; 19] = [
    &KEYGEN,
    &TAG,
    &CHECK,
    &SEAL,
    &AUDIT,
    &MANIFEST,
    &READ,
    &MOUNT,
    &REPAIR,
    &REKEY,
    &PART,
    &COMBINE,
    &UPDATE,
    &LIST,
    &BOUNDS,
    &SELFTEST,
    &COMPLETIONS,
    &MAN,
    &HELP,
];

pub const KEYGEN: CommandHelp = CommandHelp {
    name: "keygen",
    examples: "\
Examples:
  tagmac keygen -o my.key
  tagmac keygen -a HMAC-SHA256 -o approved.key
  tagmac keygen -a POLY1305-AES -o nonces.key",
    details: "\
The file gets mode 0600, and an existing file is never overwritten. The key's id
is written to standard output; it is public and tells keys apart. Standard error
reports how much data the key may authenticate, see 'tagmac help bounds'.",
    topics: &["keys", "exit-status"],
};

pub const TAG: CommandHelp = CommandHelp {
    name: "tag",
    examples: "\
Examples:
  tagmac tag -k my.key *.iso > LIST
  tagmac tag -k my.key -r photos > LIST
  tar c dir | tagmac tag -k my.key
  tagmac tag -k my.key --raw backup.tar > backup.tag
  tagmac tag -k my.key --checkpoint big.checkpoint big.img",
    details: "\
Each file gets one line, 'PMAC-AES128 (NAME) = HEX'. A tag depends on every byte
of the file and on the key. Large files are read on all cores.

FILE may be a device or a pipe such as '<(...)'. To read a named pipe, use
'< PIPE'. -r tags only regular files and does not follow links. Files of /proc,
/sys and similar file systems are read to their end, because the system does not
report their sizes.

--checkpoint is for one large file and an algorithm with parts, see 'tagmac
list'. If a run is interrupted, the same command resumes it. The checkpoint is
sealed under the key. The command rejects a checkpoint that is damaged or of
another file (exit status 1) or of another key (3), that another run is using,
or whose file has changed since (4). Remove the checkpoint to start over. With
--nonce-hex, the tag has the nonce of the run that finishes.",
    topics: &["keys", "lists", "nonces", "objects", "exit-status"],
};

pub const CHECK: CommandHelp = CommandHelp {
    name: "check",
    examples: "\
Examples:
  tagmac check -k my.key LIST
  tagmac check -k my.key --quiet < LIST
  tagmac check -k my.key --raw-tag backup.tag backup.tar",
    details: "\
The algorithm and the tag length come from the key file or from -a and
--tag-bits, never from the list. A line with another algorithm or length has
FAILED. So has a line whose nonce differs from --nonce-hex.

A list may come from a pipe such as '<(...)'; to read a named pipe, use
'< PIPE'. 'check' stops reading a list that has no tag for 1 MiB.

Wrong tags may be an attacker's guesses. 'check' counts them, and warns if that
number of guesses succeeds with a probability of more than 2^-32.",
    topics: &["keys", "lists", "nonces", "objects", "exit-status"],
};

pub const PART: CommandHelp = CommandHelp {
    name: "part",
    examples: "\
Examples:
  tagmac part -k my.key --object db@1 --start 0 --length 1GiB db.img -o 1.part
  tagmac part -k my.key --object db@1 --start 1GiB --last db.img -o 2.part
  tagmac combine -k my.key --name db.img 1.part 2.part
  pg_dump db | tagmac part -k my.key --object sql@1 --start 0 --last - -o s.part",
    details: "\
'part' hashes a range of an object into a small file, a partial, that is sealed
under the key. 'tagmac combine' makes the tag of the whole object from its
partials. They may be made on any machine and in any order.

The start and the length of a range are multiples of the algorithm's block; only
the last range may end within a block. 'part' reads the range at its place in
FILE, which must end where the last range ends. On a machine that has only the
range, --at 0 means that FILE begins with it:

  tagmac part -k my.key --object up/7 --start 16MiB --length 8MiB --at 0 \\
      chunk.3 -o 3.part

If FILE is '-', 'part' reads exactly --length bytes from standard input, so that
the next 'tagmac part' can read on from the same pipe; with --last it reads to
the end.

If FILE is a URL, the default of --object is KEY@VERSION. VERSION is the
object's version id, or its ETag where there are no versions, so partials of two
contents never mix.

A partial alone authenticates nothing. The object's name keeps the ranges of
different objects apart: give each object, and each version of it, its own name.",
    topics: &["keys", "objects", "options", "exit-status"],
};

pub const COMBINE: CommandHelp = CommandHelp {
    name: "combine",
    examples: "\
Examples:
  tagmac combine -k my.key 1.part 2.part
  tagmac combine -k my.key --object up/7 --name film.mov parts/*.part >> LIST",
    details: "\
'combine' prints the line that 'tagmac tag' prints for the whole object. All
partials must have the same key, algorithm and object, leave no gap, not
overlap, and include the one made with --last. With --json, 'bytes' is the
length of the object.",
    topics: &["keys", "lists", "nonces", "exit-status"],
};

pub const UPDATE: CommandHelp = CommandHelp {
    name: "update",
    examples: "\
Examples:
  tagmac update -k my.key disk.img                      create the sidecar
  tagmac update -k my.key --patch 4096 block disk.img   edit the file
  tagmac update -k my.key --append server.log           accept appended bytes
  tagmac update -k my.key --range 1MiB:512 table.db     accept another's edit",
    details: "\
The first update reads FILE and creates FILE.tagmac next to it: a sidecar with a
sum for each leaf of 64 KiB, sealed under the key. Later updates read only the
leaves that an edit touches, and print the line that 'tagmac tag' prints for the
whole file. Without an edit, an update prints the last line again and does not
read FILE; 'tagmac check' does. HMAC, CMAC and UMAC99 cannot follow edits.

--patch, --append and --truncate first compare the old bytes around the edit
with the sidecar; --truncate also compares the bytes that it removes. If any
have changed, the update changes nothing and exits with 1.

--range is for edits by other programs. It accepts the bytes unchecked, extends
the range to whole leaves, and prints it. In the same way --append accepts the
added bytes, and the first update accepts the whole FILE.

If a patch or truncation was interrupted, the next update finishes it. If
another program has written to the same range since, or with --expect, the
update changes nothing: choose --finish or --undo. Both keep the bytes of other
programs. If there are such bytes, the exit status is 1, and --range or --append
can accept them afterwards.

The sidecar belongs to the key, the algorithm and FILE's base name. You may move
it together with FILE. If you rename FILE, remove the sidecar and create a new
one. If an edit was interrupted, first rename both back and finish the edit,
because the sidecar has the old bytes.

Only --expect with the tag that the last update printed detects two cases: FILE
and its sidecar were both replaced by older copies, or a/db and b/db were
swapped together with their sidecars. If an update was killed after it finished
and before it printed its line, --expect with the previous tag fails. Then run
an update without an edit and without --expect, check FILE against its line with
'tagmac check', make sure that FILE has the edit, and use the new tag from then
on.",
    topics: &["keys", "options", "exit-status"],
};

pub const LIST: CommandHelp = CommandHelp {
    name: "list",
    examples: "\
Columns:
  KEY, NONCE, BLOCK  lengths in bytes
  TAG                length in bits
  LIMIT              the longest message
  BUDGET             messages of 1 MiB, or of the LIMIT if that is shorter, that
                     one key may tag, see 'tagmac bounds'
  CAN                parts    hashes of ranges can be joined
                     threads  one message can use several cores
                     batch    many messages can be tagged in one call
                     edits    a tag can follow edits
                     bits     a message can have any number of bits
  LEVEL              the instruction-set level in use, 'own' if the algorithm's
                     code chooses",
    details: "",
    topics: &[],
};

pub const BOUNDS: CommandHelp = CommandHelp {
    name: "bounds",
    examples: "\
Columns, for a probability of a forgery of at most P:
  MESSAGES  how many messages of up to LENGTH one key may tag
  BYTES     how many bytes that is
  GUESSES   how many wrong tags a verifier may reject
  READS     with --leaves, how many wrong leaves and wrong tags it may reject

Examples:
  tagmac bounds
  tagmac bounds -a PMAC-PRESENT128 --length 1500 --messages 2^20
  tagmac bounds -a UMAC-64 --probability 2^-20 --json
  tagmac bounds -a PMAC-AES128 --tag-bits 64",
    details: "\
The limits follow from each algorithm's theorem. Using up both at most
doubles the probability. POLY1305-AES allows fewer guesses for
longer messages. The guesses of PMAC and UMAC99-MMX depend on the length, but
not monotonically. Limits are rounded down, except for less than one part in
2^50. CMAC and HMAC are not listed: none of the papers used here bounds them.

Shorter tags are easier to guess. --tag-bits shows the limits for tags shortened
with 'tag --tag-bits', and leaves out algorithms without tags of that length.

The limits assume that the cipher is secure. The last lines show the advantage
that an attack on it adds, for the messages and one attempt. Each further
attempt adds its blocks to the queries of E or E1, and one query to those of
AES, AES10, F, E2 and E3. E is the cipher under the MAC's key; E1, E2 and E3 are
the cipher under its first, second and third key. AES10 is AES-128, AES7 is AES
with seven rounds, and F is the PRF of UMAC99-STD.

SIZE is a number of bytes, with a unit from KiB to EiB, or a power: 1500, 4KiB,
2^20. N is a number or a power: 1000000, 2^40. P is a power or a decimal number
between 0 and 1.",
    topics: &[],
};

pub const SELFTEST: CommandHelp = CommandHelp {
    name: "selftest",
    examples: "\
The levels of this kind of CPU are 'usable', 'unsupported' by this CPU, or
'failed its self-test': such a level computes wrong tags and is never used.
'selftest' then computes the known answers of each algorithm on each usable
level, except those for messages of over 2 MiB, which it only counts.",
    details: "",
    topics: &["exit-status"],
};

pub const COMPLETIONS: CommandHelp = CommandHelp {
    name: "completions",
    examples: "\
Examples:
  tagmac completions bash > ~/.local/share/bash-completion/completions/tagmac
  tagmac completions fish > ~/.config/fish/completions/tagmac.fish",
    details: "",
    topics: &[],
};

pub const MAN: CommandHelp = CommandHelp {
    name: "man",
    examples: "\
Examples:
  tagmac man | man -l -
  tagmac man tag > tagmac-tag.1
  tagmac man --output ~/.local/share/man/man1",
    details: "",
    topics: &[],
};

pub const HELP: CommandHelp = CommandHelp {
    name: "help",
    examples: "\
Examples:
  tagmac help                           the commands and topics
  tagmac help keys                      a topic
  tagmac help tag                       all about a command",
    details: "",
    topics: &[],
};
