"""The one law: a pair is a duplicate iff every stage accepts it, so the order of stages never changes the answer."""

from __future__ import annotations

import sys
from itertools import permutations
from unittest import mock

import numpy as np
import oracle
import pytest
from corpora import mixed
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade import dedupe, load_config, shingle_hashes
from cascade.api import given_by
from cascade.evidence import scores_at
from cascade.first_pass import observe
from cascade.memory import Memory
from cascade.pairs import Pairs
from cascade.pipeline import deduplicate
from cascade.plan import make_plan
from cascade.progress import Silent
from cascade.registry import stage_class
from cascade.text import buffer
from cascade.view import CorpusView

JACCARD = sys.modules[stage_class("jaccard").__module__]
WORDS = [
    "red",
    "blue",
    "green",
    "yellow",
    "le",
    "chat",
    "noir",
    "猫",
    "黑",
    "色",
    "кот",
    "ไก่",
    "!!",
    "",
    "한국어",
    "ねこ",
]
STAGES = {
    "simhash_far": {"use": "simhash", "name": "simhash_far", "max_hamming": 20},
    "simhash_idf": {"use": "simhash", "name": "simhash_idf", "max_hamming": 22, "weights": "idf"},
    "simhash_near": {"use": "simhash", "name": "simhash_near", "max_hamming": 5, "weights": "count"},
    "minhash": {"use": "minhash", "bands": 8, "rows_per_band": 2},
    "minhash_estimate": {
        "use": "minhash", "name": "minhash_estimate", "bands": 4, "rows_per_band": 1, "num_perm": 64, "scheme": "oph",
        "min_estimate": 0.4,
    },
    "jaccard": {"use": "jaccard", "min_jaccard": 0.5},
    "jaccard_pruned": {"use": "jaccard", "name": "jaccard_pruned", "min_jaccard": 0.28, "prune": True},
    "jaccard_plain": {"use": "jaccard", "name": "jaccard_plain", "min_jaccard": 0.56, "prune": False},
    "jaccard_chars": {"use": "jaccard", "name": "jaccard_chars", "min_jaccard": 0.4, "shingle": {"by": "char", "n": 3}},
    "containment": {"use": "containment", "min_containment": 0.6},
    "edit_distance": {"use": "edit_distance", "min_similarity": 0.6},
}  # fmt: skip

texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=24)
again = st.lists(st.integers(0, 23), max_size=6)
corpora = st.builds(lambda some, again: some + [some[i % len(some)] for i in again if some], texts, again)


def config(stages, **resolve):
    return {
        "shingle": {"by": "word", "n": 2},
        "stages": [STAGES[name] for name in stages],
        "resolve": resolve,
        "seed": 7,
    }


def confirmed(result):
    pairs = result.pairs
    rows = zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)
    names = sorted(pairs.scores)
    return {pair: tuple(float(pairs.scores[n][i]) for n in names) for i, pair in enumerate(rows)}


@given(corpus=corpora, chosen=st.lists(st.sampled_from(sorted(STAGES)), min_size=2, max_size=3, unique=True))
@settings(deadline=None, max_examples=60)
def test_all_orders_of_the_stages_give_the_same_pairs_scores_and_decisions(corpus, chosen):
    answers = []
    for order in permutations(chosen):
        result = dedupe(corpus, config(order, pairs="all"), workers=1)
        answers.append((confirmed(result), result.kept_rows, [(d.row, d.kept_row, d.reason) for d in result.removed]))
    assert all(answer == answers[0] for answer in answers)


def one_of_each(view, result):
    """One of each text: what stages observe, whether equal texts are collapsed or not."""
    first = {}
    for row in range(len(view)):
        first.setdefault(result.corpus.texts[row] or row, row)
    return CorpusView(result.corpus.texts, np.array(sorted(first.values()), np.int64), view.shingler, view.seed)


@given(corpus=corpora, chosen=st.lists(st.sampled_from(sorted(STAGES)), min_size=1, max_size=3, unique=True))
@settings(deadline=None, max_examples=60)
def test_the_pairs_are_those_that_every_predicate_accepts_by_itself(corpus, chosen):
    """Blocking and bounds lose nothing: every pair is put to every predicate, without any of them."""
    result = dedupe(corpus, {**config(chosen, pairs="all"), "exact": False}, workers=1)
    loaded = result.config
    view = CorpusView(result.corpus.texts, np.arange(len(corpus), dtype=np.int64), loaded.shingle, loaded.seed)
    right, left = np.tril_indices(len(corpus), -1)
    pairs = Pairs(left.astype(np.int64), right.astype(np.int64))
    expected = set(zip(left.tolist(), right.tolist(), strict=True))
    summaries = observe(one_of_each(view, result), make_plan(loaded, len(corpus)), 1, Silent())
    for planned in make_plan(loaded, len(corpus), summaries=summaries).stages:
        if len(pairs):
            (batch,) = view.batches()
            accepted = planned.predicate.filter(pairs, planned.predicate.columns(batch), view)
            expected &= {(int(left[i]), int(right[i])) for i in accepted.index}
    assert set(confirmed(result)) == expected
    assert [d.row for d in result.removed] == [r for r, k in enumerate(oracle.star(len(corpus), expected)) if k >= 0]


@given(corpus=corpora, chosen=st.lists(st.sampled_from(sorted(STAGES)), min_size=1, max_size=2, unique=True))
@settings(deadline=None, max_examples=40)
def test_collapsing_equal_texts_first_changes_no_decision_among_texts_with_shingles(corpus, chosen):
    corpus = [text for text in corpus if any(c.isalnum() for c in text)]
    both = [dedupe(corpus, {**config(chosen), "exact": exact}, workers=1) for exact in (True, False)]
    assert both[0].kept_rows == both[1].kept_rows
    assert [(d.row, d.kept_row) for d in both[0].removed] == [(d.row, d.kept_row) for d in both[1].removed]


