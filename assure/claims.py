"""The ledger of claims, docs/claims.md: each names an item of the source and a test, and both exist."""

import re

from products import REPO

CLAIMS = REPO / "docs/claims.md"
# What must have a claim: each definition, algorithm, theorem and pinned choice of the papers that the
# library follows, and each requirement of RFC 4418, which has them in lower case.
REQUIRED = """
pmac-2-field pmac-2-gray pmac-2-ntz pmac-fig1-algorithm pmac-fig1-pad pmac-fig1-truncation pmac-thm1
pmac-4.1-parsimony
lightmac-eq8-algorithm lightmac-s2-counter lightmac-s2-limit lightmac-s2-padding lightmac-s2-truncation
lightmac-thm1 lightmac-thm2 lightmac-prop1 lightmac-s2-gray
elimac-alg1-algorithm elimac-alg1-padding elimac-eq16-families elimac-s1-encoding elimac-s5-rounds
elimac-prop1 elimac-thm1 elimac-thm2 elimac-cor1
poly1305-clamp poly1305-polynomial poly1305-addition poly1305-nonce poly1305-bound
umac99-fig1-example umac99-4.2-nh umac99-4.4-nhs umac99-s2.2-min-length umac99-5.1-toeplitz umac99-5.4-two-levels
umac99-6-length umac99-6-nhx umac99-7-stride umac99-8-cbc3 umac99-9-graded umac99-thm4.2 umac99-thm4.5
umac99-thm5.1 umac99-sets
rfc4418-2.5 rfc4418-3.1-aes rfc4418-3.1-blocklen rfc4418-3.2.1 rfc4418-3.3.1 rfc4418-4.1 rfc4418-4.2
rfc4418-5.1 rfc4418-5.2.1 rfc4418-5.2.2 rfc4418-5.3.1 rfc4418-5.3.2 rfc4418-5.4.1 rfc4418-6.2-failures
rfc4418-6.3-length rfc4418-6.3-equal rfc4418-6.3-repeat rfc4418-6.3-form rfc4418-6.4-replay
rfc4418-6.5-tag-length rfc4418-6.5-prefix rfc4418-6.6-timing rfc4418-appendix rfc4418-eid3507
""".split()

# What is named by a paper and not built: its reason, in a section at the end.
NOT_BUILT = "\n## Not built\n"
REASON = re.compile(r"\| `[\w.-]+` \| [^|]+ \| [^|`][^|]+ \|")
ROW = re.compile(r"\| `(?P<id>[\w.-]+)` \| (?P<says>[^|]+) \| `(?P<code>[^|`]+)` \| `(?P<test>[^|`]+)` \|")
# What may define an item that a claim names.
ITEM = r"(?:fn|struct|enum|trait|const|static|mod|type)\s+{name}\b|\b{name}!\s*[({{]|macro_rules! {name}\b"


def ledger(job):
    text = CLAIMS.read_text()
    if job.plants("claim-missing"):
        text = re.sub(r"\| `rfc4418-6\.3-equal` [^\n]*\n", "", text)
    if job.plants("claim-without-item"):
        text = text.replace("::times_x`", "::times_y`", 1)
    if job.plants("claim-without-test"):
        text = text.replace("::every_field`", "::every_other_field`", 1)
    if job.plants("claim-unknown"):
        text = "| `pmac-fig99` | planted | `tag.rs::Tag` | `src/tag.rs::every_bit_counts` |\n" + text
    text, section, reasons = text.partition(NOT_BUILT)
    reasons = [line for line in reasons.splitlines() if line.startswith("| `")]
    job.check(bool(section and reasons), "docs/claims.md: expected the section 'Not built', found none")
    for line in reasons:
        job.check(bool(REASON.fullmatch(line)), f"docs/claims.md: no row `id`, what, why not: {line}")
    rows = [ROW.fullmatch(line.strip()) for line in text.splitlines() if line.startswith("| `")]
    job.check(all(rows), "docs/claims.md: a row is not `id`, what, `file::item`, `file::test`")
    rows = [row for row in rows if row]
    ids = [row["id"] for row in rows]
    job.check(len(set(ids)) == len(ids), "docs/claims.md: an id has two rows")
    for name in REQUIRED:
        job.check(name in ids, f"docs/claims.md: expected a row for {name}, found none")
    for row in rows:
        job.check(row["id"] in REQUIRED, f"docs/claims.md: {row['id']} is no id of a source")
        file, _, name = row["code"].rpartition("::")
        path = REPO / "crates/tagmac/src" / file
        found = path.exists() and re.search(ITEM.format(name=re.escape(name)), path.read_text())
        job.check(bool(found), f"docs/claims.md: {row['id']}: no item {name} in {file}")
        file, _, name = row["test"].rpartition("::")
        path = REPO / (file if "/" in file and not file.startswith(("src/", "tests/")) else f"crates/tagmac/{file}")
        job.check(path.exists() and is_test(path.read_text(), name), f"docs/claims.md: {row['id']}: no test {name} in {file}")
    return len(rows)


def is_test(text, name):
    """A function under #[test] or in proptest!, a function of pytest, or a macro's test."""
    rust = rf"#\[test\](?:\s*#\[[^\]]*\])*\s*fn {re.escape(name)}\("
    named = rf"^\s*{re.escape(name)}:|^\s*{re.escape(name)}\s*=>|^\s*{re.escape(name)}[,(] "
    python = rf"^\s*def {re.escape(name)}\("
    theorem = rf"^(?:@theorem\(|\s+)\"{re.escape(name)}\","
    return any(re.search(p, text, re.MULTILINE) for p in (rust, named, python, theorem))
