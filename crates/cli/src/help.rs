//! The longer texts of the help.

/// What the command is, after its first line.
pub const ABOUT: &str = "\
Tags files with a key and checks the tags.

A tag depends on every byte of the file and on a secret key. Anyone who has the key can check later
whether the file has changed; without the key nobody can make a valid tag. Large files are read on
all cores.";

/// Examples and the exit codes, after the options.
pub const AFTER: &str = "\
Examples:
  tagmac keygen -o my.key               make a key
  tagmac tag -k my.key -r . > LIST      tag every file below here
  tagmac check -k my.key LIST           check them all
  tagmac seal -k my.key DIR -o M        write a manifest of a directory
  tagmac audit -k my.key M DIR          check the directory, also for files that were added
  tar c dir | tagmac tag -k my.key      tag standard input
  tagmac part --start 0 --length 1GiB --object photo.raw -k my.key photo.raw -o 1.part
                                        hash a range, here or elsewhere
  tagmac combine -k my.key *.part       the object's tag from all its ranges
  tagmac update -k my.key disk.img      update a large file's tag after an edit
  tagmac bounds                         how much one key may authenticate

Objects:
  Where the command was built with object stores (cargo build --features objects), 'tag', 'check',
  'part', 'seal' and 'audit' also take URLs: s3://BUCKET/KEY, gs:// and az://. The key is what
  follows the bucket, as it is. Settings and credentials come from the environment and from the
  files of AWS's tools: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE,
  AWS_REGION, AWS_ENDPOINT_URL; GOOGLE_*; AZURE_*. Plain HTTP is for this machine alone, unless
  AWS_ALLOW_HTTP=true. --num-threads is then the number of requests at once: 32 by default, and at
  most 64

Exit status:
  0  success: everything matches and all output was written
  1  does not match: a tag is wrong, a file of a list is missing, a line is malformed, or nothing
     was verified; a manifest, sidecar, partial or checkpoint is damaged or of the wrong kind; a
     directory differs from its manifest; bytes around an edit have changed; partials have gaps or
     overlap
  2  usage error; also an edit of a file that has no sidecar
  3  the key is unreadable, invalid or writable by others, or the input was sealed under another
     key
  4  no verdict: a file to tag is missing; a list, manifest or partial is missing; reading, writing,
     memory or random bytes failed. If 1 also applies, it is 1

Repeated options:
  A flag may be given twice, so that an alias may have it; of --progress, --num-threads and
  --checkpoint-every the last one counts. Any other option with a value is refused the second time,
  unless its help says otherwise: no key, nonce or file is dropped in silence. For an alias with a
  key that an option can replace, set TAGMAC_KEY_FILE

Environment:
  TAGMAC_KEY_FILE  the key file if no option names a key
  TAGMAC_LEVEL     the instruction set to use, see 'tagmac selftest'";

/// Examples of `keygen`.
pub const KEYGEN: &str = "\
The file gets mode 0600, and an existing file is never overwritten. A key file that others can write
to is refused. The key's id is written to standard output: it is public and tells keys apart.
Standard error says how much the key may authenticate, see 'tagmac bounds'.

Examples:
  tagmac keygen -o my.key
  tagmac keygen -a HMAC-SHA256 -o approved.key
  tagmac keygen -a POLY1305-AES -o nonces.key";

/// Examples of `tag`.
pub const TAG: &str = "\
Each file gets one line: 'PMAC-AES128 (NAME) = HEX'. If NAME has a backslash, a line feed or a
carriage return, the line begins with a backslash and NAME is escaped, as cksum does. On a terminal,
control characters in NAME are escaped too.

POLY1305-AES and UMAC take a nonce. Each file gets a random one of 16 bytes, and its line has it:
'POLY1305-AES.n=NONCE (NAME) = HEX'. A nonce is not secret, but never use one for two contents under
one key: others can be forged from two such tags (for UMAC, and one more). Among 2^48.5 random
nonces of 16 bytes two are equal with a probability of 2^-32, and 'tagmac bounds' has that in its
limits; for nonces of --nonce-hex you are responsible. UMAC99 has nonces of 8 bytes, which repeat
sooner, but a repeat costs it little: 2^46.5 files for UMAC99-STD-60, 2^31.5 for UMAC99-STD-30, 2^24
for UMAC99-MMX-15. Under a UMAC key all nonces need the same length: 00 and 0000 count as one. --raw
and --untagged leave the nonce out, so they require --nonce-hex, and so does the check. UMAC-32 has
tags of 32 bits, so it requires --allow-short.

