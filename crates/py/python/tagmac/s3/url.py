"""URLs of objects and prefixes: s3://bucket/key, or s3a:// as Spark writes it."""

from __future__ import annotations

from dataclasses import dataclass

SCHEMES = ("s3://", "s3a://")


@dataclass(frozen=True)
class Url:
    """A bucket and a key or prefix in it. The text is used literally, without percent-decoding."""

    bucket: str
    key: str

    @staticmethod
    def parse(text: str) -> Url:
        """Splits s3://bucket/key into bucket and key."""
        for scheme in SCHEMES:
            if text.startswith(scheme):
                bucket, _, key = text[len(scheme) :].partition("/")
                if bucket:
                    return Url(bucket, key)
        raise ValueError(f"{text}: not a URL of the form s3://BUCKET/KEY")

    @staticmethod
    def parse_object(text: str) -> Url:
        """Parses the URL of an object to read or write."""
        url = Url.parse(text)
        try:
            check_key(url.key)
        except ValueError as error:
            raise ValueError(f"{shown(text)}: {error}") from None
        return url

    @staticmethod
    def parse_prefix(text: str) -> Url:
        """Parses the URL of a prefix, and adds a missing slash: photos must not include photos2."""
        url = Url.parse(text)
        return Url(url.bucket, url.key + "/" if url.key and url.key[-1] != "/" else url.key)

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}"


def check_key(key: str) -> None:
    """Rejects a key with a segment of dots. By the rules for URLs its path is another path, so a
    client or a proxy could request another object.
    """
    if any(segment in (".", "..") for segment in key.split("/")):
        raise ValueError(
            "expected a key without '.' or '..' between slashes, which URLs cannot express"
        )


def is_url(text: str) -> bool:
    """True for the URL of an object or prefix."""
    return text.startswith(SCHEMES)


def shown(name: str) -> str:
    """Returns a name for messages: on one line, with control characters escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
