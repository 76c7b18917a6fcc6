"""UMAC-96 (RFC 4418) with the interface of PEP 452: ``umac96.new(key, msg, nonce).digest()``."""

from ._pep452 import umac

__all__ = ["digest_size", "key_size", "new"]

new = umac("UMAC-96")
digest_size = 12
key_size = 16
