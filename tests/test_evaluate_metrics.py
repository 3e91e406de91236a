"""Figures of pairs and clusters against loops over all pairs of documents, published examples, and networkx."""

from __future__ import annotations

from itertools import combinations

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade import dedupe
from cascade.evaluate.intervals import share
from cascade.evaluate.metrics import (
    chained,
    cluster_figures,
    clusters,
    largest_cluster,
    pair_figures,
    recall_by_band,
)  # fmt: skip
from cascade.evaluate.truth import Truth
from cascade.pairs import Pairs

NO_PAIRS = np.empty(0, np.int64)


def arrays(pairs):
    left, right = zip(*sorted(pairs), strict=True) if pairs else ((), ())
    return np.array(left, np.int64), np.array(right, np.int64)


def truth_of(documents, pairs=(), twin_of=None, **more):
    left, right = arrays(set(pairs))
    twin_of = np.arange(documents) if twin_of is None else np.array(twin_of, np.int64)
    return Truth("test", documents, twin_of, left, right, **more)


def from_labels(labels):
    """The truth whose clusters these are, and the keeper array of a run that found them."""
    labels = np.array(labels)
    keeper = np.array([np.flatnonzero(labels == label)[0] for label in labels], np.int64)
    keeper[keeper == np.arange(len(labels))] = -1
    pairs = [(i, j) for i, j in combinations(range(len(labels)), 2) if labels[i] == labels[j]]
    return truth_of(len(labels), pairs), keeper


@st.composite
def first_rows(draw, documents):
    """For each row an earlier one that stands for itself, or the row."""
    out: list[int] = []
    for row in range(documents):
        firsts = [r for r in range(row) if out[r] == r]
        out.append(draw(st.sampled_from([*firsts, row])) if draw(st.booleans()) and firsts else row)
    return out


@st.composite
def cases(draw):
    """A truth of one of the three kinds and what a run says of the same documents."""
    n = draw(st.integers(1, 9))
    twin_of, stands_for = draw(first_rows(n)), draw(first_rows(n))
    if draw(st.booleans()):  # the run keeps the last: who stands for a group need not be its first
        stands_for = [max(i for i in range(n) if stands_for[i] == s) for s in stands_for]
    rows = [i for i in range(n) if twin_of[i] == i]
    kinds = {pair: draw(st.sampled_from(["yes", "no", "unknown"])) for pair in combinations(rows, 2)}
    yes = [pair for pair, kind in kinds.items() if kind == "yes"]
    kind = draw(st.sampled_from(["whole", "labelled", "sampled"]))
    more = {"similarity": np.array([draw(st.sampled_from([0.5, 0.55, 0.6, 0.8, 0.9, 1.0])) for _ in yes])}
    if kind == "labelled":
        more["refuted"] = arrays([pair for pair, k in kinds.items() if k == "no"])
    elif kind == "sampled":
        more["sampled"] = np.array(sorted(draw(st.sets(st.sampled_from(rows), min_size=1))), np.int64)
        keep = set(more["sampled"].tolist())
        known = [bool(keep & set(pair)) for pair in sorted(yes)]
        yes = [pair for pair, k in zip(sorted(yes), known, strict=True) if k]
        more["similarity"] = more["similarity"][known]
    groups = sorted(set(stands_for))
    joined = draw(st.sets(st.sampled_from(list(combinations(groups, 2))))) if len(groups) > 1 else set()
    return truth_of(n, yes, twin_of, **more), Pairs(*arrays(joined)), np.array(stands_for, np.int64)


def predicted(pairs, stands_for, i, j):
    joined = set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    a, b = stands_for[i], stands_for[j]
    return a == b or (a, b) in joined or (b, a) in joined


