"""Mutants: the list, and what is known about them.

`cargo mutants` lists them. `assure/mutants.json` is the ledger, with a row for each file.
`assure/survivors.json` lists the mutants that no test finds. Function, operator and position among
equal operators identify each.
"""

import json
import os
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

from anchors import ROOT, Tree, align, anchor, is_within, names_in, number_of
from rust_source import digest as digest_of

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
SCRATCH = TARGET / "assure" / "mutation"
LEDGER = ROOT / "assure" / "mutants.json"
SURVIVORS = ROOT / "assure" / "survivors.json"
VERSION = "27.1.0"

# The code that decides what is accepted. All its mutants must be found.
STRICT = [
    "crates/bounds/src/",
    *(f"crates/tagmac/src/{name}" for name in [
        "mac.rs", "construction.rs", "tag.rs", "nonce.rs", "part.rs", "plan.rs", "save/",
        "isa/level.rs", "isa/usable.rs",
    ]),
    *(f"crates/any/src/{name}" for name in ["key_file.rs", "key_id.rs", "partial.rs", "saved.rs"]),
    *(f"crates/files/src/{name}" for name in [
        "key_access.rs", "key_file.rs", "leaves/", "line.rs", "line_reader.rs", "manifest/",
    ]),
]  # fmt: skip
ALGO = ["crates/tagmac/src/algo/", "crates/papers/src/"]
# The percentage that must be found of the mutants in `ALGO` that can change a result.
FLOOR = 95


def tool():
    """Returns `cargo mutants`, pinned to one version, because each version makes different mutants.
    """
    program = SCRATCH / "tools" / "bin" / "cargo-mutants"
    said = None
    if program.exists():
        said = subprocess.run([program, "mutants", "--version"], stdout=subprocess.PIPE, text=True).stdout
    if said is None or VERSION not in said:
        command = ["cargo", "install", "--quiet", "--locked", "--debug", "--force", f"cargo-mutants@{VERSION}"]
        environment = dict(os.environ, CARGO_TARGET_DIR=str(SCRATCH / "tools" / "target"), CARGO_PROFILE_DEV_DEBUG="0")
        subprocess.run([*command, "--root", SCRATCH / "tools"], cwd=ROOT, env=environment, check=True)
    return program


def mutants(places, tree=None):
    """Returns all mutants of these files as `cargo mutants` lists them, with function and
    statement."""
    tree = tree or Tree()
    command = [tool(), "mutants", "--list", "--json", "--no-config"]
    for package in ["tagmac-bounds", "tagmac", "tagmac-papers", "tagmac-any", "tagmac-files"]:
        command += ["--package", package]
    ran = subprocess.run(command, cwd=tree.root, stdout=subprocess.PIPE, check=True)
    listed = json.loads(ran.stdout)
    for one in listed:
        # A module's `path` attribute may leave `..` in it.
        one["file"] = os.path.normpath(one["file"])
    return identified([one for one in listed if is_within(one["file"], places)], tree)


def operator(one):
    """Returns the operation of a mutant without its operands."""
    match one["genre"]:
        case "FnValue":
            return f"return {one['replacement']}"
        case "MatchArmGuard":
            return f"replace match guard with {one['replacement']}"
        case "MatchArm":
            return "delete match arm"
        case "StructField":
            return "delete field"
        case _:
            return one["name"].split(": ", 1)[1].split(" in ", 1)[0]


def identified(found, tree):
    """Adds names to mutants that survive changes elsewhere."""
    groups = defaultdict(list)
    for one in found:
        source, start = tree.source(one["file"]), one["span"]["start"]
        item = source.item_at(source.offset(start["line"], start["column"]))
        number = source.token_at(source.offset(start["line"], start["column"]))
        here = [statement for statement in item.statements if statement.start <= number < statement.end]
        # A mutant that returns at once is identified by the function's head, whatever it returns.
        statement = item.statements[0] if one["genre"] == "FnValue" else here[0]
        one["item"], one["what"], one["code"] = item.name, operator(one), source.code(statement)
        one.pop("diff", None)
        groups[one["file"], one["item"], one["what"]].append(one)
    for here in groups.values():
        codes = [one["code"] for one in here]
        for index, one in enumerate(here):
            one |= anchor(codes, index)
    return found


def key_of(one):
    """Returns the name of a mutant among the current ones."""
    return one["file"], one["item"], one["what"], one["place"]


def label(row):
    """Describes a survivor to readers."""
    return f"{row['function']}: {row['what']} ({row['place']}): {row['code']}"


def digest(path):
    return digest_of((ROOT / path).read_text())


def read_json(path, default):
    return json.loads(path.read_text()) if path.exists() else default


