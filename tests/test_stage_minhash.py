"""The minhash stage: what it accepts, its keys, its predicted recall, its choice of bands."""

import math

import numpy as np
import oracle_sketch as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from cascade.errors import StageError
from cascade.kernels import chance
from cascade.pairs import Pairs
from cascade.registry import stage_class
from cascade.stage import Facts

MinHash = stage_class("minhash")
SCHEMES = ("affine32", "affine64", "oph")


def every_pair(n: int) -> Pairs:
    left, right = np.triu_indices(n, 1)
    return Pairs(left.astype(np.int64), right.astype(np.int64))


def accepted(predicate, columns, n):
    pairs = every_pair(n)
    answer = predicate.filter(pairs, columns, None)
    return {
        (int(pairs.left[i]), int(pairs.right[i])): s for i, s in zip(answer.index, answer.score.tolist(), strict=True)
    }


def expected(rows, bands, per_band, num_perm, scheme, min_estimate, seed):
    signatures = [oracle.signature(row, num_perm, scheme, seed) for row in rows]
    keys = [oracle.band_keys(s, bands, per_band, seed) for s in signatures]
    out = {}
    for j in range(len(rows)):
        for i in range(j):
            shared = sum(x == y for x, y in zip(keys[i], keys[j], strict=True))
            share = sum(x == y for x, y in zip(signatures[i], signatures[j], strict=True)) / num_perm
            enough = min_estimate is None or share >= min_estimate - 1e-9
            if rows[i] and rows[j] and shared and enough:
                out[i, j] = shared
    return out


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(deadline=None, max_examples=40)
@given(
    rows=st.lists(st.lists(st.integers(0, 30).map(oracle.mix), max_size=12, unique=True), max_size=7),
    bands=st.integers(1, 6),
    per_band=st.integers(1, 3),
    more=st.integers(0, 9),
    min_estimate=st.sampled_from([None, 0.0, 0.3, 0.5, 1.0]),
    seed=st.integers(0, 3),
)
def test_accepts_exactly_what_shares_a_band_and_meets_the_estimate(
    scheme, rows, bands, per_band, more, min_estimate, seed
):
    num_perm = bands * per_band + more
    stage = MinHash(bands=bands, rows_per_band=per_band, num_perm=num_perm, scheme=scheme, min_estimate=min_estimate)
    predicate = stage.bind(Facts(len(rows), seed=seed))
    columns = predicate.columns(oracle.FakeBatch(oracle.csr(rows)))
    found = accepted(predicate, columns, len(rows))
    assert found == expected(rows, bands, per_band, num_perm, scheme, min_estimate, seed)
    keys = predicate.keys(columns)
    assert keys.values.shape == (len(rows), bands)
    assert keys.alive.tolist() == [bool(row) for row in rows]
    assert predicate.keys_per_document == bands
    assert predicate.keys_decide == (min_estimate is None)
    share_a_key = {
        (i, j)
        for i, j in zip(*(side.tolist() for side in np.triu_indices(len(rows), 1)), strict=True)
        if keys.alive[i] and keys.alive[j] and (keys.values[i] == keys.values[j]).any()
    }
    assert set(found) <= share_a_key
    if predicate.keys_decide:
        assert set(found) == share_a_key
    stored = sum(c.nbytes for c in columns.values())
    assert stored == predicate.bytes_per_document * len(rows)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_equal_sets_are_accepted_whatever_their_order(scheme):
    rows = [[1, 2, 3], [3, 1, 2], [9], [9], [], []]
    stage = MinHash(bands=1, rows_per_band=40, min_estimate=1.0, scheme=scheme)
    predicate = stage.bind(Facts(6))
    columns = predicate.columns(oracle.FakeBatch(oracle.csr(rows)))
    assert accepted(predicate, columns, 6) == {(0, 1): 1.0, (2, 3): 1.0}


def test_no_documents():
    predicate = MinHash().bind(Facts(0))
    columns = predicate.columns(oracle.FakeBatch(oracle.csr([])))
    assert columns["keys"].shape == (0, 24)
    assert accepted(predicate, columns, 0) == {}


def test_the_batches_cut_nothing():
    rows = [oracle.overlapping(np.random.default_rng(i), 9, 3)[0][: i % 10] for i in range(20)]
    predicate = MinHash(min_estimate=0.5).bind(Facts(20, seed=3))
    whole = predicate.columns(oracle.FakeBatch(oracle.csr(rows)))
    parts = [predicate.columns(oracle.FakeBatch(oracle.csr(part))) for part in (rows[:7], rows[7:8], rows[8:])]
    for name, column in whole.items():
        assert (np.concatenate([part[name] for part in parts]) == column).all()


