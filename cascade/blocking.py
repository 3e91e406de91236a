"""Candidate pairs from blocking keys, a bounded number at a time, so that they are never all in memory.

Two ways to enumerate, with one interface: documents that share a bucket, or all pairs (optionally through a cheap
test). Documents are numbered in keep order; nothing here knows what a stage accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cascade.pairs import Rows
from cascade.stage import Keys

PAIRS_AT_ONCE = 1 << 20
"""Candidate pairs in memory at a time. A constant: results must not depend on the machine."""

PairArrays = tuple[Rows, Rows]


class Candidates(Protocol):
    """Candidate pairs (left < right) of documents, enumerated on demand."""

    def few_among(self, docs: Rows) -> bool:
        """Whether the pairs among `docs` fit in memory at once."""

    def among(self, docs: Rows) -> Iterator[PairArrays]:
        """The pairs among `docs` (ascending, all behind the documents that are kept)."""

    def keep(self, docs: Rows) -> None:
        """From now on `docs` (ascending, behind all that are kept) belong to the kept documents."""

    def with_kept(self, docs: Rows, low: int) -> Iterator[PairArrays]:
        """The pairs of `docs` with kept documents >= low."""

    def across(self, roots: Callable[[], Rows], kept: npt.NDArray[np.bool_]) -> Iterator[PairArrays]:
        """Pairs of documents with different roots, not both `kept`; roots() is asked anew as pairs are joined."""


@dataclass
class BucketCandidates:
    """Documents that share a bucket. See cascade.kernels.blocking for the arrays."""

    indptr: Rows
    bucket: Rows
    buckets: int
    owner: Rows
    head: Rows
    following: Rows
    stamp: Rows
    counter: Rows
    left: Rows = field(default_factory=lambda: np.empty(PAIRS_AT_ONCE, np.int64))
    right: Rows = field(default_factory=lambda: np.empty(PAIRS_AT_ONCE, np.int64))

    def few_among(self, docs: Rows) -> bool:
        """Whether the buckets of `docs` give at most PAIRS_AT_ONCE pairs; one in several buckets counts in each."""

        from cascade.kernels.blocking import pairs_among

        total = pairs_among(docs, self.indptr, self.bucket, self.counter, PAIRS_AT_ONCE)
        return bool(total <= PAIRS_AT_ONCE)

    def among(self, docs: Rows) -> Iterator[PairArrays]:
        """Each of `docs` meets those before it in its buckets."""

        from cascade.kernels.blocking import pop

        yield from self._partners(docs, int(docs[0]) if len(docs) else 0, hang=True)
        pop(docs, self.indptr, self.bucket, self.head, self.following)

    def keep(self, docs: Rows) -> None:
        """Hangs `docs` into their buckets."""

        from cascade.kernels.blocking import push

        push(docs, self.indptr, self.bucket, self.head, self.following)

    def with_kept(self, docs: Rows, low: int) -> Iterator[PairArrays]:
        """Each of `docs` meets the kept ones in its buckets."""
        yield from self._partners(docs, low, hang=False)

    def _partners(self, docs: Rows, low: int, hang: bool) -> Iterator[PairArrays]:
        from cascade.kernels.blocking import partners

        state = np.array([0, 0, -2], np.int64)
        while state[0] < len(docs):
            arrays = (self.indptr, self.bucket, self.owner, self.head, self.following, self.stamp)
            n = partners(docs, low, hang, *arrays, state, self.left, self.right)
            if n:
                yield self.left[:n].copy(), self.right[:n].copy()

    def across(self, roots: Callable[[], Rows], kept: npt.NDArray[np.bool_]) -> Iterator[PairArrays]:
        """Bucket by bucket; a pair comes at the first that its documents share."""

        from cascade.kernels.blocking import across, members

        start, docs = members(self.indptr, self.bucket, self.buckets)
        room = max(PAIRS_AT_ONCE, int(np.diff(start).max(initial=0)))
        left, right = np.empty(room, np.int64), np.empty(room, np.int64)
        state = np.zeros(2, np.int64)
        while state[0] < self.buckets:
            n = across(start, docs, self.indptr, self.bucket, roots(), kept, state, left, right)
            if n:
                yield left[:n].copy(), right[:n].copy()


def bucket_candidates(keys: Keys) -> BucketCandidates:
    """Groups documents by their keys. Documents alone in a bucket cost nothing from here on."""
    from cascade.kernels.blocking import group, to_entries

    documents = len(keys.alive)
    if keys.indptr is None:
        tables = np.empty((keys.values.shape[1], documents), np.int64)
        buckets = 0
        for t in range(len(tables)):
            buckets = group(np.ascontiguousarray(keys.values[:, t]), keys.alive, tables[t], buckets)
        indptr, bucket = to_entries(tables)
    else:
        indptr, bucket, buckets = _ragged(keys, keys.indptr)
    owner = np.repeat(np.arange(documents, dtype=np.int64), np.diff(indptr))
    return BucketCandidates(
        indptr,
        bucket,
        buckets,
        owner,
        head=np.full(buckets, -1, np.int64),
        following=np.full(len(bucket), -1, np.int64),
        stamp=np.full(documents, -1, np.int64),
        counter=np.zeros(buckets, np.int64),
    )


def _ragged(keys: Keys, indptr: Rows) -> tuple[Rows, Rows, int]:
    from cascade.kernels.blocking import group

    lengths = np.diff(indptr)
    owner = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    bucket = np.empty(len(keys.values), np.int64)
    buckets = group(keys.values, keys.alive[owner], bucket, 0)
    order = np.lexsort((bucket, owner))
    order = order[bucket[order] >= 0]
    # A document that gives the same key twice stands once in its bucket.
    owner, bucket = owner[order], bucket[order]
    fresh = np.ones(len(bucket), bool)
    fresh[1:] = (owner[1:] != owner[:-1]) | (bucket[1:] != bucket[:-1])
    counts = np.bincount(owner[fresh], minlength=len(lengths))
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts, bucket[fresh], int(buckets)


Scan = Callable[[Rows, Rows], Iterable[PairArrays]]
"""The pairs (left from the first rows, right from the second, left < right) that a cheap test does not refuse."""


@dataclass
class ScanCandidates:
    """All pairs of documents that are `alive`, for when no stage offers keys.

    `scan` narrows them, looking at `scan_pairs` of them at a time.
    """

    documents: int
    alive: npt.NDArray[np.bool_]
    scan: Scan
    scan_pairs: int = PAIRS_AT_ONCE
    kept: Rows = field(default_factory=lambda: np.empty(0, np.int64))

    def few_among(self, docs: Rows) -> bool:
        """Whether all pairs of `docs` are at most PAIRS_AT_ONCE."""
        return len(docs) * (len(docs) - 1) // 2 <= PAIRS_AT_ONCE

    def among(self, docs: Rows) -> Iterator[PairArrays]:
        """All pairs of `docs` that the scan does not refuse."""
        yield from self._scan(docs, docs)

    def keep(self, docs: Rows) -> None:
        """Puts `docs` at the end of those that are kept."""
        self.kept = np.concatenate((self.kept, docs))

    def with_kept(self, docs: Rows, low: int) -> Iterator[PairArrays]:
        """The pairs of `docs` with kept documents >= low that the scan does not refuse."""
        yield from self._scan(self.kept[np.searchsorted(self.kept, low) :], docs)

    def across(self, roots: Callable[[], Rows], kept: npt.NDArray[np.bool_]) -> Iterator[PairArrays]:
        """All pairs are scanned; those of one root or of two kept documents are dropped."""
        rows = np.arange(self.documents, dtype=np.int64)
        for left, right in self._scan(rows, rows):
            root = roots()
            apart = (root[left] != root[right]) & ~(kept[left] & kept[right])
            if apart.any():
                yield left[apart], right[apart]

    def _scan(self, lefts: Rows, rights: Rows) -> Iterator[PairArrays]:
        lefts, rights = lefts[self.alive[lefts]], rights[self.alive[rights]]
        step = max(self.scan_pairs // max(len(lefts), 1), 1)
        for begin in range(0, len(rights), step):
            part = rights[begin : begin + step]
            # Only what lies before the last of `part` can be on the left.
            for left, right in self.scan(lefts[: np.searchsorted(lefts, part[-1])], part):
                if len(left):
                    yield left, right


def all_pairs(lefts: Rows, rights: Rows) -> Iterator[PairArrays]:
    """Every (left, right) with left < right, in ascending order of (right, left)."""
    counts = np.searchsorted(lefts, rights)
    right = np.repeat(rights, counts)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    yield lefts[np.arange(len(right)) - starts], right
