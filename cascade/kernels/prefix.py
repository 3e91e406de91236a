"""How many documents hold a shingle, roughly, and the rarest shingles of each: the prefixes of an exact join.

A table has a power of two of slots (uint8), at least two; a shingle's slot is given by the high bits of its hash. A
slot counts the documents that hold any of its shingles, up to 255: never too few, often too many in a small table.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint8, uint64

from cascade.kernels.compile import kernel, part
from cascade.kernels.jaccard import least_common


@part
def _shift(table):
    """Bits of a hash that do not choose its slot."""
    bits = 64
    size = table.shape[0]
    while size > 1:
        size >>= 1
        bits -= 1
    return uint64(bits)


@kernel
def count(hashes, table):
    """Counts every hash (uint64) in its slot; they are the distinct shingles of some documents."""
    shift = _shift(table)
    for h in hashes:
        slot = h >> shift
        table[slot] += uint8(table[slot] < 255)


@part
def least_in(length, share):
    """The least c with c / length >= share, divided as floating-point numbers."""
    c = max(int64(length * share) - 1, 0)
    while c < length and c / length < share:
        c += 1
    return c


@kernel
def shared(hashes, indptr, table, several, share, out, alive, core):
    """How many hashes of each row are in a slot that counts `several` or more, into `out` (uint32); into `alive` (bool)
    whether they are enough for a Jaccard similarity of `share`, into `core` (bool) whether they are enough for one with
    a set that is no smaller. Where they are not for the first, out is less: counting has stopped.
    """
    shift = _shift(table)
    for d in range(indptr.shape[0] - 1):
        start, stop = indptr[d], indptr[d + 1]
        need = max(least_in(stop - start, share), 1)
        n = 0
        while start < stop and n + stop - start >= need:
            part = min(start + 32, stop)
            for i in range(start, part):
                n += table[hashes[i] >> shift] >= several
            start = part
        out[d] = n
        alive[d] = n >= need
        core[d] = n >= max(least_common(2 * (indptr[d + 1] - indptr[d]), share), 1)


@part
def _rarities(hashes, start, stop, table, shift, several, out):
    """Hashes start to stop that several documents may hold, each with its count in place of its low byte, in front."""
    n = 0
    for i in range(start, stop):
        count = table[hashes[i] >> shift]
        if count >= several:
            out[n] = (uint64(count) << uint64(56)) | (hashes[i] >> uint64(8))
            n += 1
    return n


@kernel
def prefixes(hashes, indptr, table, several, share, keys, core, ends):
    """The rarest shingles of each row, as many as two sets of Jaccard similarity `share` need to have one in common.

    Writes keys (uint64), which of them are core (bool), and where each row's end (int64[rows + 1], from 0).
    """
    shift = _shift(table)
    longest = 0
    for d in range(indptr.shape[0] - 1):
        longest = max(longest, indptr[d + 1] - indptr[d])
    found = np.empty(longest, np.uint64)
    used = 0
    for d in range(indptr.shape[0] - 1):
        n = _rarities(hashes, indptr[d], indptr[d + 1], table, shift, several, found)
        length = indptr[d + 1] - indptr[d]
        larger = n - max(least_in(length, share), 1) + 1
        smaller = n - max(least_common(2 * length, share), 1) + 1
        if larger > 0:
            found[:n].sort()
            for i in range(larger):
                keys[used + i] = found[i]
                core[used + i] = i < smaller
            used += larger
        ends[d + 1] = used
