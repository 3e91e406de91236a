"""MinHash kernels against plain loops; golden values pin signatures and band keys."""

import numpy as np
import oracle_sketch as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade.kernels import minhash

SCHEMES = ("affine32", "affine64", "oph")
HASH = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1]))
ROWS = st.lists(st.lists(HASH, max_size=40), max_size=6)


def matrix(rows: list[list[int]], num_perm: int, scheme: str, seed: int) -> list[list[int]]:
    shingles = oracle.csr(rows)
    return minhash.signatures(shingles.hashes, shingles.indptr, num_perm, scheme, seed)[:, :num_perm].tolist()


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(deadline=None, max_examples=60)
@given(rows=ROWS, num_perm=st.integers(1, 37), seed=st.sampled_from([0, 1, 7, 2**64 - 1, -1]))
def test_signatures_equal_the_plain_ones(scheme, rows, num_perm, seed):
    assert matrix(rows, num_perm, scheme, seed) == [oracle.signature(row, num_perm, scheme, seed) for row in rows]


@pytest.mark.parametrize("filled", [1, 2, 20, 63, 64, 65, 90, 127, 128])
def test_densifying_by_claims_and_by_probes_is_one_rule(filled):
    rng = np.random.default_rng(filled)
    raw = [None] * 128
    for k in rng.choice(128, filled, replace=False):
        raw[k] = int(rng.integers(0, 2**32 - 1))
    given_raw = np.array([[2**32 - 1 if v is None else v for v in raw]], np.uint32)
    assert minhash.densified(given_raw, 5)[0].tolist() == oracle.densified(raw, 5)


def test_every_bin_asks_every_other_once_and_evenly():
    order, claims = minhash.donors(64, np.uint64(3))
    assert (np.sort(order, axis=1) == np.arange(64)).all()
    assert (order[:, 0] == np.arange(64)).all()
    place = (claims >> np.uint32(16)).T
    assert (np.take_along_axis(place, order.astype(np.int64), axis=1) == np.arange(64)).all()
    # The first bin asked, over many bins and seeds, is uniform: chi-square of 63 degrees, mean 63, deviation 11.2.
    firsts = np.concatenate([minhash.donors(64, np.uint64(s))[0][:, 1] for s in range(200)])
    counts = np.bincount(firsts, minlength=64)
    assert ((counts - 200) ** 2 / 200).sum() < 63 + 4 * 11.2


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(deadline=None, max_examples=40)
@given(row=st.lists(HASH, min_size=1, max_size=30), data=st.data())
def test_a_signature_is_of_the_set(scheme, row, data):
    shuffled = data.draw(st.permutations(row)) + row[:1]
    assert matrix([row], 24, scheme, 0) == matrix([shuffled], 24, scheme, 0)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_empty_document_inherits_nothing(scheme):
    top = 2**64 - 1 if scheme == "affine64" else 2**32 - 1
    one, empty, other, last = matrix([[5], [], [6], []], 16, scheme, 0)
    assert empty == last == [top] * 16
    assert top not in one + other


def test_a_longer_affine_signature_begins_with_the_shorter():
    row = list(map(oracle.mix, range(50)))
    for scheme in ("affine32", "affine64"):
        assert matrix([row], 100, scheme, 9)[0][:21] == matrix([row], 21, scheme, 9)[0]


def test_multipliers_are_odd_and_differ():
    for bits in (32, 64):
        a, b = minhash.parameters(256, 0, bits)
        assert (a & a.dtype.type(1) == 1).all()
        assert len(set(a.tolist())) == len(set(b.tolist())) == 256
        assert set(a.tolist()).isdisjoint(minhash.parameters(256, 1, bits)[0].tolist())


@settings(deadline=None, max_examples=60)
@given(
    values=st.lists(st.lists(st.integers(0, 2**64 - 1), min_size=12, max_size=12), max_size=5),
    shape=st.sampled_from([(1, 1), (1, 12), (12, 1), (3, 4), (2, 5)]),
    seed=st.sampled_from([0, 3, 2**64 - 1]),
)
def test_band_keys_equal_the_plain_ones(values, shape, seed):
    for dtype, top in ((np.uint64, 2**64 - 1), (np.uint32, 2**32 - 1)):
        table = [[v & top for v in row] for row in values]
        out = np.zeros((len(table), shape[0]), np.uint64)
        minhash.band_keys(np.array(table, dtype).reshape(-1, 12), *shape, np.uint64(seed), out)
        assert out.tolist() == [oracle.band_keys(row, *shape, seed) for row in table]


def test_band_and_seed_are_in_the_key():
    same = np.full((1, 10), 7, np.uint32)
    keys = np.empty((1, 5), np.uint64)
    again = np.empty((1, 5), np.uint64)
    minhash.band_keys(same, 5, 2, np.uint64(0), keys)
    minhash.band_keys(same, 5, 2, np.uint64(1), again)
    assert len({*keys[0].tolist(), *again[0].tolist()}) == 10


@settings(deadline=None, max_examples=40)
@given(
    table=st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), min_size=1, max_size=6),
    data=st.data(),
)
def test_agreements_equal_the_plain_ones(table, data):
    n = len(table)
    alive = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    pairs = [(i, j) for i in range(n) for j in range(n)]
    left, right = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    out = np.full(len(pairs), -1, np.int64)
    minhash.agreements(np.array(table, np.uint64), np.array(alive), left, right, out)
    assert out.tolist() == [
        sum(x == y for x, y in zip(table[i], table[j], strict=True)) if alive[i] and alive[j] else 0 for i, j in pairs
    ]


GOLDEN_SIGNATURES = {
    "affine32": [793289807, 626341182, 2001008006, 1762168275],
    "affine64": [8256005565515817539, 5050598689189873755, 8594263945309925799, 7568455113279877622],
    "oph": [493621408, 493621408, 493621408, 493621408],
}
GOLDEN_KEYS = [16725797989701182607, 18328119029999688571]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_golden_signatures(scheme):
    assert matrix([[1, 2**40 + 3, 2**64 - 1]], 4, scheme, 42) == [GOLDEN_SIGNATURES[scheme]]


def test_golden_keys():
    out = np.empty((1, 2), np.uint64)
    minhash.band_keys(np.array([[1, 2, 3, 4]], np.uint32), 2, 2, np.uint64(42), out)
    assert out[0].tolist() == GOLDEN_KEYS
