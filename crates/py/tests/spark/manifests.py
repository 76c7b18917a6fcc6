"""Helpers for the contents of manifests."""

from pathlib import Path

import tagmac
from tagmac import _tagmac

KEY, OTHER = tagmac.Key(bytes(range(100, 116))), tagmac.Key(bytes(range(16)))


def key_text(key: tagmac.Key, folder: Path) -> str:
    """The text of a key file."""
    path = folder / "a-key"
    key.save(path)
    try:
        return path.read_text()
    finally:
        path.unlink()


def entries(key: tagmac.Key, folder: Path) -> list[tuple[bytes, int, bytes, bytes]]:
    """The objects of a manifest in a folder: names, sizes, tags, nonces."""
    found = []
    records, version, *_ = _tagmac.root_open(key, (folder / "root").read_bytes())
    for record in records:
        text = (folder / _tagmac.shard_name(record)).read_bytes()
        columns = _tagmac.shard_open(key, record, text, version=version)
        found += zip(*columns[:4], strict=True)
    return found


def check(key: tagmac.Key, folder: Path, objects: dict[str, bytes]) -> None:
    """Asserts that a manifest contains exactly these objects."""
    found = entries(key, folder)
    assert [name for name, *_ in found] == sorted(name.encode() for name in objects)
    for name, size, tag, nonce in found:
        data = objects[name.decode()]
        assert size == len(data)
        key.verify(data, tag, nonce or None)


def files(folder: Path) -> dict[str, bytes]:
    """All files in a folder and their contents."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def data(size: int, seed: int = 0) -> bytes:
    """Bytes that differ at every offset."""
    block = b"".join((seed * 1_000_003 + n).to_bytes(4, "little") for n in range(1021))
    return (block * (size // len(block) + 1))[:size]


def fill(s3, bucket: str, objects: dict[str, bytes]) -> None:
    """Puts objects into a bucket."""
    for name, body in objects.items():
        s3.put_object(Bucket=bucket, Key=name, Body=body)
