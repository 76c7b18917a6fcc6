#!/usr/bin/env python3
"""Checks a restic repository with Poly1305-AES from tagmac.

    restic_check.py [--repo DIRECTORY] [--password-file FILE]
    restic_check.py --demo

Without the options, the variables RESTIC_REPOSITORY, and RESTIC_PASSWORD or RESTIC_PASSWORD_FILE, have
them, as for restic.

restic encrypts with AES-256 in counter mode and authenticates with Poly1305-AES. Each file except the
packs, each blob in a pack and the header of each pack is IV || ciphertext || MAC. The MAC is that of
the ciphertext under the nonce IV. This script verifies all of them. It decrypts no user data: it gets
the master key from the password, and decrypts only the headers of the packs, which list the blobs. It
names what is wrong, and then exits with status 1.

--demo creates a repository with the command restic and checks it. Then it changes one byte in each
kind of file in turn, and checks that the change is found.

Needs cryptography (for AES in counter mode). restic's doc/design.rst describes the format.
"""

import argparse
import base64
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

try:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    import tagmac
except ModuleNotFoundError as missing:
    name = (missing.name or "").partition(".")[0]
    sys.exit(f"restic_check.py: the Python package {name} is missing: install it with pip")

IV = 16
MAC = 16
# The kind of a blob, and the size of its entry in a header: kind, length, plain length if it is
# compressed, ID.
ENTRIES = {
    0: ("data blob", 1 + 4 + 32),
    1: ("tree blob", 1 + 4 + 32),
    2: ("data blob", 1 + 4 + 4 + 32),
    3: ("tree blob", 1 + 4 + 4 + 32),
}


@dataclass
class Keys:
    """The keys of a repository: for AES, and for Poly1305-AES as k || r."""

    encrypt: bytes
    mac: tagmac.Key

    @classmethod
    def of(cls, encrypt: bytes, mac: bytes) -> "Keys":
        return cls(encrypt, tagmac.Key(mac, "POLY1305-AES"))

    def verify(self, sealed: bytes | memoryview) -> None:
        """Verifies IV || ciphertext || MAC."""
        if len(sealed) < IV + MAC:
            raise tagmac.InvalidTag(f"expected at least {IV + MAC} bytes, found {len(sealed)}")
        self.mac.verify(sealed[IV:-MAC], sealed[-MAC:], nonce=sealed[:IV])

    def open(self, sealed: bytes | memoryview) -> bytes:
        """Verifies, then decrypts."""
        self.verify(sealed)
        aes = Cipher(algorithms.AES(self.encrypt), modes.CTR(bytes(sealed[:IV]))).decryptor()
        return aes.update(sealed[IV:-MAC])


def unlock(repo: Path, password: bytes) -> Keys:
    """Returns the master key, from the first key file that the password opens."""
    for path in sorted(repo.glob("keys/*")):
        key = json.loads(path.read_text())
        n, r, p = key["N"], key["r"], key["p"]
        salt = base64.b64decode(key["salt"])
        room = 128 * r * (n + p + 2)
        user = hashlib.scrypt(password, salt=salt, n=n, r=r, p=p, maxmem=room, dklen=64)
        try:
            master = Keys.of(user[:32], user[32:]).open(base64.b64decode(key["data"]))
        except tagmac.InvalidTag:
            continue
        master = json.loads(master)
        mac = [base64.b64decode(master["mac"][part]) for part in ("k", "r")]
        return Keys.of(base64.b64decode(master["encrypt"]), b"".join(mac))
    sys.exit(f"{repo}: the password opens no key")


def blobs(header: bytes) -> Iterator[tuple[str, int, int]]:
    """Yields the blobs that a pack's header lists: kind, first byte, byte after the last."""
    place = start = 0
    while place < len(header):
        kind, entry = ENTRIES[header[place]]
        end = start + int.from_bytes(header[place + 1 : place + 5], "little")
        yield kind, start, end
        place, start = place + entry, end


def check_pack(keys: Keys, pack: memoryview, count: Counter[str]) -> Iterator[str]:
    """Yields the damaged parts of a pack: blobs || header || length of the header."""
    end = len(pack) - 4
    start = end - int.from_bytes(pack[end:], "little")
    if not 0 <= start <= end:
        yield "the length of the header"
        return
    try:
        header = keys.open(pack[start:end])
    except tagmac.InvalidTag:
        yield "the header"
        return
    count["pack header"] += 1
    for kind, first, last in blobs(header):
        try:
            keys.verify(pack[first:last])
        except tagmac.InvalidTag:
            yield f"the {kind} of bytes {first} to {last}"
        count[kind] += 1


def check(repo: Path, keys: Keys) -> tuple[Counter[str], list[str]]:
    """Returns the number of objects verified, by kind, and the damaged files."""
    count: Counter[str] = Counter()
    wrong = []
    kinds = {"config": "config", "index/*": "index", "snapshots/*": "snapshot"}
    for pattern, kind in kinds.items():
        for path in sorted(repo.glob(pattern)):
            try:
                keys.verify(path.read_bytes())
            except tagmac.InvalidTag as error:
                wrong.append(f"{path.relative_to(repo)}: {error}")
            count[kind] += 1
    for path in sorted(repo.glob("data/*/*")):
        for what in check_pack(keys, memoryview(path.read_bytes()), count):
            wrong.append(f"{path.relative_to(repo)}: {what} does not match its tag")
    return count, wrong


