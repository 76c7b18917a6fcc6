"""Clients of boto3, one for each process, from the usual environment and files."""

from __future__ import annotations

import os
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from .url import shown

#: Connections that a client keeps.
CONNECTIONS = 32

_clients: dict[int, Any] = {}


def client() -> Any:
    """This process's client of S3. After a fork it is another one: connections are not shared."""
    found = _clients.get(os.getpid())
    if found is None:
        config = Config(
            max_pool_connections=CONNECTIONS,
            # 503, SlowDown, time-outs and resets before an answer; a body's are reading.py's.
            retries={"mode": "standard", "total_max_attempts": 8},
            connect_timeout=10,
            read_timeout=60,
            # The MAC says more than the store's checksums, which take as long.
            response_checksum_validation="when_required",
        )
        try:
            found = boto3.client("s3", config=config)
        except (BotoCoreError, ValueError) as error:
            # A profile that is not there, an endpoint that is no URL.
            raise OSError(f"S3: {shown(' '.join(str(error).split()))}") from None
        _clients.clear()
        _clients[os.getpid()] = found
    return found
