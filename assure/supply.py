#!/usr/bin/env python3
"""What is shipped: dependencies, bills of materials, interfaces, claims, and builds that can be repeated.

    assure/supply.py --quick | --full [--planted NAME]
    assure/supply.py --planted
    assure/supply.py --update         stores the listings of interfaces anew
    assure/supply.py --sbom FILE      writes the bill of materials

- licences: each package in Cargo.lock has a licence that deny.toml allows, or an exception there.
- sources: each comes from crates.io and has its checksum in Cargo.lock.
- duplicates: no package has two versions, but for those in deny.toml; nor is any listed in vain.
- sbom: a CycloneDX 1.5 document of the command, the C libraries, the provider and the Python module, as
  `cargo tree` resolves them: the same bytes each time, valid by the schema, and each edge in Cargo.lock.
- api: what users of the crate tagmac can name is crates/tagmac/public-api.txt, by rustdoc's JSON.
- abi: what the shared libraries export is assure/abi.txt.
- claims: each claim of docs/claims.md names an item of the source and a test, and both exist; each
  section of the papers and each requirement of RFC 4418 that this file knows has a claim.
- builds (full): `scripts/reproducible-build` in two folders, with two Cargo homes, gives the same bytes.

deny.toml is cargo-deny's, which reads the same rules; this job needs no more than cargo and Python.
Advisories are not read: they are a matter of the day, and of a network. The documents say what Cargo
resolved, not what the linker kept.
"""

import argparse
import copy
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target")).resolve()
WORK = TARGET / "supply"
CYCLONEDX = "11.5.0"

C_PACKAGES = ["tagmac-capi", "tagmac-nettle", "tagmac-nettle4", "tagmac-ossl"]
PRODUCTS = ["tagmac-cli", *C_PACKAGES, "tagmac-py"]
LIBRARIES = ["libtagmac.so", "libtagmac_nettle.so", "libtagmac_nettle4.so", "libtagmac_provider.so"]
PLATFORM = "x86_64-unknown-linux-gnu"
API = REPO / "crates/tagmac/public-api.txt"
ABI = HERE / "abi.txt"
CLAIMS = REPO / "docs/claims.md"


