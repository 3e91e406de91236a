"""What the benchmarks measure with: the corpus generator, exact truth, the rates, and the process runner."""

from __future__ import annotations

import json
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.corpus import Spec, corpus, texts
from benchmarks.labelled import clustered_pairs, scores
from benchmarks.measure import run
from benchmarks.truth import join, recall_and_precision, true_pairs
from benchmarks.words import words


@pytest.mark.parametrize("language", ["english", "chinese"])
def test_a_corpus_is_determined_by_its_parameters(language: str, tmp_path: Path) -> None:
    spec = Spec(300, language)
    path = corpus(spec, tmp_path)
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    made = list(texts(spec))
    assert [row["id"] for row in rows] == list(range(300))
    assert [row["text"] for row in rows] == made
    assert made != list(texts(Spec(300, language, seed=1)))
    assert len(set(made)) <= 300 - 6  # exact copies
    found = {t: len(true_pairs(path, language, t)) for t in (0.5, 0.8, 1.0)}
    assert found[0.5] > found[0.8] > found[1.0] >= 6


@pytest.mark.parametrize("shape", ["documents", "short"])
def test_a_corpus_does_not_depend_on_how_much_is_drawn_at_a_time(shape: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = Spec(100, shape=shape)
    whole = list(texts(spec))
    monkeypatch.setattr("benchmarks.corpus.SLICE", 7)
    assert list(texts(spec)) == whole


def test_short_texts_have_near_copies_of_their_own() -> None:
    made = [text.split() for text in texts(Spec(1_000, shape="short"))]
    assert len(made) == 1_000
    assert min(map(len, made)) >= 4
    assert max(map(len, made)) <= 31
    assert len({tuple(text) for text in made}) < 990  # exact copies
    heads = {tuple(text) for text in made}
    assert sum(tuple(text[:-1]) in heads for text in made) >= 30  # longer or shorter by one word
    assert "short" in Spec(1_000, shape="short").name


def shingles(text: str, language: str) -> set[tuple[str, ...]]:
    found = words(text, language)
    return {tuple(found[i : i + 5]) for i in range(max(1, len(found) - 4))} if found else set()


@given(
    st.lists(st.text("ab \n", max_size=30), max_size=12),
    st.sampled_from([0.3, 0.5, 0.56, 0.8, 1.0]),
    st.sampled_from(["english", "chinese"]),
)
@settings(deadline=None, max_examples=100)
def test_truth_equals_all_pairs(items: list[str], t: float, way: str) -> None:
    items = [item.replace("b", "中") for item in items] if way == "chinese" else items
    sets = [shingles(item, way) for item in items]
    expected = [
        [i, j]
        for i, j in combinations(range(len(items)), 2)
        if sets[i] and sets[j] and len(sets[i] & sets[j]) / len(sets[i] | sets[j]) >= t - 1e-9
    ]
    assert sorted(join(items, way, t).tolist()) == expected


def test_truth_is_kept_beside_the_corpus(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(["a b", "c", "a b"])))
    assert true_pairs(path, "english", 0.8).tolist() == [[0, 2]]
    path.unlink()
    assert true_pairs(path, "english", 0.8).tolist() == [[0, 2]]


def test_recall_and_precision_of_removals() -> None:
    pairs = np.array([[0, 1], [1, 2], [4, 5]])
    assert recall_and_precision(pairs, np.array([1, 5]), 7) == (1.0, 1.0)
    assert recall_and_precision(pairs, np.array([1]), 7) == (2 / 3, 1.0)
    assert recall_and_precision(pairs, np.array([0, 1, 3]), 7) == (2 / 3, 1 / 3)  # 0's only partner is gone too
    assert recall_and_precision(np.zeros((0, 2), np.int64), np.zeros(0, np.int64), 7) == (1.0, 1.0)


def test_pairs_and_scores_of_clusters() -> None:
    rows = [{"cluster": 0, "id": 3}, {"cluster": 0, "id": "3"}, {"cluster": 1, "id": 7}, {"cluster": 0, "id": 8}]
    assert len(clustered_pairs(rows)) == 3
    assert scores(4, 2, 8) == (0.5, 0.25, pytest.approx(1 / 3))
    assert scores(0, 0, 8) == (1.0, 0.0, 0.0)


def test_a_process_is_measured_with_its_children(tmp_path: Path) -> None:
    child = "import time; block = bytearray(80_000_000); time.sleep(0.8)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}]); print('done')"
    result = run([sys.executable, "-c", code], 1, tmp_path, 60)
    assert (result.status, result.output) == (0, "done\n")
    assert result.seconds >= 0.8
    assert result.peak > 80_000_000


def test_a_process_is_measured_apart_from_who_measures(tmp_path: Path) -> None:
    held = np.ones(400_000_000, np.uint8)
    result = run([sys.executable, "-c", "block = bytearray(50_000_000)"], 1, tmp_path, 60)
    assert result.status == 0
    assert 50_000_000 < result.peak < held.nbytes // 2


def test_memory_of_files_is_told_apart(tmp_path: Path) -> None:
    code = """if True:
        import mmap, time
        file = open("pages", "w+b")
        file.truncate(100_000_000)
        pages = mmap.mmap(file.fileno(), 0)
        for at in range(0, len(pages), 4096):
            pages[at] = 1
        time.sleep(0.8)"""
    result = run([sys.executable, "-c", code], 1, tmp_path, 60, data=80_000_000)
    assert result.status == 0
    assert 0 < result.private < 50_000_000
    assert result.peak > 100_000_000


def test_memory_can_be_bounded(tmp_path: Path) -> None:
    code = "block = bytearray(200_000_000); print('got it')"
    assert run([sys.executable, "-c", code], 1, tmp_path, 60, data=150_000_000).output == ""
    assert run([sys.executable, "-c", code], 1, tmp_path, 60, data=400_000_000).output == "got it\n"


def test_a_command_that_is_not_there_fails_with_its_name(tmp_path: Path) -> None:
    result = run(["no-such-program"], 1, tmp_path, 60)
    assert result.status == 127
    assert "no-such-program" in result.errors


def test_a_process_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    result = run([sys.executable, "-c", "import time; time.sleep(60)"], 1, tmp_path, 0.5)
    assert result.status == -9
    assert result.seconds < 10
