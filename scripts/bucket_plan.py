"""The model behind plan-bucket: what tagmac.spark and the command do with a bucket, as arithmetic.

docs/objects.md has the formulas. Every function takes sizes as a list of (size, how many).
"""

import heapq
import math
import random
from dataclasses import dataclass, field

# The plan of tagmac.spark. scripts/plan-bucket --self-test holds these against its source.
RANGE_BYTES = 64 << 20
TASK_BYTES, TASK_ITEMS, MAX_TASKS, TASKS_PER_CORE = 512 << 20, 4096, 20_000, 4
SHARD_ENTRIES, MAX_SHARD_TASKS, MAX_ROOT_BYTES = 65_536, 2000, 64 << 20
FILE_OBJECTS, PAGE, STREAMS = 50_000, 1000, 8
# The command: GETs of 8 MiB, so many at once.
COMMAND_RANGE, COMMAND_STREAMS = 8 << 20, 32

# List prices in US dollars, S3 Standard and EC2 (m7g.4xlarge: 16 cores, 7.5 Gbit/s sustained) in
# us-east-1, June 2026. Bytes moved within the region cost nothing; to the Internet, the first 10 TB
# of a month cost 0.09 a GB.
PRICES_AS_OF = "June 2026"
GET, LIST_PUT, MACHINE_HOUR, INTERNET_GB = 0.0004 / 1000, 0.005 / 1000, 0.6528, 0.09
# What a store promises at least for each of a bucket's prefixes, and what Spark is used to.
GETS_PER_PREFIX, SHUFFLE_BLOCKS, STAGE_TASKS = 5500, 100_000_000, 100_000
DISK = 100 * 10**9  # for shuffle files
# A sealed partial of PMAC-AES128 without the object's name, and with its version.
PARTIAL_BYTES = 208


# Sizes of objects: a list of (size, how many), by falling size.


def fixed(objects, total):
    each, rest = divmod(total, max(objects, 1))
    return [(each + 1, rest), (each, objects - rest)]


def zipf(objects, exponent, largest):
    """The k-th object has largest / k^exponent bytes. Far down, ranks of about one size go together."""
    classes, rank = [], 1
    while rank <= objects:
        last = min(objects, max(rank, int(rank * 1.02)))
        middle = (rank + last) / 2
        classes.append((int(largest / middle**exponent), last - rank + 1))
        rank = last + 1
    return classes


@dataclass
class Machines:
    """What a plan runs on."""

    workers: int
    cores: int  # of each worker
    bandwidth: float  # bytes a second into each worker
    latency: float  # seconds to the first byte of a GET
    request_cpu: float  # seconds of a core for each GET
    core_rate: float  # bytes a second that one core receives and hashes
    object_cpu: float  # seconds of a core to join, sort and seal an object's tag
    job_seconds: float  # start of each of the three jobs
    gets_per_second: int = 0  # that the store answers; 0: any number
    streams: int = STREAMS
    name_bytes: int = 60

    @property
    def slots(self):
        return self.workers * self.cores


@dataclass
class Plan:
    """What comes out."""

    objects: int
    bytes: int
    items: int = 0
    requests: dict = field(default_factory=dict)  # GET, LIST, PUT
    tasks: dict = field(default_factory=dict)
    shuffle: list = field(default_factory=list)
    blocks: list = field(default_factory=list)
    manifest_bytes: int = 0
    root_bytes: int = 0
    seconds: dict = field(default_factory=dict)
    limits: dict = field(default_factory=dict)  # seconds of reading, by what would take them

    @property
    def total_seconds(self):
        return sum(self.seconds.values())


