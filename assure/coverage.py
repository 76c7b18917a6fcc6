#!/usr/bin/env python3
"""Coverage: the lines that the tests run and the branches they take, of the code that decides what is accepted.

Builds the tests with counters (`-Cinstrument-coverage`), without optimisation, runs them, and reads what
ran with LLVM's own tools. Each line of the files in `NAMED` must run in some test, and each branch there
must be taken and not taken, unless `assure/uncovered.json` has it with a reason; a reason for what runs is
a failure too. A reason is for `holes`, each a statement of a function (`anchors.py`) that does not run or, with
`never`, one branch in it and the side that is never taken, `true` or `false`. `part` is the part that does not
run of a statement that runs in part, or the condition where a statement has several. A block that only such a
side leads to needs no reason. Reasons with a `level` count where the CPU does not have it. Of the regions of all
files that are measured, `FLOOR` percent must run where the CPU has all levels. Lines of tests do not count, nor
do lines that only close something.

    coverage.py --quick [--planted NAME] | --full | --planted
    coverage.py --holes [FILE...]    the regions that do not run, for those who write tests

`--full` runs the tests of the library, of `crates/any`, of `crates/files` and of the command but for those in
`LEFT_OUT`, the corpus of `assure/targets`, which calls the C library as well, the C library's own test of all its functions, the
tests of object stores with a server of moto's, and the job `faults` with the command that has counters: every
system call fails, and of what runs then only regions count. `--quick` runs none of the last two, leaves out the
tests of the first two and `SLOW` ones, and asks for nothing of their files and of `FLOOR`.

What it counts:
- Code of generic types is compiled for each choice of types. What one of them runs has run, and a side of a
  branch that one of them takes is taken: counters of the same place are added up. On a level that this CPU
  does not have, nothing runs but what all levels share.
- The compiler has counters for `if`, `if let`, `let else`, `while`, and for each operand of `&&` and `||`
  that is a condition; none for the arms of a `match`, which are lines and regions, nor for `?`, whose two
  ways are regions. What macros make is at the place of their call, where all calls count as one.
- A branch within a line that does not run is not named again.
- What the compiler alone evaluates has a counter and never runs: a `const fn` that is not `pub` and never ran has
  no regions. It is in some constant, or the compiler would have called it dead.
- A line that ran is a line that ran: whether a test would notice that it is wrong is for `mutation` and
  `bugs` to show. Counters of a process that is killed are lost, and its lines do not count: of a branch that came
  to neither of its ends both would. Examples of the documentation run elsewhere and do not count.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from anchors import Tree, align, anchor, names_in
from rust_source import one_line, renaming, words

REPO = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target")).resolve()
SCRATCH = TARGET / "assure" / "coverage"
COMMAND = SCRATCH / "coverage" / "tagmac"
REASONS = REPO / "assure" / "uncovered.json"
WRAPPER = REPO / "assure" / "coverage-rustc"
PROFILE = {
    "inherits": '"dev"',
    "opt-level": "0",
    "debug": "false",
    "incremental": "false",
    "codegen-units": "16",
}
PLANTED = ["tests-left-out", "reason-left-out", "reason-for-a-line-that-runs", "branch-with-one-side",
           "another-line-of-the-function"]  # fmt: skip
PLANTED_BRANCH = """fn main() {
    let is_named = std::env::args().count() > 0;
    println!("{}", if is_named { 1 } else { 2 });
}
"""
# What the system calls the features of levels that not every CPU has.
FLAGS = {
    "vaes": ["avx2", "aes", "vaes"],
    "avx512": ["avx512bw", "avx512ifma", "avx512vbmi", "avx512_vbmi2", "gfni", "vaes", "vpclmulqdq"],
}
# LLVM's kind of a region of code, among gaps and expansions.
CODE = 0


# What is built together, so that the library is built once with all features and once for its own tests. Its own and
# those of all MACs come first, and are for full runs.
PACKAGES = ["tagmac", "tagmac-any", "tagmac-bounds", "tagmac-files", "tagmac-cli", "tagmac-border", "fuzz-targets"]
FEATURES = ["tagmac/threads", "tagmac/cipher", "tagmac/digest", "tagmac-cli/fault-injection"]
# With them the command reads objects. In a quick run it does not: what object stores are built on takes minutes.
OBJECTS = "tagmac-cli/objects"
OPTIONS = ["--lib", "--bins", "--test", "all"]
# What is in the names of tests that do not run here, by folder. All of them run in `scripts/test`.
LEFT_OUT = {
    # They take long where nothing is optimised, and reach what others reach.
    "tagmac": [
        "algo::elimac::tests::a_cache_of_any_size", "algo::many_keys::tests::pmac_is_the_same",
        "cipher::present::tests::official_vectors", "cipher::present::tests::sums_on_every_rung",
        "canary::", "cmac::many_at_once", "collisions::", "digest::lightmac_present", "digest::pmac_present",
        "edit::scripts_of_umac", "far::",
        "nonces::a_grade_checks_its_words", "pmac_bound::", "pmac_small::",
    ],
    "any": [
        # As above.
        "batch::batches_of_every_size", "batch::every_length_and_every_count",
        "laws::a_flipped_bit_in_any_byte", "laws::any_cut", "laws::every_cut", "registry::one_tag_whatever_the_way",
        "save::streams_and_parts_of_umac", "vectors::umac_markers_in_parts",
    ],
    "bounds": [
        # As above.
        "bounds::bounds_grow", "bounds::elimac_is_exact", "bounds::lightmac_is_exact", "bounds::pmac_is_exact", "bounds::umac_of_1999_is_exact",
        "limits::limits_never_grow", "limits::numbers_are_the_largest",
    ],
    "cli": [
        # As above.
        "checkpoint::it_goes_on_where_it_was", "exit::every_command_in_every_class",
        "exit::without_memory_there_is_no_verdict", "memory::", "parts::every_algorithm_with_parts",
        "parts::made_on_one_level",
        # They let no file grow, and counters are written to files.
        "audit::the_forms_of_a_report", "checkpoint::a_disk_that_is_full",
        "faults::a_full_disk_leaves", "parts::what_cannot_be_read_or_written",
        "update_faults::a_patch_that_was_cut_short", "update_faults::no_room_for_the_sidecar",
    ],
}  # fmt: skip
# Nor do these in a quick run, among them most of those that kill: counters of what is killed are lost.
SLOW = [
    "atomic::a_kill_at_any_call", "checkpoint::a_checkpoint_is_not_read_further", "checkpoint::killed_at_every_call",
    "manifest::every_byte_of_a_manifest_counts", "process::memory_does_not_depend_on_the_file",
    "process::the_test_of_itself", "progress::",
    "seal::the_same_tree_has_the_same_manifest_on_any_number_of_threads", "tag::every_algorithm_and_every_way",
    "update_faults::killed_", "update_pending::patch::a_recovery_that_is_killed",
]  # fmt: skip
MEASURED = ["crates/bounds/src/", "crates/tagmac/src/", "crates/any/src/", "crates/files/src/", "crates/cli/src/", "crates/capi/src/", "crates/border/src/"]
# Each line of these files, and of the files of these folders, must run, and both sides of each branch.
NAMED = [
    "crates/bounds/src/",
    *(f"crates/tagmac/src/{name}" for name in [
        "mac.rs", "construction.rs", "tag.rs", "nonce.rs", "part.rs", "plan.rs", "save/",
        "isa/level.rs", "isa/usable.rs",
    ]),
    *(f"crates/any/src/{name}" for name in ["key_file.rs", "key_id.rs", "partial.rs", "saved.rs"]),
    *(f"crates/files/src/{name}" for name in [
        "key_file.rs", "line.rs", "line_reader.rs", "manifest/", "partial/", "sidecar/", "checkpoint.rs",
    ]),
    *(f"crates/cli/src/{name}" for name in ["check.rs", "tag_line.rs"]),
]  # fmt: skip
# The least of the regions of what is measured that must run, in percent, on a CPU with all levels.
FLOOR = 98.0
# The folder of the counters of the job `faults`, and how much it must have tried.
FAULTS = "faults"
LEAST_FAULTS = 10_000


def tool(name):
    """LLVM's tool of the compiler's own version, which alone reads what it writes."""
    said = subprocess.run(["rustc", "-vV"], stdout=subprocess.PIPE, text=True, check=True).stdout
    version = re.search(r"LLVM version: (\d+)", said)[1]
    command = f"{name}-{version}"
    if not shutil.which(command):
        subprocess.run(["scripts/need", f"llvm-{version}"], cwd=REPO, check=True)
    return command


def cargo(packages, features, *command):
    """What cargo says of what it built, with counters."""
    environment = dict(os.environ, CARGO_TARGET_DIR=str(SCRATCH), RUSTC_BOOTSTRAP="1")
    environment["RUSTC_WORKSPACE_WRAPPER"] = str(WRAPPER)
    environment.pop("RUSTFLAGS", None)
    command = ["cargo", *command, "--quiet", "--locked", "--profile", "coverage"]
    command += ["--message-format", "json-render-diagnostics"]
    for package in packages:
        command += ["-p", package]
    command += ["--features", ",".join(features)]
    for key, value in PROFILE.items():
        command += ["--config", f"profile.coverage.{key}={value}"]
    ran = subprocess.run(command, cwd=REPO, env=environment, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"coverage: the tests do not build\n{ran.stderr}")
    said = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    return [one for one in said if Path(one.get("manifest_path", "/")).is_relative_to(REPO)]


def build(full):
    """Builds the tests: programs and the folders that they run in, and all that has counters."""
    packages, features = (PACKAGES, [*FEATURES, OBJECTS]) if full else (PACKAGES[2:], FEATURES)
    tests, objects = [], []
    for one in cargo(packages, features, "test", "--no-run", *OPTIONS):
        if one.get("executable"):
            objects.append(one["executable"])
            if one["profile"]["test"]:
                tests.append((one["executable"], Path(one["manifest_path"]).parent))
    for one in cargo([*packages, "tagmac-capi"], features, "build", "--lib"):
        objects += [name for name in one.get("filenames", []) if name.endswith("libtagmac.so")]
    # Cargo names them in the order that it ends with them.
    tests, objects = sorted(tests), sorted(set(objects))
    tests.append((str(smoke(Path(next(name for name in objects if name.endswith(".so"))))), SCRATCH))
    return tests, objects


def smoke(library):
    """The C library's test of all its functions, built against this library."""
    program, name = SCRATCH / "smoke", SCRATCH / "libtagmac.so.0"
    name.unlink(missing_ok=True)
    name.symlink_to(library)
    command = ["cc", "-o", program, REPO / "crates/capi/tests/smoke.c", f"-I{REPO / 'crates/capi/include'}"]
    subprocess.run([*command, library, f"-Wl,-rpath,{SCRATCH}"], check=True)
    return program