def run(*command, env=None, cwd=REPO):
    done = subprocess.run(
        command, cwd=cwd, env=os.environ | (env or {}), capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.stderr.write(done.stderr[-4000:])
        raise SystemExit(f"supply: {' '.join(map(str, command[:4]))} failed")
    return done.stdout


class Job:
    def __init__(self, planted):
        self.planted, self.checked, self.failed, self.notes = planted, 0, 0, []

    def check(self, good, line):
        self.checked += 1
        if not good:
            self.failed += 1
            if self.failed <= 20:
                print(f"failed: {line}")

    def plants(self, name):
        return self.planted == name


# Dependencies.


def metadata():
    return json.loads(run("cargo", "metadata", "--format-version", "1", "--locked"))


def lock():
    return tomllib.loads((REPO / "Cargo.lock").read_text())["package"]


def tokens_of(expression):
    return re.findall(r"\(|\)|[A-Za-z0-9.+-]+", expression.replace("/", " OR "))


def allowed(expression, allow):
    """Whether an SPDX expression is satisfied by licences that are allowed. `/` is an old `OR`."""
    tokens = tokens_of(expression)

    def atom():
        token = tokens.pop(0)
        if token == "(":
            value = either()
            if tokens.pop(0) != ")":
                raise ValueError(expression)
            return value
        if tokens and tokens[0] == "WITH":
            tokens.pop(0)
            token = f"{token} WITH {tokens.pop(0)}"
        return token in allow

    def both():
        value = atom()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            right = atom()
            value = value and right
        return value

    def either():
        value = both()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            right = both()
            value = value or right
        return value

    value = either()
    if tokens:
        raise ValueError(expression)
    return value


def dependencies(job, packages, locked, rules):
    """Licences, sources and duplicates."""
    packages, locked = copy.deepcopy(packages), copy.deepcopy(locked)
    outside = [p for p in packages if p["source"]]
    if job.plants("licence"):
        outside[0]["license"] = "GPL-3.0-only"
    if job.plants("licence-and"):
        outside[0]["license"] = "MIT AND SSPL-1.0"
    if job.plants("source"):
        outside[0]["source"] = "git+https://example.org/fork?rev=1#1"
    if job.plants("checksum"):
        next(p for p in locked if p.get("source")).pop("checksum")
    if job.plants("duplicate"):
        packages.append(copy.deepcopy(outside[0]) | {"version": "99.0.0"})
    allow = set(rules["licenses"]["allow"])
    exceptions = {e["crate"]: set(e["allow"]) for e in rules["licenses"]["exceptions"]}
    used, needed = set(), set()
    for package in packages:
        name = f"{package['name']} {package['version']}"
        expression = package["license"] or ""
        try:
            plainly = allowed(expression, allow)
            good = plainly or allowed(expression, allow | exceptions.get(package["name"], set()))
        except (ValueError, IndexError):
            plainly = good = False
        if good and not plainly:
            used.add(package["name"])
        needed |= {t for t in allow if t.split(" WITH ")[0] in tokens_of(expression)}
        job.check(good, f"{name}: expected a licence of deny.toml, found '{expression}'")
    for name in exceptions:
        job.check(name in used, f"deny.toml: expected a use of the exception for {name}, found none")
    for name in allow:
        job.check(name in needed, f"deny.toml: expected a use of the licence {name}, found none")
    registries = {f"registry+{url}" for url in rules["sources"]["allow-registry"]}
    for package in packages:
        if package["source"]:
            job.check(
                package["source"] in registries,
                f"{package['name']}: expected crates.io, found {package['source']}",
            )
    for package in locked:
        if package.get("source"):
            job.check(
                re.fullmatch(r"[0-9a-f]{64}", package.get("checksum", "")) is not None,
                f"Cargo.lock: {package['name']} has no checksum",
            )
    versions = {}
    for package in packages:
        versions.setdefault(package["name"], set()).add(package["version"])
    skipped = {row["crate"] for row in rules["bans"]["skip"]}
    for name, found in sorted(versions.items()):
        ordered = sorted(found)
        extra = [v for v in ordered if f"{name}@{v}" not in skipped]
        job.check(len(extra) <= 1, f"{name}: expected one version, found {', '.join(ordered)}")
    for row in sorted(skipped):
        name, version = row.split("@")
        twice = len(versions.get(name, ())) > 1 and version in versions[name]
        job.check(twice, f"deny.toml: {row} is skipped, and is no duplicate")


# Bill of materials.


def tree(kinds):
    """Packages and edges of what is shipped, as `cargo tree` resolves it: {(name, version): {..}}."""
    products = [word for product in PRODUCTS for word in ("--package", product)]
    text = run(
        "cargo", "tree", "--locked", *products, "--edges", kinds, "--target", PLATFORM,
        "--prefix", "depth", "--format", " {p}",
    )  # fmt: skip
    edges, stack = {}, []
    for line in text.splitlines():
        match = re.match(r"(\d+) (\S+) v(\S+)", line)
        if not match:
            continue
        depth, package = int(match[1]), (match[2], match[3])
        edges.setdefault(package, set())
        del stack[depth:]
        if stack:
            edges[stack[-1]].add(package)
        stack.append(package)
    return edges


def bill(packages, locked):
    """The CycloneDX document."""
    known = {(p["name"], p["version"]): p for p in packages}
    sums = {(p["name"], p["version"]): p.get("checksum") for p in locked}
    edges, shipped = tree("normal,build"), set(tree("normal,no-proc-macro"))

    def reference(package):
        return f"pkg:cargo/{package[0]}@{package[1]}"

    def licence(expression):
        return [{"expression": expression.replace(" / ", " OR ").replace("/", " OR ")}]

    components = []
    for package in sorted(edges):
        about = known[package]
        ours = about["source"] is None
        component = {
            "type": "application" if package[0] == "tagmac-cli" else "library",
            "bom-ref": reference(package),
            "name": package[0],
            "version": package[1],
            "scope": "required" if package in shipped else "excluded",
            "licenses": licence(about["license"]),
            "purl": reference(package),
        }
        if about["description"]:
            component["description"] = " ".join(about["description"].split())
        if not ours:
            component["hashes"] = [{"alg": "SHA-256", "content": sums[package]}]
            component["externalReferences"] = [
                {"type": "distribution", "url": f"https://crates.io/crates/{package[0]}/{package[1]}"}
            ]
        components.append(component)
    version = known["tagmac", next(v for n, v in known if n == "tagmac")]["version"]
    root = f"pkg:generic/tagmac@{version}"
    tops = [next(package for package in edges if package[0] == product) for product in PRODUCTS]
    rows = [{"ref": root, "dependsOn": sorted(map(reference, tops))}]
    for package in sorted(edges):
        rows.append({"ref": reference(package), "dependsOn": sorted(map(reference, edges[package]))})
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application", "bom-ref": root, "name": "tagmac", "version": version,
                "licenses": licence(known["tagmac", version]["license"]), "purl": root,
            },
        },
        "components": components,
        "dependencies": rows,
    }  # fmt: skip
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}"
    return document


