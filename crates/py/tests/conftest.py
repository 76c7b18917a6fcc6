"""Fixtures and helpers of the tests."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import tagmac


def nonce_for(alg: str) -> bytes | None:
    """A valid nonce of the algorithm."""
    try:
        tagmac.Key.generate(alg).new()
    except tagmac.NonceRequired:
        return bytes(8) if alg.startswith("UMAC") else bytes(16)
    return None


@pytest.fixture(params=tagmac.algorithms_available)
def each(request) -> tuple[tagmac.Key, bytes | None]:
    """A key of each algorithm, and a nonce."""
    return tagmac.Key.generate(request.param), nonce_for(request.param)


@pytest.fixture(params=["PMAC-AES128", "UMAC-64", "POLY1305-AES", "UMAC99-STD-60", "CMAC-AES128"])
def some(request) -> tuple[tagmac.Key, bytes | None]:
    """A key of each kind of MAC, and a nonce."""
    return tagmac.Key.generate(request.param), nonce_for(request.param)


def within_limit(key: tagmac.Key, nonce: bytes | None, message: bytes) -> bytes:
    """A prefix of the message within the algorithm's limit."""
    for most in (len(message), 300_000, 1500):
        try:
            key.tag(message[:most], nonce)
        except ValueError:
            continue
        return message[:most]
    raise AssertionError(f"{key.name} takes no 1500 bytes")


@pytest.fixture
def saved(tmp_path) -> tuple[tagmac.Key, Path]:
    """A new key and its file."""
    key, path = tagmac.Key.generate(), tmp_path / "my.key"
    key.save(path)
    return key, path


@pytest.fixture
def command(tmp_path) -> Callable[..., str]:
    """Runs the command in tmp_path and returns its output. scripts/test-python says where the
    command is.
    """
    binary = os.environ["TAGMAC_COMMAND"]

    def run(*args: object, exits: int = 0) -> str:
        words = [binary, *map(str, args)]
        ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert ran.returncode == exits, ran.stderr
        return ran.stdout

    return run
