"""URLs of objects and prefixes: s3://bucket/key, or s3a:// as Spark writes it, gs:// and az://."""

from __future__ import annotations

from dataclasses import dataclass

#: The schemes, and the name of each store.
SCHEMES = {"s3://": "s3", "s3a://": "s3", "gs://": "gs", "az://": "az"}


@dataclass(frozen=True)
class Url:
    """A bucket and a key or prefix in it. The text is used literally, without percent-decoding."""

    bucket: str
    key: str
    scheme: str = "s3"

    @staticmethod
    def parse(text: str) -> Url:
        """Splits s3://bucket/key into store, bucket and key."""
        for start, scheme in SCHEMES.items():
            if text.startswith(start):
                bucket, _, key = text[len(start) :].partition("/")
                if bucket:
                    return Url(bucket, key, scheme)
        raise ValueError(
            f"{text}: not a URL of the form s3://BUCKET/KEY, gs://BUCKET/KEY or az://CONTAINER/KEY"
        )

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
        return url.at(url.key + "/" if url.key and url.key[-1] != "/" else url.key)

    @staticmethod
    def below(root: str, key: str) -> Url:
        """Returns the URL of a key in the bucket with this root."""
        scheme, _, bucket = root.rpartition("://")
        return Url(bucket, key, scheme or "s3")

    @property
    def root(self) -> str:
        """The bucket's name, with the scheme unless it is s3://."""
        return self.bucket if self.is_s3 else f"{self.scheme}://{self.bucket}"

    @property
    def is_s3(self) -> bool:
        """True for S3, which boto3 reads."""
        return self.scheme == "s3"

    def at(self, key: str) -> Url:
        """Returns the URL of another key in the bucket."""
        return Url(self.bucket, key, self.scheme)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.bucket}/{self.key}"


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
    return text.startswith(tuple(SCHEMES))


def shown(name: str) -> str:
    """Returns a name for messages: on one line, with control characters escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
