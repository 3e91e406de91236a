"""What is installed: an sdist is built, a wheel from it, and the wheel alone is run from an empty folder."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

from cascade.registry import SHINGLERS, STAGES, installed

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SOURCES = ("cascade", "stages", "configs")
FILES = ("pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `python -m build` makes of a copy of the tree, without network."""
    tree = tmp_path_factory.mktemp("tree")
    for name in SOURCES:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, tree / name)
    # What a working folder may hold beside the packages must not get in.
    (tree / "out").mkdir()
    (tree / "out" / "__init__.py").touch()
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist"]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (found,) = (tree / "dist").glob("*.whl")
    return found


@pytest.fixture(scope="module")
def names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def read(wheel: Path, name: str) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(f"cascade_dedup-{PROJECT['version']}.dist-info/{name}")


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    return message_from_bytes(read(wheel, "METADATA"))


def test_one_top_level_package(wheel: Path, names: list[str]) -> None:
    assert wheel.name == f"cascade_dedup-{PROJECT['version']}-py3-none-any.whl"
    assert {name.split("/")[0] for name in names} == {"cascade", f"cascade_dedup-{PROJECT['version']}.dist-info"}
    assert read(wheel, "top_level.txt").split() == [b"cascade"]


def test_every_source_file_is_in_it_and_nothing_else(names: list[str]) -> None:
    expected = set()
    for folder, place in (("cascade", "cascade"), ("stages", "cascade/stages"), ("configs", "cascade/configs")):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and path.suffix in (".py", ".yaml", ".jsonl", ".typed", ".html", ".css", ".js"):
                expected.add(f"{place}/{path.relative_to(ROOT / folder).as_posix()}")
    assert {name for name in names if not name.startswith("cascade_dedup-")} == expected
    assert {
        "cascade/stages/minhash.py",
        "cascade/configs/default.yaml",
        "cascade/py.typed",
        "cascade/sample/sample.jsonl",
    } <= expected


def test_the_licence_is_in_it(wheel: Path, metadata: Message) -> None:
    assert read(wheel, "licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
    assert b"Apache License" in read(wheel, "licenses/LICENSE")
    assert metadata["License-Expression"] == "Apache-2.0"


def test_metadata(wheel: Path, metadata: Message) -> None:
    assert metadata["Name"] == PROJECT["name"] == "cascade-dedup"
    assert metadata["Version"] == PROJECT["version"]
    assert metadata["Summary"] == PROJECT["description"]
    assert set(metadata["Requires-Python"].split(",")) == {">=3.11", "<3.14"}
    _, _, description = read(wheel, "METADATA").decode("utf-8").partition("\n\n")
    assert description.strip() == (ROOT / "README.md").read_text("utf-8").strip()
    needed = {re.split(r"[><=; ]", line)[0] for line in metadata.get_all("Requires-Dist") if "extra ==" not in line}
    assert needed == {
        "numpy", "numba", "pyarrow", "rapidfuzz", "xxhash", "jieba", "rjieba", "orjson", "pyyaml", "pydantic", "typer",
        "rich",
    }  # fmt: skip
    assert set(metadata.get_all("Provides-Extra")) == {"gpu", "report", "dev"}


def test_entry_points(wheel: Path) -> None:
    points = configparser.ConfigParser()
    points.optionxform = str  # type: ignore[method-assign,assignment]
    points.read_string(read(wheel, "entry_points.txt").decode("utf-8"))
    assert dict(points["console_scripts"]) == {"cascade": "cascade.cli:main"}
    assert list(points["cascade.stages"]) == ["containment", "edit_distance", "jaccard", "minhash", "simhash"]
    assert list(points["cascade.shinglers"]) == ["char", "cjk", "jieba", "whitespace", "word"]
    for group in (STAGES, SHINGLERS):
        for name, value in points[group].items():
            assert installed(group)[name].value == value, "the installed metadata are stale: pip install -e ."


def test_the_wheel_alone_runs(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    script = (
        "import cascade, cascade.stages.minhash as stage, sys\n"
        "print(cascade.__file__)\nprint(stage.__file__)\n"
        "from cascade.cli import main\nsys.argv = ['cascade', 'check', 'default']\nmain()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == [str(site / "cascade/__init__.py"), str(site / "cascade/stages/minhash.py")]
    assert lines[2].startswith("default is valid.")


def test_the_changelog_has_this_version() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(rf"^## {re.escape(PROJECT['version'])}\b", changes, re.M)
