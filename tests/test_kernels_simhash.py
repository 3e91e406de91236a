"""SimHash kernels against plain loops; golden values pin fingerprints and block keys."""

import numpy as np
import oracle_sketch as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade.kernels import simhash

HASH = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**63, 2**64 - 1]))


def plain(rows: list[list[int]]) -> list[int]:
    shingles = oracle.csr(rows)
    out = np.full(len(rows), 77, np.uint64)
    simhash.fingerprints(shingles.hashes, shingles.indptr, out)
    return out.tolist()


def weighted(rows: list[list[int]], weights: list[list[int]]) -> list[int]:
    shingles = oracle.csr(rows, weights)
    out = np.full(len(rows), 77, np.uint64)
    simhash.weighted_fingerprints(shingles.hashes, shingles.counts, shingles.indptr, out)
    return out.tolist()


@settings(deadline=None, max_examples=100)
@given(st.lists(st.lists(HASH, max_size=70), max_size=5))
def test_fingerprints_equal_the_plain_ones(rows):
    assert plain(rows) == [oracle.fingerprint(row) for row in rows]


@pytest.mark.parametrize("size", [1, 2, 15, 16, 17, 31, 32, 33, 255, 256, 257, 1000, 4096])
def test_fingerprints_of_every_size(size):
    rng = np.random.default_rng(size)
    row = rng.integers(0, 2**64, size, dtype=np.uint64).tolist()
    assert plain([row, [], row[:1]]) == [oracle.fingerprint(row), 0, row[0]]


def test_many_equal_words_overflow_no_counter():
    word = 0xDEADBEEF12345678
    for count in (255, 256, 257, 65536, 70001):
        assert plain([[word] * count]) == [word]
        assert plain([[word] * count + [word ^ (2**64 - 1)] * (count - 1)]) == [word]


def test_a_tie_is_zero():
    assert plain([[0b0011, 0b0101], [2**64 - 1, 0], []]) == [0b0001, 0, 0]
    assert weighted([[0b0011, 0b0101], [2**64 - 1, 0]], [[3, 3], [9, 9]]) == [0b0001, 0]


@settings(deadline=None, max_examples=80)
@given(st.lists(st.lists(st.tuples(HASH, st.integers(0, 2**32 - 1)), max_size=20), max_size=4))
def test_weighted_fingerprints_equal_the_plain_ones(rows):
    hashes = [[h for h, _ in row] for row in rows]
    weights = [[w for _, w in row] for row in rows]
    assert weighted(hashes, weights) == [oracle.fingerprint(h, w) for h, w in zip(hashes, weights, strict=True)]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(HASH, st.booleans()), min_size=1, max_size=8))
def test_distances_are_counted_on_all_bits(rows):
    words, alive = map(list, zip(*rows, strict=True))
    pairs = [(i, j) for i in range(len(rows)) for j in range(len(rows))]
    left, right = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    out = np.empty(len(pairs), np.int64)
    simhash.distances(np.array(words, np.uint64), np.array(alive), left, right, out)
    assert out.tolist() == [bin(words[i] ^ words[j]).count("1") if alive[i] and alive[j] else 65 for i, j in pairs]


def near(words, lefts, rights, max_hamming, capacity):
    """Pairs of a row of `lefts` with a later one of `rights` within the distance, as the kernel gives them."""
    cursor = np.zeros(4, np.int64)
    left, right = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    ends = np.searchsorted(lefts, rights)
    found: list[tuple[int, int]] = []
    while not cursor[0]:
        n = simhash.near_words(words[lefts], lefts, words[rights], rights, ends, max_hamming, cursor, left, right)
        found += zip(left[:n].tolist(), right[:n].tolist(), strict=True)
    return found


@settings(deadline=None, max_examples=60)
@given(
    words=st.lists(st.tuples(st.one_of(HASH, st.integers(0, 7)), st.booleans(), st.booleans()), max_size=150),
    max_hamming=st.integers(0, 64),
    capacity=st.sampled_from([64, 65, 1000]),
)
def test_all_near_pairs_come_once(words, max_hamming, capacity):
    values = np.array([w for w, _, _ in words], np.uint64)
    lefts = np.array([i for i, (_, on_left, _) in enumerate(words) if on_left], np.int64)
    rights = np.array([i for i, (_, _, on_right) in enumerate(words) if on_right], np.int64)
    found = near(values, lefts, rights, max_hamming, capacity)
    assert len(found) == len(set(found))
    expected = oracle.near_pairs(values.tolist(), [True] * len(words), 0, len(words), max_hamming)
    assert set(found) == {(a, b) for a, b in expected if words[a][1] and words[b][2]}


@pytest.mark.parametrize("capacity", [64, 4096, 1 << 20])
def test_near_pairs_over_several_tiles(capacity):
    rng = np.random.default_rng(1)
    words = rng.integers(0, 2**64, 5000, dtype=np.uint64)
    words[4999], words[2048], words[2047] = words[0], words[2047] ^ np.uint64(1), words[1]
    rows = np.array([i for i in range(5000) if i % 7], np.int64)
    expected = []
    for i in rows[rows >= 1500].tolist():
        close = np.flatnonzero(np.bitwise_count(words[:i] ^ words[i]) <= 20)
        expected += [(j, i) for j in close.tolist() if j % 7]
    early, late = rows[(rows >= 1500) & (rows < 3000)], rows[rows >= 3000]
    found = near(words, rows, early, 20, capacity) + near(words, rows, late, 20, capacity)
    assert len(expected) > 1000
    assert sorted(found) == sorted(expected)
    assert near(words, rows, early, 20, 64) == near(words, rows, early, 20, 9999)


@settings(deadline=None, max_examples=60)
@given(a=HASH, b=HASH, masks=st.lists(HASH, min_size=1, max_size=4))
def test_block_keys_are_equal_iff_the_masked_bits_are(a, b, masks):
    out = np.empty((2, len(masks)), np.uint64)
    simhash.block_keys(np.array([a, b], np.uint64), np.array(masks, np.uint64), out)
    assert (out[0] == out[1]).tolist() == [a & m == b & m for m in masks]


def test_counts_saturate():
    table = np.array([0, 2**32 - 2, 2**32 - 1, 5], np.uint32)
    simhash.count_slots(np.array([0, 1, 1, 1, 2, 0], np.uint32), table)
    assert table.tolist() == [2, 2**32 - 1, 2**32 - 1, 5]


def test_slot_weights_are_logarithms_of_rarity():
    for documents in (0, 1, 5, 1000, 50_000, 10**9):
        holding = sorted({0, 1, 2, documents // 3, documents, min(2**32 - 1, 3 * documents)})
        weights = simhash.slot_weights(np.array(holding, np.uint32), documents)
        for count, weight in zip(holding, weights.tolist(), strict=True):
            assert weight >= 1
            assert weight == pytest.approx(max(1.0, oracle.rarity(documents, count)), abs=2)


def test_golden_fingerprints():
    row = [oracle.mix(i) for i in range(101)]
    assert plain([row]) == [GOLDEN_FINGERPRINT]
    assert weighted([row], [list(range(101))]) == [GOLDEN_WEIGHTED]
    out = np.empty((1, 2), np.uint64)
    simhash.block_keys(np.array([12345], np.uint64), np.array([0xFFFF, 0xFF00], np.uint64), out)
    assert out[0].tolist() == GOLDEN_BLOCK_KEYS


GOLDEN_FINGERPRINT = 14384355551988554301
GOLDEN_WEIGHTED = 17266094709721444893
GOLDEN_BLOCK_KEYS = [17540659726606785873, 2776408313259608289]
