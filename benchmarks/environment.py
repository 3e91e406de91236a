"""What the programs run in: environments of their own, ours and the peers', and a description of the machine."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks.programs import OURS_PYTHON, PEERS_PYTHON, ROOT

REQUIREMENTS = ROOT / "benchmarks" / "requirements-peers.txt"
OURS = ("cascade-dedup", "numpy", "numba", "pyarrow", "rapidfuzz", "orjson", "xxhash", "scipy")


def make_ours() -> None:
    """Installs this checkout into an environment of its own, as a user would have it, without development tools.

    numba imports scipy where it finds it, so the environment that the tests run in starts a quarter of a second later.
    The tree is copied first: building leaves files behind that Python would take for the installed package.
    """
    if not OURS_PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", str(OURS_PYTHON.parent.parent)], check=True)
    pip = [str(OURS_PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name in ("cascade", "stages", "configs"):
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, tree / name)
        subprocess.run([*pip, str(tree)], check=True)
        subprocess.run([*pip, "--force-reinstall", "--no-deps", str(tree)], check=True)


def make_peers() -> list[str]:
    """Makes the peers' environment if it is missing or out of date; says what could not be installed.

    A line at a time: what one peer lacks must not keep the others away.
    """
    folder = PEERS_PYTHON.parent.parent
    done = folder / "installed.txt"
    wanted = REQUIREMENTS.read_text("utf-8")
    if done.exists() and done.read_text("utf-8") == wanted:
        return []
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(PEERS_PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    failures = []
    for line in wanted.splitlines():
        requirement = line.partition("#")[0].strip()
        if requirement:
            result = subprocess.run([*pip, requirement], capture_output=True, text=True, check=False)
            if result.returncode:
                failures.append(f"{requirement}: {(result.stderr.strip() or 'failed').splitlines()[-1]}")
    if not failures:
        done.write_text(wanted, "utf-8")
    return failures


def machine() -> dict[str, object]:
    """Processor, memory, system, versions, load and date; nothing that names the machine or its owner."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "processors": os.cpu_count(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in OURS},
        "load": os.getloadavg()[0],
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
