"""Renders docs/design/assurance.md and assure/runs.md from the jobs and the results of their last runs."""

import re

HEAD = """# Assurance

These jobs look for faults in this library. To run them yourself:

    scripts/assure --quick      # in minutes, without bugs, coverage, fuzz, memory and mutation
    scripts/assure              # in full, hours

Each job counts its checks and must reach a fixed minimum. Each also runs again with planted bugs, and must fail
with each; [the last runs](../../assure/runs.md) show how. `scripts/assure --page` writes both pages from
`assure/record.json`.
"""
RUNS = """# The last runs of each job

[Assurance](../docs/design/assurance.md) has the claims that these runs support. A planted bug must make its job
fail; the tables show the first failure. `scripts/assure --page` writes this page from `assure/record.json`.
"""


NOT_DONE = """
## What was not done

"""
FUZZED = """- Fuzzing: the aim is {wanted} hours of CPU time. All full runs so far took {hours:.1f} hours and {runs:,} inputs;
  `assure/fuzzed.json` lists them for each target.
"""
# The aim for fuzzing, in hours of CPU time.
WANTED = 8
QUICK = "- Jobs marked (quick) have no full run on record: {}.\n"
# The longest shown failure of a planted bug, in characters.
SHOWN = 200


def cell(text):
    """Escapes and shortens text for a table."""
    text = text if len(text) <= SHOWN else text[:SHOWN].rstrip() + " ..."
    return re.sub(r"([|<*_`])", r"\\\1", text)


def number(count):
    return f"{count:,}"


def last(job, record):
    """Returns the last recorded full run, or else the quick one, and its kind."""
    runs = record.get(job.name, {})
    for kind in ("full", "quick"):
        if kind in runs:
            return kind, runs[kind]
    return None, None


def not_done(jobs, record, fuzzed):
    text = ""
    hours, runs = (sum(row[what] for row in fuzzed.values()) for what in ("cpu_seconds", "runs"))
    if hours < WANTED * 3600:
        text += FUZZED.format(wanted=WANTED, hours=hours / 3600, runs=runs)
    quick = [f"`{job.name}`" for job in jobs if last(job, record)[0] == "quick"]
    text += QUICK.format(", ".join(quick)) if quick else ""
    return NOT_DONE + text if text else ""


def page(jobs, record, fuzzed):
    """Renders the page of claims."""
    lines = [HEAD]
    lines.append("| job | what it tests | checked | failed | planted bugs found | minutes |")
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
            f"| [`{job.name}`](../../assure/runs.md#{job.name}){mark} | {job.what} | {number(found['checked'])} | 0 "
            f"| {len(found['planted'])} of {len(found['planted'])} | {minutes} |"
        )
    if missing:
        lines.append("\nNot recorded: " + ", ".join(f"`{name}`" for name in missing) + ".")
    lines.append("\n## Claims and their caveats\n")
    lines.append("| claim | job | caveat |")
    lines.append("|---|---|---|")
    for job in jobs:
        lines.append(f"| {job.claim} | `{job.name}` | {job.caveat} |")
    lines.append(not_done(jobs, record, fuzzed))
    return "\n".join(lines).rstrip("\n") + "\n"


def runs(jobs, record):
    """Renders the page of the last runs."""
    lines = [RUNS]
    for job in jobs:
        kind, found = last(job, record)
        if found is None:
            continue
        lines.append(f"## {job.name}\n")
        lines.append(
            f"{found['date']}, {found['cpu']}, {found['cores']} cores, {found['compiler']}; {kind} run, "
            f"{number(found['checked'])} checks.\n"
        )
        lines += [f"- {note}" for note in found["notes"]]
        lines.append("\n| planted bug | first failure |\n|---|---|")
        lines += [f"| `{name}` | {cell(said)} |" for name, said in sorted(found["planted"].items())]
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"
