#!/usr/bin/env python3
"""Threads: models, many threads, forks and a C library that comes and goes; and all of it once more under
ThreadSanitizer, which reports what two threads do to one place without an order between them.

The program `concurrency` (src/bin/concurrency) is there twice: as `cargo build --release` makes it, and built
here with the sanitizer, together with the standard library and the C library, for full runs alone.

    concurrency.py --quick [--planted NAME] | --full | --planted
"""

import re
import sys

from sanitized import TARGET, build, finish, planted, run, said_by

# Planted bugs whose results are right, as a rule: the sanitizer alone sees them.
RACES = "race-"


def main():
    arguments = sys.argv[1:]
    plain = TARGET / "release" / "concurrency"
    if arguments == ["--planted"]:
        print(said_by(plain, "--planted"), end="")
        return 0
    bug = planted(arguments)
    rans = []
    if not (bug and bug.startswith(RACES)):
        rans.append(run(plain, arguments))
    if arguments == ["--full"] or bug and bug.startswith(RACES):
        ran = run(build("concurrency", "thread"), arguments)
        reports = re.findall(r"SUMMARY: ThreadSanitizer: (.*)", ran.said)
        ran.failed += len(reports)
        ran.failures += [f"failed: ThreadSanitizer: {report}" for report in dict.fromkeys(reports)]
        ran.notes = [f"note: {ran.checked} of the checks ran under ThreadSanitizer: {len(reports)} reports"]
        rans.append(ran)
    return finish("concurrency", rans)


if __name__ == "__main__":
    sys.exit(main())
