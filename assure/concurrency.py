#!/usr/bin/env python3
"""Concurrency: models, many threads, forks, and a C library that is loaded and unloaded; then all
of it again under ThreadSanitizer, which reports accesses of two threads to one place without an
order between them.

Two builds of the program `concurrency` (src/bin/concurrency) run: the one from `cargo build
--release`, and in full runs only, one built here with the sanitizer together with the standard
library and the C library.

    concurrency.py --quick [--planted NAME] | --full | --planted
"""

import re
import sys

from sanitized import TARGET, build, finish, planted, run, said_by

# Planted bugs that usually give correct results: only the sanitizer sees them.
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
