"""Kernels compile wherever they are installed, also where nothing can be written but temporary files."""

import os
import subprocess
import sys

import pytest

CODE = """
import os, sys
import numpy as np
{first}
from cascade.kernels import components
assert components.roots(np.arange(3)).tolist() == [0, 1, 2]
print(os.environ["NUMBA_CACHE_DIR"], os.listdir(os.environ["NUMBA_CACHE_DIR"]) != [])
"""


@pytest.mark.parametrize("first", ["", "import numba"])
def test_a_cache_that_cannot_be_written(tmp_path, first):
    environment = os.environ | {"NUMBA_CACHE_DIR": "/dev/null/kernels", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(first=first)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    folder, filled = done.stdout.split()
    assert folder.startswith(str(tmp_path))
    assert filled == "True"
    assert not list(tmp_path.iterdir()), "the temporary folder goes when the process ends"


def test_a_cache_of_ones_own(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "mine")}
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(first="")], env=environment, capture_output=True, check=True
    )
    assert done.stdout.decode().split() == [str(tmp_path / "mine"), "True"]
