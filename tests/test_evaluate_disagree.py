"""Disagreeing pairs against loops over all pairs of documents, and what is shown of each."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
from corpora import mixed
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade import dedupe
from cascade.evaluate.compare import contender, named
from cascade.evaluate.disagree import MOST_JUDGED, claimed, claims, disagreements, duplicates
from cascade.evaluate.fate import raw_texts
from cascade.evaluate.truth import Truth

CONFIGS = [
    {"shingle": {"n": 1}, "stages": [{"use": "jaccard", "min_jaccard": 0.5}]},
    {
        "shingle": {"n": 2},
        "stages": [{"use": "minhash", "bands": 4, "rows_per_band": 2}],
        "normalize": {"case": "keep"},
    },
    {"shingle": {"n": 1}, "exact": False, "stages": [{"use": "minhash", "bands": 2, "rows_per_band": 1}]},
    {"stages": [], "normalize": {"punctuation": "drop"}},
]


def contenders(texts, *configs):
    return [contender(name, config, texts, 1) for name, config in named(configs).items()]


def related(outcome):
    """All pairs of rows that an outcome takes for duplicates, written out."""
    pairs = set(zip(outcome.pairs.left.tolist(), outcome.pairs.right.tolist(), strict=True))
    for_ = outcome.stands_for.tolist()
    return {
        (i, j)
        for i, j in combinations(range(len(for_)), 2)
        if for_[i] == for_[j] or (min(for_[i], for_[j]), max(for_[i], for_[j])) in pairs
    }


@given(
    st.lists(st.sampled_from(["a b", "A b", "a b.", "a b c", "a c", "x", "", "b a"]), max_size=9),
    st.sampled_from(CONFIGS),
    st.sampled_from(CONFIGS),
)
@settings(deadline=None, max_examples=60)
def test_claims_against_all_pairs(texts, one, other):
    a, b = contenders(texts, one, other)
    mine, theirs = related(a.result.outcome), related(b.result.outcome)
    for each, every in ((a, mine), (b, theirs)):
        left, right = (ends.tolist() for ends in claimed(each.result.outcome))
        pairs = list(zip(left, right, strict=True))
        assert pairs == sorted(set(pairs))
        assert set(pairs) <= every
        # Equal texts count once, and nothing is left out: who is related to whom follows from the pairs.
        for_ = each.result.outcome.stands_for
        first = {row: int(np.flatnonzero(for_ == for_[row])[0]) for row in range(len(texts))}
        again = {
            (i, j)
            for i, j in combinations(range(len(texts)), 2)
            if first[i] == first[j] or tuple(sorted((first[i], first[j]))) in pairs
        }
        assert again == every
    found = claims(a.result.outcome, b.result.outcome)
    only_a, only_b = (set(zip(*(e.tolist() for e in ends), strict=True)) for ends in (found.only_a, found.only_b))
    assert only_a == set(zip(*(e.tolist() for e in claimed(a.result.outcome)), strict=True)) - theirs
    assert only_b == set(zip(*(e.tolist() for e in claimed(b.result.outcome)), strict=True)) - mine
    assert found.both == len(claimed(a.result.outcome)[0]) - len(only_a)


def slow_surprise(pair):
    """From what explain's verdicts say: bits of what each stage said, where a model expects something of it."""
    bits = 0.0
    for verdict in (*pair.verdicts[0], *pair.verdicts[1]):
        if verdict.predicted_recall is not None:
            likely = verdict.predicted_recall if verdict.accepted else 1 - verdict.predicted_recall
            bits -= np.log2(max(likely, 2.0**-64))
    return bits


def test_the_most_surprising_come_first():
    texts = mixed(80, seed=3)
    bands = {"use": "minhash", "bands": 5, "rows_per_band": 3}
    a, b = contenders(
        texts,
        {"shingle": {"n": 2}, "stages": [bands, {"use": "jaccard", "min_jaccard": 0.5}]},
        {"shingle": {"n": 2}, "stages": [{"use": "simhash", "max_hamming": 9}]},
    )
    found = claims(a.result.outcome, b.result.outcome)
    pairs = disagreements(a, b, found, None, shown=100, seed=0)
    assert len(pairs) == len(found.only_a[0]) + len(found.only_b[0]) > 5
    assert [pair.surprise for pair in pairs] == sorted((pair.surprise for pair in pairs), reverse=True)
    for pair in pairs:
        assert pair.surprise == pytest.approx(slow_surprise(pair), abs=0.01)
        assert pair.texts == (texts[pair.rows[0]], texts[pair.rows[1]])
        assert (pair.difference.left, pair.difference.right) == pair.texts
        accepts = all(verdict.accepted for verdict in pair.verdicts[0])
        assert accepts == (pair.accepted_by == a.name) == (pair.refused_by == b.name)
        assert pair.duplicate is None
        assert pair.clearness is None if pair.refused_by == b.name else pair.clearness == abs(pair.jaccard[0] - 0.5)
    assert disagreements(a, b, found, None, shown=2, seed=0) == pairs[:2]
    assert disagreements(a, b, found, None, shown=0, seed=0) == ()


