"""Measured runs: a bucket of 100,000 objects with Zipf-distributed sizes, from 0 bytes to 2 GiB.

    scripts/test-spark --full                     all but `sizes`, into target/full.jsonl
    python full.py [--objects N] [--max-size B] [--command PATH] [--steps STEPS] --record FILE

The steps are:

- seal: Spark and the command, which must write equal manifests;
- audit: unchanged; then with a flipped byte, an added, a missing and a renamed object;
- kills: 20 workers are killed at random times;
- overhead: compared with a job that only reads;
- sizes: 10^3, 10^4 and 10^5 objects, for docs/guide/objects.md; only on request;
- nightly: a seventh of --objects objects of 4 KiB by the command, compared with all of them; only on
  request, alone and without Spark.

Each finished run adds a line to the record. Run it under scripts/objects-server.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from cluster import Cluster, kill  # noqa: E402
from measure import cpu_name, event_figures, requests  # noqa: E402
from manifests import KEY, files  # noqa: E402

import tagmac  # noqa: E402
from tagmac.spark import audit, seal  # noqa: E402
from tagmac.spark.cluster import task_count  # noqa: E402
from tagmac.spark.items import (
    DDL,
    RANGE_BYTES,
    Item,
    count_ranges,
    from_batches,
    ranges,
    to_batches,
)  # noqa: E402

#: The size of the largest object. The r-th has this size divided by r^1.1; all have 16 GiB.
ZIPF = 1.1
BLOCK = 1 << 20


def sizes(count: int, largest: int) -> list[int]:
    """The sizes of all objects, largest first. The last hundredth has 0 bytes to 1 KiB."""
    small = count // 100
    rng = random.Random(17)
    made = [int(largest / rank**ZIPF) for rank in range(1, count - small + 1)]
    return made + [0] * (small // 2) + [rng.randrange(1025) for _ in range(small - small // 2)]


def fill(bucket: Path, wanted: list[int]) -> list[str]:
    """Writes the objects into the server's folder. Their names, largest first."""
    rng = random.Random(4)
    block = bytearray(rng.randbytes(BLOCK))
    names = []
    for number, size in enumerate(wanted):
        name = f"p/{rng.getrandbits(8):02x}/{rng.getrandbits(24):06x}-{number:06}"
        path = bucket / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as file:
            for start in range(0, size, BLOCK):
                block[:16] = number.to_bytes(8, "big") + start.to_bytes(8, "big")
                file.write(memoryview(block)[: min(BLOCK, size - start)])
        new_etag(path)
        names.append(name)
    return names


def new_etag(path: Path) -> None:
    """Turns a file in the server's folder into an object, or a changed object into a new version.
    """
    os.setxattr(path, "user.etag", f'"{os.urandom(16).hex()}"'.encode())


class Run:
    """One bucket, one cluster, one record."""

    def __init__(self, args, folder: Path):
        self.args, self.folder = args, folder
        self.name = os.environ["TAGMAC_S3_BUCKET"]
        self.bucket = Path(os.environ["TAGMAC_S3_FOLDER"]) / self.name
        self.prefix = f"s3://{self.name}/p"
        KEY.save(folder / "key")
        self.ref = tagmac.KeyRef.file(folder / "key")

    def session(self, cluster):
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.appName("tagmac full").config(
            "spark.ui.showConsoleProgress", "false"
        )
        for name, value in cluster.conf().items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        # Start the workers' Python and boto3 once.
        spark.range(2).repartition(2).mapInArrow(warm, "id long").collect()
        return spark

    def record(self, **fields):
        line = {
            **fields, "workers": 2, "cores": 2, "streams": 8, "range_bytes": RANGE_BYTES,
            "server": f"{os.environ['TAGMAC_S3_SERVER']} 1.8.0, same machine", "cpu": cpu_name(),
        }  # fmt: skip
        print(json.dumps(line), flush=True)
        if self.args.record:
            with open(self.args.record, "a") as file:
                file.write(json.dumps(line) + "\n")

    def measured(self, spark, cluster, what, wanted, about, work):
        """Runs and records a seal or an audit."""
        before, asked = time.monotonic(), requests()
        event_figures(cluster.folder / "events")  # what came before
        result = work()
        seconds = time.monotonic() - before
        figures = event_figures(cluster.folder / "events")
        asked = {kind: count - asked.get(kind, 0) for kind, count in requests().items()}
        # The manifest's own files are in a folder here.
        self.record(
            what=what, objects=len(wanted), bytes=sum(wanted), sizes=about, seconds=round(seconds, 2),
            items=sum(count_ranges(size, RANGE_BYTES) for size in wanted), gets=asked.get("GET", 0),
            lists=asked.get("LIST", 0), puts=asked.get("PUT", 0), **figures,
        )  # fmt: skip
        return result


