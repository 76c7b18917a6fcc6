//! The longer texts of the help.

/// What the command is, after its first line.
pub const ABOUT: &str = "\
Tags files with a key and checks the tags.

A tag depends on every byte of the file and on a secret key. Who has the key can tell later
whether the file is still the same; who lacks it cannot make a tag that passes. Files of any size
are read in parallel.";

/// Examples and the exit codes, after the options.
pub const AFTER: &str = "\
Examples:
  tagmac keygen -o my.key               make a key
  tagmac tag -k my.key -r . > LIST      tag every file below here
  tagmac check -k my.key LIST           check them all
  tagmac seal -k my.key DIR -o M        seal a directory
  tagmac audit -k my.key M DIR          check it, and that nothing was added
  tar c dir | tagmac tag -k my.key      tag standard input
  tagmac part --start 0 --length 1GiB --object photo.raw -k my.key photo.raw -o 1.part
                                        hash a range, here or elsewhere
  tagmac combine -k my.key *.part       the object's tag from all its ranges
  tagmac update -k my.key disk.img      follow the edits of a file
  tagmac bounds                         how much one key may authenticate

Exit status:
  0  all is good
  1  a tag does not match, a file is missing, a line is malformed, or nothing was verified; a
     manifest, sidecar, partial or state is altered, none at all or of something else; a tree is not
     as it was sealed, bytes around an edit are not as they were, partials make no whole
  2  the command line asks for what there is not
  3  the key cannot be used or others could have written it, or what is there was sealed under
     another one
  4  there is no verdict: a file could not be read or written, standard output took nothing, or
     memory or random bytes were not to be had. Where 1 is known, it is 1

Environment:
  TAGMAC_KEY_FILE  the key file where no option names a key
  TAGMAC_LEVEL     the instruction set to use, see 'tagmac selftest'";

/// Examples of `keygen`.
pub const KEYGEN: &str = "\
The file gets mode 0600. A key file that others can write to is refused. A file that exists is never overwritten. The key's id goes to standard
output: it is public and tells keys apart. Standard error says how much the key may authenticate,
see 'tagmac bounds'.

Examples:
  tagmac keygen -o my.key
  tagmac keygen -a HMAC-SHA256 -o approved.key
  tagmac keygen -a POLY1305-AES -o nonces.key";

/// Examples of `tag`.
pub const TAG: &str = "\
One line a file: 'PMAC-AES128 (NAME) = HEX'. If NAME has a backslash, a line feed or a carriage
return, the line begins with a backslash and NAME is escaped, as cksum does. On a terminal so is all
that would do something to it; in a file or a pipe NAME has its bytes.

POLY1305-AES and UMAC take a nonce. Each file gets a random one of 16 bytes, and its line says
which: 'POLY1305-AES.n=NONCE (NAME) = HEX'. A nonce is no secret, but under one key no two contents
may have the same: two such tags tell enough of the key to forge others. Random nonces of 16 bytes
do not repeat; those of --nonce-hex are up to you. UMAC99 has nonces of 8 bytes: take a new key
before a million files, or two may have the same. Under a UMAC key all nonces need the same length:
00 and 0000 count as one. --raw and --untagged leave the nonce out, so they ask for --nonce-hex, and
so will the check. UMAC-32 has tags of 32 bits, so it asks for --allow-short.

FILE may be a device, or a pipe as from '<(...)'. A pipe with a name of its own, which may wait for
ever, is read as '< PIPE' only. -r tags files alone, and follows no link. Files of /proc, /sys and
their like are read to their end, as the system does not tell their sizes.

--state is for one large file and an algorithm with parts. A run that is killed, at any moment, goes
on with the same command. The state is sealed under the key. It is refused if it was altered or is
of another file (exit status 1) or key (3), and if another run is at work with it or the file has
changed since (4), as its length, its times and pieces that are read again tell; to start over,
remove it. With --nonce-hex too, the nonce is that of the run that ends.

Examples:
  tagmac tag -k my.key *.iso > LIST
  tagmac tag -k my.key -r photos > LIST
  tagmac tag -k my.key --raw backup.tar > backup.tag
  tagmac tag -k nonces.key --raw --nonce-hex 00000000000000000000000000000001 1.msg > 1.tag
  tagmac tag -k my.key --state big.state big.img
  pass show backup | tagmac tag --key-fd 0 --key-format hex -a PMAC-AES128 backup.tar";

/// Examples of `check`.
pub const CHECK: &str = "\
The algorithm and the length of the tags come from the key file or from -a and -l, never from the
list: a line with another algorithm or length has FAILED. Empty lines and lines that begin with #
are skipped.

