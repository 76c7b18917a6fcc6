//! The texts of the commands about manifests.

use super::commands::CommandHelp;

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
  not read    not read as a whole; its metadata is unchanged

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

--quick, --subset, --sample, --sample-leaves and --max-bytes read nothing or a
part. Of the other files they compare size, mtime, ctime, inode and device with
what the manifest recorded; a copy of DIR elsewhere differs in these. Which file
is in which part depends on its name and the key, so nobody else can predict it.
The summary states how likely it is that a change of ten files was missed.
--sample-leaves reads leaves of each file. It reports a damaged one as --locate
does, and the summary is about ten leaves. --ledger keeps when each file was
last read, and --oldest-first reads what was read longest ago. Several machines
may use one ledger at the same time.

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
  tagmac read -k my.key photos.manifest photos 2026/a.raw --range 1GiB:4KiB
  tagmac read -k my.key photos.manifest s3://BUCKET/photos 2026/a.raw",
    details: "\
'tagmac read' reads only the leaves that contain the range. It writes a leaf to
standard output after it has verified that these bytes were sealed at this place
of this file. If a leaf is damaged, it writes nothing of it and stops; it has
written the leaves before that one.

A file that is not longer than a leaf is verified as a whole. Without leaf tags,
files of up to 64 MiB can be read.

Leaf tags are public and need not be protected. They belong to the content of a
file: a renamed file keeps them. Algorithms with nonces cannot make them.

The exit status is 1 if a leaf differs or the manifest was altered.",
    topics: &["keys", "objects", "exit-status"],
};

pub const MOUNT: CommandHelp = CommandHelp {
    name: "mount",
    examples: "\
Examples:
  tagmac seal -k my.key --leaves photos -o photos.manifest
  tagmac mount -k my.key photos.manifest photos /mnt/photos",
    details: "\
'tagmac mount' shows all programs the files of DIR at MOUNTPOINT, read-only.
Each byte is verified before a program receives it. If a leaf differs from what
was sealed, the read fails with an input/output error (EIO), and a message names
the file and the bytes.

Names, sizes, links, and the permissions, times and owners that were sealed come
from the manifest. Other files do not appear. A file of DIR that is
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
be damaged elsewhere. If COPY lacks one of the leaves, nothing is written.
Repeat a run that was interrupted. A bucket's manifest describes a copy of its
objects in a directory too.

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
