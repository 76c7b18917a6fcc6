#!/usr/bin/env python3
"""Coverage: the lines and branches that the tests run, of the code that decides what is accepted.

Builds the tests with counters (`-Cinstrument-coverage`) and without optimisation, runs them, and
reads the results with LLVM's tools. Each line of the files in `NAMED` must run in some test, and
each branch there must be taken and not taken, unless `assure/uncovered.json` excuses it with a
reason. A reason for code that runs is a failure too. A reason has `holes`: each is a statement of a
function (`anchors.py`) that never runs or, with `never`, a branch in it and the side that is never
taken, `true` or `false`. If only a part of a statement does not run, `part` is that part; if a
statement has several conditions, `part` is the condition. A block that only such a side reaches
needs no reason. Reasons with a `level` apply where the CPU lacks it. Of the regions of all measured
files, `FLOOR` percent must run if the CPU has all levels. Lines of tests do not count, and neither
do lines with only closing brackets.

    coverage.py --quick [--planted NAME] | --full | --planted
    coverage.py --holes [FILE...]    lists the regions that do not run

`--full` runs the tests of the library, `crates/papers`, `crates/any`, `crates/files` and the
command, except for those in `LEFT_OUT`. It also runs the corpus of `assure/targets`, which calls
the C library too; the C library's own test of all its functions; and the tests of object stores
with moto's server. Last it runs the job `faults` with an instrumented command. There every system
call fails, and what runs counts for regions only. `--quick` leaves out the last two, the tests of
the first three and the `SLOW` tests, and does not check their files or `FLOOR`.

What it counts:
- Code of generic types is compiled for each choice of types. Their counters are added up: a line or
  a side of a branch counts if one of them runs it. On a level that this CPU lacks, only the code
  that all levels share runs.
- The compiler has counters for `if`, `if let`, `let else`, `while`, and each operand of `&&` and
  `||` that is a condition. The arms of a `match` are lines and regions, and the two ways of `?` are
  regions. Code from macros counts at the place of the call, and all calls there count as one.
- A branch within a line that does not run is not listed again.
- A function that only the compiler evaluates has a counter and never runs. So a `const fn` that is
  not `pub` and never ran has no regions. Some constant uses it, or the compiler would have reported
  it as dead.
- `mutation` and `bugs` check whether a test would notice a wrong line. Counters of a killed process
  are lost, and so are its lines. A branch that reached neither end looks as if it had reached both.
  Examples of the documentation run elsewhere and do not count.
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
# Packages built together, so that the library is built once with all features and once for its own
# tests. The tests of these three are for full runs.
LIBRARY = ["tagmac", "tagmac-papers", "tagmac-any"]
PACKAGES = ["tagmac-bounds", "tagmac-files", "tagmac-cli", "tagmac-border", "fuzz-targets"]
FEATURES = ["tagmac/threads", "tagmac/rustcrypto", "tagmac-cli/fault-injection"]
# The last feature lets the command read objects. Quick runs leave it out, because its dependencies
# take minutes to build.
OF_FULL_RUNS = ["tagmac-papers/rustcrypto", "tagmac-cli/objects"]
OPTIONS = ["--lib", "--bins", "--test", "all"]
# Tests that do not run here, by folder and part of the name. They run in `scripts/test` or
# `scripts/test-built`.
LEFT_OUT = {
    # They take long without optimisation, and reach no further code.
    "tagmac": [
        "algo::elimac::tests::a_cache_of_any_size", "algo::many_keys::tests::pmac_is_the_same",
        "cipher::present::tests::official_vectors", "cipher::present::tests::sums_on_every_rung",
        "canary::", "cmac::many_at_once", "digest::lightmac_present", "digest::pmac_present",
        "edit::scripts_of_umac", "far::",
        "nonces::a_grade_checks_its_words", "pmac_bound::", "pmac_small::",
    ],
    "any": [
        "batch::batches_of_every_size", "batch::every_length_and_every_count",
        "laws::a_flipped_bit_in_any_byte", "laws::any_cut", "laws::every_cut", "registry::one_tag_whatever_the_way",
        "save::streams_and_parts_of_umac", "vectors::umac_markers_in_parts",
    ],
    "papers": [
        "collisions::",
    ],
    "bounds": [
        # These are slow, too.
        "bounds::bounds_grow", "bounds::elimac_is_exact", "bounds::lightmac_is_exact", "bounds::pmac_is_exact",
        "bounds::umac_of_1999_is_exact", "limits::limits_never_grow", "limits::numbers_are_the_largest",
    ],
    "cli": [
        # These are slow, too.
        "checkpoint::it_goes_on_where_it_was", "exit::every_command_in_every_class",
        "exit::without_memory_there_is_no_verdict", "memory::", "parts::every_algorithm_with_parts",
        "parts::made_on_one_level",
        # They limit file sizes, and counters are written to files.
        "audit::the_forms_of_a_report", "checkpoint::a_disk_that_is_full",
        "faults::a_full_disk_leaves", "parts::what_cannot_be_read_or_written",
        "update_faults::a_patch_that_was_cut_short", "update_faults::no_room_for_the_sidecar",
    ],
}  # fmt: skip
# Left out of quick runs too. Most of them kill processes, and counters of killed processes are
# lost.
SLOW = [
    "atomic::a_kill_at_any_call", "checkpoint::a_checkpoint_is_not_read_further", "checkpoint::killed_at_every_call",
    "manifest::every_byte_of_a_manifest_counts", "process::memory_does_not_depend_on_the_file",
    "process::the_test_of_itself", "progress::",
    "seal::the_same_tree_has_the_same_manifest_on_any_number_of_threads", "tag::every_algorithm_and_every_way",
    "update_faults::killed_", "update_pending::patch::a_recovery_that_is_killed",
]  # fmt: skip
MEASURED = ["crates/bounds/src/", "crates/tagmac/src/", "crates/papers/src/", "crates/any/src/", "crates/files/src/", "crates/cli/src/", "crates/capi/src/", "crates/border/src/"]
# Files and folders in which each line must run, and both sides of each branch.
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
# The percentage of all measured regions that must run on a CPU with all levels.
FLOOR = 98.0
# The folder for the counters of the job `faults`, and the number of checks that it must have made.
FAULTS = "faults"
LEAST_FAULTS = 10_000


def cargo(packages, features, *command):
    """Builds with counters. Returns cargo's messages about what it built."""
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
    """Builds the tests. Returns the programs with their folders, and all files that have counters.
    """
    packages, features = ([*LIBRARY, *PACKAGES], [*FEATURES, *OF_FULL_RUNS]) if full else (PACKAGES, FEATURES)
    tests, objects = [], []
    for one in cargo(packages, features, "test", "--no-run", *OPTIONS):
        if one.get("executable"):
            objects.append(one["executable"])
            if one["profile"]["test"]:
                tests.append((one["executable"], Path(one["manifest_path"]).parent))
    for one in cargo([*packages, "tagmac-capi"], features, "build", "--lib"):
        objects += [name for name in one.get("filenames", []) if name.endswith("libtagmac.so")]
    # Cargo lists them in the order in which it finishes them.
    tests, objects = sorted(tests), sorted(set(objects))
    tests.append((str(smoke(Path(next(name for name in objects if name.endswith(".so"))))), SCRATCH))
    return tests, objects