class Ledger:
    """The ledger of files and survivors, matched to the current mutants."""

    def __init__(self, found, tree=None):
        self.found, self.tree = found, tree or Tree()
        self.read()

    def read(self):
        recorded, now = read_json(LEDGER, {}), sorted({one["file"] for one in self.found})
        self.digests = {}
        # Its functions, or its module's name, identify a file that moved.
        moved = [path for path in recorded if path not in now and not (self.tree.root / path).exists()]
        free = [path for path in now if path not in recorded]
        self.files = {path: row for path, row in recorded.items() if path not in moved}
        for path in moved:
            same = [one for one in free if self.digest(one) == recorded[path]["source"]]
            place = same[0] if len(same) == 1 else self.tree.nearest(path, free)
            self.files[place if place and place not in self.files else path] = recorded[path]
        self.survivors = read_json(SURVIVORS, [])
        self.match()

    def digest(self, path):
        if path not in self.digests:
            self.digests[path] = digest_of((self.tree.root / path).read_text())
        return self.digests[path]

    def match(self):
        """Assigns rows to mutants, and mutants to rows."""
        groups, rows, self.mutant_of = defaultdict(list), defaultdict(list), {}
        for one in self.found:
            one.pop("row", None)
            groups[one["file"], one["item"], one["what"]].append(one)
        for row in self.survivors:
            rows[row["file"], row["function"]].append(row)
        # Functions that have not moved come first, so that no other gets their reasons.
        for file, function in sorted(rows, key=lambda key: not self.tree.has(*key)):
            place = self.tree.locate(file, function)
            for row in rows[file, function] if place else []:
                here = groups[*place, row["what"]]
                item = self.tree.source(place[0]).named(place[1])[0]
                names = names_in(self.tree.source(place[0]), item)
                found = align(row, [one["code"] for one in here], names) if here else None
                if found and "row" not in here[found[0]]:
                    here[found[0]]["row"] = row
                    self.mutant_of[id(row)] = here[found[0]]

    def place(self, row):
        """Returns the current file of a survivor, or the recorded one if it was not found."""
        return self.mutant_of.get(id(row), row)["file"]

    def is_stale(self, path):
        return self.files.get(path, {}).get("source") != self.digest(path)

    def keep(self, path, counts, survivors):
        """Stores the results of a file. Another run may be storing other files."""
        self.read()
        self.files[path] = {"source": self.digest(path)} | counts
        self.survivors = [row for row in self.survivors if self.place(row) != path]
        self.survivors += [row_of(one, one.get("row", {})) for one in survivors]
        self.write()
        self.match()

    def renew(self):
        """Updates files, functions and statements in the ledger."""
        of = self.mutant_of
        self.survivors = [row_of(of[id(row)], row) if id(row) in of else row for row in self.survivors]
        self.write()
        self.match()

    def write(self):
        self.survivors.sort(key=lambda row: (row["file"], row["function"], row["what"], number_of(row["place"])))
        files = [f' "{path}": {json.dumps(row)}' for path, row in sorted(self.files.items())]
        LEDGER.write_text("{\n" + ",\n".join(files) + "\n}\n")
        SURVIVORS.write_text(json.dumps(self.survivors, indent=1, ensure_ascii=False) + "\n")


def row_of(one, before):
    """Returns the row to store for a survivor."""
    row = {"file": one["file"], "function": one["item"], "what": one["what"], "code": one["code"]}
    row |= {name: one[name] for name in ("place", "alike") if name in one}
    row["reason"] = before.get("reason", "")
    return row | ({"equal": True} if before.get("equal") else {})


def judge(ledger, files):
    """Counts the mutants of the ledger and lists what is wrong."""
    checked, failed = 0, []
    for name, places, floor in (("strict", STRICT, 100), ("algo", ALGO, FLOOR)):
        here = {path: row for path, row in ledger.files.items() if is_within(path, places)}
        total = Counter()
        for row in here.values():
            total.update({kind: row.get(kind, 0) for kind in ("killed", "timeout", "unviable", "survived")})
        found = total["killed"] + total["timeout"]
        count = found + total["survived"]
        checked += count
        share = 100 * found / max(count, 1)
        listed = [row for row in ledger.survivors if is_within(ledger.place(row), places)]
        # Those with a recorded reason why results cannot differ.
        equal = sum(1 for row in listed if row.get("equal"))
        telling = 100 * found / max(count - equal, 1)
        explained = sum(1 for row in listed if row["reason"])
        print(
            f"note: {name}: {found:,} of {count:,} viable mutants of {len(here)} files found ({share:.1f} %), "
            f"{total['timeout']} of them as endless loops. Of {count - equal:,} that can change a result "
            f"{telling:.1f} %. {explained} of {total['survived']} survivors have a reason, and "
            f"{total['unviable']:,} do not compile"
        )
        missing = [path for path in files if is_within(path, places) and path not in ledger.files]
        if floor == 100:
            failed += [f"{path}: its mutants have never been tried" for path in missing]
        elif missing:
            print(f"note: {name}: {len(missing)} files have not been tried yet: {', '.join(missing)}")
        if len(listed) != total["survived"]:
            failed.append(f"{name}: expected {total['survived']} survivors in survivors.json, found {len(listed)}")
        if floor == 100:
            failed += [f"{ledger.place(row)}: survives: {label(row)}" for row in listed if not row["reason"]]
        elif not missing and telling < floor:
            failed.append(f"{name}: tests must find {floor} % of {count - equal} mutants, but found {telling:.1f} %")
        failed += [
            f"{ledger.place(row)}: no reason why results are equal: {label(row)}"
            for row in listed if row.get("equal") and not row["reason"]
        ]  # fmt: skip
        stale = [path for path in here if path in files and ledger.is_stale(path)]
        if stale:
            print(f"note: {name}: changed since their mutants were last tried: {', '.join(stale)}")
        lost = [row for row in listed if id(row) not in ledger.mutant_of]
        failed += [f"{row['file']}: no such mutant: {label(row)}" for row in lost if row["file"] not in stale]
        if lost:
            print(f"note: {name}: {len(lost)} survivors are in code that has changed since")
    return checked, failed