@settings(deadline=None, max_examples=300)
@given(cases())
def test_pairs_against_a_loop_over_all(case):
    truth, pairs, stands_for = case
    rows = [i for i in range(truth.documents) if truth.twin_of[i] == i]
    yes = set(zip(truth.left.tolist(), truth.right.tolist(), strict=True))
    no = None if truth.refuted is None else set(zip(*(r.tolist() for r in truth.refuted), strict=True))
    true = missed = wrong = 0
    for pair in combinations(rows, 2):
        weight = 1 if truth.sampled is None else len(set(pair) & set(truth.sampled.tolist()))
        found = predicted(pairs, stands_for, *pair)
        true += weight * (pair in yes and found)
        missed += weight * (pair in yes and not found)
        wrong += weight * (found and pair not in yes and (no is None or pair in no))
    figures = pair_figures(truth, pairs, stands_for)
    assert (figures.true, figures.missed, figures.wrong) == (true, missed, wrong)
    for found, hits, total in (
        (figures.precision, true, true + wrong),
        (figures.recall, true, true + missed),
        (figures.f1, 2 * true, 2 * true + wrong + missed),
    ):
        assert (found.hits, found.total) == (hits, total)
        assert found.value == (None if not total else pytest.approx(hits / total))
    if truth.sampled is None:
        assert figures.recall == share(true, true + missed)


@settings(deadline=None, max_examples=150)
@given(cases())
def test_bands_against_a_loop_over_all(case):
    truth, pairs, stands_for = case
    edges = (0.5, 0.6, 0.8, 1.0)
    for low, high, band in zip(edges, edges[1:], recall_by_band(truth, pairs, stands_for, edges), strict=False):
        hits = total = 0
        for i, j, s in zip(truth.left.tolist(), truth.right.tolist(), truth.similarity.tolist(), strict=True):
            if low <= s < high or s == high == 1.0:
                weight = 1 if truth.sampled is None else len({i, j} & set(truth.sampled.tolist()))
                hits, total = hits + weight * predicted(pairs, stands_for, i, j), total + weight
        assert (band.low, band.high, band.recall.hits, band.recall.total) == (low, high, hits, total)


def test_bands_need_similarities():
    assert recall_by_band(truth_of(2, [(0, 1)]), Pairs.empty(), np.arange(2)) == ()
    bands = recall_by_band(truth_of(2, [(0, 1)], similarity=np.array([0.97])), Pairs(*arrays([(0, 1)])), np.arange(2))
    assert [b.recall.value for b in bands] == [None] * 6 + [1.0]
    assert (bands[-1].low, bands[-1].high) == (0.95, 1.0)


def test_a_group_of_twins_counts_as_one_document():
    """Rows 0 to 3 are one text, 4 is like it, 5 is not."""
    truth = truth_of(6, [(0, 4)], [0, 0, 0, 0, 4, 5])
    collapsed = np.array([0, 0, 0, 0, 4, 5])
    found = pair_figures(truth, Pairs(*arrays([(0, 4)])), collapsed)
    assert (found.true, found.missed, found.wrong) == (1, 0, 0)
    # A run that does not collapse finds each copy; all say the same of one pair of texts.
    copies = [(i, j) for i, j in combinations(range(4), 2)] + [(i, 4) for i in range(4)]
    assert pair_figures(truth, Pairs(*arrays(copies)), np.arange(6)) == found
    # A run whose normalising makes more texts equal claims that they are duplicates.
    coarse = pair_figures(truth, Pairs.empty(), np.array([0, 0, 0, 0, 0, 0]))
    assert (coarse.true, coarse.missed, coarse.wrong) == (1, 0, 2)
    # Without twins in the truth every document is one: what people have labelled are documents.
    labelled = pair_figures(truth_of(6, [(0, 4)]), Pairs(*arrays([(0, 4)])), collapsed)
    assert (labelled.true, labelled.missed, labelled.wrong) == (1, 0, 9)