@pytest.mark.parametrize(
    ("jaccard", "bands", "per_band", "recall"),
    [(0.5, 16, 8, 0.0607), (0.8, 20, 6, 0.9977), (0.8, 24, 5, 0.99993), (0.8, 14, 8, 0.924), (0.8, 20, 13, 0.6773)],
)
def test_predicted_recall(jaccard, bands, per_band, recall):
    predicate = MinHash(bands=bands, rows_per_band=per_band).bind(Facts(1))
    assert predicate.predicted_recall(jaccard) == pytest.approx(recall, abs=0.0006 if recall < 0.99 else 0.00006)


def test_one_band_of_ten_is_a_power():
    predicate = MinHash(bands=1, rows_per_band=10).bind(Facts(1))
    for jaccard in (0.0, 0.3, 0.8, 0.95, 1.0):
        assert predicate.predicted_recall(jaccard) == pytest.approx(jaccard**10)


def test_half_of_the_pairs_near_07_share_one_of_four_bands_of_five():
    assert MinHash(bands=4, rows_per_band=5).bind(Facts(1)).predicted_recall(0.7) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("jaccard", [0.0, 0.4, 0.7, 0.85, 1.0])
@pytest.mark.parametrize(("bands", "per_band", "num_perm", "least"), [(1, 4, 20, 0.8), (5, 3, 15, 0.6), (3, 2, 9, 0.7)])
def test_recall_with_an_estimate_is_the_measured_one(jaccard, bands, per_band, num_perm, least):
    stage = MinHash(bands=bands, rows_per_band=per_band, num_perm=num_perm, min_estimate=least)
    agree = np.random.default_rng(5).random((200_000, num_perm)) < jaccard
    band = agree[:, : bands * per_band].reshape(-1, bands, per_band).all(axis=2).any(axis=1)
    measured = (band & (agree.sum(axis=1) / num_perm >= least - 1e-9)).mean()
    predicted = stage.bind(Facts(1)).predicted_recall(jaccard)
    assert predicted == pytest.approx(measured, abs=4 * math.sqrt(0.25 / 200_000))


