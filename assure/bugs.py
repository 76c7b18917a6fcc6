#!/usr/bin/env python3
"""Historical bugs: planted here, a named test must find each fault of another project.

`bugs/NN-name.toml` describes a fault of another project (`source`) as changes to our functions
(`anchors.py`), with the test that must find it (`test = "PACKAGE TARGET NAME"`; TARGET is `lib` or
a test program). The job copies the tree to `target/assure/bugs` and checks that all those tests
pass. For each bug it then makes the changes, builds the test program, runs the one test, and checks
that it fails. The job fails if the place of a change is not found or is found twice, if a bug does
not build, or if its test passes.

This shows that the tests find these faults, not all faults of their kind: a bug is one place in the
code, chosen by hand. Programs are built with `opt-level` 0, which shows faults of an algorithm but
not those of an optimiser.

`--full` checks all bugs; `--quick` checks a few whose programs build fast, and that all can be
applied.
"""

import argparse
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import anchors
from anchors import ROOT, apply, read_bug, revert

SCRATCH = ROOT / "target/assure/bugs"
# A test that never ends has not found anything.
PATIENCE = 1200
# At least one from each program that builds in seconds.
QUICK = [
    "doubling-greater-than",
    "zero-length-tag",
    "aead-empty-text-unverified",
    "newline-in-a-name",
    "short-read-as-the-end",
    "room-larger-than-the-tag",
]
# The packages that each worker builds, disjoint so that no worker waits for another's lock.
WORKERS = [["tagmac", "tagmac-papers", "tagmac-any"], ["tagmac-files", "tagmac-cli", "tagmac-border"]]
PROFILE = {
    "inherits": '"dev"',
    "opt-level": "0",
    "debug": "false",
    "debug-assertions": "false",
    "overflow-checks": "false",
    "incremental": "true",
    "codegen-units": "64",
    "package.tagmac-cli.debug-assertions": "true",
    "package.tagmac-files.debug-assertions": "true",
}


# The process groups that are running.
CHILDREN = set()


@dataclass(frozen=True)
class Test:
    """A test: its package, program and name."""

    package: str
    target: str
    name: str

    @property
    def program(self):
        """Returns the package, target and features to build. Unit tests of the library do not need
        every MAC; those of `threads` need some."""
        features = {
            "tagmac": ["--all-features"],
            "tagmac-cli": ["--features", "fault-injection"],
        }.get(self.package, [])
        if self.package == "tagmac" and self.target == "lib":
            features = ["--features", "threads" if self.name.startswith("threads::") else "save"]
        return (self.package, self.target, *features)

    def __str__(self):
        return f"{self.package} {self.target} {self.name}"


@dataclass
class Bug:
    """Changes, and the test that must find them."""

    name: str
    changes: list
    test: Test


@dataclass
class Result:
    """Results of one worker."""

    checked: int = 0
    failed: list = field(default_factory=list)
    notes: list = field(default_factory=list)


def bug_of(path):
    """Reads a bug from its file."""
    told = read_bug(path)
    words = told["test"].split()
    if len(words) != 3:
        sys.exit(f"{path}: expected test = 'PACKAGE TARGET NAME', found '{told['test']}'")
    return Bug(re.sub(r"^\d+-", "", path.stem), told["change"], Test(*words))


