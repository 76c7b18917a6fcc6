"""Measures `read_parquet` next to Spark's own reader, and next to the same code on files that it does not
verify: processor time of the driver, its virtual machine and its workers, in turns.

    target/spark/bin/python crates/py/tests/spark/parquet_figures.py [--record FILE]

`--record` adds a line to a file. The files are in the page cache; Spark runs on one core.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from cluster import descendants
from manifests import KEY
from measure import cpu_name

import tagmac
from tagmac.spark import parquet, read_parquet

TICKS = os.sysconf("SC_CLK_TCK")
COLUMNS = 12


def fill(folder: Path, files: int, rows: int) -> int:
    """Writes files of numbers and text, and returns the number of their bytes."""
    random = np.random.default_rng(1)
    words = np.array([f"word-{n:06}" for n in range(100_000)])
    for number in range(files):
        columns = {f"i{n}": random.integers(0, 1 << 40, rows) for n in range(COLUMNS // 2)}
        columns |= {f"d{n}": random.random(rows) for n in range(COLUMNS // 2)}
        columns["text"] = words[random.integers(0, len(words), rows)]
        pq.write_table(pa.table(columns), folder / f"{number}.parquet", row_group_size=rows // 4)
    return sum(path.stat().st_size for path in folder.iterdir())


def processor_seconds() -> float:
    """The processor time of this process and its descendants so far, also of those that ended."""
    ticks = 0
    for pid in (os.getpid(), *descendants(os.getpid())):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / TICKS


class Unverified:
    """Opens the file system under a verified one."""

    def __init__(self, source):
        self.source = source

    def open(self):
        return self.source.open().fs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--record")
    args = parser.parse_args()
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as name:
        folder, manifest = Path(name, "tree"), Path(name, "manifest")
        folder.mkdir()
        size = fill(folder, args.files, args.rows)
        KEY.save(Path(name, "key"))
        ref = tagmac.KeyRef.file(Path(name, "key"))
        tagmac.seal(folder, KEY, manifest, leaves=65536)
        made = parquet._reader

        def unverified(source, *rest):
            return made(Unverified(source), *rest)

        def read(columns):
            return read_parquet(spark, str(folder), ref, str(manifest), columns=columns)

        def read_unverified(columns):
            with patch.object(parquet, "_reader", unverified):
                return read(columns)

        def read_plain(columns):
            return spark.read.parquet(str(folder)).select(columns)

        few, every = ["i0", "d0", "text"], pq.read_schema(folder / "0.parquet").names
        readers = {"spark": read_plain, "unverified": read_unverified, "verified": read}
        for what, columns in (("3 columns", few), (f"{len(every)} columns", every)):
            counted = {name: ([], []) for name in readers}
            for turn in range(args.turns + 1):
                for name in (list(readers) * 2)[turn % 3 : turn % 3 + 3]:
                    frame = readers[name](columns)
                    before, start = processor_seconds(), time.monotonic()
                    frame.write.format("noop").mode("overwrite").save()
                    wall = time.monotonic() - start
                    if turn:
                        counted[name][0].append(processor_seconds() - before)
                        counted[name][1].append(wall)
            line = {"what": f"read_parquet, {what}", "bytes": size, "cpu": cpu_name(), "turns": args.turns}
            for name, (processor, wall) in counted.items():
                line[name] = {
                    "processor_seconds": round(statistics.median(processor), 2),
                    "seconds": round(statistics.median(wall), 2),
                    "fastest": round(min(processor), 2),
                }
            for name in ("unverified", "verified"):
                ratio = line["spark"]["processor_seconds"] / line[name]["processor_seconds"]
                line[name]["rate"] = round(ratio, 3)
            print(json.dumps(line), flush=True)
            if args.record:
                with open(args.record, "a") as file:
                    file.write(json.dumps(line) + "\n")
    spark.stop()


if __name__ == "__main__":
    main()
