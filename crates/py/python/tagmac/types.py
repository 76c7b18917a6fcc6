"""Types of the names that the package returns, and of those that it accepts.

>>> from tagmac.types import Algorithm
>>> name: Algorithm = "UMAC-64"
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Algorithm: TypeAlias = Literal[
    "PMAC-AES128",
    "PMAC-AES192",
    "PMAC-AES256",
    "PMAC-PRESENT80",
    "PMAC-PRESENT128",
    "PMAC-RC6",
    "LIGHTMAC-AES128-S8",
    "LIGHTMAC-AES128-S16",
    "LIGHTMAC-AES128-S24",
    "LIGHTMAC-AES128-S32",
    "LIGHTMAC-AES128-S40",
    "LIGHTMAC-AES128-S48",
    "LIGHTMAC-AES128-S56",
    "LIGHTMAC-AES128-S64",
    "LIGHTMAC-AES192-S8",
    "LIGHTMAC-AES192-S16",
    "LIGHTMAC-AES192-S24",
    "LIGHTMAC-AES192-S32",
    "LIGHTMAC-AES192-S40",
    "LIGHTMAC-AES192-S48",
    "LIGHTMAC-AES192-S56",
    "LIGHTMAC-AES192-S64",
    "LIGHTMAC-AES256-S8",
    "LIGHTMAC-AES256-S16",
    "LIGHTMAC-AES256-S24",
    "LIGHTMAC-AES256-S32",
    "LIGHTMAC-AES256-S40",
    "LIGHTMAC-AES256-S48",
    "LIGHTMAC-AES256-S56",
    "LIGHTMAC-AES256-S64",
    "LIGHTMAC-PRESENT80-S8",
    "LIGHTMAC-PRESENT80-S16",
    "LIGHTMAC-PRESENT80-S24",
    "LIGHTMAC-PRESENT80-S32",
    "LIGHTMAC-PRESENT128-S8",
    "LIGHTMAC-PRESENT128-S16",
    "LIGHTMAC-PRESENT128-S24",
    "LIGHTMAC-PRESENT128-S32",
    "ELIMAC-AES128",
    "POLY1305-AES",
    "UMAC-32",
    "UMAC-64",
    "UMAC-96",
    "UMAC-128",
    "UMAC99-STD-30",
    "UMAC99-STD-60",
    "UMAC99-MMX-15",
    "UMAC99-MMX-30",
    "UMAC99-MMX-60",
    "CMAC-AES128",
    "CMAC-AES192",
    "CMAC-AES256",
    "HMAC-SHA256",
]
"""The name of a MAC. Arguments may have it in any case."""

Status: TypeAlias = Literal[
    "unchanged",
    "changed",
    "new",
    "missing",
    "renamed",
    "unreadable",
    "not read",
    "archived",
]
"""A verdict of an audit."""

Kind: TypeAlias = Literal["file", "dir", "link", "pipe", "socket", "chardev", "blockdev"]
"""The kind of an entry of a directory."""

KeyFormat: TypeAlias = Literal["auto", "raw", "hex", "base64"]
"""The format of a stored key."""


class Algorithms(tuple[Algorithm, ...]):
    """The names of all MACs. `in` ignores upper and lower case, as `alg` does."""

    __slots__ = ()

    def __contains__(self, name: object) -> bool:
        return (
            isinstance(name, str) and name.isascii() and super().__contains__(name.upper())
        )
