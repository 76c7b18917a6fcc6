"""Figures of a run, from Spark's event log and the S3 server's access log."""

import json
import os
from pathlib import Path

_read: dict[Path, int] = {}


def event_figures(folder: Path) -> dict:
    """The tasks, seconds and shuffled bytes of the stages that ended since the last call.

    The job that seals or audits ends with a stage that writes shards or compares. The previous
    stage reads the objects; all others make the listing.
    """
    stages: dict[int, dict] = {}
    main: set[int] = set()
    for path in sorted(folder.rglob("events_*")) or sorted(
        p for p in folder.rglob("*") if p.is_file()
    ):
        with open(path, "rb") as file:
            file.seek(_read.get(path, 0))
            lines = file.read().splitlines(keepends=True)
        whole = [line for line in lines if line.endswith(b"\n")]
        _read[path] = _read.get(path, 0) + sum(map(len, whole))
        for line in whole:
            event = json.loads(line)
            if event["Event"] == "SparkListenerJobStart":
                what = (event.get("Properties") or {}).get("spark.job.description", "")
                if what.startswith(("tagmac: sealing", "tagmac: auditing")):
                    main.update(event["Stage IDs"])
            elif event["Event"] == "SparkListenerTaskEnd":
                stage = stages.setdefault(
                    event["Stage ID"], {"tasks": 0, "shuffle": 0, "failed": 0}
                )
                metrics = event.get("Task Metrics") or {}
                stage["tasks"] += 1
                stage["failed"] += bool(event["Task Info"]["Failed"])
                stage["shuffle"] += metrics.get("Shuffle Write Metrics", {}).get(
                    "Shuffle Bytes Written", 0
                )
            elif event["Event"] == "SparkListenerStageCompleted":
                info = event["Stage Info"]
                stage = stages.setdefault(info["Stage ID"], {"tasks": 0, "shuffle": 0, "failed": 0})
                stage["seconds"] = (info["Completion Time"] - info["Submission Time"]) / 1000
    ended = [number for number in sorted(stages) if "seconds" in stages[number]]
    last = [stages[number] for number in ended if number in main]
    if len(last) < 2:
        return {}
    reading, sealing = last[-2:]
    listing = [stages[n] for n in ended if stages[n] is not reading and stages[n] is not sealing]
    return {
        "tasks": reading["tasks"], "failed": sum(stages[n]["failed"] for n in ended),
        "stages": {
            "listing": round(sum(stage["seconds"] for stage in listing), 2),
            "reading": round(reading["seconds"], 2), "sealing": round(sealing["seconds"], 2),
        },
        "shuffle_bytes": [sum(stage["shuffle"] for stage in listing), reading["shuffle"]],
    }  # fmt: skip


def requests() -> dict[str, int]:
    """Number of requests that the server answered, by kind: GET, PUT, LIST and so on."""
    found: dict[str, int] = {}
    path = os.environ.get("TAGMAC_S3_LOG")
    if not path:
        return found
    with open(path, errors="replace") as file:
        for line in file:
            kind = next((word for word in line.split() if word.startswith("s3_")), "")
            name = {"s3_GetObject": "GET", "s3_PutObject": "PUT", "s3_ListObjectsV2": "LIST"}.get(
                kind
            )
            if name is not None:
                found[name] = found.get(name, 0) + 1
    return found


def cpu_name() -> str:
    """The processor's name."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"
