#!/usr/bin/env python3
"""Mutation: does a test notice when a line of the code is wrong?

`cargo mutants` lists the mutants: an operator that is another, a function that returns at once, an arm or a guard
of a match that is gone. Here they are not built one by one, which would take days: `assure/weave` puts all mutants
of a file into one program, and a number in the environment says which one is alive. What does not compile that
way is left out as not viable; mutants in constants, which are made when the program is built, are built one by one.

Tests run one by one first, with no mutant alive, and write down which mutants they pass. Then each mutant is alive
in turn, and tests that pass it run, the quickest first, until one fails. A test that uses ten times the CPU time
that it should, and two seconds, counts as failed: the loop has no end. A mutant that no test finds is a survivor.

    mutation.py --quick [--planted NAME]   some mutants of the strictest files, at random from a fixed seed
    mutation.py --full [FILE...]           all mutants of files that changed since they were last tried, or of these
    mutation.py --list                     the files, and what the ledger has of them
    mutation.py --planted

`assure/mutants.json` is the ledger: for each file what came of its mutants, and a digest of its source. A full run
can be stopped, and the next one goes on with the next file. `assure/survivors.json` has the survivors, each with a
reason; they are known by the text of their line, so that they outlive changes elsewhere. In files of `STRICT` a
survivor without a reason is a failure; of the mutants in `algo`, 95 % must be found once all its files were tried.

Not shown: mutants of two places at once, of macros, and faults that no rule of `cargo mutants` makes. Tests are
those of a program that is built without optimisation, and documentation's are not among them.
"""

import argparse
import fcntl
import hashlib
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from bugs import CHILDREN, Tree, end

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
SCRATCH = TARGET / "assure" / "mutation"
LEDGER = ROOT / "assure" / "mutants.json"
SURVIVORS = ROOT / "assure" / "survivors.json"
VERSION = "27.1.0"

# What decides what is accepted. All mutants must be found.
STRICT = [
    *(f"crates/tagmac/src/{name}" for name in [
        "mac.rs", "construction.rs", "tag.rs", "nonce.rs", "part.rs", "kernels.rs", "save/",
        "isa/level.rs", "isa/usable.rs", "bounds/",
        "dynamic/key_file.rs", "dynamic/key_id.rs", "dynamic/partial.rs", "dynamic/saved.rs",
    ]),
    *(f"crates/files/src/{name}" for name in ["key_file.rs", "line.rs", "line_reader.rs", "manifest/"]),
]  # fmt: skip
ALGO = ["crates/tagmac/src/algo/"]
# Of the mutants in `ALGO` that must be found, in percent.
FLOOR = 95

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
# What the names of the command's tests begin with that are tried: those of others are about other files.
COMMANDS_TESTS = ("atomic::", "audit::", "check::", "key::", "limits::", "manifest::", "nonce::", "output::", "seal::")
# Seconds of CPU time of a test that is longer than is worth its while, and of all tests of a mutant, which
# TAGMAC_MUTATION_LONG and TAGMAC_MUTATION_SECONDS set.
LONG = int(os.environ.get("TAGMAC_MUTATION_LONG", 6))
PATIENCE = float(os.environ.get("TAGMAC_MUTATION_SECONDS", 20))
# Bytes of addresses: a mutant may ask for all there is.
ROOM = 8 << 30
# Mutants of a quick run.
SAMPLE = 150
SEED = 19

