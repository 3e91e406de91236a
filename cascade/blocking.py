"""Candidate pairs of documents, a bounded number at a time, so that they are never all in memory.

Two ways to enumerate, with one interface: documents that share a bucket, or all pairs (optionally through a cheap
test). Documents are numbered in keep order; nothing here knows what a stage accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cascade.memory import Memory
from cascade.pairs import Rows

PAIRS_AT_ONCE = 1 << 20
"""Candidate pairs in memory at a time. A constant: results must not depend on the machine."""

Entries = npt.NDArray[np.int32] | npt.NDArray[np.int64]
PairArrays = tuple[Rows, Rows]


class Candidates(Protocol):
    """Candidate pairs (left < right) of documents, enumerated on demand."""

    large: int
    """Buckets in which a limit has acted."""
    largest: int
    """Documents in the largest of those."""

    def documents(self) -> Rows:
        """The documents that can be in a pair, ascending."""

    def proposed(self) -> int:
        """How many pairs there are in all; one in several buckets counts in each."""

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
    """Documents that share a bucket, one of them at least `core`. See cascade.kernels.buckets and .blocking."""

    indptr: Entries
    bucket: Entries
    owner: Entries
    core: npt.NDArray[np.bool_]
    head: Entries
    following: Entries
    stamp: Entries
    counter: Entries
    memory: Memory
    large: int = 0
    largest: int = 0
    left: Rows = field(default_factory=lambda: np.empty(PAIRS_AT_ONCE, np.int64))
    right: Rows = field(default_factory=lambda: np.empty(PAIRS_AT_ONCE, np.int64))

    def documents(self) -> Rows:
        """Those that are in a bucket."""
        return np.flatnonzero(self.indptr[1:] > self.indptr[:-1])

    def proposed(self) -> int:
        """Pairs of all documents in each bucket."""
        return self._count(self.documents(), 1 << 62)

    def few_among(self, docs: Rows) -> bool:
        """Whether the buckets of `docs` give at most PAIRS_AT_ONCE pairs; one in several buckets counts in each."""
        return self._count(docs, PAIRS_AT_ONCE) <= PAIRS_AT_ONCE

    def _count(self, docs: Rows, limit: int) -> int:
        from cascade.kernels.blocking import pairs_among

        return int(pairs_among(docs, self.indptr, self.bucket, self.core, self.following, self.counter, limit))

    def among(self, docs: Rows) -> Iterator[PairArrays]:
        """Each of `docs` meets those before it in its buckets."""
        from cascade.kernels.blocking import pop

        yield from self._partners(docs, int(docs[0]) if len(docs) else 0, hang=True)
        pop(docs, self.indptr, self.bucket, self.core, self.head, self.following)

    def keep(self, docs: Rows) -> None:
        """Hangs `docs` into their buckets."""
        from cascade.kernels.blocking import push

        push(docs, self.indptr, self.bucket, self.core, self.head, self.following)

    def with_kept(self, docs: Rows, low: int) -> Iterator[PairArrays]:
        """Each of `docs` meets the kept ones in its buckets."""
        yield from self._partners(docs, low, hang=False)

    def _partners(self, docs: Rows, low: int, hang: bool) -> Iterator[PairArrays]:
        from cascade.kernels.blocking import partners

        state = np.array([0, 0, -2], np.int64)
        while state[0] < len(docs):
            arrays = (self.indptr, self.bucket, self.owner, self.core, self.head, self.following, self.stamp)
            n = partners(docs, low, hang, *arrays, state, self.left, self.right)
            if n:
                yield self.left[:n].copy(), self.right[:n].copy()

    def across(self, roots: Callable[[], Rows], kept: npt.NDArray[np.bool_]) -> Iterator[PairArrays]:
        """Bucket by bucket; a pair comes at the first in which its documents meet."""
        from cascade.kernels.blocking import across, members

        buckets = len(self.head) // 2
        start = self.memory.zeros(buckets + 1, self.bucket.dtype)
        docs = self.memory.empty(len(self.bucket), self.bucket.dtype)
        members(self.bucket, self.owner, start, docs)
        arrays = (start, docs, self.indptr, self.bucket, self.core, self.following)
        room = max(PAIRS_AT_ONCE, int(np.diff(start).max(initial=0)))
        left, right = np.empty(room, np.int64), np.empty(room, np.int64)
        state = np.zeros(2, np.int64)
        while state[0] < buckets:
            n = across(*arrays, roots(), kept, state, left, right)
            if n:
                yield left[:n].copy(), right[:n].copy()


Scan = Callable[[Rows, Rows], Iterable[PairArrays]]
"""The pairs (left from the first rows, right from the second, left < right) that a cheap test does not refuse."""


@dataclass
class ScanCandidates:
    """All pairs of documents that are `alive`, for when no stage offers keys.

    `scan` narrows them, looking at `scan_pairs` of them at a time.
    """

    size: int
    alive: npt.NDArray[np.bool_]
    scan: Scan
    scan_pairs: int = PAIRS_AT_ONCE
    kept: Rows = field(default_factory=lambda: np.empty(0, np.int64))
    large: int = 0
    largest: int = 0

    def documents(self) -> Rows:
        """Those that are alive."""
        return np.flatnonzero(self.alive)

    def proposed(self) -> int:
        """All pairs of documents that are alive."""
        return int(self.alive.sum()) * (int(self.alive.sum()) - 1) // 2

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
        rows = np.arange(self.size, dtype=np.int64)
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
