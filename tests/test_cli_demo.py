"""The demo: the bundled corpus holds what it promises, and every removal is told with its reason."""

import json
from importlib.resources import files

import pytest

from cascade.cli.demo import excerpt, first_difference, run_demo


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "out"
    return out, list(run_demo(out, overwrite=False, workers=1, changes=[]))


def rows(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_every_removal_and_rejection_is_told(told):
    out, lines = told
    removed = rows(out / "removed.jsonl")
    assert [line.partition(":")[0] for line in lines if " <- " in line] == [
        f"{r['id']} <- {r['kept_id']}" for r in removed
    ]
    assert "en-harbour-again <- en-harbour: exact, the same text after normalising" in lines
    at = next(i for i, line in enumerate(lines) if line.startswith("zh-metro-corrected <- zh-metro: near-duplicate"))
    assert "Jaccard 0.9" in lines[at]
    assert lines[at + 1].startswith("    removed  市轨道交通集团")
    assert lines[at + 2].startswith("    kept     市轨道交通集团")
    assert sum(line.startswith("rejected, line ") for line in lines) == len(rows(out / "rejected.jsonl")) == 2
    assert any(line.startswith(f"results in {out}") for line in lines)


def test_the_sample_separates_copies_from_rewordings(told):
    out, _ = told
    removed = {r["id"]: r for r in rows(out / "removed.jsonl")}
    kept = {json.loads(line)["id"] for line in (out / "kept.jsonl").read_text("utf-8").splitlines()}
    assert {i for i in kept if "reworded" in i} == {i for i in kept | set(removed) if "reworded" in i}
    assert {
        "page-lamp",
        "page-kettle",
        "page-chair",
        "page-blanket",
        "empty",
        "empty-spaces",
        "only-punctuation",
    } <= kept
    assert {r["reason"] for r in removed.values()} == {"exact", "near"}
    for name, r in removed.items():
        assert name.startswith(r["kept_id"]), "each copy goes for the text it was made from"


def test_the_sample_speaks_several_scripts():
    lines = (files("cascade.sample") / "sample.jsonl").read_bytes().decode("utf-8").splitlines()
    assert 60 <= len(lines) <= 100
    text = "".join(lines)
    assert all(any(low <= c <= high for c in text) for low, high in ("az", "一龥", "ぁん", "가힣", "اي"))


@pytest.mark.parametrize(
    ("text", "near", "line"),
    [
        ("", 0, ""),
        ("  one\n two ", 0, "one two"),
        ("x" * 64, 0, "x" * 64),
        ("x" * 65, 0, "x" * 64 + "…"),
        ("中" * 33, 0, "中" * 32 + "…"),
        ("a" * 50 + "b" + "c" * 20, 50, "…" + "a" * 16 + "b" + "c" * 20),
        ("short", 5, "short"),
    ],
)
def test_excerpts(text, near, line):
    assert excerpt(text, near) == line


@pytest.mark.parametrize(("one", "other", "at"), [("", "", 0), ("ab", "ab", 2), ("ab", "abc", 2), ("a  b", "a c", 2)])
def test_first_difference(one, other, at):
    assert first_difference(one, other) == at
