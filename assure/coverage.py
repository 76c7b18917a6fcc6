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

`--full` runs the tests of the library, of `crates/papers`, of `crates/any`, of `crates/files` and of the command but
for those in `LEFT_OUT`, the corpus of `assure/targets`, which calls the C library as well, the C library's own test of all its functions, the
tests of object stores with a server of moto's, and the job `faults` with the command that has counters: every
system call fails, and of what runs then only regions count. `--quick` runs none of the last two, leaves out the
tests of the first three and `SLOW` ones, and asks for nothing of their files and of `FLOOR`.

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
from pathlib import Path

from anchors import Tree, anchor, is_within
from products import REPO, TARGET
from profiles import named_from_repo, read, shares
from uncovered import FLAGS, REASONS, Excuses, has_level, judge

SCRATCH = TARGET / "assure" / "coverage"
COMMAND = SCRATCH / "coverage" / "tagmac"
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
# What is built together, so that the library is built once with all features and once for its own tests. Its own,
# those of the papers' constructions and those of all MACs come first, and are for full runs.
LIBRARY = ["tagmac", "tagmac-papers", "tagmac-any"]
PACKAGES = ["tagmac-bounds", "tagmac-files", "tagmac-cli", "tagmac-border", "fuzz-targets"]
FEATURES = ["tagmac/threads", "tagmac/rustcrypto", "tagmac-cli/fault-injection"]
# With the last the command reads objects. In a quick run it does not: what object stores are built on takes minutes.
OF_FULL_RUNS = ["tagmac-papers/rustcrypto", "tagmac-cli/objects"]
OPTIONS = ["--lib", "--bins", "--test", "all"]
# What is in the names of tests that do not run here, by folder. They run in `scripts/test` or `scripts/test-built`.
LEFT_OUT = {
    # They take long where nothing is optimised, and reach what others reach.
    "tagmac": [
        "algo::elimac::tests::a_cache_of_any_size", "algo::many_keys::tests::pmac_is_the_same",
        "cipher::present::tests::official_vectors", "cipher::present::tests::sums_on_every_rung",
        "canary::", "cmac::many_at_once", "digest::lightmac_present", "digest::pmac_present",
        "edit::scripts_of_umac", "far::",
        "nonces::a_grade_checks_its_words", "pmac_bound::", "pmac_small::",
    ],
    "any": [
        # As above.
        "batch::batches_of_every_size", "batch::every_length_and_every_count",
        "laws::a_flipped_bit_in_any_byte", "laws::any_cut", "laws::every_cut", "registry::one_tag_whatever_the_way",
        "save::streams_and_parts_of_umac", "vectors::umac_markers_in_parts",
    ],
    "papers": [
        # As above.
        "collisions::",
    ],
    "bounds": [
        # As above.
        "bounds::bounds_grow", "bounds::elimac_is_exact", "bounds::lightmac_is_exact", "bounds::pmac_is_exact",
        "bounds::umac_of_1999_is_exact", "limits::limits_never_grow", "limits::numbers_are_the_largest",
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
MEASURED = ["crates/bounds/src/", "crates/tagmac/src/", "crates/papers/src/", "crates/any/src/", "crates/files/src/", "crates/cli/src/", "crates/capi/src/", "crates/border/src/"]
# Each line of these files, and of the files of these folders, must run, and both sides of each branch.
NAMED = [
    "crates/bounds/src/",
    *(f"crates/tagmac/src/{name}" for name in [
        "mac.rs", "construction.rs", "tag.rs", "nonce.rs", "part.rs", "plan.rs", "save/",
        "isa/level.rs", "isa/usable.rs",
    ]),
    *(f"crates/any/src/{name}" for name in ["key_file.rs", "key_id.rs", "partial.rs", "saved.rs"]),
    *(f"crates/files/src/{name}" for name in [
        "key_access.rs", "key_file.rs", "line.rs", "line_reader.rs", "manifest/", "partial/", "sidecar/",
        "checkpoint.rs",
    ]),
    *(f"crates/cli/src/{name}" for name in ["check.rs", "tag_line.rs"]),
]  # fmt: skip
# The least of the regions of what is measured that must run, in percent, on a CPU with all levels.
FLOOR = 98.0
# The folder of the counters of the job `faults`, and how much it must have tried.
FAULTS = "faults"
LEAST_FAULTS = 10_000


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
    packages, features = ([*LIBRARY, *PACKAGES], [*FEATURES, *OF_FULL_RUNS]) if full else (PACKAGES, FEATURES)
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
    sources = [REPO / "crates/capi/tests" / one for one in ("smoke.c", "smoke_sessions.c")]
    command = ["cc", "-o", program, *sources, f"-I{REPO / 'crates/capi/include'}"]
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
