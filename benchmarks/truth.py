"""All pairs of a corpus with exact Jaccard similarity over a threshold: what the programs' answers are held against.

A method of its own, with nothing from cascade: words are numbered by a dictionary, shingles by a polynomial of word
numbers, candidates come from a prefix join (Chaudhuri et al. 2006), similarities from sparse matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.words import words

NGRAM = 5
SLICE = 4096
"""Documents, or pairs, that go through one sparse product."""


def true_pairs(corpus: Path, texts: Sequence[str], language: str, threshold: float) -> npt.NDArray[np.int64]:
    """Rows of all pairs with J >= threshold, int64[pairs, 2], left < right; kept beside the corpus once computed."""
    kept = corpus.with_suffix(f".truth-{threshold:g}-v1.npy")
    if not kept.exists():
        np.save(kept, _join(*_sets(texts, language), threshold))
    pairs: npt.NDArray[np.int64] = np.load(kept)
    return pairs


def recall_and_precision(
    pairs: npt.NDArray[np.int64], removed: npt.NDArray[np.int64], documents: int
) -> tuple[float, float]:
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


def _sets(texts: Sequence[str], language: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Shingle sets: documents and shingles of all distinct (document, shingle), ordered by document, rarest first."""
    number: dict[str, int] = {}
    numbers: list[npt.NDArray[np.int64]] = []
    for text in texts:
        found = words(text, language)
        numbers.append(np.fromiter((number.setdefault(w, len(number)) for w in found), np.int64, len(found)))
    # A word of 64 random bits for each word number; a shingle is their polynomial, modulo 2^64.
    bits = np.random.default_rng(1).integers(0, 2**64, max(len(number), 1), np.uint64)
    documents, hashes = [], []
    for row, tokens in enumerate(numbers):
        n = min(NGRAM, len(tokens))
        if n == 0:
            continue
        random = bits[tokens]
        count = len(tokens) - n + 1
        value = np.zeros(count, np.uint64)
        for k in range(n):
            value = value * np.uint64(0x9E3779B97F4A7C15) + random[k : k + count]
        hashes.append(value)
        documents.append(np.full(count, row, np.int64))
    if not hashes:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    document = np.concatenate(documents)
    _, shingle, uses = np.unique(np.concatenate(hashes), return_inverse=True, return_counts=True)
    rank = np.empty(len(uses), np.int64)
    rank[np.argsort(uses, kind="stable")] = np.arange(len(uses))
    width = len(uses)
    both = np.unique(document * width + rank[shingle])
    return both // width, both % width


def _join(document: npt.NDArray[np.int64], shingle: npt.NDArray[np.int64], threshold: float) -> npt.NDArray[np.int64]:
    """Two sets with J >= t share one of their |A| - ceil(t |A|) + 1 rarest shingles."""
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

    count = int(document.max()) + 1 if len(document) else 0
    width = int(shingle.max()) + 1 if len(shingle) else 1
    size = np.bincount(document, minlength=count)
    start = np.concatenate((np.zeros(1, np.int64), np.cumsum(size)))
    place = np.arange(len(document)) - start[document]
    prefix = place < (size - np.ceil((threshold - 1e-9) * size - 1e-9) + 1)[document]
    sets: Any = csr_array((np.ones(len(document), np.int32), (document, shingle)), shape=(count, width))
    heads: Any = csr_array((np.ones(prefix.sum(), np.int32), (document[prefix], shingle[prefix])), shape=(count, width))
    others = heads.T.tocsr()
    found = [np.zeros((0, 2), np.int64)]
    for first in range(0, count, SLICE):
        near = (heads[first : first + SLICE] @ others).tocoo()
        left, right = near.coords[0].astype(np.int64) + first, near.coords[1].astype(np.int64)
        possible = (left < right) & (
            np.minimum(size[left], size[right]) >= (threshold - 1e-9) * np.maximum(size[left], size[right])
        )
        left, right = left[possible], right[possible]
        for i in range(0, len(left), SLICE):
            a, b = left[i : i + SLICE], right[i : i + SLICE]
            common = np.asarray(sets[a].multiply(sets[b]).sum(axis=1)).ravel()
            near_enough = common / (size[a] + size[b] - common) >= threshold - 1e-9
            found.append(np.column_stack((a[near_enough], b[near_enough])))
    return np.concatenate(found)
