#!/usr/bin/env python3
"""Makes leaf tags under PMAC with AES, as specified in ../docs/formats/leaf-tags.md.

    leaf_tags.py                        checks the example of that page
    leaf_tags.py KEYFILE FILE L         prints the leaf tags of FILE, in hex

    t_i = HMAC-SHA256(K_leaf, H || i || start || end || sum || |rest| || rest)[:16]
    H   = |T| || T || n || L' || zeros up to 64 bytes
"""

import hmac
import pathlib
import sys

import aes
from blocks import cut
from object_manifest import DOCS
from partials import counted, hkdf
from pmac import offsets, pmac

MOST = 2**19


def key_of(text):
    """Returns the key's bytes and the name of its algorithm."""
    fields = dict(line.split(": ") for line in text.splitlines() if ": " in line)
    return bytes.fromhex(fields["key"]), fields["algorithm"].encode()


def number(n):
    return n.to_bytes(8, "little")


def leaf_tags(key, algorithm, content, leaf):
    """Returns the leaf tags of a content, none if it is not longer than a leaf."""
    n = len(content)
    if n <= leaf:
        return []
    while -(-n // leaf) > MOST:
        leaf *= 2
    E = aes.cipher(key)
    tag = pmac(E, content)
    head = (counted(tag) + number(n) + number(leaf)).ljust(64, b"\0")
    leaf_key = hkdf(b"tagmac leaf key 2", key, algorithm)
    # The last block may be short. It is in no sum.
    blocks, _ = cut(content, 8 * n, E.n, -(-n // 16))
    masks = offsets(E, len(blocks))
    terms = [E.encrypt(M ^ mask) for M, mask in zip(blocks[: (n - 1) // 16], masks)]
    tags = []
    for i in range(-(-n // leaf)):
        start, end = i * leaf, min((i + 1) * leaf, (n - 1) // 16 * 16)
        total = 0
        for term in terms[start // 16 : end // 16]:
            total ^= term
        rest = content[end:] if (i + 1) * leaf >= n else b""
        text = head + number(i) + number(start) + number(end)
        text += total.to_bytes(16, "big") + counted(rest)
        tags.append(hmac.digest(leaf_key, text, "sha256")[:16])
    return tags


def main():
    if len(sys.argv) == 4:
        key, algorithm = key_of(pathlib.Path(sys.argv[1]).read_text())
        content = pathlib.Path(sys.argv[2]).read_bytes()
        for tag in leaf_tags(key, algorithm, content, int(sys.argv[3])):
            print(tag.hex())
        return
    page = (DOCS / "leaf-tags.md").read_text().split("```text\n")[-1].split("```")[0]
    content = bytes(i % 256 for i in range(5000))
    tags = leaf_tags(bytes(range(16)), b"PMAC-AES128", content, 4096)
    if page.split() != [tag.hex() for tag in tags]:
        raise SystemExit(f"leaf-tags.md: expected {page.split()}, found {tags}")
    print("leaf-tags.md: the leaf tags are correct")


if __name__ == "__main__":
    main()
