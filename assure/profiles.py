"""What ran of the code that is measured: LLVM's tools read the counters that the job `coverage` lets tests write."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from anchors import is_within
from products import REPO

# LLVM's kind of a region of code, among gaps and expansions.
CODE = 0


def tool(name):
    """LLVM's tool of the compiler's own version, which alone reads what it writes."""
    said = subprocess.run(["rustc", "-vV"], stdout=subprocess.PIPE, text=True, check=True).stdout
    version = re.search(r"LLVM version: (\d+)", said)[1]
    command = f"{name}-{version}"
    if not shutil.which(command):
        subprocess.run(["scripts/need", f"llvm-{version}"], cwd=REPO, check=True)
    return command


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
    """A path as `coverage.MEASURED` has it, if it is in the repository."""
    path = Path(os.path.normpath(name))
    return str(path.relative_to(REPO)) if path.is_relative_to(REPO) else str(path)


def end_of_code(lines):
    """The number of the last line before a file's tests."""
    for number, line in enumerate(lines[:-1]):
        if line.startswith("#[cfg(") and "test" in line and re.match(r"mod \w+ \{", lines[number + 1]):
            return number
    return len(lines)


def shares(files, places):
    """How many lines, regions and sides of branches there are in these files, and how many ran."""
    here = [file for path, file in files.items() if is_within(path, places)]
    counts = {
        "lines": [count for file in here for count in file.lines.values()],
        "regions": [count for file in here for count in file.regions.values()],
        "sides of branches": [count for file in here for sides in file.branches.values() for count in sides],
    }
    return {kind: (len(all_of), sum(count > 0 for count in all_of)) for kind, all_of in counts.items()}
