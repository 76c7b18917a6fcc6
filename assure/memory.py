#!/usr/bin/env python3
"""Undefined behaviour: guard pages, two sanitizers and assertions, on the same work.

The program `memory` (src/bin/memory) is there three times. `cargo build --release` makes the one with guard
pages, beside the C library that users get. This script builds the others, and a C library of the same kind,
with AddressSanitizer or MemorySanitizer, debug assertions, checks of overflow and the standard library's
checks of what unsafe code promises. Each must find all planted bugs that it can find. MemorySanitizer, for
which the standard library is built as well, takes part in full runs alone.

    memory.py --quick [--planted NAME] | --full | --planted
"""

import re
import sys

from sanitized import TARGET, build, finish, planted, run, said_by

# The planted bug that MemorySanitizer alone finds, and no other does it find.
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
        # One of the programs is blind to it.
        for ran in rans:
            ran.failed = 0
    return finish("memory", rans)


if __name__ == "__main__":
    sys.exit(main())
