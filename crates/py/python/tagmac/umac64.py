"""UMAC-64 (RFC 4418) with the interface of PEP 452: ``umac64.new(key, msg, nonce).digest()``."""

from ._pep452 import umac

__all__ = ["digest_size", "key_size", "new"]

new = umac("UMAC-64")
digest_size = 8
key_size = 16