The nonce comes from the line. A line is malformed if it lacks the nonce that the algorithm takes,
if its nonce has a wrong length, or if the algorithm takes none. --nonce-hex gives the nonce of a
raw tag or of a list's only line; if that line has another nonce, it has FAILED.

A list may come by a pipe, as from '<(...)'. What it names has to be a file: nothing else is opened,
unless --special says so; '-' is standard input, as in the lists of other tools. A pipe with a name of its own is never read but as '< PIPE'. A list in
which no tag comes for 1 MiB is not read further.

A tag is of a file's bytes, not of its name: the check does not see that lines are missing, or that
two files and their tags have traded names.

A wrong tag may be a guess. A warning says when guesses so many, with tags so short, would have
passed with a chance of more than 2^-32.

Examples:
  tagmac check -k my.key LIST
  tagmac check -k my.key --quiet < LIST
  tagmac check -k my.key --raw-tag backup.tag backup.tar
  tagmac check -k nonces.key --raw-tag 1.tag --nonce-hex 00000000000000000000000000000001 1.msg";

/// Examples of `part`.
pub const PART: &str = "\
Hashes a range of an object into a small file that is sealed under the key. 'tagmac combine' makes
the tag of the whole object from such files, wherever and in whatever order they were made. A range
starts at a multiple of the algorithm's block and is as long; only the last one may end within a
block. Sizes may have a unit from KiB to EiB.

FILE is the object, and the range is read where it stands. On a machine that has the range alone,
--at 0 says that FILE begins with it. FILE must end where the last range ends.

A range by itself is not authenticated by anything. The object's name keeps the ranges of different
objects apart, so no two may share one, and no two versions of an object either.

Examples:
  tagmac part -k my.key --object photo.raw --start 0 --length 1GiB photo.raw -o 1.part
  tagmac part -k my.key --object photo.raw --start 1GiB --last photo.raw -o 2.part
  tagmac part -k my.key --object up/7 --start 16MiB --length 8MiB --at 0 chunk.3 -o 3.part";

/// Examples of `combine`.
pub const COMBINE: &str = "\
Prints the tag of the object that the partials make together, as 'tagmac tag' would for the object.
They have to be of one key, algorithm and object, adjoin without gap or overlap, and end with the
one that --last made. With --json, 'bytes' is the length of the object.

