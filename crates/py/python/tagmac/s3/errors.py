"""Errors about objects. Each message is one line that begins with the object's URL."""

from __future__ import annotations

import errno

from botocore.exceptions import BotoCoreError
from botocore.parsers import ResponseParserError

from .url import Url, shown

#: Exceptions that botocore itself raises, also for a response that is not valid XML.
CLIENT_FAILURES = (BotoCoreError, ResponseParserError)
#: Those of a reading request, whose response may also have a malformed number or date.
READING_FAILURES = (*CLIENT_FAILURES, ValueError)

#: Ends the message about an object that was deleted.
GONE = "it was deleted after it was listed"


class ObjectError(OSError):
    """An object cannot be read or written."""

    url: Url
    """The object."""
    reason: str
    """The reason, without the URL."""

    def __init__(self, url: Url, reason: str) -> None:
        super().__init__(f"{shown(str(url))}: {reason}")
        self.url = url
        self.reason = reason

    def __reduce__(self) -> tuple[type[ObjectError], tuple[Url, str]]:
        return type(self), (self.url, self.reason)


class ObjectChanged(ObjectError):
    """The object was changed or deleted since it was listed."""


class ObjectDenied(ObjectError):
    """Permission to read or write the object was denied."""


class ObjectMissing(ObjectError, FileNotFoundError):
    """The object does not exist."""

    def __init__(self, url: Url, reason: str = "no such object") -> None:
        super().__init__(url, reason)
        self.errno = errno.ENOENT
