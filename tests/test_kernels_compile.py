"""Kernels compile wherever they are installed, and are kept for the next run where anything can be written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cascade

PLACES = ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "NUMBA_CACHE_LOCATOR_CLASSES")

CODE = """
import os, sys, tempfile
if {homeless}:
    sys.modules["pwd"] = None
def refuse(*_args, **_options):
    raise AssertionError("kernels make no temporary folder")
tempfile.mkdtemp = refuse
import numpy as np
before = dict(os.environ)
from cascade.kernels import components
assert components.roots(np.arange(3)).tolist() == [0, 1, 2]
assert dict(os.environ) == before
print(components.__file__)
print(components.roots.stats.cache_path)
"""


def run(folder: Path, homeless: bool = False, **environment: str) -> str:
    """Runs a kernel of a package that lies in `folder`; returns where numba keeps it, or "None"."""
    known = {name: value for name, value in os.environ.items() if name not in PLACES}
    done = subprocess.run(
        [sys.executable, "-B", "-c", CODE.format(homeless=homeless)],
        cwd=folder, env=known | {"PYTHONPATH": str(folder)} | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    source, cache = done.stdout.splitlines()
    assert source == str(folder / "cascade/kernels/components.py")
    return cache


@pytest.fixture
def package(tmp_path):
    """A copy of the package, with no cache yet."""
    shutil.copytree(Path(cascade.__file__).parent, tmp_path / "cascade", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.fixture
def sealed(package):
    """A copy beside whose kernels nothing can be written, not even by root: a file is where the folder should be."""
    (package / "cascade/kernels/__pycache__").touch()
    return package


def test_kernels_are_kept_beside_the_source(package):
    cache = package / "cascade/kernels/__pycache__"
    assert run(package, HOME=str(package)) == str(cache)
    assert list(cache.glob("components.roots-*.nbc"))


def test_a_cache_of_ones_own(package):
    cache = Path(run(package, homeless=True, NUMBA_CACHE_DIR=str(package / "mine")))
    assert cache.is_relative_to(package / "mine")
    assert list(cache.glob("components.roots-*.nbc"))


def test_a_package_that_cannot_be_written_uses_the_cache_of_the_user(sealed):
    cache = Path(run(sealed, HOME=str(sealed / "home")))
    assert cache.is_relative_to(sealed / "home")
    assert list(cache.glob("components.roots-*.nbc"))


@pytest.mark.parametrize("named", [{}, {"NUMBA_CACHE_DIR": "/dev/null/kernels"}])
def test_kernels_compile_where_nothing_can_be_written(sealed, named):
    assert run(sealed, HOME="/dev/null", **named) == "None"


def test_no_folder_is_made_where_the_home_of_the_user_is_not_known(sealed):
    assert run(sealed, homeless=True) == "None"
    assert [path.name for path in sealed.iterdir()] == ["cascade"]