# Goes into the woven crate. Numbers begin with 1.
SWITCH = """
#[allow(warnings, clippy::all)]
pub(crate) mod mutation {
    use core::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};
    const ROOM: usize = %d;
    static ALIVE: AtomicU32 = AtomicU32::new(u32::MAX);
    static REACHED: [AtomicU8; ROOM] = [const { AtomicU8::new(0) }; ROOM];
    #[inline(always)]
    pub fn alive(number: u32) -> bool {
        REACHED[number as usize].store(1, Relaxed);
        let alive = ALIVE.load(Relaxed);
        (if alive == u32::MAX { start() } else { alive }) == number
    }
    unsafe extern "C" {
        fn getenv(name: *const u8) -> *const u8;
        fn atexit(f: extern "C" fn()) -> i32;
        fn open(path: *const u8, flags: i32, mode: u32) -> i32;
        fn write(file: i32, bytes: *const AtomicU8, count: usize) -> isize;
    }
    #[cold]
    #[inline(never)]
    fn start() -> u32 {
        unsafe {
            let (mut text, mut number) = (getenv(c"TAGMAC_MUTANT".as_ptr().cast()), 0);
            while !text.is_null() && *text != 0 {
                number = number * 10 + u32::from(*text - b'0');
                text = text.add(1);
            }
            if ALIVE.swap(number, Relaxed) == u32::MAX && !getenv(c"TAGMAC_REACHED".as_ptr().cast()).is_null() {
                atexit(keep);
            }
            number
        }
    }
    extern "C" fn keep() {
        unsafe {
            let file = open(getenv(c"TAGMAC_REACHED".as_ptr().cast()), 0o2101, 0o600);
            write(file, REACHED.as_ptr(), ROOM);
        }
    }
}
"""


@dataclass(frozen=True)
class Group:
    """Files whose mutants are in one program, and the tests that are to find them."""

    name: str
    files: tuple  # prefixes
    crate: str
    check: tuple
    tests: tuple
    # Tests that a quick run has time for.
    quick: tuple


GROUPS = [
    Group(
        "library",
        ("crates/tagmac/src/",),
        "crates/tagmac/src/lib.rs",
        ("-p", "tagmac", "--lib", "--all-features"),
        ("-p", "tagmac", "--lib", "--test", "all", "--all-features"),
        (),
    ),
    Group(
        "files",
        ("crates/files/src/",),
        "crates/files/src/lib.rs",
        ("-p", "tagmac-files", "--lib"),
        ("-p", "tagmac-files", "-p", "tagmac-cli", "--lib", "--bins", "--test", "all")
        + ("--features", "tagmac-cli/fault-injection"),
        ("-p", "tagmac-files", "--lib", "--test", "all"),
    ),
]


def say(text):
    """Progress."""
    print(text, file=sys.stderr, flush=True)


def is_within(path, places):
    return any(path == place or place.endswith("/") and path.startswith(place) for place in places)


def tool():
    """`cargo mutants`, of one version, because others have other mutants."""
    program = SCRATCH / "tools" / "bin" / "cargo-mutants"
    said = None
    if program.exists():
        said = subprocess.run([program, "mutants", "--version"], stdout=subprocess.PIPE, text=True).stdout
    if said is None or VERSION not in said:
        command = ["cargo", "install", "--quiet", "--locked", "--debug", "--force", f"cargo-mutants@{VERSION}"]
        environment = dict(os.environ, CARGO_TARGET_DIR=str(SCRATCH / "tools" / "target"))
        subprocess.run([*command, "--root", SCRATCH / "tools"], cwd=ROOT, env=environment, check=True)
    return program


def mutants(places):
    """All mutants of these files, as `cargo mutants` has them."""
    command = [tool(), "mutants", "--list", "--json", "--no-config"]
    for package in ["tagmac", "tagmac-files"]:
        command += ["--package", package]
    ran = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    found = [one for one in json.loads(ran.stdout) if is_within(one["file"], places)]
    lines = {path: (ROOT / path).read_text().splitlines() for path in {one["file"] for one in found}}
    seen = Counter()
    for one in found:
        # A name that outlives changes elsewhere: what is changed, on which text, and which of equal ones.
        one["what"] = one["name"].split(": ", 1)[1]
        one["line"] = lines[one["file"]][one["span"]["start"]["line"] - 1].strip()
        key = one["file"], one["what"], one["line"]
        seen[key] += 1
        one["nth"] = seen[key]
        one.pop("diff", None)
    return found


def key_of(one):
    return one["file"], one["line"], one["what"], one.get("nth", 1)


def stem(program):
    """A program's name without cargo's hash."""
    return Path(program).name.rsplit("-", 1)[0]


def digest(path):
    return hashlib.sha256((ROOT / path).read_bytes()).hexdigest()[:16]


def read_json(path, default):
    return json.loads(path.read_text()) if path.exists() else default


