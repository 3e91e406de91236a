"""Every preset runs: on the bundled sample, where copies must go and other texts must stay, and on known answers."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from cascade.config import load_config, preset_names
from cascade.run import run_files

TUTORIAL = ["red blue green", "red blue green yellow", "black white", "RED BLUE GREEN"]
KEPT_BY_ALL = {"page-blanket", "short-thanks", "empty", "only-punctuation", "ko-weather", "ar-water"}


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    path = tmp_path_factory.mktemp("sample") / "sample.jsonl"
    path.write_bytes((files("cascade.sample") / "sample.jsonl").read_bytes())
    return path


def cleaned(config, source, out):
    """(report, kept ids, {removed id: kept id})"""
    report = run_files(config, [source], out, workers=1)
    kept = [json.loads(line)["id"] for line in (out / "kept.jsonl").read_text("utf-8").split("\n") if line]
    rows = [json.loads(line) for line in (out / "removed.jsonl").read_text("utf-8").split("\n") if line]
    return report, kept, {row["id"]: row["kept_id"] for row in rows}


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_runs_and_its_filled_config_repeats_it(name, sample, tmp_path):
    report, kept, removed = cleaned(load_config(name), sample, tmp_path / "out")
    counts = report.counts
    assert (
        counts["read"] == counts["kept"] + counts["removed_exact"] + counts["removed_near"] + counts["rejected"] == 79
    )
    assert counts["rejected"] == 2
    assert removed["en-harbour-again"] == "en-harbour"
    assert removed["ja-onsen-copy"] == "ja-onsen"
    assert set(removed.values()) <= set(kept)
    assert set(kept) >= KEPT_BY_ALL
    assert not [name for name in removed if "reworded" in name]
    cleaned(load_config(tmp_path / "out" / "config.yaml"), sample, tmp_path / "again")
    for file in ("kept.jsonl", "removed.jsonl", "clusters.jsonl", "config.yaml"):
        assert (tmp_path / "out" / file).read_bytes() == (tmp_path / "again" / file).read_bytes()


@pytest.mark.parametrize(
    ("overrides", "removed"),
    [
        ([], {"4": "1"}),
        (["stages.jaccard.min_jaccard=0.6"], {"2": "1", "4": "1"}),
        (["normalize.case=keep"], {}),
        (["exact=false"], {"4": "1"}),
        (["stages=[]"], {"4": "1"}),
    ],
)
def test_the_four_sentences_of_the_tutorial(overrides, removed, tmp_path):
    source = Path(tmp_path / "four.jsonl")
    source.write_text("".join(json.dumps({"id": str(i), "text": t}) + "\n" for i, t in enumerate(TUTORIAL, 1)))
    _, kept, got = cleaned(load_config("tutorial", overrides), source, tmp_path / "out")
    assert got == removed
    assert kept == [i for i in "1234" if i not in removed]
