#!/usr/bin/env python3
"""Undefined behaviour: guard pages, AddressSanitizer and assertions, on the same work.

The program `memory` (src/bin/memory) is there twice. `cargo build --release` makes the one with guard
pages, beside the C library that users get. This script builds the other one, and a C library of the
same kind, with AddressSanitizer, debug assertions, checks of overflow and the standard library's checks
of what unsafe code promises. Both must find each planted bug that they can find.

    memory.py --quick [--planted NAME] | --full | --planted
"""

import os
import re
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target")).resolve()
SANITIZED = TARGET / "assure" / "memory"
# Kernels need some optimisation to be of the same shape, and none of the assertions to be left out.
PROFILE = {
    "inherits": '"dev"',
    "opt-level": "1",
    "debug": "false",
    "incremental": "false",
    "codegen-units": "2",
}
RESULT = re.compile(r"memory: (?P<checked>\d+) checked, (?P<failed>\d+) failed")


def host():
    """The name of this kind of machine: with a target, build scripts have no sanitizer."""
    said = subprocess.run(["rustc", "-vV"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.search(r"^host: (\S+)$", said, re.M)[1]


def build():
    """Builds the sanitized program and library; the name of the folder that they are in."""
    # The sanitizers come with the stable compiler, which has their option for its own tests.
    environment = dict(os.environ, CARGO_TARGET_DIR=str(SANITIZED), RUSTC_BOOTSTRAP="1")
    # The library finds the sanitizer's functions in the program that loads it.
    environment["RUSTFLAGS"] = "-Zsanitizer=address -Cforce-frame-pointers=yes -Clink-arg=-rdynamic"
    command = ["cargo", "build", "--quiet", "--locked", "--profile", "sanitized", "--target", host()]
    command += ["-p", "assure", "--bin", "memory", "--no-default-features", "-p", "tagmac-capi", "--lib"]
    for key, value in PROFILE.items():
        command += ["--config", f"profile.sanitized.{key}={value}"]
    if subprocess.run(command, cwd=REPO, env=environment).returncode != 0:
        sys.exit("memory: the sanitized program does not build")
    return SANITIZED / host() / "sanitized"


def run(folder, arguments):
    """What a program has checked, how many failed, its notes and its failures."""
    # Leaks are no undefined behaviour, and processes here end where they are.
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    ran = subprocess.run([folder / "memory", *arguments], env=environment, capture_output=True, text=True)
    lines = ran.stdout.splitlines()
    found = RESULT.fullmatch(lines[-1]) if lines else None
    if found is None:
        sys.exit(f"memory: expected 'memory: N checked, M failed' last, found {ran.stdout!r} {ran.stderr!r}")
    # What the sanitizer or a panic says, for readers; planted bugs say it too.
    if "--planted" not in arguments:
        sys.stderr.write(ran.stderr)
    notes = [line for line in lines if line.startswith("note: ")]
    failures = [line for line in lines if line.startswith("failed: ")]
    said = re.search(r"ERROR: AddressSanitizer: (\S+)|panicked at [^\n]*\n([^\n]*)", ran.stderr)
    if said and failures:
        failures[0] += f" ({said[1] or said[2]})"
    return int(found["checked"]), int(found["failed"]), notes, failures


def names(folder):
    """The planted bugs of a program."""
    ran = subprocess.run([folder / "memory", "--planted"], capture_output=True, text=True, check=True)
    return ran.stdout.split()


def main():
    arguments = sys.argv[1:]
    folders = [TARGET / "release", build()]
    if arguments == ["--planted"]:
        print("\n".join(dict.fromkeys(name for folder in folders for name in names(folder))))
        return 0
    planted = arguments[2] if arguments[:2] == ["--quick", "--planted"] and len(arguments) == 3 else None
    if planted:
        folders = [folder for folder in folders if planted in names(folder)]
    if not folders or not planted and arguments not in (["--quick"], ["--full"]):
        sys.exit("usage: memory.py --quick [--planted NAME] | --full | --planted")
    found = [run(folder, arguments) for folder in folders]
    checked, failed = (sum(one[i] for one in found) for i in (0, 1))
    if planted and not all(one[1] for one in found):
        # One of the programs is blind to it.
        checked, failed = checked + failed, 0
    for line in [line for i in (2, 3) for one in found for line in one[i]]:
        print(line)
    print(f"memory: {checked} checked, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