@dataclass
class Test:
    """A test, and what it does without a mutant."""

    program: str
    folder: str
    name: str
    seconds: float = 0.0
    reached: frozenset = frozenset()


@dataclass
class Woven:
    """A group's program of many mutants."""

    group: Group
    mutants: list
    tree: Tree = None
    unviable: dict = field(default_factory=dict)
    alone: list = field(default_factory=list)
    tests: list = field(default_factory=list)

    def __post_init__(self):
        scratch = SCRATCH / self.group.name
        scratch.mkdir(parents=True, exist_ok=True)
        # Two runs at once would weave each other's copies.
        self.lock = open(scratch / "lock", "w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.tree = Tree(0)
        self.tree.path = SCRATCH / self.group.name / "tree"
        self.tree.built = SCRATCH / self.group.name / "target"
        self.tree.environment |= {
            "CARGO_TARGET_DIR": str(self.tree.built),
            "GIT_CEILING_DIRECTORIES": str(self.tree.path.parent),
            "RUSTFLAGS": "--cap-lints=allow",
            "TAGMAC_TEST_BYTES": "20000",
        }
        for number, one in enumerate(self.mutants, 1):
            one["number"] = number
        self.by_number = {one["number"]: one for one in self.mutants}

    def copy(self):
        """Copies the tree, but for what will be woven."""
        woven = {one["file"] for one in self.mutants} | {self.group.crate}
        old = {path: (self.tree.path / path).read_bytes() for path in woven if (self.tree.path / path).exists()}
        times = {path: (self.tree.path / path).stat() for path in old}
        self.tree.copy()
        for path, data in old.items():
            place = self.tree.path / path
            place.write_bytes(data)
            os.utime(place, ns=(times[path].st_atime_ns, times[path].st_mtime_ns))

    def weave(self, left_out, constant):
        """Writes the woven files into the copy."""
        command = ["cargo", "build", "--quiet", "--locked", "-p", "weave"]
        environment = dict(os.environ, CARGO_TARGET_DIR=str(SCRATCH / "tool"))
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
        files = {one["file"]: [] for one in self.mutants}
        for one in self.mutants:
            if one["number"] not in left_out:
                files[one["file"]].append(one)
        apart = set()
        for path, here in files.items():
            list_file = SCRATCH / self.group.name / "list.json"
            list_file.write_text(json.dumps({"mutants": here, "constant": sorted(constant)}))
            program = SCRATCH / "tool/debug/weave"
            ran = subprocess.run([program, ROOT / path, list_file], capture_output=True, text=True)
            if ran.returncode != 0:
                sys.exit(f"mutation: {ran.stderr.strip()}")
            apart |= {int(number) for number in ran.stderr.split()}
            self.write(path, ran.stdout)
        crate = (ROOT / self.group.crate).read_text() + SWITCH % (len(self.mutants) + 1)
        self.write(self.group.crate, crate)
        return apart

    def write(self, path, text):
        """Files that are equal stay as old as they are."""
        place = self.tree.path / path
        if place.read_text() != text:
            place.write_text(text)

    def cargo(self, *arguments):
        command = ["cargo", *arguments, "--quiet", "--locked", "--profile", "mutation", "--message-format", "json"]
        for key, value in PROFILE.items():
            command += ["--config", f"profile.mutation.{key}={value}"]
        ran = self.tree.call(command, self.tree.path)
        messages = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
        return ran, messages

    def prepare(self):
        """Weaves what compiles: mutants that do not are not viable, or must be built alone."""
        self.copy()
        # What an earlier run has found out, so that files that are equal stay as old as they are.
        kept = SCRATCH / self.group.name / "woven.json"
        sources = {path: digest(path) for path in sorted({one["file"] for one in self.mutants})}
        self.woven = hashlib.sha256(json.dumps(sources).encode()).hexdigest()
        known = read_json(kept, {})
        left_out, constant = {}, set()
        if known.get("sources") == sources:
            left_out = {int(number): why for number, why in known["left_out"].items()}
            constant = set(known["constant"])
        for _ in range(12):
            apart = self.weave(left_out, constant)
            ran, messages = self.cargo("check", *self.group.check)
            if ran.returncode == 0:
                break
            before = len(left_out), len(constant)
            self.judge_errors(messages, left_out, constant)
            say(f"{self.group.name}: {len(left_out)} mutants do not compile, {len(constant)} functions are constants'")
            if (len(left_out), len(constant)) == before:
                texts = [one["message"]["rendered"] for one in messages if one.get("message", {}).get("level") == "error"]
                sys.exit(f"mutation: {self.group.name} does not compile, for no mutant's fault:\n{''.join(texts[:4])}")
        kept.write_text(json.dumps({"sources": sources, "left_out": left_out, "constant": sorted(constant)}))
        for number in apart:
            left_out.setdefault(number, "in a constant")
        for number, why in left_out.items():
            one = self.by_number[number]
            # As a function's only expression it would have the same type, but for those that name a trait.
            same = one["genre"] == "FnValue" and "impl " not in one["function"]["return_type"]
            if same and why != "in a constant" and not why.startswith("place: "):
                self.unviable[number] = why
            else:
                self.alone.append((number, why))

    def judge_errors(self, messages, left_out, constant):
        """Finds the mutants that errors are about."""
        texts = {}
        for message in messages:
            message = message.get("message", {})
            if message.get("level") != "error" or not message.get("spans"):
                continue
            code = (message.get("code") or {}).get("code")
            if code == "E0015":
                called = re.search(r"`([^`]*)`", message["message"])
                name = re.sub(r"::<.*", "", called[1]).split("::")[-1] if called else ""
                if name and name not in constant:
                    constant.add(name)
                    continue
            for span in [one for one in message["spans"] if one["is_primary"]] or message["spans"]:
                path = self.tree.path / span["file_name"]
                if path not in texts:
                    data = path.read_bytes()
                    marks = [(m.start(), int(m[1]), True) for m in re.finditer(rb"/\*<(\d+)\*/", data)]
                    ends = {int(m[1]): m.start() for m in re.finditer(rb"/\*(\d+)>\*/", data)}
                    variants = [(start, ends[number], number) for start, number, _ in marks]
                    opens = {int(m[1]): m.start() for m in re.finditer(rb"/\*\{(\d+)\*/", data)}
                    closes = {int(m[1]): m.end() for m in re.finditer(rb"/\*(\d+)\}\*/", data)}
                    numbers = [(m.start(), int(m[1])) for m in re.finditer(rb"mutation::alive\((\d+)\)", data)]
                    places = [(opens[index], closes[index], index) for index in opens]
                    texts[path] = variants, places, numbers
                variants, places, numbers = texts[path]
                start, stop = span["byte_start"], span["byte_end"]
                inside = [one for one in variants if one[0] <= start and stop <= one[1] + 8]
                if inside:
                    number = min(inside, key=lambda one: one[1] - one[0])[2]
                    left_out.setdefault(number, f"{code or ''} {message['message']}"[:200])
                    continue
                around = [one for one in places if one[0] <= start and stop <= one[1]]
                if around:
                    a, b, _ = min(around, key=lambda one: one[1] - one[0])
                    inner = [one for one in places if a < one[0] and one[1] < b]
                    for at, number in numbers:
                        if a <= at < b and not any(c <= at < d for c, d, _ in inner):
                            left_out.setdefault(number, f"place: {code or ''} {message['message']}"[:200])

    def build(self, tests):
        """Builds programs of tests."""
        begin = time.monotonic()
        ran, messages = self.cargo("test", "--no-run", *tests)
        if ran.returncode != 0:
            texts = [one["message"]["rendered"] for one in messages if one.get("message", {}).get("level") == "error"]
            sys.exit(f"mutation: the tests of {self.group.name} do not build\n{''.join(texts[:3]) or ran.stderr}")
        found = []
        for one in messages:
            manifest = Path(one.get("manifest_path", "/"))
            if one.get("executable") and one["profile"]["test"] and manifest.is_relative_to(self.tree.path):
                found.append((one["executable"], str(manifest.parent)))
        say(f"{self.group.name}: built in {time.monotonic() - begin:.0f} s")
        return sorted(found)

    def record(self, programs, jobs):
        """Runs each test alone: how long it takes, and which mutants it reaches."""
        state = hashlib.sha256()
        for program, _ in programs:
            state.update(Path(program).read_bytes())
        self.state = state.hexdigest()
        kept = SCRATCH / self.group.name / "tests.json"
        known = read_json(kept, {})
        if known.get("state") != self.state:
            # A test that was there with the same mutants reaches what it did, as a rule.
            same = known.get("tests", []) if known.get("woven") == self.woven else []
            old = {(stem(row[0]), row[2]): row for row in same}
            tests = []
            for program, folder in programs:
                ran = self.tree.call([program, "--list", "--format", "terse"], folder)
                names = re.findall(r"^(.+): test$", ran.stdout, re.M)
                ran = self.tree.call([program, "--list", "--format", "terse", "--ignored"], folder)
                ignored = set(re.findall(r"^(.+): test$", ran.stdout, re.M))
                if folder.endswith("crates/cli"):
                    names = [name for name in names if name.startswith(COMMANDS_TESTS)]
                tests += [Test(program, folder, name) for name in names if name not in ignored]
            new = [test for test in tests if (stem(test.program), test.name) not in old]
            with ThreadPoolExecutor(jobs) as pool:
                fine = list(pool.map(self.try_test, new))
            rows = [
                [test.program, test.folder, test.name, test.seconds, sorted(test.reached), ok]
                for test, ok in zip(new, fine, strict=True)
            ]
            there = {(stem(test.program), test.name): test for test in tests}
            rows += [[there[key].program, *row[1:]] for key, row in old.items() if key in there]
            known = {"state": self.state, "woven": self.woven, "tests": rows}
            kept.write_text(json.dumps(known))
        for program, folder, name, seconds, reached, ok in known["tests"]:
            if ok == "green":
                self.tests.append(Test(program, folder, name, seconds, frozenset(reached)))
        say(f"{self.group.name}: {len(self.tests)} tests that end in {LONG} s")
        # They find nothing, so that mutants survive which they would find.
        for program, _, name, *_, ok in known["tests"]:
            if ok != "green":
                print(f"note: {self.group.name}: a test that is {ok} without a mutant is not used: {name}")

    def try_test(self, test):
        place = SCRATCH / self.group.name / f"reached-{threading.get_ident()}"
        place.unlink(missing_ok=True)
        ended, seconds = self.run(test, LONG, {"TAGMAC_REACHED": str(place)})
        test.seconds = round(seconds, 3)
        if ended == "timeout":
            return "long"
        data = place.read_bytes() if place.exists() else b""
        size = len(self.mutants) + 1
        folds = [data[at : at + size] for at in range(0, len(data) - size + 1, size)]
        test.reached = frozenset(number for number in range(1, size) if any(fold[number] for fold in folds))
        return "green" if ended == "green" else "red"

    def run(self, test, limit, more):
        """Runs a test: green, red or timeout, and its seconds of CPU time."""
        environment = dict(self.tree.environment) | more
        environment.pop("RUSTFLAGS")

        def limits():
            whole = int(limit) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))
            resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        command = [test.program, "--exact", test.name, "--test-threads", "1"]
        with subprocess.Popen(
            command, cwd=test.folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=limits,
        ) as child:  # fmt: skip
            CHILDREN.add(child.pid)
            # On a busy machine a second of CPU time takes many; one that waits for nobody takes for ever.
            deadline = time.monotonic() + 60 + 10 * limit
            timer = threading.Timer(deadline - time.monotonic(), self.kill, [child.pid])
            timer.start()
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            timer.cancel()
            CHILDREN.discard(child.pid)
            self.kill(child.pid)
        late = time.monotonic() > deadline or child.returncode == -signal.SIGXCPU
        ended = "timeout" if late else "green" if child.returncode == 0 else "red"
        return ended, used.ru_utime + used.ru_stime

    @staticmethod
    def kill(group):
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Hunt:
    """Runs the mutants of a woven program."""

    def __init__(self, woven, resumes):
        self.woven, self.resumes = woven, resumes
        self.by_mutant = defaultdict(list)
        for test in sorted(woven.tests, key=lambda test: test.seconds):
            for number in test.reached:
                self.by_mutant[number].append(test)
        # Tests that found others of a function find this one too, as a rule.
        self.found_by = defaultdict(Counter)
        # What a run that was stopped has found. New tests may find survivors.
        self.kept = SCRATCH / woven.group.name / "outcomes"
        lines = self.kept.read_text().splitlines() if self.kept.exists() else []
        rows = [line.split("\t") for line in lines]
        self.known = {
            int(number): (how, why)
            for mutants, state, number, how, why in rows
            if resumes and mutants == woven.woven and (how != "survived" or state == woven.state)
        }

    def hunt(self, number):
        """How a mutant ended: killed, timeout, or survived; and by which test."""
        if number not in self.known:
            self.known[number] = self.try_one(number)
            with open(self.kept if self.resumes else os.devnull, "a") as file:
                file.write("\t".join([self.woven.woven, self.woven.state, str(number), *self.known[number]]) + "\n")
        return self.known[number]

    def try_one(self, number):
        one = self.woven.by_number[number]
        scores = self.found_by[one["file"], one["function"]["function_name"] if one["function"] else ""]
        tests = self.by_mutant[number]
        # Tests of little else are likelier to see it.
        order = sorted(
            tests, key=lambda test: (test.seconds + 0.01) * len(test.reached) ** 0.5 / (1 + 4 * scores[test.name])
        )
        spent = 0.0
        for test in order:
            if spent + test.seconds > PATIENCE:
                break
            ended, seconds = self.woven.run(test, 10 * test.seconds + 2, {"TAGMAC_MUTANT": str(number)})
            spent += min(seconds, test.seconds)
            if ended != "green":
                scores[test.name] += 1
                return ("killed" if ended == "red" else "timeout", test.name)
        say(f"   {one['name']}: survives {spent:.1f} s of {len(order)} tests that reach it")
        return ("survived", f"{spent:.1f} s of {len(order)} tests that reach it")


