#!/usr/bin/env python3
"""Fuzzing with coverage: inputs that reach new code are kept and changed further.

`assure/targets` has a function for each thing that parses or has state, which panics where an answer is
wrong. `assure/fuzz` runs one of them under libFuzzer, built by the stable compiler with counters on each
edge and each comparison, with overflow checks and debug assertions. This job begins with the seeds and the
corpus of `assure/targets`, and fails on a panic, on 192 MiB of memory asked for or 256 MiB in use, on a run of
20 seconds, and on a parser that is far slower than it should be. Inputs that failed stay in
`target/fuzz/artifacts`.

`--quick` makes a fixed number of runs from a fixed seed; `--full` runs each target for 35 minutes, or for as
many seconds as TAGMAC_FUZZ_SECONDS has, and keeps what it finds in `target/fuzz/found`. It goes on from there
next time, and adds its time to `assure/fuzzed.json`, which has that of all full runs. `--pack` puts what is found
into the corpus in the tree, minimised; each such input is a test from then on.

An instance of a bug that needs more luck than the runs have is not found, and code that no target calls is not
tried: what reads files, threads and stores is in other jobs.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "fuzz"
CORPUS = ROOT / "assure" / "targets" / "corpus"
FUZZED = ROOT / "assure" / "fuzzed.json"
FLAGS = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
]
# Seconds of a target in a full run: all of them take 8 hours of a core.
SECONDS = int(os.environ.get("TAGMAC_FUZZ_SECONDS", 2100))
# Runs of a parser in a second of CPU time. On the machine of the record they are 50,000 and more.
FLOOR = 10_000
# Bytes of an input that is kept in the tree, and of all inputs of a target there.
LONGEST = 600
ROOM = 24_000


def build():
    """The program."""
    host = re.search(r"host: (.*)", subprocess.run(["rustc", "-vV"], stdout=subprocess.PIPE, text=True).stdout)[1]
    environment = os.environ | {"RUSTFLAGS": " ".join(FLAGS), "CARGO_TARGET_DIR": str(TARGET)}
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--target", host]
    manifest = ["--manifest-path", ROOT / "assure" / "fuzz" / "Cargo.toml"]
    subprocess.run(command + manifest, check=True, env=environment)
    return TARGET / host / "release" / "fuzz"


def unpack(program, folder, only=""):
    """Seeds and corpus of all targets, or of one, as files. Gives name, longest input, quick runs, whether it parses."""
    shutil.rmtree(folder / only, ignore_errors=True)
    environment = os.environ | {"TAGMAC_FUZZ_UNPACK": str(folder), "TAGMAC_FUZZ_TARGET": only}
    ran = subprocess.run([program], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    rows = [line.split() for line in ran.stdout.splitlines()]
    return [(name, int(longest), int(runs), parses == "true") for name, longest, runs, parses in rows]


class Run:
    """A target under libFuzzer, and what came of it."""

    def __init__(self, program, target, folders, options, plant=None):
        name, longest, self.quick, self.parses = target
        self.name = name
        artifacts = TARGET / "artifacts"
        artifacts.mkdir(parents=True, exist_ok=True)
        environment = os.environ | {"TAGMAC_FUZZ_TARGET": name}
        if plant:
            environment["TAGMAC_FUZZ_PLANT"] = plant
        command = [
            program, f"-max_len={longest}", "-timeout=20", "-rss_limit_mb=256", "-print_final_stats=1",
            f"-artifact_prefix={artifacts}/{name}-", *options, *folders,
        ]  # fmt: skip
        begin = time.monotonic()
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as ran:
            said = ran.stderr.read().decode(errors="replace")
            _, status, used = os.wait4(ran.pid, 0)
            ran.returncode = os.waitstatus_to_exitcode(status)
        self.code, self.said = ran.returncode, said
        self.seconds, self.cpu = time.monotonic() - begin, used.ru_utime + used.ru_stime
        counts = re.findall(r"stat::number_of_executed_units: (\d+)", said) or re.findall(r"#(\d+)\t", said)
        self.runs = int(counts[-1]) if counts else 0
        edges = re.findall(r" cov: (\d+) ft: (\d+) corp: (\d+)", said)
        self.edges, self.features, self.kept = map(int, edges[-1]) if edges else (0, 0, 0)

    def rate(self):
        return int(self.runs / max(self.cpu, 0.01))

    def why(self):
        """Why it is red, in a line."""
        panic = re.search(r"panicked at (\S+?):?\n((?:.*\n){1,4})", self.said)
        if panic:
            text = " ".join(panic[2].split("note:")[0].split("stack backtrace")[0].split("\n==")[0].split())
            return f"{self.name}: {panic[1].removeprefix(str(ROOT) + '/')}: {text[:200]}"
        summary = re.search(r"SUMMARY: (.*)", self.said)
        tail = self.said.strip().splitlines()[-1:]
        return f"{self.name}: {summary[1] if summary else ' '.join(tail)}"


LOCK = threading.Lock()


def keep(ran):
    """Adds a target's full run to those before."""
    with LOCK:
        fuzzed = json.loads(FUZZED.read_text()) if FUZZED.exists() else {}
        row = fuzzed.setdefault(ran.name, {"runs": 0, "cpu_seconds": 0})
        row["runs"] += ran.runs
        row["cpu_seconds"] += round(ran.cpu)
        rows = [f' "{name}": {json.dumps(row)}' for name, row in sorted(fuzzed.items())]
        FUZZED.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    return fuzzed