def smoke(library):
    """Builds the C library's test of all its functions against this library."""
    program, name = SCRATCH / "smoke", SCRATCH / "libtagmac.so.0"
    name.unlink(missing_ok=True)
    name.symlink_to(library)
    sources = [REPO / "crates/capi/tests" / one for one in ("smoke.c", "smoke_sessions.c")]
    command = ["cc", "-o", program, *sources, f"-I{REPO / 'crates/capi/include'}"]
    subprocess.run([*command, library, f"-Wl,-rpath,{SCRATCH}"], check=True)
    return program


def is_of(package, program, folder):
    """Returns whether `program` has the integration tests of `package`."""
    return folder.name == package and Path(program).name.startswith("all-")


def run(tests, profiles, full):
    """Runs tests, each program with its own counter folder. Returns what failed."""
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
        # Processes share a few files when they end: there are thousands of processes.
        ran = counted(command, folder, profiles / str(number), "%4m")
        if ran.returncode != 0 or " 0 passed" in ran.stdout:
            names = re.findall(r"^(?:test )?(\S+) \.\.\. FAILED$|^FAILED (\S+)", ran.stdout, re.M)
            names = ["".join(name) for name in names]
            failed.append(f"{Path(command[0]).name}: tests failed: {names or ran.stderr[-300:]}")
    if full:
        # The job `faults` gives the verdict on the command that users get. This build has
        # assertions, and rustix asserts that some calls never fail. All processes map one file, so
        # that no call writes counters at exit, which would fail like other calls.
        ran = counted(with_faults(), REPO, profiles / FAULTS, "%c%m")
        found = re.search(r"^faults: (\d+) checked", ran.stdout, re.M)
        count = int(found[1]) if found else 0
        if count < LEAST_FAULTS:
            failed.append(f"faults: expected {LEAST_FAULTS} or more checked, found {count}: {ran.stderr[-300:]}")
    return failed


