"""UMAC in the shape of PEP 452, with the nonce as a third argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from . import _tagmac

if TYPE_CHECKING:
    from typing_extensions import Buffer


class New(Protocol):
    """Makes a MAC object for one message."""

    def __call__(
        self, key: Buffer, msg: Buffer | None = None, nonce: Buffer | None = None
    ) -> _tagmac.Mac: ...


def umac(alg: str) -> New:
    """`new` for one of the UMACs."""

    def new(key: Buffer, msg: Buffer | None = None, nonce: Buffer | None = None) -> _tagmac.Mac:
        """A MAC object for one message; the nonce has 1 to 16 bytes."""
        return _tagmac.new(key, msg, alg, nonce=nonce)

    return new
