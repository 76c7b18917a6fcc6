"""UMAC with the interface of PEP 452, and the nonce as a third argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from . import _tagmac

if TYPE_CHECKING:
    from typing_extensions import Buffer


class New(Protocol):
    """Creates a MAC object for one message."""

    def __call__(
        self, key: Buffer, msg: Buffer | None = None, nonce: Buffer | None = None
    ) -> _tagmac.Mac: ...


def umac(alg: str) -> New:
    """Returns the function `new` for one UMAC."""

    def new(key: Buffer, msg: Buffer | None = None, nonce: Buffer | None = None) -> _tagmac.Mac:
        """Returns a `tagmac.Mac` for one message. `key` has 16 bytes, and `nonce` has 1 to 16."""
        return _tagmac.new(key, msg, alg, nonce=nonce)

    return new
