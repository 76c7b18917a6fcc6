#!/usr/bin/env python3
"""Fuzzing with coverage: inputs that reach new code are kept and mutated further.

`assure/targets` has a function for each parser and each stateful type, which panics if a result is
wrong. `assure/fuzz` runs one of them under libFuzzer. The stable compiler builds it with counters
on each edge and each comparison, with overflow checks and debug assertions. The job starts from the
seeds and the corpus of `assure/targets`. It fails on a panic, an allocation beyond 192 MiB, use of
more than 256 MiB, a run of 20 seconds, or a parser far below its usual speed. Inputs that failed
stay in `target/fuzz/artifacts`.

`--quick` makes a fixed number of runs from a fixed seed. `--full` runs each target for 35 minutes,
or for TAGMAC_FUZZ_SECONDS seconds. A target with less time on record than most others gets more, at
most twice as much. New inputs stay in `target/fuzz/found`, where the next run continues. The run
adds its time to `assure/fuzzed.json`, the total of all full runs. `--pack` minimises the new inputs
into the corpus in the tree; from then on each is a test.

A bug that needs more luck than the runs had is not found. Code that no target calls is not tested:
other jobs cover files, threads and stores.
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
# Seconds for each target in a full run: 8 core hours for all of them.
SECONDS = int(os.environ.get("TAGMAC_FUZZ_SECONDS", 2100))
# Runs of a parser per second of CPU time. The recorded machine reaches 50,000 and more.
FLOOR = 10_000
# Bytes of one input in the tree, and of all inputs of one target there.
LONGEST = 600
ROOM = 24_000


def build():
    """Builds the fuzzer."""
    host = re.search(r"host: (.*)", subprocess.run(["rustc", "-vV"], stdout=subprocess.PIPE, text=True).stdout)[1]
    environment = os.environ | {"RUSTFLAGS": " ".join(FLAGS), "CARGO_TARGET_DIR": str(TARGET)}
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--target", host]
    manifest = ["--manifest-path", ROOT / "assure" / "fuzz" / "Cargo.toml"]
    subprocess.run(command + manifest, check=True, env=environment)
    return TARGET / host / "release" / "fuzz"


def unpack(program, folder, only=""):
    """Writes seeds and corpus of all targets, or of one, as files. Returns name, longest input,
    quick runs and whether it is a parser."""
    shutil.rmtree(folder / only, ignore_errors=True)
    environment = os.environ | {"TAGMAC_FUZZ_UNPACK": str(folder), "TAGMAC_FUZZ_TARGET": only}
    ran = subprocess.run([program], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    rows = [line.split() for line in ran.stdout.splitlines()]
    return [(name, int(longest), int(runs), parses == "true") for name, longest, runs, parses in rows]


class Run:
    """A target under libFuzzer, and the result."""

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
        """Returns the reason for a failure, in one line."""
        panic = re.search(r"panicked at (\S+?):?\n((?:.*\n){1,4})", self.said)
        if panic:
            text = " ".join(panic[2].split("note:")[0].split("stack backtrace")[0].split("\n==")[0].split())
            return f"{self.name}: {panic[1].removeprefix(str(ROOT) + '/')}: {text[:200]}"
        summary = re.search(r"SUMMARY: (.*)", self.said)
        tail = self.said.strip().splitlines()[-1:]
        return f"{self.name}: {summary[1] if summary else ' '.join(tail)}"


LOCK = threading.Lock()


def keep(ran):
    """Adds the full run of a target to its totals."""
    with LOCK:
        fuzzed = json.loads(FUZZED.read_text()) if FUZZED.exists() else {}
        row = fuzzed.setdefault(ran.name, {"runs": 0, "cpu_seconds": 0})
        row["runs"] += ran.runs
        row["cpu_seconds"] += round(ran.cpu)
        rows = [f' "{name}": {json.dumps(row)}' for name, row in sorted(fuzzed.items())]
        FUZZED.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    return fuzzed


def full_seconds(name):
    """Returns the time of a target in a full run: a newer target catches up with the others."""
    fuzzed = json.loads(FUZZED.read_text()) if FUZZED.exists() else {}
    spent = sorted(row["cpu_seconds"] for row in fuzzed.values())
    middle = spent[len(spent) // 2] if spent else 0
    own = fuzzed.get(name, {"cpu_seconds": 0})["cpu_seconds"]
    return SECONDS + min(SECONDS, max(0, middle - own))


def escaped(data):
    """Escapes like Rust's `escape_ascii`."""
    named = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r", 0x22: '\\"', 0x27: "\\'", 0x5C: "\\\\"}
    return "".join(named.get(b) or (chr(b) if 0x20 <= b < 0x7F else f"\\x{b:02x}") for b in data)


def pack(program, targets):
    """Minimises new inputs into the tree, small ones first, while there is room."""
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
    seconds = {target[0]: full_seconds(target[0]) for target in targets}

    def run(target):
        name = target[0]
        found = TARGET / ("found" if full else "found-quick") / name
        if not full:
            shutil.rmtree(found, ignore_errors=True)
        found.mkdir(parents=True, exist_ok=True)
        options = [f"-max_total_time={seconds[name]}"] if full else [f"-runs={target[2]}", "-seed=1"]
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
                f"note: {ran.name}: {ran.runs} runs, {ran.rate()} per second of CPU time, {ran.edges} edges, "
                f"{ran.features} features",
                flush=True,
            )
            if ran.code != 0:
                failures.append(ran.why())
            elif ran.parses and ran.rate() < FLOOR:
                failures.append(f"{ran.name}: expected at least {FLOOR} runs per second, found {ran.rate()}")
            elif not full and ran.runs < ran.quick:
                failures.append(f"{ran.name}: expected {ran.quick} runs, found {ran.runs}")
            if plant:
                print(f"note: {plant}: {'found' if ran.code else 'not found'} after {ran.runs} runs, {ran.cpu:.1f} s")
    print(f"note: {cpu / 60:.0f} minutes of CPU time in total" if full else f"note: {cpu:.0f} s of CPU time in total")
    if full:
        runs, seconds = (sum(row[what] for row in fuzzed.values()) for what in ("runs", "cpu_seconds"))
        print(f"note: all recorded full runs: {runs:,} runs in {seconds / 3600:.1f} hours of CPU time")
    for failure in failures:
        print(f"failed: {failure}")
    print(f"fuzz: {checked} checked, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
