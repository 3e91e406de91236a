"""Overlap of sorted shingle sets: the merge that confirms. Bounds are applied before a set is touched."""

from __future__ import annotations

import numpy as np

from cascade.kernels.compile import kernel


@kernel
def overlaps(hashes, start, stop, left, right, least):
    """Size of the intersection of sets left[i] and right[i], or -1 once it cannot reach least[i].

    Set s is hashes[start[s]:stop[s]] (uint64, ascending); `left`, `right`, `least` int64, one entry a pair.
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


@kernel
def long_enough(length, left, right, share):
    """Whether min(length) >= share * max(length) > 0 for each pair: necessary for a Jaccard similarity of `share`."""
    out = np.empty(left.shape[0], np.bool_)
    for p in range(left.shape[0]):
        x, y = length[left[p]], length[right[p]]
        if x > y:
            x, y = y, x
        out[p] = x > 0 and x >= share * y
    return out
