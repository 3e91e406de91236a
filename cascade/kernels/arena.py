"""Shingle sets in one array; a bitmap before those of middling size bounds overlaps without a look at the sets.

Each shingle sets one of BITS bits. If `shared` bits are set for both A and B, and `doubled` of A's shingles set a bit
that another of A's has set, then A and B share at most shared + doubled shingles: of those that they share all but
`doubled` have a bit of their own, and it is set for both. (Sandes, Teodoro, Melo, Bitmap Filter, 2017.)
"""

from __future__ import annotations

from numba import int64, uint64

from cascade.kernels.compile import kernel, part
from cascade.kernels.words import count_bits

BITS = 4096
WORDS = BITS // 64
HEAD = WORDS + 1
"""Words before a set that has a bitmap: the bitmap, and how many of its shingles are doubled."""
LEAST, MOST = 64, 2048
"""Shingles of a set that has a bitmap. Smaller sets are merged as quickly; for larger ones the bits are too few."""


@kernel
def store(hashes, indptr, rows, arena, used, start, stop):
    """Copies set i, hashes[indptr[i]:indptr[i + 1]], into `arena` (uint64) from place `used` on, its bitmap before it.

    Writes to start[rows[i]] and stop[rows[i]] (int64) where it lies; returns the place behind the last.
    """
    for i in range(rows.shape[0]):
        length = indptr[i + 1] - indptr[i]
        if length >= LEAST and length <= MOST:
            bitmap = arena[used:]
            for k in range(WORDS):
                bitmap[k] = uint64(0)
            for j in range(indptr[i], indptr[i + 1]):
                bit = hashes[j] & uint64(BITS - 1)
                bitmap[bit >> uint64(6)] |= uint64(1) << (bit & uint64(63))
            bits = 0
            for k in range(WORDS):
                bits += count_bits(bitmap[k])
            arena[used + WORDS] = length - bits
            used += HEAD
        start[rows[i]] = used
        for k in range(length):
            arena[used + k] = hashes[indptr[i] + k]
        used += length
        stop[rows[i]] = used
    return used


@part
def most_common(arena, a, a_end, b, b_end):
    """The greatest overlap that arena[a:a_end] and arena[b:b_end] can have by their sizes and, if any, bitmaps."""
    most = min(a_end - a, b_end - b)
    if most >= LEAST and max(a_end - a, b_end - b) <= MOST:
        shared = int64(0)
        for k in range(WORDS):
            shared += count_bits(arena[a - HEAD + k] & arena[b - HEAD + k])
        most = min(most, shared + int64(min(arena[a - 1], arena[b - 1])))
    return most
