#!/usr/bin/env python3
"""Coverage: the lines that the tests run and the branches they take, of the code that decides what is accepted.

Builds the tests with counters (`-Cinstrument-coverage`), without optimisation, runs them, and reads what
ran with LLVM's own tools. Each line of the files in `NAMED` must run in some test, and each branch there
must be taken and not taken, unless `assure/uncovered.json` has it with a reason; a reason for what runs is
a failure too. There, `lines` have one reason, and `never` says which side of their branch it is about: `true`
or `false`; those of a `level` count where the CPU does not have it. Of the regions of all files that are
measured, `FLOOR` percent must run where the CPU has all levels. Lines of tests do not count, nor do lines
that only close something.

    coverage.py --quick [--planted NAME] | --full | --planted
    coverage.py --holes [FILE...]    the regions that do not run, for those who write tests

`--full` runs the tests of the library, of `crates/files` and of the command but for those in `LEFT_OUT`, the
corpus of `assure/targets`, which calls the C library as well, the C library's own test of all its functions, the
tests of object stores with a server of moto's, and the job `faults` with the command that has counters: every
system call fails, and of what runs then only regions count. `--quick` runs none of the last two, leaves out the
library's tests and `SLOW` ones, and asks for nothing of the library's files and of `FLOOR`.

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
from dataclasses import dataclass, field
from pathlib import Path

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
PLANTED = ["tests-left-out", "reason-left-out", "reason-for-a-line-that-runs", "branch-with-one-side"]
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


# What is built together, so that the library is built once with all features and once for its own tests, which come
# first and are for full runs.
PACKAGES = ["tagmac", "tagmac-bounds", "tagmac-files", "tagmac-cli", "tagmac-border", "fuzz-targets"]
FEATURES = ["tagmac/threads", "tagmac/cipher", "tagmac/digest", "tagmac/dynamic", "tagmac-cli/fault-injection"]
# With them the command reads objects. In a quick run it does not: what object stores are built on takes minutes.
OBJECTS = "tagmac-cli/objects"
OPTIONS = ["--lib", "--bins", "--test", "all"]
# What is in the names of tests that do not run here, by folder. All of them run in `scripts/test`.
LEFT_OUT = {
    # They take long where nothing is optimised, and reach what others reach.
    "tagmac": [
        "algo::elimac::tests::a_cache_of_any_size", "algo::many_keys::tests::pmac_is_the_same",
        "cipher::present::tests::official_vectors", "cipher::present::tests::sums_on_every_rung",
        "batch::batches_of_every_size", "batch::every_length_and_every_count", "bounds::bounds_grow",
        "bounds::elimac_is_exact", "bounds::numbers_are_the_largest", "canary::", "cmac::many_at_once",
        "collisions::", "digest::lightmac_present", "digest::pmac_present", "edit::scripts_of_umac", "far::",
        "laws::a_flipped_bit_in_any_byte", "laws::any_cut", "laws::every_cut", "nonces::a_grade_checks_its_words",
        "pmac_bound::", "registry::one_tag_whatever_the_way", "save::streams_and_parts_of_umac",
        "vectors::umac_markers_in_parts",
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
    "update_faults::killed_", "update_pending::a_recovery_that_is_killed",
]  # fmt: skip
MEASURED = ["crates/bounds/src/", "crates/tagmac/src/", "crates/files/src/", "crates/cli/src/", "crates/capi/src/", "crates/border/src/"]
# Each line of these files, and of the files of these folders, must run, and both sides of each branch.
NAMED = [
    "crates/bounds/src/",
    *(f"crates/tagmac/src/{name}" for name in [
        "mac.rs", "construction.rs", "tag.rs", "nonce.rs", "part.rs", "kernels.rs", "save/",
        "isa/level.rs", "isa/usable.rs",
        "dynamic/key_file.rs", "dynamic/key_id.rs", "dynamic/partial.rs", "dynamic/saved.rs",
    ]),
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
    packages, features = (PACKAGES, [*FEATURES, OBJECTS]) if full else (PACKAGES[1:], FEATURES)
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


def excuses(reasons):
    """What the reasons are about."""
    return {(one["file"], line, one.get("never")) for one in reasons for line in one["lines"]}


def judge(files, named, reasons):
    """What was checked, and the failures."""
    checked, failed, used = 0, [], set()
    excused = excuses(one for one in reasons if "level" not in one)
    missing = excuses(one for one in reasons if not has_level(one.get("level")))
    for path, file in sorted(files.items()):
        if not is_within(path, named):
            continue
        text = (REPO / path).read_text().splitlines()
        holes = []
        for number, count in sorted(file.lines.items()):
            if re.fullmatch(r"[\s\])};,]*", text[number - 1]):
                continue
            checked += 1
            if count == 0:
                holes.append((number, None))
        for place, sides in sorted(file.branches.items()):
            checked += 2
            # Where the line does not run, that is the hole.
            if file.lines.get(place[0], 1) > 0:
                holes += [(place[0], side) for side, count in zip(("true", "false"), sides) if count == 0]
        for number, never in holes:
            key = (path, text[number - 1].strip(), never)
            if never is None:
                # Nor does its branch have a side that runs.
                used |= {(*key[:2], side) for side in ("true", "false")}
            if key in excused:
                used.add(key)
            elif key in missing:
                continue
            elif never:
                failed.append(f"{path}:{number}: is never {never}: {key[1]}")
            else:
                failed.append(f"{path}:{number}: runs in no test: {key[1]}")
    for path, line, never in sorted(excused - used, key=str):
        failed.append(f"{path}: expected a {'branch' if never else 'line'} that does not run, found none: {line}")
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
    named, reasons = NAMED, json.loads(REASONS.read_text())
    if not full:
        named = [name for name in named if not name.startswith("crates/tagmac/")]
        reasons = [one for one in reasons if is_within(one["file"], named)]
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
        lines = [line.strip() for line in (REPO / path).read_text().splitlines()]
        line = next(line for line in lines if line.startswith("let "))
        reasons.append({"file": path, "lines": [line], "reason": "planted"})
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
    checked, more = judge(of_tests, named, reasons)
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
    excused = sum(len(one["lines"]) for one in reasons if "level" not in one)
    print(f"note: {excused} lines and sides of branches never run, each with a reason in assure/uncovered.json")
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
