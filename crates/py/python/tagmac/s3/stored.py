"""Tags stored with objects: in an object's metadata, or in its object tags.

Only the stored bytes of the tag and the nonce are used. The algorithm, the key and the tag's length
are those of the verifier's key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import tagmac
from botocore.exceptions import ClientError

from .errors import READING_FAILURES, ObjectError
from .reading import answered, one_line
from .url import Url

TAG, NONCE, ALGORITHM, KEY_ID = "tagmac-tag", "tagmac-nonce", "tagmac-algorithm", "tagmac-key-id"


class TagMissing(ObjectError):
    """The object has no tag, or one that cannot be from this key."""


@dataclass(frozen=True)
class Stored:
    """A tag and its nonce, or None for a deterministic MAC."""

    tag: bytes
    nonce: bytes | None

    def fields(self, key: tagmac.Key) -> dict[str, str]:
        """Returns the metadata to store."""
        fields = {TAG: self.tag.hex(), ALGORITHM: key.name, KEY_ID: key.id}
        if self.nonce is not None:
            fields[NONCE] = self.nonce.hex()
        return fields


def stored_tag(client: Any, url: Url, key: tagmac.Key, head: dict[str, Any]) -> Stored:
    """Returns the tag of an object, from the metadata in its HEAD response or else from its object
    tags.
    """
    fields = {name.lower(): value for name, value in head.get("Metadata", {}).items()}
    if TAG not in fields and url.is_s3:
        # Ask for this version: the tags of another would fail with a misleading mismatch.
        version = head.get("VersionId")
        named = {"VersionId": version} if version and version != "null" else {}
        try:
            answer = client.get_object_tagging(Bucket=url.bucket, Key=url.key, **named)
        except ClientError as error:
            raise answered(url, error) from None
        except READING_FAILURES as error:
            raise ObjectError(url, one_line(error)) from None
        fields = {entry["Key"]: entry["Value"] for entry in answer.get("TagSet", [])}
    if TAG not in fields:
        raise TagMissing(url, f"the object has no tag: no {TAG} in the metadata or the object tags")
    for what, expected in ((ALGORITHM, key.name), (KEY_ID, key.id)):
        found = fields.get(what, "none")
        if found != expected:
            raise TagMissing(url, f"expected {what} {expected}, found {found[:64]!r}")
    tag = _hex(url, TAG, fields[TAG])
    if len(tag) != key.digest_size:
        raise TagMissing(url, f"expected a tag of {key.digest_size} bytes, found {len(tag)}")
    nonce = _hex(url, NONCE, fields[NONCE]) if NONCE in fields else None
    try:
        key.new(nonce=nonce)
    except ValueError as error:
        raise TagMissing(url, f"{NONCE}: {error}") from None
    return Stored(tag, nonce)


def without_ours(fields: Mapping[str, str]) -> dict[str, str]:
    """Returns a caller's metadata or object tags without those that an upload writes. If copied
    from another object, they would be about that object.
    """
    ours = (TAG, NONCE, ALGORITHM, KEY_ID)
    return {name: value for name, value in fields.items() if name.lower() not in ours}


def _hex(url: Url, what: str, text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise TagMissing(url, f"{what}: expected hex digits, found {text[:64]!r}") from None
