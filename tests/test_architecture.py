"""Who may import whom, who may print, who may open files: the layout of the design, read from the source."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import cascade

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "cascade").rglob("*.py")) + sorted((ROOT / "stages").glob("*.py"))
PUBLIC_FOR_STAGES = {
    "cascade.stage", "cascade.pairs", "cascade.errors", "cascade.text.buffer", "cascade.text.tokenize",
    "cascade.text.shingle",
}  # fmt: skip
LIMIT = 300
OPENERS = {
    "open", "fdopen", "read_bytes", "read_text", "write_bytes", "write_text", "memmap", "fromfile", "tofile",
}  # fmt: skip
MAY_OPEN = {
    "cascade.config.load": "the config",
    "cascade.config.presets": "presets, which are packaged",
    "cascade.cli.demo": "the packaged sample, and what became of it",
    "cascade.cli.outcome": "the null device, to which the output goes when nobody reads it any more",
    "cascade.evaluate.peak": "what the system tells of this process's memory",
    "cascade.memory": "what the system tells of its memory",
    "cascade.text.segment": "the user's dictionary for jieba, which leaves a file that it opens itself open",
}
"""Who opens files outside of cascade.io, and which: none of them holds documents that somebody wants kept."""
HEAVY = (
    "numba",
    "llvmlite",
    "pyarrow",
    "jieba",
    "rjieba",
    "cupy",
    "matplotlib",
    "rich",
    "rapidfuzz",
    "jinja2",
    "flask",
)


def name_of(path: Path) -> str:
    relative = path.relative_to(ROOT)
    return str(relative).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imports(path: Path, top_level_only: bool = False) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    found = set()
    nodes = list(ast.walk(tree))
    if top_level_only:
        nodes = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def ours(names: set[str]) -> set[str]:
    return {n for n in names if n.split(".")[0] in ("cascade", "stages")}


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_layers(path):
    name, found = name_of(path), ours(imports(path))
    if name.startswith("cascade.kernels"):
        assert all(n.startswith("cascade.kernels") for n in found), f"kernels import nothing of ours: {found}"
    if name.startswith("cascade."):
        assert not [n for n in found if n.startswith(("stages", "cascade.stages"))], "stages are found by entry point"
    if name.startswith("stages."):
        rest = {n for n in found if not n.startswith("cascade.kernels")}
        rest = {n for n in rest if not {n, n.rpartition(".")[0]} & PUBLIC_FOR_STAGES}
        assert not rest, f"a stage imports the contract and kernels only: {rest}"
    if name.startswith("cascade.text"):
        assert not [
            n for n in found if n.startswith(("cascade.io", "cascade.config", "cascade.cli", "cascade.pipeline"))
        ]
    if not name.startswith("cascade.cli"):
        assert not [n for n in found if n.startswith("cascade.cli")], "only people call the cli"


def calls(path: Path) -> tuple[set[str], set[str]]:
    """The names of all functions that are called, and of all methods (or functions by way of their module)."""
    found = [node.func for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    functions = {function.id for function in found if isinstance(function, ast.Name)}
    return functions, {function.attr for function in found if isinstance(function, ast.Attribute)}


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_only_the_cli_prints(path):
    if not name_of(path).startswith("cascade.cli"):
        assert "print" not in calls(path)[0]


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_only_io_opens_data_files(path):
    name, (functions, methods) = name_of(path), calls(path)
    opened = functions & {"open"} | methods & OPENERS
    if name in MAY_OPEN:
        assert opened, f"{name} opens nothing any more: take it off the list"
    elif not name.startswith("cascade.io"):
        assert not opened, f"only cascade.io opens data files: {opened}"


def test_who_may_open_files_is_there():
    assert set(MAY_OPEN) <= set(map(name_of, SOURCES))


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_nothing_depends_on_the_environment_but_how_progress_is_shown(path):
    if name_of(path) != "cascade.cli.progress":
        assert not re.search(r"\b(environb?|getenvb?|putenv)\b", path.read_text("utf-8"))


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_heavy_packages_are_imported_where_they_are_needed(path):
    if not name_of(path).startswith(("cascade.kernels", "cascade.io")):
        top = {n.split(".")[0] for n in imports(path, top_level_only=True)}
        assert not top & set(HEAVY), top & set(HEAVY)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_modules_are_short_and_say_what_they_hold(path):
    text = path.read_text("utf-8")
    assert ast.get_docstring(ast.parse(text)), "a module opens with what lives there"
    assert len(text.splitlines()) <= LIMIT


def test_the_public_surface_is_pinned():
    assert cascade.__all__ == [
        "Accepted", "BackendUnavailable", "CascadeError", "Comparison", "Config", "ConfigError", "Decision",
        "Difference", "Explanation", "Facts", "InputError", "Keys", "Normalize", "OutputError", "Pairs", "Plan",
        "Predicate", "Result", "Rethresholded", "RunReport", "Shingler", "Shingles", "Signature", "Stage", "StageError",
        "StageReport", "SweepResult", "TextBuffer", "TokenShingler", "Truth", "TruthResult", "TuneResult", "compare",
        "containment", "dedupe", "difference", "edit_similarity", "estimate", "explain", "fingerprint", "hamming",
        "jaccard", "load_config", "make_plan", "normalize", "predicted_recall", "rethreshold", "run_files",
        "shingle_hashes", "signature", "sweep", "truth", "tune", "union", "word_tokens",
    ]  # fmt: skip
    for name in cascade.__all__:
        assert getattr(cascade, name) is not None
    assert set(cascade.__all__) <= set(dir(cascade))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = cascade.nothing