Examples:
  tagmac combine -k my.key 1.part 2.part
  tagmac combine -k my.key --object up/7 --name film.mov parts/*.part >> LIST";

/// Examples of `update`.
pub const UPDATE: &str = "\
The first update reads FILE and makes FILE.tagmac beside it: a sidecar with a sum for each leaf of
64 KiB, sealed under the key. From then on an edit costs the leaves that it touches, and the line is
that of 'tagmac tag' for the whole file. Without an edit the last line is shown again; FILE is not
read for that, 'tagmac check' does so.

An update vouches for nothing that it was not told of. --patch, --append and --truncate hold the old
bytes around the edit against the sidecar first, and --truncate also those that it cuts off: if
anything there has changed, the update ends with exit status 1 and changes nothing.

The next update finishes a patch or a cut that was interrupted, unless someone else has written to
the same place since. Then it changes nothing and asks for a decision: --finish or --undo. Neither
writes over bytes of others or deletes them; if there are any, the exit status is 1, and --range or
--append can vouch for them afterwards.

--range is for edits that other programs have made. It cannot check them: it takes the bytes as
they are, widened to whole leaves, and says which these are. Everything in them is now vouched for.
So it is with --append for what was added, and with the first update for all of FILE.

The sidecar belongs to the key, the algorithm and FILE's base name. It may be moved together with
FILE. After FILE was renamed, remove the sidecar and make it anew; if an edit was interrupted, rename
both back instead and finish it first: the sidecar has the old bytes. HMAC, CMAC and UMAC99 have no
edits.

Who brings back an old FILE with its old sidecar has rolled both back, and who lets a/db and b/db
trade places, each with its sidecar, is not found out either: only --expect tells. It also refuses
the tag of before where an update was killed after its work and before its line was out. Then run
the update once without an edit and without --expect, hold its line against FILE by 'tagmac check',
look whether the edit is there, and go on with the tag of that line.

Examples:
  tagmac update -k my.key disk.img
  tagmac update -k my.key --patch 4096 block disk.img
  tagmac update -k my.key --append server.log
  tagmac update -k my.key --range 1MiB:512 table.db";

/// What `list` shows.
pub const LIST: &str = "\
KEY, NONCE and BLOCK are in bytes, TAG in bits, LIMIT is the longest message. BUDGET is how many
messages of 1 MiB, or of the LIMIT, one key may tag, see 'tagmac bounds'. CAN lists what the
algorithm can do: parts (hashes of ranges join), threads (one message on several cores), batch
(many messages in one call), edits (a tag that follows edits), bits (messages of any number of
bits). LEVEL is the instruction set in use; CMAC and HMAC choose their own.";

/// What `bounds` shows.
pub const BOUNDS: &str = "\
For each algorithm, from the theorem of its paper: how many messages of up to that length one key may
tag, how many bytes these are, and how many wrong tags may be tried, until a forger's chance reaches
the threshold. Messages alone may reach it, and so may guesses; who spends both grants twice the
chance. PMAC counts guesses as messages too. All numbers are rounded down, bounds up.

Shorter tags are guessed more easily: --tag-bits has the numbers for tags that are cut with 'tag
--length'. Algorithms that have no tags of that length are left out of the table then.

Who keeps to these numbers still trusts the cipher: the last lines name what an attack on it adds.
CMAC and HMAC have no row: the papers behind this program do not bound them.

SIZE is a number of bytes, with a unit from KiB to EiB if you like, or a power: 1500, 4KiB, 2^20.
N is a number or a power: 1000000, 2^40. CHANCE is a power or a decimal number between 0 and 1.

--plot draws figure 1 of the LightMAC paper, for blocks of 32, 64 and 128 bits. FILE has to be new,
empty or such a plot, which is replaced; all else stays as it is, and so does a link.

Examples:
  tagmac bounds
  tagmac bounds -a PMAC-PRESENT128 -a LIGHTMAC-PRESENT128-S16 --length 1500 --messages 2^20
  tagmac bounds -a UMAC-64 --threshold 2^-20 --json
  tagmac bounds -a PMAC-AES128 --tag-bits 64
  tagmac bounds --plot bounds.svg";

/// What `selftest` does.
pub const SELFTEST: &str = "\
Shows each level of instruction sets that the command knows for this kind of CPU: 'usable',
'unsupported' (this CPU lacks it) or 'failed its self-test' (it gives wrong answers and is never
used). Then computes the known answers of each algorithm on each usable level. Those for messages
of over 2 MiB would take too long: their number is shown.";

/// Examples of `seal`.
pub const SEAL: &str = "\
The manifest lists every file below DIR with its size and tag, every directory, and every symbolic
link with its target. One more tag closes it, under a key of its own that comes from yours. So the
audit sees every change of a file, and that files were added, removed or renamed.

Links are not followed. A manifest that lies in DIR leaves itself out. It is written beside the old
one and takes its place when it is whole; a file that is no manifest is not replaced. If a file or
directory cannot be read, vanishes, or changes while it is read, nothing is written and the old
manifest stays; --skip-unreadable leaves such files out instead. Paths below DIR of more than 4096
bytes cannot be read: the directory that they begin in is named. What changes after it was read is
not seen: seal a tree that rests.

Where the algorithm takes nonces, each file gets a random one, as with 'tagmac tag'.

A seal does not tell that it is the newest: who can put an old tree back can put its manifest back
too. The name of DIR, owners and extended attributes are not sealed.

Examples:
  tagmac seal -k my.key photos -o photos.manifest
  tagmac seal -k my.key --mode --mtime /etc -o /var/backups/etc.manifest
  tagmac audit -k my.key photos.manifest photos";

/// Examples of `audit`.
pub const AUDIT: &str = "\
First the seal over the whole manifest is checked: nothing is believed of a manifest that another
key sealed, or that was changed or cut off. Then each entry of DIR is compared with its line:

  new        in DIR only
  missing    in the manifest only
  changed    another content, size, kind or target, or another mode or mtime if these are sealed
  renamed    a new file with the size and tag of a missing one; if mode or mtime are sealed and are
             others, this is told too
  unreadable no verdict

A file whose size has changed is not read. Renamed files are looked for among the first 8 MiB of
new and missing names; after that they are told as new and missing, with a note. Where the algorithm
takes nonces, a new file is compared with eight missing ones of its size.

In the lines of --combined a renamed file is '+' under its old name and '-' under its new one, and
names are escaped as in a list of tags. FILE appears when it is whole. It has to be new or empty: all
else stays as it is, an old report and a link too. '--combined - > FILE' writes over what is there.

Examples:
  tagmac audit -k my.key photos.manifest photos
  tagmac audit -k my.key --quiet --json photos.manifest photos
  tagmac audit -k my.key --combined report photos.manifest photos

Exit status: 0 if all is as it was sealed, 1 if anything differs or the manifest is not as it was
sealed, 3 if it was sealed under another key, 4 if something could not be read and nothing differs.";