def is_of(package, program, folder):
    """Whether these are the tests of a package from outside."""
    return folder.name == package and Path(program).name.startswith("all-")


def run(tests, profiles, full):
    """Runs tests, each program into a folder of its own. What went wrong."""
    shutil.rmtree(profiles, ignore_errors=True)
    runs = []
    for program, folder in tests:
        if program == str(SCRATCH / "smoke"):
            runs.append(([program, str(profiles)], folder))
        else:
            left_out = LEFT_OUT.get(folder.name, []) + ([] if full else SLOW)
            runs.append(([program, *(word for name in left_out for word in ("--skip", name))], folder))
    if full:
        runs.append((with_a_server(), REPO))
    failed = []
    for number, (command, folder) in enumerate(runs):
        # Processes that end add to one of a few files: there are thousands of them.
        ran = counted(command, folder, profiles / str(number), "%4m")
        if ran.returncode != 0 or " 0 passed" in ran.stdout:
            names = re.findall(r"^(?:test )?(\S+) \.\.\. FAILED$|^FAILED (\S+)", ran.stdout, re.M)
            names = ["".join(name) for name in names]
            failed.append(f"{Path(command[0]).name}: expected green tests, found {names or ran.stderr[-300:]}")
    if full:
        # The verdict on the command that users have is that of the job: this one has assertions, and those of rustix
        # end it where a call fails that never does.
        # All processes map one file, so that no call writes it in the end, which would fail as others do.
        ran = counted(with_faults(), REPO, profiles / FAULTS, "%c%m")
        found = re.search(r"^faults: (\d+) checked", ran.stdout, re.M)
        count = int(found[1]) if found else 0
        if count < LEAST_FAULTS:
            failed.append(f"faults: expected {LEAST_FAULTS} or more checked, found {count}: {ran.stderr[-300:]}")
    return failed


