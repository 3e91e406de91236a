"""Equal texts: which documents stand for others, and what becomes of those. Nothing is known of how texts are alike."""

from __future__ import annotations

from numba import uint64

from cascade.kernels.compile import kernel


@kernel
def first_of_each(order, filled, digest, slots, twin_of, left):
    """Sets twin_of[row] to the first row in `order` with the same digest; rows that have none before go to `left`.

    Digests are uint64[n, 2], evenly spread; a row that is not `filled` (bool; its text is empty) is nobody's twin.
    twin_of[row] is row before. `slots`, for open addressing with linear probing, is -1 before, longer than `order`, and
    its length a power of two. Returns how many rows are left.
    """
    n = 0
    mask = uint64(slots.shape[0] - 1)
    for i in range(order.shape[0]):
        row = order[i]
        if filled[row]:
            at = digest[row, 0] & mask
            while slots[at] >= 0:
                other = slots[at]
                if digest[other, 0] == digest[row, 0] and digest[other, 1] == digest[row, 1]:
                    twin_of[row] = other
                    break
                at = (at + uint64(1)) & mask
            if twin_of[row] != row:
                continue
            slots[at] = row
        left[n] = row
        n += 1
    return n


@kernel
def cluster_members(keeper, start, rows):
    """The rows of all clusters of two or more, each kept one with those removed for it behind, ascending, to `rows`.

    `keeper` int64 as in `fates`; `start` int64, one entry longer, is zero before. Clusters stand in the order of their
    kept rows. Returns how many rows there are.
    """
    n = keeper.shape[0]
    for row in range(n):
        if keeper[row] >= 0:
            start[keeper[row] + 1] += 1
    for row in range(n):
        start[row + 1] += start[row] + (start[row + 1] > 0)
    total = start[n]
    for row in range(n):
        if keeper[row] < 0 and start[row + 1] > start[row]:
            rows[start[row]] = row
    for row in range(n):
        if keeper[row] >= 0:
            # The place that is free next is counted up from behind the kept row, in the entry that it no longer needs.
            rows[start[keeper[row]] + 1] = row
            start[keeper[row]] += 1
    return total


@kernel
def fates(order, twin_of, keeper_of, via_of, keeper, via, exact):
    """From documents in keep order, one of each text, back to rows; twins share one fate.

    Document i is row order[i], its keeper (a document, or -1) keeper_of[i], its pair via_of[i]. For each row `keeper`
    (a row, or -1) and `via` are written, and whether it is `exact`: equal to a text that is kept. `twin_of` is from
    first_of_each.
    """
    for i in range(order.shape[0]):
        keeper[order[i]] = -1 if keeper_of[i] < 0 else order[keeper_of[i]]
        via[order[i]] = via_of[i]
    for row in range(twin_of.shape[0]):
        first = twin_of[row]
        # A twin of a kept text was removed for that text; a twin of a removed one, for what that one was removed for.
        exact[row] = first != row and keeper[first] < 0
        if first != row:
            keeper[row] = first if exact[row] else keeper[first]
            via[row] = via[first]
