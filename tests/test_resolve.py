"""Star clusters against the plain loop, components against networkx, both ways of enumerating, every block size."""

from __future__ import annotations

import networkx
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade import blocking, buckets
from cascade.blocking import ScanCandidates, all_pairs
from cascade.buckets import bucket_candidates
from cascade.pairs import Pairs
from cascade.resolve import resolve
from cascade.stage import Keys

BUDGETS = (1, 2, 7, 100, 1 << 20)


@st.composite
def problems(draw):
    documents = draw(st.integers(0, 40))
    tables = draw(st.integers(1, 4))
    spread = draw(st.integers(1, 15))
    values = draw(
        st.lists(
            st.lists(st.integers(0, spread), min_size=tables, max_size=tables), min_size=documents, max_size=documents
        )
    )
    alive = draw(st.lists(st.booleans(), min_size=documents, max_size=documents))
    most = draw(st.sampled_from([None, None, 1, 2, 5]))
    keys = np.array(values, np.uint64).reshape(documents, tables)

    def meet(a, b, table):
        """Whether both have a key of the table, and `a` is among the first `most` documents with that key."""
        before = sum(alive[c] and values[c][table] == values[a][table] for c in range(a))
        return values[a][table] == values[b][table] and (most is None or before < most)

    candidates = {
        (a, b)
        for b in range(documents)
        for a in range(b)
        if alive[a] and alive[b] and any(meet(a, b, table) for table in range(tables))
    }
    accept = draw(st.sets(st.sampled_from(sorted(candidates)))) if candidates else set()
    return keys, np.array(alive, bool), most, candidates, accept


class Confirm:
    """Accepts exactly the pairs of a set, and remembers what it was asked."""

    def __init__(self, accept):
        self.accept = accept
        self.asked = []

    def __call__(self, left, right):
        pairs = list(zip(left.tolist(), right.tolist(), strict=True))
        assert all(a < b for a, b in pairs)
        self.asked += pairs
        index = [i for i, pair in enumerate(pairs) if pair in self.accept]
        scores = np.array([100.0 * pairs[i][0] + pairs[i][1] for i in index])
        return Pairs(left[index], right[index], {"s": scores})


def enumerators(keys, alive, most, budget):
    fixed = bucket_candidates(Keys(keys, alive), workers=3, max_bucket=most)
    tables = keys.shape[1]
    apart = (keys + np.arange(tables, dtype=np.uint64) * np.uint64(1000)).ravel()
    indptr = np.arange(len(keys) + 1, dtype=np.int64) * tables
    ragged = bucket_candidates(Keys(apart, alive, indptr), max_bucket=most)
    assert (fixed.large, fixed.largest if fixed.large else 0) == (ragged.large, ragged.largest if ragged.large else 0)
    for candidates in (fixed, ragged):
        candidates.left, candidates.right = np.empty(budget, np.int64), np.empty(budget, np.int64)
    return [fixed, ragged, ScanCandidates(len(keys), np.ones(len(keys), bool), all_pairs, budget)]


@pytest.mark.parametrize("short", [0, 1 << 31], ids=["int64", "int32"])
@pytest.mark.parametrize("budget", BUDGETS)
@given(problem=problems(), every_pair=st.booleans())
@settings(deadline=None, max_examples=40)
def test_star_is_the_plain_loop_and_components_are_those_of_networkx(problem, budget, short, every_pair):
    keys, alive, most, candidates, accept = problem
    documents = len(keys)
    graph = networkx.Graph()
    graph.add_nodes_from(range(documents))
    graph.add_edges_from(accept)
    linked = [-1] * documents
    for component in networkx.connected_components(graph):
        for d in component - {min(component)}:
            linked[d] = min(component)
    assert linked == oracle.components(documents, accept)
    expected = {"star": oracle.star(documents, accept), "components": linked}
    before = blocking.PAIRS_AT_ONCE, buckets.PART, buckets.MOST_SHORT
    blocking.PAIRS_AT_ONCE, buckets.PART, buckets.MOST_SHORT = budget, budget, short
    try:
        for clusters in ("star", "components"):
            for number, enumerator in enumerate(enumerators(keys, alive, most, budget)):
                confirm = Confirm(accept)
                found = resolve(documents, enumerator, confirm, clusters=clusters, every_pair=every_pair)
                assert found.keeper.tolist() == expected[clusters]
                confirmed = list(zip(found.pairs.left.tolist(), found.pairs.right.tolist(), strict=True))
                assert set(confirmed) <= accept
                if every_pair:
                    assert sorted(confirmed) == sorted(accept)
                if number < 2:
                    assert set(confirm.asked) <= candidates
                if clusters == "star":
                    assert len(set(confirm.asked)) == len(confirm.asked), "a pair was evaluated twice"
                for d, keeper in enumerate(found.keeper.tolist()):
                    if keeper < 0:
                        assert found.via[d] == -1
                        continue
                    pair = confirmed[found.via[d]]
                    assert found.pairs.scores["s"][found.via[d]] == 100.0 * pair[0] + pair[1]
                    assert pair == (keeper, d) if clusters == "star" else d in pair
    finally:
        blocking.PAIRS_AT_ONCE, buckets.PART, buckets.MOST_SHORT = before


def test_via_leads_to_the_keeper_in_components():
    """In a chain, each document is joined by its neighbour; following the pairs ends at the kept one."""
    n = 50
    keys = np.stack([np.arange(n) // 2, (np.arange(n) + 1) // 2], axis=1).astype(np.uint64)
    accept = {(i, i + 1) for i in range(n - 1)}
    found = resolve(
        n, bucket_candidates(Keys(keys, np.ones(n, bool))), Confirm(accept), clusters="components", every_pair=False
    )
    assert found.keeper.tolist() == [-1] + [0] * (n - 1)
    for d in range(1, n):
        assert (found.pairs.left[found.via[d]], found.pairs.right[found.via[d]]) == (d - 1, d)


@pytest.mark.parametrize("clusters", ["star", "components"])
def test_copies_cost_about_one_comparison_each(clusters):
    """A text repeated n times is not expanded into its n² / 2 pairs."""
    n = 60_000
    keys = Keys(np.zeros((n, 8), np.uint64), np.ones(n, bool))
    asked = 0

    def confirm(left, right):
        nonlocal asked
        asked += len(left)
        return Pairs(left, right)

    found = resolve(n, bucket_candidates(keys), confirm, clusters=clusters, every_pair=False)
    assert (found.keeper[1:] == 0).all()
    assert asked < n + 2 * blocking.PAIRS_AT_ONCE


def test_a_document_that_repeats_a_key_is_no_pair_with_itself():
    keys = Keys(np.array([5, 5, 5, 7], np.uint64), np.ones(2, bool), np.array([0, 2, 4], np.int64))
    confirm = Confirm({(0, 1)})
    found = resolve(2, bucket_candidates(keys), confirm, clusters="star", every_pair=False)
    assert confirm.asked == [(0, 1)]
    assert found.keeper.tolist() == [-1, 0]


def test_all_pairs_is_every_pair_once():
    lefts, rights = np.array([0, 2, 3, 7]), np.array([1, 2, 8])
    ((left, right),) = all_pairs(lefts, rights)
    expected = [(a, b) for b in rights for a in lefts if a < b]
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == expected
    assert [len(left) for left, _ in all_pairs(np.empty(0, np.int64), rights)] == [0]
