"""tagmac on Spark: tags of columns and of objects, manifests of buckets with their audits, and verified
reads of Parquet files. Needs PySpark 4.1 or newer, pyarrow, boto3 and fsspec on the driver and all workers:
``pip install tagmac[spark]``.

>>> from tagmac import KeyRef                                                       # doctest: +SKIP
>>> from tagmac.spark import audit, seal                                            # doctest: +SKIP
>>> key = KeyRef.file("/etc/tagmac/my.key")                                         # doctest: +SKIP
>>> seal(spark, "s3://photos/2026", key, "s3://manifests/photos-2026")              # doctest: +SKIP
>>> audit(spark, "s3://manifests/photos-2026", "s3://photos/2026", key)             # doctest: +SKIP

Spark never transfers a key: a ``KeyRef`` says where each worker finds it. docs/guide/objects.md is the
full guide.
"""

try:
    import boto3 as _boto3  # noqa: F401
    import fsspec as _fsspec  # noqa: F401
    import pyarrow as _pyarrow  # noqa: F401
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        "tagmac.spark needs PySpark, boto3 and fsspec: pip install tagmac[spark]"
    ) from None

from .auditing import Difference, ManifestDamaged, Report, audit
from .cluster import JobFailed
from .columns import tag_column
from .objects import ObjectsUnreadable, tag_objects
from .parquet import read_parquet
from .places import PlaceError
from .sealing import Sealed, Unreadable, seal

__all__ = [
    "Difference",
    "JobFailed",
    "ManifestDamaged",
    "ObjectsUnreadable",
    "PlaceError",
    "Report",
    "Sealed",
    "Unreadable",
    "audit",
    "read_parquet",
    "seal",
    "tag_column",
    "tag_objects",
]
