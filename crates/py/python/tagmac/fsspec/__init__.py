"""``VerifiedFileSystem``: reads through any file system of fsspec, and verifies every byte before it
returns it. Needs fsspec: ``pip install tagmac[fsspec]``.

>>> import pandas as pd                                                          # doctest: +SKIP
>>> pd.read_parquet("tagmac::s3://photos/2026/x.parquet", storage_options={      # doctest: +SKIP
...     "tagmac": {"manifest": "photos.manifest", "root": "s3://photos",
...                "key": tagmac.KeyRef.file("my.key")}})

The manifest is that of ``tagmac seal --leaves``. Names, sizes and listings come from it alone, so a
store can neither hide nor add files. Ranges are read in whole leaves, and bytes are returned from the
memory in which they were verified.
"""

try:
    import fsspec.implementations.chained as _chained  # noqa: F401
except ModuleNotFoundError:
    _message = "tagmac.fsspec needs fsspec 2025.10 or newer: pip install tagmac[fsspec]"
    raise ModuleNotFoundError(_message) from None

from .system import VerifiedFileSystem

__all__ = ["VerifiedFileSystem"]
