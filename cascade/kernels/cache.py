"""Where compiled kernels are kept between runs. Looks at folders and the environment; compiles nothing itself."""

from __future__ import annotations

import os
import shutil
import sys
from atexit import register
from pathlib import Path
from tempfile import TemporaryFile, mkdtemp


def find_cache() -> None:
    """Makes sure that compiled kernels can be put somewhere.

    numba takes NUMBA_CACHE_DIR, else the folder beside the source, else the user's cache, and refuses to compile where
    it can write to none, as in a read-only container. Then a temporary folder serves, and every run compiles anew.
    """
    named = os.environ.get("NUMBA_CACHE_DIR")
    user = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "numba")
    if any(map(_writable, [Path(named)] if named else [Path(__file__).parent / "__pycache__", user])):
        return
    folder = mkdtemp(prefix="cascade-kernels-")
    register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = folder
    if "numba" in sys.modules:
        sys.modules["numba"].config.reload_config()


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            return folder.parts[0] != "~"  # nobody knows where the user is at home
    except OSError:
        return False
