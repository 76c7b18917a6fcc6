#!/usr/bin/env python3
"""Coverage: the lines that the tests run, of the code that decides what is accepted.

Builds the tests with counters (`-Cinstrument-coverage`), without optimisation, runs them, and reads what
ran with LLVM's own tools. Each line of the files in `NAMED` must run in some test, unless
`assure/uncovered.json` has it with a reason; a reason for a line that runs is a failure too. Of the regions
of all files that are measured, three in four must run. Lines of tests do not count.

    coverage.py --quick [--planted NAME] | --full | --planted

`--quick` and `--full` are the same: the tests of `crates/files` and those of the command that are about
keys, lists and manifests. A line that ran is a line that ran: whether a test would notice that it is
wrong is for `bugs` to show. Counters of a process that is killed are lost, and its lines do not count.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target")).resolve()
SCRATCH = TARGET / "assure" / "coverage"
REASONS = REPO / "assure" / "uncovered.json"
PROFILE = {
    "inherits": '"dev"',
    "opt-level": "0",
    "debug": "false",
    "incremental": "false",
    "codegen-units": "16",
}
PLANTED = ["tests-left-out", "reason-left-out", "reason-for-a-line-that-runs"]


# Tests that are built together.
PACKAGES = ["tagmac-files", "tagmac-cli"]
OPTIONS = ["--lib", "--bins", "--test", "all", "--features", "tagmac-cli/fault-injection"]
# What the names of the command's tests that run begin with. All others run too, in `scripts/test`.
TESTS = ["atomic::", "check::", "key::", "limits::", "manifest::", "nonce::", "output::", "seal::"]
MEASURED = ["crates/files/src/", "crates/cli/src/"]
# Each line of these files, and of the files of this folder, must run.
NAMED = [
    "crates/cli/src/check.rs",
    "crates/cli/src/tag_line.rs",
    "crates/files/src/key_file.rs",
    "crates/files/src/line.rs",
    "crates/files/src/line_reader.rs",
    "crates/files/src/manifest/",
]
# The least of the regions of what is measured that must run, in percent.
FLOOR = 75.0


def tool(name):
    """LLVM's tool of the compiler's own version, which alone reads what it writes."""
    said = subprocess.run(["rustc", "-vV"], stdout=subprocess.PIPE, text=True, check=True).stdout
    version = re.search(r"LLVM version: (\d+)", said)[1]
    command = f"{name}-{version}"
    if not shutil.which(command):
        subprocess.run(["scripts/need", f"llvm-{version}"], cwd=REPO, check=True)
    return command


def build():
    """Builds the tests: programs and the folders that they run in, and all that they call."""
    environment = dict(os.environ, CARGO_TARGET_DIR=str(SCRATCH), RUSTC_BOOTSTRAP="1")
    environment["RUSTC_WORKSPACE_WRAPPER"] = str(REPO / "assure" / "coverage-rustc")
    environment.pop("RUSTFLAGS", None)
    command = ["cargo", "test", "--quiet", "--locked", "--no-run", "--profile", "coverage"]
    command += ["--message-format", "json"]
    for package in PACKAGES:
        command += ["-p", package]
    command += OPTIONS
    for key, value in PROFILE.items():
        command += ["--config", f"profile.coverage.{key}={value}"]
    ran = subprocess.run(command, cwd=REPO, env=environment, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"coverage: the tests do not build\n{ran.stderr}")
    tests, programs = [], []
    for line in ran.stdout.splitlines():
        one = json.loads(line) if line.startswith("{") else {}
        manifest = Path(one.get("manifest_path", "/"))
        if not one.get("executable") or not manifest.is_relative_to(REPO):
            continue
        programs.append(one["executable"])
        if one["profile"]["test"]:
            tests.append((one["executable"], manifest.parent))
    # Cargo names them in the order that it ends with them.
    return sorted(tests), sorted(programs)


def is_commands(program, folder):
    """Whether these tests run the command, which most of the code is tested by."""
    return folder.name == "cli" and Path(program).name.startswith("all-")


def run(tests, profiles):
    """Runs tests, each program into a folder of its own. What went wrong."""
    shutil.rmtree(profiles, ignore_errors=True)
    failed = []
    for number, (program, folder) in enumerate(tests):
        here = profiles / str(number)
        here.mkdir(parents=True)
        # Processes that end add to one of a few files: there are thousands of them.
        environment = dict(os.environ, LLVM_PROFILE_FILE=f"{here}/%4m.profraw")
        # Rows of vectors of many megabytes take minutes where nothing is optimised.
        environment["TAGMAC_TEST_BYTES"] = "100000"
        command = [program, *(TESTS if is_commands(program, folder) else [])]
        ran = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace"
        )
        # Commands that a test starts with no environment.
        for left in folder.glob("default_*.profraw"):
            shutil.move(left, here / left.name)
        if ran.returncode != 0 or " 0 passed" in ran.stdout:
            names = re.findall(r"^test (\S+) \.\.\. FAILED$", ran.stdout, re.M)
            failed.append(f"{Path(program).name}: expected green tests, found {names or ran.stderr[-300:]}")
    return failed


def read(programs, profiles):
    """What ran: lcov's text, and LLVM's summaries of files."""
    raw = [str(path) for path in sorted(profiles.rglob("*.profraw"))]
    merged = profiles / "all.profdata"
    # A process that is killed while it adds leaves a file that is cut short: the others are whole.
    subprocess.run(
        [tool("llvm-profdata"), "merge", "-sparse", "--failure-mode=all", *raw, "-o", merged], check=True
    )
    first, *others = programs
    export = [tool("llvm-cov"), "export", f"-instr-profile={merged}", first]
    export += ["-ignore-filename-regex=/tests/|/registry/|/rustc/"]
    for other in others:
        export += ["-object", other]
    texts = [
        subprocess.run([*export, *how], stdout=subprocess.PIPE, text=True, check=True).stdout
        for how in (["-format=lcov"], ["-format=text", "-summary-only"])
    ]
    return texts[0], json.loads(texts[1])["data"][0]["files"]


def is_within(path, places):
    return any(path == place or place.endswith("/") and path.startswith(place) for place in places)


def end_of_code(lines):
    """The number of the last line before a file's tests."""
    for number, line in enumerate(lines):
        if line == "#[cfg(test)]" and re.match(r"mod \w+ \{", lines[number + 1]):
            return number
    return len(lines)


