"""jaccard and containment against counting sets, at thresholds where floating point bites: bounds, keys and merges."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade.kernels.jaccard import bounds, overlaps
from cascade.pairs import Pairs
from cascade.registry import stage_class
from cascade.stage import Facts
from cascade.text.buffer import Shingles

Jaccard, Containment = stage_class("jaccard"), stage_class("containment")
BITING = (0.56, 0.8, 0.1, 0.28, 0.3, 0.7, 0.9, 1.0, 0.0, 1e-9, 2e-9, 1 / 3, 2 / 3, 14 / 25, 0.56 + 1e-9, 2 / 3 + 1e-9)


def spread(number):
    """A hash for a number: a bijection, so that sets of numbers and of hashes have the same sizes."""
    return number * 0x9E3779B97F4A7C15 % 2**64


def csr(sets):
    rows = [np.array(sorted(map(spread, s)), np.uint64) for s in sets]
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
        return overlaps(all_sets.hashes, all_sets.indptr[:-1], all_sets.indptr[1:], False, left, right, least)


def bound(stage, sets, slots=None, twins=False):
    """The predicate of a stage that has seen the sets in a first pass, if it asks for one."""
    summary = stage.observe(Facts(len(sets), enumerates=True, text_bytes=7 * sum(map(len, sets))))
    if summary is not None:
        if slots is not None:
            summary.table = np.zeros(slots, np.uint8)
        summary.add(Sets([set(x) for x in {frozenset(x) for x in sets}] if twins else sets))
    return stage.bind(Facts(len(sets), summary=summary, twins=twins))


def every_pair(sets):
    right, left = np.tril_indices(len(sets), -1)
    return Pairs(left.astype(np.int64), right.astype(np.int64))


def accepted(stage, sets, slots=None, twins=False):
    """{(a, b): score} of the pairs that a stage accepts."""
    corpus = Sets(sets)
    predicate = bound(stage, sets, slots, twins)
    pairs = every_pair(sets)
    found = predicate.filter(pairs, predicate.columns(corpus), corpus)
    return {(int(pairs.left[i]), int(pairs.right[i])): s for i, s in zip(found.index, found.score, strict=True)}


def proposed(predicate, sets):
    """The pairs that the keys of a predicate propose."""
    keys = predicate.batch_keys(Sets(sets))
    holders = {}
    for d in range(len(sets)):
        for k in range(keys.indptr[d], keys.indptr[d + 1]):
            holders.setdefault(int(keys.values[k]), []).append((d, bool(keys.core[k])))
    return {(a, b) for held in holders.values() for a, x in held for b, y in held if a < b and (x or y)}


families = st.lists(st.sets(st.integers(0, 40)), max_size=12)


@given(sets=families, threshold=st.one_of(st.sampled_from(BITING), st.floats(0, 1)))
@settings(deadline=None, max_examples=200)
def test_jaccard_is_counted_exactly(sets, threshold):
    expected = oracle.near_pairs(sets, oracle.jaccard, threshold)
    found = accepted(Jaccard(min_jaccard=threshold), sets)
    assert found == {(a, b): oracle.jaccard(sets[a], sets[b]) for a, b in expected}


@given(
    sets=families,
    threshold=st.one_of(st.sampled_from(BITING), st.floats(0, 1)),
    bits=st.sampled_from((1, 4, 9, 20, 26)),
    twins=st.booleans(),
)
@settings(deadline=None, max_examples=300)
def test_pruning_loses_nothing_whatever_the_size_of_the_table(sets, threshold, bits, twins):
    """Bounds, who is alive and what keys propose, on families of near sets; with twins or one of each."""
    sets = [*sets, *({*s, 99} for s in sets[:4]), *(set(sorted(s)[1:]) for s in sets[:4])]
    sets = [*sets, *sets[:3]] if twins else list(map(set, {frozenset(s): None for s in sets}))
    stage = Jaccard(min_jaccard=threshold, prune=True)
    found = accepted(stage, sets, 1 << bits, twins)
    expected = {pair: oracle.jaccard(*(sets[i] for i in pair)) for pair in
                oracle.near_pairs(sets, oracle.jaccard, threshold)}  # fmt: skip
    assert found == expected
    predicate = bound(stage, sets, 1 << bits, twins)
    if threshold <= 1e-9:
        assert predicate.keys_per_document is None
        assert predicate.batch_keys(Sets(sets)) is None
    else:
        columns = predicate.columns(Sets(sets))
        alive, core = columns["alive"], columns["core"]
        assert all(alive[a] and alive[b] for a, b in expected)
        assert all(core[d] for a, b in expected for d in (a, b) if len(sets[d]) == min(len(sets[a]), len(sets[b])))
        assert set(expected) <= proposed(predicate, sets)
        assert set(expected) <= proposed(Jaccard(min_jaccard=threshold).bind(Facts(len(sets))), sets), "without a table"


@given(sets=families, threshold=st.sampled_from(BITING))
@settings(deadline=None, max_examples=100)
def test_in_a_large_table_bounds_are_those_of_the_sets(sets, threshold):
    """`shared` counts what others hold, `alive` compares it with the threshold, and keys keep to the prefix."""
    sets = list(map(set, {frozenset(s): None for s in sets}))
    predicate = bound(Jaccard(min_jaccard=threshold, prune=True), sets, 1 << 26)
    if threshold <= 1e-9:
        return
    columns, keys = predicate.columns(Sets(sets)), predicate.batch_keys(Sets(sets))
    for d, own in enumerate(sets):
        elsewhere = {x for x in own if any(x in other for i, other in enumerate(sets) if i != d)}
        assert columns["length"][d] == len(own)
        assert columns["shared"][d] <= len(elsewhere)
        assert columns["shared"][d] == len(elsewhere) or not columns["alive"][d], "counting may stop in dead ones"
        enough = bool(own) and bool(elsewhere) and len(elsewhere) / len(own) >= threshold - 1e-9
        assert columns["alive"][d] == enough == keys.alive[d]
        smaller = next(c for c in range(1, len(own) + 2) if not own or c / max(2 * len(own) - c, 1) >= threshold - 1e-9)
        assert columns["core"][d] == (bool(own) and len(elsewhere) >= smaller)
        need = next(c for c in range(1, len(own) + 2) if not own or c / len(own) >= threshold - 1e-9)
        assert keys.indptr[d + 1] - keys.indptr[d] == max(len(elsewhere) - need + 1, 0)


def test_rare_shingles_make_keys_and_frequent_ones_do_not():
    """Boilerplate that hundreds of texts share proposes no pair as long as rarer shingles are there."""
    common = set(range(100))
    sets = [common | {1000 + 200 * d + k for k in range(100)} for d in range(300)]
    sets += [s ^ {1000 + 200 * d} for d, s in enumerate(sets[:20])]
    predicate = bound(Jaccard(min_jaccard=0.7), sets, 1 << 26)
    assert proposed(predicate, sets) == {(d, 300 + d) for d in range(20)}
    assert predicate.columns(Sets(sets))["alive"].sum() == 40


def test_documents_that_are_alike_only_in_boilerplate_propose_no_pair():
    """Each shares 85 % of its shingles with all others: J = 0.74, all are alive, and none has a core key."""
    sets = [set(range(85)) | {1000 + 100 * d + k for k in range(15)} for d in range(50)]
    predicate = bound(Jaccard(min_jaccard=0.8), sets, 1 << 26)
    columns = predicate.columns(Sets(sets))
    assert columns["alive"].all()
    assert not columns["core"].any()
    assert proposed(predicate, sets) == set()


def test_pruning_is_asked_for_refused_or_settled_by_who_enumerates():
    first, later = Facts(10, enumerates=True, text_bytes=1000), Facts(10, text_bytes=1000)
    assert Jaccard(prune=True).observe(first) is not None is not Jaccard(prune=True).observe(later)
    assert Jaccard(prune=False).observe(first) is None is Jaccard(prune=False).observe(later)
    assert Jaccard(prune=False).bind(first).keys_per_document is None
    assert Jaccard().observe(first) is not None
    assert Jaccard(min_jaccard=0, prune=True).observe(first) is None
    assert Jaccard(min_jaccard=0, prune=True).bind(first).keys_per_document is None


@pytest.mark.parametrize(("memory", "most"), [(None, 1 << 32), (1 << 20, 1 << 20), ((1 << 20) - 1, 1 << 19)])
def test_the_table_grows_with_the_text_within_what_memory_allows(memory, most):
    tables = [
        Jaccard(prune=True).observe(Facts(1, text_bytes=size, memory=memory)).nbytes
        for size in (0, 10**4, 10**6, 10**8)
    ]
    assert tables == sorted(tables)
    assert all(n & (n - 1) == 0 and 2 <= n <= most for n in tables)
    assert memory is not None or tables[3] >= 10**8 // 4


@pytest.mark.parametrize(("candidates", "pays"), [(None, False), (100_000, False), (100_001, True)])
def test_auto_has_a_pass_where_the_candidates_of_another_stage_are_many(candidates, pays):
    facts = Facts(10, text_bytes=10**6, candidates=candidates)
    assert (Jaccard().observe(facts) is not None) == pays
    assert Jaccard(prune=False).observe(facts) is None


def test_holders_saturate_and_merge_in_any_order():
    def holders(*batches):
        summary = Jaccard(prune=True).observe(Facts(1, text_bytes=100))
        for sets in batches:
            summary.add(Sets(sets))
        return summary

    parts = [[{0, 1}] * 200, [{1, 2}] * 100, [{3}]]
    whole = holders(*parts).table
    assert sorted(whole[whole > 0].tolist()) == [1, 100, 200, 255]
    for order in permutations(parts):
        a, b, c = (holders(part) for part in order)
        assert (a.merge(b).merge(c).table == whole).all()
        a, b, c = (holders(part) for part in order)
        assert (a.merge(b.merge(c)).table == whole).all()


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


def test_a_pair_is_refused_by_the_least_overlap_that_the_score_allows():
    """For all small sizes: exactly the overlaps from `least` on meet the threshold, and refused pairs have none."""
    sizes = np.arange(26, dtype=np.uint32)
    left, right = (part.ravel() for part in np.meshgrid(np.arange(26), np.arange(26)))
    for threshold in (0.0, 0.28, 0.56, 2 / 3, 0.8, 0.81, 1.0):
        share, refused = max(threshold - 1e-9, 0.0), np.zeros(2, np.int64)
        least = bounds(sizes, sizes, left, right, share, refused)
        assert refused.tolist() == [(least < 0).sum(), 0]
        for a, b, c in zip(left.tolist(), right.tolist(), least.tolist(), strict=True):
            met = [k for k in range(min(a, b) + 1) if min(a, b) and k / (a + b - k) >= share]
            assert c == (met[0] if met else -1)
        few = np.minimum(sizes, 5)
        refused[:] = 0
        both = bounds(sizes, few, left, right, share, refused)
        assert both.tolist() == [
            c if c <= min(few[a], few[b]) else -1 for a, b, c in zip(left, right, least, strict=True)
        ]
        assert refused.tolist() == [(least < 0).sum(), ((both < 0) & (least >= 0)).sum()]