def try_alone(woven, number, known):
    """A mutant that must be built by itself: how it ended."""
    one, tree = woven.by_number[number], woven.tree
    path = tree.path / one["file"]
    source = (ROOT / one["file"]).read_text()
    lines = source.splitlines(keepends=True)

    def at(place):
        return sum(len(line) for line in lines[: place["line"] - 1]) + place["column"] - 1

    start, stop = at(one["span"]["start"]), at(one["span"]["end"])
    path.write_text(source[:start] + one["replacement"] + source[stop:])
    try:
        ran, _ = woven.cargo("check", *woven.group.check)
        if ran.returncode != 0:
            return "unviable", None
        programs = {stem(program): program for program, _ in woven.build(woven.group.tests)}
        spent = 0.0
        for test in sorted(known, key=lambda test: test.seconds):
            here = Test(programs[stem(test.program)], test.folder, test.name)
            ended, _ = woven.run(here, 10 * test.seconds + 2, {})
            if ended != "green":
                return ("killed" if ended == "red" else "timeout"), test.name
            spent += test.seconds
            if spent > PATIENCE:
                break
        return "survived", "built alone"
    finally:
        path.write_text(source)


class Ledger:
    """What is known of files and of survivors."""

    def __init__(self):
        self.read()

    def read(self):
        self.files = read_json(LEDGER, {})
        self.survivors = read_json(SURVIVORS, [])

    def reasons(self):
        return {key_of(one): one["reason"] for one in self.survivors}

    def is_stale(self, path):
        return self.files.get(path, {}).get("source") != digest(path)

    def keep(self, path, counts, survivors):
        """Stores what came of a file's mutants. Another run may be at work on other files."""
        self.read()
        reasons = self.reasons()
        self.files[path] = {"source": digest(path)} | counts
        self.survivors = [one for one in self.survivors if one["file"] != path]
        for one in survivors:
            row = {"file": path, "line": one["line"], "what": one["what"]}
            if one["nth"] > 1:
                row["nth"] = one["nth"]
            self.survivors.append(row | {"reason": reasons.get(key_of(one), "")})
        self.write()

    def write(self):
        self.survivors.sort(key=key_of)
        rows = [f' "{path}": {json.dumps(row)}' for path, row in sorted(self.files.items())]
        LEDGER.write_text("{\n" + ",\n".join(rows) + "\n}\n")
        SURVIVORS.write_text(json.dumps(self.survivors, indent=1, ensure_ascii=False) + "\n")