def lines_of(lcov, places):
    """How often each line ran, by file."""
    found, path = {}, None
    for line in lcov.splitlines():
        if line.startswith("SF:"):
            path = Path(line[3:])
            path = str(path.relative_to(REPO)) if path.is_relative_to(REPO) else ""
            if is_within(path, places) and "/tests" not in path:
                found[path] = {}
        elif line.startswith("DA:") and path in found:
            number, count = line[3:].split(",")[:2]
            found[path][int(number)] = int(count)
    return found


def judge(lcov, reasons):
    """The lines checked, and the failures."""
    checked, failed, used = 0, [], set()
    excused = {(one["file"], one["line"]): one["reason"] for one in reasons}
    for path, counts in sorted(lines_of(lcov, NAMED).items()):
        text = (REPO / path).read_text().splitlines()
        end = end_of_code(text)
        for number, count in sorted(counts.items()):
            if number > end:
                continue
            checked += 1
            key = (path, text[number - 1].strip())
            if count == 0 and key in excused:
                used.add(key)
            elif count == 0:
                failed.append(f"{path}:{number}: runs in no test: {key[1]}")
    for key in sorted(set(excused) - used):
        if is_within(key[0], NAMED):
            failed.append(f"{key[0]}: expected a line that does not run, found none: {key[1]}")
    return checked, failed


def total(files, places, kind):
    """How many there are in these files, and how many ran."""
    paths = [(str(Path(one["filename"]).relative_to(REPO)), one["summary"][kind]) for one in files]
    here = [summary for path, summary in paths if is_within(path, places)]
    return sum(one["count"] for one in here), sum(one["covered"] for one in here)


def main():
    arguments = sys.argv[1:]
    if arguments == ["--planted"]:
        print("\n".join(PLANTED))
        return 0
    planted = arguments[2] if arguments[:2] == ["--quick", "--planted"] and len(arguments) == 3 else None
    if planted not in [None, *PLANTED] or not planted and arguments not in (["--quick"], ["--full"]):
        sys.exit("usage: coverage.py --quick [--planted NAME] | --full | --planted")
    tests, programs = build()
    profiles = SCRATCH / "profiles"
    stamp = profiles / "of"
    failed = []
    # Planted bugs are in what is made of the profiles: those of the last run serve, if it was of these.
    state = json.dumps([[one, os.stat(one).st_mtime_ns] for one in programs])
    if not planted or not stamp.exists() or stamp.read_text() != state:
        failed = run(tests, profiles)
        stamp.write_text(state)
    reasons = json.loads(REASONS.read_text())
    if planted == "tests-left-out":
        hidden = profiles / str([is_commands(*test) for test in tests].index(True))
        hidden.rename(SCRATCH / "hidden")
    if planted == "reason-left-out":
        reasons = reasons[1:]
    if planted == "reason-for-a-line-that-runs":
        path = NAMED[0]
        lines = [line.strip() for line in (REPO / path).read_text().splitlines()]
        line = next(line for line in lines if line.startswith("let "))
        reasons.append({"file": path, "line": line, "reason": "planted"})
    lcov, files = read(programs, profiles)
    if planted == "tests-left-out":
        (SCRATCH / "hidden").rename(hidden)
    checked, more = judge(lcov, reasons)
    failed += more
    for place in MEASURED:
        kinds = []
        for kind in ("lines", "regions", "branches"):
            count, covered = total(files, [place], kind)
            kinds.append(f"{covered:,} of {count:,} {kind} ({100 * covered / max(count, 1):.2f} %)")
        print(f"note: {place}: {', '.join(kinds)}")
    count, covered = total(files, MEASURED, "regions")
    checked += 1
    if covered < FLOOR / 100 * count:
        found = 100 * covered / count
        failed.append(f"expected {FLOOR} % of {count} regions to run, found {found:.2f} %")
    print(f"note: {len(reasons)} lines run in no test, each with a reason in assure/uncovered.json")
    for line in failed:
        print(f"failed: {line}")
    print(f"coverage: {checked} checked, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