@pytest.mark.parametrize("jaccard", [0.0, 0.3, 0.77, 0.999, 1.0])
@pytest.mark.parametrize(("bands", "rows", "more"), [(1, 1, 0), (1, 9, 40), (3, 4, 1), (60, 7, 0), (300, 2, 77)])
def test_recall_with_an_estimate_is_the_sum_over_all_cases(jaccard, bands, rows, more):
    num_perm = bands * rows + more
    apart = np.ones(1)  # places that agree while no band does: one band after another, then the rest
    for _ in range(bands):
        apart = np.convolve(apart, chance.binomial(rows, jaccard)[:-1])
    apart = np.convolve(apart, chance.binomial(more, jaccard))
    for matches in {0, 1, num_perm // 2, round(jaccard * num_perm), num_perm}:
        expected = chance.at_least(matches, num_perm, jaccard) - math.fsum(apart[matches:])
        got = chance.shared_band_and_estimate(jaccard, bands, rows, num_perm, matches)
        assert got == pytest.approx(max(0.0, expected), abs=1e-12)


def test_an_estimate_of_nothing_changes_nothing():
    for jaccard in (0.0, 0.31, 0.8, 1.0):
        asked = MinHash(bands=7, rows_per_band=3, num_perm=33, min_estimate=0.0).bind(Facts(1))
        assert asked.predicted_recall(jaccard) == pytest.approx(chance.shared_band(jaccard, 7, 3), abs=1e-12)


def test_binomial_tails_equal_scipy():
    stats = pytest.importorskip("scipy.stats")
    for n, p in ((1, 0.5), (64, 0.1515), (128, 0.8), (1000, 0.01), (20, 0.0), (20, 1.0)):
        k = np.arange(-1, n + 1)
        assert [chance.at_most(int(i), n, p) for i in k] == pytest.approx(stats.binom.cdf(k, n, p), abs=1e-12)
        assert [chance.at_least(int(i), n, p) for i in k] == pytest.approx(stats.binom.sf(k - 1, n, p), abs=1e-12)


@pytest.mark.parametrize("jaccard", [0.2, 0.5, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("documents", [1, 1000, 10**6, 10**9])
def test_auto_reaches_the_recall_and_no_fewer_bands_would(jaccard, documents):
    stage = MinHash(bands="auto", rows_per_band="auto", at_jaccard=jaccard)
    predicate = stage.bind(Facts(documents))
    assert predicate.predicted_recall(jaccard) >= 0.999
    assert predicate.options.bands == predicate.bands
    if predicate.bands > 1:
        assert chance.shared_band(jaccard, predicate.bands - 1, predicate.rows_per_band) < 0.999


def test_auto_takes_the_threshold_of_the_confirming_stage_unless_told():
    both = MinHash(bands="auto", rows_per_band="auto")
    confirmed = both.bind(Facts(50_000, confirm_jaccard=0.8))
    assert (confirmed.bands, confirmed.rows_per_band) == (14, 4)
    told = MinHash(bands="auto", rows_per_band="auto", at_jaccard=0.5).bind(Facts(50_000, confirm_jaccard=0.8))
    assert told.predicted_recall(0.5) >= 0.999 > confirmed.predicted_recall(0.5)


def test_longer_bands_in_larger_corpora():
    rows = [
        MinHash(bands="auto", rows_per_band="auto", at_jaccard=0.8).bind(Facts(n)).rows_per_band
        for n in (1000, 10**5, 10**7, 10**9)
    ]
    assert rows == sorted(rows)
    assert rows[0] < rows[-1]


def test_one_of_the_two_may_be_auto_alone():
    bands = MinHash(bands="auto", rows_per_band=6, at_jaccard=0.8).bind(Facts(1000))
    assert (bands.bands, bands.rows_per_band) == (23, 6)
    rows = MinHash(bands=20, rows_per_band="auto", at_jaccard=0.8, recall=0.99).bind(Facts(10**9))
    assert rows.predicted_recall(0.8) >= 0.99
    assert chance.shared_band(0.8, 20, rows.rows_per_band + 1) < 0.99


def test_auto_with_an_estimate_counts_both():
    stage = MinHash(bands="auto", rows_per_band="auto", at_jaccard=0.8, min_estimate=0.6)
    assert stage.bind(Facts(1000)).predicted_recall(0.8) >= 0.999


@pytest.mark.parametrize(("documents", "least"), [(1000, 0.795), (10**6, 0.796), (10**9, 0.5)])
def test_auto_in_a_signature_of_the_greatest_length_looks_at_few_sums(documents, least):
    chance.shared_band_and_estimate.cache_clear()
    stage = MinHash(bands="auto", rows_per_band="auto", at_jaccard=0.8, num_perm=100_000, min_estimate=least)
    found = stage.bind(Facts(documents))
    assert found.predicted_recall(0.8) >= 0.999
    assert chance.shared_band_and_estimate.cache_info().misses < 100
    assert (
        stage.model_copy(update={"bands": found.bands - 1}).bind(Facts(documents)).rows_per_band < found.rows_per_band
    )


@pytest.mark.parametrize("jaccard", [1e-6, 1e-300, 5e-324])
@pytest.mark.parametrize("min_estimate", [None, 0.5])
def test_auto_for_hardly_any_similarity_is_out_of_reach(jaccard, min_estimate):
    stage = MinHash(bands="auto", rows_per_band="auto", at_jaccard=jaccard, min_estimate=min_estimate)
    with pytest.raises(StageError, match="at most 4096 permutations finds pairs of Jaccard"):
        stage.bind(Facts(1000))


def test_auto_for_hardly_any_recall_is_one_band():
    assert MinHash(bands="auto", rows_per_band=1, at_jaccard=1e-6, recall=5e-7).bind(Facts(1000)).bands == 1


def test_auto_without_a_threshold_says_what_to_state():
    with pytest.raises(StageError, match=r"minhash: auto needs the Jaccard similarity .* state at_jaccard"):
        MinHash(bands="auto").bind(Facts(10))


def test_auto_out_of_reach_says_so():
    with pytest.raises(StageError, match=r"at most 8 permutations finds pairs of Jaccard 0.5 .* raise num_perm"):
        MinHash(bands="auto", rows_per_band="auto", num_perm=8, at_jaccard=0.5).bind(Facts(10))
    with pytest.raises(StageError, match="lower recall or min_estimate"):
        MinHash(bands="auto", rows_per_band="auto", at_jaccard=0.8, min_estimate=0.8).bind(Facts(10))


@pytest.mark.parametrize(
    "options",
    [
        {"num_perm": 119},
        {"bands": 0},
        {"rows_per_band": 0},
        {"bands": "many"},
        {"scheme": "xor"},
        {"min_estimate": 1.1},
        {"at_jaccard": 0.0},
        {"recall": 1.0},
        {"bands": "auto", "rows_per_band": 9, "num_perm": 8},
        {"scheme": "oph", "num_perm": 5000},
        {"bands": 10_001},
        {"rows_per_band": 1001},
        {"num_perm": 100_001},
        {"bands": 1001, "rows_per_band": 100},
        {"min_jaccard": 0.8},
    ],
)
def test_wrong_options_are_refused(options):
    with pytest.raises(ValidationError):
        MinHash(**options)


def test_too_few_permutations_are_named():
    with pytest.raises(ValidationError, match="num_perm is 100, but 24 bands of 5 rows need 120 permutations"):
        MinHash(num_perm=100)


def test_the_longest_signature():
    assert MinHash(bands=1000, rows_per_band=100).bind(Facts(1)).num_perm == 100_000
    with pytest.raises(ValidationError, match="bands × rows_per_band is 100100, and more than 100000 permutations"):
        MinHash(bands=1001, rows_per_band=100)


def test_describes_what_it_does():
    assert MinHash().bind(Facts(1)).describe() == "a shared band of 24 × 5 (120 permutations, affine32)"
    more = MinHash(bands=1, rows_per_band=4, num_perm=20, min_estimate=0.8).bind(Facts(1))
    assert more.describe().endswith("and at least 16 of 20 places equal")
