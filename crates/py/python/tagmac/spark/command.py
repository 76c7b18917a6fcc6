"""The command line: seal and audit, with the exit statuses of the command tagmac.

python -m tagmac.spark seal s3://photos/2026 -o s3://manifests/photos -k /etc/tagmac/my.key
spark-submit [its options] "$(python -m tagmac.spark --script)" seal ...
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tagmac

from ..s3.reading import one_line
from ..s3.url import shown
from .auditing import Difference, ManifestDamaged, Report, audit
from .buckets import MAX_OBJECTS
from .cluster import JobFailed, to_stderr
from .sealing import Unreadable, seal
from .tasks import STREAMS

OK, MISMATCH, USAGE, KEY, NO_VERDICT = range(5)

EPILOG = """\
exit status:
    0    success
    1    a difference, or a damaged manifest
    2    usage
    3    the key is unusable on the driver or a worker, or the manifest is another key's
    4    no verdict: something could not be read or written

spark-submit has no -m. Pass it the path that --script prints:
    spark-submit --master URL "$(python -m tagmac.spark --script)" audit MANIFEST s3://BUCKET/PREFIX ...
It prints standard error on its standard output too.
"""


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    top = argparse.ArgumentParser(
        prog="tagmac.spark", description="Seals and audits buckets on Spark.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    top.add_argument("--version", action="version", version=f"tagmac {tagmac.__version__}")
    top.add_argument("--script", action="version", version=str(Path(__file__).with_name("__main__.py")),
                     help="print the path of the file to pass to spark-submit")  # fmt: skip
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    one = commands.add_parser("seal", help="write a manifest of all objects below a prefix")
    one.add_argument("prefix", help="s3://BUCKET/PREFIX or s3a://BUCKET/PREFIX")
    one.add_argument("-o", "--output", required=True, metavar="MANIFEST",
                     help="s3://BUCKET/PREFIX, or a folder that the driver and all workers share")  # fmt: skip
    one.add_argument("--replace", action="store_true", help="replace an existing manifest")
    one.add_argument("--new-chain", action="store_true",
                     help="start a new chain instead of continuing that of the manifest that is replaced")  # fmt: skip
    _shared(one)

    two = commands.add_parser("audit", help="compare all objects below a prefix with a manifest")
    two.add_argument("manifest", help="as seal wrote it")
    two.add_argument("prefix", help="s3://BUCKET/PREFIX or s3a://BUCKET/PREFIX")
    two.add_argument(
        "--json", action="store_true", help="print JSON, one object for each difference"
    )
    two.add_argument("--work", metavar="PLACE",
                     help="where to keep the listing during the audit: s3://BUCKET/PREFIX or a shared folder [the manifest's place]")  # fmt: skip
    _shared(two)
    return top


def _shared(options: argparse.ArgumentParser) -> None:
    key = options.add_argument_group("key, which every worker finds by itself")
    one = key.add_mutually_exclusive_group(required=True)
    one.add_argument(
        "-k", "--key-file", metavar="FILE", help="a key file, on the driver and on all workers"
    )
    one.add_argument(
        "--key-env", metavar="NAME", help="an environment variable with the text of a key file"
    )
    one.add_argument(
        "--key-cmd", metavar="COMMAND", help="a command that prints a key file; no shell runs it"
    )
    one.add_argument("--key-secret", metavar="NAME", help="the name of a secret, see KeyRef.secret")
    key.add_argument(
        "-a", "--algorithm", metavar="ALG", help="the algorithm of a bare key, not in a key file"
    )
    key.add_argument("--key-format", choices=("auto", "raw", "hex", "base64"), default="auto",
                     help="auto is a key file; the others need -a [%(default)s]")  # fmt: skip
    key.add_argument(
        "--tag-bits", type=int, metavar="N", help="the length of tags [the algorithm's]"
    )
    options.add_argument(
        "--master",
        metavar="URL",
        help="Spark's master [as configured for spark-submit]",
    )
    options.add_argument(
        "--range-bytes",
        type=int,
        metavar="N",
        help="bytes of a range [64 MiB]",
    )
    options.add_argument(
        "--streams",
        type=int,
        default=STREAMS,
        metavar="N",
        help="requests of a task at once [%(default)s]",
    )
    options.add_argument(
        "--max-objects",
        type=int,
        default=MAX_OBJECTS,
        metavar="N",
        help="refuse a listing of more objects than this [%(default)s]",
    )
    options.add_argument(
        "--progress",
        choices=("auto", "always", "never"),
        default="auto",
        help="on standard error [%(default)s]",
    )


def main(arguments: Sequence[str]) -> int:
    """Runs a command line, and returns its exit status."""
    args = parser().parse_args(arguments)
    for name in ("range_bytes", "streams", "max_objects"):
        if getattr(args, name) is not None and getattr(args, name) < 1:
            parser().error(
                f"--{name.replace('_', '-')}: expected at least 1, found {getattr(args, name)}"
            )
    show = args.progress == "always" or (args.progress == "auto" and sys.stderr.isatty())
    return reported(lambda: _run(args, to_stderr if show else None))


def reported(work: Callable[[], int]) -> int:
    """Runs `work`. An error becomes one line on standard error and an exit status."""
    try:
        return work()
    except (tagmac.KeyUnavailable, tagmac.WrongKey) as error:
        return _failed(error, KEY)
    except (ManifestDamaged, tagmac.InvalidTag) as error:
        return _failed(error, MISMATCH)
    except Unreadable as error:
        for line in error.errors:
            to_stderr(line)
        return _failed(
            f"{error.count} objects cannot be read; no manifest was written", NO_VERDICT
        )
    except ValueError as error:
        return _failed(error, USAGE)
    except (OSError, JobFailed) as error:
        return _failed(error, NO_VERDICT)
    except Exception as error:
        # Python itself would exit with 1, which means a difference here.
        return _failed(f"internal error: {type(error).__name__}: {one_line(error)}", NO_VERDICT)


def _failed(error: object, status: int) -> int:
    to_stderr(f"error: {error}")
    return status


def _run(args: argparse.Namespace, progress: Callable[[str], object] | None) -> int:
    ref = _key_ref(args)
    options = {
        "range_bytes": args.range_bytes,
        "streams": args.streams,
        "max_objects": args.max_objects,
        "progress": progress,
    }
    spark = _session(args.master)
    try:
        if args.command == "audit":
            found = audit(spark, args.manifest, args.prefix, ref, work=args.work, **options)
            return _print(found, args.json)
        made = seal(
            spark, args.prefix, ref, args.output, replace_manifest=args.replace,
            new_chain=args.new_chain, **options,
        )  # fmt: skip
        to_stderr(
            f"sealed {made.objects} objects, {made.bytes} bytes, in {made.shards} shards: {made.manifest}"
        )
        return OK
    finally:
        spark.stop()


def _key_ref(args: argparse.Namespace) -> tagmac.KeyRef:
    alg, form, bits = args.algorithm, args.key_format, args.tag_bits
    if args.key_file is not None:
        return tagmac.KeyRef.file(
            os.path.abspath(args.key_file), alg=alg, format=form, tag_bits=bits
        )
    if args.key_env is not None:
        return tagmac.KeyRef.env(args.key_env, alg=alg, format=form, tag_bits=bits)
    if args.key_cmd is not None:
        return tagmac.KeyRef.command(shlex.split(args.key_cmd), alg=alg, format=form, tag_bits=bits)
    return tagmac.KeyRef.secret(args.key_secret, alg=alg, format=form, tag_bits=bits)


def _session(master: str | None) -> Any:
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise OSError("PySpark is not installed: pip install tagmac[spark]") from None
    if master is not None and master.startswith("local"):
        # Local workers run this Python.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("tagmac").config("spark.ui.showConsoleProgress", "false")
    try:
        spark = (builder.master(master) if master else builder).getOrCreate()
    except Exception as error:
        raise JobFailed(f"cannot start a Spark session: {one_line(error)}") from None
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def _print(report: Report, as_json: bool) -> int:
    """Prints the differences on standard output, then the counts."""
    for difference in report.differences:
        print(_json(difference) if as_json else _text(difference))
    counts: dict[str, int] = {"unchanged": report.unchanged} | {
        str(k): n for k, n in report.counts.items()
    }
    differs = sum(count for name, count in report.counts.items() if name != "unreadable")
    status = MISMATCH if differs else NO_VERDICT if report.counts["unreadable"] else OK
    if as_json:
        verdict = {OK: "unchanged", MISMATCH: "changed", NO_VERDICT: "unreadable"}[status]
        counts["not_read"] = report.not_read
        print(json.dumps({"summary": counts, "complete": report.is_complete, "status": verdict}))
    else:
        # As in the command, "0 unreadable" is left out.
        told = [f"{n} {name}" for name, n in counts.items() if n or name != "unreadable"]
        if report.not_read:
            told.append(f"{report.not_read} not read")
        to_stderr(", ".join(told))
        if not report.is_complete:
            left = sum(report.counts.values()) - len(report.differences)
            to_stderr(f"{left} more differences are only counted")
    sys.stdout.flush()
    return status


def _text(difference: Difference) -> str:
    name = shown(difference.name.decode(errors="backslashreplace"))
    if difference.before is not None:
        before = shown(difference.before.decode(errors="backslashreplace"))
        return f"{name}: renamed: it was {before}"
    return f"{name}: {difference.status}" + (f": {difference.detail}" if difference.detail else "")


def _json(difference: Difference) -> str:
    row = {
        "path": difference.name.decode(errors="backslashreplace"),
        "kind": "object",
        "status": difference.status,
    }
    if difference.before is not None:
        row["from"] = difference.before.decode(errors="backslashreplace")
    if difference.detail:
        row["reason"] = difference.detail
    return json.dumps(row)