def demo() -> None:
    """Creates a repository and checks it unchanged and with one changed byte."""
    with tempfile.TemporaryDirectory() as name:
        repo, files, secret = Path(name, "repo"), Path(name, "files"), Path(name, "password")
        secret.write_text("correct horse battery staple\n")
        files.mkdir()
        for i in range(8):
            (files / f"{i}.bin").write_bytes(os.urandom(700_000))
            (files / f"{i}.txt").write_text(f"{i} bottles of beer\n" * 10_000)
        environment = os.environ | {"RESTIC_REPOSITORY": str(repo)}
        for arguments in (["init"], ["backup", str(files)]):
            command = ["restic", "--quiet", "--no-cache", "--password-file", secret, *arguments]
            subprocess.run(command, env=environment, check=True)
        keys = unlock(repo, password(secret) or b"")
        check_entries(repo, secret)

        count, wrong = check(repo, keys)
        print("a fresh repository:", ", ".join(f"{n} {kind}" for kind, n in count.items()))
        assert wrong == [], wrong
        expected = {"config", "index", "snapshot", "pack header", "data blob", "tree blob"}
        assert count.keys() == expected, count

        packs = sorted(repo.glob("data/*/*"), key=lambda path: path.stat().st_size)
        victims = [
            (next(repo.glob(pattern)), 20) for pattern in ("config", "index/*", "snapshots/*")
        ]
        victims += [(packs[-1], 1000), (packs[-1], packs[-1].stat().st_size - 30)]
        for path, place in victims:
            flip(path, place)
            count, wrong = check(repo, keys)
            print(f"byte {place} of it changed:", *wrong)
            assert len(wrong) == 1 and wrong[0].startswith(str(path.relative_to(repo))), wrong
            flip(path, place)
        assert check(repo, keys)[1] == []


def check_entries(repo: Path, secret: Path) -> None:
    """Checks the ways to name the repository and the password, and the messages without them."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RESTIC_")}
    named = {"RESTIC_REPOSITORY": str(repo)}
    right, wrong = secret.read_text().strip(), "wrong"

    def run(variables: dict[str, str], *more: str | Path) -> tuple[int, str]:
        command = [sys.executable, __file__, *more]
        ran = subprocess.run(command, env=clean | variables, capture_output=True, text=True)
        return ran.returncode, ran.stdout + ran.stderr.splitlines()[-1] if ran.stderr else ran.stdout

    for variables, *more in (
        ({}, "--repo", repo, "--password-file", secret),
        (named, "--password-file", secret),
        (named | {"RESTIC_PASSWORD": right},),
        (named | {"RESTIC_PASSWORD_FILE": str(secret)},),
        (named | {"RESTIC_PASSWORD": wrong}, "--password-file", secret),
    ):
        status, said = run(variables, *more)
        assert status == 0 and said.startswith("checked "), said
    for status, text, variables, *more in (
        (1, "the password opens no key", named | {"RESTIC_PASSWORD": wrong}),
        (1, "No such file", named, "--password-file", secret.with_name("none")),
        (1, "expected a repository in a local directory", {"RESTIC_PASSWORD": right}, "--repo", "s3:x"),
        (2, "expected --repo or RESTIC_REPOSITORY", {"RESTIC_PASSWORD": right}),
        (2, "RESTIC_PASSWORD_FILE or RESTIC_PASSWORD", named),
    ):
        found, said = run(variables, *more)
        assert found == status and text in said and "Traceback" not in said, said
    # A package that cannot be imported, as if it were missing.
    hidden = secret.with_name("hidden")
    hidden.mkdir()
    (hidden / "cryptography.py").touch()
    status, said = run({"PYTHONPATH": str(hidden)}, "--help")
    assert status == 1 and said.startswith("restic_check.py: the Python package cryptography"), said


def flip(path: Path, place: int) -> None:
    """Changes one bit of a byte, in place."""
    path.chmod(0o600)
    with path.open("r+b") as file:
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ 1]))


def password(file: Path | None) -> bytes | None:
    """Returns the password: from the option or the variables, in restic's order."""
    named = file or os.environ.get("RESTIC_PASSWORD_FILE")
    if named:
        return Path(named).read_text().rstrip("\r\n").encode()
    given = os.environ.get("RESTIC_PASSWORD")
    return given.encode() if given else None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--repo", metavar="DIRECTORY", type=Path, default=os.environ.get("RESTIC_REPOSITORY")
    )
    parser.add_argument("--password-file", metavar="FILE", type=Path)
    parser.add_argument("--demo", action="store_true", help="make a repository and check that")
    args = parser.parse_args()
    if args.demo:
        return demo()
    if not args.repo:
        parser.error("expected --repo or RESTIC_REPOSITORY, or --demo")
    try:
        secret = password(args.password_file)
    except OSError as error:
        sys.exit(f"restic_check.py: {error}")
    if secret is None:
        parser.error("expected --password-file, RESTIC_PASSWORD_FILE or RESTIC_PASSWORD")
    if not args.repo.is_dir():
        sys.exit(f"restic_check.py: {args.repo}: expected a repository in a local directory")
    keys = unlock(args.repo, secret)
    count, wrong = check(args.repo, keys)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print("checked", ", ".join(f"{n} {kind}" for kind, n in count.items()))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