def counted(command, folder, here, files):
    """Runs a command whose counters go to files in a folder."""
    here.mkdir(parents=True)
    environment = dict(os.environ, LLVM_PROFILE_FILE=f"{here}/{files}.profraw", TAGMAC=str(COMMAND))
    # Rows of vectors of many megabytes take minutes where nothing is optimised.
    environment["TAGMAC_TEST_BYTES"] = "20000"
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace")
    # Commands that a test starts with no environment.
    for left in folder.glob("default_*.profraw"):
        shutil.move(left, here / left.name)
    return ran


def with_a_server():
    """The tests of the command with object stores, on a server of moto's."""
    venv = SCRATCH / "python"
    if not (venv / "bin/python").exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    pip = [venv / "bin/pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", REPO / "crates/objects/tests/requirements.txt"], check=True)
    tests = [venv / "bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "crates/objects/tests"]
    return [REPO / "scripts/objects-server", "--moto", *tests]


def with_faults():
    """The job in which every system call fails, but for the examples that compute for long."""
    build = ["cargo", "build", "--quiet", "--release", "--locked", "-p", "assure", "--bin", "faults"]
    subprocess.run(build, cwd=REPO, check=True)
    return [TARGET / "release/faults", "--quick"]


@dataclass
class File:
    """What ran of a file before its tests, in any of the programs and for any types."""

    lines: dict = field(default_factory=dict)  # how often, by number
    regions: dict = field(default_factory=dict)  # how often, by place
    branches: dict = field(default_factory=dict)  # how often it was true and false, by place


def read(objects, profiles, places, but=None):
    """What ran, by file, but for what ran in one of the folders."""
    raw = [str(path) for path in sorted(profiles.rglob("*.profraw")) if path.parent.name != but]
    merged = profiles / "all.profdata"
    # A process that is killed while it adds leaves a file that is cut short: the others are whole.
    subprocess.run(
        [tool("llvm-profdata"), "merge", "-sparse", "--failure-mode=all", *raw, "-o", merged], check=True
    )
    first, *others = objects
    export = [tool("llvm-cov"), "export", f"-instr-profile={merged}", first]
    export += ["-ignore-filename-regex=/tests/|/tests.rs|/registry/|/rustc/"]
    for other in others:
        export += ["-object", other]
    lcov, text = [
        subprocess.run([*export, *how], stdout=subprocess.PIPE, text=True, check=True).stdout
        for how in (["-format=lcov"], ["-format=text", "-skip-expansions"])
    ]
    files, known, file = {}, {}, None

    def file_of(name):
        """The file, and the number of its last line before its tests, if it is measured."""
        if name not in known:
            path, known[name] = named_from_repo(name), (None, 0)
            if is_within(path, places) and "/tests" not in path:
                end = end_of_code((REPO / path).read_text().splitlines())
                known[name] = files.setdefault(path, File()), end
        return known[name]

    for line in lcov.splitlines():
        if line.startswith("SF:"):
            file, end = file_of(line[3:])
        elif line.startswith("DA:") and file:
            number, count = map(int, line[3:].split(",")[:2])
            if number <= end:
                file.lines[number] = file.lines.get(number, 0) + count
    functions = json.loads(text)["data"][0]["functions"]
    constant = constants(functions, file_of)
    for function in functions:
        # A function of generic types is here once for each choice of types. What one of them runs has run.
        names = function["filenames"]
        if place_of(function) in constant:
            continue
        for *place, count, of, _, kind in function["regions"]:
            file, end = file_of(names[of])
            if file and kind == CODE and place[0] <= end:
                place = tuple(place)
                file.regions[place] = file.regions.get(place, 0) + count
        for *place, yes, no, of, _, _ in function["branches"]:
            file, end = file_of(names[of])
            if file and place[0] <= end:
                place = tuple(place)
                before = file.branches.get(place, (0, 0))
                file.branches[place] = before[0] + yes, before[1] + no
    return files


def place_of(function):
    """Where a function is, whatever its types."""
    return function["filenames"][0], *function["regions"][0][:2]


def constants(functions, file_of):
    """The places of each `const fn` that is not `pub` and never ran."""
    ran = {place_of(function) for function in functions if function["count"] > 0}
    texts, found = {}, set()
    for name, line, column in {place_of(function) for function in functions} - ran:
        if file_of(name)[0]:
            text = texts.setdefault(name, Path(name).read_text().splitlines())[line - 1]
            if re.match(r"(pub\(.*?\) )?const fn ", text[column - 1 :]):
                found.add((name, line, column))
    return found


def named_from_repo(name):
    """A path as `MEASURED` has it, if it is in the repository."""
    path = Path(os.path.normpath(name))
    return str(path.relative_to(REPO)) if path.is_relative_to(REPO) else str(path)


def is_within(path, places):
    return any(path == place or place.endswith("/") and path.startswith(place) for place in places)


def end_of_code(lines):
    """The number of the last line before a file's tests."""
    for number, line in enumerate(lines[:-1]):
        if line.startswith("#[cfg(") and "test" in line and re.match(r"mod \w+ \{", lines[number + 1]):
            return number
    return len(lines)


def has_level(level):
    """Whether this CPU has a level; `None` is one that all have."""
    return set(FLAGS.get(level, [])) <= set(re.findall(r"\w+", Path("/proc/cpuinfo").read_text()))


@dataclass(frozen=True)
class Hole:
    """A statement that does not run, or a side of a branch in it that is never taken."""

    path: str
    line: int
    function: int  # the number of the item
    statement: int  # its number there
    part: str | None
    never: str | None

    @property
    def place(self):
        return self.path, self.function, self.statement


def holes_of(path, file, source):
    """The holes of a file, and how many lines and sides there are."""
    text, checked, holes = source.text.splitlines(), 0, defaultdict(list)
    where = {
        number: (index, which)
        for index, item in enumerate(source.items)
        for which, statement in enumerate(item.statements)
        for number in range(statement.start, statement.end)
    }
    line_of = [bisect_right(source.lines, start) for start in source.starts]
    by_line = defaultdict(list)
    for number, line in enumerate(line_of):
        by_line[line].append(number)
    zero = set()
    for number, count in sorted(file.lines.items()):
        if re.fullmatch(r"[\s\])};,]*", text[number - 1]):
            continue
        checked += 1
        if count == 0:
            zero.add(number)
    for line in sorted(zero):
        for number in by_line[line]:
            if number in where:
                holes[where[number]].append(number)
    found = []
    for (index, which), numbers in holes.items():
        statement = source.items[index].statements[which]
        # Lines without a counter, as those of texts that go on, are like those around them.
        if not any(file.lines.get(line_of[number], 0) > 0 for number in range(statement.start, statement.end)):
            found.append(Hole(path, line_of[numbers[0]], index, which, None, None))
            continue
        starts = [at for at, number in enumerate(numbers) if at == 0 or number > numbers[at - 1] + 1]
        for start, stop in zip(starts, [*starts[1:], None], strict=True):
            part = one_line(source.text, [source.tokens[number] for number in numbers[start:stop]])
            found.append(Hole(path, line_of[numbers[start]], index, which, part, None))
    for place, sides in sorted(file.branches.items()):
        checked += 2
        # Where the line does not run, that is the hole.
        if file.lines.get(place[0], 1) > 0:
            start = source.token_at(source.offset(*place[:2]))
            stop = source.token_at(source.offset(*place[2:4]) - 1) + 1
            part = one_line(source.text, source.tokens[start:stop])
            for side, count in zip(("true", "false"), sides, strict=True):
                if count == 0 and start in where:
                    found.append(Hole(path, place[0], *where[start], part, side))
    return checked, found


def find(tree, file, hole):
    """Where the statement of a reason is: its file, and the numbers of the function and of itself."""
    at = tree.locate(file, hole["function"])
    if at is None:
        return None
    source = tree.source(at[0])
    for index, item in enumerate(source.items):
        if item.name == at[1]:
            codes = [source.code(statement) for statement in item.statements]
            found = align(hole, codes, names_in(source, item))
            if found:
                return at[0], index, found[0]
    return None


class Excuses:
    """What the reasons are about, in the code of today."""

    def __init__(self, reasons, tree):
        self.tree, self.rows, self.taken = tree, [], set()
        self.by_place = defaultdict(list)
        for reason in reasons:
            # Where the CPU has the level, its code runs as all other does; where it has not, it may run or not.
            here = not has_level(reason.get("level"))
            for hole in reason["holes"]:
                row = {"file": reason["file"], "reason": reason, "hole": hole, "used": here}
                row["place"] = find(tree, reason["file"], hole)
                self.rows.append(row)
                if row["place"] and (here or "level" not in reason):
                    self.by_place[row["place"]].append(row)

    def take(self, hole):
        """The row that a hole has, if there is one that no other hole has."""
        for row in self.by_place[hole.place]:
            never, part = row["reason"].get("never"), row["hole"].get("part")
            if id(row) in self.taken or never != hole.never:
                continue
            if part is None and (hole.part is None or never) or part is not None and alike(part, hole.part):
                self.taken.add(id(row))
                row["used"] = True
                return row
        return None

    def dead(self, row):
        """Where tokens begin and end that only a side leads to that is never taken."""
        path, index, which = row["place"]
        source, never = self.tree.source(path), row["reason"].get("never")
        statement = source.items[index].statements[which]
        first = source.word(statement.start)
        block = statement.end
        if "part" in row["hole"] or never is None:
            return None
        if never == "false" and first == "let":
            # Patterns have braces of their own.
            number = statement.start
            while source.word(number) not in ("else", ";", None):
                number = source.partner.get(number, number) + 1
            return (number + 1, source.partner[number + 1]) if source.word(number) == "else" else None
        if source.word(block) != "{":
            return None
        if first in ("if", "while") or (first, source.word(statement.start + 1)) == ("else", "if"):
            stop = source.partner[block]
            if never == "true":
                return block, stop
            if source.word(stop + 1) == "else" and source.word(stop + 2) == "{":
                return stop + 2, source.partner[stop + 2]
        return None


def alike(one, other):
    """Whether two texts are the same but for names."""
    return other is not None and renaming(words(one), words(other), ()) is not None


def judge(files, named, reasons, tree):
    """What was checked, and the failures."""
    checked, failed = 0, []
    excuses = Excuses(reasons, tree)
    here = [row for rows in excuses.by_place.values() for row in rows]
    for row in excuses.rows:
        if not row["place"]:
            failed.append(f"{row['file']}: no such statement in {row['hole']['function']}: {row['hole']['code']}")
    dead = defaultdict(list)
    for row in here:
        if part := excuses.dead(row):
            dead[row["place"][0]].append(part)

    def is_dead(place):
        path, index, which = place
        number = tree.source(path).items[index].statements[which].start
        return any(start < number < end for start, end in dead[path])

    for path, file in sorted(files.items()):
        if not is_within(path, named):
            continue
        source = tree.source(path)
        count, holes = holes_of(path, file, source)
        checked += count
        not_run = {hole.place for hole in holes if hole.never is None}
        for hole in holes:
            if not excuses.take(hole) and not is_dead(hole.place):
                code = source.code(source.items[hole.function].statements[hole.statement])
                what = f"is never {hole.never}" if hole.never else "runs in no test"
                part = f" ({hole.part})" if hole.part and hole.part not in code else ""
                failed.append(f"{path}:{hole.line}: {what}: {code}{part}")
        for row in here:
            # Of a statement that does not run, branches have no sides that run.
            row["used"] |= row["place"] in not_run and "never" in row["reason"]
    for row in here:
        if not row["used"] and is_within(row["place"][0], named) and not is_dead(row["place"]):
            kind = "branch" if row["reason"].get("never") else "line"
            failed.append(f"{row['place'][0]}: expected a {kind} that does not run, found none: {row['hole']['code']}")
    return checked, failed


def shares(files, places):
    """How many lines, regions and sides of branches there are in these files, and how many ran."""
    here = [file for path, file in files.items() if is_within(path, places)]
    counts = {
        "lines": [count for file in here for count in file.lines.values()],
        "regions": [count for file in here for count in file.regions.values()],
        "sides of branches": [count for file in here for sides in file.branches.values() for count in sides],
    }
    return {kind: (len(all_of), sum(count > 0 for count in all_of)) for kind, all_of in counts.items()}


def one_sided(profiles):
    """A program of which each line runs, and one side of a branch does not. What it is, and what ran of it."""
    source, program = SCRATCH / "planted.rs", SCRATCH / "planted"
    source.write_text(PLANTED_BRANCH)
    environment = dict(os.environ, RUSTC_BOOTSTRAP="1", LLVM_PROFILE_FILE=f"{profiles}/planted.profraw")
    command = [WRAPPER, "rustc", "--edition=2024", "-o", program, source]
    for arguments in (command, [program]):
        subprocess.run(arguments, env=environment, stdout=subprocess.DEVNULL, check=True)
    return named_from_repo(source), str(program)


def plant_hole(files, named, reasons, tree):
    """Lets a statement not run that has no reason, in a function where another has one."""
    for place in Excuses(reasons, tree).by_place:
        path, index, which = place
        source = tree.source(path)
        for number, statement in enumerate(source.items[index].statements):
            line = source.text.count("\n", 0, source.starts[statement.start]) + 1
            if number != which and is_within(path, named) and files[path].lines.get(line, 0) > 0:
                files[path].lines[line] = 0
                return
    sys.exit("coverage: no function has a statement that runs and one that does not")


def main():
    arguments = sys.argv[1:]
    if arguments == ["--planted"]:
        print("\n".join(PLANTED))
        return 0
    holes = arguments[:1] == ["--holes"]
    planted = arguments[2] if arguments[:2] == ["--quick", "--planted"] and len(arguments) == 3 else None
    if planted not in [None, *PLANTED] or not (planted or holes or arguments in (["--quick"], ["--full"])):
        sys.exit("usage: coverage.py --quick [--planted NAME] | --full | --planted | --holes [FILE...]")
    full = arguments == ["--full"] or holes
    named, reasons, tree = NAMED, json.loads(REASONS.read_text()), Tree()
    if not full:
        named = [name for name in named if not name.startswith(("crates/tagmac/", "crates/any/"))]
    tests, objects = build(full)
    profiles = SCRATCH / "profiles"
    stamp = profiles / "of"
    failed = []
    # Planted bugs are in what is made of the profiles: those of the last run serve, if it was of these.
    state = json.dumps([full] + [[one, os.stat(one).st_mtime_ns] for one in objects])
    if not (planted or holes) or not stamp.exists() or stamp.read_text() != state:
        failed = run(tests, profiles, full)
        stamp.write_text(state)
    places = MEASURED
    if planted == "tests-left-out":
        hidden = profiles / str([is_of("cli", *test) for test in tests].index(True))
        hidden.rename(SCRATCH / "hidden")
    if planted == "reason-left-out":
        reasons = reasons[1:]
    if planted == "reason-for-a-line-that-runs":
        path = "crates/cli/src/check.rs"
        source = tree.source(path)
        all_codes = [(item, [source.code(statement) for statement in item.statements]) for item in source.items]
        item, codes, number = next(
            (item, codes, number) for item, codes in all_codes
            for number, code in enumerate(codes) if code.startswith("let ")
        )  # fmt: skip
        hole = {"function": item.name, **anchor(codes, number)}
        reasons.append({"file": path, "holes": [hole], "reason": "planted"})
    if planted == "branch-with-one-side":
        source, program = one_sided(profiles)
        objects, named, places = [*objects, program], [*named, source], [*places, source]
    files = read(objects, profiles, places)
    # Lines that are named run in tests, and not only where calls fail.
    of_tests = read(objects, profiles, places, FAULTS) if full and not holes else files
    if planted == "tests-left-out":
        (SCRATCH / "hidden").rename(hidden)
    (profiles / "planted.profraw").unlink(missing_ok=True)
    if holes:
        print_holes({path: file for path, file in files.items() if not arguments[1:] or path in arguments[1:]})
        return 0
    if planted == "another-line-of-the-function":
        plant_hole(of_tests, named, reasons, tree)
    checked, more = judge(of_tests, named, reasons, tree)
    failed += more
    for place in MEASURED:
        found = [
            f"{covered:,} of {count:,} {kind} ({100 * covered / max(count, 1):.2f} %)"
            for kind, (count, covered) in shares(files, [place]).items()
        ]
        print(f"note: {place}: {', '.join(found)}")
    if full:
        count, covered = shares(files, MEASURED)["regions"]
        share = 100 * covered / max(count, 1)
        checked += 1
        print(f"note: all: {covered:,} of {count:,} regions ({share:.2f} %)")
        if share < FLOOR and all(has_level(level) for level in FLAGS):
            failed.append(f"expected {FLOOR} % of {count} regions to run, found {share:.2f} %")
    excused = sum(len(one["holes"]) for one in reasons if "level" not in one)
    print(f"note: {excused} statements and sides of branches never run, each with a reason in assure/uncovered.json")
    for line in failed:
        print(f"failed: {line}")
    print(f"coverage: {checked} checked, {len(failed)} failed")
    return 1 if failed else 0


def print_holes(files):
    """The regions that do not run, by file, for those who write tests."""
    for path, file in sorted(files.items()):
        text = Path(REPO / path).read_text().splitlines()
        missing = sorted(place for place, count in file.regions.items() if count == 0)
        print(f"{path}: {len(missing)} of {len(file.regions)}")
        for line, column, last, end in missing:
            print(f"  {line}:{column}-{last}:{end}: {text[line - 1][column - 1 : end - 1 if last == line else None]}")


if __name__ == "__main__":
    sys.exit(main())
