"""Texts that lie in one buffer: copying some of them together, hashing each. Nothing is known of their content."""

from __future__ import annotations

import numpy as np

from cascade.kernels.compile import kernel
from cascade.kernels.hashing import hash_bytes, multiplier, start_value


@kernel
def gather(data, start, stop, out, indptr):
    """Copies data[start[i]:stop[i]] to out[indptr[i]:indptr[i + 1]] for every i."""
    for i in range(start.shape[0]):
        to = indptr[i]
        begin = start[i]
        for j in range(stop[i] - begin):
            out[to + j] = data[begin + j]


@kernel
def hash_texts(data, offsets, seed):
    """64-bit hash of data[offsets[i]:offsets[i + 1]] for every i, as uint64; `seed` is a uint64."""
    first, odd = start_value(seed), multiplier(seed)
    out = np.empty(offsets.shape[0] - 1, np.uint64)
    for i in range(out.shape[0]):
        out[i] = hash_bytes(data, offsets[i], offsets[i + 1], first, odd)
    return out
