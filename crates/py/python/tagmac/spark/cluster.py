"""The driver's side of Spark: jobs, their progress, and their errors in one line."""

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

#: Approximate bytes and items of a task, which a lost worker makes others read again.
TASK_BYTES, TASK_ITEMS = 512 << 20, 4096
#: Maximum tasks of a stage. With more, the shuffle costs more than they save: each task sends to
#: each of the next stage.
MAX_TASKS = 20_000
#: Minimum tasks for each core, so that cores do not wait long for the last task.
TASKS_PER_CORE = 4

Result = TypeVar("Result")
#: A callback for lines of progress.
Say = Callable[[str], object]


class JobFailed(RuntimeError):
    """A Spark job failed. The message is the last task's error in one line."""


def cores(spark: SparkSession) -> int:
    """Returns the number of tasks that the cluster runs at once."""
    return max(1, int(spark.sparkContext.defaultParallelism))


def task_count(spark: SparkSession, items: int, size: int) -> int:
    """Returns the number of tasks for `items` items of `size` bytes in total."""
    least = TASKS_PER_CORE * cores(spark)
    wanted = min(MAX_TASKS, max(-(-size // TASK_BYTES), -(-items // TASK_ITEMS)))
    return max(1, min(items, max(least, wanted)))


def rows(spark: SparkSession, schema: str, data: list[Any]) -> DataFrame:
    """Makes a data frame of few rows, each in a separate task if possible."""
    frame = spark.createDataFrame(data, schema)
    return frame.repartition(max(1, min(len(data), TASKS_PER_CORE * cores(spark))))


@contextmanager
def job(spark: SparkSession, what: str, say: Say | None) -> Iterator[None]:
    """Runs the block as a Spark job with the description `what`: reports progress, and turns errors
    into one line.
    """
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
    """Reports the number of finished tasks every few seconds, if it has changed."""
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
    """Makes an exception of the worker's error, which is inside the tracebacks of two languages."""
    text = str(error)
    for kind in (tagmac.KeyUnavailable, tagmac.WrongKey):
        if found := re.findall(rf"\b{kind.__name__}: (.+)", text):
            return kind(found[-1])
    # Python's tracebacks end in lines "module.Error: text", and the last of them is the cause.
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
    """Writes a line to standard error."""
    print(f"tagmac: {line}", file=sys.stderr, flush=True)