FILE may be a device or a pipe such as '<(...)'. To read a named pipe, use '< PIPE'. -r tags only
regular files and follows no links. Files of /proc, /sys and the like are read to their end, because
the system does not report their sizes.

An object that a URL names is read by ranges, all of one content: if it changes meanwhile, that is
reported. -r tags all objects below a URL, in byte order of their keys; 's3://BUCKET/photos' does
not mean 'photos2/...', and an object whose key is the prefix itself is left out.

--checkpoint is for one large file and an algorithm with parts. If a run is interrupted at any
point, the same command resumes it. The checkpoint is sealed under the key. It is refused if it is
damaged or of another file (exit status 1), of another key (3), or if another run uses it or the
file has changed since (4). Remove it to start over. With --nonce-hex, the nonce is that of the run
that finishes.

Examples:
  tagmac tag -k my.key *.iso > LIST
  tagmac tag -k my.key -r photos > LIST
  tagmac tag -k my.key --raw backup.tar > backup.tag
  tagmac tag -k nonces.key --raw --nonce-hex 00000000000000000000000000000001 1.msg > 1.tag
  tagmac tag -k my.key --checkpoint big.checkpoint big.img
  pass show backup | tagmac tag --key-fd 0 --key-format hex -a PMAC-AES128 backup.tar";

/// Examples of `check`.
pub const CHECK: &str = "\
The algorithm and the length of the tags come from the key file or from -a and
--tag-bits, never from the list: a line with another algorithm or length has FAILED. Empty lines and
lines that begin with # are skipped. Lines may also be 'HEX  NAME', 'HEX *NAME' or 'HEX NAME'.

The nonce comes from the line. A line is malformed if it lacks the nonce that the algorithm takes,
if its nonce has a wrong length, or if the algorithm takes none. --nonce-hex gives the nonce of a
raw tag or of a list's only line; if that line has another nonce, it has FAILED.

A list may come from a pipe such as '<(...)'; to read a named pipe, use '< PIPE'. The names in a
list must be regular files or '-' for standard input; --special also permits devices. A list that
has no tag for 1 MiB is not read further.

A list may come from others, so the URLs of objects in it are asked for only if --allow-url names
them or a folder that they are in.

A tag authenticates a file's bytes, not its name: the check does not see that lines are missing, or
that two files and their tags have been swapped.

A wrong tag may be a guess. A warning says if that many guesses, at that length of tags, succeed
with a probability of more than 2^-32.

Examples:
  tagmac check -k my.key LIST
  tagmac check -k my.key --quiet < LIST
  tagmac check -k my.key --raw-tag backup.tag backup.tar
  tagmac check -k nonces.key --raw-tag 1.tag --nonce-hex 00000000000000000000000000000001 1.msg";

/// Examples of `part`.
pub const PART: &str = "\
Hashes a range of an object into a small file, a partial, that is sealed under the key. 'tagmac
combine' makes the tag of the whole object from its partials, wherever and in whatever order they
were made. The start and the length of a range are multiples of the algorithm's block; only the last
range may end within a block. Sizes may have a unit from KiB to EiB.

FILE is the object, and the range is read at its place there. On a machine that has only the range,
--at 0 says that FILE begins with it. FILE must end where the last range ends.

With '-' the range is read from standard input: --length bytes and not one more, so that the next
'tagmac part' can go on with the same pipe; or, with --last, all up to the end.

A URL as FILE is an object in a store. Without --object its partials are called KEY@VERSION, where
VERSION is the version's id or, without versions, the ETag: so parts of two contents never mix.

A partial alone authenticates nothing. The object's name keeps the ranges of different objects
apart: give each object, and each version of it, a name of its own.

