//! The topics of `tagmac help`.

/// A page of `tagmac help` that belongs to no single command.
pub struct Topic {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its line in the list of topics.
    pub about: &'static str,
    /// At most 80 columns.
    pub text: &'static str,
}

pub const TOPICS: [Topic; 7] = [
    Topic { name: "keys", about: "make a key, and tell a command where it is", text: KEYS },
    Topic { name: "lists", about: "the lines that 'tag' writes and 'check' reads", text: LISTS },
    Topic { name: "nonces", about: "algorithms that need a nonce for each tag", text: NONCES },
    Topic { name: "objects", about: "read from S3, Google Cloud Storage and Azure", text: OBJECTS },
    Topic { name: "options", about: "sizes, repeated options, and the name '-'", text: OPTIONS },
    Topic { name: "exit-status", about: "what each exit status means", text: EXIT_STATUS },
    Topic { name: "environment", about: "environment variables", text: ENVIRONMENT },
];

const KEYS: &str = "  tagmac keygen -o my.key               make a key file
  tagmac tag -k my.key FILE             use it
  export TAGMAC_KEY_FILE=~/my.key       use it wherever no option names a key
  pass show backup | tagmac tag --key-fd 0 --key-format hex -a PMAC-AES128 FILE
                                        use the key of another program

A key file contains the key and its algorithm. 'keygen' creates it with mode
0600 and never overwrites a file. Commands reject a key file that other users
can write to, and warn if others can read it.

A key is never an argument, because other users can see arguments. Give one of
these sources:

  -k FILE        a key file
  --key-fd N     an open file descriptor; 0 is standard input
  --key-env VAR  an environment variable
  --key-cmd CMD  the standard output of 'sh -c CMD'

--key-format raw, hex or base64 reads the key of another program; -a names its
algorithm. raw uses every byte, including a final newline. hex and base64 ignore
a final newline and join lines of equal length. HMAC keys shorter than 16 bytes
need --allow-short-key: anyone who has a tag can search for such a key.

Each key has a public id, which tells keys apart: 'keygen' prints it. 'tagmac
bounds' shows how much data one key may authenticate.";

const LISTS: &str = "  tagmac tag -k my.key a.txt b.txt > LIST
  tagmac check -k my.key LIST

A list has a line for each file:

  PMAC-AES128 (a.txt) = HEX             the default
  POLY1305-AES.n=NONCE (a.txt) = HEX    with the nonce, if there is one
  HEX  a.txt                            with --untagged, as sha256sum writes it

If a name contains a backslash, a line feed or a carriage return, the line
begins with a backslash and the name is escaped, as cksum does. On a terminal,
other control characters are escaped too. With --zero, lines end with a zero
byte and names are not escaped.

'check' also reads 'HEX *NAME' and 'HEX NAME'. It skips empty lines and lines
that begin with #. Any other line must be well-formed, or the check fails.

The algorithm and the tag length come from the key file or from -a and
--tag-bits, never from the list. A line with another algorithm or length has
FAILED.

A tag authenticates the bytes of a file, not its name: 'check' does not notice
that lines are missing, or that two files were swapped together with their tags.
'seal' and 'audit' do.

Names in a list must be regular files, or '-' for standard input; --special also
allows devices. A list from someone else cannot make 'check' send requests:
URLs of objects need --allow-url.";

const NONCES: &str = "  tagmac keygen -a POLY1305-AES -o nonces.key
  tagmac tag -k nonces.key FILE
  POLY1305-AES.n=NONCE (FILE) = HEX

POLY1305-AES and UMAC need a nonce for each tag; 'tagmac list' shows its length.
Each file gets a random nonce, which is written in its line. A nonce is not
secret. --nonce-hex sets the nonce of one file; --raw and --untagged need it,
because they do not write the nonce. The check of such a tag needs the same
--nonce-hex.

Never use one nonce for two contents under one key. Two such tags let an
attacker forge others (for UMAC, with one more tag). Two of 2^48.5 random nonces
of 16 bytes are equal with a probability of 2^-32; the limits of 'tagmac bounds'
include this. Nonces of --nonce-hex are your responsibility.

UMAC99 has nonces of 8 bytes, which repeat sooner, but a repeat costs it little:
the limits are 2^46.5 files for UMAC99-STD-60, 2^31.5 for UMAC99-STD-30 and 2^24
for UMAC99-MMX-15. All nonces under a UMAC key need the same length, because
UMAC cannot tell 00 from 0000. UMAC-32 has tags of 32 bits, so it needs
--allow-short.

'check' reads the nonce from the line. A line is malformed if the nonce is
missing, has the wrong length, or belongs to an algorithm without nonces.";

const OBJECTS: &str = "  tagmac tag -k my.key s3://BUCKET/photo.raw
  tagmac tag -k my.key -r s3://BUCKET/photos > LIST
  tagmac check -k my.key --allow-url s3://BUCKET/photos LIST
  tagmac seal -k my.key s3://BUCKET/photos -o MANIFEST

This needs a build with 'cargo build --features objects'. 'tag', 'check',
'part', 'seal', 'audit' and 'read' then accept URLs that begin with s3://, gs://
or az://. The text after the bucket is the key of the object, unescaped.

Settings and credentials come from the environment, and from the files of the
AWS tools. The variables are:

  s3://  AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,
         AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL
  gs://  GOOGLE_*
  az://  AZURE_*

Plain HTTP works only on this machine, unless AWS_ALLOW_HTTP=true.

An object is read in ranges. If its content changes meanwhile, the command
reports an error. -r, 'seal' and 'audit' read all objects below a URL, in byte
order of their keys. s3://BUCKET/photos includes photos/1, but not photos2/1 or
an object with the key 'photos'. A listing of more than --max-objects is an
error.

--num-threads is the number of concurrent requests: 32 by default, at most 64.";

const OPTIONS: &str =
    "  --length 4KiB       a size in bytes: 4096, 4KiB or 2^12, with units up to EiB
  ./-                 a file with the name '-'
  -- -name            a file whose name begins with '-'

'-' means standard input or output only where the help mentions it.

You may repeat a flag, because an alias may already contain it. The last
--progress, --num-threads, --bwlimit and --checkpoint-every counts. Repeating
any other option that has a value is an error, unless its help allows it, so
that no key, nonce or file is silently ignored. To give an alias a key that an
option can replace, set TAGMAC_KEY_FILE.";

const EXIT_STATUS: &str = "  0  success: everything matches and all output was written
  1  does not match: a tag is wrong, a file of a list is missing, a line is
     malformed, or nothing was verified. Or a manifest, sidecar, partial or
     checkpoint is damaged or of the wrong kind; a directory differs from its
     manifest; bytes around an edit have changed; partials have gaps or overlap
  2  usage error; also an edit of a file that has no sidecar
  3  the key is unreadable, invalid or writable by others, or the input was
     sealed under another key
  4  no verdict: a file to tag is missing; a list, manifest or partial is
     missing; reading, writing, memory or random bytes failed. If 1 also
     applies, it is 1

Only 0 means success. The command checks its arguments first (2), then the key
(3), then everything else (1 or 4).";

const ENVIRONMENT: &str = "  TAGMAC_KEY_FILE        the key file, if no option names a key
  TAGMAC_LEVEL           the instruction-set level to use; 'tagmac selftest'
                         lists the levels
  LC_ALL, LC_CTYPE, LANG the progress bar is ASCII unless the locale is UTF-8

'tagmac help objects' lists the variables for stores of objects.";
