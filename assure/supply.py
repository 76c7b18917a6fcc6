#!/usr/bin/env python3
"""The supply chain: dependencies, bill of materials, interfaces, claims, and reproducible builds.

    assure/supply.py --quick | --full [--planted NAME]
    assure/supply.py --planted
    assure/supply.py --update         updates the stored listings of interfaces
    assure/supply.py --sbom FILE      writes the bill of materials

- licences: each package in Cargo.lock has a licence that deny.toml allows, or an exception there.
- sources: each comes from crates.io and has its checksum in Cargo.lock.
- duplicates: only packages listed in deny.toml have two versions, and each listed one does.
- sbom: a CycloneDX 1.5 document of the command, the C libraries, the provider and the Python
  module, as `cargo tree` resolves them: reproducible, valid by the schema, and with edges that are
  all in Cargo.lock.
- api: the public items of the crates tagmac, tagmac-papers, tagmac-any and tagmac-bounds, from
  rustdoc's JSON, equal crates/tagmac/public-api.txt.
- abi: the exports of the shared libraries equal assure/abi.txt.
- claims: each claim of docs/design/claims.md names an item of the source and a test, and both
  exist; each section of the papers and each requirement of RFC 4418 that this file knows has a
  claim.
- builds (full): `scripts/reproducible-build` gives the same bytes in two folders with two Cargo
  homes.

deny.toml has the format of cargo-deny, which checks the same rules; this job needs only cargo and
Python. Advisories are not read: they change daily and need a network. The bill lists what Cargo
resolved, not what the linker kept.
"""

import argparse
import copy
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

import public_api as listing
import sbom
from anchors import Tree, in_memory
from claims import ledger
from products import C_PACKAGES, REPO, TARGET, WORK, run

LIBRARIES = ["libtagmac.so", "libtagmac_nettle.so", "libtagmac_nettle4.so", "libtagmac_provider.so"]
API = REPO / "crates/tagmac/public-api.txt"
ABI = REPO / "assure/abi.txt"


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


def metadata():
    return json.loads(run("cargo", "metadata", "--format-version", "1", "--locked"))


def lock():
    return tomllib.loads((REPO / "Cargo.lock").read_text())["package"]


def tokens_of(expression):
    return re.findall(r"\(|\)|[A-Za-z0-9.+-]+", expression.replace("/", " OR "))


def allowed(expression, allow):
    """Returns whether allowed licences satisfy an SPDX expression. `/` is an old `OR`."""
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
    """Checks licences, sources and duplicates."""
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
        job.check(good, f"{name}: expected a licence in deny.toml, found '{expression}'")
    for name in exceptions:
        job.check(name in used, f"deny.toml: the exception for {name} is unused")
    for name in allow:
        job.check(name in needed, f"deny.toml: the licence {name} is unused")
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
        job.check(twice, f"deny.toml: {row} is skipped, but is not a duplicate")


def public_api(job):
    """Checks the public interfaces of the library, all MACs, the bounds and the papers'
    constructions. Planted bugs change a copy of the workspace."""
    repo = REPO
    if job.planted in ("api-added", "api-changed"):
        repo = WORK / "planted"
        shutil.rmtree(repo, ignore_errors=True)
        for file in run("git", "ls-files").splitlines():
            if (REPO / file).is_file():
                (repo / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(REPO / file, repo / file)
        if job.planted == "api-added":
            with open(repo / "crates/tagmac/src/lib.rs", "a") as file:
                file.write("\n/// Planted.\npub fn planted() {}\n")
        else:
            # rustdoc reads only signatures, so the body may stay unchanged.
            bytes_of = "pub fn new_key_bytes(self) -> "
            change = {"file": "crates/any/src/registry/mod.rs", "function": "Algorithm::new_key_bytes"}
            change |= {"before": f"{bytes_of}usize", "after": f"{bytes_of}u64"}
            changed, error = in_memory(Tree(), [change])
            if error:
                raise SystemExit(f"supply: cannot plant the bug {job.planted}: {error}")
            for path, text in changed.items():
                (repo / path).write_text(text)
    lines = []
    for package in ("tagmac", "tagmac-any", "tagmac-bounds", "tagmac-papers"):
        run(
            "cargo", "rustdoc", "--quiet", "--locked", "-p", package, "--all-features", "--",
            "-Zunstable-options", "--output-format", "json",
            env={"RUSTC_BOOTSTRAP": "1", "CARGO_TARGET_DIR": str(WORK)}, cwd=repo,
        )  # fmt: skip
        lines += listing.lines(WORK / "doc" / f"{package.replace('-', '_')}.json")
    return lines


def libraries(job):
    """Checks names, dependencies and exports of the shared libraries."""
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
    """Builds a library with the same functions except one."""
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
        job.check(False, f"{what}: {stored.relative_to(REPO)} lists '{line}', which was removed or changed")
    for line in added:
        job.check(False, f"{what}: '{line}' is not in {stored.relative_to(REPO)}")


def copied(folder):
    """Copies the tracked files to another folder."""
    for file in run("git", "ls-files").splitlines():
        if os.path.lexists(REPO / file):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPO / file, folder / file, follow_symlinks=False)


def builds(job):
    """Builds twice, in two folders with two Cargo homes; for a planted bug, a small program."""
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    sums = []
    with tempfile.TemporaryDirectory(dir=TARGET) as work:
        for name in ("one", "another/folder"):
            folder = Path(work) / name
            folder.mkdir(parents=True)
            if job.plants("build-with-path"):
                # Code that contains its build folder, built by the script's own command.
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
    "claim-unknown": "claims", "claim-without-reason": "claims", "build-with-path": "builds",
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="everything except the builds")
    parser.add_argument("--full", action="store_true", help="also two builds of the command")
    parser.add_argument("--planted", nargs="?", const="", metavar="NAME", help="plants a bug, or lists the bugs")
    parser.add_argument("--update", action="store_true", help="updates the stored listings of interfaces")
    parser.add_argument("--sbom", type=Path, metavar="FILE", help="writes the bill of materials")
    options = parser.parse_args()
    if options.planted == "":
        print("\n".join(PLANTED))
        return 0
    if options.planted and options.planted not in PLANTED:
        parser.error(f"unknown planted bug {options.planted}")
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
        options.sbom.write_text(sbom.written(sbom.bill(packages, locked)))
        return 0
    if wanted("dependencies"):
        dependencies(job, packages, locked, rules)
        job.notes.append(f"{len(packages)} packages on all platforms; advisories are not read")
    if wanted("sbom"):
        (WORK / "sbom.cdx.json").write_text(sbom.checked(job, packages, locked))
    if wanted("api"):
        compare(job, "api", public_api(job), API)
    if wanted("abi"):
        compare(job, "abi", libraries(job), ABI)
    if wanted("claims"):
        job.notes.append(f"{ledger(job)} claims in docs/design/claims.md")
    if part == "builds" or options.full and part is None:
        builds(job)
    if not job.planted:
        for note in job.notes:
            print(f"note: {note}")
    print(f"supply: {job.checked} checked, {job.failed} failed")
    return 1 if job.failed else 0


if __name__ == "__main__":
    sys.exit(main())
