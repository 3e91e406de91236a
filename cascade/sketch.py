"""Sketches and similarities of single sets and texts, as a library: plain functions of arrays, ints and strings.

Shingling texts, and doing this for a whole corpus, live elsewhere; the numbers are those that the stages compute.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

Scheme = Literal["affine32", "affine64", "oph"]
Hashes = npt.NDArray[np.uint64] | Iterable[int]


@dataclass(frozen=True, eq=False)
class Signature:
    """A MinHash signature: `values` is uint32 (affine64: uint64) [num_perm], read-only.

    Comparable with signatures of the same scheme, seed and length only. `filled` (bool[num_perm]; oph alone) says which
    bins held a shingle before densification, so that signatures can be united.
    """

    values: npt.NDArray[Any]
    scheme: Scheme
    seed: int
    filled: npt.NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Signature):
            return NotImplemented
        return (self.scheme, self.seed) == (other.scheme, other.seed) and np.array_equal(self.values, other.values)

    __hash__ = None  # type: ignore[assignment]

    @property
    def is_empty(self) -> bool:
        """True for the signature of the empty set: the greatest value everywhere."""
        return bool((self.values == np.iinfo(self.values.dtype).max).all())


def signature(shingles: Hashes, num_perm: int = 128, scheme: Scheme = "affine32", seed: int = 0) -> Signature:
    """MinHash signature of a set of uniform 64-bit shingle hashes, as the minhash stage makes it; repeats do nothing.

    Two places agree with probability J, the Jaccard similarity of the sets (Broder, On the Resemblance and Containment
    of Documents, 1997). affine32: minima of a·x + b mod 2^32 over the low halves, whose estimates saturate near 10^8
    shingles; affine64: the same mod 2^64; oph: one permutation, optimally densified (Shrivastava 2017). Raises
    ValueError for what is no scheme, no positive num_perm (oph: at most 4096) or no hash, TypeError for what is no
    integer.
    """
    from cascade.kernels import minhash

    if scheme not in get_args(Scheme):
        raise ValueError(f"scheme is {scheme!r}, expected one of {', '.join(get_args(Scheme))}")
    if num_perm < 1 or (scheme == "oph" and num_perm > minhash.MOST_BINS):
        most = f" to {minhash.MOST_BINS}" if scheme == "oph" else " or more"
        raise ValueError(f"num_perm is {num_perm}, expected 1{most}")
    hashes = _hashes(shingles)
    indptr = np.array([0, len(hashes)], np.int64)
    if scheme != "oph":
        return _sealed(minhash.signatures(hashes, indptr, num_perm, scheme, seed)[0, :num_perm], scheme, seed)
    return _from_bins(minhash.bins(hashes, indptr, num_perm, seed), seed)


def estimate(a: Signature, b: Signature) -> float:
    """Estimated Jaccard similarity: the share of places that agree. Its variance is J(1 - J) / num_perm, nearly.

    Of two empty sets 1, of an empty and another 0. Raises ValueError when scheme, seed or length differ.
    """
    _check_comparable(a, b)
    if a.is_empty != b.is_empty:
        return 0.0
    return float(np.count_nonzero(a.values == b.values) / len(a))


def union(a: Signature, b: Signature) -> Signature:
    """The signature of the union of both sets. Raises ValueError when scheme, seed or length differ.

    Least value in each place; for oph of the bins before densification, which is then done anew.
    """
    _check_comparable(a, b)
    if a.filled is None or b.filled is None:
        return _sealed(np.minimum(a.values, b.values), a.scheme, a.seed)
    empty = np.iinfo(np.uint32).max
    raw = np.minimum(np.where(a.filled, a.values, empty), np.where(b.filled, b.values, empty))
    return _from_bins(raw.astype(np.uint32)[None, :], a.seed)


def fingerprint(shingles: Hashes, counts: npt.ArrayLike | None = None) -> int:
    """64-bit SimHash (Charikar 2002) of shingle hashes: bit j is 1 iff those with bit j weigh more than the others.

    Without `counts` each distinct shingle weighs 1; else shingles[i] weighs counts[i] (0 to 2^32 - 1). A tie is 0, and
    so is the fingerprint of nothing. Raises ValueError for counts of another length or range.
    """
    from cascade.kernels import simhash

    hashes = _hashes(shingles)
    out = np.zeros(1, np.uint64)
    if counts is None:
        distinct = np.unique(hashes)
        simhash.fingerprints(distinct, np.array([0, len(distinct)], np.int64), out)
        return int(out[0])
    weights = np.asarray(counts)
    if weights.shape != hashes.shape:
        raise ValueError(f"counts has the shape {weights.shape}, expected one for each of {len(hashes)} shingles")
    if len(weights) and (weights.dtype.kind not in "iu" or weights.min() < 0 or weights.max() >= 1 << 32):
        raise ValueError("counts must be integers from 0 to 2^32 - 1")
    simhash.weighted_fingerprints(hashes, weights.astype(np.uint32), np.array([0, len(hashes)], np.int64), out)
    return int(out[0])


def hamming(a: int, b: int) -> int:
    """Bits in which two fingerprints differ. Raises ValueError for what does not fit into 64 bits."""
    for value in (a, b):
        if not 0 <= operator.index(value) < 1 << 64:
            raise ValueError(f"fingerprint {value} is not between 0 and 2^64 - 1")
    return (operator.index(a) ^ operator.index(b)).bit_count()


def jaccard(a: Iterable[Hashable], b: Iterable[Hashable]) -> float:
    """|A ∩ B| / |A ∪ B| of two sets, given as arrays or iterables with or without repeats; of two empty sets 1."""
    x, y = _set(a), _set(b)
    common = len(x & y)
    return common / (len(x) + len(y) - common) if x or y else 1.0


def containment(a: Iterable[Hashable], b: Iterable[Hashable]) -> float:
    """|A ∩ B| / min(|A|, |B|): how much of the smaller set is in the other. Two empty sets 1, one empty set 0."""
    x, y = _set(a), _set(b)
    if not x or not y:
        return 0.0 if x or y else 1.0
    return len(x & y) / min(len(x), len(y))


def predicted_recall(jaccard: float, bands: int, rows_per_band: int) -> float:
    """Probability that a pair of this Jaccard similarity shares a band: 1 - (1 - J^rows_per_band)^bands.

    Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, section 3.4.2. Raises ValueError out of range.
    """
    from cascade.kernels.chance import shared_band

    if not 0 <= jaccard <= 1:
        raise ValueError(f"jaccard is {jaccard}, expected a number from 0 to 1")
    if bands < 1 or rows_per_band < 1:
        raise ValueError(f"bands is {bands} and rows_per_band {rows_per_band}, expected 1 or more of each")
    return shared_band(jaccard, bands, rows_per_band)


def edit_similarity(a: str, b: str) -> float:
    """(max(len) - Levenshtein) / max(len), in code points; of two empty texts 1."""
    from rapidfuzz.distance import Levenshtein

    longer = max(len(a), len(b))
    return (longer - Levenshtein.distance(a, b)) / longer if longer else 1.0


def _sealed(
    values: npt.NDArray[Any], scheme: Scheme, seed: int, filled: npt.NDArray[np.bool_] | None = None
) -> Signature:
    values = np.ascontiguousarray(values)
    values.flags.writeable = False
    return Signature(values, scheme, seed, filled)


def _from_bins(raw: npt.NDArray[np.uint32], seed: int) -> Signature:
    from cascade.kernels import minhash

    return _sealed(minhash.densified(raw, seed)[0], "oph", seed, raw[0] != minhash.EMPTY32)


def _check_comparable(a: Signature, b: Signature) -> None:
    for what, x, y in (("scheme", a.scheme, b.scheme), ("seed", a.seed, b.seed), ("num_perm", len(a), len(b))):
        if x != y:
            raise ValueError(f"signatures differ in {what}: {x!r} and {y!r}; make both with the same")


def _hashes(shingles: Hashes) -> npt.NDArray[np.uint64]:
    """Shingle hashes as uint64[n]; refuses what would be cut or rounded on the way."""
    if not isinstance(shingles, np.ndarray):
        try:
            return np.fromiter(map(operator.index, shingles), np.uint64)
        except OverflowError:
            raise ValueError("shingle hashes must be between 0 and 2^64 - 1") from None
        except TypeError as error:
            raise TypeError(f"shingle hashes must be integers ({error}); shingle_hashes(text) gives them") from None
    if shingles.ndim != 1 or shingles.dtype.kind not in "iu":
        raise TypeError(f"shingle hashes must be integers in one dimension, not {shingles.dtype}{list(shingles.shape)}")
    if shingles.dtype.kind == "i" and len(shingles) and shingles.min() < 0:
        raise ValueError("shingle hashes must be between 0 and 2^64 - 1")
    return np.require(shingles, np.uint64, ["C", "W"])


def _set(items: Iterable[Hashable]) -> frozenset[Hashable]:
    if isinstance(items, str):
        raise TypeError("a text is no set, but its shingles are: shingle_hashes(text), or text.split()")
    return frozenset(items.tolist() if isinstance(items, np.ndarray) else items)
