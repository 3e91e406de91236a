"""All pairs of a corpus with exact Jaccard similarity over a threshold: what the programs' answers are held against.

A method of its own, with nothing from cascade: words are numbered by a dictionary, shingles by a polynomial of word
numbers, candidates come from a prefix join (Chaudhuri et al. 2006), similarities from sparse matrices. Shingles that
occur once in the corpus are in no intersection, so that only their number counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.job import read_texts
from benchmarks.words import words

NGRAM = 5
SLICE = 4096
"""Documents, or pairs, that go through one step."""
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
SLOTS = 28
"""At most so many bits of a hash choose a slot of the table which tells most shingles that occur once."""

Int64 = npt.NDArray[np.int64]


def true_pairs(corpus: Path, language: str, threshold: float) -> Int64:
    """Rows of all pairs with J >= threshold, int64[pairs, 2], left < right; kept beside the corpus once computed."""
    kept = corpus.with_suffix(f".truth-{threshold:g}-v1.npy")
    if not kept.exists():
        np.save(kept, join(read_texts(corpus), language, threshold))
    found: Int64 = np.load(kept)
    return found


def recall_and_precision(pairs: Int64, removed: Int64, documents: int) -> tuple[float, float]:
    """How well the removal of some rows does what the true pairs ask for.

    Recall: share of the pairs of which not both documents were kept. Precision: share of the removed documents that
    are in a pair with a document that was kept.
    """
    gone = np.zeros(documents, bool)
    gone[removed] = True
    left, right = pairs[:, 0], pairs[:, 1]
    justified = np.zeros(documents, bool)
    justified[left[~gone[right]]] = True
    justified[right[~gone[left]]] = True
    recall = float((gone[left] | gone[right]).mean()) if len(pairs) else 1.0
    return recall, float(justified[removed].mean()) if len(removed) else 1.0


def join(texts: Iterable[str], language: str, threshold: float) -> Int64:
    """The rows of all pairs of texts with J >= threshold, int64[pairs, 2], left < right."""
    counts, hashes = _shingles(texts, language)
    documents = len(counts)
    document = np.repeat(np.arange(documents), counts)
    repeated = _may_repeat(hashes)
    single = np.bincount(document[~repeated], minlength=documents)
    document, hashes = document[repeated], hashes[repeated]
    values, shingle, uses = np.unique(hashes, return_inverse=True, return_counts=True)
    rank = np.empty(len(values), np.int64)
    rank[np.argsort(uses, kind="stable")] = np.arange(len(values))
    # Sorted, not by np.unique, whose hash table is slower than a sort of integers.
    both = np.sort(document * max(len(values), 1) + rank[shingle])
    both = both[np.diff(both, prepend=-1) > 0]
    return _pairs(both // max(len(values), 1), both % max(len(values), 1), single, threshold)


def _shingles(texts: Iterable[str], language: str) -> tuple[Int64, npt.NDArray[np.uint64]]:
    """How many shingles each text has, and their hashes, one text after the other."""
    number: defaultdict[str, int] = defaultdict(count().__next__)
    # 64 random bits for each word number; a shingle is their polynomial, modulo 2^64.
    random, bits = np.random.default_rng(1), np.zeros(0, np.uint64)
    counts, hashes = [np.zeros(0, np.int64)], [np.zeros(0, np.uint64)]
    for part in _slices(texts):
        numbers: list[int] = []
        lengths = np.zeros(len(part), np.int64)
        for i, text in enumerate(part):
            found = words(text, language)
            lengths[i] = len(found)
            numbers += map(number.__getitem__, found)
        if len(number) > len(bits):
            bits = np.concatenate((bits, random.integers(0, 2**64, len(number), np.uint64)))
        made, made_hashes = _polynomials(bits[np.array(numbers, np.int64)], lengths)
        counts.append(made)
        hashes.append(made_hashes)
    return np.concatenate(counts), np.concatenate(hashes)


def _polynomials(tokens: npt.NDArray[np.uint64], lengths: Int64) -> tuple[Int64, npt.NDArray[np.uint64]]:
    """Hashes of n-grams of texts that lie one after the other; a text of fewer words has one shingle, all of it."""
    n = np.minimum(lengths, NGRAM)
    counts = np.where(lengths > 0, lengths - n + 1, 0)
    start = np.repeat(np.cumsum(lengths) - lengths - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
    size = np.repeat(n, counts)
    value = np.zeros(len(start), np.uint64)
    for k in range(NGRAM):
        more = size > k
        value[more] = value[more] * MULTIPLIER + tokens[start[more] + k]
    return counts, value


def _may_repeat(hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """False: this hash occurs once. True for all that occur more often, and for a few others."""
    ordered = np.sort(hashes)
    bits = min(SLOTS, len(hashes).bit_length() + 2)
    slot, shift = np.zeros(1 << bits, np.bool_), np.uint64(64 - bits)
    slot[ordered[1:][ordered[1:] == ordered[:-1]] >> shift] = True
    found: npt.NDArray[np.bool_] = slot[hashes >> shift]
    return found


def _pairs(document: Int64, shingle: Int64, single: Int64, threshold: float) -> Int64:
    """Two sets with J >= t share one of their |A| - ceil(t |A|) + 1 rarest shingles, first of which are the single."""
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

    documents, width = len(single), int(shingle.max()) + 1 if len(shingle) else 1
    shared = np.bincount(document, minlength=documents)
    size = shared + single
    place = np.arange(len(document)) - (np.cumsum(shared) - shared - single)[document]
    prefix = place < (size - np.ceil((threshold - 1e-9) * size - 1e-9) + 1)[document]
    sets: Any = csr_array((np.ones(len(document), np.int32), (document, shingle)), shape=(documents, width))
    ones = np.ones(prefix.sum(), np.int32)
    heads: Any = csr_array((ones, (document[prefix], shingle[prefix])), shape=(documents, width))
    others = heads.T.tocsr()
    found = [np.zeros((0, 2), np.int64)]
    for first in range(0, documents, SLICE):
        near = (heads[first : first + SLICE] @ others).tocoo()
        left, right = near.coords[0].astype(np.int64) + first, near.coords[1].astype(np.int64)
        least, most = np.minimum(size[left], size[right]), np.maximum(size[left], size[right])
        possible = (left < right) & (least >= (threshold - 1e-9) * most)
        left, right = left[possible], right[possible]
        for i in range(0, len(left), SLICE):
            a, b = left[i : i + SLICE], right[i : i + SLICE]
            common = np.asarray(sets[a].multiply(sets[b]).sum(axis=1)).ravel()
            near_enough = common / (size[a] + size[b] - common) >= threshold - 1e-9
            found.append(np.column_stack((a[near_enough], b[near_enough])))
    return np.concatenate(found)


def _slices(texts: Iterable[str]) -> Iterator[Sequence[str]]:
    rest = iter(texts)
    while part := list(islice(rest, SLICE)):
        yield part
