#!/usr/bin/env python3
"""Concurrency: threads, forks and a C library that comes and goes; and ThreadSanitizer on what threads share.

The program `concurrency` of the crate explores models of the small state machines in every order, and runs
the library with up to 64 threads, in forked children and as a C library that is loaded and unloaded. The same
threads then run in a program that is built with ThreadSanitizer: the library and its dependencies are
instrumented, the standard library is not, so that no source of it is needed."""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target")).resolve()
RELEASE = TARGET / "release"
PROJECT = TARGET / "tsan"
TRIPLE = "x86_64-unknown-linux-gnu"

# Of ThreadSanitizer's run; the program names its own.
PLANTS = ["race"]

MANIFEST = """[package]
name = "tsan"
version = "0.0.0"
edition = "2024"

[workspace]

[[bin]]
name = "tsan"
path = "{repo}/assure/src/bin/concurrency/tsan.rs"

[dependencies]
tagmac = {{ path = "{repo}/crates/tagmac", features = ["dynamic", "threads"] }}

[profile.release]
opt-level = 1
debug = "line-tables-only"
"""

# What the standard library orders by fences and system calls, of which an instrumented program sees nothing
# where that library is not instrumented itself.
SUPPRESSIONS = """race:std::sync
race:alloc::sync::Arc
race:core::sync
race:std::thread
race:std::io
race:std::sys
"""


def in_process(arguments):
    """The program's own figures, its notes and its failures."""
    ran = subprocess.run([RELEASE / "concurrency", *arguments], stdout=subprocess.PIPE, text=True)
    *lines, last = ran.stdout.splitlines()
    found = re.fullmatch(r"concurrency-in-process: (\d+) checked, (\d+) failed", last)
    shown = [line[8:] for line in lines if line.startswith("failed: ")]
    for line in lines:
        if line.startswith("note: "):
            print(line)
    return int(found[1]), shown + ["and more"] * (int(found[2]) - len(shown))


def build():
    """The program with ThreadSanitizer, by the compiler at hand."""
    PROJECT.mkdir(parents=True, exist_ok=True)
    (PROJECT / "Cargo.toml").write_text(MANIFEST.format(repo=REPO))
    (PROJECT / "Cargo.lock").write_text((REPO / "Cargo.lock").read_text())
    (PROJECT / "suppressions").write_text(SUPPRESSIONS)
    flags = "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer"
    environment = os.environ | {"RUSTC_BOOTSTRAP": "1", "RUSTFLAGS": flags, "CARGO_TARGET_DIR": str(PROJECT / "target")}
    command = ["cargo", "build", "--quiet", "--release", "--target", TRIPLE, "--manifest-path", PROJECT / "Cargo.toml"]
    subprocess.run(command, env=environment, check=True, stdout=sys.stderr)
    return PROJECT / "target" / TRIPLE / "release" / "tsan"


def sanitized(program, threads, rounds, planted):
    """What ThreadSanitizer and the program say of some threads."""
    options = f"suppressions={PROJECT / 'suppressions'} halt_on_error=0 exitcode=66 history_size=4"
    # The sanitizer maps memory at fixed places.
    command = ["setarch", "-R", str(program), str(threads), str(rounds), planted]
    ran = subprocess.run(command, env=os.environ | {"TSAN_OPTIONS": options}, capture_output=True, text=True)
    found = re.search(r"tsan: (\d+) checked, (\d+) failed", ran.stdout)
    if found is None:
        return 1, [f"{threads} threads: expected a result, found status {ran.returncode}: {ran.stderr[-200:]!r}"]
    races = re.findall(r"WARNING: ThreadSanitizer: (.*) \(pid.*\)", ran.stderr)
    places = re.findall(r"SUMMARY: ThreadSanitizer: (.*)", ran.stderr)
    failures = [f"{threads} threads: {place}" for place in places or races]
    failures += [line[8:] for line in ran.stdout.splitlines() if line.startswith("failed: ")]
    if ran.returncode != 0 and not failures:
        failures.append(f"{threads} threads: expected status 0, found {ran.returncode}: {ran.stderr[-200:]!r}")
    return int(found[1]) + 1, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--planted", nargs="?", const="")
    options = parser.parse_args()
    if options.planted == "":
        own = subprocess.run([RELEASE / "concurrency", "--planted"], stdout=subprocess.PIPE, text=True, check=True)
        print(own.stdout + "\n".join(PLANTS))
        return
    checked, failures = 0, []
    if options.planted not in PLANTS:
        plant = ["--planted", options.planted] if options.planted else []
        checked, failures = in_process(["--full" if options.full else "--quick", *plant])
    if not options.planted or options.planted in PLANTS:
        program, seen = build(), 0
        for threads in (2, 8, 64) if options.full else (4,):
            more, races = sanitized(program, threads, 5 if options.full else 1, options.planted or "none")
            checked, seen, failures = checked + more, seen + more, failures + races
        print(f"note: {seen} of the checks ran under ThreadSanitizer, with a standard library without it")
    for failure in failures[:10]:
        print(f"failed: {failure}")
    print(f"concurrency: {checked} checked, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
