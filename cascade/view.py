"""The documents as the stages see them: one of each, numbered in keep order, texts and shingles on demand.

Shingle sets are computed when asked for and held until there are too many. Nothing here decides anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from cascade.corpus import Texts
from cascade.memory import Memory
from cascade.parallel import ordered_map
from cascade.stage import Shingler
from cascade.text.buffer import Shingles, TextBuffer, batches

ARENA_HASHES = 32 * 1024 * 1024
"""Shingle hashes that stay in memory for pairs to come, per shingler (256 MB)."""
ROWS_AT_ONCE = 1 << 20
SLICE_BYTES = 64 * 1024 * 1024
"""Text whose sets are asked for at a time: what can come on top of that."""

Rows = npt.NDArray[np.int64]
T = TypeVar("T")


@dataclass
class DocumentBatch:
    """Some documents, shingled at most once by each shingler. Implements cascade.stage.Batch."""

    rows: Rows
    texts: TextBuffer
    shingler: Shingler
    seed: int
    _shingles: dict[Shingler, Shingles] = field(default_factory=dict)

    def where(self, mask: npt.NDArray[np.bool_]) -> DocumentBatch:
        """The documents where `mask` holds, with the shingles that have been made of them."""
        if mask.all():
            return self
        index = np.flatnonzero(mask)
        made = {shingler: shingles.where(mask) for shingler, shingles in self._shingles.items()}
        return DocumentBatch(self.rows[index], self.texts.take(index), self.shingler, self.seed, made)

    def used(self) -> dict[Shingler, Shingles]:
        """What the shinglers that have been used so far gave."""
        return self._shingles

    def shingles(self, shingler: Shingler | None = None) -> Shingles:
        """Distinct shingles of each document with counts, in order of first occurrence."""
        from cascade.text.shingle import distinct

        chosen = shingler or self.shingler
        if chosen not in self._shingles:
            self._shingles[chosen] = distinct(chosen.shingle(self.texts, self.seed))
        return self._shingles[chosen]


@dataclass
class Arena:
    """Shingle sets of some documents: set i is hashes[start[i]:stop[i]], start -1 where it is not there.

    Sets of middling size have a bitmap before them; see cascade.kernels.arena.
    """

    start: Rows
    stop: Rows
    hashes: npt.NDArray[np.uint64]
    used: int = 0
    lock: Lock = field(default_factory=Lock)

    @staticmethod
    def empty(documents: int, room: int, memory: Memory) -> Arena:
        """An arena for `documents` documents; `room`: hashes that are likely to come. Untouched room costs nothing."""
        return Arena(memory.full(documents, -1, np.int64), memory.zeros(documents, np.int64), np.empty(room, np.uint64))

    def clear(self) -> None:
        """Forgets all sets."""
        self.start.fill(-1)
        self.used = 0

    def add(self, rows: Rows, sets: Shingles) -> bool:
        """Takes in the sets of `rows`, for any thread; False if there is no room left."""
        from cascade.kernels.arena import store

        need = self.words(sets)
        with self.lock:
            at = self.used
            if at + need > len(self.hashes):
                return False
            self.used += need
        store(sets.hashes, sets.indptr, rows, self.hashes, at, self.start, self.stop)
        return True

    @staticmethod
    def words(sets: Shingles) -> int:
        """Words that some sets take, bitmaps included."""
        from cascade.kernels.arena import HEAD, LEAST, MOST

        lengths = sets.lengths
        return len(sets.hashes) + HEAD * int(np.count_nonzero((lengths >= LEAST) & (lengths <= MOST)))

    def grow(self, room: int) -> None:
        """Makes room for `room` words more, or for twice as many as there are; while no thread adds."""
        grown = np.empty(max(self.used + room, 2 * len(self.hashes)), np.uint64)
        grown[: self.used] = self.hashes[: self.used]
        self.hashes = grown


class CorpusView:
    """The documents that the stages see, numbered in keep order. Implements cascade.stage.Corpus.

    `texts` holds the normalised texts of all documents of the run; `order` (int64) says which of them, in keep order,
    the stages see.
    """

    def __init__(
        self,
        texts: Texts,
        order: Rows,
        shingler: Shingler,
        seed: int,
        workers: int = 1,
        memory: Memory | None = None,
    ) -> None:
        self._texts = texts
        self.order = order
        self.shingler = shingler
        self.seed = seed
        self.workers = workers
        self.memory = memory or Memory()
        self._arenas: dict[Shingler, Arena] = {}

    def __len__(self) -> int:
        return len(self.order)

    def text_bytes(self, rows: Rows | None = None) -> int:
        """Bytes of the texts of some documents, or of all."""
        return int(self._sizes(rows).sum())

    def texts(self, rows: Rows) -> TextBuffer:
        """Normalised texts of some documents."""
        return self._texts.take(self.order[rows])

    def batches(self, rows: Rows | None = None) -> Iterator[DocumentBatch]:
        """The documents (all of them by default) cut into batches of about BATCH_BYTES."""
        for start in range(0, len(self) if rows is None else len(rows), ROWS_AT_ONCE):
            stop = start + ROWS_AT_ONCE
            some = np.arange(start, min(stop, len(self)), dtype=np.int64) if rows is None else rows[start:stop]
            for part in batches(some, self._sizes(some)):
                yield DocumentBatch(part, self.texts(part), self.shingler, self.seed)

    def _sizes(self, rows: Rows | None) -> Rows:
        return self._texts.sizes(self.order if rows is None else self.order[rows])

    def sets(self, rows: Rows, shingler: Shingler | None = None) -> Shingles:
        """Distinct shingles of some documents, ascending within each."""
        return join_shingles(list(self._sets(rows, shingler or self.shingler, lambda part, sets: sets)))

    def _sets(self, rows: Rows, shingler: Shingler, then: Callable[[Rows, Shingles], T]) -> Iterator[T]:
        """then(rows, sets) for the sets of some documents at a time, in threads."""
        from cascade.text.shingle import sorted_sets

        def compute(part: Rows) -> T:
            return then(part, sorted_sets(shingler.shingle(self.texts(part), self.seed)))

        return ordered_map(compute, batches(rows, self._sizes(rows)), self.workers)

    def overlaps(self, left: Rows, right: Rows, least: Rows, shingler: Shingler | None = None) -> Rows:
        """Shingles that the documents of each pair share, or -1 where they are fewer than `least`."""
        out = np.empty(len(left), np.int64)
        most = min(SLICE_BYTES, self.memory.working // 16)
        for part in batches(np.arange(len(left)), self._sizes(left) + self._sizes(right), most):
            out[part] = self._overlaps(left[part], right[part], least[part], shingler or self.shingler)
        return out

    def _overlaps(self, left: Rows, right: Rows, least: Rows, shingler: Shingler) -> Rows:
        from cascade.kernels.jaccard import overlaps

        arena = self._hold(np.concatenate((left, right)), shingler)

        def merge(part: slice) -> Rows:
            found: Rows = overlaps(arena.hashes, arena.start, arena.stop, True, left[part], right[part], least[part])
            return found

        step = -(-len(left) // self.workers) or 1
        parts = [slice(i, i + step) for i in range(0, len(left), step)]
        return np.concatenate(list(ordered_map(merge, parts, self.workers))) if parts else left

    def _hold(self, rows: Rows, shingler: Shingler) -> Arena:
        """The arena, with the sets of `rows` in it; it starts afresh when it has grown beyond its limit."""
        most = min(ARENA_HASHES, self.memory.working // 32)
        if shingler not in self._arenas:
            self._arenas[shingler] = Arena.empty(len(self), min(most, self.text_bytes()), self.memory)
        arena = self._arenas[shingler]
        missing = np.unique(rows[arena.start[rows] < 0])
        if len(missing):
            if arena.used > most:
                arena.clear()
                missing = np.unique(rows)

            def add(part: Rows, sets: Shingles) -> tuple[Rows, Shingles] | None:
                return None if arena.add(part, sets) else (part, sets)

            left = [found for found in self._sets(missing, shingler, add) if found]
            if left:
                arena.grow(sum(arena.words(sets) for _, sets in left))
                for part, sets in left:
                    arena.add(part, sets)
        return arena


def join_shingles(parts: Sequence[Shingles]) -> Shingles:
    """Rows of several Shingles one behind the other (without counts)."""
    if len(parts) == 1:
        return parts[0]
    indptr = [np.zeros(1, np.int64)]
    size = 0
    for part in parts:
        indptr.append(part.indptr[1:] - part.indptr[0] + size)
        size += len(part.hashes)
    hashes = np.concatenate([p.hashes for p in parts]) if parts else np.empty(0, np.uint64)
    return Shingles(hashes, np.concatenate(indptr))
