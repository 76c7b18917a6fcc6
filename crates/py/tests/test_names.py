"""The names of algorithms, statuses and kinds, and `python -m tagmac`."""

import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import tagmac
from tagmac import _tagmac
from tagmac.types import Algorithm, KeyFormat, Kind, Status


def test_types_have_the_names_of_the_compiled_module():
    assert get_args(Algorithm) == _tagmac.algorithms_available
    assert get_args(Status) == _tagmac.STATUSES
    with pytest.raises(ValueError) as refused:
        tagmac.Key.from_env("NONE", format="pem")
    assert f"expected one of {', '.join(get_args(KeyFormat))}, found" in str(refused.value)


def test_a_difference_has_the_kind_and_status_of_its_type(saved, tmp_path):
    key, _ = saved
    folder = tmp_path / "folder"
    (folder / "d").mkdir(parents=True)
    (folder / "f").touch()
    (folder / "l").symlink_to("f")
    os.mkfifo(folder / "p")
    tagmac.seal(folder, key, tmp_path / "m", special=True)
    (folder / "d").rmdir()
    for name in "flp":
        (folder / name).unlink()
    differences = tagmac.audit(tmp_path / "m", folder, key).differences
    assert sorted((one.path, one.kind, one.status) for one in differences) == [
        ("d", "dir", "missing"),
        ("f", "file", "missing"),
        ("l", "link", "missing"),
        ("p", "pipe", "missing"),
    ]
    assert {one.kind for one in differences} < set(get_args(Kind))


def test_an_algorithm_is_available_in_any_case():
    names = tagmac.algorithms_available
    assert "PMAC-AES128" in names and "pmac-aes128" in names and "Umac-64" in names
    assert "PMAC-AES127" not in names and "" not in names and 7 not in names
    # Python's upper() makes an ASCII name of some others.
    assert "p\u017fmac" not in names and "hmac-\u017fha256" not in names
    assert names == _tagmac.algorithms_available
    assert names[0] == "PMAC-AES128"
    assert all(name in names and tagmac.Key.generate(name.lower()).name == name for name in names)


def module(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tagmac", *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )


def test_the_module_runs_the_command(tmp_path):
    command = Path(os.environ["TAGMAC_COMMAND"])
    (tmp_path / "tagmac").symlink_to(command)
    ran = module("--version", PATH=str(tmp_path))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith(f"tagmac {tagmac.__version__}")
    assert module("check", "--unknown", PATH=str(tmp_path)).returncode == 2


def test_without_the_command_the_module_names_its_package(tmp_path):
    # A folder and a file that cannot be run are skipped.
    (tmp_path / "tagmac").mkdir()
    other = tmp_path / "other"
    other.mkdir()
    (other / "tagmac").touch(mode=0o600)
    ran = module("--version", PATH=f"{tmp_path}:{other}:")
    assert (ran.returncode, ran.stdout) == (127, "")
    assert ran.stderr == (
        "tagmac: the command is not installed; install the package tagmac-cli with pip or cargo\n"
    )