def hunt_files(group, all_mutants, files, ledger, jobs, only, args):
    """Tries the mutants of some files, or of them only some, and keeps what comes of each file."""
    woven = Woven(group, all_mutants)
    woven.prepare()
    programs = woven.build(group.check if args.unit_tests else group.tests)
    woven.record(programs, jobs)
    hunt = Hunt(woven, True)
    ends = {number: ("unviable", why) for number, why in woven.unviable.items()}
    alone = dict(woven.alone)
    by_file = defaultdict(list)
    for one in all_mutants:
        if one["file"] in files and (only is None or key_of(one) in only):
            by_file[one["file"]].append(one)
    for path, here in sorted(by_file.items(), key=lambda item: (not is_within(item[0], STRICT), item[0])):
        begin = time.monotonic()
        numbers = [one["number"] for one in here]
        tried = [number for number in numbers if number not in ends and number not in alone]
        with ThreadPoolExecutor(jobs) as pool:
            ends |= zip(tried, pool.map(hunt.hunt, tried), strict=True)
        left = [number for number in numbers if number in alone]
        if not args.alone:
            ends |= {number: ("survived", alone[number]) for number in left}
            left = []
        for number in left:
            ends[number] = try_alone(woven, number, woven.tests)
            say(f"alone: {woven.by_number[number]['name']}: {ends[number][0]} ({alone[number]})")
        counts = Counter(ends[number][0] for number in numbers)
        survivors = [one for one in here if ends[one["number"]][0] == "survived"]
        if only:
            row = ledger.files.get(path, {})
            for kind in ("killed", "timeout"):
                counts[kind] += row.get(kind, 0)
            counts["unviable"] += row.get("unviable", 0)
            survivors += [one for one in ledger.survivors if one["file"] == path and key_of(one) not in only]
            counts["survived"] = len(survivors)
        kinds = {kind: counts[kind] for kind in ("killed", "timeout", "unviable", "survived") if counts[kind]}
        ledger.keep(path, kinds, [one | {"nth": one.get("nth", 1)} for one in survivors])
        say(f"{path}: {kinds} in {time.monotonic() - begin:.0f} s")


