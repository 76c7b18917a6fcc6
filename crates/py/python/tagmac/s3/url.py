"""URLs of objects and of prefixes: s3://bucket/key, and s3a:// as Spark's users write it."""

from __future__ import annotations

from dataclasses import dataclass

SCHEMES = ("s3://", "s3a://")


@dataclass(frozen=True)
class Url:
    """A bucket, and a key or prefix in it, which is taken as it is: nothing is percent-decoded."""

    bucket: str
    key: str

    @staticmethod
    def parse(text: str) -> Url:
        """Takes s3://bucket/key apart."""
        for scheme in SCHEMES:
            if text.startswith(scheme):
                bucket, _, key = text[len(scheme) :].partition("/")
                if bucket:
                    return Url(bucket, key)
        raise ValueError(f"{text}: expected s3://BUCKET/KEY, found no such URL")

    @staticmethod
    def parse_object(text: str) -> Url:
        """The same of an object that is to be read or written."""
        url = Url.parse(text)
        try:
            check_key(url.key)
        except ValueError as error:
            raise ValueError(f"{shown(text)}: {error}") from None
        return url

    @staticmethod
    def parse_prefix(text: str) -> Url:
        """The same of a prefix, to which a missing slash is added: photos is not photos2."""
        url = Url.parse(text)
        return Url(url.bucket, url.key + "/" if url.key and url.key[-1] != "/" else url.key)

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}"


def check_key(key: str) -> None:
    """Refuses a key with a segment of dots. A path with one is another path by the rules for URLs, so a
    client or a proxy on the way to the store could ask for another object."""
    if any(segment in (".", "..") for segment in key.split("/")):
        raise ValueError(
            "expected a key without '.' or '..' between slashes: it cannot be asked for in a URL"
        )


def is_url(text: str) -> bool:
    """Whether a text is the URL of an object or prefix."""
    return text.startswith(SCHEMES)


def shown(name: str) -> str:
    """A name for messages: on one line, without what steers terminals."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
