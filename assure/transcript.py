#!/usr/bin/env python3
"""One transcript everywhere: the tags of twelve MACs under many keys are hashed to one number,
which must be the same on every CPU. The job compares the levels of this CPU and, under emulation,
other CPUs: 32 and 64 bits, both byte orders, with NEON, in WebAssembly, and on a Cortex-M4 without
an operating system.

Other CPUs run the library without `std`. Debian's rustc-web compiles it, with the library `core`
from source: nothing is downloaded through rustup. aarch64 uses NEON, and the others the portable
level. All run under qemu or wasmtime; no real machine of another kind was used."""

import argparse
import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target"))
OUT = TARGET / "transcript"
SOURCE = REPO / "assure" / "transcript"
TAGS = 96  # per round: assure/src/transcript.rs
WASMTIME = "wasmtime==50.0.1"

# Faults to compile in, by their numbers in transcript/src/lib.rs: words in the CPU's byte order,
# and numbers as wide as its pointers.
PLANTS = {"native-bytes": 1, "native-width": 2}

# A quick run tests one CPU with the other byte order and one with 32 bits.
QUICK = ("s390x", "thumbv7em")


@dataclass(frozen=True)
class Cpu:
    name: str
    target: str
    gcc: str  # links a program for it; empty if no linker is needed
    run: tuple = ()
    packages: tuple = ()


CPUS = [
    Cpu("i686", "i686-unknown-linux-gnu", "i686-linux-gnu-gcc", ("qemu-i386",),
        ("gcc-i686-linux-gnu", "libc6-dev-i386-cross")),
    Cpu("aarch64", "aarch64-unknown-linux-gnu", "aarch64-linux-gnu-gcc", ("qemu-aarch64",),
        ("gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross")),
    Cpu("riscv64", "riscv64gc-unknown-linux-gnu", "riscv64-linux-gnu-gcc", ("qemu-riscv64",),
        ("gcc-riscv64-linux-gnu", "libc6-dev-riscv64-cross")),
    Cpu("s390x", "s390x-unknown-linux-gnu", "s390x-linux-gnu-gcc", ("qemu-s390x",),
        ("gcc-s390x-linux-gnu", "libc6-dev-s390x-cross")),
    Cpu("thumbv7em", "thumbv7em-none-eabi", "", ("qemu-arm",), ("clang", "binutils-arm-none-eabi")),
    Cpu("wasm32", "wasm32-unknown-unknown", "", (), ("lld",)),
]  # fmt: skip


def command(arguments, **more):
    return subprocess.run([str(one) for one in arguments], check=True, **more)


def library(cpu):
    """Compiles the library and the transcript for a CPU, as a static library or a module."""
    kind = "cdylib" if cpu.name == "wasm32" else "staticlib"
    environment = os.environ | {"RUSTC": "/usr/bin/rustc", "RUSTC_BOOTSTRAP": "1"}
    environment["CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER"] = "wasm-ld"
    build = ["cargo", "rustc", "--quiet", "--release", "--locked", "-Zbuild-std=core"]
    build += ["--crate-type", kind, "--target", cpu.target, "--target-dir", OUT]
    command(build, cwd=SOURCE, env=environment)
    name = "transcript.wasm" if kind == "cdylib" else "libtranscript.a"
    return OUT / cpu.target / "release" / name


def wasm(module, rounds, planted):
    """Runs a module under wasmtime, from PyPI, in a separate environment."""
    python = OUT / "python"
    if not (python / "bin" / "python").exists():
        venv.create(python, with_pip=True)
        command([python / "bin" / "pip", "install", "--quiet", WASMTIME])
    script = (
        "import sys, wasmtime as w; s = w.Store(); m = w.Module.from_file(s.engine, sys.argv[1]);"
        "i = w.Instance(s, m, []); f = i.exports(s)['transcript'];"
        "print(f'{f(s, int(sys.argv[2]), int(sys.argv[3])) % 2**64:016x}')"
    )
    ran = command([python / "bin" / "python", "-c", script, module, rounds, planted], stdout=subprocess.PIPE, text=True)
    return ran.stdout.strip()


def elsewhere(cpu, rounds, planted):
    """Returns the number on a CPU of another kind."""
    built = library(cpu)
    if cpu.name == "wasm32":
        return wasm(built, rounds, planted)
    program = OUT / f"transcript-{cpu.name}"
    arguments = []
    if cpu.gcc:
        command([cpu.gcc, "-O2", "-static", SOURCE / "main.c", built, "-o", program])
        arguments = [rounds, planted]
    else:
        object_ = program.with_suffix(".o")
        clang = ["clang", f"--target={cpu.target}", "-mcpu=cortex-m4", "-Os", "-DBARE"]
        clang += ["-ffreestanding", "-fomit-frame-pointer", f"-DROUNDS={rounds}", f"-DPLANTED={planted}"]
        command([*clang, "-c", SOURCE / "main.c", "-o", object_])
        command(["arm-none-eabi-ld", "--gc-sections", object_, built, "-o", program])
    ran = command([*cpu.run, program, *arguments], stdout=subprocess.PIPE, text=True)
    return ran.stdout.strip()


def here(rounds):
    """Returns the numbers of the levels of this CPU."""
    ran = command([TARGET / "release" / "transcript", rounds], stdout=subprocess.PIPE, text=True)
    return dict(line.split() for line in ran.stdout.splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="thousands of tags on each")
    parser.add_argument("--full", action="store_true", help="a million tags on each")
    parser.add_argument("--planted", nargs="?", const="")
    options = parser.parse_args()
    if options.planted == "":
        print("\n".join(PLANTS))
        return
    rounds = 10_417 if options.full else 50
    cpus = [cpu for cpu in CPUS if options.full or cpu.name in QUICK]
    for cpu in cpus:
        command([REPO / "scripts" / "need", "rustc-web", "rust-web-src", "qemu-user", *cpu.packages])
    numbers = here(rounds)
    for cpu in cpus:
        print(f"transcript: {cpu.name}", file=sys.stderr)
        numbers[cpu.name] = elsewhere(cpu, rounds, PLANTS.get(options.planted, 0))
    expected = numbers["portable"]
    wrong = {name: number for name, number in numbers.items() if number != expected}
    print(f"note: {expected} on {', '.join(name for name in numbers if name not in wrong)}")
    for name, number in wrong.items():
        print(f"failed: {name}: expected {expected}, found {number}")
    print(f"transcript: {TAGS * rounds * len(numbers)} checked, {TAGS * rounds * len(wrong)} failed")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
