"""Runs in processes of their own: what they tell, and what becomes of what they raise. No time is tested."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from cascade import ConfigError, InputError, StageError
from cascade.config import load_config
from cascade.evaluate import measure as module
from cascade.evaluate.measure import Measured, Run, measure, run_apart
from cascade.evaluate.peak import PeakMeter, peak
from cascade.given import as_paths
from cascade.result import StageReport

TEXTS = ["a b c d e f g", "a b c d e f g h", "A b c d e f g", "第三篇文章在此", ""]
CONFIG = {"shingle": {"n": 2}, "stages": [{"use": "minhash"}, {"use": "jaccard"}]}
COUNTS = {"read": 5, "kept": 3, "removed_exact": 1, "removed_near": 1, "rejected": 0}
STEPS = ["read", "collapse", "observe", "columns", "candidates", "pairs"]


@pytest.mark.parametrize("data", [TEXTS, pa.table({"text": TEXTS})], ids=["list", "table"])
def test_data_that_is_handed_over(data):
    run = run_apart(load_config(CONFIG), data, 1)
    assert dict(run.counts) == COUNTS
    assert list(run.steps) == STEPS
    assert {"read", "columns", "pairs"} <= set(run.peaks)
    assert all(most > 10_000_000 for most in run.peaks.values())
    assert 0 < run.seconds < run.process_seconds
    assert [(s.name, s.pairs_in, s.pairs_out) for s in run.stages] == [("minhash", 1, 1), ("jaccard", 1, 1)]


def test_paths_are_cleaned_as_by_the_command_and_nothing_stays(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in enumerate(TEXTS)))
    (tmp_path / "work").mkdir()
    run = run_apart(load_config(CONFIG), [path], 1, tmp_path / "work")
    assert dict(run.counts) == COUNTS
    assert list(run.steps) == [*STEPS, "write"]
    assert list((tmp_path / "work").iterdir()) == []
    with pytest.raises(InputError, match="there is no such file"):
        run_apart(load_config(CONFIG), tmp_path / "none.jsonl")


STAGES = """
import os
from cascade import Accepted, Predicate, Stage
import numpy as np

class Noisy(Stage):
    def bind(self, facts):
        print("a stage that talks")
        return All()

class Dies(Stage):
    def bind(self, facts):
        os._exit(7)

class All(Predicate):
    def filter(self, pairs, columns, corpus):
        return Accepted.where(np.ones(len(pairs), bool), np.ones(len(pairs)))
"""


def test_stages_of_third_parties_are_found_and_may_talk_and_die(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "talkers.py").write_text(STAGES)
    monkeypatch.syspath_prepend(tmp_path)
    noisy = load_config({"stages": [{"use": "talkers:Noisy"}]})
    assert run_apart(noisy, TEXTS).counts["kept"] == 1
    with pytest.raises(StageError, match="ended with status 7: no message"):
        run_apart(load_config({"stages": [{"use": "talkers:Dies"}]}), TEXTS)


def test_what_a_run_raises_comes_back_as_it_was():
    texts = [f"text number {i}" for i in range(20_001)]
    with pytest.raises(StageError, match="no stage offers blocking keys"):
        run_apart(load_config({"stages": [{"use": "edit_distance"}]}), texts)
    error = module._raised("ConfigError", ["one", "two"])
    assert isinstance(error, ConfigError)
    assert error.problems == ("one", "two")


def test_data_that_no_other_process_can_have():
    with pytest.raises(InputError, match="cannot hand list to a process that is measured"):
        run_apart(load_config(CONFIG), [{"text": "a", "made by": lambda: None}])


def stage(name: str, seconds: float) -> StageReport:
    return StageReport(name, name, "filters", 1, 1, seconds, None)


def test_configs_take_turns_and_medians_count(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []

    def fake(config, data, workers, work_dir):
        name = config.stages[0].name
        asked.append(name)
        turn = float(len(asked))
        peaks = {"read": int(turn), "pairs": 10 * int(turn)}
        return Run(turn, turn + 1, {"read": turn}, peaks, (stage(name, turn),), {"read": 1})

    monkeypatch.setattr(module, "run_apart", fake)
    configs = [load_config({"stages": [{"use": "minhash", "name": name}]}) for name in "ab"]
    a, b = measure(configs, TEXTS, rounds=3)
    assert asked == ["a", "b", "b", "a", "a", "b", "b", "a"]
    assert (a.seconds, a.process_seconds, a.peak_bytes, dict(a.stages)) == (5, 6, 50, {"a": 5})
    assert (b.seconds, dict(b.steps), dict(b.peaks)) == (6, {"read": 6}, {"read": 6, "pairs": 60})
    assert [run.seconds for run in a.runs] == [4, 5, 8]
    assert Measured.of(a.runs[:2]).seconds == 4.5
    with pytest.raises(ConfigError, match="rounds is 0"):
        measure(configs, TEXTS, rounds=0)


def test_what_is_taken_for_paths():
    assert as_paths("a.jsonl") == ["a.jsonl"]
    assert as_paths([Path("a"), Path("b")]) == [Path("a"), Path("b")]
    assert as_paths(["a", "b"]) is None
    assert as_paths([]) is None
    assert as_paths(pa.table({"text": ["a"]})) is None


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="no peak can be reset here")
def test_peaks_are_told_step_by_step():
    meter = PeakMeter()
    meter.start("read", None)
    block = bytearray(64_000_000)
    block[::4096] = b"x" * len(block[::4096])
    meter.advance("read", 1)
    meter.finish("read")
    del block
    meter.start("columns", 1)
    meter.finish("columns")
    for step in ("observe", "pairs", "write"):
        meter.start(step, 1)
        meter.finish(step)
    meter.end()
    found = meter.bytes_by_step
    assert list(found) == [
        "start", "read", "collapse", "columns", "candidates", "observe", "pairs", "decide", "write", "end",
    ]  # fmt: skip
    assert found["read"] > found["start"] + 50_000_000
    assert peak() > 10_000_000
