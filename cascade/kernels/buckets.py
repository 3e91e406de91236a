"""From blocking keys to buckets of two documents or more.

Buckets are held as CSR from document to entries: the entries of document d are indptr[d] … indptr[d + 1] - 1, and
bucket[entry] is ascending within a document, owner[entry] the document. All these arrays are int32, or int64 where that
does not suffice.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from cascade.kernels.compile import kernel, part
from cascade.kernels.hashing import mix64

PASSIVE = -2
"""Marks an entry of a document that nobody behind it meets in that bucket."""


@kernel
def group(keys, present, out, first, part, moved, place):
    """Writes to out[i] the bucket of keys[i]: first, first + 1, …; -1 where a key is alone. Returns the next number.

    `keys` uint64, `present` bool masks what takes part. The keys are first moved into parts of about `part` keys by the
    high bits of their hash, so that the tables in which they meet stay in cache; `moved` (uint64) and `place` (as
    `out`) are room for that, as long as `keys`.
    """
    bits = 0
    while (keys.shape[0] >> bits) > part:
        bits += 1
    high = uint64(32 - bits)
    start = np.zeros((1 << bits) + 1, np.int64)
    for i in range(keys.shape[0]):
        out[i] = -1
        if present[i]:
            start[((mix64(keys[i]) >> uint64(32)) >> high) + uint64(1)] += 1
    for p in range(1 << bits):
        start[p + 1] += start[p]
    stop = start[:-1].copy()
    for i in range(keys.shape[0]):
        if present[i]:
            p = (mix64(keys[i]) >> uint64(32)) >> high
            moved[stop[p]], place[stop[p]] = keys[i], i
            stop[p] += 1
    slots = np.empty(16, np.int32)
    bucket = first
    for p in range(1 << bits):
        a, b = start[p], stop[p]
        size = 16
        while size < 2 * (b - a):
            size *= 2
        if size > slots.shape[0]:
            slots = np.empty(size, np.int32)
        bucket = _meet_in(slots[:size], moved[a:b], place[a:b], out, bucket)
    return bucket


@part
def _meet_in(slots, keys, place, out, bucket):
    """Gives equal keys one bucket: open addressing with linear probing over `slots`, at most half full."""
    slots[:] = -1
    mask = uint64(slots.shape[0] - 1)
    for i in range(keys.shape[0]):
        at = mix64(keys[i]) & mask
        while slots[at] >= 0 and keys[slots[at]] != keys[i]:
            at = (at + uint64(1)) & mask
        if slots[at] < 0:
            slots[at] = i
            continue
        twin = place[slots[at]]
        if out[twin] < 0:
            out[twin] = bucket
            bucket += 1
        out[place[i]] = out[twin]
    return bucket


@kernel
def count_entries(out, indptr):
    """Adds 1 to indptr[d + 1] where out[d] is no -1; returns how many those are."""
    n = 0
    for d in range(out.shape[0]):
        indptr[d + 1] += out[d] >= 0
        n += out[d] >= 0
    return n


@kernel
def take_members(out, first, docs, bucket):
    """The d where out[d] is no -1 go to `docs`, first + out[d] to `bucket`."""
    n = 0
    for d in range(out.shape[0]):
        if out[d] >= 0:
            docs[n], bucket[n] = d, first + out[d]
            n += 1


@kernel
def add_entries(docs, buckets, place, bucket, owner):
    """Writes the entries of `docs` to where `place` (one a document, moved on) says."""
    for i in range(docs.shape[0]):
        d = docs[i]
        bucket[place[d]], owner[place[d]] = buckets[i], d
        place[d] += 1


@kernel
def drop_without_core(out, core, useful):
    """Writes -1 where no entry of the bucket out[i] is `core`; `useful` (bool, one place a bucket) is false before."""
    for i in range(out.shape[0]):
        if out[i] >= 0 and core[i]:
            useful[out[i]] = True
    for i in range(out.shape[0]):
        if out[i] >= 0 and not useful[out[i]]:
            out[i] = -1


@kernel
def tidy(indptr, out, bucket, owner, starts):
    """The entries `out` (buckets or -1) of documents indptr[d]:indptr[d + 1], ascending, each bucket once.

    They go to `bucket` and `owner`, which have room for all, and their CSR to `starts`. Returns how many there are.
    """
    used = 0
    for d in range(indptr.shape[0] - 1):
        begin, end = used, used
        for e in range(indptr[d], indptr[d + 1]):
            if out[e] >= 0:
                bucket[end] = out[e]
                end += 1
        bucket[begin:end].sort()
        for e in range(begin, end):
            if used == begin or bucket[e] != bucket[used - 1]:
                bucket[used], owner[used] = bucket[e], d
                used += 1
        starts[d + 1] = used
    return used


@kernel
def limit_buckets(bucket, following, size, most):
    """Makes entries PASSIVE behind the first `most` of their bucket; `size` is zero before, then the buckets' sizes.

    Entries stand in the order of their documents. Returns the number of such buckets and the size of the largest.
    """
    large, largest = 0, 0
    for e in range(bucket.shape[0]):
        b = bucket[e]
        if size[b] >= most:
            following[e] = PASSIVE
            large += size[b] == most
        size[b] += 1
        largest = max(largest, size[b])
    return large, largest
