#!/usr/bin/env python3
"""Undefined behaviour: guard pages, two sanitizers and assertions, on the same work.

Three builds of the program `memory` (src/bin/memory) run. `cargo build --release` makes the one
with guard pages, which calls the C library that users get. This script builds the other two, and a
C library for each, with AddressSanitizer or MemorySanitizer, debug assertions, overflow checks and
the standard library's checks of unsafe preconditions. Each must find all planted bugs that it can
find. MemorySanitizer, which needs its own build of the standard library, runs only in full runs.

    memory.py --quick [--planted NAME] | --full | --planted
"""

import re
import sys

from sanitized import TARGET, build, finish, planted, run, said_by

# The planted bug that only MemorySanitizer finds. It finds no other.
UNWRITTEN = "bytes-never-written"


def main():
    arguments = sys.argv[1:]
    programs = [TARGET / "release/memory", build("memory", "address")]
    if arguments == ["--planted"]:
        print("\n".join(dict.fromkeys(name for one in programs for name in said_by(one, "--planted").split())))
        print(UNWRITTEN)
        return 0
    bug = planted(arguments)
    if bug == UNWRITTEN:
        programs = [build("memory", "memory")]
    elif bug:
        programs = [program for program in programs if bug in said_by(program, "--planted").split()]
    elif arguments == ["--full"]:
        programs.append(build("memory", "memory"))
    rans = [run(program, arguments) for program in programs]
    for ran in rans:
        said = re.search(r"(?:ERROR|WARNING): \w+Sanitizer: (\S+)|panicked at [^\n]*\n([^\n]*)", ran.said)
        if said and ran.failures:
            ran.failures[0] += f" ({said[1] or said[2]})"
    if bug and not all(ran.failed for ran in rans):
        # One of the programs cannot see it.
        for ran in rans:
            ran.failed = 0
    return finish("memory", rans)


if __name__ == "__main__":
    sys.exit(main())
