"""jaccard and containment against counting sets, at thresholds where floating point bites, and their merge kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade.kernels.jaccard import long_enough, overlaps
from cascade.pairs import Pairs
from cascade.registry import stage_class
from cascade.stage import Facts
from cascade.text.buffer import Shingles

Jaccard, Containment = stage_class("jaccard"), stage_class("containment")
BITING = (0.56, 0.8, 0.1, 0.3, 0.7, 0.9, 1.0, 0.0, 1 / 3, 2 / 3, 14 / 25)


def csr(sets):
    rows = [np.array(sorted(s), np.uint64) for s in sets]
    indptr = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(r) for r in rows], out=indptr[1:])
    return Shingles(np.concatenate([*rows, np.empty(0, np.uint64)]), indptr)


@dataclass
class Sets:
    """A corpus and a batch in one, made of sets of integers."""

    sets: list

    def shingles(self, shingler=None):
        return csr(self.sets)

    def overlaps(self, left, right, least, shingler=None):
        all_sets = csr(self.sets)
        return overlaps(all_sets.hashes, all_sets.indptr[:-1], all_sets.indptr[1:], left, right, least)


def accepted(stage, sets):
    """{(a, b): score} of the pairs that a stage accepts."""
    corpus = Sets(sets)
    predicate = stage.bind(Facts(len(sets)))
    right, left = np.tril_indices(len(sets), -1)
    pairs = Pairs(left.astype(np.int64), right.astype(np.int64))
    found = predicate.filter(pairs, predicate.columns(corpus), corpus)
    return {(int(left[i]), int(right[i])): s for i, s in zip(found.index, found.score, strict=True)}


families = st.lists(st.sets(st.integers(0, 40)), max_size=12)


@given(sets=families, threshold=st.one_of(st.sampled_from(BITING), st.floats(0, 1)))
@settings(deadline=None, max_examples=200)
def test_jaccard_is_counted_exactly(sets, threshold):
    expected = oracle.near_pairs(sets, oracle.jaccard, threshold)
    found = accepted(Jaccard(min_jaccard=threshold), sets)
    assert found == {(a, b): oracle.jaccard(sets[a], sets[b]) for a, b in expected}


@given(sets=families, threshold=st.one_of(st.sampled_from(BITING), st.floats(0, 1)))
@settings(deadline=None, max_examples=200)
def test_containment_is_counted_exactly(sets, threshold):
    expected = oracle.near_pairs(sets, oracle.containment, threshold)
    found = accepted(Containment(min_containment=threshold), sets)
    assert found == {(a, b): oracle.containment(sets[a], sets[b]) for a, b in expected}


@pytest.mark.parametrize("threshold", [k / m for m in range(1, 41) for k in range(m + 1)])
def test_a_pair_exactly_at_the_threshold_is_accepted_and_one_shingle_less_is_not(threshold):
    """Every fraction with a denominator up to 40, as the floating-point number it becomes."""
    for union in range(1, 41):
        common = round(threshold * union)
        if common < 1 or common / union != threshold:
            continue
        a, b = set(range(common)), set(range(union))
        assert (0, 1) in accepted(Jaccard(min_jaccard=threshold), [a, b])
        assert ((0, 1) in accepted(Jaccard(min_jaccard=threshold), [a - {0}, b])) == (threshold == 0)


@given(sets=families, least=st.integers(-1, 45), data=st.data())
@settings(deadline=None, max_examples=200)
def test_overlaps_counts_or_gives_up(sets, least, data):
    if not sets:
        return
    rows = st.lists(st.integers(0, len(sets) - 1), min_size=1, max_size=20)
    left = np.array(data.draw(rows), np.int64)
    right = np.array(data.draw(st.lists(st.integers(0, len(sets) - 1), min_size=len(left), max_size=len(left))))
    found = Sets(sets).overlaps(left, right, np.full(len(left), least, np.int64))
    for a, b, c in zip(left, right, found, strict=True):
        common = len(sets[a] & sets[b])
        assert c == (common if common >= least else -1)


@given(small=st.sets(st.integers(0, 5000), max_size=20), step=st.integers(1, 7), least=st.integers(0, 20))
@settings(deadline=None, max_examples=100)
def test_sets_of_very_different_size_are_searched_not_walked(small, step, least):
    large = set(range(0, 5000, step))
    both = Sets([small, large])
    for left, right in ((0, 1), (1, 0)):
        (found,) = both.overlaps(np.array([left]), np.array([right]), np.array([least]))
        common = len(small & large)
        assert found == (common if common >= least else -1)


def test_empty_documents_are_long_enough_for_nothing():
    length = np.array([0, 0, 4, 5], np.int64)
    left, right = np.array([0, 0, 2, 2], np.int64), np.array([1, 2, 3, 3], np.int64)
    assert long_enough(length, left, right, 0.0).tolist() == [False, False, True, True]
    assert long_enough(length, left, right, 0.8).tolist() == [False, False, True, True]
    assert long_enough(length, left, right, 0.81).tolist() == [False, False, False, False]
