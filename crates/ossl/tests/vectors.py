#!/usr/bin/env python3
"""Checks the rows of vectors/ with the command `openssl mac` and the provider. Reads the output of
scripts/flat-vectors from standard input. OPENSSL_CONF or OPENSSL_MODULES must lead to the provider.

    scripts/flat-vectors | crates/ossl/tests/vectors.py
"""

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Longer messages are left to the tests in Rust and C, because each row needs a file and a process
# here.
MOST = 1 << 18


def message(text):
    """Returns the message; None if it is too long."""
    unit, _, total = text.partition("*")
    if text == "-":
        return b""
    if not total:
        return bytes.fromhex(unit)
    total = int(total)
    unit = bytes.fromhex(unit)
    return None if total > MOST else (unit * (total // len(unit) + 1))[:total]


def listed():
    """Returns the names of the provider's MACs, as OpenSSL lists them."""
    command = ["openssl", "list", "-mac-algorithms", "-provider", "tagmac"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    names = set()
    for line in lines:
        if line.endswith("@ tagmac"):
            text = line.removesuffix("@ tagmac").strip().removeprefix("{").removesuffix("}")
            names |= {name.strip(" {}").upper() for name in text.split(",")}
    return names


def check(row, folder, names):
    """Checks a row and returns 1; returns 0 if it is left out."""
    number, line = row
    name, key, nonce, text, tag, bits, what = line.split()
    data = message(text)
    if name not in names or data is None or int(bits) % 8:
        return 0
    path = Path(folder) / str(number)
    path.write_bytes(data)
    # OpenSSL 3.0 accepts keys only as arguments; these keys are public.
    command = ["openssl", "mac", "-provider", "tagmac", "-provider", "default", "-in", path]
    command += ["-macopt", "hexkey:" + key.replace("-", "")]
    command += ["-macopt", "hexiv:" + nonce] if nonce != "-" else []
    if what != "key":
        command += ["-macopt", f"size:{int(bits) // 8}"]
    run = subprocess.run([*command, name], capture_output=True, text=True)
    path.unlink()
    found = run.stdout.strip().lower() if run.returncode == 0 else None
    if what == "key" or found is None:
        if found is None and what == "key":
            return 1
        sys.exit(f"{line}: found {found} {run.stderr}")
    if (found == tag) != (what == "valid"):
        sys.exit(f"{line}: found {found}")
    return 1


def main():
    names = listed()
    rows = list(enumerate(sys.stdin))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
        checked = sum(pool.map(lambda row: check(row, folder, names), rows))
    if checked < 1750:
        sys.exit(f"expected at least 1750 rows, found {checked}")
    print(f"{checked} rows by openssl mac, {len(rows) - checked} left out; {len(names)} names")


if __name__ == "__main__":
    main()
