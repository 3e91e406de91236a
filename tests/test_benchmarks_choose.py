"""The comparison of configs over many corpora: one run as a job, its corpora, and its tables on made-up runs."""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path
from typing import Any

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


def job(removed: dict[int, int], cpu: float, candidates: int, middle: int) -> Job:
    stages = [
        {"use": "minhash", "pairs_in": candidates, "pairs_out": candidates},
        {"use": "simhash", "pairs_in": candidates, "pairs_out": middle},
        {"use": "jaccard", "pairs_in": middle, "pairs_out": len(removed)},
    ]
    return Job(Run(cpu, cpu, 10**8, 0, 0, "", ""), "", {"stages": stages, "counts": {"read": 1000}}, removed)


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Runs that find more the later they come, and one that fails."""
    answers = {
        choose.EXACT: job({1: 0, 2: 0}, 4.0, 900, 900),
        "default": job({1: 0, 2: 0}, 2.0, 90, 30),
        "no simhash": job({1: 0, 3: 0}, 3.0, 90, 90),
        "minhash auto": Job(Run(1, 1, 1, 0, 1, "", ""), "status 1: broken"),
    }
    by_config = {str(given): answers[name] for name, given in choose.candidates().items() if name in answers}
    monkeypatch.setattr(choose, "clean", lambda given, *rest: by_config[str(given)])
    monkeypatch.setattr(choose, "start_up", lambda *given: 1.0)
    monkeypatch.setattr(choose, "WORK", tmp_path)


def test_configs_are_compared(made_up: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_rows(["a", "b"], tmp_path / "mine.jsonl")
    configs = [choose.EXACT, "default", "no simhash", "minhash auto"]
    assert choose.main([str(path), "--quick", "--config", *configs]) == 1

    def cells(line: str) -> list[str]:
        return [cell.strip() for cell in line.strip("|").split("|")]

    lines = [cells(line) for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert ["no simhash", "90", "90", "2", "2.00", "3.00", "100", "2", "1", "1"] in lines
    assert ["minhash auto", "status 1: broken", *[""] * 8] in lines
    assert ["mine", "1,000", "0.0", "2", "90", "30", "2", "1.00"] in lines
    times, losses = lines[-12:-6], lines[-6:]
    assert times[0] == losses[0] == ["config", "mine", "english", "chinese", "templates", "functions"]
    assert [line[:2] for line in times[2:]] == [
        [choose.EXACT, "3.00"],
        ["default", "1.00"],
        ["no simhash", "2.00"],
        ["minhash auto", "failed"],
    ]
    assert [line[2] for line in losses[2:]] == ["0", "0", "1", "failed"]


def test_start_up_is_measured_on_a_few_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def counting(given: Any, path: Path, *rest: Any) -> Job:
        seen.append(path.read_bytes().count(b"\n"))
        return job({}, float(len(seen)), 0, 0)

    monkeypatch.setattr("benchmarks.job.clean", counting)
    assert start_up("default", tmp_path, 1) == 2.0
    assert seen == [9, 9]