def judge(ledger, files):
    """The mutants of the ledger, and what is wrong."""
    checked, failed, reasons = 0, [], ledger.reasons()
    for name, places, floor in (("strict", STRICT, 100), ("algo", ALGO, FLOOR)):
        here = {path: row for path, row in ledger.files.items() if is_within(path, places)}
        total = Counter()
        for row in here.values():
            total.update({kind: row.get(kind, 0) for kind in ("killed", "timeout", "unviable", "survived")})
        found = total["killed"] + total["timeout"]
        count = found + total["survived"]
        checked += count
        share = 100 * found / max(count, 1)
        listed = [key for key in reasons if is_within(key[0], places)]
        explained = [key for key in listed if reasons[key]]
        print(
            f"note: {name}: {found:,} of {count:,} viable mutants of {len(here)} files found ({share:.1f} %), "
            f"{total['timeout']} of them as loops without an end; {len(explained)} of {total['survived']} survivors "
            f"have a reason; {total['unviable']:,} do not compile"
        )
        missing = [path for path in files if is_within(path, places) and path not in ledger.files]
        if floor == 100:
            failed += [f"{path}: its mutants were never tried" for path in missing]
        elif missing:
            print(f"note: {name}: {len(missing)} files were not tried yet: {', '.join(missing)}")
        if len(listed) != total["survived"]:
            failed.append(f"{name}: expected {total['survived']} survivors in survivors.json, found {len(listed)}")
        if floor == 100:
            failed += [f"{key[0]}: survives: {key[2]}: {key[1]}" for key in listed if not reasons[key]]
        elif not missing and share < floor:
            failed.append(f"{name}: expected {floor} % of {count} mutants to be found, found {share:.1f} %")
        stale = [path for path in here if path in files and ledger.is_stale(path)]
        if stale:
            print(f"note: {name}: changed since their mutants were tried: {', '.join(stale)}")
        for path in here:
            if path in files and path not in stale:
                lines = {line.strip() for line in (ROOT / path).read_text().splitlines()}
                failed += [f"{path}: no such line: {key[1]}" for key in listed if key[0] == path and key[1] not in lines]
    return checked, failed


