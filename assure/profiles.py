"""Reads which measured code ran, with LLVM's tools, from the counters that tests of the job
`coverage` write."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from anchors import is_within
from products import REPO

# LLVM's kind of code regions; other kinds are gaps and expansions.
CODE = 0


def tool(name):
    """Returns LLVM's tool in the compiler's own version: other versions cannot read its files."""
    said = subprocess.run(["rustc", "-vV"], stdout=subprocess.PIPE, text=True, check=True).stdout
    version = re.search(r"LLVM version: (\d+)", said)[1]
    command = f"{name}-{version}"
    if not shutil.which(command):
        subprocess.run(["scripts/need", f"llvm-{version}"], cwd=REPO, check=True)
    return command


@dataclass
class File:
    """Counts for a file up to its tests, over all programs and types."""

    lines: dict = field(default_factory=dict)  # runs, by line number
    regions: dict = field(default_factory=dict)  # runs, by place
    branches: dict = field(default_factory=dict)  # times true and times false, by place


def read(objects, profiles, places, but=None):
    """Returns the counts by file, except those of the folder `but`."""
    raw = [str(path) for path in sorted(profiles.rglob("*.profraw")) if path.parent.name != but]
    merged = profiles / "all.profdata"
    # A process that is killed while it writes leaves a truncated file; skip it.
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
        """Returns the file and the number of its last line before its tests, if it is measured."""
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
        # A generic function is listed once for each choice of types: add up the counts.
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
    """Returns the place of a function, the same for all types."""
    return function["filenames"][0], *function["regions"][0][:2]


def constants(functions, file_of):
    """Returns the places of each `const fn` that is not `pub` and never ran."""
    ran = {place_of(function) for function in functions if function["count"] > 0}
    texts, found = {}, set()
    for name, line, column in {place_of(function) for function in functions} - ran:
        if file_of(name)[0]:
            text = texts.setdefault(name, Path(name).read_text().splitlines())[line - 1]
            if re.match(r"(pub\(.*?\) )?const fn ", text[column - 1 :]):
                found.add((name, line, column))
    return found


def named_from_repo(name):
    """Returns a path as in `coverage.MEASURED`, if it is in the repository."""
    path = Path(os.path.normpath(name))
    return str(path.relative_to(REPO)) if path.is_relative_to(REPO) else str(path)


def end_of_code(lines):
    """Returns the number of the last line before a file's tests."""
    for number, line in enumerate(lines[:-1]):
        if line.startswith("#[cfg(") and "test" in line and re.match(r"mod \w+ \{", lines[number + 1]):
            return number
    return len(lines)


def shares(files, places):
    """Counts lines, regions and branch sides in these files: the total and those that ran."""
    here = [file for path, file in files.items() if is_within(path, places)]
    counts = {
        "lines": [count for file in here for count in file.lines.values()],
        "regions": [count for file in here for count in file.regions.values()],
        "branch sides": [count for file in here for sides in file.branches.values() for count in sides],
    }
    return {kind: (len(all_of), sum(count > 0 for count in all_of)) for kind, all_of in counts.items()}
