"""The bill of materials: a CycloneDX 1.5 document of the shipped packages, as `cargo tree` resolves
them."""

import hashlib
import json
import re
import subprocess
import sys
import uuid

from products import PLATFORM, PRODUCTS, WORK, run

CYCLONEDX = "11.5.0"


def tree(kinds):
    """Returns the packages and edges of the shipped products, as `cargo tree` resolves them:
    {(name, version): {..}}."""
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
    """Returns the CycloneDX document."""
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
    """Validates against CycloneDX's schema of version 1.5, with its own library. Returns the
    errors."""
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


def checked(job, packages, locked):
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
    job.check(len(set(references)) == len(references), "sbom: two components have the same reference")
    known = {*references, document["metadata"]["component"]["bom-ref"]}
    # Edges in Cargo.lock: `name` or `name version`.
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
        job.check(row["ref"] in known, f"sbom: {row['ref']} is not a component")
        for reference in row["dependsOn"]:
            job.check(reference in known, f"sbom: {reference} is not a component")
            if row["ref"] in below:
                job.check(reference in below[row["ref"]], f"sbom: {row['ref']} -> {reference} is not in Cargo.lock")
    sums = {f"pkg:cargo/{p['name']}@{p['version']}": p.get("checksum") for p in locked}
    for component in document["components"]:
        found = [h["content"] for h in component.get("hashes", [])]
        expected = [s for s in [sums.get(component["bom-ref"])] if s]
        job.check(found == expected, f"sbom: {component['bom-ref']} has a checksum that differs from Cargo.lock")
    required = sum(component["scope"] == "required" for component in document["components"])
    job.notes.append(f"the bill of materials has {len(references)} packages: {required} are shipped, and the others are needed to build them")
    return text