def written(document):
    return json.dumps(document, indent=1, sort_keys=True) + "\n"


def schema_errors(text):
    """What the schema of CycloneDX 1.5 says, by its own library."""
    venv = WORK / "python"
    python = venv / "bin/python"
    program = (
        "import sys\n"
        "from importlib.metadata import version\n"
        "from cyclonedx.schema import SchemaVersion\n"
        "from cyclonedx.validation.json import JsonStrictValidator\n"
        f"assert version('cyclonedx-python-lib') == '{CYCLONEDX}'\n"
        "if len(sys.argv) > 1: sys.exit()\n"
        "error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(sys.stdin.read())\n"
        "print('' if error is None else repr(error)[:300])\n"
    )
    ready = python.exists() and not subprocess.run(
        [python, "-c", program, "ready"], stderr=subprocess.DEVNULL, check=False
    ).returncode
    if not ready:
        run(sys.executable, "-m", "venv", venv)
        run(python, "-m", "pip", "install", "--quiet", f"cyclonedx-python-lib[json-validation]=={CYCLONEDX}")
    done = subprocess.run([python, "-c", program], input=text, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def sbom(job, packages, locked):
    document = bill(packages, locked)
    if job.plants("sbom-missing"):
        document["components"].pop()
    if job.plants("sbom-edge"):
        document["dependencies"][1]["dependsOn"].append(document["components"][-1]["bom-ref"])
    if job.plants("sbom-invalid"):
        document["components"][0]["scope"] = "shipped"
    text = written(document)
    again = written(bill(packages, locked))
    job.check(text == again, "sbom: two documents of one lock differ")
    errors = schema_errors(text)
    job.check(not errors, f"sbom: expected a valid CycloneDX 1.5 document, found {errors}")
    references = [component["bom-ref"] for component in document["components"]]
    job.check(len(set(references)) == len(references), "sbom: two components have one reference")
    known = {*references, document["metadata"]["component"]["bom-ref"]}
    # Cargo.lock's own edges: `name` or `name version`.
    versions = {}
    for package in locked:
        versions.setdefault(package["name"], []).append(package["version"])
    below = {}
    for package in locked:
        names = set()
        for entry in package.get("dependencies", []):
            name, _, version = entry.partition(" ")
            names.add(f"pkg:cargo/{name}@{version or versions[name][0]}")
        below[f"pkg:cargo/{package['name']}@{package['version']}"] = names
    for row in document["dependencies"]:
        job.check(row["ref"] in known, f"sbom: {row['ref']} is no component")
        for reference in row["dependsOn"]:
            job.check(reference in known, f"sbom: {reference} is no component")
            if row["ref"] in below:
                job.check(reference in below[row["ref"]], f"sbom: {row['ref']} -> {reference} is not in Cargo.lock")
    sums = {f"pkg:cargo/{p['name']}@{p['version']}": p.get("checksum") for p in locked}
    for component in document["components"]:
        found = [h["content"] for h in component.get("hashes", [])]
        expected = [s for s in [sums.get(component["bom-ref"])] if s]
        job.check(found == expected, f"sbom: {component['bom-ref']} has another checksum than Cargo.lock")
    required = sum(component["scope"] == "required" for component in document["components"])
    job.notes.append(f"the bill of materials has {len(references)} packages, of which {required} are in what is shipped and the others build it")
    return text


# Interfaces.


def public_api(job):
    """The crate's interface now. A bug is planted in a copy of the workspace."""
    repo = REPO
    if job.planted in ("api-added", "api-changed"):
        repo = WORK / "planted"
        shutil.rmtree(repo, ignore_errors=True)
        for file in run("git", "ls-files").splitlines():
            if (REPO / file).is_file():
                (repo / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(REPO / file, repo / file)
        if job.planted == "api-added":
            file, old, new = "lib.rs", None, "\n/// Planted.\npub fn planted() {}\n"
        else:
            file, old, new = "tag.rs", "pub fn bits(&self) -> usize {", "pub fn bits(&self) -> u64 {"
        path = repo / "crates/tagmac/src" / file
        text = path.read_text()
        if old and text.count(old) != 1:
            raise SystemExit(f"supply: {file} has no place for the bug {job.planted}")
        # The body is not checked: rustdoc reads signatures.
        path.write_text(text.replace(old, new) if old else text + new)
    run(
        "cargo", "rustdoc", "--quiet", "--locked", "-p", "tagmac", "--all-features", "--",
        "-Zunstable-options", "--output-format", "json",
        env={"RUSTC_BOOTSTRAP": "1", "CARGO_TARGET_DIR": str(WORK)}, cwd=repo,
    )  # fmt: skip
    sys.path.insert(0, str(HERE))
    import public_api as listing

    return listing.lines(WORK / "doc/tagmac.json")


def libraries(job):
    """What each shared library is called, needs and exports."""
    folder = TARGET / "release"
    if not all((folder / name).exists() for name in LIBRARIES):
        run("cargo", "build", "--quiet", "--release", "--locked", *(f"-p={name}" for name in C_PACKAGES))
    with tempfile.TemporaryDirectory() as work:
        lines = []
        for name in LIBRARIES:
            file = folder / name
            if job.plants("abi-lost") and name == LIBRARIES[0]:
                file = stub(file, Path(work) / name, drop=True)
            if job.plants("abi-added") and name == LIBRARIES[-1]:
                file = stub(file, Path(work) / name, drop=False)
            dynamic = run("objdump", "-p", file)
            soname = re.search(r"SONAME\s+(\S+)", dynamic)
            lines.append(f"{name} soname {soname[1] if soname else '-'}")
            lines += [f"{name} {kind} {symbol}" for kind, symbol in exported(file)]
    return lines


def exported(file):
    rows = [line.split() for line in run("nm", "-D", "--defined-only", file).splitlines()]
    return sorted((row[1], row[2]) for row in rows if row[1] not in ("A",))


def stub(file, out, drop):
    """A library with the same functions, but for one."""
    names = [symbol for _, symbol in exported(file)]
    names = names[1:] if drop else [*names, "tagmac_planted"]
    soname = re.search(r"SONAME\s+(\S+)", run("objdump", "-p", file))
    source = out.with_suffix(".c")
    source.write_text("".join(f"void {name}(void) {{}}\n" for name in names))
    options = [f"-Wl,-soname,{soname[1]}"] if soname else []
    run("cc", "-shared", "-fPIC", "-fno-builtin", "-w", *options, "-o", out, source)
    return out


def compare(job, what, found, stored):
    expected = stored.read_text().splitlines() if stored.exists() else []
    lost, added = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
    for line in expected:
        if line not in lost:
            job.check(True, "")
    for line in lost:
        job.check(False, f"{what}: {stored.relative_to(REPO)} has '{line}', which is gone or has changed")
    for line in added:
        job.check(False, f"{what}: '{line}' is not in {stored.relative_to(REPO)}")


# Claims.

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
        text += "| `pmac-fig99` | planted | `tag.rs::Tag` | `src/tag.rs::every_bit_counts` |\n"
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


# Builds.


def copied(folder):
    """The tracked files in another folder."""
    for file in run("git", "ls-files").splitlines():
        if os.path.lexists(REPO / file):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPO / file, folder / file, follow_symlinks=False)


def builds(job):
    """Two builds in two folders, with two Cargo homes; of a small program where a bug is planted."""
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    sums = []
    with tempfile.TemporaryDirectory(dir=TARGET) as work:
        for name in ("one", "another/folder"):
            folder = Path(work) / name
            folder.mkdir(parents=True)
            if job.plants("build-with-path"):
                # Code that keeps the folder it was built in, by the script's own command.
                shutil.copytree(REPO / "scripts", folder / "scripts")
                (folder / "src").mkdir()
                (folder / "Cargo.toml").write_text('[package]\nname = "tagmac-cli"\nedition = "2024"\n[workspace]\n[[bin]]\nname = "tagmac"\npath = "src/main.rs"\n')  # fmt: skip
                (folder / "src/main.rs").write_text('fn main() { println!("{}", env!("CARGO_MANIFEST_DIR")); }\n')  # fmt: skip
                run("cargo", "generate-lockfile", "--offline", cwd=folder)
                env = {}
            else:
                copied(folder)
                env = {}
                if sums:
                    other = Path(work) / "home"
                    other.mkdir()
                    shutil.copytree(home / "registry", other / "registry", symlinks=True)
                    env["CARGO_HOME"] = str(other)
            out = folder / "tagmac"
            run("scripts/reproducible-build", out, cwd=folder, env=env | {"CARGO_TARGET_DIR": str(folder / "target")})
            sums.append(hashlib.sha256(out.read_bytes()).hexdigest())
            shutil.rmtree(folder / "target")
    job.check(sums[0] == sums[1], f"builds: expected the same bytes in two folders, found {sums[0][:16]} and {sums[1][:16]}")
    if not job.planted:
        job.notes.append(f"the command built twice, in two folders with two Cargo homes, is {sums[0]} both times")


PLANTED = {
    "licence": "dependencies", "licence-and": "dependencies", "source": "dependencies",
    "checksum": "dependencies", "duplicate": "dependencies",
    "sbom-missing": "sbom", "sbom-edge": "sbom", "sbom-invalid": "sbom",
    "api-added": "api", "api-changed": "api", "abi-lost": "abi", "abi-added": "abi",
    "claim-missing": "claims", "claim-without-item": "claims", "claim-without-test": "claims",
    "claim-unknown": "claims", "build-with-path": "builds",
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="all but the builds")
    parser.add_argument("--full", action="store_true", help="with two builds of the command")
    parser.add_argument("--planted", nargs="?", const="", metavar="NAME", help="with a bug planted; without a name, lists them")
    parser.add_argument("--update", action="store_true", help="stores the listings of interfaces anew")
    parser.add_argument("--sbom", type=Path, metavar="FILE", help="writes the bill of materials")
    options = parser.parse_args()
    if options.planted == "":
        print("\n".join(PLANTED))
        return 0
    if options.planted and options.planted not in PLANTED:
        parser.error(f"no planted bug {options.planted}")
    WORK.mkdir(parents=True, exist_ok=True)
    job = Job(options.planted)
    if options.update:
        API.write_text("\n".join(public_api(job)) + "\n")
        ABI.write_text("\n".join(libraries(job)) + "\n")
        return 0
    part = PLANTED.get(options.planted)

    def wanted(name):
        return part in (None, name)

    if wanted("dependencies") or wanted("sbom") or options.sbom:
        packages, locked = metadata()["packages"], lock()
        rules = tomllib.loads((REPO / "deny.toml").read_text())
    if options.sbom:
        options.sbom.write_text(written(bill(packages, locked)))
        return 0
    if wanted("dependencies"):
        dependencies(job, packages, locked, rules)
        job.notes.append(f"{len(packages)} packages on all platforms; advisories are not read")
    if wanted("sbom"):
        (WORK / "sbom.cdx.json").write_text(sbom(job, packages, locked))
    if wanted("api"):
        compare(job, "api", public_api(job), API)
    if wanted("abi"):
        compare(job, "abi", libraries(job), ABI)
    if wanted("claims"):
        job.notes.append(f"{ledger(job)} claims in docs/claims.md")
    if part == "builds" or options.full and part is None:
        builds(job)
    if not job.planted:
        for note in job.notes:
            print(f"note: {note}")
    print(f"supply: {job.checked} checked, {job.failed} failed")
    return 1 if job.failed else 0


if __name__ == "__main__":
    sys.exit(main())