def counted(command, folder, here, files):
    """Runs a command whose counters go to files in `here`."""
    here.mkdir(parents=True)
    environment = dict(os.environ, LLVM_PROFILE_FILE=f"{here}/{files}.profraw", TAGMAC=str(COMMAND))
    # Vector rows of many megabytes take minutes without optimisation.
    environment["TAGMAC_TEST_BYTES"] = "20000"
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace")
    # Some tests start commands with an empty environment.
    for left in folder.glob("default_*.profraw"):
        shutil.move(left, here / left.name)
    return ran


def with_a_server():
    """Runs the tests of the command with object stores, on moto's server."""
    venv = SCRATCH / "python"
    if not (venv / "bin/python").exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    pip = [venv / "bin/pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", REPO / "crates/objects/tests/requirements.txt"], check=True)
    tests = [venv / "bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "crates/objects/tests"]
    return [REPO / "scripts/objects-server", "--moto", *tests]


def with_faults():
    """Runs the job in which every system call fails, except for the examples that compute for long.
    """
    build = ["cargo", "build", "--quiet", "--release", "--locked", "-p", "assure", "--bin", "faults"]
    subprocess.run(build, cwd=REPO, check=True)
    return [TARGET / "release/faults", "--quick"]


def one_sided(profiles):
    """Builds a program where each line runs but one side of a branch does not. Returns it and its
    coverage."""
    source, program = SCRATCH / "planted.rs", SCRATCH / "planted"
    source.write_text(PLANTED_BRANCH)
    environment = dict(os.environ, RUSTC_BOOTSTRAP="1", LLVM_PROFILE_FILE=f"{profiles}/planted.profraw")
    command = [WRAPPER, "rustc", "--edition=2024", "-o", program, source]
    for arguments in (command, [program]):
        subprocess.run(arguments, env=environment, stdout=subprocess.DEVNULL, check=True)
    return named_from_repo(source), str(program)


def plant_hole(files, named, reasons, tree):
    """Hides a statement that ran and has no reason, in a function with another reason."""
    for place in Excuses(reasons, tree).by_place:
        path, index, which = place
        source = tree.source(path)
        for number, statement in enumerate(source.items[index].statements):
            line = source.text.count("\n", 0, source.starts[statement.start]) + 1
            if number != which and is_within(path, named) and files[path].lines.get(line, 0) > 0:
                files[path].lines[line] = 0
                return
    sys.exit("coverage: no function has both a statement that runs and one that does not")


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
    # Planted bugs are made in the profiles, so the last run's profiles serve if its programs are
    # the same.
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
    # Lines of named files must run in tests, not only when system calls fail.
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
            failed.append(f"at least {FLOOR} % of {count} regions must run, but {share:.2f} % did")
    excused = sum(len(one["holes"]) for one in reasons if "level" not in one)
    print(f"note: {excused} statements and branch sides never run; assure/uncovered.json has a reason for each")
    for line in failed:
        print(f"failed: {line}")
    print(f"coverage: {checked} checked, {len(failed)} failed")
    return 1 if failed else 0


def print_holes(files):
    """Prints the regions that do not run, by file."""
    for path, file in sorted(files.items()):
        text = Path(REPO / path).read_text().splitlines()
        missing = sorted(place for place, count in file.regions.items() if count == 0)
        print(f"{path}: {len(missing)} of {len(file.regions)}")
        for line, column, last, end in missing:
            print(f"  {line}:{column}-{last}:{end}: {text[line - 1][column - 1 : end - 1 if last == line else None]}")


if __name__ == "__main__":
    sys.exit(main())
