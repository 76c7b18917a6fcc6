"""``open_verified``: reads files, and verifies every byte before it returns it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ._keyref import KeyRef
from ._reader import VerifiedReader, opened
from ._tagmac import Key, SealedFile


def open_verified(
    path: str | os.PathLike[str],
    key: Key | KeyRef,
    *,
    manifest: str | os.PathLike[str],
    root: str | os.PathLike[str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> VerifiedReader:
    """Opens a file of a sealed directory. Every byte is verified before it is returned.

    `path` is a path, or a URL of fsspec, which must be installed then; `options` are the URL's
    storage options. `manifest` is the path of a manifest from `seal` with `leaves`, or the folder or
    URL of a bucket's manifest from `tagmac seal --leaves`. `root` is the path or URL of the sealed
    directory, by default the folder that the file is in.

    Raises `FileNotFoundError` if the manifest has no such file, `WrongKey` if the manifest belongs
    to another key, and `InvalidTag` if the manifest or the file is not the sealed one.
    """
    path = os.fspath(path)
    if "://" in path:
        from .fsspec.system import open_url

        return open_url(path, key, manifest=manifest, root=root, options=options)
    if options is not None:
        raise ValueError("options: only a URL has options")
    full = os.path.abspath(path)
    top = os.path.dirname(full) if root is None else os.path.abspath(root)
    relative = os.path.relpath(full, top)
    if relative.split(os.sep, 1)[0] in (os.curdir, os.pardir):
        raise ValueError(f"{path}: expected a file in {top}")
    return VerifiedReader(SealedFile(opened(manifest, key), top, relative), path)


open_verified.__module__ = "tagmac"