def warm(batches):
    from tagmac.s3.client import client

    client()
    time.sleep(1)
    yield from batches


def same(one: Path, other: Path) -> None:
    """Asserts that two manifests are equal, file by file."""
    first, second = files(one), files(other)
    assert sorted(first) == sorted(second), (sorted(first), sorted(second))
    for name in first:
        assert first[name] == second[name], name


def step(text):
    print(f"\n== {text} ({time.monotonic() - START:.0f}s)", flush=True)


def only_read(spark, names, wanted, name, tasks):
    """A job that reads the same bytes with the same requests and discards them."""

    def work(batches):
        from tagmac.s3.client import client
        from tagmac.s3.reading import read_range
        from tagmac.spark.tasks import at_once, url_of

        def read(item):
            count = 0

            def sink(piece):
                nonlocal count
                count += len(piece)

            read_range(client(), url_of(item), item.version, item.size, item.start, item.end, sink)
            return Item(item.bucket, item.name, "", count)

        return to_batches(at_once(read, from_batches(batches), 8))

    from tagmac.s3.client import client
    from tagmac.s3.url import Url
    from tagmac.spark.buckets import NameRange, list_range

    # The driver lists, as in a user's job.
    listed = list_range(client(), Url.parse_prefix(f"s3://{name}/p"), NameRange("", None))
    items = [part for item in listed for part in ranges(item, RANGE_BYTES)]
    rows = [
        (i.bucket, i.name, i.version, i.size, i.start, i.end, 0, None, None, None, None, None)
        for i in items
    ]
    frame = spark.createDataFrame(rows, DDL).repartition(tasks, "name", "start")
    (total,) = frame.mapInArrow(work, DDL).selectExpr("sum(size) as total").first()
    assert total == sum(wanted), (total, sum(wanted))


def run_seal(run, spark, cluster, names, wanted):
    step("Spark seals")
    about = {"zipf": ZIPF, "max": max(wanted)}
    where = run.folder / "spark"
    run.measured(
        spark, cluster, "seal", wanted, about, lambda: seal(spark, run.prefix, run.ref, str(where))
    )
    if run.args.command:
        step("the command seals")
        before = time.monotonic()
        subprocess.run([run.args.command, "seal", "-k", run.folder / "key", "-o", run.folder / "command", run.prefix],
                       check=True)  # fmt: skip
        run.record(what="seal by the command", objects=len(wanted), bytes=sum(wanted), sizes=about,
                   seconds=round(time.monotonic() - before, 2))  # fmt: skip
        same(where, run.folder / "command")
        print("the manifests are equal, file by file")


def command_audits(run, manifest, what, wanted, **more):
    """Runs and records the command. Returns its status, lines and messages."""
    before = time.monotonic()
    done = subprocess.run([run.args.command, "audit", "-k", run.folder / "key", manifest, run.prefix],
                          capture_output=True, text=True)  # fmt: skip
    run.record(what=what, objects=len(wanted), bytes=sum(wanted), status=done.returncode,
               seconds=round(time.monotonic() - before, 2), **more)  # fmt: skip
    return done.returncode, done.stdout.splitlines(), done.stderr


