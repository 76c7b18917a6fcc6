//! The conditions of each command, and runs that meet them.

/// A command, a status, a condition in the table of the page, and runs that meet it. `$U` removes
/// root's rights, `$S` leaves the checkpoint of a run on `f`.
pub type Row = (&'static str, i32, &'static str, &'static [&'static str]);

/// The rows of keys and lists.
pub const LISTS: [Row; 23] = [
    ("keygen", 0, "the key is in its file and its id was printed", &["$T keygen -o new"]),
    ("keygen", 2, "usage", &["$T keygen", "$T keygen -o -", "$T keygen -o k -o l"]),
    ("keygen", 4, "the file exists or cannot be made", &["$T keygen -o k", "$T keygen -o no/k"]),
    ("keygen", 4, "output", &["$T keygen -o new > /dev/full", "$T keygen -o new >&-"]),
    (
        "tag",
        0,
        "every file has its line",
        &["$T tag -k k f", "eval $S; $T tag -k k --checkpoint s f"],
    ),
    (
        "tag",
        1,
        "a checkpoint that is damaged or of the wrong kind",
        &[
            "eval $S; head -c -1 s > x; mv x s; $T tag -k k --checkpoint s f",
            "cp f s; $T tag -k k --checkpoint s f",
            "cp m s; $T tag -k k --checkpoint s f",
        ],
    ),
    ("tag", 1, "a checkpoint of another file", &["eval $S; mv f h; $T tag -k k --checkpoint s h"]),
    (
        "tag",
        2,
        "usage",
        &[
            "$T tag -k k --bogus f",
            "$T tag f",
            "$T tag -k k --raw f g",
            "$T tag -k missing --raw f g",
            "$T tag -k k -k k f",
            "$T tag -k k --checkpoint - f",
        ],
    ),
    (
        "tag",
        3,
        "the key",
        &[
            "$T tag -k missing f",
            "$T tag -k missing gone",
            "$T tag -k f f",
            "chmod 602 k; $T tag -k k f",
        ],
    ),
    ("tag", 3, "a checkpoint of another key", &["eval $S; $T tag -k other --checkpoint s f"]),
    (
        "tag",
        4,
        "a file that is missing or cannot be read; the others have their lines",
        &[
            "$T tag -k k gone",
            "$T tag -k k f/gone",
            "$T tag -k k gone f",
            "$T tag -k k t",
            "$U $T tag -k k secret",
            "$T tag -k k <&-",
        ],
    ),
    ("tag", 4, "a file that changed", &["eval $S; touch f; $T tag -k k --checkpoint s f"]),
    ("tag", 4, "output", &["$T tag -k k f > /dev/full", "$T tag -k k f >&-"]),
    (
        "check",
        0,
        "every line of every list is good",
        &["$T check -k k list", "$T check -k k --status list >&-"],
    ),
    (
        "check",
        1,
        "a tag that is wrong",
        &[
            "$T check -k other list",
            "cat list bad > both; $T check -k k both > /dev/full",
            "sed -e 's/= 0/= 1/' -e t -e 's/= ./= 0/' list > l; $T check -k k l gone",
        ],
    ),
    (
        "check",
        1,
        "a file that is missing",
        &["$T check -k k missing", "sed 's/(f)/(f\\/g)/' list > l; $T check -k k l"],
    ),
    (
        "check",
        1,
        "a malformed line",
        &[
            "$T check -k k bad",
            "$T check -k k f",
            "$T check -k k list gone bad",
            "$T check -k k bad > /dev/full",
            "$T check -k k bad >&-",
        ],
    ),
    ("check", 1, "no line at all", &["$T check -k k full"]),
    ("check", 2, "usage", &["$T check -k k --bogus list", "$T check -k k --tag-bits 7 list"]),
    ("check", 3, "the key", &["$T check -k missing list"]),
    (
        "check",
        4,
        "a list that is missing or cannot be read",
        &[
            "$T check -k k gone",
            "$T check -k k f/gone",
            "$T check -k k list gone",
            "$T check -k k <&-",
            "$T check -k k --raw-tag gone f",
        ],
    ),
    (
        "check",
        4,
        "a file that cannot be read",
        &[
            "sed 's/(f)/(secret)/' list > l; $U $T check -k k l",
            "sed 's/(f)/(t)/' list > l; $T check -k k l",
        ],
    ),
    ("check", 4, "output", &["$T check -k k list > /dev/full"]),
];

