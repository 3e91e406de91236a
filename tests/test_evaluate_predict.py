"""What models expect of pairs, against sets in Python, the stages themselves and explain."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from corpora import mixed

from cascade import dedupe, explain, shingle_hashes
from cascade.config import load_config
from cascade.evaluate.predict import (
    LEAST,
    Said,
    curve,
    expected,
    plan_of,
    recall_expected,
    said,
    similarities,
    unmodelled,
)
from cascade.text.shingle import Char
from cascade.view import CorpusView

TEXTS = [*mixed(40), "", "…", "one"]
EVERY = {
    "shingle": {"n": 2},
    "stages": [
        {"use": "simhash", "max_hamming": 12},
        {"use": "simhash", "name": "rare", "weights": "idf", "max_hamming": 30},
        {"use": "minhash", "bands": 6, "rows_per_band": 3},
        {"use": "jaccard", "min_jaccard": 0.4},
        {"use": "jaccard", "name": "letters", "min_jaccard": 0.5, "shingle": {"by": "char", "n": 3}},
        {"use": "edit_distance", "min_similarity": 0.6},
    ],
    "resolve": {"pairs": "all"},
}


def all_pairs(n):
    left, right = np.array(list(combinations(range(n), 2)), np.int64).T
    return np.ascontiguousarray(left), np.ascontiguousarray(right)


def plain_jaccard(a, b, shingler, seed=0):
    one, other = (set(shingle_hashes(text, shingler, seed=seed).tolist()) for text in (a, b))
    return len(one & other) / len(one | other) if one and other else 0.0


@pytest.mark.parametrize("n", [1, 3])
def test_similarities_are_those_of_sets(n):
    result = dedupe(TEXTS, {"shingle": {"by": "char", "n": n}, "stages": []})
    view = CorpusView(result.corpus.texts, np.arange(len(TEXTS)), Char(n=n), 0)
    left, right = all_pairs(len(TEXTS))
    plain = [plain_jaccard(TEXTS[i], TEXTS[j], Char(n=n)) for i, j in zip(left, right, strict=True)]
    assert similarities(view, left, right).tolist() == pytest.approx(plain)
    assert similarities(view, left[:0], right[:0]).tolist() == []


def test_stages_say_of_many_pairs_what_explain_says_of_each():
    result = dedupe(TEXTS, EVERY)
    rows = np.unique(result.outcome.stands_for)
    left, right = all_pairs(len(rows))
    chosen = np.random.default_rng(0).choice(len(left), 40, replace=False)
    confirmed = np.flatnonzero([(a, b) in set(zip(result.pairs.left, result.pairs.right, strict=True))
                                for a, b in zip(rows[left], rows[right], strict=True)])  # fmt: skip
    assert len(confirmed)
    chosen = np.concatenate((chosen, confirmed[:10]))
    left, right = rows[left[chosen]], rows[right[chosen]]
    told = said(plan_of(result), result, left, right)
    assert [each.name for each in told] == ["simhash", "rare", "minhash", "jaccard", "letters", "edit_distance"]
    for i, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        verdicts = explain(EVERY, TEXTS, a, b, by="row").stages
        assert [each.accepted[i] for each in told] == [verdict.accepted for verdict in verdicts]
        for each, verdict in zip(told, verdicts, strict=True):
            assert (each.expected is None) == (verdict.predicted_recall is None)
            whole = all(shingle_hashes(TEXTS[row], load_config(EVERY).shingle).size for row in (a, b))
            if each.expected is not None and whole:
                assert each.jaccard[i] == pytest.approx(verdict.jaccard)
                assert each.expected[i] == pytest.approx(verdict.predicted_recall, abs=1e-4)


def test_improbability():
    likely = np.array([1.0, 0.25, 0.25, 0.0, 1.0])
    each = Said("x", np.array([True, True, False, True, False]), likely, likely)
    most = -np.log2(LEAST)
    assert each.improbability.tolist() == pytest.approx([0, 2, -np.log2(0.75), most, most])
    assert Said("x", np.array([True, False]), None, None).improbability.tolist() == [0, 0]


def test_expected_recall_is_the_product_over_the_stages_that_have_a_model():
    result = dedupe(TEXTS, EVERY)
    plan = plan_of(result)
    assert unmodelled(plan) == ("rare", "edit_distance")
    rows = np.unique(result.outcome.stands_for)
    left, right = (rows[ends] for ends in all_pairs(len(rows)))
    found = recall_expected(plan, result, left, right)
    told = said(plan, result, left, right)
    plain = np.prod([each.expected for each in told if each.expected is not None], axis=0)
    assert found.tolist() == pytest.approx(plain.tolist())
    assert 0 < found.sum() < len(left)


def test_the_curve_of_a_plan():
    result = dedupe(["a"], {"stages": [{"use": "minhash", "bands": 3, "rows_per_band": 2}, {"use": "jaccard"}]})
    points = curve(plan_of(result).stages, 6)
    assert points == tuple(
        (round(j, 6), 1 - (1 - j**2) ** 3 if j >= 0.8 - 1e-9 else 0.0) for j in (0, 0.2, 0.4, 0.6, 0.8, 1.0)
    )


def test_no_pair_is_expected_to_be_found_where_there_is_none():
    result = dedupe(["a", "b"], EVERY)
    plan = plan_of(result)
    none = np.empty(0, np.int64)
    assert recall_expected(plan, result, none, none).tolist() == []
    assert expected(plan.stages[0], np.empty(0)).tolist() == []
    assert all(len(each.accepted) == 0 for each in said(plan, result, none, none))