def run_audit(run, spark, cluster, names, wanted):
    about = {"zipf": ZIPF, "max": max(wanted)}
    where = run.folder / "spark"
    if not where.exists():
        seal(spark, run.prefix, run.ref, str(where))
    step("Spark audits")
    work = lambda: audit(spark, str(where), run.prefix, run.ref)  # noqa: E731
    report = run.measured(spark, cluster, "audit", wanted, about, work)
    assert report.ok and report.unchanged == len(names), report
    if run.args.command:
        status, lines, text = command_audits(run, where, "audit by the command", wanted)
        assert (status, lines) == (0, []), (lines, text)

    step("one flipped byte, one added, one missing, one renamed")
    half = len(names) // 2
    flipped, gone, moved = names[1], names[half], names[half + 1]
    with open(run.bucket / flipped, "r+b") as file:
        file.seek(wanted[1] * 2 // 3)
        byte = file.read(1)[0]
        file.seek(wanted[1] * 2 // 3)
        file.write(bytes([byte ^ 1]))
    new_etag(run.bucket / flipped)
    (run.bucket / gone).rename(run.folder / "gone")
    (run.bucket / moved).rename(run.bucket / "p/moved")
    (run.bucket / "p/new").write_bytes(b"new")
    new_etag(run.bucket / "p/new")
    report = audit(spark, str(where), run.prefix, run.ref)
    found = {(each.status, each.name, each.before) for each in report.differences}
    below = lambda name: name.removeprefix("p/").encode()  # noqa: E731
    assert found == {
        ("changed", below(flipped), None), ("missing", below(gone), None),
        ("renamed", b"moved", below(moved)), ("new", b"new", None),
    }, found  # fmt: skip
    assert report.unchanged == len(names) - 3
    four = ["one flipped byte", "one added", "one missing", "one renamed"]
    changes = {"found": four, "others": 0}
    run.record(what="changes", objects=len(wanted), bytes=sum(wanted), by="Spark", **changes)
    if run.args.command:
        what = "changes by the command"
        status, lines, text = command_audits(run, where, what, wanted, **changes)
        expected = [
            f"{below(flipped).decode()}: changed: content", f"{below(gone).decode()}: missing",
            f"moved: renamed: it was {below(moved).decode()}", "new: new",
        ]  # fmt: skip
        assert (status, sorted(lines)) == (1, sorted(expected)), (lines, text)
    # Restore everything.
    with open(run.bucket / flipped, "r+b") as file:
        file.seek(wanted[1] * 2 // 3)
        file.write(bytes([byte]))
    (run.folder / "gone").rename(run.bucket / gone)
    (run.bucket / "p/moved").rename(run.bucket / moved)
    (run.bucket / "p/new").unlink()
    print("each was found, and nothing else")


def run_kills(run, spark, cluster, names, wanted):
    step("20 workers killed at random times while Spark seals")
    where, ended, killed = run.folder / "kills", threading.Event(), []
    rng = random.Random(20)

    def killer():
        while len(killed) < 20 and not ended.wait(rng.uniform(0.5, 4)):
            # Sometimes a whole executor, with everything that it stored for others.
            what = "executor" if len(killed) % 5 == 4 else "worker"
            pids = cluster.executors() if what == "executor" else cluster.python_workers()
            if pids and kill([rng.choice(pids)]):
                killed.append(what)

    if not (run.folder / "spark").exists():
        seal(spark, run.prefix, run.ref, str(run.folder / "spark"))
    before = time.monotonic()
    rounds = 0
    while len(killed) < 20:
        thread = threading.Thread(target=killer)
        thread.start()
        seal(spark, run.prefix, run.ref, str(where), replace_manifest=rounds > 0)
        rounds += 1
        ended.set()
        thread.join()
        ended.clear()
        same(run.folder / "spark", where)
    run.record(what="seal with kills", objects=len(wanted), bytes=sum(wanted), killed=len(killed),
               executors=killed.count("executor"), seals=rounds, seconds=round(time.monotonic() - before, 2))  # fmt: skip


def run_overhead(run, spark, cluster, names, wanted):
    step("overhead: sealing against only reading, in turns")
    tasks = task_count(spark, sum(count_ranges(size, RANGE_BYTES) for size in wanted), sum(wanted))
    read, sealed = [], []
    for turn in range(run.args.turns):
        before = time.monotonic()
        only_read(spark, names, wanted, run.name, tasks)
        between = time.monotonic()
        seal(spark, run.prefix, run.ref, str(run.folder / f"turn-{turn}"))
        read.append(between - before)
        sealed.append(time.monotonic() - between)
        print(f"read {read[-1]:.1f} s, sealed {sealed[-1]:.1f} s", flush=True)
    # Use the fastest runs: other load only adds time.
    ratio = min(sealed) / min(read)
    run.record(what="overhead", objects=len(wanted), bytes=sum(wanted), read_seconds=[round(s, 2) for s in read],
               seal_seconds=[round(s, 2) for s in sealed], ratio=round(ratio, 3))  # fmt: skip


SIZES = [
    ("1e3", [4096] * 1000), ("1e4", [1024] * 10_000), ("1e5", [1024] * 100_000), ("large", [512 << 20] * 8),
]  # fmt: skip


def run_sizes(run, spark, cluster, *_):
    for name, wanted in SIZES:
        step(f"{len(wanted)} objects of {wanted[0]} bytes")
        bucket = run.bucket / f"sizes-{name}"
        fill(bucket, wanted)
        about = {"histogram": {str(wanted[0]): len(wanted)}}
        prefix, where = f"s3://{run.name}/sizes-{name}/p", str(run.folder / f"sizes-{name}")
        run.measured(
            spark, cluster, "seal", wanted, about, lambda: seal(spark, prefix, run.ref, where)
        )
        work = lambda: audit(spark, where, prefix, run.ref)  # noqa: E731
        assert run.measured(spark, cluster, "audit", wanted, about, work).ok


def run_nightly(run, *_):
    wanted = [4096] * run.args.objects
    step(f"{len(wanted)} objects of 4 KiB: all of them and a seventh, in turns")
    fill(run.bucket, wanted)
    command, key, where = run.args.command, run.folder / "key", run.folder / "nightly"
    subprocess.run([command, "seal", "-k", key, "-o", where, run.prefix], check=True)

    def audit_seconds(*options):
        before = time.monotonic()
        audit = [command, "audit", "--quiet", "-k", key, *options, where, run.prefix]
        subprocess.run(audit, check=True, capture_output=True)
        return time.monotonic() - before

    whole, seventh, quick = [], [], []
    for turn in range(run.args.turns):
        whole.append(audit_seconds())
        seventh.append(audit_seconds("--subset", f"{turn % 7 + 1}/7"))
        quick.append(audit_seconds("--quick"))
    # Every audit lists the bucket; --quick does nothing else.
    listing = min(quick)
    ratio = min(seventh) / (listing + (min(whole) - listing) / 7)
    run.record(what="nightly by the command", objects=len(wanted), bytes=sum(wanted), all_seconds=rounded(whole),
               seventh_seconds=rounded(seventh), quick_seconds=rounded(quick), ratio=round(ratio, 3))  # fmt: skip


def rounded(seconds):
    return [round(each, 2) for each in seconds]


STEPS = {
    "seal": run_seal,
    "audit": run_audit,
    "kills": run_kills,
    "overhead": run_overhead,
    "sizes": run_sizes,
    "nightly": run_nightly,
}
#: These run only if they are asked for.
ON_REQUEST = ("sizes", "nightly")
START = time.monotonic()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--objects", type=int, default=100_000)
    parser.add_argument("--max-size", type=int, default=2 << 30)
    parser.add_argument("--command", help="tagmac with the feature `objects`")
    parser.add_argument("--steps", default=",".join(name for name in STEPS if name not in ON_REQUEST))
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--record", help="a file to which a line is added for each run")
    args = parser.parse_args()
    if os.environ.get("TAGMAC_S3_SERVER") != "versitygw":
        parser.error("expected versitygw, whose folder can be filled, found another server")
    with tempfile.TemporaryDirectory(dir=os.environ.get("TAGMAC_FULL_DIR")) as folder:
        run = Run(args, Path(folder))
        chosen = args.steps.split(",")
        if chosen == ["nightly"]:
            run_nightly(run)
            return
        wanted = sizes(args.objects, args.max_size) if chosen != ["sizes"] else []
        step(f"{len(wanted)} objects, {sum(wanted)} bytes")
        names = fill(run.bucket, wanted)
        with Cluster(Path(folder) / "cluster", memory="1g") as cluster:
            spark = run.session(cluster)
            for name in chosen:
                STEPS[name](run, spark, cluster, names, wanted)
            spark.stop()
    step("all passed")


if __name__ == "__main__":
    main()
