"""Intervals and tests against scipy, published figures, and how often they hold what they are to hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cascade.evaluate.intervals import f1_of, mcnemar, share, share_by_document, wilson


@given(st.integers(1, 10**6), st.data())
def test_wilson_is_that_of_scipy(total, data):
    hits = data.draw(st.integers(0, total))
    confidence = data.draw(st.sampled_from([0.8, 0.95, 0.99]))
    theirs = stats.binomtest(hits, total).proportion_ci(confidence, method="wilson")
    assert wilson(hits / total, total, confidence) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@pytest.mark.parametrize(
    ("hits", "total", "interval"),
    [(81, 263, (0.2553, 0.3662)), (15, 148, (0.0624, 0.1605)), (0, 20, (0.0, 0.1611)), (1, 29, (0.0061, 0.1718))],
)
def test_wilson_as_published(hits, total, interval):
    """Newcombe, Two-Sided Confidence Intervals for the Single Proportion, Statistics in Medicine 17 (1998), table I."""
    found = share(hits, total)
    assert (round(found.low, 4), round(found.high, 4)) == interval
    assert found.value == hits / total


def test_a_share_of_nothing_is_unknown():
    nothing = share(0, 0)
    assert (nothing.value, nothing.low, nothing.high, str(nothing)) == (None, None, None, "unknown")
    assert share_by_document(np.zeros(5), np.zeros(5)).value is None
    assert share_by_document(np.zeros(0), np.zeros(0)).low is None
    assert f1_of(nothing).value is None
    assert str(share(1, 2)) == "0.5000 [0.0945, 0.9055]"


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 500))
def test_f1_and_its_ends_come_from_the_overlap(true, wrong, missed):
    overlap = share(true, true + wrong + missed)
    f1 = f1_of(overlap)
    if overlap.value is None:
        return
    assert f1.value == pytest.approx(2 * true / (2 * true + wrong + missed))
    assert f1.hits / f1.total == pytest.approx(f1.value)
    assert 0 <= f1.low <= f1.value <= f1.high <= 1
    if true and wrong + missed:
        precision, recall = true / (true + wrong), true / (true + missed)
        assert f1.value == pytest.approx(2 * precision * recall / (precision + recall))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.data())
def test_pairs_by_document_count_as_so_many_draws(total, data):
    hits = [data.draw(st.integers(0, t)) for t in total]
    found = share_by_document(np.array(hits, float), np.array(total, float))
    if not sum(total):
        assert found.value is None
        return
    plain = share(sum(hits), sum(total))
    assert (found.hits, found.total, found.value) == (plain.hits, plain.total, plain.value)
    assert found.low <= plain.low + 1e-12
    assert found.high >= plain.high - 1e-12


def test_documents_with_one_pair_each_are_independent_draws():
    hits = np.array([1.0, 0, 0, 1, 1, 0, 1])
    total = np.array([1.0, 1, 0, 1, 1, 0, 1])
    assert share_by_document(hits, total) == share(4.0, 5.0)
    # Ten pairs of each say no more than one would if they share their fate.
    assert share_by_document(10 * hits, 10 * total).low == pytest.approx(share(4, 5).low)


@pytest.mark.parametrize("sizes", [[2] * 300, [2] * 120 + [5] * 30 + [20] * 5, [2] * 60 + [60] * 4], ids=len)
@pytest.mark.parametrize("fate", ["pair", "document", "cluster"])
def test_the_intervals_of_samples_hold_the_truth(sizes, fate):
    """Clusters of which pairs, documents or whole clusters are lost: 95 % intervals of samples hold the recall."""
    rng = np.random.default_rng(5)
    left, right, cluster, row = [], [], [], 0
    for number, size in enumerate(sizes):
        i, j = np.triu_indices(size, 1)
        left, right, cluster = [*left, *(i + row)], [*right, *(j + row)], [*cluster, *[number] * len(i)]
        row += size
    left, right, cluster = np.array(left), np.array(right), np.array(cluster)
    documents = 3000
    lost = {
        "pair": rng.random(len(left)) < 0.1,
        "document": (rng.random(documents) < 0.1)[left] | (rng.random(documents) < 0.1)[right],
        "cluster": (rng.random(len(sizes)) < 0.15)[cluster],
    }[fate]
    total = np.bincount(left, minlength=documents) + np.bincount(right, minlength=documents)
    hits = np.bincount(left[~lost], minlength=documents) + np.bincount(right[~lost], minlength=documents)
    recall, held, rounds = hits.sum() / total.sum(), 0, 300
    for _ in range(rounds):
        drawn = rng.choice(documents, 300, replace=False)
        found = share_by_document(hits[drawn].astype(float), total[drawn].astype(float))
        held += found.value is None or found.low <= recall <= found.high
    assert held / rounds >= 0.92


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_that_of_scipy(a, b):
    found = mcnemar(a, b)
    if a + b < 25:
        assert found.test == "exact"
        expected = stats.binomtest(a, a + b, 0.5).pvalue if a + b else 1.0
    else:
        assert found.test == "chi-square"
        expected = stats.chi2.sf(max(abs(a - b) - 1, 0) ** 2 / (a + b), 1)
    assert found.p_value == pytest.approx(expected, rel=1e-9)
    assert (found.only_a, found.only_b) == (a, b)


def test_mcnemar_of_many():
    """Agresti, Categorical Data Analysis, table 10.1: 150 and 86; and numbers that a plain power would overflow at."""
    found = mcnemar(150, 86)
    assert found.p_value == pytest.approx(stats.chi2.sf(63**2 / 236, 1))
    assert mcnemar(0, 0).p_value == 1
    assert mcnemar(10**9, 0).p_value == 0
    assert mcnemar(10**9, 10**9).p_value == 1