Examples:
  tagmac part -k my.key --object photo.raw --start 0 --length 1GiB photo.raw -o 1.part
  tagmac part -k my.key --object photo.raw --start 1GiB --last photo.raw -o 2.part
  tagmac part -k my.key --object up/7 --start 16MiB --length 8MiB --at 0 chunk.3 -o 3.part
  pg_dump db | tagmac part -k my.key --object db@2026-09-28 --start 0 --last - -o db.part";

/// Examples of `combine`.
pub const COMBINE: &str = "\
Prints the tag of the object that the partials make together, as 'tagmac tag' would for the object.
All must be of one key, algorithm and object, adjoin without gap or overlap, and include the one
made with --last. With --json, 'bytes' is the length of the object.

Examples:
  tagmac combine -k my.key 1.part 2.part
  tagmac combine -k my.key --object up/7 --name film.mov parts/*.part >> LIST";

/// Examples of `update`.
pub const UPDATE: &str = "\
The first update reads FILE and creates FILE.tagmac next to it: a sidecar with a sum for each leaf
of 64 KiB, sealed under the key. From then on an update reads only the leaves that an edit touches,
and prints the line that 'tagmac tag' gives for the whole file. Without an edit it prints the last
line again and does not read FILE; 'tagmac check' does.

An update accepts no change that you did not name. --patch, --append and --truncate first compare
the old bytes around the edit with the sidecar, and --truncate also the bytes that it removes. If
any have changed, the update changes nothing and exits with 1.

If a patch or truncation was interrupted, the next update finishes it, unless another program has
written to the same range since, or --expect is given: an old sidecar may hold such an edit. Then it
changes nothing and you must choose --finish or --undo. Neither overwrites nor deletes bytes of
other programs; if there are any, the exit status is 1, and --range or --append can accept them
afterwards.

--range is for edits by other programs. It accepts the bytes as they are, without a check, widened
to whole leaves, and prints the range. In the same way --append accepts the added bytes, and the
first update all of FILE.

The sidecar belongs to the key, the algorithm and FILE's base name. You may move it together with
FILE. If you rename FILE, remove the sidecar and create a new one; but if an edit was interrupted,
rename both back and finish it first: the sidecar has the old bytes. HMAC, CMAC and UMAC99 cannot
follow edits.

Only --expect detects that FILE and its sidecar were both replaced by older copies, or that a/db and
b/db were swapped together with their sidecars: pass the tag that the last update printed. If an
update was killed after it had finished and before it printed its line, --expect with the previous
tag fails. Then run the update once without an edit and without --expect, check FILE against its
line with 'tagmac check', make sure that FILE has the edit, and use the new tag from then on.

Examples:
  tagmac update -k my.key disk.img
  tagmac update -k my.key --patch 4096 block disk.img
  tagmac update -k my.key --append server.log
  tagmac update -k my.key --range 1MiB:512 table.db";

/// What `man` writes.
pub const MAN: &str = "\
Examples:
  tagmac man | man -l -
  tagmac man tag > tagmac-tag.1
  tagmac man --output ~/.local/share/man/man1";

/// What `list` shows.
pub const LIST: &str = "\
KEY, NONCE and BLOCK are in bytes, TAG in bits, LIMIT is the longest message. BUDGET is how many
messages of 1 MiB, or of the LIMIT, one key may tag, see 'tagmac bounds'. CAN lists what the
algorithm supports: parts (hashes of ranges join), threads (one message on several cores), batch
(many messages in one call), edits (a tag that follows edits), bits (messages of any number of
bits). LEVEL is the instruction set in use, 'own' where the algorithm's code chooses.";

/// What `bounds` shows.
pub const BOUNDS: &str = "\
For each algorithm, from its theorem: MESSAGES of up to LENGTH that one key may tag, BYTES in all,
and GUESSES, the wrong tags that a verifier may reject, while a forgery has a probability of at
most P. Each limit holds by itself; using both up at most doubles the probability. Guesses at
POLY1305-AES are fewer for longer messages; those at PMAC and UMAC99-MMX depend on the length, but
neither fall nor grow with it throughout. Limits are rounded down, but for less
than one part in 2^50.

Shorter tags are easier to guess: --tag-bits shows the limits for tags shortened with 'tag
--tag-bits'. Algorithms without tags of that length are then left out of the table.

These limits assume that the cipher is secure: the last lines show what an attack on it adds for the
messages and one attempt; each further attempt adds to the queries of E or E1 the blocks that go
through it, and one to those of AES, AES10, F, E2 and E3. E is the cipher under the MAC's key, or
E1, E2 and E3 under its first, second and third key. AES10 is AES-128, AES7 AES with seven rounds, F
the PRF of UMAC99-STD. CMAC and HMAC are not listed: none of the papers used here bounds them.

SIZE is a number of bytes, optionally with a unit from KiB to EiB, or a power: 1500, 4KiB, 2^20. N
is a number or a power: 1000000, 2^40. P is a power or a decimal number between 0 and 1.

Examples:
  tagmac bounds
  tagmac bounds -a PMAC-PRESENT128 -a LIGHTMAC-PRESENT128-S16 --length 1500 --messages 2^20
  tagmac bounds -a UMAC-64 --probability 2^-20 --json
  tagmac bounds -a PMAC-AES128 --tag-bits 64";

/// What `selftest` does.
pub const SELFTEST: &str = "\
Shows each instruction-set level that the command has for this kind of CPU: 'usable', 'unsupported'
(this CPU lacks it) or 'failed its self-test' (it gives wrong answers and is never used). Then
computes the known answers of each algorithm on each usable level. Those for messages of over 2 MiB
would take too long: only their number is shown.";

/// Examples of `seal`.
pub const SEAL: &str = "\
The manifest lists every file below DIR with its size and tag, every directory, and every symbolic
link with its target. One more tag closes the manifest, its seal, under a key derived from yours. So
the audit detects every change of a file, and files that were added, removed or renamed. Unlike a
sealed partial, checkpoint or sidecar, a manifest is not encrypted: anyone who can read it sees
names, sizes and tags.

Links are not followed. A manifest inside DIR does not list itself. An existing manifest is replaced
atomically; a file that is not a manifest is not replaced. If a file or directory cannot be read,
vanishes, or changes while it is read, nothing is written and the old manifest is kept;
--skip-unreadable leaves such files out instead. Paths below DIR of more than 4096 bytes cannot be
read: the directory that they begin in is named. Changes made after a file was read are not seen:
seal a directory that is not in use, or a snapshot.

If the algorithm takes nonces, each file gets a random one, as with 'tagmac tag'.

A URL as DIR seals all objects below it. MANIFEST is then a folder or a URL, for a root and a shard
for each 65,536 objects, and is not below the URL itself. An object that changes or cannot be read
is an error, as a file is.

A manifest does not prove that it is the latest: anyone who can restore an old directory can restore
its manifest too. The name of DIR, owners and extended attributes are not recorded.

Examples:
  tagmac seal -k my.key photos -o photos.manifest
  tagmac seal -k my.key --mode --mtime /etc -o /var/backups/etc.manifest
  tagmac audit -k my.key photos.manifest photos";

/// Examples of `audit`.
pub const AUDIT: &str = "\
audit first checks the tag of the whole manifest and uses nothing of it before that. Then it
compares each entry of DIR with its line:

  new        in DIR only
  missing    in the manifest only
  changed    another content, size, kind or target, or another mode or mtime if recorded
  renamed    a new file with the size and tag of a missing one; if mode or mtime are recorded
             and differ, that is reported too
  unreadable no verdict

A file whose size has changed is not read. Renamed files are looked for among the first 8 MiB of new
and missing names; after that they are reported as new and missing, with a note. If the algorithm
takes nonces, a new file is compared with up to eight missing ones of its size.

A URL as DIR audits the objects below it. MANIFEST is the folder or the URL that 'seal' wrote to.

In the lines of --combined a renamed file is '+' under its old name and '-' under its new one, and
names are escaped as in a list of tags. FILE is written atomically and must be new or empty; an
older report or a link is not replaced. Use '--combined - > FILE' to overwrite.

Examples:
  tagmac audit -k my.key photos.manifest photos
  tagmac audit -k my.key --quiet --json photos.manifest photos
  tagmac audit -k my.key --combined report photos.manifest photos

Exit status: 0 if everything is unchanged, 1 if anything differs or the manifest was altered, 3 if
it was made under another key, 4 if something could not be read and nothing differs.";
