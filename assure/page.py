"""docs/design/assurance.md, of the jobs and of what their last runs found."""

import re

HEAD = """# Assurance

What was tried to find this library wrong, what came of it, and what it does not show. Run it yourself:

    scripts/assure --quick      # all jobs, minutes
    scripts/assure              # in full, hours

Each job counts what it checked, and must have checked as much as it promises. Each has planted bugs: the
same job runs again with each of them and must come out red; below is what it said then. This page is written
by `scripts/assure --page` from `assure/record.json`.
"""


NOT_DONE = """
## What was not done

- No real Arm, RISC-V or s390x machine: these run under qemu.
- valgrind knows no AVX-512 and no VAES: `vaes` and `avx512` have equal traces instead, and no memcheck.
- Miri is in no toolchain that was at hand: aliasing and provenance are not checked.
"""
FUZZED = """- Fuzzing: {wanted} hours of CPU time are the aim. All full runs so far had {hours:.1f} hours and {runs:,} inputs;
  `assure/fuzzed.json` has it for each target.
"""
# Hours of CPU time that fuzzing should have had.
WANTED = 8
QUICK = "- Jobs marked (quick) have no full run on record: {}.\n"
# Letters of what a job said of a planted bug.
SHOWN = 200


def cell(text):
    """In a table, and not too long."""
    text = text if len(text) <= SHOWN else text[:SHOWN].rstrip() + " ..."
    return re.sub(r"([|<*_`])", r"\\\1", text)


def number(count):
    return f"{count:,}"


def last(job, record):
    """The full run that is on record, else the quick one, and which it is."""
    runs = record.get(job.name, {})
    for kind in ("full", "quick"):
        if kind in runs:
            return kind, runs[kind]
    return None, None


def not_done(jobs, record, fuzzed):
    text = NOT_DONE
    hours, runs = (sum(row[what] for row in fuzzed.values()) for what in ("cpu_seconds", "runs"))
    if hours < WANTED * 3600:
        text += FUZZED.format(wanted=WANTED, hours=hours / 3600, runs=runs)
    quick = [f"`{job.name}`" for job in jobs if last(job, record)[0] == "quick"]
    return text + (QUICK.format(", ".join(quick)) if quick else "")


def page(jobs, record, fuzzed):
    lines = [HEAD]
    lines.append("| job | what is tried | checked | failed | planted bugs found | minutes |")
    lines.append("|---|---|---:|---:|---:|---:|")
    missing = []
    for job in jobs:
        kind, found = last(job, record)
        if found is None:
            missing.append(job.name)
            continue
        mark = "" if kind == "full" else " (quick)"
        minutes = f"{found['seconds'] / 60:.1f}"
        lines.append(
            f"| `{job.name}`{mark} | {job.what} | {number(found['checked'])} | 0 "
            f"| {len(found['planted'])} of {len(found['planted'])} | {minutes} |"
        )
    if missing:
        lines.append("\nNot on record: " + ", ".join(f"`{name}`" for name in missing) + ".")
    lines.append("\n## Claims and their caveats\n")
    lines.append("| claim | job | caveat |")
    lines.append("|---|---|---|")
    for job in jobs:
        lines.append(f"| {job.claim} | `{job.name}` | {job.caveat} |")
    lines.append(not_done(jobs, record, fuzzed))
    lines.append("\n## The runs\n")
    for job in jobs:
        kind, found = last(job, record)
        if found is None:
            continue
        lines.append(f"### {job.name}\n")
        lines.append(
            f"{found['date']}, {found['cpu']}, {found['cores']} cores, {found['compiler']}; {kind} run, "
            f"{number(found['checked'])} checks.\n"
        )
        lines += [f"- {note}" for note in found["notes"]]
        lines.append("\n| planted | what the job said |\n|---|---|")
        lines += [f"| `{name}` | {cell(said)} |" for name, said in sorted(found["planted"].items())]
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"
