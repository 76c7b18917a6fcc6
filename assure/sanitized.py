"""Builds programs of assure/ with a sanitizer, and the C library in the same way.

The sanitizers' runtimes ship with the stable compiler, which has an option to use them for its own
tests. AddressSanitizer treats the standard library like any other library. The other two need to
see inside it: otherwise ThreadSanitizer reports each of its locks, channels and joins as a race,
and MemorySanitizer reports its output as unwritten. Debian's rustc-web has the source of its
standard library, and builds it with the sanitizer.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target")).resolve()
# Kernels need some optimisation to keep their shape, and all assertions stay in.
CHECKED = {
    "inherits": '"dev"',
    "opt-level": "1",
    "debug": "false",
    "incremental": "false",
    "codegen-units": "2",
}
PROFILES = {"address": CHECKED, "memory": CHECKED, "thread": {"inherits": '"release"'}}


def said_by(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def host():
    """Returns the host triple. Building for an explicit target keeps build scripts free of
    sanitizers."""
    return re.search(r"^host: (\S+)$", said_by("rustc", "-vV"), re.M)[1]


def with_source(folder, sanitizer):
    """Sets up a compiler with its standard library's source and the sanitizer's runtime. Returns it
    and its linker options."""
    subprocess.run([REPO / "scripts/need", "rustc-web", "rust-web-src"], check=True)
    ours = Path(said_by("rustc", "--print", "sysroot").strip()) / "lib/rustlib"
    debians = Path("/usr/lib/rustlib")
    # Both in one sysroot: the compiler looks for the runtime next to the standard library.
    shutil.rmtree(folder, ignore_errors=True)
    libraries = folder / "lib/rustlib" / host() / "lib"
    libraries.mkdir(parents=True)
    (folder / "lib/rustlib/src").symlink_to(debians / "src")
    runtime = f"librustc-stable_rt.{sanitizer}.a"
    for file in [*(debians / host() / "lib").iterdir(), ours / host() / "lib" / runtime]:
        (libraries / file.name).symlink_to(file)
    compiler = folder / "rustc"
    compiler.write_text(f'#!/bin/sh\nexec /usr/bin/rustc --sysroot "{folder}" "$@"\n')
    compiler.chmod(0o755)
    # The runtime refers to functions of old versions of the C library; only this linker finds them.
    linker = ours / host() / "bin/gcc-ld"
    return str(compiler), f" -Clink-arg=-fuse-ld=lld -Clink-arg=-B{linker}"


def build(program, sanitizer):
    """Builds a program and the C library with the sanitizer `address`, `memory` or `thread`.
    Returns the program."""
    target = TARGET / "assure" / f"{program}-{sanitizer}"
    # The library uses the sanitizer's functions in the program that loads it.
    flags = f"-Zsanitizer={sanitizer} -Cforce-frame-pointers=yes -Clink-arg=-rdynamic"
    environment = dict(os.environ, CARGO_TARGET_DIR=str(target), RUSTC_BOOTSTRAP="1", TAGMAC_SANITIZER=sanitizer)
    command = ["cargo", "build", "--quiet", "--locked", "--target", host(), "--profile", "sanitized"]
    command += ["-p", "assure", "--bin", program, "--no-default-features", "-p", "tagmac-capi", "--lib"]
    for key, value in PROFILES[sanitizer].items():
        command += ["--config", f"profile.sanitized.{key}={value}"]
    if sanitizer != "address":
        environment["RUSTC"], links = with_source(target / "sysroot", f"{sanitizer[0]}san")
        flags += links
        command += ["-Zbuild-std=std,panic_unwind"]
    environment["RUSTFLAGS"] = flags
    if subprocess.run(command, cwd=REPO, env=environment).returncode != 0:
        sys.exit(f"{program}: the program with {sanitizer} sanitizer does not build")
    return target / host() / "sanitized" / program


@dataclass
class Ran:
    """Results of a program: checks, failures and its other output, which has the sanitizer's
    reports."""

    checked: int
    failed: int
    notes: list
    failures: list
    said: str


def run(program, arguments):
    # Leaks are not undefined behaviour, and these processes end without cleaning up.
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    ran = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True)
    lines = ran.stdout.splitlines()
    result = re.compile(rf"{program.name}: (?P<checked>\d+) checked, (?P<failed>\d+) failed")
    found = result.fullmatch(lines[-1]) if lines else None
    if found is None:
        sys.exit(f"{program.name}: expected 'N checked, M failed' last, found {ran.stdout!r} {ran.stderr!r}")
    # Shown to readers, except for planted bugs, which print it too.
    if "--planted" not in arguments:
        sys.stderr.write(ran.stderr)
    notes = [line for line in lines if line.startswith("note: ")]
    failures = [line for line in lines if line.startswith("failed: ")]
    return Ran(int(found["checked"]), int(found["failed"]), notes, failures, ran.stderr)


def planted(arguments):
    """Returns the bug to plant, or `None` for a normal run. Exits unless the arguments are those of
    a job."""
    if arguments[:2] == ["--quick", "--planted"] and len(arguments) == 3:
        return arguments[2]
    if arguments not in (["--quick"], ["--full"]):
        sys.exit("expected --quick [--planted NAME], --full or --planted")
    return None


def finish(job, rans):
    """Prints the results of all programs together. Returns the exit status."""
    for kind in ("notes", "failures"):
        for line in [line for ran in rans for line in getattr(ran, kind)]:
            print(line)
    failed = sum(ran.failed for ran in rans)
    print(f"{job}: {sum(ran.checked for ran in rans)} checked, {failed} failed")
    return 1 if failed else 0
