"""``KeyRef``: where a key is, for code that runs elsewhere."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypedDict, Unpack

from ._tagmac import Key, WrongKey, algorithms_available

# Where systems put secrets as files: systemd names its folder, Docker, Podman and Kubernetes share one.
_CREDENTIALS: Final = "CREDENTIALS_DIRECTORY"
_SECRETS: Final = Path("/run/secrets")


class KeyUnavailable(ValueError):
    """A KeyRef leads to no key in this process."""


class _Options(TypedDict, total=False):
    """What else is known of the key."""

    id: str | None
    alg: str | None
    format: Literal["auto", "raw", "hex", "base64"]
    tag_bits: int | None


@dataclass(frozen=True, slots=True, repr=False)
class KeyRef:
    """Where a key is: KeyRef.file, .env, .command and .secret make one.

    It is pickled and sent in place of the key, which resolve gets where it is called. So no key enters
    a closure, a shuffle, a plan or a log. id and alg pin the key: resolve refuses any other.
    """

    kind: Literal["file", "env", "command", "secret"]
    where: tuple[str, ...]
    id: str | None = None
    alg: str | None = None
    format: Literal["auto", "raw", "hex", "base64"] = "auto"
    tag_bits: int | None = None

    def __post_init__(self) -> None:
        if self.id is not None and not _is_id(self.id):
            raise ValueError(f"id: expected 16 lower-case hex digits, found {self.id!r}")
        if self.alg is not None:
            object.__setattr__(self, "alg", self.alg.upper())
            if self.alg not in algorithms_available:
                raise ValueError(
                    f"alg: expected one of tagmac.algorithms_available, found {self.alg!r}"
                )
        elif self.format != "auto":
            raise ValueError("format: expected alg with the key's algorithm, found none")

    @staticmethod
    def file(path: str | os.PathLike[str], **options: Unpack[_Options]) -> KeyRef:
        """The key in a file, read as Key.from_file does."""
        return KeyRef("file", (os.fspath(path),), **options)

    @staticmethod
    def env(name: str, **options: Unpack[_Options]) -> KeyRef:
        """The key in a variable of the environment, read as Key.from_env does."""
        return KeyRef("env", (name,), **options)

    @staticmethod
    def command(words: Sequence[str], **options: Unpack[_Options]) -> KeyRef:
        """The key that a command writes, run as Key.from_command does."""
        if isinstance(words, str | bytes) or not words:
            raise TypeError("expected a command as a list of its words, found something else")
        return KeyRef("command", tuple(words), **options)

    @staticmethod
    def secret(name: str, **options: Unpack[_Options]) -> KeyRef:
        """The key in a secret that the system gives the process as a file: in the folder that
        $CREDENTIALS_DIRECTORY names (systemd), or in /run/secrets (Docker, Kubernetes).
        """
        if name in ("", ".", "..") or "/" in name or "\0" in name:
            raise ValueError(f"expected a secret's name, without a folder, found {name!r}")
        return KeyRef("secret", (name,), **options)

    def resolve(self) -> Key:
        """The key. It is read once in each process, whichever copy of the reference asks.

        Raises KeyUnavailable if there is none here, and WrongKey if it is not the pinned one.
        """
        key = _resolved.get(self)
        # Two threads may both read it. They get one of the two.
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
        # Of a key file resolve says itself whether its algorithm is the pinned one.
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
        # A command's other words may hold a secret.
        where = repr(self.where[0])
        if self.kind == "command":
            where = f"[{where}{', ...' if len(self.where) > 1 else ''}]"
        pins = "".join(
            f", {name}={value!r}" for name in ("id", "alg") if (value := getattr(self, name))
        )
        return f"KeyRef.{self.kind}({where}{pins})"


# The keys of this process. Copies of a reference are equal, so they share one.
_resolved: dict[KeyRef, Key] = {}


def _is_id(text: str) -> bool:
    return len(text) == 16 and all(digit in "0123456789abcdef" for digit in text)


def _secret(name: str) -> Path:
    """The file of a secret."""
    named = os.environ.get(_CREDENTIALS)
    folders = ([Path(named)] if named else []) + [_SECRETS]
    for folder in folders:
        if os.path.lexists(folder / name):
            return folder / name
    looked = " and ".join(str(folder) for folder in folders)
    unset = "" if named else f"; ${_CREDENTIALS} is not set"
    raise ValueError(f"expected a file of that name in {looked}, found none{unset}")


def _here() -> str:
    return f" (on {socket.gethostname()}, in process {os.getpid()})"


# Pickles name the class by where users have it from.
KeyRef.__module__ = KeyUnavailable.__module__ = "tagmac"