/// The rows of parts, sidecars and all other commands.
pub const REST: [Row; 32] = [
    ("part", 0, "the partial is written", &["$T part -k k --object o --start 0 --last f -o q >&-"]),
    ("part", 2, "usage", &["$T part -k k --object o --start 1 --last f -o q"]),
    ("part", 3, "the key", &["$T part -k missing --object o --start 0 --last f -o q"]),
    (
        "part",
        4,
        "a file that is missing, cannot be read or lacks the range",
        &[
            "$T part -k k --object o --start 0 --last gone -o q",
            "$U $T part -k k --object o --start 0 --last secret -o q",
            "$T part -k k --object o --start 32 --last f -o q",
        ],
    ),
    (
        "part",
        4,
        "the partial exists or cannot be written",
        &[
            "$T part -k k --object o --start 0 --last f -o p",
            "$T part -k k --object o --start 0 --last f -o no/p",
        ],
    ),
    ("combine", 0, "the object has its line", &["$T combine -k k p"]),
    (
        "combine",
        1,
        "a partial that is damaged or of the wrong kind",
        &["$T combine -k k p.x", "$T combine -k k f"],
    ),
    ("combine", 1, "gaps or overlaps", &["$T combine -k k gap", "$T combine -k k p p"]),
    ("combine", 1, "partials of another object", &["$T combine -k k --object x p"]),
    ("combine", 2, "usage", &["$T combine -k k", "$T combine -k k -"]),
    ("combine", 3, "the key", &["$T combine -k missing p"]),
    ("combine", 3, "a partial of another key", &["$T combine -k other p"]),
    (
        "combine",
        4,
        "a partial that is missing or cannot be read",
        &["$T combine -k k gone", "$T combine -k k t", "$U $T combine -k k secret"],
    ),
    ("combine", 4, "output", &["$T combine -k k p >&-"]),
    (
        "update",
        0,
        "the file has its line",
        &["$T update -k k g", "$T update -k k f", "$T update -k k --append g --append"],
    ),
    (
        "update",
        1,
        "a sidecar that is damaged or of the wrong kind",
        &["cp f g.tagmac; $T update -k k g", "cp m g.tagmac; $T update -k k g"],
    ),
    (
        "update",
        1,
        "bytes around the edit that changed",
        &["cp f g; echo x >> g; $T update -k k g", "echo X > g; $T update -k k --append g"],
    ),
    (
        "update",
        1,
        "another tag than that of `--expect`",
        &["$T update -k k --expect 00112233445566778899aabbccddeeff g"],
    ),
    (
        "update",
        2,
        "usage",
        &["$T update -k k --expect 00 g", "$T update -k k --append --truncate 1 g"],
    ),
    (
        "update",
        2,
        "an edit of a file without a sidecar",
        &[
            "$T update -k k --append f",
            "$T update -k k --patch 0 g f",
            "$T update -k k --truncate 0 f",
            "$T update -k k --range 0:1 f",
            "$T update -k k --finish f",
            "$T update -k k --undo f",
        ],
    ),
    ("update", 3, "the key", &["$T update -k missing g"]),
    ("update", 3, "a sidecar of another key", &["$T update -k other g"]),
    (
        "update",
        4,
        "a file, a patch or a sidecar that cannot be read or written",
        &[
            "$T update -k k gone",
            "$T update -k k --patch 0 gone g",
            "rm g.tagmac; mkdir g.tagmac; $T update -k k g",
        ],
    ),
    ("update", 4, "output", &["$T update -k k g >&-"]),
    ("selftest", 0, "all answers are right", &["TAGMAC_LEVEL=portable $T selftest > /dev/null"]),
    ("selftest", 1, "a wrong answer", &[]),
    ("selftest", 2, "usage", &["TAGMAC_LEVEL=bogus $T selftest"]),
    ("selftest", 4, "output", &["$T selftest > /dev/full"]),
    (
        OTHERS,
        0,
        "printed",
        &[
            "$T list; $T bounds; $T completions bash; $T man; $T help keys; $T --help; $T tag --help",
        ],
    ),
    (
        OTHERS,
        2,
        "usage",
        &[
            "$T list --bogus || $T bounds -a x || $T completions x || $T man x || $T",
            "$T man --output -",
            "$T help bogus",
        ],
    ),
    (
        OTHERS,
        4,
        "output",
        &[
            "$T list > /dev/full || $T bounds >&- || $T completions bash > /dev/full || $T man >&-",
            "$T bounds --json >&- || $T list --json >&-",
            "$T --help >&- || $T --version > /dev/full || $T tag --help >&- || $T help keys >&-",
        ],
    ),
    (OTHERS, 4, "the files of `man --output`", &["$T man --output f"]),
];

const OTHERS: &str = "list`, `bounds`, `completions`, `man`, `help`, `--help";
