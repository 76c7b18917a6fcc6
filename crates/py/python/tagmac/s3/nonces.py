"""Random nonces for stored objects, of the algorithm's longest length."""

from __future__ import annotations

import secrets

import tagmac


_lengths: dict[str, int] = {}


def nonce_bytes(algorithm: str) -> int:
    """Returns the length in bytes of an algorithm's longest nonce, or 0 for a deterministic MAC."""
    if algorithm not in _lengths:
        _lengths[algorithm] = _longest(algorithm)
    return _lengths[algorithm]


def _longest(algorithm: str) -> int:
    key = tagmac.Key.generate(algorithm)
    try:
        key.new()
        return 0
    except tagmac.NonceRequired:
        pass
    for count in range(64, 0, -1):
        try:
            key.new(nonce=bytes(count))
            return count
        except ValueError:
            continue
    raise ValueError(f"{algorithm}: no nonce of at most 64 bytes is accepted")


def new_nonce(key: tagmac.Key) -> bytes | None:
    """Returns a random nonce, or None if the key's MAC is deterministic."""
    count = nonce_bytes(key.name)
    return secrets.token_bytes(count) if count else None
