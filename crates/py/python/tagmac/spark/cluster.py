"""The driver's side of Spark: jobs, their errors in one line, and their progress."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import tagmac

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Bytes and items of a task, about: a lost worker costs so much reading again.
TASK_BYTES, TASK_ITEMS = 512 << 20, 4096
#: More tasks of a stage than this cost more than they spare: each hands something to each of the next.
MAX_TASKS = 20_000
#: Tasks for each core, at least: so that none waits long for the last one.
TASKS_PER_CORE = 4

Result = TypeVar("Result")
#: Is given one line now and then.
Say = Callable[[str], object]


class JobFailed(RuntimeError):
    """Spark gave up. The message has the last task's error in one line."""


def cores(spark: SparkSession) -> int:
    """How many tasks the cluster runs at once."""
    return max(1, int(spark.sparkContext.defaultParallelism))


def task_count(spark: SparkSession, items: int, size: int) -> int:
    """How many tasks read so many items of so many bytes."""
    least = TASKS_PER_CORE * cores(spark)
    wanted = min(MAX_TASKS, max(-(-size // TASK_BYTES), -(-items // TASK_ITEMS)))
    return max(1, min(items, max(least, wanted)))


def rows(spark: SparkSession, schema: str, data: list[Any]) -> DataFrame:
    """A data frame of few rows, each in a task of its own if possible."""
    frame = spark.createDataFrame(data, schema)
    return frame.repartition(max(1, min(len(data), TASKS_PER_CORE * cores(spark))))


@contextmanager
def job(spark: SparkSession, what: str, say: Say | None) -> Iterator[None]:
    """Runs what is in it as a job of that name: errors become one line, and progress is said."""
    context = spark.sparkContext
    context.setJobDescription(f"tagmac: {what}")
    ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(context, what, say, ended), daemon=True)
    if say is not None:
        watcher.start()
    try:
        yield
    except Exception as error:
        raise _one_line(error) from error
    finally:
        ended.set()
        context.setJobDescription(None)


def _watch(context: Any, what: str, say: Say, ended: threading.Event) -> None:
    """Says how many tasks are done, every few seconds, if that is a different number."""
    last = ""
    while not ended.wait(2):
        try:
            stages = [
                context.statusTracker().getStageInfo(n)
                for n in context.statusTracker().getActiveStageIds()
            ]
        except Exception:  # the session is ending
            return
        parts = [f"{s.numCompletedTasks} of {s.numTasks} tasks" for s in stages if s is not None]
        failed = sum(s.numFailedTasks for s in stages if s is not None)
        line = f"{what}: {', '.join(parts) or 'waiting'}" + (
            f", {failed} tried again" if failed else ""
        )
        if line != last:
            say(line)
            last = line


def _one_line(error: Exception) -> Exception:
    """What went wrong in a worker, out of the traces of two languages."""
    text = str(error)
    for kind in (tagmac.KeyUnavailable, tagmac.WrongKey):
        if found := re.findall(rf"\b{kind.__name__}: (.+)", text):
            return kind(found[-1])
    # Python's traces end in lines "module.Error: text"; the last one is the cause.
    found = re.findall(
        r"^\s*((?:[a-zA-Z_][\w.]*)(?:Error|Exception|Failed|InvalidTag|Unusable)\w*: .+)$",
        text,
        re.M,
    )
    line = (
        found[-1]
        if found
        else next((line for line in text.splitlines() if line.strip()), type(error).__name__)
    )
    return JobFailed(line.strip()[:1000])


def to_stderr(line: str) -> None:
    """A line on standard error."""
    print(f"tagmac: {line}", file=sys.stderr, flush=True)
