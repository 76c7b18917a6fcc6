"""Tags for objects in S3: uploads compute and store the tag, and reads verify it. Needs boto3:
``pip install tagmac[s3]``.

>>> import boto3, tagmac.s3                                                  # doctest: +SKIP
>>> s3, key = boto3.client("s3"), tagmac.Key.from_file("my.key")                 # doctest: +SKIP
>>> tagmac.s3.upload_file(s3, "17.raw", "s3://photos/17.raw", key)          # doctest: +SKIP
>>> tagmac.s3.open_verified(s3, "s3://photos/17.raw", key).read()           # doctest: +SKIP

A tag proves that the bytes were tagged under the key, and not that they belong to this object.
Anyone who can write to the bucket can replace an object by another tagged one, or by an older
version. A sealed manifest detects that.
"""

try:
    import boto3 as _boto3  # noqa: F401
except ModuleNotFoundError:
    raise ModuleNotFoundError("tagmac.s3 needs boto3: pip install tagmac[s3]") from None

from .errors import ObjectChanged, ObjectDenied, ObjectError, ObjectMissing
from .stored import TagMissing
from .upload import Uploaded, upload_file, upload_stream
from .verified import open_verified

__all__ = [
    "ObjectChanged",
    "ObjectDenied",
    "ObjectError",
    "ObjectMissing",
    "TagMissing",
    "Uploaded",
    "open_verified",
    "upload_file",
    "upload_stream",
]
