"""Makes `import z3` load the pinned version, from PyPI in target/proofs."""

import os
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent.parent
VENV = Path(os.environ.get("CARGO_TARGET_DIR", REPO / "target")).resolve() / "proofs"
VERSION = "4.13.4"
ASKED = f"import z3; assert z3.get_version_string() == '{VERSION}'"


def need():
    """Restarts this program with a Python that has it, unless this one does."""
    try:
        import z3

        if z3.get_version_string() == VERSION:
            return
    except ImportError:
        pass
    python = VENV / "bin/python"
    if Path(sys.prefix) == VENV:
        sys.exit("proofs: cannot import z3 from its virtual environment")
    if not python.exists() or subprocess.run([python, "-c", ASKED], stderr=subprocess.DEVNULL).returncode:
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", f"z3-solver=={VERSION}.0"]
        subprocess.run(pip, check=True, stdout=sys.stderr)
    os.execv(python, [python, *sys.argv])