def test_what_is_not_labelled_does_not_count():
    truth = truth_of(4, [(0, 1)], refuted=arrays([(0, 2)]))
    found = pair_figures(truth, Pairs(*arrays([(0, 1), (0, 2), (0, 3), (2, 3)])), np.arange(4))
    assert (found.true, found.missed, found.wrong) == (1, 0, 1)
    assert cluster_figures(truth, np.array([-1, 0, 0, -1])) is None
    assert cluster_figures(truth_of(2, [], sampled=np.array([0])), np.array([-1, 0])) is None


def test_two_corpora_are_not_compared():
    with pytest.raises(ValueError, match="the run has 3 documents and the truth 2"):
        pair_figures(truth_of(2), Pairs.empty(), np.arange(3))


def test_nothing_at_all():
    found = pair_figures(truth_of(0), Pairs.empty(), np.arange(0))
    assert (found.true, found.precision.value, found.recall.value, found.f1.value) == (0, None, None, None)
    assert cluster_figures(truth_of(0), NO_PAIRS) is None
    assert largest_cluster(NO_PAIRS) == 0
    one = cluster_figures(truth_of(1), np.array([-1]))
    assert (one.bcubed_f1, one.adjusted_rand, one.pair_f1) == (1.0, 1.0, None)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12))
def test_clusters_against_loops(labels):
    real, mine = [a for a, _ in labels], [b for _, b in labels]
    truth, _ = from_labels(real)
    _, keeper = from_labels(mine)
    found = cluster_figures(truth, keeper)
    n = range(len(labels))
    same = [[(real[i] == real[j], mine[i] == mine[j]) for j in n] for i in n]
    precision = sum(sum(r and m for r, m in row) / sum(m for _, m in row) for row in same) / len(n)
    recall = sum(sum(r and m for r, m in row) / sum(r for r, _ in row) for row in same) / len(n)
    assert found.bcubed_precision == pytest.approx(precision)
    assert found.bcubed_recall == pytest.approx(recall)
    assert found.bcubed_f1 == pytest.approx(2 / (1 / precision + 1 / recall))
    verdicts = [same[i][j] for i, j in combinations(n, 2)]
    tp, fn = verdicts.count((True, True)), verdicts.count((True, False))
    fp, tn = verdicts.count((False, True)), verdicts.count((False, False))
    below = (tp + fn) * (fn + tn) + (tp + fp) * (fp + tn)
    assert found.adjusted_rand == pytest.approx(2 * (tp * tn - fn * fp) / below if below else 1.0)
    assert found.pair_precision == (pytest.approx(tp / (tp + fp)) if tp + fp else None)
    assert found.pair_recall == (pytest.approx(tp / (tp + fn)) if tp + fn else None)
    assert found.pair_f1 == (pytest.approx(2 * tp / (2 * tp + fp + fn)) if tp + fp + fn else None)
    assert largest_cluster(keeper) == max(map(mine.count, mine))


@pytest.mark.parametrize(
    ("response", "precision"),
    [([0] * 5 + [1] * 7, 0.7619), ([0] * 5 + [1] * 2 + [0] * 5, 0.5833)],
)
def test_bcubed_as_published(response, precision):
    """Bagga and Baldwin, Algorithms for Scoring Coreference Chains (1998): 76 % and 58 %, all at full recall."""
    truth, _ = from_labels([0] * 5 + [1] * 2 + [2] * 5)
    found = cluster_figures(truth, from_labels(response)[1])
    assert round(found.bcubed_precision, 4) == precision
    assert found.bcubed_recall == 1


@pytest.mark.parametrize(
    ("real", "worse", "better"),
    [
        pytest.param("aaaabbbb", "00000111", "00002111", id="homogeneity"),
        pytest.param("aaaaabbb", "00011222", "00000222", id="completeness"),
        pytest.param("aaaabcdex", "000011110", "000011111", id="rag bag"),
        pytest.param("aabbccddeeeee", "0123456788888", "0011223344445", id="size and quantity"),
    ],
)
def test_the_constraints_of_amigo(real, worse, better):
    """Amigó et al. 2009, section 3: what a measure of clusterings must prefer; B-cubed is the one that does."""
    truth, _ = from_labels(list(real))
    low, high = (cluster_figures(truth, from_labels(list(x))[1]).bcubed_f1 for x in (worse, better))
    assert low < high