def ceil(a, b):
    return -(-a // b)


def words(length):
    """Bytes, in whole words of 8."""
    return ceil(length, 8) * 8


def items_of(classes, unit):
    """(bytes of an item, how many, whether it is a whole object)."""
    items = []
    for one, many in classes:
        if unit is None or one <= unit:
            items.append((one, many, True))
        else:
            full, rest = divmod(one, unit)
            items.append((unit, full * many, False))
            if rest:
                items.append((rest, many, False))
    return [item for item in items if item[1]]


def poisson(mean, draw):
    """A count with that mean; a normal one where nobody could tell."""
    if mean > 50:
        return max(0, round(draw.gauss(mean, math.sqrt(mean))))
    product, number, least = draw.random(), 0, math.exp(-mean)
    while product > least:
        product *= draw.random()
        number += 1
    return number


def makespan(items, tasks, machines, item_seconds):
    """Seconds until all tasks are done, each a random share of the items, on as many slots as there
    are. The largest task is what makes it longer than the mean."""
    draw = random.Random(17)
    if sum(many for _, many, _ in items) <= 200_000:
        loads = [0.0] * tasks
        for one, many, _ in items:
            for _ in range(many):
                loads[draw.randrange(tasks)] += item_seconds(one)
    else:
        loads = [
            sum(poisson(many / tasks, draw) * item_seconds(one) for one, many, _ in items)
            for _ in range(tasks)
        ]
    slots = [0.0] * min(machines.slots, tasks)
    for load in loads:
        heapq.heappush(slots, heapq.heappop(slots) + load)
    return max(slots)


def plan_spark(classes, machines, *, unit=RANGE_BYTES):
    objects, total = sum(n for _, n in classes), sum(s * n for s, n in classes)
    plan = Plan(objects, total)
    items = items_of(classes, unit)
    plan.items = sum(many for _, many, _ in items)
    ranges = sum(many for _, many, whole in items if not whole)
    shards, files = ceil(objects, SHARD_ENTRIES), ceil(objects, FILE_OBJECTS)
    lists = ceil(objects, PAGE)
    # Fewer than a page of objects are not split. Else a range of names takes two requests to find, as
    # measured, and ends within a page.
    split = TASKS_PER_CORE * machines.slots if objects > PAGE else 1
    files, lists = max(files, min(split, objects)), lists + split
    plan.requests = {"GET": plan.items + files, "LIST": lists + 2 * split * (split > 1), "PUT": files + shards + 1}
    wanted = max(ceil(total, TASK_BYTES), ceil(plan.items, TASK_ITEMS))
    reading = min(plan.items, max(TASKS_PER_CORE * machines.slots, min(MAX_TASKS, wanted)))
    cutting = min(files, TASKS_PER_CORE * machines.slots)
    plan.tasks = {"listing": split, "reading": reading, "sealing": min(shards, MAX_SHARD_TASKS)}
    plan.blocks = [cutting * reading, reading * plan.tasks["sealing"]]
    # Rows of Spark: a length, a bitmap, a word for each of 12 columns, then whole words of bucket, name
    # and version, and of the tag or partial. Compressed, they take less.
    row = 4 + 8 + 12 * 8 + 16 + words(machines.name_bytes) + 32
    partial = words(PARTIAL_BYTES + machines.name_bytes)
    plan.shuffle = [plan.items * row, plan.items * row + (plan.items - ranges) * 16 + ranges * partial]
    plan.manifest_bytes = objects * (machines.name_bytes + 45) + shards * 300
    plan.root_bytes = 300 + shards * (110 + 2 * machines.name_bytes)
    if not plan.items:
        plan.seconds = {"listing": machines.job_seconds, "reading": 0.0, "sealing": 0.0}
        return plan
    cpu = plan.items * machines.request_cpu + total / machines.core_rate
    plan.limits = {
        "network": total / (machines.workers * machines.bandwidth),
        "cores": cpu / machines.slots,
        "latency": plan.items * machines.latency / (machines.slots * machines.streams),
    }
    if machines.gets_per_second:
        plan.limits["store"] = plan.items / machines.gets_per_second
    least = max(plan.limits.values())
    # Tasks run at the pace of what is scarcest.
    pace = least / plan.limits["cores"]
    seconds = makespan(
        items, reading, machines, lambda one: pace * (machines.request_cpu + one / machines.core_rate)
    )
    page = max(machines.latency, 0.02)
    sealing = objects * machines.object_cpu / min(machines.slots, plan.tasks["sealing"])
    plan.seconds = {
        "listing": machines.job_seconds + lists * page / min(split, machines.slots),
        "reading": machines.job_seconds + seconds,
        "sealing": machines.job_seconds + sealing,
    }
    return plan


def plan_command(classes, machines):
    objects, total = sum(n for _, n in classes), sum(s * n for s, n in classes)
    plan = Plan(objects, total)
    plan.items = sum(many for _, many, _ in items_of(classes, COMMAND_RANGE))
    shards = ceil(objects, SHARD_ENTRIES)
    plan.requests = {"GET": plan.items, "LIST": max(1, ceil(objects, PAGE)), "PUT": shards + 1}
    plan.manifest_bytes = objects * (machines.name_bytes + 45) + shards * 300
    plan.root_bytes = 300 + shards * (110 + 2 * machines.name_bytes)
    plan.limits = {
        "network": total / machines.bandwidth,
        "cores": (plan.items * machines.request_cpu + total / machines.core_rate) / machines.cores,
        "latency": plan.items * machines.latency / COMMAND_STREAMS,
        "listing": plan.requests["LIST"] * max(machines.latency, 0.02),
    }
    if machines.gets_per_second:
        plan.limits["store"] = plan.items / machines.gets_per_second
    plan.seconds = {"reading": max(plan.limits.values())}
    return plan


def breaks(plan, machines):
    """What would break first, as (how near it is: 1 is there, what)."""
    rate = plan.requests["GET"] / max(plan.seconds.get("reading", 0), 1)
    found = [
        (rate / GETS_PER_PREFIX, f"{rate:,.0f} GETs a second, of {GETS_PER_PREFIX:,} that S3 promises for a prefix"),
        (plan.root_bytes / MAX_ROOT_BYTES, f"a root of {bytes_text(plan.root_bytes)}, of 64 MiB"),
    ]
    for number, blocks in enumerate(plan.blocks, 1):
        found.append((blocks / SHUFFLE_BLOCKS, f"{blocks:,} blocks in shuffle {number}, of {SHUFFLE_BLOCKS:,}"))
    if plan.tasks:
        most = max(plan.tasks.values())
        found.append((most / STAGE_TASKS, f"{most:,} tasks in a stage, of {STAGE_TASKS:,}"))
        disk = sum(plan.shuffle) / machines.workers
        found.append((disk / DISK, f"{bytes_text(disk)} of shuffle files on each worker, of {bytes_text(DISK)}"))
    return sorted(found, reverse=True)


def bytes_text(number):
    for unit in ("B", "kB", "MB", "GB", "TB", "PB"):
        if number < 1000 or unit == "PB":
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.3g} {unit}"
        number /= 1000
