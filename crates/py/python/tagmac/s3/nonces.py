"""Nonces of stored objects: at random, of the longest length that the algorithm takes."""

from __future__ import annotations

import secrets

import tagmac


_lengths: dict[str, int] = {}


def nonce_bytes(algorithm: str) -> int:
    """The longest nonce that an algorithm takes; 0 if it takes none."""
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
    raise ValueError(f"{algorithm}: expected an algorithm with nonces of at most 64 bytes")


def new_nonce(key: tagmac.Key) -> bytes | None:
    """A random nonce, or None if the key's algorithm takes none."""
    count = nonce_bytes(key.name)
    return secrets.token_bytes(count) if count else None
