"""Copying texts and rows of hashes by position. Nothing is computed here."""

from __future__ import annotations

from numba import njit


@njit(nogil=True, cache=True)
def gather(data, start, stop, out, indptr):  # type: ignore[no-untyped-def]
    """Copies data[start[i]:stop[i]] to out[indptr[i]:indptr[i + 1]] for every i."""
    for i in range(start.shape[0]):
        to = indptr[i]
        begin = start[i]
        for j in range(stop[i] - begin):
            out[to + j] = data[begin + j]
