"""UMAC-128 (RFC 4418) with the interface of PEP 452: ``umac128.new(key, msg, nonce).digest()``."""

from ._pep452 import umac

__all__ = ["digest_size", "key_size", "new"]

new = umac("UMAC-128")
digest_size = 16
key_size = 16
