"""``KeyRef``: a reference to a key, for code that runs in another process or on another machine."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypedDict, Unpack

from ._tagmac import Key, WrongKey, algorithms_available
from .types import KeyFormat

# Folders of secrets: systemd names its own in a variable; Docker, Podman and Kubernetes use one
# path.
_CREDENTIALS: Final = "CREDENTIALS_DIRECTORY"
_SECRETS: Final = Path("/run/secrets")


class KeyUnavailable(ValueError):
    """A `KeyRef` cannot be resolved in this process."""


class _Options(TypedDict, total=False):
    """Options of every kind of reference."""

    id: str | None
    alg: str | None
    format: KeyFormat
    tag_bits: int | None


@dataclass(frozen=True, slots=True, repr=False)
class KeyRef:
    """A reference to a key. `KeyRef.file`, `.env`, `.command` and `.secret` create it.

    Pickle and send it instead of the key, and call `resolve` where the key is used: then no key
    ends up in a closure, a shuffle, a plan or a log. `id` and `alg` pin the key: `resolve` refuses
    any other. `format` and `tag_bits` are those of `Key.from_file`.

    >>> from tagmac import KeyRef
    >>> KeyRef.file("/etc/tagmac/my.key", alg="UMAC-64")
    KeyRef.file('/etc/tagmac/my.key', alg='UMAC-64')
    """

    kind: Literal["file", "env", "command", "secret"]
    where: tuple[str, ...]
    id: str | None = None
    alg: str | None = None
    format: KeyFormat = "auto"
    tag_bits: int | None = None

    def __post_init__(self) -> None:
        if self.id is not None and not _is_id(self.id):
            raise ValueError(f"id: expected 16 lower-case hex digits, found {self.id!r}")
        if self.alg is not None:
            object.__setattr__(self, "alg", self.alg.upper())
            if self.alg not in algorithms_available:
                names = "tagmac.algorithms_available lists the names"
                raise ValueError(f"alg: unknown algorithm {self.alg!r}: {names}")
        elif self.format != "auto":
            raise ValueError("alg: a bare key needs its algorithm's name")

    @staticmethod
    def file(path: str | os.PathLike[str], **options: Unpack[_Options]) -> KeyRef:
        """Returns a reference to a key file, which `resolve` reads like `Key.from_file`."""
        return KeyRef("file", (os.fspath(path),), **options)

    @staticmethod
    def env(name: str, **options: Unpack[_Options]) -> KeyRef:
        """Returns a reference to an environment variable, which `resolve` reads like
        `Key.from_env`.
        """
        return KeyRef("env", (name,), **options)

    @staticmethod
    def command(words: Sequence[str], **options: Unpack[_Options]) -> KeyRef:
        """Returns a reference to the output of a command, which `resolve` runs like
        `Key.from_command`.
        """
        if isinstance(words, str | bytes) or not words:
            raise TypeError('command: expected a list of words, such as ["pass", "show", "backup"]')
        return KeyRef("command", tuple(words), **options)

    @staticmethod
    def secret(name: str, **options: Unpack[_Options]) -> KeyRef:
        """Returns a reference to a secret that the system provides as a file: in the folder that
        $CREDENTIALS_DIRECTORY names (systemd), or in /run/secrets (Docker, Podman, Kubernetes).
        """
        if name in ("", ".", "..") or "/" in name or "\0" in name:
            raise ValueError(f"expected the name of a secret, without a folder, found {name!r}")
        return KeyRef("secret", (name,), **options)

    def resolve(self) -> Key:
        """Returns the key. Each process reads it only once, whichever copy of the reference it
        uses.

        Raises `KeyUnavailable` if this process cannot read it, and `WrongKey` if it is not the
        pinned one.
        """
        key = _resolved.get(self)
        # If two threads read it at once, both get the same key object.
        return _resolved.setdefault(self, self._read()) if key is None else key

    def _read(self) -> Key:
        try:
            key = self._key()
        except (OSError, ValueError) as error:
            raise KeyUnavailable(f"{self!r}: {error}{_here()}") from error
        pairs = ((self.id, key.id, "with id"), (self.alg, key.name, "for"))
        for expected, found, which in pairs:
            if expected is not None and expected != found:
                what = f"expected a key {which} {expected}, found one {which} {found}"
                raise WrongKey(f"{self!r}: {what}{_here()}")
        return key

    def _key(self) -> Key:
        # For a key file, `_read` compares the algorithm and raises WrongKey.
        alg = None if self.format == "auto" else self.alg
        where, form, bits = self.where[0], self.format, self.tag_bits
        match self.kind:
            case "file":
                return Key.from_file(where, alg=alg, format=form, tag_bits=bits)
            case "env":
                return Key.from_env(where, alg=alg, format=form, tag_bits=bits)
            case "command":
                return Key.from_command(self.where, alg=alg, format=form, tag_bits=bits)
            case "secret":
                return Key.from_file(_secret(where), alg=alg, format=form, tag_bits=bits)

    def __repr__(self) -> str:
        # The command's other words may contain a secret.
        where = repr(self.where[0])
        if self.kind == "command":
            where = f"[{where}{', ...' if len(self.where) > 1 else ''}]"
        pins = "".join(
            f", {name}={value!r}" for name in ("id", "alg") if (value := getattr(self, name))
        )
        return f"KeyRef.{self.kind}({where}{pins})"


# The keys of this process. Copies of a reference are equal, so they share an entry.
_resolved: dict[KeyRef, Key] = {}


def _is_id(text: str) -> bool:
    return len(text) == 16 and all(digit in "0123456789abcdef" for digit in text)


def _secret(name: str) -> Path:
    """The path of a secret."""
    named = os.environ.get(_CREDENTIALS)
    folders = ([Path(named)] if named else []) + [_SECRETS]
    for folder in folders:
        if os.path.lexists(folder / name):
            return folder / name
    looked = " and ".join(str(folder) for folder in folders)
    unset = "" if named else f"; ${_CREDENTIALS} is not set"
    raise ValueError(f"no file of that name in {looked}{unset}")


def _here() -> str:
    return f" (on {socket.gethostname()}, in process {os.getpid()})"


# Pickles refer to the classes by their public module.
KeyRef.__module__ = KeyUnavailable.__module__ = "tagmac"
