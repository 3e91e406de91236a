"""The simhash stage: what it accepts, its keys, its document frequencies, its model."""

import math
from functools import reduce
from itertools import permutations

import numpy as np
import oracle_sketch as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from cascade.errors import StageError
from cascade.pairs import Pairs
from cascade.registry import stage_class
from cascade.stage import Facts
from cascade.text.buffer import Shingles

SimHash = stage_class("simhash")
WEIGHTS = ("set", "count", "idf")


def columns_of(words, alive=None):
    alive = np.ones(len(words), bool) if alive is None else np.array(alive, bool)
    return {"fingerprint": np.array(words, np.uint64), "alive": alive}


def every_pair(n: int) -> Pairs:
    left, right = np.triu_indices(n, 1)
    return Pairs(left.astype(np.int64), right.astype(np.int64))


def accepted(predicate, columns):
    pairs = every_pair(len(columns["alive"]))
    answer = predicate.filter(pairs, columns, None)
    return {
        (int(pairs.left[i]), int(pairs.right[i])): s for i, s in zip(answer.index, answer.score.tolist(), strict=True)
    }


def brute_force(words, alive, max_hamming):
    near = oracle.near_pairs(words, alive, 0, len(words), max_hamming)
    return {(i, j): bin(words[i] ^ words[j]).count("1") for i, j in near}


def neighbourhood(rng, count):
    """Fingerprints at all distances from each other: random words and copies with 0 to 24 bits turned."""
    words = rng.integers(0, 2**64, count, dtype=np.uint64).tolist()
    for _ in range(3 * count):
        word = words[rng.integers(0, len(words))]
        for bit in rng.choice(64, rng.integers(0, 25), replace=False):
            word ^= 1 << int(bit)
        words.append(word)
    return words


@pytest.mark.parametrize("max_hamming", range(21))
def test_filter_and_scan_equal_brute_force(max_hamming):
    rng = np.random.default_rng(max_hamming)
    words = neighbourhood(rng, 50)
    alive = (rng.random(len(words)) < 0.9).tolist()
    predicate = SimHash(max_hamming=max_hamming).bind(Facts(len(words)))
    columns = columns_of(words, alive)
    expected = brute_force(words, alive, max_hamming)
    assert accepted(predicate, columns) == expected
    rows = np.arange(len(words), dtype=np.int64)
    found = [predicate.scan(columns, rows, rows[start : start + 33]) for start in range(0, len(words), 33)]
    pairs = [p for part in found for left, right in part for p in zip(left.tolist(), right.tolist(), strict=True)]
    assert sorted(pairs) == sorted(expected)
    assert len(expected) > max_hamming


@pytest.mark.parametrize("documents", [10, 10**5, 10**8])
@pytest.mark.parametrize("max_hamming", range(8))
def test_keys_reach_every_near_pair(max_hamming, documents):
    words = neighbourhood(np.random.default_rng(max_hamming), 60)
    predicate = SimHash(max_hamming=max_hamming).bind(Facts(documents))
    keys = predicate.keys(columns_of(words))
    assert keys.values.shape == (len(words), predicate.keys_per_document)
    expected = brute_force(words, [True] * len(words), max_hamming)
    for i, j in expected:
        assert (keys.values[i] == keys.values[j]).any()
    if predicate.keys_decide:
        assert max_hamming == 0
        sharing = {
            (i, j) for i, j in zip(*np.triu_indices(len(words), 1), strict=True) if keys.values[i] == keys.values[j]
        }
        assert sharing == set(expected)


@pytest.mark.parametrize("max_hamming", range(1, 8))
def test_the_worst_pattern_of_differences_still_shares_a_key(max_hamming):
    # Any choice of max_hamming blocks may hold all the differences: one bit turned in each.
    for documents in (10, 10**6, 10**9):
        predicate = SimHash(max_hamming=max_hamming).bind(Facts(documents))
        for seed in range(50):
            bits = np.random.default_rng(seed).choice(64, max_hamming, replace=False)
            far = reduce(lambda word, bit: word ^ (1 << int(bit)), bits, 0)
            keys = predicate.keys(columns_of([0, far])).values
            assert (keys[0] == keys[1]).any()


def test_more_tables_where_there_are_more_documents():
    tables = [[SimHash(max_hamming=d).bind(Facts(n)).keys_per_document for n in (100, 10**6, 10**9)] for d in range(8)]
    assert tables[0] == [1, 1, 1]
    assert [row[0] for row in tables[1:]] == [2, 3, 4, 5, 6, 7, 8]
    assert all(row == sorted(row) for row in tables)
    assert tables[7][-1] > 8


