"""Prints tags by `reference/`, and of HMAC by hashlib: one for each line `ALGORITHM KEY NONCE
MESSAGE`, in hex and separated by single spaces."""

import hmac
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "reference"))

from algorithms import ALGORITHMS  # noqa: E402


def main():
    for line in sys.stdin:
        name, *fields = line.rstrip("\n").split(" ")
        key, nonce, message = map(bytes.fromhex, fields)
        if name == "HMAC-SHA256":
            tag = hmac.digest(key, message, "sha256")
        else:
            algorithm = ALGORITHMS[name]
            takes_nonce = algorithm.nonce_bytes is not None
            tag = algorithm(key, message, nonce=nonce if takes_nonce else None)
        print(tag.hex())


if __name__ == "__main__":
    main()
