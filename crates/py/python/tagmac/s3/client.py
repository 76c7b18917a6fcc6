"""A boto3 client for each process, configured by the usual environment and files."""

from __future__ import annotations

import os
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from .url import Url, shown

#: Size of a client's connection pool.
CONNECTIONS = 32

_clients: dict[int, Any] = {}


def client_for(url: Url) -> Any:
    """Returns this process's client for a URL; None for the stores of stores.py."""
    return client() if url.is_s3 else None


def client() -> Any:
    """Returns this process's S3 client. A forked process gets a new one: connections cannot be
    shared.
    """
    found = _clients.get(os.getpid())
    if found is None:
        config = Config(
            max_pool_connections=CONNECTIONS,
            # Retries 503, SlowDown, timeouts and resets before the response. reading.py retries
            # bodies.
            retries={"mode": "standard", "total_max_attempts": 8},
            connect_timeout=10,
            read_timeout=60,
            # The MAC makes the store's checksums redundant, and they take as long.
            response_checksum_validation="when_required",
        )
        try:
            found = boto3.client("s3", config=config)
        except (BotoCoreError, ValueError) as error:
            # For example a missing profile, or an endpoint that is not a URL.
            raise OSError(f"S3: {shown(' '.join(str(error).split()))}") from None
        _clients.clear()
        _clients[os.getpid()] = found
    return found
