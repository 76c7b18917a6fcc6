"""``python -m tagmac``: runs the command tagmac.

The command is in a separate package, tagmac-cli. It is looked for next to this Python's scripts,
and then on the path.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Final

# As of a command that a shell does not find. The command's own statuses are smaller.
_NOT_FOUND: Final = 127


def _folders() -> Iterator[Path]:
    """Yields the folders that may have the command. Relative ones would depend on where one is."""
    yield Path(sysconfig.get_path("scripts"))
    yield Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if os.path.isabs(folder):
            yield Path(folder)


def _command() -> Path | None:
    """Returns the path of the command."""
    name = "tagmac.exe" if os.name == "nt" else "tagmac"
    places = (folder / name for folder in _folders())
    return next((path for path in places if path.is_file() and os.access(path, os.X_OK)), None)


def main() -> int:
    """Runs the command with the arguments of this process, and returns its exit status."""
    command = _command()
    if command is None:
        line = (
            "tagmac: the command is not installed; install the package tagmac-cli with pip or cargo"
        )
        print(line, file=sys.stderr)
        return _NOT_FOUND
    words = [str(command), *sys.argv[1:]]
    if os.name == "nt":
        return subprocess.run(words, check=False).returncode
    os.execv(command, words)


if __name__ == "__main__":
    sys.exit(main())
