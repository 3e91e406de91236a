"""Sketches as a library: known answers, estimator statistics, unions, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import oracle_sketch as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade import sketch
from cascade.registry import stage_class
from cascade.stage import Facts

SCHEMES = ("affine32", "affine64", "oph")
HASH = st.integers(0, 2**64 - 1)
SET = st.lists(HASH, max_size=30)


def pair(rng: np.random.Generator, size: int, common: int) -> tuple[np.ndarray, np.ndarray]:
    """Two sets of `size` random hashes that share `common`."""
    pool = rng.integers(0, 2**64, 2 * size - common, dtype=np.uint64)
    return pool[:size], pool[size - common :]


# --- signatures and estimates


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(deadline=None, max_examples=40)
@given(shingles=SET, num_perm=st.integers(1, 40), seed=st.integers(-3, 3))
def test_a_signature_is_the_plain_one(scheme, shingles, num_perm, seed):
    made = sketch.signature(shingles, num_perm, scheme, seed)
    assert made.values.tolist() == oracle.signature(shingles, num_perm, scheme, seed)
    assert len(made) == num_perm
    assert made == sketch.signature(np.array(shingles[::-1] * 2, np.uint64), num_perm, scheme, seed)
    assert made.is_empty == (not shingles)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_stage_has_the_same_signatures(scheme):
    rows = [[oracle.mix(i) for i in range(n)] for n in (1, 7, 0, 300)]
    stage = stage_class("minhash")(scheme=scheme, num_perm=130, min_estimate=0.5)
    columns = stage.bind(Facts(4, seed=11)).columns(oracle.FakeBatch(oracle.csr(rows)))
    for row, stored in zip(rows, columns["signature"], strict=True):
        assert (sketch.signature(row, 130, scheme, seed=11).values == stored).all()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_estimate_is_unbiased_and_its_variance_is_the_binomial_one(scheme):
    rng = np.random.default_rng(20)
    num_perm, size, z, errors = 128, 4000, [], []
    for i in range(1000):
        common = int(rng.integers(size // 10, size * 9 // 10))
        a, b = pair(rng, size, common)
        true = common / (2 * size - common)
        found = sketch.estimate(*(sketch.signature(x, num_perm, scheme, seed=i % 10) for x in (a, b)))
        z.append((found - true) / math.sqrt(true * (1 - true) / num_perm))
        errors.append(found - true)
    assert 0.9 < np.mean(np.square(z)) < 1.1
    assert abs(np.mean(errors)) < 3 * np.std(errors) / math.sqrt(1000)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("size", "common"), [(1, 0), (2, 1), (3, 2), (10, 5), (40, 30)])
def test_the_estimate_of_small_sets_is_unbiased(scheme, size, common):
    rng = np.random.default_rng(size)
    true = common / (2 * size - common)
    found = [
        sketch.estimate(*(sketch.signature(x, 64, scheme, seed=i) for x in pair(rng, size, common))) for i in range(600)
    ]
    assert abs(np.mean(found) - true) <= 4 * max(np.std(found), 1e-3) / math.sqrt(600)


def test_estimates_agree_with_those_of_another_library():
    datasketch = pytest.importorskip("datasketch")
    rng = np.random.default_rng(3)
    ours, theirs, true = [], [], []
    for _ in range(150):
        common = int(rng.integers(0, 301))
        sides = pair(rng, 300, common)
        hashes = []
        for side in sides:
            other = datasketch.MinHash(num_perm=128, hashfunc=lambda h: h & 0xFFFFFFFF)
            other.update_batch(side.tolist())
            hashes.append(other)
        theirs.append(hashes[0].jaccard(hashes[1]))
        ours.append(sketch.estimate(*(sketch.signature(side) for side in sides)))
        true.append(common / (600 - common))
    ours, theirs, true = np.array(ours), np.array(theirs), np.array(true)
    expected = math.sqrt(np.mean(true * (1 - true)) / 128)
    for estimates in (ours, theirs):
        assert np.sqrt(np.mean((estimates - true) ** 2)) == pytest.approx(expected, rel=0.25)
    assert abs(np.mean(ours - theirs)) < 4 * expected * math.sqrt(2 / 150)


@pytest.mark.slow
def test_affine32_saturates_and_affine64_does_not():
    def streamed(rng, num_perm, scheme):
        values = None
        for _ in range(100):
            part = sketch.signature(rng.integers(0, 2**64, 10**6, dtype=np.uint64), num_perm, scheme)
            values = part if values is None else sketch.union(values, part)
        return values

    estimates = {}
    for scheme, num_perm in (("affine32", 1024), ("affine64", 256)):
        a, b = (streamed(np.random.default_rng(seed), num_perm, scheme) for seed in (1, 2))
        estimates[scheme] = sketch.estimate(a, b)
    # Minima of 10^8 of 2^32 values are geometric with p = 10^8 / 2^32: two of them agree with p / (2 - p) = 0.0118.
    assert estimates["affine32"] == pytest.approx(0.0118, abs=4 * math.sqrt(0.0118 / 1024))
    assert estimates["affine32"] > 0
    assert estimates["affine64"] == 0


def test_two_toy_permutations_cannot_tell_two_thirds_from_all():
    first = {"red blue": 1, "blue green": 3, "green yellow": 4, "black white": 2}
    second = {"red blue": 4, "blue green": 1, "green yellow": 3, "black white": 2}
    documents = {
        "D1": ["red blue", "blue green"],
        "D2": ["red blue", "blue green", "green yellow"],
        "D3": ["black white"],
        "D4": ["red blue", "blue green"],
    }
    made = {
        name: sketch.Signature(np.array([min(map(h.get, s)) for h in (first, second)], np.uint32), "affine32", 0)
        for name, s in documents.items()
    }
    assert {name: s.values.tolist() for name, s in made.items()} == {
        "D1": [1, 1],
        "D2": [1, 1],
        "D3": [2, 2],
        "D4": [1, 1],
    }
    assert sketch.estimate(made["D1"], made["D2"]) == 1.0
    assert sketch.jaccard(documents["D1"], documents["D2"]) == pytest.approx(2 / 3)
    assert sketch.estimate(made["D1"], made["D3"]) == sketch.jaccard(documents["D1"], documents["D3"]) == 0.0
    assert sketch.jaccard(documents["D1"], documents["D4"]) == 1.0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_empty_set_is_like_nothing_but_itself(scheme):
    empty, one = sketch.signature([], 16, scheme), sketch.signature([5], 16, scheme)
    assert sketch.estimate(empty, empty) == 1.0
    assert sketch.estimate(empty, one) == sketch.estimate(one, empty) == 0.0
    assert sketch.union(empty, one) == one
    assert sketch.union(empty, empty).is_empty


# --- unions


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(deadline=None, max_examples=60)
@given(a=SET, b=SET, c=SET)
def test_the_union_of_signatures_is_the_signature_of_the_union(scheme, a, b, c):
    made = [sketch.signature(s, 24, scheme, 5) for s in (a, b, c)]
    left = sketch.union(sketch.union(made[0], made[1]), made[2])
    right = sketch.union(made[2], sketch.union(made[1], made[0]))
    assert left == right == sketch.signature(a + b + c, 24, scheme, 5)


@pytest.mark.parametrize("function", [sketch.estimate, sketch.union])
@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"scheme": "affine64"}, "signatures differ in scheme: 'affine32' and 'affine64'; make both with the same"),
        ({"scheme": "oph"}, "signatures differ in scheme: 'affine32' and 'oph'; make both with the same"),
        ({"seed": 1}, "signatures differ in seed: 0 and 1; make both with the same"),
        ({"num_perm": 64}, "signatures differ in num_perm: 128 and 64; make both with the same"),
    ],
)
def test_signatures_of_different_kinds_are_neither_compared_nor_united(function, change, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        function(sketch.signature([1, 2]), sketch.signature([1, 2], **change))


def test_signatures_are_frozen():
    made = sketch.signature([1, 2])
    with pytest.raises(ValueError, match="read-only"):
        made.values[0] = 0
    with pytest.raises(AttributeError):
        made.seed = 3
    assert made != sketch.signature([1, 2], seed=1)
    assert made != 5


# --- what is refused


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (([-1],), ValueError),
        (([2**64],), ValueError),
        (([1.5],), TypeError),
        ((["a"],), TypeError),
        ((np.array([-1]),), ValueError),
        ((np.array([1.5]),), TypeError),
        ((np.array([[1]]),), TypeError),
        (([1], 0), ValueError),
        (([1], 5000, "oph"), ValueError),
        (([1], 8, "xor"), ValueError),
    ],
)
def test_what_is_no_set_of_hashes_is_refused(arguments, error):
    with pytest.raises(error):
        sketch.signature(*arguments)


def test_hashes_of_any_integer_kind_are_the_same():
    plain = sketch.signature([1, 2, 3])
    for dtype in (np.uint8, np.int32, np.int64, np.uint64):
        assert sketch.signature(np.array([3, 2, 1], dtype)) == plain
    assert sketch.signature(np.arange(1, 7, dtype=np.uint64)[::2]) == sketch.signature([1, 3, 5])
    assert sketch.signature({1, 2, 3}) == sketch.signature(iter([1, 2, 3])) == plain
    assert sketch.signature(np.array([], np.uint64)) == sketch.signature([])
    frozen = np.array([1, 2, 3], np.uint64)
    frozen.flags.writeable = False
    assert sketch.signature(frozen) == plain


# --- fingerprints


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(HASH, st.integers(0, 2**32 - 1)), max_size=40))
def test_a_fingerprint_is_the_plain_one(rows):
    hashes, counts = [h for h, _ in rows], [c for _, c in rows]
    assert sketch.fingerprint(hashes + hashes[:3]) == oracle.fingerprint(sorted(set(hashes)))
    assert sketch.fingerprint(hashes, counts) == oracle.fingerprint(hashes, counts)


def test_fingerprints_of_nothing_and_of_one():
    assert sketch.fingerprint([]) == 0
    assert sketch.fingerprint([], []) == 0
    assert sketch.fingerprint([2**64 - 1]) == 2**64 - 1
    assert isinstance(sketch.fingerprint([3]), int)


@pytest.mark.parametrize("counts", [[1], [1, 2, 3], [-1, 1], [2**32, 1], [0.5, 1.0]])
def test_wrong_counts_are_refused(counts):
    with pytest.raises(ValueError, match="counts"):
        sketch.fingerprint([1, 2], counts)


def test_hamming_counts_all_64_bits_of_numbers():
    assert sketch.hamming(5, 15) == 2
    assert sketch.hamming(0, 18446744073709551615) == 64
    assert sketch.hamming(3101226222469724760, 3101226222469724760) == 0
    assert sketch.hamming(np.uint64(2**63), np.uint64(1)) == 2
    for wrong in ((-1, 0), (0, 2**64)):
        with pytest.raises(ValueError, match="not between 0 and"):
            sketch.hamming(*wrong)
    with pytest.raises(TypeError):
        sketch.hamming("5", 15)


# --- exact similarities


@settings(deadline=None, max_examples=100)
@given(a=st.lists(st.integers(0, 9)), b=st.lists(st.integers(0, 9)))
def test_jaccard_and_containment_are_those_of_sets(a, b):
    x, y = set(a), set(b)
    assert sketch.jaccard(a, b) == float(Fraction(len(x & y), len(x | y)) if x | y else 1)
    assert sketch.jaccard(np.array(a, np.uint64), b) == sketch.jaccard(b, a)
    if x and y:
        assert sketch.containment(a, b) == float(Fraction(len(x & y), min(len(x), len(y))))
    else:
        assert sketch.containment(a, b) == (0.0 if x or y else 1.0)
    assert sketch.containment(a, np.array(b, np.uint64)) == sketch.containment(b, a)


@pytest.mark.parametrize(
    ("jaccard", "bands", "rows", "recall"),
    [
        (0.8, 1, 4, 0.4096),
        (0.8, 8, 16, 0.20420197350439973),
        (0.8, 20, 6, 0.9977121251546806),
        (0.8, 24, 5, 0.9999272513836845),
        (0.5, 64, 1, 1.0),
        (0.5, 16, 8, 0.06070),
        (0.0, 5, 5, 0.0),
        (1.0, 5, 5, 1.0),
    ],
)
def test_predicted_recall(jaccard, bands, rows, recall):
    assert sketch.predicted_recall(jaccard, bands, rows) == pytest.approx(recall, abs=5e-6)


@pytest.mark.parametrize("arguments", [(-0.1, 1, 1), (1.1, 1, 1), (0.5, 0, 1), (0.5, 1, 0), (math.nan, 1, 1)])
def test_recall_out_of_range_is_refused(arguments):
    with pytest.raises(ValueError, match="expected"):
        sketch.predicted_recall(*arguments)


@pytest.mark.parametrize(
    ("a", "b", "similarity"),
    [
        ("", "", 1.0),
        ("", "abc", 0.0),
        ("s", "s.", 0.5),
        ("中", "a", 0.0),
        ("中文", "中国", 0.5),
        ("0", "101", 1 / 3),
        ("-", "-", 1.0),
        ("a😀", "a😁", 0.5),
        ("kitten", "sitting", 4 / 7),
        ("plants", "plan", 4 / 6),
        ("gain", "align", 2 / 5),
        ("courtyard", "card", 4 / 9),
        ("oars", "oceanographer", 3 / 13),
        ("South Harbor", "North Harbor", 10 / 12),
        ("a\0b", "a\0c", 2 / 3),
        ("\0abc", "\0xyz", 1 / 4),
        ("\0", "\0", 1.0),
        ("\0", "a", 0.0),
        ("a" * 65, "aĀ" + "a" * 63, 64 / 65),
        ("".join(map(chr, range(0x4E00, 0x4E00 + 300))), "".join(map(chr, range(0x4E01, 0x4E00 + 301))), 298 / 300),
    ],
)
def test_edit_similarity(a, b, similarity):
    assert sketch.edit_similarity(a, b) == sketch.edit_similarity(b, a) == similarity


def test_a_long_run_of_one_character_needs_no_table():
    a, b = "x" * 100_000, "x" * 50_000 + "y" + "x" * 49_999
    assert sketch.edit_similarity(a, b) == 0.99999


GOLDEN_SIGNATURES = {
    "affine32": [59799834, 270695406, 97712421, 663828677, 545803498],
    "affine64": [
        2904061614453015846,
        2416218090274100211,
        2842341503075353393,
        1871650934129512247,
        2136767041853477572,
    ],
    "oph": [63793549, 2544991354, 96133460, 63793549, 798589844],
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_golden_signatures(scheme):
    shingles = [oracle.mix(i) for i in range(10)]
    assert sketch.signature(shingles, 5, scheme).values.tolist() == GOLDEN_SIGNATURES[scheme]


def test_golden_fingerprint():
    assert sketch.fingerprint([oracle.mix(i) for i in range(10)]) == 10529996733731766724
