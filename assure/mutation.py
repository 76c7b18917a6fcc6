#!/usr/bin/env python3
"""Mutation: does a test notice when a line of the code is wrong?

`cargo mutants` lists the mutants: a changed operator, a function that returns at once, a removed
arm or guard of a match. Building them one by one would take days. Instead `assure/weave` puts all
mutants of a file into one program, and an environment variable activates one by its number. Mutants
that do not compile this way are left out as not viable. Constants are evaluated at build time, so
their mutants are only compiled: the compiler, or a test that checks the constant, may reject them.
Others that cannot be woven are built only on request.

First each test runs with no mutant active and records the mutants that it reaches. Then each mutant
is activated in turn, and the tests that reach it run, fastest first, until one fails. A test fails
as an endless loop if it uses more than ten times its usual CPU time plus two seconds. A mutant that
no test finds is a survivor. Woven programs are not optimised, so only tests of a few seconds run.
`crates/any/tests/all/small` checks the laws at the edges for the tests that go through all lengths.

    mutation.py --quick [--planted NAME]   some mutants of the strictest files, at random from a fixed seed
    mutation.py --full [FILE...]           all mutants of these files, or of all that changed since they were tried
    mutation.py --list                     the files and their results in the ledger
    mutation.py --planted

`assure/mutants.json` is the ledger: the results of each file, and a digest of its source. A full
run can be stopped, and the next one continues with the next file. `assure/survivors.json` lists the
survivors, each with a reason. They are identified by function and operator (`anchors.py`), so
changes elsewhere do not affect them. Some mutants only choose another way to the same result, so no
test of results can find them; their reason is marked `equal`. In files of `STRICT` a survivor
without a reason is a failure. Of the mutants in `ALGO` that can change a result, 95 % must be found
once all its files were tried.

Not shown: mutants of two places at once, mutants of macros, and faults that `cargo mutants` has no
rule for. Tests are those of a program built without optimisation; doc tests do not run. People
judged from the code that results are equal.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from anchors import is_within
from bugs import end
from mutants import ALGO, ROOT, SCRATCH, STRICT, Ledger, judge, key_of, mutants
from woven import PROFILE_OF_OTHERS, Group, Test, Woven, say, stem

# Seconds of CPU time for all tests of one mutant.
PATIENCE = float(os.environ.get("TAGMAC_MUTATION_SECONDS", 20))
# Mutants in a quick run.
SAMPLE = 150
SEED = 19


GROUPS = [
    Group(
        "bounds",
        ("crates/bounds/src/",),
        "crates/bounds/src/lib.rs",
        ("-p", "tagmac-bounds", "--lib"),
        ("-p", "tagmac-bounds", "--lib", "--test", "all"),
        (),
        PROFILE_OF_OTHERS,
    ),
    Group(
        "library",
        ("crates/tagmac/src/",),
        "crates/tagmac/src/lib.rs",
        ("-p", "tagmac", "--lib", "--all-features"),
        # Many of its tests iterate over the table of all MACs.
        ("-p", "tagmac", "-p", "tagmac-papers", "-p", "tagmac-any", "--lib", "--test", "all", "--all-features"),
        (),
        PROFILE_OF_OTHERS,
    ),
    Group(
        "papers",
        ("crates/papers/src/",),
        "crates/papers/src/lib.rs",
        ("-p", "tagmac-papers", "--lib", "--all-features"),
        ("-p", "tagmac-papers", "-p", "tagmac-any", "--lib", "--test", "all", "--all-features"),
        (),
        PROFILE_OF_OTHERS,
    ),
    Group(
        "any",
        ("crates/any/src/",),
        "crates/any/src/lib.rs",
        ("-p", "tagmac-any", "--lib"),
        ("-p", "tagmac-any", "--test", "all"),
        (),
        PROFILE_OF_OTHERS,
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


class Hunt:
    """Runs the mutants of a woven program."""

    def __init__(self, woven, resumes):
        self.woven, self.resumes = woven, resumes
        self.by_mutant = defaultdict(list)
        for test in sorted(woven.tests, key=lambda test: test.seconds):
            for number in test.reached:
                self.by_mutant[number].append(test)
        # Tests that found other mutants of a function usually find this one too.
        self.found_by = defaultdict(Counter)
        # Results of a run that was stopped. New tests may find its survivors.
        self.kept = SCRATCH / woven.group.name / "outcomes"
        lines = self.kept.read_text().splitlines() if self.kept.exists() else []
        rows = [line.split("\t") for line in lines]
        self.known = {
            int(number): (how, why)
            for mutants, state, number, how, why in rows
            if resumes and mutants == woven.woven and (how != "survived" or state == woven.state)
        }

    def hunt(self, number):
        """Tries one mutant. Returns killed, timeout or survived, and the test that decided it."""
        if number not in self.known:
            self.known[number] = self.try_one(number)
            with open(self.kept if self.resumes else os.devnull, "a") as file:
                file.write("\t".join([self.woven.woven, self.woven.state, str(number), *self.known[number]]) + "\n")
        return self.known[number]

    def try_one(self, number):
        one = self.woven.by_number[number]
        scores = self.found_by[one["file"], one["function"]["function_name"] if one["function"] else ""]
        tests = self.by_mutant[number]
        # Tests that reach little else are more likely to notice it.
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
        say(f"   {one['name']}: survived {spent:.1f} s of {len(order)} tests that reach it")
        return ("survived", f"{spent:.1f} s of {len(order)} tests that reach it")


def try_alone(woven, number, builds):
    """Tries a mutant that is not woven. Its tests are built and run only if `builds`."""
    one, tree = woven.by_number[number], woven.plain()
    path = tree.path / one["file"]
    source = (ROOT / one["file"]).read_text()
    lines = source.splitlines(keepends=True)

    def at(place):
        return sum(len(line) for line in lines[: place["line"] - 1]) + place["column"] - 1

    start, stop = at(one["span"]["start"]), at(one["span"]["end"])
    path.write_text(source[:start] + one["replacement"] + source[stop:])
    try:
        ran, _ = woven.cargo("check", *woven.group.check, tree=tree)
        if ran.returncode != 0:
            return "unviable", "it does not compile"
        # Tests check some constants at compile time.
        which = [one for one in woven.group.tests if one not in ("--lib", "--bins", "--test", "all")]
        ran, _ = woven.cargo("check", *which, "--tests", tree=tree)
        if ran.returncode != 0:
            return "killed", "tests that do not compile with it"
        if not builds:
            return "survived", "not built alone"
        built = woven.build(woven.group.tests, tree)
        programs = {(Path(folder).name, stem(program)): program for program, folder in built}
        spent = 0.0
        for test in sorted(woven.tests, key=lambda test: test.seconds):
            here = Test(programs[Path(test.folder).name, stem(test.program)], test.folder, test.name)
            ended, _ = woven.run(here, 10 * test.seconds + 2, {})
            if ended != "green":
                return ("killed" if ended == "red" else "timeout"), test.name
            spent += test.seconds
            if spent > PATIENCE:
                break
        return "survived", "built alone"
    except subprocess.TimeoutExpired:
        return "timeout", "the compiler does not finish"
    finally:
        path.write_text(source)


def hunt_files(group, all_mutants, files, ledger, jobs, only, args):
    """Tries all or some of the mutants of files, and stores the results of each file."""
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
        if args.woven:
            ends |= {number: ("survived", alone[number]) for number in left}
            left = []
        for number in left:
            ends[number] = try_alone(woven, number, args.alone)
            say(f"alone: {woven.by_number[number]['name']}: {': '.join(ends[number])} ({alone[number]})")
        counts = Counter(ends[number][0] for number in numbers)
        survivors = [one for one in here if ends[one["number"]][0] == "survived"]
        if only:
            row = ledger.files.get(path, {})
            for kind in ("killed", "timeout"):
                counts[kind] += row.get(kind, 0)
            counts["unviable"] += row.get("unviable", 0)
            survivors += [one for one in all_mutants if one["file"] == path and "row" in one and key_of(one) not in only]
            counts["survived"] = len(survivors)
        kinds = {kind: counts[kind] for kind in ("killed", "timeout", "unviable", "survived") if counts[kind]}
        ledger.keep(path, kinds, survivors)
        say(f"{path}: {kinds} in {time.monotonic() - begin:.0f} s")


def quick(ledger, planted, jobs):
    """Tries some mutants of the strictest files whose tests build in seconds."""
    group = next(group for group in GROUPS if group.quick)
    listed = ledger.found
    found = [one for one in listed if one["file"].startswith(group.files)]
    if planted == "reason-left-out":
        ledger.survivors.remove(next(row for row in ledger.survivors if is_within(ledger.place(row), STRICT)))
        ledger.match()
    checked, failed = judge(ledger, sorted({one["file"] for one in listed}))
    if planted == "reason-left-out":
        return checked, failed
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
        if "row" not in one and one["number"] not in woven.unviable and one["number"] not in alone
    ]  # fmt: skip
    random.Random(SEED).shuffle(viable)
    # Mutants of files that changed come first.
    viable.sort(key=lambda one: not ledger.is_stale(one["file"]))
    numbers = [one["number"] for one in viable[:SAMPLE]]
    with ThreadPoolExecutor(jobs) as pool:
        ends = dict(zip(numbers, pool.map(hunt.hunt, numbers), strict=True))
    kinds = Counter(how for how, _ in ends.values())
    print(f"note: a sample of {len(numbers)} mutants: {kinds['killed']} found, {kinds['timeout']} as endless loops")
    for number, (how, why) in ends.items():
        if how == "survived":
            failed.append(f"{woven.by_number[number]['name']}: survives: {why}")
    return checked + len(numbers), failed


PLANTED = ["tests-left-out", "reason-left-out"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="some mutants of the strictest files")
    parser.add_argument("--full", action="store_true", help="all mutants of files that changed")
    parser.add_argument("--woven", action="store_true", help="only the woven ones")
    parser.add_argument("--alone", action="store_true", help="also build those that are not woven, one by one")
    parser.add_argument("--unit-tests", action="store_true", help="only with unit tests, which build faster")
    parser.add_argument("--again", action="store_true", help="try survivors without a reason again")
    parser.add_argument("--list", action="store_true", help="the files and their results")
    parser.add_argument("--planted", nargs="?", const="", help="lists the planted bugs, or plants one")
    parser.add_argument("files", nargs="*", help="only these files")
    args = parser.parse_args()
    if args.planted == "":
        print("\n".join(PLANTED))
        return 0
    if args.planted and (args.planted not in PLANTED or not args.quick):
        parser.error(f"--planted: expected --quick and one of {', '.join(PLANTED)}, found {args.planted}")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    found = mutants([*STRICT, *ALGO])
    jobs, ledger = len(os.sched_getaffinity(0)), Ledger(found)
    if args.quick:
        checked, failed = quick(ledger, args.planted, jobs)
    else:
        files = sorted({one["file"] for one in found})
        if args.list:
            for path in files:
                row = dict(ledger.files.get(path, {}))
                row.pop("source", None)
                print(f"{path}: {'stale ' if ledger.is_stale(path) else ''}{row}")
            return 0
        only, wanted = None, [path for path in files if not args.files or is_within(path, args.files)]
        if args.again:
            only = {key_of(one) for one in found if "row" in one and not one["row"]["reason"]}
            wanted = [path for path in wanted if path in {key[0] for key in only}]
        elif not args.files:
            wanted = [path for path in wanted if ledger.is_stale(path)]
        for group in GROUPS:
            # Weave everything possible, so that the next run has the same program.
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