def quick(ledger, planted, jobs):
    """Tries some mutants of the strictest files whose tests are built in seconds."""
    group = next(group for group in GROUPS if group.quick)
    listed = mutants([*STRICT, *ALGO])
    found = [one for one in listed if one["file"].startswith(group.files)]
    reasons = ledger.reasons()
    if planted == "reason-left-out":
        key = next(key for key in reasons if is_within(key[0], STRICT))
        ledger.survivors = [one for one in ledger.survivors if key_of(one) != key]
    checked, failed = judge(ledger, sorted({one["file"] for one in listed}))
    woven = Woven(group, found)
    woven.prepare()
    programs = woven.build(group.quick)
    woven.record(programs, jobs)
    if planted == "tests-left-out":
        woven.tests = [test for test in woven.tests if test.name.startswith("line::")]
    hunt = Hunt(woven, False)
    alone = {number for number, _ in woven.alone}
    viable = [
        one for one in found
        if key_of(one) not in reasons and one["number"] not in woven.unviable and one["number"] not in alone
    ]  # fmt: skip
    random.Random(SEED).shuffle(viable)
    # Those of files that changed come first.
    viable.sort(key=lambda one: not ledger.is_stale(one["file"]))
    numbers = [one["number"] for one in viable[:SAMPLE]]
    with ThreadPoolExecutor(jobs) as pool:
        ends = dict(zip(numbers, pool.map(hunt.hunt, numbers), strict=True))
    kinds = Counter(how for how, _ in ends.values())
    print(f"note: a sample of {len(numbers)} mutants: {kinds['killed']} found, {kinds['timeout']} as loops without an end")
    for number, (how, why) in ends.items():
        if how == "survived":
            failed.append(f"{woven.by_number[number]['name']}: survives: {why}")
    return checked + len(numbers), failed