def test_adjusted_rand_as_published():
    """Yeung and Ruzzo, Details of the Adjusted Rand Index (2001), on the formula of Hubert and Arabie: 0.313."""
    real = [0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    mine = [0, 1, 0, 1, 1, 2, 2, 2, 2, 2]
    truth, _ = from_labels(real)
    assert round(cluster_figures(truth, from_labels(mine)[1]).adjusted_rand, 3) == 0.313
    # Of identical ones 1; of all in one against all apart 0; by chance about 0.
    assert cluster_figures(truth, from_labels(real)[1]).adjusted_rand == 1
    assert cluster_figures(truth_of(10), from_labels([0] * 10)[1]).adjusted_rand == 0
    rng = np.random.default_rng(3)
    drawn = [
        cluster_figures(from_labels(rng.integers(0, 5, 60))[0], from_labels(rng.integers(0, 5, 60))[1]).adjusted_rand
        for _ in range(60)
    ]
    assert abs(np.mean(drawn)) < 0.01


@settings(deadline=None)
@given(cases())
def test_clusters_of_a_truth_are_those_of_networkx(case):
    truth, _, _ = case
    graph = networkx.Graph()
    graph.add_nodes_from(range(truth.documents))
    graph.add_edges_from(enumerate(truth.twin_of.tolist()))
    graph.add_edges_from(zip(truth.left.tolist(), truth.right.tolist(), strict=True))
    found = clusters(truth).tolist()
    mine = {label: {i for i, x in enumerate(found) if x == label} for label in found}
    assert sorted(map(sorted, mine.values())) == sorted(map(sorted, networkx.connected_components(graph)))


def test_twins_weigh_as_one_in_clusters():
    truth = truth_of(5, [(0, 3)], [0, 0, 0, 3, 4])
    found = cluster_figures(truth, np.array([-1, 0, 0, -1, 3]))
    # Texts 0, 3, 4: truly {0, 3}, {4}; found {0}, {3, 4}.
    assert (found.bcubed_precision, found.bcubed_recall) == pytest.approx((2 / 3, 2 / 3))
    assert largest_cluster(np.array([-1, 0, 0, -1, 3])) == 3


def test_who_went_through_a_chain():
    """Each text is like the next and unlike the one after; components removes all for the first."""
    chain = [" ".join(f"w{i}" for i in range(a, a + 20)) for a in (0, 2, 4, 6)]
    config = {"shingle": {"n": 1}, "stages": [{"use": "jaccard", "min_jaccard": 0.8}]}
    texts = [*chain, chain[3], chain[0]]
    for pairs in ("all", "needed"):
        outcome = dedupe(texts, {**config, "resolve": {"clusters": "components", "pairs": pairs}}).outcome
        assert outcome.keeper.tolist() == [-1, 0, 0, 0, 0, 0]
        assert chained(outcome).tolist() == [2, 3, 4]
    star = dedupe(texts, {**config, "resolve": {"pairs": "all"}}).outcome
    assert (star.keeper >= 0).sum() == 4
    assert chained(star).tolist() == []


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 30), max_size=25), st.sampled_from(["first", "last", "longest"]))
def test_a_star_has_no_chains(starts, keep):
    texts = [" ".join(f"w{i}" for i in range(a, a + 10 + a % 3)) for a in starts]
    config = {"shingle": {"n": 1}, "stages": [{"use": "jaccard", "min_jaccard": 0.6}]}
    outcome = dedupe(texts, {**config, "resolve": {"pairs": "all", "keep": keep}}).outcome
    assert chained(outcome).tolist() == []
