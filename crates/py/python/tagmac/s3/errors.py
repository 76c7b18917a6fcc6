"""What can be wrong with an object. Each message is one line that begins with the object's URL."""

from __future__ import annotations

from .url import Url, shown

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
