"""The ledger of claims, docs/design/claims.md: each row names an item of the source and a test, and
both must exist.

Each number in the papers needs a row, or a line with the reason for its absence. The numbers are in
`numbered.json`, which `numbering.py` extracts from the texts of the papers.
"""

import json
import re

from products import REPO

CLAIMS = REPO / "docs/design/claims.md"
NUMBERED = REPO / "assure/numbered.json"
KINDS = ("thm", "lem", "prop", "cor", "def", "alg", "eq", "fig", "tab", "s")
# `umac99-thm4.2`, `elimac-alg1-padding`, `pmac-4.1-parsimony`: a number without a kind is a
# section's.
NUMBER = re.compile(rf"(?P<source>[a-z]+[0-9]*)-(?P<kind>{'|'.join(KINDS)})?(?P<number>(?:\d|[A-C]\.)[\d.]*)(?:-[\w-]+)?")
# Rows for claims without a number: the slides on Poly1305-AES number nothing, our copy of LightMAC
# has lost its equation numbers, and the others are a list, an appendix and an erratum.
UNNUMBERED = """
poly1305-clamp poly1305-polynomial poly1305-addition poly1305-nonce poly1305-bound
lightmac-eq8-algorithm umac99-sets rfc4418-appendix rfc4418-eid3507
""".split()
# Detects a lost row even if another row has the same number.
LEAST_ROWS = {"pmac": 15, "lightmac": 10, "elimac": 12, "poly1305": 5, "umac99": 30, "rfc4418": 25}

ROW = re.compile(r"\| `(?P<id>[\w.-]+)` \| (?P<says>[^|]+) \| `(?P<code>[^|`]+)` \| `(?P<test>[^|`]+)` \|")
# Numbered IDs that claim nothing, and why.
NO_CLAIM = re.compile(r"\| (?P<ids>`[^|]+`) \| (?P<why>[^|]+) \|")
NOT_BUILT = re.compile(r"\| `(?P<id>[\w.-]+)` \| (?P<says>[^|]+) \| (?P<why>[^|]+) \|")
# Patterns of the definition of an item that a claim may name.
ITEM = r"(?:fn|struct|enum|trait|const|static|mod|type)\s+{name}\b|\b{name}!\s*[({{]|macro_rules! {name}\b"


def section(text, title):
    """Returns the lines of a section of the page."""
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0].splitlines()


def number_of(name):
    """Returns (source, kind, number) of an ID, or `None` if it has no number."""
    match = NUMBER.fullmatch(name)
    return match and (match["source"], match["kind"] or "s", match["number"].rstrip("."))


def ledger(job):
    text = CLAIMS.read_text()
    if job.plants("claim-missing"):
        text = re.sub(r"\| `rfc4418-6\.4-replay` [^\n]*\n", "", text)
    if job.plants("claim-without-item"):
        text = text.replace("::times_x`", "::times_y`", 1)
    if job.plants("claim-without-test"):
        text = text.replace("::every_field`", "::every_other_field`", 1)
    if job.plants("claim-unknown"):
        text = text.replace("\n## LightMAC\n", "| `pmac-fig99` | planted | `tag.rs::Tag` | `src/tag.rs::every_bit_counts` |\n\n## LightMAC\n")
    if job.plants("claim-without-reason"):
        text = re.sub(r"(\| `rfc4418-6\.1`) [^\n]*\n", r"\1 | |\n", text)
    sources = json.loads(NUMBERED.read_text())
    for source, kinds in sources.items():
        counts = {kind: len(numbers) for kind, numbers in kinds.items() if kind != "counts"}
        job.check(counts == kinds["counts"], f"assure/numbered.json: the counts of {source} differ from its lists")
    known = {(source, kind, number) for source, kinds in sources.items()
             for kind, numbers in kinds.items() if kind != "counts" for number in numbers}  # fmt: skip
    no_claim, not_built = section(text, "Numbered, and no claim"), section(text, "Not built")
    lines = [line.strip() for line in text.splitlines() if line.startswith("| `") and line not in no_claim + not_built]
    rows = [ROW.fullmatch(line) for line in lines]
    job.check(all(rows), "docs/design/claims.md: each row must be `id`, claim, `file::item`, `file::test`")
    rows = [row for row in rows if row]
    ids = [row["id"] for row in rows]
    job.check(len(set(ids)) == len(ids), "docs/design/claims.md: an ID has two rows")
    covered = set()
    for name in ids:
        number = number_of(name)
        job.check(name in UNNUMBERED or number in known, f"docs/design/claims.md: {name} is not in any source")
        covered.add(number)
    for name in UNNUMBERED:
        job.check(name in ids, f"docs/design/claims.md: {name} has no row")
    for source, least in LEAST_ROWS.items():
        count = sum(name.startswith(f"{source}-") for name in ids)
        job.check(count >= least, f"docs/design/claims.md: expected {least} rows of {source} or more, found {count}")
    reasons = [(line, NO_CLAIM.fullmatch(line.strip())) for line in no_claim if line.startswith("| `")]
    for line, match in reasons:
        job.check(bool(match) and match["why"].strip() != "", f"docs/design/claims.md: expected IDs and a reason, found {line}")
        for name in re.findall(r"`([^`]+)`", match["ids"] if match else ""):
            number = number_of(name)
            job.check(number in known and number not in covered, f"docs/design/claims.md: {name} already has a row, or is not in any source")
            covered.add(number)
    job.check(any(line.startswith("| `") for line in not_built), "docs/design/claims.md: the section 'Not built' is missing")
    for line in not_built:
        if line.startswith("| `"):
            match = NOT_BUILT.fullmatch(line.strip())
            job.check(bool(match), f"docs/design/claims.md: expected an ID, a claim and a reason, found {line}")
            covered.add(match and number_of(match["id"]))
    # A section also counts as covered if a part of it is.
    within = {(source, "s", number.rpartition(".")[0]) for source, kind, number in filter(None, covered) if kind == "s"}
    for source, kind, number in sorted(known - covered - within):
        name = f"{source}-{number}" if kind == "s" else f"{source}-{kind}{number}"
        job.check(False, f"docs/design/claims.md: {name} needs a row, or the reason for its absence")
    job.checked += len(known)
    for row in rows:
        file, _, name = row["code"].rpartition("::")
        path = REPO / (file if file.startswith("crates/") else f"crates/tagmac/src/{file}")
        found = path.exists() and re.search(ITEM.format(name=re.escape(name)), path.read_text())
        job.check(bool(found), f"docs/design/claims.md: {row['id']}: item {name} not found in {file}")
        file, _, name = row["test"].rpartition("::")
        path = REPO / (file if "/" in file and not file.startswith(("src/", "tests/")) else f"crates/tagmac/{file}")
        job.check(path.exists() and is_test(path.read_text(), name), f"docs/design/claims.md: {row['id']}: test {name} not found in {file}")
    return len(rows)


def is_test(text, name):
    """Returns whether `name` is a function under #[test] or in proptest!, a function of pytest, or
    a macro's test."""
    rust = rf"#\[test\](?:\s*#\[[^\]]*\])*\s*fn {re.escape(name)}\("
    named = rf"^\s*{re.escape(name)}:|^\s*{re.escape(name)}\s*=>|^\s*{re.escape(name)}[,(] "
    python = rf"^\s*def {re.escape(name)}\("
    theorem = rf"^(?:@theorem\(|\s+)\"{re.escape(name)}\","
    return any(re.search(p, text, re.MULTILINE) for p in (rust, named, python, theorem))