def test_no_keys_beyond_seven():
    predicate = SimHash(max_hamming=8).bind(Facts(1000))
    assert predicate.keys_per_document is None
    assert predicate.keys(columns_of([1, 2])) is None
    assert predicate.bounded_hamming


def observed(stage, *batches):
    """What the stage has observed of these documents, if it observes."""
    summary = stage.observe(Facts(len(batches)))
    for batch in batches if summary is not None else ():
        summary.add(batch)
    return summary


@pytest.mark.parametrize("weights", WEIGHTS)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_fingerprints_are_those_of_the_plain_loop(weights, data):
    words = st.integers(0, 20).map(oracle.mix)
    rows = data.draw(st.lists(st.lists(words, max_size=12, unique=True), max_size=6))
    counts = [data.draw(st.lists(st.integers(1, 300), min_size=len(r), max_size=len(r))) for r in rows]
    batch = oracle.FakeBatch(oracle.csr(rows, counts))
    stage = SimHash(weights=weights)
    summary = observed(stage, batch)
    assert (summary is not None) == (weights == "idf")
    columns = stage.bind(Facts(len(rows), summary=summary)).columns(batch)
    if weights == "idf":
        held = [h for row in rows for h in row]
        counts = [[max(1, round(oracle.rarity(len(rows), held.count(h)))) for h in row] for row in rows]
        # The integer logarithm is within 2 of the real one: bits whose sums are closer than that may go either way.
        for row, weight, word in zip(rows, counts, columns["fingerprint"].tolist(), strict=True):
            for bit in range(64):
                balance = sum(w if h >> bit & 1 else -w for h, w in zip(row, weight, strict=True))
                if abs(balance) > 2 * len(row):
                    assert word >> bit & 1 == (balance > 0)
    else:
        if weights == "set":
            counts = [[1] * len(row) for row in rows]
        assert columns["fingerprint"].tolist() == [oracle.fingerprint(r, c) for r, c in zip(rows, counts, strict=True)]
    assert columns["alive"].tolist() == [bool(row) for row in rows]


@pytest.mark.parametrize("weights", WEIGHTS)
def test_equal_documents_have_distance_zero_and_empty_ones_no_partner(weights):
    rows = [[1, 2, 3], [3, 2, 1], [], []]
    batch = oracle.FakeBatch(oracle.csr(rows, [[5, 1, 7], [7, 1, 5], [], []]))
    stage = SimHash(weights=weights, max_hamming=0)
    predicate = stage.bind(Facts(4, summary=observed(stage, batch)))
    columns = predicate.columns(batch)
    assert accepted(predicate, columns) == {(0, 1): 0.0}
    ((left, right),) = predicate.scan(columns, np.arange(4), np.arange(4))
    assert (left.tolist(), right.tolist()) == ([0], [1])
    assert predicate.keys(columns).alive.tolist() == [True, True, False, False]


def test_no_documents():
    predicate = SimHash().bind(Facts(0))
    columns = predicate.columns(oracle.FakeBatch(oracle.csr([])))
    assert accepted(predicate, columns) == {}
    assert [len(left) for left, _ in predicate.scan(columns, np.arange(0), np.arange(0))] == [0]


def test_frequencies_merge_in_any_order_and_grouping():
    rng = np.random.default_rng(0)
    stage = SimHash(weights="idf")
    hashes = rng.integers(0, 2**64, (4, 300_000), dtype=np.uint64)
    indptr = np.array([0, 300_000], np.int64)
    batches = [oracle.FakeBatch(Shingles(row, indptr)) for row in hashes]
    expected = np.bincount((hashes.ravel() >> np.uint64(42)).astype(np.int64), minlength=1 << 22)
    for order in list(permutations(range(4)))[::7]:
        for grouping in (
            lambda a, b, c, d: a.merge(b).merge(c).merge(d),
            lambda a, b, c, d: a.merge(b.merge(c.merge(d))),
            lambda a, b, c, d: a.merge(b).merge(c.merge(d)),
        ):
            merged = grouping(*(observed(stage, batches[i]) for i in order))
            assert (merged.table == expected).all()
            assert merged.documents == 4


def test_frequencies_saturate():
    kind = type(SimHash(weights="idf").observe(Facts(1)))
    full = np.zeros(1 << 22, np.uint32)
    full[0], full[1] = 2**32 - 2, 7
    one = kind(None, full.copy())
    one.add(oracle.FakeBatch(oracle.csr([[0], [1], [2], [1 << 42]])))
    assert one.table[:2].tolist() == [2**32 - 1, 8]
    assert kind(None, full.copy()).merge(kind(None, full.copy())).table[:2].tolist() == [2**32 - 1, 14]