PLANTED = ["tests-left-out", "reason-left-out"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="some mutants of the strictest files")
    parser.add_argument("--full", action="store_true", help="all mutants of files that changed")
    parser.add_argument("--alone", action="store_true", help="build those in constants too, one by one")
    parser.add_argument("--unit-tests", action="store_true", help="with unit tests alone, which are built sooner")
    parser.add_argument("--again", action="store_true", help="survivors without a reason once more")
    parser.add_argument("--list", action="store_true", help="the files, and what is known of them")
    parser.add_argument("--planted", nargs="?", const="", help="names the planted bugs, or plants one")
    parser.add_argument("files", nargs="*", help="only these files")
    args = parser.parse_args()
    if args.planted == "":
        print("\n".join(PLANTED))
        return 0
    if args.planted and (args.planted not in PLANTED or not args.quick):
        parser.error(f"expected --quick --planted, with one of {', '.join(PLANTED)}, found {args.planted}")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    jobs, ledger = len(os.sched_getaffinity(0)), Ledger()
    if args.quick:
        checked, failed = quick(ledger, args.planted, jobs)
    else:
        found = mutants([*STRICT, *ALGO])
        files = sorted({one["file"] for one in found})
        if args.list:
            for path in files:
                row = dict(ledger.files.get(path, {}))
                row.pop("source", None)
                print(f"{path}: {'stale ' if ledger.is_stale(path) else ''}{row}")
            return 0
        only, wanted = None, [path for path in files if not args.files or is_within(path, args.files)]
        if args.again:
            only = {key_of(one) for one in ledger.survivors if not one["reason"]}
            wanted = [path for path in wanted if path in {key[0] for key in only}]
        elif not args.files:
            wanted = [path for path in wanted if ledger.is_stale(path)]
        for group in GROUPS:
            # All that can be woven is, so that the next run has the same program.
            here = [one for one in found if one["file"].startswith(group.files)]
            if any(path.startswith(group.files) for path in wanted):
                hunt_files(group, here, set(wanted), ledger, jobs, only, args)
        checked, failed = judge(ledger, files)
    for line in failed:
        print(f"failed: {line}")
    print(f"mutation: {checked} checked, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
