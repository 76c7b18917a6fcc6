"""Shipped products, the folders where they are built, and how the job `supply` runs programs."""

import os
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target")).resolve()
WORK = TARGET / "supply"

C_PACKAGES = ["tagmac-capi", "tagmac-nettle", "tagmac-nettle4", "tagmac-ossl"]
PRODUCTS = ["tagmac-cli", *C_PACKAGES, "tagmac-py"]
PLATFORM = "x86_64-unknown-linux-gnu"


def run(*command, env=None, cwd=REPO):
    done = subprocess.run(
        command, cwd=cwd, env=os.environ | (env or {}), capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.stderr.write(done.stderr[-4000:])
        raise SystemExit(f"supply: {' '.join(map(str, command[:4]))} failed")
    return done.stdout
