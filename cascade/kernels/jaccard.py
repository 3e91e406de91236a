"""Overlap of sorted shingle sets: the merge that confirms. Bounds are applied before a set is touched."""

from __future__ import annotations

import numpy as np
from numba import int64

from cascade.kernels.arena import most_common
from cascade.kernels.compile import kernel, part


@kernel
def overlaps(hashes, start, stop, bitmaps, left, right, least):
    """Size of the intersection of sets left[i] and right[i], or -1 once it cannot reach least[i].

    Set s is hashes[start[s]:stop[s]] (uint64, ascending); `left`, `right`, `least` int64, one entry a pair. `bitmaps`
    tells whether the sets have bitmaps, as cascade.kernels.arena.store makes them: most pairs need no merge then.
    The merge gives up as soon as the shingles that are left in either set no longer suffice (Xiao et al. 2008, 3.2).
    Sets of very different sizes are searched by galloping instead of being walked.
    """
    out = np.empty(left.shape[0], np.int64)
    for p in range(left.shape[0]):
        a, a_end = start[left[p]], stop[left[p]]
        b, b_end = start[right[p]], stop[right[p]]
        if a_end - a > b_end - b:
            a, a_end, b, b_end = b, b_end, a, a_end
        need = least[p]
        common = 0
        if bitmaps and most_common(hashes, a, a_end, b, b_end) < need:
            out[p] = -1
            continue
        if (b_end - b) >= 32 * (a_end - a):
            while a < a_end and b < b_end and common + (a_end - a) >= need:
                x = hashes[a]
                step = 1
                while b + step < b_end and hashes[b + step] < x:
                    step *= 2
                low = b + step // 2
                high = min(b + step, b_end)
                while low < high:
                    middle = (low + high) // 2
                    if hashes[middle] < x:
                        low = middle + 1
                    else:
                        high = middle
                b = low
                if b < b_end and hashes[b] == x:
                    common += 1
                    b += 1
                a += 1
        else:
            # Moving by comparisons instead of branches: which side moves is as good as random.
            while a < a_end and b < b_end:
                x, y = hashes[a], hashes[b]
                common += x == y
                a += x <= y
                b += y <= x
                if common + min(a_end - a, b_end - b) < need:
                    break
        out[p] = common if common >= need else -1
    return out


@part
def least_common(total, share):
    """The least c with c / (total - c) >= share, divided as floating-point numbers: two sets of `total` shingles
    together need so many in common. No rounding can lift it, for the division is the one that decides."""
    c = max(int64(total * (share / (1.0 + share))) - 1, 0)
    while c < total and c / (total - c) < share:
        c += 1
    return c


@kernel
def bounds(length, shared, left, right, share, refused):
    """Shingles that each pair must have in common for a Jaccard similarity of `share`, -1 where it cannot have them.

    `length` and `shared` (one entry a document) count all its shingles and those that may occur in another document.
    What two documents share lies in the smaller one, and among the shared ones of both. `refused` int64[2] counts the
    pairs that the first of these bounds refuses, and those that only the second one does.
    """
    out = np.empty(left.shape[0], np.int64)
    for p in range(left.shape[0]):
        i, j = left[p], right[p]
        a, b = int64(length[i]), int64(length[j])
        need = least_common(a + b, share)
        out[p] = need
        if min(a, b) < max(need, 1):
            refused[0] += 1
            out[p] = -1
        elif min(int64(shared[i]), int64(shared[j])) < need:
            refused[1] += 1
            out[p] = -1
    return out
