"""A standalone Spark cluster on this machine: a master and two workers as processes, on 127.0.0.1.
"""

import contextlib
import ctypes
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyspark

SPARK_HOME = Path(pyspark.__file__).parent


class Cluster:
    """`with Cluster(folder) as cluster`: the cluster writes everything into the folder."""

    def __init__(self, folder: Path, *, workers: int = 2, memory: str = "1g",
                 env: dict | None = None, envs: list[dict] | None = None):  # fmt: skip
        self.folder, self.memory, self.count = folder, memory, workers
        self.env = {
            **os.environ, **(env or {}), "SPARK_HOME": str(SPARK_HOME), "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_MASTER_OPTS": "-Dspark.deploy.maxExecutorRetries=-1", "SPARK_NO_DAEMONIZE": "1",
            "SPARK_CONF_DIR": str(folder / "conf"), "SPARK_DAEMON_MEMORY": "256m",
        }  # fmt: skip
        #: Extra environment of single workers.
        self.envs = envs or []
        self.workers: list[subprocess.Popen] = []

    def __enter__(self):
        for name in ("local", "conf", "events", "logs"):
            (self.folder / name).mkdir(parents=True)
        try:
            package = "org.apache.spark.deploy"
            self.master = self._start("master", f"{package}.master.Master", "--port", "0")
            starting = r"Starting Spark master at (spark://127\.0\.0\.1:\d+)"
            self.url = self._said(self.master, "master", starting)
            for n in range(self.count):
                work = str(self.folder / f"work-{n}")
                self.workers.append(self._start(
                    f"worker-{n}", f"{package}.worker.Worker", "--cores", "1", "--memory", self.memory,
                    "--work-dir", work, self.url, env=self.envs[n] if n < len(self.envs) else None,
                ))  # fmt: skip
                self._said(self.workers[n], f"worker-{n}", "Successfully registered with master")
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def _start(
        self, name: str, main: str, *arguments: str, env: dict | None = None
    ) -> subprocess.Popen:
        log = open(self.folder / "logs" / name, "wb")
        command = [
            SPARK_HOME / "bin/spark-class",
            main,
            "--host",
            "127.0.0.1",
            "--webui-port",
            "0",
            *arguments,
        ]
        # Ends with this process, even if this is killed with -9.
        die = lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # noqa: E731
        return subprocess.Popen(command, env=self.env | (env or {}), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                start_new_session=True, preexec_fn=die)  # fmt: skip

    def _said(self, process: subprocess.Popen, name: str, pattern: str) -> str:
        """Waits for a line in a daemon's log and returns it. Fails if the daemon ends."""
        while process.poll() is None:
            found = re.search(pattern, (self.folder / "logs" / name).read_text())
            if found:
                return found[found.lastindex or 0]
            time.sleep(0.1)
        raise RuntimeError(
            f"{name}: expected {pattern!r}, found {(self.folder / 'logs' / name).read_text()[-2000:]}"
        )

    def stop(self):
        started = [*self.workers, *([self.master] if hasattr(self, "master") else [])]
        for process in started:
            for pid in [*descendants(process.pid), process.pid]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()

    def conf(self) -> dict[str, str]:
        """The driver's configuration. Nothing is compressed or encrypted, so that a test can search
        for keys.
        """
        # The driver decides which Python the workers run.
        os.environ["PYSPARK_PYTHON"] = sys.executable
        return {
            "spark.master": self.url, "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false",
            "spark.executor.memory": self.memory, "spark.task.maxFailures": "8",
            "spark.stage.maxConsecutiveAttempts": "100", "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": (self.folder / "events").as_uri(), "spark.eventLog.compress": "false",
            "spark.shuffle.compress": "false", "spark.shuffle.spill.compress": "false",
            "spark.local.dir": str(self.folder / "local"), "spark.excludeOnFailure.enabled": "false",
        }  # fmt: skip

    def executors(self) -> list[int]:
        """The processes of executors."""
        found = [pid for worker in self.workers for pid in descendants(worker.pid)]
        return [pid for pid in found if "CoarseGrainedExecutorBackend" in command_of(pid)]

    def python_workers(self) -> list[int]:
        """The processes that run Python functions."""
        found = [pid for executor in self.executors() for pid in descendants(executor)]
        daemons = [pid for pid in found if "pyspark.daemon" in command_of(pid)]
        # A daemon forks workers, which keep its command line.
        return [pid for pid in daemons if parent_of(pid) in daemons]


def command_of(pid: int) -> str:
    with contextlib.suppress(OSError):
        return (
            Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        )
    return ""


def parent_of(pid: int) -> int:
    with contextlib.suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return -1


def descendants(pid: int) -> list[int]:
    """All descendants of a process, deepest last."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            children.setdefault(parent_of(int(entry.name)), []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        below = children.get(waiting.pop(0), [])
        found += below
        waiting += below
    return found


def kill(pids: list[int]) -> int:
    """Kills processes with -9 and returns their number."""
    killed = 0
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            killed += 1
    return killed
