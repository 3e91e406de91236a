"""Union-find and the spanning forest of confirmed pairs: connected components without recursion."""

from __future__ import annotations

import numpy as np

from cascade.kernels.compile import kernel


@kernel
def unite(parent, left, right):
    """Joins left[i] and right[i] for every i in the forest `parent` (int64); the smaller root stays root.

    Tarjan and van Leeuwen 1984, path halving. So a root is the first document of its component in keep order.
    """
    for i in range(left.shape[0]):
        a, b = left[i], right[i]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a < b:
            parent[b] = a
        elif b < a:
            parent[a] = b


@kernel
def roots(parent):
    """The root of every document; parents are never behind their children, so one pass suffices."""
    out = np.empty_like(parent)
    for d in range(parent.shape[0]):
        out[d] = d if parent[d] == d else out[parent[d]]
    return out


@kernel
def spanning_forest(documents, left, right):
    """For each document the pair that joins it to its component's first document, breadth first; -1 for that one.

    Neighbours are visited in ascending order, so the forest depends on the pairs alone, not on their order.
    Returns int64[documents] of positions in `left`/`right`.
    """
    start = np.zeros(documents + 1, np.int64)
    for i in range(left.shape[0]):
        start[left[i] + 1] += 1
        start[right[i] + 1] += 1
    for d in range(documents):
        start[d + 1] += start[d]
    neighbour = np.empty(2 * left.shape[0], np.int64)
    pair = np.empty(2 * left.shape[0], np.int64)
    place = start[:-1].copy()
    for i in range(left.shape[0]):
        a, b = left[i], right[i]
        neighbour[place[a]], pair[place[a]] = b, i
        place[a] += 1
        neighbour[place[b]], pair[place[b]] = a, i
        place[b] += 1
    joined = np.full(documents, -1, np.int64)
    seen = np.zeros(documents, np.bool_)
    queue = np.empty(documents, np.int64)
    for first in range(documents):
        if seen[first]:
            continue
        seen[first] = True
        queue[0] = first
        front, back = 0, 1
        while front < back:
            d = queue[front]
            front += 1
            around = neighbour[start[d] : start[d + 1]]
            order = np.argsort(around)
            for x in order:
                other = around[x]
                if not seen[other]:
                    seen[other] = True
                    joined[other] = pair[start[d] + x]
                    queue[back] = other
                    back += 1
    return joined


@kernel
def greedy(left, right, keeper):
    """Star clustering of pairs in ascending order of (right, left): keeper[right] = the first `left` that is kept.

    `keeper` int64, -1 for documents that are kept so far; changed in place. A document that has a keeper stays removed.
    """
    for i in range(left.shape[0]):
        if keeper[right[i]] < 0 and keeper[left[i]] < 0:
            keeper[right[i]] = left[i]