def escaped(data):
    """As Rust's escape_ascii."""
    named = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r", 0x22: '\\"', 0x27: "\\'", 0x5C: "\\\\"}
    return "".join(named.get(b) or (chr(b) if 0x20 <= b < 0x7F else f"\\x{b:02x}") for b in data)


def pack(program, targets):
    """Minimises what was found into the tree: small inputs first, as long as there is room."""
    for target in targets:
        name = target[0]
        folders = [TARGET / folder / name for folder in ("corpus", "found", "found-quick")]
        small = TARGET / "small" / name
        merged = TARGET / "merged" / name
        for folder in (small, merged):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        for folder in folders:
            for file in folder.glob("*") if folder.exists() else []:
                if file.stat().st_size <= LONGEST:
                    shutil.copy(file, small)
        ran = Run(program, target, [merged, small], ["-merge=1"])
        if ran.code != 0:
            sys.exit(f"fuzz: {ran.why()}")
        inputs = sorted((file.read_bytes() for file in merged.iterdir()), key=lambda data: (len(data), data))
        text, count = "", 0
        for line in map(escaped, inputs):
            if len(text) + len(line) < ROOM:
                text, count = f"{text}{line}\n", count + 1
        CORPUS.mkdir(exist_ok=True)
        (CORPUS / name).write_text(text)
        print(f"{name}: {count} of {len(inputs)} inputs, {len(text)} bytes")


def main():
    plants = dict(
        (name, target)
        for name, target in re.findall(
            r'\(Plant::\w+, "([a-z-]+)", "([a-z]+)"\)', (ROOT / "assure/targets/src/plant.rs").read_text()
        )
    )
    arguments = sys.argv[1:]
    if arguments == ["--planted"]:
        print("\n".join(plants))
        return 0
    plant = arguments[2] if arguments[:2] == ["--quick", "--planted"] and len(arguments) == 3 else None
    packs = arguments[:1] == ["--pack"]
    if not (arguments in (["--quick"], ["--full"]) or plant in plants or packs):
        print("usage: fuzz.py --quick [--planted NAME] | --full | --planted | --pack [TARGET...]", file=sys.stderr)
        return 2
    program = build()
    targets = unpack(program, TARGET / "corpus", plants[plant] if plant else "")
    if packs:
        pack(program, [target for target in targets if target[0] in arguments[1:] or not arguments[1:]])
        return 0
    full = arguments == ["--full"]

    def run(target):
        name = target[0]
        found = TARGET / ("found" if full else "found-quick") / name
        if not full:
            shutil.rmtree(found, ignore_errors=True)
        found.mkdir(parents=True, exist_ok=True)
        options = [f"-max_total_time={SECONDS}"] if full else [f"-runs={target[2]}", "-seed=1"]
        return Run(program, target, [found, TARGET / "corpus" / name], options, plant)

    workers = len(os.sched_getaffinity(0)) if full else 1
    checked, cpu, failures = 0, 0.0, []
    with ThreadPoolExecutor(workers) as pool:
        for ran in pool.map(run, targets):
            checked += ran.runs
            cpu += ran.cpu
            if full:
                fuzzed = keep(ran)
            print(
                f"note: {ran.name}: {ran.runs} runs, {ran.rate()} a second of CPU time, {ran.edges} edges, "
                f"{ran.features} features",
                flush=True,
            )
            if ran.code != 0:
                failures.append(ran.why())
            elif ran.parses and ran.rate() < FLOOR:
                failures.append(f"{ran.name}: expected {FLOOR} runs a second at least, found {ran.rate()}")
            elif not full and ran.runs < ran.quick:
                failures.append(f"{ran.name}: expected {ran.quick} runs, found {ran.runs}")
            if plant:
                print(f"note: {plant}: {'found' if ran.code else 'not found'} after {ran.runs} runs, {ran.cpu:.1f} s")
    print(f"note: {cpu / 60:.0f} minutes of CPU time in all" if full else f"note: {cpu:.0f} s of CPU time in all")
    if full:
        runs, seconds = (sum(row[what] for row in fuzzed.values()) for what in ("runs", "cpu_seconds"))
        print(f"note: all full runs on record: {runs:,} runs in {seconds / 3600:.1f} hours of CPU time")
    for failure in failures:
        print(f"failed: {failure}")
    print(f"fuzz: {checked} checked, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
