"""Message authentication with the parallel MACs PMAC, LightMAC, EliMAC, Poly1305-AES and UMAC.

>>> import tagmac
>>> key = tagmac.Key(bytes(16))                 # PMAC-AES128
>>> tag = key.tag(b"pay 100 to Bob")
>>> key.verify(b"pay 100 to Bob", tag)          # raises InvalidTag if the tag is wrong
>>> tag.hex()
'2d53ca9b986604a1c1b4b53e444021d2'

``algorithms_available`` lists the names of all MACs. docs/guide/python.md is the full guide.
"""

from . import _tagmac, umac32, umac64, umac96, umac128
from ._keyref import KeyRef, KeyUnavailable
from ._reader import VerifiedReader
from ._tagmac import (
    AuditReport,
    BudgetExhausted,
    Content,
    Difference,
    IncompleteObject,
    InvalidTag,
    Key,
    Mac,
    Manifest,
    ManifestEntry,
    NonceRequired,
    NonceReuse,
    Part,
    Partial,
    ReserveUsedUp,
    Sealed,
    Session,
    Tree,
    WrongKey,
    WrongObject,
    __version__,
    audit,
    combine,
    digest,
    file_digest,
    new,
    seal,
    tag_many,
    verify,
    verify_many,
)
from ._verified import open_verified
from .types import Algorithms

algorithms_available = Algorithms(_tagmac.algorithms_available)
"""The names of all MACs, in capitals. `in` accepts any case."""

__all__ = [
    "AuditReport",
    "BudgetExhausted",
    "Content",
    "Difference",
    "IncompleteObject",
    "InvalidTag",
    "Key",
    "KeyRef",
    "KeyUnavailable",
    "Mac",
    "Manifest",
    "ManifestEntry",
    "NonceRequired",
    "NonceReuse",
    "Part",
    "Partial",
    "ReserveUsedUp",
    "Sealed",
    "Session",
    "Tree",
    "VerifiedReader",
    "WrongKey",
    "WrongObject",
    "__version__",
    "algorithms_available",
    "audit",
    "combine",
    "digest",
    "file_digest",
    "new",
    "open_verified",
    "seal",
    "tag_many",
    "umac32",
    "umac64",
    "umac96",
    "umac128",
    "verify",
    "verify_many",
]
