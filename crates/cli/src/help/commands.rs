//! The texts of the commands.

/// The texts about one command that follow its options. At most 80 columns.
pub struct CommandHelp {
    pub name: &'static str,
    /// Examples, or the columns of the output.
    examples: &'static str,
    details: &'static str,
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

pub const SEAL: CommandHelp = CommandHelp {
    name: "seal",
    examples: "\
Examples:
  tagmac seal -k my.key photos -o photos.manifest
  tagmac seal -k my.key --mode --mtime /etc -o /var/backups/etc.manifest
  tagmac audit -k my.key photos.manifest photos",
    details: "\
The manifest lists every file below DIR with its size and tag, every directory,
and every symbolic link with its target. Its last line, the seal, is a tag of
the whole manifest under a key derived from yours. So 'audit' detects every
change of a file, and files that were added, removed or renamed. Unlike a
partial, checkpoint or sidecar, a manifest is not encrypted: anyone who can read
it sees names, sizes and tags.

'seal' does not follow links, and leaves a manifest inside DIR out of itself. It
replaces an existing manifest atomically, and refuses to replace any other file.
If a file or directory cannot be read, vanishes, or changes while it is read,
'seal' writes nothing and keeps the old manifest; --skip-unreadable leaves such
files out instead. Paths below DIR that are longer than 4096 bytes cannot be
read; the error names the directory that contains them. 'seal' does not notice
changes to a file after it was read: seal a directory that is not in use, or a
snapshot.

If DIR is a URL, 'seal' covers all objects below it. MANIFEST is then a folder
or a URL outside DIR; it gets a root, and a shard for each 65,536 objects.

--exclude, --include and --exclude-from have the syntax of gitignore: '*.tmp'
matches a name at any depth, '/a/b' a path below DIR, and 'cache/' directories.
The manifest records the patterns, and 'audit' applies these and no others. So
no file can be hidden by a pattern that the sealer did not write.
--files-from seals exactly the names in a list, with their directories. Names
are relative to DIR, or absolute and in it.

The manifest records the size, mtime, ctime, inode and device of each file, and
the day on which it was read. With --since, 'seal' reads only files for which
one of these differs from what OLD recorded. It does not see a change by someone
who controls the clock or the file system, which root does: read everything, or
a part each night with 'audit --subset', from time to time.

With --checkpoint, a run that was interrupted resumes when the same command is
given again: files that are in CHECKPOINT and have not changed since are not
read. CHECKPOINT is sealed like a manifest, and locked while a run uses it.

A manifest that replaces another one continues its chain: it records the number
and the seal of each earlier manifest. So 'audit --pin' can refuse an older
one. 'seal' refuses to replace a manifest that is damaged or of another key;
--new-chain starts again.

A manifest alone does not prove that it is the latest: anyone who can restore an
old directory can restore its manifest too. The name of DIR is not recorded.",
    topics: &["keys", "nonces", "objects", "exit-status"],
};

pub const AUDIT: CommandHelp = CommandHelp {
    name: "audit",
    examples: "\
Verdicts:
  new         in DIR only
  missing     in MANIFEST only
  changed     the content, size, kind or target differs, or recorded metadata
  renamed     new, with the size and tag of a missing file
  unreadable  no verdict
  not read    not in the part that is read; its metadata is unchanged

Example:
  tagmac audit -k my.key photos.manifest photos",
    details: "\
'audit' verifies the tag of the whole manifest before it uses any of it. Then it
compares each entry of DIR with its line. It does not read a file whose size has
changed.

'audit' looks for renamed files among the first 8 MiB of new and missing names.
The rest are reported as new and missing, with a note. If the algorithm needs
nonces, a new file is compared with up to eight missing files of its size. If
the recorded mode or mtime of a renamed file differs, that is reported too.

If DIR is a URL, 'audit' covers the objects below it. MANIFEST is the folder or
URL that 'seal' wrote to.

--combined writes '+' and the old name, then '-' and the new name, for a renamed
file. Names are escaped as in a list of tags. FILE is written atomically and
must be new or empty: an older report or a link is never replaced. To overwrite
it, use '--combined - > FILE'.

--quick, --subset, --sample and --max-bytes read nothing or a part. Of the other
files they compare size, mtime, ctime, inode and device with what the manifest
recorded; a copy of DIR elsewhere differs in these. Which file is in which part
depends on its name and the key, so nobody else can predict it. The summary
states how likely it is that a change of ten files was missed. --ledger keeps
when each file was last read, and --oldest-first reads what was read longest
ago. Several machines may use one ledger at the same time.

--pin keeps the number and the seal of the manifest, and the number of the
ledger. The next audit accepts only the same or a later manifest of the chain,
and exits with 1 if the manifest or the ledger is older or from a fork. So it
detects a directory that was restored together with its manifest. With --expect
you keep the seal, which is the last line of the manifest, elsewhere.

--report and --metrics replace only their own older files, also when the audit
fails. The page lists at most 1,000 differences of each kind.

The exit status is 0 if everything that was read is unchanged, and 1 if anything
differs or the manifest was altered. It is 3 if the manifest was made under
another key. It is 4 if something could not be read and no difference was found.",
    topics: &["keys", "nonces", "objects", "exit-status"],
};

pub const MANIFEST: CommandHelp = CommandHelp {
    name: "manifest",
    examples: "\
Examples:
  tagmac manifest -k my.key log photos.manifest
  tagmac manifest -k my.key diff monday.manifest tuesday.manifest
  tagmac manifest -k my.key cat photos.manifest 2026/summer",
    details: "\
Each action verifies the seal first. None reads DIR.

'log' prints the number, the day and the seal of MANIFEST and of each earlier
manifest of its chain, at most 4096.

'diff' prints the verdicts that 'audit' would print for a directory that the
second manifest describes, and states how the two chains are related. Only
properties that both manifests record are compared. If the algorithm needs
nonces, a file that was read for both manifests has two tags that cannot be
compared: if its size is unchanged, it counts as not read.

'cat' prints the lines of all entries, or of each NAME and what is below it, in
the form that they have in the manifest.

The exit status is 0, or 1 if the manifests differ, one was altered, or a NAME
has no entry.",
    topics: &["keys", "objects", "exit-status"],
};

pub const READ: CommandHelp = CommandHelp {
    name: "read",
    examples: "\
Examples:
  tagmac seal -k my.key --leaves photos -o photos.manifest
  tagmac read -k my.key photos.manifest photos 2026/a.raw --range 1GiB:4KiB",
    details: "\
'tagmac read' reads only the leaves that contain the range. It writes a leaf to
standard output after it has verified that these bytes were sealed at this place
of this file. If a leaf is damaged, it writes nothing of it and stops; the leaves
before it are written already.

A file that is not longer than a leaf is verified as a whole. Without leaf tags,
files of up to 64 MiB can be read.

Leaf tags are public and need not be protected. They belong to the content of a
file: a renamed file keeps them. Algorithms with nonces cannot make them.

The exit status is 1 if a leaf differs or the manifest was altered.",
    topics: &["keys", "exit-status"],
};

pub const MOUNT: CommandHelp = CommandHelp {
    name: "mount",
    examples: "\
Examples:
  tagmac seal -k my.key --leaves photos -o photos.manifest
  tagmac mount -k my.key photos.manifest photos /mnt/photos",
    details: "\
'tagmac mount' shows the files of DIR at MOUNTPOINT, read-only, for all programs.
Each byte is verified before a program receives it. If a leaf differs from what
was sealed, the read fails with an input/output error (EIO), and a message names
the file and the bytes.

Names, sizes, links, and the permissions, times and owners that were sealed come
from the manifest. What it does not name is not there. A file of DIR that is
missing, or has another size, cannot be opened.

The command runs until it is interrupted or MOUNTPOINT is unmounted. It needs
Linux with /dev/fuse and, without root, the program fusermount3; and a build of
tagmac with the feature 'mount'.",
    topics: &["keys", "exit-status"],
};

pub const REPAIR: CommandHelp = CommandHelp {
    name: "repair",
    examples: "\
Examples:
  tagmac audit -k my.key --locate photos.manifest photos
  tagmac repair -k my.key photos.manifest photos a.raw --from /backup/a.raw",
    details: "\
'tagmac repair' verifies each leaf of the file. It replaces a damaged leaf by
that of COPY, which it verifies too, and then verifies the file again. COPY may
be damaged elsewhere. If COPY lacks one of the leaves, nothing is written. If the
run is interrupted, repeat it.

A file that is longer than the sealed one is not repaired. Links to the file see
the change, because it is mended in place.

The exit status is 1 if the file cannot be repaired from COPY.",
    topics: &["keys", "exit-status"],
};

pub const REKEY: CommandHelp = CommandHelp {
    name: "rekey",
    examples: "\
Examples:
  tagmac rekey -k old.key --new-key new.key photos.manifest photos
  tagmac rekey -k old.key --new-key new.key -o new.manifest old.manifest photos
  tagmac rekey -k old.key --new-key new.key LIST",
    details: "\
'tagmac rekey' reads each file once. From the same bytes it verifies the tag
under the old key and makes the one under the new key. If every entry is
unchanged, the new manifest replaces the old one. It has the same options and
filters, and it continues the chain. If an entry differs, 'tagmac rekey' prints
the verdicts as 'audit' does, and writes nothing.

-a, --key-format and --tag-bits describe the old key.

A pin and a ledger are sealed under the key. --pin checks the pin and seals it
under the new key. Start a new ledger: every file was just read.

Without DIR, MANIFEST is a list from 'tagmac tag'. Every file in it must have
its tag; otherwise 'tagmac rekey' prints the names of the others as 'check'
does, and writes nothing. Names are relative to the current directory. Comments
are kept. A list cannot name objects, devices or '-' here.

Sidecars, partials and manifests of objects keep the old key. To replace them,
use the new key with 'update', with 'part', and with 'seal' after 'audit'.

The exit status is 0 if the new manifest or list was written. It is 1 if
something differs or the manifest was altered. It is 3 if the manifest was made
under another key. It is 4 if something could not be read and no difference was
found.",
    topics: &["keys", "nonces", "exit-status"],
};
