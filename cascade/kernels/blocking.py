"""From buckets to candidate pairs, a bounded number at a time. How keys become buckets is told in kernels.buckets.

Two documents need to meet only if one of them is `core` (bool, one place a document). So they hang in two linked lists
per bucket, newest first: those that are core, and the others, which only a core one looks through. `head` (two places a
bucket) and `following` (one place an entry) hold entries, -1 ends a list. An entry whose `following` is PASSIVE never
hangs: its document meets others in that bucket and is met by none behind it.
"""

from __future__ import annotations

import numpy as np
from numba import int64

from cascade.kernels.buckets import PASSIVE
from cascade.kernels.compile import kernel, part


@part
def _list(bucket, core):
    """Where the list of a bucket begins in which a document hangs."""
    return 2 * int64(bucket) + 1 - int64(core)


@part
def _hang(d, indptr, bucket, core, head, following):
    """Hangs a document, which is behind all that hang already, into the lists of its buckets."""
    for e in range(indptr[d], indptr[d + 1]):
        if following[e] != PASSIVE:
            at = _list(bucket[e], core[d])
            following[e] = head[at]
            head[at] = e


@kernel
def push(docs, indptr, bucket, core, head, following):
    """Hangs `docs` (ascending, all behind those that hang already) into the lists of their buckets."""
    for d in docs:
        _hang(d, indptr, bucket, core, head, following)


@kernel
def pop(docs, indptr, bucket, core, head, following):
    """Takes `docs`, the last that were pushed, out of the lists again."""
    for i in range(docs.shape[0] - 1, -1, -1):
        d = docs[i]
        for e in range(indptr[d + 1] - 1, indptr[d] - 1, -1):
            if following[e] != PASSIVE:
                head[_list(bucket[e], core[d])] = following[e]


@kernel
def pairs_among(docs, indptr, bucket, core, following, counter, limit):
    """Upper bound of the candidate pairs among `docs`, counted no further than `limit`.

    `counter`, two places a bucket, is zero before and after.
    """
    total = 0
    seen = 0
    for d in docs:
        for e in range(indptr[d], indptr[d + 1]):
            total += counter[_list(bucket[e], True)]
            if core[d]:
                total += counter[_list(bucket[e], False)]
            counter[_list(bucket[e], core[d])] += following[e] != PASSIVE
        seen += 1
        if total > limit:
            break
    for d in docs[:seen]:
        for e in range(indptr[d], indptr[d + 1]):
            counter[_list(bucket[e], core[d])] = 0
    return total


@kernel
def partners(docs, low, hang, indptr, bucket, owner, core, head, following, stamp, state, left, right):
    """Candidate pairs of `docs` with the documents >= low that hang in their buckets, each pair once.

    With `hang` each document is pushed after its own turn, so that the pairs among `docs` come as well. `owner` gives
    the document of an entry; `stamp` (one place a document) remembers for whom a document was last seen. Writes to
    `left` < `right` until they are full; `state` int64[3] (index in docs, offset of the list, entry in it or -2) says
    where to go on. Returns the number written; the work is done when state[0] == len(docs).
    """
    written = 0
    room = left.shape[0]
    q, offset, at = state[0], state[1], state[2]
    while q < docs.shape[0]:
        d = docs[q]
        both = int64(core[d])
        lists = (indptr[d + 1] - indptr[d]) << both
        while offset < lists:
            if at == -2:
                at = head[2 * int64(bucket[indptr[d] + (offset >> both)]) + (offset & both)]
            while at >= 0:
                k = owner[at]
                if k < low:
                    break
                if stamp[k] != d:
                    if written == room:
                        state[0], state[1], state[2] = q, offset, at
                        return written
                    stamp[k] = d
                    left[written] = k
                    right[written] = d
                    written += 1
                at = following[at]
            at = -2
            offset += 1
        if hang:
            _hang(d, indptr, bucket, core, head, following)
        offset = 0
        q += 1
    state[0], state[1], state[2] = q, 0, -2
    return written


@part
def first_shared(a, b, indptr, bucket, following):
    """The lowest bucket that documents a and b share and in which a is met, or -1."""
    i, j = indptr[a], indptr[b]
    while i < indptr[a + 1] and j < indptr[b + 1]:
        if bucket[i] == bucket[j] and following[i] != PASSIVE:
            return bucket[i]
        if bucket[i] <= bucket[j]:
            i += 1
        else:
            j += 1
    return -1


@kernel
def members(bucket, owner, start, docs):
    """CSR from bucket to its documents, ascending: the transposed entries. `start` is zero before."""
    for e in range(bucket.shape[0]):
        start[bucket[e] + 1] += 1
    for b in range(start.shape[0] - 1):
        start[b + 1] += start[b]
    for e in range(bucket.shape[0]):
        docs[start[bucket[e]]] = owner[e]
        start[bucket[e]] += 1
    for b in range(start.shape[0] - 1, 0, -1):
        start[b] = start[b - 1]
    start[0] = 0


@kernel
def across(start, docs, indptr, bucket, core, following, root, kept, state, left, right):
    """Candidate pairs of documents with different `root` that are not both `kept`, each once.

    `start`, `docs` are from `members`. A pair is written at the lowest bucket that its documents share. A removed
    document meets the later ones root by root, a kept one only the later removed ones: so a bucket of one component, or
    of documents that are all kept, costs no more than its members. Writes until there might be no room for one more
    document's pairs; `state` int64[2] (bucket, index of the member) says where to go on. `left` must hold at least as
    many pairs as the largest bucket has members. Returns the number written; the work is done when state[0] is the
    number of buckets.
    """
    written = 0
    room = left.shape[0]
    b, i = state[0], state[1]
    while b < start.shape[0] - 1:
        inside = docs[start[b] : start[b + 1]]
        size = inside.shape[0]
        roots = np.empty(size, np.int64)
        gone = np.empty(size, np.int64)
        removed = 0
        alike = True
        for x in range(size):
            roots[x] = root[inside[x]]
            alike = alike and roots[x] == roots[0]
            if not kept[inside[x]]:
                gone[removed] = x
                removed += 1
        if removed and not alike:
            order = np.argsort(roots, kind="mergesort")
            border = np.empty(size + 1, np.int64)
            groups = 0
            for x in range(size):
                if x == 0 or roots[order[x]] != roots[order[x - 1]]:
                    border[groups] = x
                    groups += 1
            border[groups] = size
            while i < size:
                if written + size - i > room:
                    state[0], state[1] = b, i
                    return written
                if kept[inside[i]]:
                    written = _meet(
                        gone[:removed], i, roots, inside, b, indptr, bucket, core, following, written, left, right
                    )
                else:
                    for g in range(groups):
                        if roots[order[border[g]]] != roots[i]:
                            part = order[border[g] : border[g + 1]]
                            written = _meet(
                                part, i, roots, inside, b, indptr, bucket, core, following, written, left, right
                            )
                i += 1
        i = 0
        b += 1
    state[0], state[1] = b, 0
    return written


@part
def _meet(others, i, roots, inside, b, indptr, bucket, core, following, written, left, right):
    """Writes the pairs of member i with those of `others` (ascending) behind it that have another root."""
    low, high = 0, others.shape[0]
    while low < high:
        middle = (low + high) // 2
        if others[middle] <= i:
            low = middle + 1
        else:
            high = middle
    for z in range(low, others.shape[0]):
        j = others[z]
        first, second = inside[i], inside[j]
        if roots[j] == roots[i] or not (core[first] or core[second]):
            continue
        if first_shared(first, second, indptr, bucket, following) == b:
            left[written] = first
            right[written] = second
            written += 1
    return written
