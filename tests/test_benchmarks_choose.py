"""The comparison of configs over many corpora: one run as a job, its corpora, and its tables."""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

import pytest

from benchmarks import choose
from benchmarks.job import Job, clean, start_up, write_rows
from benchmarks.measure import Run
from cascade.config import load_config


def test_a_job_is_one_run(tmp_path: Path) -> None:
    path = write_rows(["one two", "three", "One  two"], tmp_path / "rows.jsonl")
    job = clean({"stages": [{"use": "jaccard"}]}, path, tmp_path, 1, 60)
    assert (job.failure, job.removed, job.report["counts"]["read"]) == ("", {2: 0}, 3)
    failed = clean({"stages": [{"use": "jacard"}]}, path, tmp_path, 1, 60)
    assert failed.failure.startswith("status 2: ")
    assert not failed.removed
    assert clean("default", path, tmp_path, 1, 0.05).failure == "stopped after 0.05 s"
    assert {p.name for p in tmp_path.iterdir()} == {"rows.jsonl", "config.yaml"}


def test_candidates_are_configs_and_the_default_is_the_default() -> None:
    found = choose.candidates()
    assert list(found)[:2] == [choose.EXACT, "default"]
    for given in found.values():
        assert load_config(given).stages
    base = choose._stages(20, (24, 5))
    assert load_config(base).stages == load_config("default").stages


def test_pages_and_functions() -> None:
    pages = list(choose.pages(300))
    assert pages == list(choose.pages(300))
    assert len({page[:40] for page in pages}) == 3
    assert len(set(pages)) == 300
    assert {len(page.split()) for page in pages} == {300}
    sources = list(islice(choose.functions(Path(argparse.__file__).parent, 50), 60))
    assert len(sources) == 50
    assert all("def " in source and len(source.splitlines()) >= choose.LEAST_LINES for source in sources)


def test_configs_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    configs = {
        choose.EXACT: choose._stages(None, None),
        "default": "default",
        "steep": choose._stages(None, (1, 60)),  # finds hardly anything that is not equal
        "broken": {"stages": [{"use": "jacard"}]},
    }
    monkeypatch.setattr(choose, "candidates", lambda: configs)
    monkeypatch.setattr(choose, "WORK", tmp_path)
    words = [f"w{i}" for i in range(80)]
    rows = [words, words[::-1], words, [*words[:40], "other", *words[41:]], ["a", "few", "words"]]
    path = write_rows(map(" ".join, rows), tmp_path / "mine_1.jsonl")
    assert choose.main([str(path), "--quick", "--documents", "50"]) == 1

    said = capsys.readouterr().out.partition("\nmine_1, 0.0 MB\n")[2].splitlines()
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in said if line.startswith("|")]
    exact, default, steep, broken = lines[2:6]
    assert [*exact[:5], *exact[-3:]] == [choose.EXACT, "1", "1", "1", "1", "2", "0", "0"]
    assert [*default[:5], *default[-4:]] == ["default", "1", "1", "1", "1", "1.00", "2", "0", "0"]
    assert [*steep[:5], *steep[-3:]] == ["steep", "0", "0", "0", "0", "1", "1", "0"]
    assert broken[0] == "broken"
    assert "jacard" in broken[1]
    assert ["mine_1", "5", "0.0", "2", "1", "1", "1", "1"] in [line[:8] for line in lines]
    losses = lines[-6:]
    assert losses[0] == ["config", "mine", "english", "chinese", "templates", "functions"]
    assert [line[:2] for line in losses[2:]] == [
        [choose.EXACT, "0"],
        ["default", "0"],
        ["steep", "1"],
        ["broken", "failed"],
    ]


def test_start_up_is_measured_on_a_few_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def counting(given: object, path: Path, *rest: object) -> Job:
        seen.append(path.read_bytes().count(b"\n"))
        return Job(Run(1, float(len(seen)), 1, 0, 0, "", ""))

    monkeypatch.setattr("benchmarks.job.clean", counting)
    assert start_up("default", tmp_path, 1) == 2.0
    assert seen == [9, 9]
