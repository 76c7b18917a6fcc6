"""Message authentication with the parallel MACs PMAC, LightMAC, EliMAC, Poly1305-AES and UMAC.

>>> import tagmac
>>> key = tagmac.Key(bytes(16))                 # PMAC-AES128
>>> tag = key.tag(b"pay 100 to Bob")
>>> key.verify(b"pay 100 to Bob", tag)          # raises InvalidTag if the tag is wrong
>>> tag.hex()
'2d53ca9b986604a1c1b4b53e444021d2'

``algorithms_available`` lists the names of all MACs. docs/guide/python.md is the full guide.
"""

import sys

from . import _tagmac, umac32, umac64, umac96, umac128
from ._tagmac import (
    BudgetExhausted,
    IncompleteObject,
    InvalidTag,
    Key,
    Mac,
    NonceRequired,
    NonceReuse,
    ReserveUsedUp,
    Session,
    WrongKey,
    WrongObject,
    __version__,
    digest,
    file_digest,
    new,
    tag_many,
    verify,
    verify_many,
)
from .types import Algorithms

if sys.platform != "win32":
    from ._keyref import KeyRef, KeyUnavailable
    from ._tagmac import (
        AuditReport,
        Content,
        Difference,
        Manifest,
        ManifestEntry,
        Part,
        Partial,
        Sealed,
        Tree,
        audit,
        combine,
        seal,
    )
    from ._reader import VerifiedReader
    from ._verified import open_verified

algorithms_available = Algorithms(_tagmac.algorithms_available)
"""The names of all MACs, in capitals. `in` accepts any case."""

__all__ = [
    "BudgetExhausted",
    "IncompleteObject",
    "InvalidTag",
    "Key",
    "Mac",
    "NonceRequired",
    "NonceReuse",
    "ReserveUsedUp",
    "Session",
    "WrongKey",
    "WrongObject",
    "__version__",
    "algorithms_available",
    "digest",
    "file_digest",
    "new",
    "tag_many",
    "umac32",
    "umac64",
    "umac96",
    "umac128",
    "verify",
    "verify_many",
]

if sys.platform != "win32":
    __all__ += [
        "AuditReport",
        "Content",
        "Difference",
        "KeyRef",
        "KeyUnavailable",
        "Manifest",
        "ManifestEntry",
        "Part",
        "Partial",
        "Sealed",
        "Tree",
        "VerifiedReader",
        "audit",
        "combine",
        "open_verified",
        "seal",
    ]