def test_rare_shingles_outweigh_common_ones():
    common, rare = [oracle.mix(i) for i in range(7)], [oracle.mix(i) for i in range(100, 103)]
    rows = [common + rare] + [[*common, oracle.mix(1000 + i)] for i in range(99)]
    batch = oracle.FakeBatch(oracle.csr(rows))
    stage = SimHash(weights="idf")
    words = stage.bind(Facts(100, summary=observed(stage, batch))).columns(batch)["fingerprint"].tolist()
    assert bin(words[0] ^ oracle.fingerprint(rare)).count("1") < bin(words[0] ^ oracle.fingerprint(common)).count("1")
    assert words[0] == oracle.fingerprint(rare)


def test_idf_without_frequencies_is_an_error():
    with pytest.raises(StageError, match="idf needs the document frequencies"):
        SimHash(weights="idf").bind(Facts(1)).columns(oracle.FakeBatch(oracle.csr([[1]])))


def test_the_model():
    assert SimHash(max_hamming=16).bind(Facts(1)).predicted_recall(0.8) == pytest.approx(0.987, abs=0.0006)
    assert SimHash(max_hamming=20).bind(Facts(1)).predicted_recall(0.8) == pytest.approx(0.9997, abs=0.00006)
    assert SimHash(max_hamming=0).bind(Facts(1)).predicted_recall(1.0) == 1.0
    assert SimHash(max_hamming=64).bind(Facts(1)).predicted_recall(0.0) == pytest.approx(1.0)
    assert SimHash(weights="count").bind(Facts(1)).predicted_recall(0.8) is None
    assert SimHash(weights="idf").bind(Facts(1)).predicted_recall(0.8) is None


@pytest.mark.parametrize(("size", "other"), [(400, 400), (400, 340), (40, 40)])
def test_the_model_is_what_is_measured(size, other):
    rng = np.random.default_rng(size + other)
    common = round(0.8 * (size + other) / 1.8)
    true_jaccard = common / (size + other - common)
    rows = []
    for _ in range(4000):
        pool = rng.integers(0, 2**64, size + other - common, dtype=np.uint64).tolist()
        rows += [pool[:size], pool[size - common :]]
    predicate = SimHash().bind(Facts(len(rows)))
    words = predicate.columns(oracle.FakeBatch(oracle.csr(rows)))["fingerprint"]
    distance = np.bitwise_count(words[0::2] ^ words[1::2])
    cosine = common / math.sqrt(size * other)
    mean = 64 * math.acos(cosine) / math.pi
    # Ties, which small even sets have, are the same in both: a little nearer than the normal model.
    assert distance.mean() == pytest.approx(mean, abs=0.2 if size > 100 else 0.6)
    for within in (12, 16, 20):
        predicted = SimHash(max_hamming=within).bind(Facts(1)).predicted_recall(true_jaccard)
        measured = (distance <= within).mean()
        assert measured > predicted - 4 * math.sqrt(predicted * (1 - predicted) / 4000) - 1e-3


def test_auto_is_the_least_distance_that_reaches_the_recall():
    for jaccard in (0.5, 0.8, 0.9, 1.0):
        predicate = SimHash(max_hamming="auto", at_jaccard=jaccard).bind(Facts(1))
        d = predicate.max_hamming
        assert predicate.options.max_hamming == d
        assert predicate.predicted_recall(jaccard) >= 0.999
        assert d == 0 or SimHash(max_hamming=d - 1).bind(Facts(1)).predicted_recall(jaccard) < 0.999
    assert SimHash(max_hamming="auto").bind(Facts(1, confirm_jaccard=0.8)).max_hamming == 19


def test_auto_needs_a_threshold_and_a_model():
    with pytest.raises(StageError, match=r"simhash: max_hamming: auto needs .* state at_jaccard"):
        SimHash(max_hamming="auto").bind(Facts(1))
    with pytest.raises(StageError, match="model for weights: set only, not idf"):
        SimHash(max_hamming="auto", weights="idf", at_jaccard=0.8).bind(Facts(1))


@pytest.mark.parametrize(
    "options", [{"max_hamming": -1}, {"max_hamming": 65}, {"max_hamming": "few"}, {"weights": "tf"}, {"recall": 0}]
)
def test_wrong_options_are_refused(options):
    with pytest.raises(ValidationError):
        SimHash(**options)


def test_describes_what_it_does():
    assert SimHash().bind(Facts(9)).describe() == "at most 20 of 64 fingerprint bits differ (weights: set)"
    assert SimHash(max_hamming=3).bind(Facts(9)).describe().endswith("4 tables of block keys")
