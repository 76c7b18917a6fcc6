#!/usr/bin/env python3
"""Prints the manifest of a directory, as specified in ../docs/formats/manifest.md.

    manifest.py KEYFILE MANIFEST DIR

Options and nonces are those of MANIFEST, which is not checked. If the output
equals MANIFEST, all of it is correct: entries, order, tags and seal. Supports
one file system, and the algorithms in algorithms.py with full tags.
"""

import hashlib
import hmac
import os
import stat
import sys

from algorithms import ALGORITHMS

KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "dir",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "chardev",
    stat.S_IFBLK: "blockdev",
}


def hkdf(salt, key, info):
    """Returns the first 32 bytes of HKDF-SHA256."""
    extracted = hmac.digest(salt, key, "sha256")
    return hmac.digest(extracted, info + b"\x01", "sha256")


def escape(name):
    for plain, escaped in ((b"\\", b"\\\\"), (b"\t", b"\\t"), (b"\n", b"\\n"), (b"\r", b"\\r")):
        name = name.replace(plain, escaped)
    return name


def below(root, path=b""):
    """Lists the paths below a directory, in any order."""
    for name in os.listdir(os.path.join(root, path)):
        inner = os.path.join(path, name)
        yield inner
        if stat.S_ISDIR(os.lstat(os.path.join(root, inner)).st_mode):
            yield from below(root, inner)


def stamp(facts):
    """The times and the place of a file, with nine digits of nanoseconds."""
    times = [divmod(time, 10**9) for time in (facts.st_mtime_ns, facts.st_ctime_ns)]
    seconds = [f"{seconds}.{nanoseconds:09}" for seconds, nanoseconds in times]
    return ",".join([*seconds, str(facts.st_ino), str(facts.st_dev)])


def attributes(path, seal_key):
    """The tag of the extended attributes: names and values in order, each after its length."""
    text = b"tagmac-xattrs-1\n"
    for name in sorted(os.fsencode(name) for name in os.listxattr(path)):
        value = os.getxattr(path, name)
        text += len(name).to_bytes(4) + name + len(value).to_bytes(4) + value
    return hmac.digest(seal_key, text, "sha256")[:16].hex()


def main(key_file, manifest, root):
    fields = dict(line.split(": ") for line in open(key_file).read().splitlines()[1:])
    key, algorithm = bytes.fromhex(fields["key"]), ALGORITHMS[fields["algorithm"]]
    old = open(manifest, "rb").read().split(b"\n")
    bits, options = int(old[2].split()[1]), old[4].decode().split()[1:]
    is_new = old[0] == b"tagmac-manifest-3"
    known = {}
    out = [
        old[0].decode(),
        f"algorithm: {fields['algorithm']}",
        f"bits: {bits}",
        f"key id: {fields['id']}",
        "options: " + " ".join(options),
    ]
    out = [line.encode() for line in out]
    if is_new:
        # The chain, which no directory tells. A manifest with filters is not for this program.
        links = int(old[7].split()[1])
        assert old[8 + links] == b"filters: 0", old[8 + links]
        out += old[5 : 9 + links]
    # Not in the directory either: nonces, days, and whether a file had just been written.
    sealed = sum(word in options for word in ("mode", "mtime", "owner", "xattrs"))
    path_column = 3 + sealed + bool(algorithm.nonce_bytes) + 2 * is_new
    for line in old[len(out) :]:
        columns = line.split(b"\t")
        if columns[0] == b"file":
            known[columns[path_column]] = columns
    seal_key = hkdf(b"tagmac manifest key 2", key, fields["algorithm"].encode())
    entries = total = 0
    for path in sorted(below(root), key=lambda path: path.replace(b"/", b"\0")):
        full = os.path.join(root, path)
        facts = os.lstat(full)
        kind = KINDS[stat.S_IFMT(facts.st_mode)]
        if kind not in ("file", "dir", "link") and "special" not in options:
            continue
        columns = [kind]
        if "mode" in options:
            columns.append("-" if kind == "link" else f"{stat.S_IMODE(facts.st_mode):04o}")
        if "mtime" in options:
            seconds, nanoseconds = divmod(facts.st_mtime_ns, 10**9)
            columns.append("-" if kind == "dir" else f"{seconds}.{nanoseconds:09}")
        if "owner" in options:
            columns.append(f"{facts.st_uid}:{facts.st_gid}")
        if "xattrs" in options:
            columns.append(attributes(full, seal_key) if kind in ("file", "dir") else "-")
        if kind == "file":
            before = known[escape(path)]
            content = open(full, "rb").read()
            total += len(content)
            columns.append(str(len(content)))
            nonce = bytes.fromhex(before[2 + sealed].decode()) if algorithm.nonce_bytes else None
            if nonce is not None:
                columns.append(nonce.hex())
            columns.append(algorithm(key, content, bits, nonce=nonce).hex())
            if is_new:
                columns.append(before[path_column - 2].decode())
                columns.append("-" if before[path_column - 1] == b"-" else stamp(facts))
        else:
            columns += ["-"] * (2 + bool(algorithm.nonce_bytes) + 2 * is_new)
        line = "\t".join(columns).encode() + b"\t" + escape(path)
        if kind == "link":
            line += b"\t" + escape(os.readlink(full))
        out.append(line)
        entries += 1
    out += [b"entries: %d" % entries, b"bytes: %d" % total]
    body = b"".join(line + b"\n" for line in out)
    seal = hmac.digest(seal_key, body, "sha256")
    sys.stdout.buffer.write(body + b"seal: " + seal.hex().encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], os.fsencode(sys.argv[3]))
