"""A program that contains all mutants of some files, and its tests."""

import fcntl
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from bugs import CHILDREN, PATIENCE, PROFILE, Tree
from mutants import ROOT, SCRATCH, read_json

# Tests of the library spend most of their time in other crates, so these are optimised. Optimising
# the woven code itself takes an hour: each kernel is one function with all its mutants.
PROFILE_OF_OTHERS = {'package."*".opt-level': "3"}
# Prefixes of the command's tests that run; the others are about other files.
COMMANDS_TESTS = ("atomic::", "audit::", "check::", "key::", "limits::", "lists::", "manifest::", "nonce::", "output::", "seal::")
# Prefixes of the library's tests that go through all lengths: `small` checks their laws at the
# edges.
LONG_TESTS = ("batch::", "canary::", "collisions::", "laws::", "pmac_bound::", "pmac_small::", "random::", "wycheproof::")
# Maximum CPU time of a test in seconds; longer ones are not used.
LONG = int(os.environ.get("TAGMAC_MUTATION_LONG", 6))
# Address space in bytes: a mutant may allocate without bound.
ROOM = 8 << 30

# Added to the woven crate. Numbers begin with 1.
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
    """Files whose mutants are in one program, and the tests to find them."""

    name: str
    files: tuple  # prefixes
    crate: str
    check: tuple
    tests: tuple
    # Tests for a quick run.
    quick: tuple
    # Additions to the profile that bugs are built with.
    profile: dict = field(default_factory=dict)


def say(text):
    """Prints progress to standard error."""
    print(text, file=sys.stderr, flush=True)


def stem(program):
    """Returns a program's name without cargo's hash."""
    return Path(program).name.rsplit("-", 1)[0]


@dataclass
class Test:
    """A test, with its time and the mutants that it reaches."""

    program: str
    folder: str
    name: str
    seconds: float = 0.0
    reached: frozenset = frozenset()


@dataclass
class Woven:
    """A group's program with many mutants."""

    group: Group
    mutants: list
    tree: Tree = None
    plain_tree: Tree = None
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
        """Copies the tree, except for the files to weave."""
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
        """Writes a file only if it changed, so that equal files keep their times."""
        place = self.tree.path / path
        if place.read_text() != text:
            place.write_text(text)

    def plain(self):
        """Returns a copy without mutants, for those that are not woven."""
        if self.plain_tree is None:
            self.plain_tree = Tree(0)
            self.plain_tree.path = SCRATCH / self.group.name / "plain"
            self.plain_tree.built = SCRATCH / self.group.name / "plain-target"
            self.plain_tree.environment = self.tree.environment | {"CARGO_TARGET_DIR": str(self.plain_tree.built)}
            # Without these flags a lint stops the compiler when it evaluates endless loops.
            self.plain_tree.environment.pop("RUSTFLAGS")
            self.plain_tree.copy()
        return self.plain_tree

    def cargo(self, *arguments, tree=None):
        tree = tree or self.tree
        command = ["cargo", *arguments, "--quiet", "--locked", "--profile", "mutation", "--message-format", "json"]
        for key, value in (PROFILE | self.group.profile).items():
            command += ["--config", f"profile.mutation.{key}={value}"]
        ran = tree.call(command, tree.path, PATIENCE)
        messages = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
        return ran, messages

    def prepare(self):
        """Weaves all mutants that compile. The others are not viable, or must be built alone."""
        self.copy()
        # Results of an earlier run, so that equal files keep their times.
        kept = SCRATCH / self.group.name / "woven.json"
        files = sorted({one["file"] for one in self.mutants})
        sources = {path: hashlib.sha256((ROOT / path).read_bytes()).hexdigest()[:16] for path in files}
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
            say(f"{self.group.name}: {len(left_out)} mutants do not compile, {len(constant)} functions must stay constant")
            if (len(left_out), len(constant)) == before:
                texts = [one["message"]["rendered"] for one in messages if one.get("message", {}).get("level") == "error"]
                sys.exit(f"mutation: {self.group.name} does not compile, but no mutant is the cause:\n{''.join(texts[:4])}")
        kept.write_text(json.dumps({"sources": sources, "left_out": left_out, "constant": sorted(constant)}))
        for number in apart:
            left_out.setdefault(number, "in a constant")
        for number, why in left_out.items():
            one = self.by_number[number]
            # As a function's only expression it would have the same type, unless that names a
            # trait.
            same = one["genre"] == "FnValue" and "impl " not in one["function"]["return_type"]
            if same and why != "in a constant" and not why.startswith("place: "):
                self.unviable[number] = why
            else:
                self.alone.append((number, why))

    def judge_errors(self, messages, left_out, constant):
        """Finds the mutants that cause errors."""
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

    def build(self, tests, tree=None):
        """Builds test programs."""
        tree = tree or self.tree
        begin = time.monotonic()
        ran, messages = self.cargo("test", "--no-run", *tests, tree=tree)
        if ran.returncode != 0:
            texts = [one["message"]["rendered"] for one in messages if one.get("message", {}).get("level") == "error"]
            sys.exit(f"mutation: the tests of {self.group.name} do not build\n{''.join(texts[:3]) or ran.stderr}")
        found = []
        for one in messages:
            manifest = Path(one.get("manifest_path", "/"))
            if one.get("executable") and one["profile"]["test"] and manifest.is_relative_to(tree.path):
                found.append((one["executable"], str(manifest.parent)))
        say(f"{self.group.name}: built in {time.monotonic() - begin:.0f} s")
        return sorted(found)

    def record(self, programs, jobs):
        """Runs each test alone to record its time and the mutants that it reaches."""
        state = hashlib.sha256()
        for program, _ in programs:
            state.update(Path(program).read_bytes())
        self.state = state.hexdigest()
        kept = SCRATCH / self.group.name / "tests.json"
        known = read_json(kept, {})
        if known.get("state") != self.state:
            tests = []
            for program, folder in programs:
                ran = self.tree.call([program, "--list", "--format", "terse"], folder)
                names = re.findall(r"^(.+): test$", ran.stdout, re.M)
                ran = self.tree.call([program, "--list", "--format", "terse", "--ignored"], folder)
                ignored = set(re.findall(r"^(.+): test$", ran.stdout, re.M))
                if folder.endswith("crates/cli"):
                    names = [name for name in names if name.startswith(COMMANDS_TESTS)]
                names = [name for name in names if not name.startswith(LONG_TESTS)]
                tests += [Test(program, folder, name) for name in names if name not in ignored]
            with ThreadPoolExecutor(jobs) as pool:
                fine = list(pool.map(self.try_test, tests))
            rows = [
                [test.program, test.folder, test.name, test.seconds, sorted(test.reached), ok]
                for test, ok in zip(tests, fine, strict=True)
            ]
            known = {"state": self.state, "tests": rows}
            kept.write_text(json.dumps(known))
        for program, folder, name, seconds, reached, ok in known["tests"]:
            if ok == "green":
                self.tests.append(Test(program, folder, name, seconds, frozenset(reached)))
        say(f"{self.group.name}: {len(self.tests)} tests that end within {LONG} s")
        # Mutants survive that these tests would find.
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
        """Runs a test. Returns green, red or timeout, and its seconds of CPU time."""
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
            # The limit is in CPU time, which takes longer on a busy machine. This timer is for a
            # test that hangs without using CPU time.
            deadline = time.monotonic() + 60 + 40 * limit
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
