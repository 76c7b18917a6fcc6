"""Mutants: which there are, and what is known of them.

`cargo mutants` lists them. `assure/mutants.json` is the ledger, a row for each file, and `assure/survivors.json` has
those that no test finds.
"""

import hashlib
import json
import os
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
SCRATCH = TARGET / "assure" / "mutation"
LEDGER = ROOT / "assure" / "mutants.json"
SURVIVORS = ROOT / "assure" / "survivors.json"
VERSION = "27.1.0"

# What decides what is accepted. All mutants must be found.
STRICT = [
    "crates/bounds/src/",
    *(f"crates/tagmac/src/{name}" for name in [
        "mac.rs", "construction.rs", "tag.rs", "nonce.rs", "part.rs", "kernels.rs", "save/",
        "isa/level.rs", "isa/usable.rs",
        "dynamic/key_file.rs", "dynamic/key_id.rs", "dynamic/partial.rs", "dynamic/saved.rs",
    ]),
    *(f"crates/files/src/{name}" for name in ["key_file.rs", "line.rs", "line_reader.rs", "manifest/"]),
]  # fmt: skip
ALGO = ["crates/tagmac/src/algo/"]
# Of the mutants in `ALGO` that can change a result, those that must be found, in percent.
FLOOR = 95


def is_within(path, places):
    return any(path == place or place.endswith("/") and path.startswith(place) for place in places)


def tool():
    """`cargo mutants`, of one version, because others have other mutants."""
    program = SCRATCH / "tools" / "bin" / "cargo-mutants"
    said = None
    if program.exists():
        said = subprocess.run([program, "mutants", "--version"], stdout=subprocess.PIPE, text=True).stdout
    if said is None or VERSION not in said:
        command = ["cargo", "install", "--quiet", "--locked", "--debug", "--force", f"cargo-mutants@{VERSION}"]
        environment = dict(os.environ, CARGO_TARGET_DIR=str(SCRATCH / "tools" / "target"), CARGO_PROFILE_DEV_DEBUG="0")
        subprocess.run([*command, "--root", SCRATCH / "tools"], cwd=ROOT, env=environment, check=True)
    return program


def mutants(places):
    """All mutants of these files, as `cargo mutants` has them."""
    command = [tool(), "mutants", "--list", "--json", "--no-config"]
    for package in ["tagmac-bounds", "tagmac", "tagmac-files"]:
        command += ["--package", package]
    ran = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    found = [one for one in json.loads(ran.stdout) if is_within(one["file"], places)]
    lines = {path: (ROOT / path).read_text().splitlines() for path in {one["file"] for one in found}}
    seen = Counter()
    for one in found:
        # A name that outlives changes elsewhere: what is changed, on which text, and which of equal ones.
        one["what"] = one["name"].split(": ", 1)[1]
        one["line"] = lines[one["file"]][one["span"]["start"]["line"] - 1].strip()
        key = one["file"], one["what"], one["line"]
        seen[key] += 1
        one["nth"] = seen[key]
        one.pop("diff", None)
    return found


def key_of(one):
    return one["file"], one["line"], one["what"], one.get("nth", 1)


def digest(path):
    return hashlib.sha256((ROOT / path).read_bytes()).hexdigest()[:16]


def read_json(path, default):
    return json.loads(path.read_text()) if path.exists() else default


class Ledger:
    """What is known of files and of survivors."""

    def __init__(self):
        self.read()

    def read(self):
        self.files = read_json(LEDGER, {})
        self.survivors = read_json(SURVIVORS, [])

    def reasons(self):
        return {key_of(one): one["reason"] for one in self.survivors}

    def is_stale(self, path):
        return self.files.get(path, {}).get("source") != digest(path)

    def keep(self, path, counts, survivors):
        """Stores what came of a file's mutants. Another run may be at work on other files."""
        self.read()
        known = {key_of(one): one for one in self.survivors}
        self.files[path] = {"source": digest(path)} | counts
        self.survivors = [one for one in self.survivors if one["file"] != path]
        for one in survivors:
            row = {"file": path, "line": one["line"], "what": one["what"]}
            if one["nth"] > 1:
                row["nth"] = one["nth"]
            before = known.get(key_of(one), {})
            row["reason"] = before.get("reason", "")
            if before.get("equal"):
                row["equal"] = True
            self.survivors.append(row)
        self.write()

    def write(self):
        self.survivors.sort(key=key_of)
        rows = [f' "{path}": {json.dumps(row)}' for path, row in sorted(self.files.items())]
        LEDGER.write_text("{\n" + ",\n".join(rows) + "\n}\n")
        SURVIVORS.write_text(json.dumps(self.survivors, indent=1, ensure_ascii=False) + "\n")


def judge(ledger, files):
    """The mutants of the ledger, and what is wrong."""
    checked, failed, reasons = 0, [], ledger.reasons()
    for name, places, floor in (("strict", STRICT, 100), ("algo", ALGO, FLOOR)):
        here = {path: row for path, row in ledger.files.items() if is_within(path, places)}
        total = Counter()
        for row in here.values():
            total.update({kind: row.get(kind, 0) for kind in ("killed", "timeout", "unviable", "survived")})
        found = total["killed"] + total["timeout"]
        count = found + total["survived"]
        checked += count
        share = 100 * found / max(count, 1)
        # With a reason that says that no result differs.
        equal = sum(1 for one in ledger.survivors if one.get("equal") and is_within(one["file"], places))
        telling = 100 * found / max(count - equal, 1)
        listed = [key for key in reasons if is_within(key[0], places)]
        explained = [key for key in listed if reasons[key]]
        print(
            f"note: {name}: {found:,} of {count:,} viable mutants of {len(here)} files found ({share:.1f} %), "
            f"{total['timeout']} of them as loops without an end; of {count - equal:,} that can change a result "
            f"{telling:.1f} %; {len(explained)} of {total['survived']} survivors have a reason; "
            f"{total['unviable']:,} do not compile"
        )
        missing = [path for path in files if is_within(path, places) and path not in ledger.files]
        if floor == 100:
            failed += [f"{path}: its mutants were never tried" for path in missing]
        elif missing:
            print(f"note: {name}: {len(missing)} files were not tried yet: {', '.join(missing)}")
        if len(listed) != total["survived"]:
            failed.append(f"{name}: expected {total['survived']} survivors in survivors.json, found {len(listed)}")
        if floor == 100:
            failed += [f"{key[0]}: survives: {key[2]}: {key[1]}" for key in listed if not reasons[key]]
        elif not missing and telling < floor:
            failed.append(f"{name}: expected {floor} % of {count - equal} mutants to be found, found {telling:.1f} %")
        failed += [
            f"{one['file']}: expected a reason why results are equal, found none: {one['what']}"
            for one in ledger.survivors
            if one.get("equal") and not one["reason"] and is_within(one["file"], places)
        ]
        stale = [path for path in here if path in files and ledger.is_stale(path)]
        if stale:
            print(f"note: {name}: changed since their mutants were tried: {', '.join(stale)}")
        for path in here:
            if path in files and path not in stale:
                lines = {line.strip() for line in (ROOT / path).read_text().splitlines()}
                failed += [f"{path}: no such line: {key[1]}" for key in listed if key[0] == path and key[1] not in lines]
    return checked, failed
