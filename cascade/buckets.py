"""From blocking keys to the buckets that propose pairs. How pairs come out of them is told in cascade.blocking."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cascade.blocking import BucketCandidates, Entries
from cascade.memory import Memory
from cascade.parallel import ordered_map
from cascade.stage import Keys

PART = 1 << 15
"""Keys that are grouped at a time: they and their table stay in the second-level cache."""
MOST_SHORT = 1 << 31
"""Entries that 32-bit numbers suffice for."""


def bucket_candidates(
    keys: Keys,
    memory: Memory | None = None,
    workers: int = 1,
    max_bucket: int | None = None,
    core: npt.NDArray[np.bool_] | None = None,
) -> BucketCandidates:
    """Groups documents by their keys. Documents alone in a bucket cost nothing from here on.

    If one document at least of every pair that counts is `core` (bool[documents]), the others need not meet each other.

    With `max_bucket`, two documents that share a bucket meet there only if one of them is among its first `max_bucket`
    in keep order. So the candidates depend on keys and keep order alone, a bucket of n gives at most n * max_bucket
    pairs, and a text repeated n times is still found by its first copies.
    """
    from cascade.kernels.buckets import limit_buckets

    memory = memory or Memory()
    kind = np.int32 if keys.values.size < MOST_SHORT else np.int64
    make = _fixed if keys.indptr is None else _ragged
    indptr, bucket, owner, buckets = make(keys, kind, memory, workers)
    following = memory.full(len(bucket), -1, kind)
    counter = memory.zeros(2 * buckets, kind)
    large = largest = 0
    if max_bucket is not None:
        large, largest = limit_buckets(bucket, following, counter, max_bucket)
        counter.fill(0)
    return BucketCandidates(
        indptr,
        bucket,
        owner,
        np.ones(len(keys.alive), bool) if core is None else core,
        head=memory.full(2 * buckets, -1, kind),
        following=following,
        stamp=memory.full(len(keys.alive), -1, kind),
        counter=counter,
        memory=memory,
        large=large,
        largest=largest,
    )


Grouped = tuple[Entries, Entries, Entries, int]
"""indptr, bucket and owner of the entries, and the number of buckets."""


def _fixed(keys: Keys, kind: type, memory: Memory, workers: int) -> Grouped:
    """Table by table, as many at a time as there are threads; what is kept of a table are its members."""
    from cascade.kernels import buckets as kernels

    documents, tables = keys.values.shape
    rooms = [_Room(documents, kind, memory, not keys.values.flags.f_contiguous) for _ in range(min(workers, tables))]

    def group(table: int) -> tuple[_Room, int]:
        room = rooms[table % len(rooms)]
        return room, room.group(keys.values[:, table], keys.alive, 0)

    buckets = 0
    indptr = memory.zeros(documents + 1, kind)
    parts: list[tuple[Entries, Entries]] = []
    for begin in range(0, tables, len(rooms) or 1):
        for room, found in ordered_map(group, range(begin, min(begin + len(rooms), tables)), workers):
            members = kernels.count_entries(room.out, indptr)
            docs, bucket = memory.empty(members, kind), memory.empty(members, kind)
            kernels.take_members(room.out, buckets, docs, bucket)
            buckets += found
            parts.append((docs, bucket))
    rooms.clear()
    np.cumsum(indptr, out=indptr)
    place = memory.empty(documents + 1, kind)
    place[:] = indptr
    bucket, owner = memory.empty(int(indptr[-1]), kind), memory.empty(int(indptr[-1]), kind)
    for docs, numbers in parts:
        kernels.add_entries(docs, numbers, place, bucket, owner)
    return indptr, bucket, owner, buckets


def _ragged(keys: Keys, kind: type, memory: Memory, workers: int) -> Grouped:
    from cascade.kernels.buckets import drop_without_core, tidy

    assert keys.indptr is not None
    documents, total = len(keys.alive), len(keys.values)
    present = memory.empty(total, np.bool_)
    present[:] = np.repeat(keys.alive, np.diff(keys.indptr))
    room = _Room(total, kind, memory, not keys.values.flags.c_contiguous)
    buckets = room.group(keys.values, present, 0)
    if keys.core is not None:
        drop_without_core(room.out, keys.core, memory.zeros(buckets, np.bool_))
    bucket, owner = memory.empty(total, kind), memory.empty(total, kind)
    indptr = memory.zeros(documents + 1, kind)
    # A document that gives the same key twice stands once in its bucket.
    entries = tidy(keys.indptr, room.out, bucket, owner, indptr)
    return indptr, bucket[:entries], owner[:entries], buckets


class _Room:
    """What grouping the keys of a table needs; `apart`: where they lie apart, they are copied together first."""

    def __init__(self, length: int, kind: type, memory: Memory, apart: bool) -> None:
        self.out = memory.empty(length, kind)
        self.keys = memory.empty(length if apart else 0, np.uint64)
        self.moved = memory.empty(length, np.uint64)
        self.place = memory.empty(length, kind)

    def group(self, keys: npt.NDArray[np.uint64], present: npt.NDArray[np.bool_], first: int) -> int:
        """Writes the buckets to `out`, -1 for a key that is alone; returns how many there are."""
        from cascade.kernels.buckets import group

        if len(self.keys):
            self.keys[:] = keys
            keys = self.keys
        return int(group(keys, present, self.out, first, PART, self.moved, self.place))
