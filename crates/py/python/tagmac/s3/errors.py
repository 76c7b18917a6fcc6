"""What can be wrong with an object. Each message is one line that begins with the object's URL."""

from __future__ import annotations

import errno

from botocore.exceptions import BotoCoreError
from botocore.parsers import ResponseParserError

from .url import Url, shown

#: What botocore raises by itself, for an answer that is no XML too.
CLIENT_FAILURES = (BotoCoreError, ResponseParserError)
#: The same of a request that reads: an answer may have no number or time where it should.
READING_FAILURES = (*CLIENT_FAILURES, ValueError)

#: Ends the message about an object that was deleted.
GONE = "it is gone since it was listed"


class ObjectError(OSError):
    """An object that cannot be read."""

    url: Url
    """The object."""
    reason: str
    """What is wrong with it."""

    def __init__(self, url: Url, reason: str) -> None:
        super().__init__(f"{shown(str(url))}: {reason}")
        self.url = url
        self.reason = reason

    def __reduce__(self) -> tuple[type[ObjectError], tuple[Url, str]]:
        return type(self), (self.url, self.reason)


class ObjectChanged(ObjectError):
    """The object is another one than when it was listed, or is gone."""


class ObjectDenied(ObjectError):
    """There is no permission to read the object."""


class ObjectMissing(ObjectError, FileNotFoundError):
    """There is no such object."""

    def __init__(self, url: Url, reason: str = "no such object") -> None:
        super().__init__(url, reason)
        self.errno = errno.ENOENT