def test_exact_tests_surprise_nobody_and_the_clearest_comes_first():
    texts = ["a b c d e f g h i j", "a b c d e f g h i", "a b c d e f g", "a b c d e"]
    loose, strict = ({"shingle": {"n": 1}, "stages": [{"use": "jaccard", "min_jaccard": t}]} for t in (0.6, 0.9))
    a, b = contenders(texts, loose, strict)
    pairs = disagreements(a, b, claims(a.result.outcome, b.result.outcome), None, shown=9, seed=0)
    assert [pair.rows for pair in pairs] == [(0, 2), (2, 3), (1, 2)]
    assert [pair.surprise for pair in pairs] == [0, 0, 0]
    assert [round(pair.clearness, 6) for pair in pairs] == [0.2, round(0.9 - 5 / 7, 6), round(0.9 - 7 / 9, 6)]


def test_a_stage_that_both_have_does_not_count():
    shared = {"use": "minhash", "bands": 2, "rows_per_band": 1}
    base = {"shingle": {"n": 1}, "stages": [shared, {"use": "jaccard", "min_jaccard": 0.3}]}
    other = {"shingle": {"n": 1}, "stages": [{**shared, "name": "first"}, {"use": "jaccard", "min_jaccard": 0.9}]}
    a, b = contenders(mixed(60, seed=1), base, other)
    pairs = disagreements(a, b, claims(a.result.outcome, b.result.outcome), None, shown=50, seed=0)
    assert pairs
    assert {pair.surprise for pair in pairs} == {0.0}


def test_of_very_many_pairs_some_are_drawn(monkeypatch):
    monkeypatch.setattr("cascade.evaluate.disagree.MOST_JUDGED", 3)
    assert MOST_JUDGED > 3
    texts = [f"{'a ' * 5}{i}" for i in range(8)]
    a, b = contenders(
        texts, {"shingle": {"by": "char", "n": 1}, "stages": [{"use": "jaccard", "min_jaccard": 0.2}]}, {"stages": []}
    )
    found = claims(a.result.outcome, b.result.outcome)
    assert len(found.only_a[0]) == 28
    drawn = [disagreements(a, b, found, None, shown=9, seed=seed) for seed in (0, 0, 1)]
    assert [len(pairs) for pairs in drawn] == [3, 3, 3]
    assert [p.rows for p in drawn[0]] == [p.rows for p in drawn[1]] != [p.rows for p in drawn[2]]


def rows(*values):
    return np.array(values, np.int64)


def test_what_a_truth_says_of_pairs():
    twin_of = rows(0, 1, 0, 3, 4)
    whole = Truth("t", 5, twin_of, rows(0), rows(3))
    asked = rows(0, 2, 0, 1), rows(2, 3, 1, 4)
    assert duplicates(None, *asked) == [None] * 4
    assert duplicates(whole, *asked) == [True, True, False, False]
    labelled = Truth("t", 5, twin_of, rows(0), rows(3), refuted=(rows(0), rows(1)))
    assert duplicates(labelled, *asked) == [True, True, False, None]
    sampled = Truth("t", 5, twin_of, rows(0), rows(3), sampled=rows(0))
    assert duplicates(sampled, *asked) == [True, True, False, None]


@pytest.mark.parametrize("make", [list, pa.Table.from_pylist, pandas.DataFrame, polars.DataFrame])
def test_texts_come_as_they_were_given(make):
    texts = ["Ünï  CÖDE", "第三篇", None, "x"]
    result = dedupe(make([{"id": i, "text": text} for i, text in enumerate(texts)]), {"stages": []})
    assert raw_texts(result, rows(0, 2)) == {0: "Ünï  CÖDE", 2: "x"}
    assert raw_texts(result, rows()) == {}


def test_texts_of_plain_lists_and_of_files(tmp_path: Path):
    assert raw_texts(dedupe(["A  b", "c"], {"stages": []}), rows(0)) == {0: "A  b"}
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"meta": {"text": t}}) + "\n" for t in ("A  b", "c")))
    result = dedupe(path, {"stages": [], "input": {"text": "meta.text"}})
    assert raw_texts(result, rows(0, 1)) == {0: "A  b", 1: "c"}