@given(
    corpus=corpora,
    chosen=st.lists(st.sampled_from(["minhash", "simhash_near", "containment", "jaccard"]), min_size=1, unique=True),
    prune=st.lists(st.sampled_from([True, False, "auto"]), min_size=2, max_size=2),
    threshold=st.sampled_from([0.28, 0.56, 2 / 3, 1.0, 0.0]),
    settled=st.booleans(),
    exact=st.booleans(),
)
@settings(deadline=None, max_examples=100)
def test_pruning_changes_no_answer(corpus, chosen, prune, threshold, settled, exact):
    """Whoever enumerates, whatever is pruned, and whether auto decides for a pass before or behind the buckets."""
    answers = []
    for pruned in (prune, [False, False]):
        stages = [STAGES[name] | ({"prune": pruned[0]} if name == "jaccard" else {}) for name in chosen]
        stages.append({"use": "jaccard", "name": "last", "min_jaccard": threshold, "prune": pruned[1]})
        with mock.patch.object(JACCARD, "pays", lambda facts: settled and facts.candidates is not None):
            result = dedupe(corpus, {**config([], pairs="all"), "stages": stages, "exact": exact}, workers=1)
        answers.append((confirmed(result), result.kept_rows))
    assert answers[0] == answers[1]


block = st.builds(
    lambda length, own, twins: (
        [" ".join([*WORDS[:length], *(f"own{word}" for word in some)]) for some in own],
        [i for i in twins if i < len(own)],
    ),
    st.integers(0, len(WORDS)),
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=5), max_size=16),
    st.lists(st.integers(0, 15), max_size=4),
)


@given(
    made=block,
    threshold=st.sampled_from([0.56, 2 / 3, 0.8, 1.0]),
    prune=st.sampled_from([True, "auto"]),
    exact=st.booleans(),
    clusters=st.sampled_from(["star", "components"]),
    pairs=st.sampled_from(["all", "needed"]),
    workers=st.sampled_from([1, 2, 5]),
)
@settings(deadline=None, max_examples=150)
def test_texts_that_share_a_block_are_decided_as_all_pairs_are(made, threshold, prune, exact, clusters, pairs, workers):
    """Documents that are not core do not meet in the buckets of minhash. Counted on sets, pair by pair."""
    texts, twins = made
    corpus = [*texts, *(texts[i] for i in twins)]
    rows = [row for row, text in enumerate(corpus) if not exact or text not in corpus[:row]]
    minhash = {"use": "minhash", "bands": 30, "rows_per_band": 1}
    met = confirmed(dedupe(corpus, {**config([], pairs="all"), "stages": [minhash], "exact": exact}, workers=1))
    shingler = load_config(config(["jaccard"])).shingle
    sets = [set(shingle_hashes(text, shingler).tolist()) for text in corpus]
    expected = {pair for pair in oracle.near_pairs(sets, oracle.jaccard, threshold) if pair in met}
    assert all(a in rows and b in rows for a, b in met)
    stages = [minhash, {"use": "jaccard", "min_jaccard": threshold, "prune": prune}]
    chosen = {**config([], pairs=pairs, clusters=clusters), "stages": stages, "exact": exact}
    with mock.patch.object(JACCARD, "pays", lambda facts: facts.candidates is not None):
        result = dedupe(corpus, chosen, workers=workers)
    assert set(confirmed(result)) == expected if pairs == "all" else set(confirmed(result)) <= expected
    keeper = getattr(oracle, clusters)(len(corpus), expected)
    assert result.kept_rows == [row for row in rows if keeper[row] < 0]


@pytest.mark.parametrize("clusters", ["star", "components"])
@pytest.mark.parametrize("stages", [["jaccard_pruned"], ["minhash", "jaccard_pruned", "simhash_far"]])
def test_threads_and_memory_change_no_answer(stages, clusters):
    texts = [text for text in mixed(1500, seed=3) for _ in range(1 + len(text) % 2)]
    loaded = load_config(config(stages, clusters=clusters))
    _, corpus, _ = given_by(texts, loaded, 1, Silent(), Memory())
    with mock.patch.object(buffer, "BATCH_BYTES", 4096):
        first, *others = (
            deduplicate(corpus, loaded, workers=workers, memory=memory)
            for workers, memory in [(1, Memory()), (2, Memory()), (7, Memory()), (2, Memory(1 << 14))]
        )
    assert (first.keeper >= 0).sum() > 100
    for other in others:
        assert (other.keeper == first.keeper).all()
        if clusters == "star":
            assert scores_at(other, other.via[other.via >= 0]) == scores_at(first, first.via[first.via >= 0])
    for other in others[:2]:
        assert (other.via == first.via).all(), "which pair joins components may depend on memory, not on threads"


@pytest.mark.parametrize(
    "chosen", [["minhash", "jaccard"], ["simhash_near", "minhash", "jaccard"], ["jaccard"], ["edit_distance"]]
)
@pytest.mark.parametrize("clusters", ["star", "components"])
@given(corpus=corpora)
@settings(deadline=None, max_examples=25)
def test_pairs_needed_decides_like_pairs_all(corpus, chosen, clusters):
    all_of, needed = (dedupe(corpus, config(chosen, pairs=p, clusters=clusters), workers=1) for p in ("all", "needed"))
    assert needed.kept_rows == all_of.kept_rows
    assert [(d.row, d.kept_row) for d in needed.removed] == [(d.row, d.kept_row) for d in all_of.removed]
    assert set(confirmed(needed)) <= set(confirmed(all_of))