def git_files():
    """Lists the files of the tree: tracked, or new and not ignored."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True).stdout
    return [os.fsdecode(name) for name in names.split(b"\0") if name]


class Tree:
    """A copy of the tree with its build folder and the changes made in it."""

    def __init__(self, number):
        self.path = SCRATCH / f"{number}/tree"
        self.built = SCRATCH / f"{number}/target"
        self.environment = dict(os.environ, CARGO_TARGET_DIR=str(self.built), CARGO_TERM_COLOR="never")
        # The copy is inside a repository, and git must not treat it as part of that one.
        self.environment["GIT_CEILING_DIRECTORIES"] = str(self.path.parent)
        # Vector rows of many megabytes take minutes without optimisation.
        self.environment["TAGMAC_TEST_BYTES"] = "100000"
        for name in ["RUSTFLAGS", "CARGO_INCREMENTAL", "CARGO_BUILD_TARGET"]:
            self.environment.pop(name, None)

    def copy(self):
        """Updates the copy from the tree. Files that are equal keep their times."""
        wanted = set(git_files())
        if self.path.exists():
            for path in [path for path in self.path.rglob("*") if path.is_file() or path.is_symlink()]:
                if str(path.relative_to(self.path)) not in wanted:
                    path.unlink()
        for name in wanted:
            source, copy = ROOT / name, self.path / name
            if source.is_symlink():
                link = source.readlink()
                if not copy.is_symlink() or copy.readlink() != link:
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.unlink(missing_ok=True)
                    copy.symlink_to(link)
                continue
            if not source.is_file():
                continue
            contents = source.read_bytes()
            if not copy.is_file() or copy.read_bytes() != contents:
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(contents)
                shutil.copymode(source, copy)

    def call(self, command, folder, patience=None):
        """Runs a command in its own process group, which ends with this program: a compiler that
        survived would overwrite what the next run builds."""
        with subprocess.Popen(
            command, cwd=folder, env=self.environment, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
        ) as child:
            CHILDREN.add(child.pid)
            try:
                out, err = child.communicate(timeout=patience)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                raise
            finally:
                CHILDREN.discard(child.pid)
            return subprocess.CompletedProcess(command, child.returncode, out, err)

    def build(self, program):
        """Builds a test program. Returns it and the folder to run it in, or an error."""
        package, target, *features = program
        which = ["--lib"] if target == "lib" else ["--test", target]
        command = ["cargo", "test", "--quiet", "--locked", "--no-run", "--profile", "bugs"]
        command += ["--message-format", "json", "-p", package, *which, *features]
        for key, value in PROFILE.items():
            command += ["--config", f"profile.bugs.{key}={value}"]
        ran = self.call(command, self.path)
        if ran.returncode != 0:
            messages = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
            texts = [one["message"]["message"] for one in messages if one.get("reason") == "compiler-message"]
            return None, (texts or [ran.stderr.strip()])[0]
        for line in ran.stdout.splitlines():
            one = json.loads(line) if line.startswith("{") else {}
            kind = one.get("target", {}).get("kind", [])
            is_one = one.get("executable") and one.get("profile", {}).get("test")
            if is_one and ("test" in kind if target != "lib" else "lib" in "".join(kind)):
                return (Path(one["executable"]), Path(one["manifest_path"]).parent), None
        return None, f"cargo named no program for {package} {target}"

    def run(self, built, names):
        """Runs tests by name. Returns the names of those that failed, or an error."""
        program, folder = built
        command = [str(program), "--exact", *names]
        try:
            ran = self.call(command, folder, PATIENCE)
        except subprocess.TimeoutExpired:
            return None, f"did not end within {PATIENCE} s"
        died = -ran.returncode in (signal.SIGABRT, signal.SIGSEGV, signal.SIGILL, signal.SIGBUS)
        if died and len(names) == 1:
            return names, None
        count = re.search(r"^running (\d+) tests?$", ran.stdout, re.M)
        if not count or int(count[1]) != len(names):
            return None, f"expected {len(names)} tests, found {count[1] if count else 'none'}"
        failed = re.findall(r"^test (\S+)(?: - should panic)? \.\.\. FAILED$", ran.stdout, re.M)
        if (ran.returncode != 0) != bool(failed):
            return None, f"exit status {ran.returncode}, {len(failed)} failed tests named"
        return failed, None


def end(number, _frame):
    """Ends all child processes on a signal."""
    for child in list(CHILDREN):
        os.killpg(child, signal.SIGKILL)
    os._exit(128 + number)


def say(text):
    """Prints progress to standard error."""
    print(text, file=sys.stderr, flush=True)


def work(tree, bugs, result):
    """Checks bugs, grouped by program."""
    tree.copy()
    programs = list(dict.fromkeys(bug.test.program for bug in bugs))
    for program in programs:
        here = [bug for bug in bugs if bug.test.program == program]
        start = time.monotonic()
        built, error = tree.build(program)
        names = sorted({bug.test.name for bug in here})
        if built:
            failed, error = tree.run(built, names)
            error = error or (failed and f"these fail without any bug: {', '.join(failed)}")
        if error:
            result.failed.append(f"{' '.join(program)}: the tests do not pass before any bug: {error}")
            continue
        say(f"{' '.join(program)}: built and green in {time.monotonic() - start:.0f} s")
        for bug in here:
            start = time.monotonic()
            error = check(tree, bug)
            say(f"{bug.name}: {error or 'red'} ({time.monotonic() - start:.1f} s)")
            if error:
                result.failed.append(f"{bug.name}: {bug.test} did not find it: {error}")
            else:
                result.checked += 1


def check(tree, bug):
    """Applies the bug and runs its test. Returns an error unless the test fails."""
    before, error = apply(tree.path, bug.changes)
    if error:
        return f"it cannot be applied: {error}"
    try:
        built, error = tree.build(bug.test.program)
        if error:
            return f"it does not build: {error}"
        failed, error = tree.run(built, [bug.test.name])
        if error:
            return error
        return None if failed else "it green"
    finally:
        revert(tree.path, before)


def planted(name, bugs):
    """Plants a bug that no test finds, or one that cannot be checked."""
    room = next(bug for bug in bugs if bug.name == "room-larger-than-the-tag")
    [change] = room.changes
    program = room.test.package, room.test.target
    if name == "no-bug":
        return replace(room, name=name, changes=[change | {"after": "expected == size"}])
    if name == "another-test":
        return replace(room, name=name, test=Test(*program, "tests::panics_end_here"))
    if name == "does-not-build":
        return replace(room, name=name, changes=[change | {"after": "size = expected"}])
    if name == "does-not-apply":
        return replace(room, name=name, changes=[change | {"before": "size <= expected"}])
    if name == "no-such-test":
        return replace(room, name=name, test=Test(*program, "tests::none"))
    sys.exit(f"expected one of {', '.join(PLANTED)}, found {name}")


def stale(bugs):
    """Returns the bugs that cannot be applied because the code has changed."""
    tree, failed = anchors.Tree(), []
    for bug in bugs:
        _, error = anchors.in_memory(tree, bug.changes)
        if error:
            failed.append(f"{bug.name}: cannot be applied: {error}")
    return failed


PLANTED = ["no-bug", "another-test", "does-not-build", "does-not-apply", "no-such-test"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few of the bugs, always the same")
    parser.add_argument("--full", action="store_true", help="all bugs")
    parser.add_argument("--planted", nargs="?", const="", help="lists the planted bugs, or plants one")
    parser.add_argument("name", nargs="*", help="only bugs with these names")
    args = parser.parse_args()
    if args.planted == "":
        print("\n".join(PLANTED))
        return 0
    bugs = [bug_of(path) for path in sorted((ROOT / "bugs").glob("*.toml"))]
    failed = stale(bugs) if args.quick and not args.planted else []
    if args.planted:
        bugs = [planted(args.planted, bugs)]
    elif args.name:
        bugs = [bug for bug in bugs if bug.name in args.name]
    elif args.quick:
        bugs = [bug for bug in bugs if bug.name in QUICK]
    trees = [(Tree(number), packages) for number, packages in enumerate(WORKERS)]
    results, workers = [], []
    for tree, packages in trees:
        mine = [bug for bug in bugs if bug.test.package in packages]
        if mine:
            results.append(Result())
            workers.append(threading.Thread(target=work, args=(tree, mine, results[-1])))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    SCRATCH.mkdir(parents=True, exist_ok=True)
    # Two runs at once would change each other's copies.
    lock = open(SCRATCH / "lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    start = time.monotonic()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    checked = sum(result.checked for result in results)
    found = [line for result in results for line in result.failed]
    if checked + len(found) < len(bugs):
        found.append(f"expected verdicts on {len(bugs)} bugs, found {checked + len(found)}")
    failed += found
    if args.full:
        print(f"note: {checked} bugs in {time.monotonic() - start:.0f} s, with two workers")
    for line in failed:
        print(f"failed: {line}")
    print(f"bugs: {checked} checked, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
