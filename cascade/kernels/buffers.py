"""Texts that lie in one buffer: copying some of them together, hashing each. Nothing is known of their content."""

from __future__ import annotations

from numba import uint64

from cascade.kernels.compile import kernel
from cascade.kernels.hashing import hash_bytes, multiplier, start_value
from cascade.kernels.words import copy_bytes, same_bytes


@kernel
def gather(data, start, stop, out, indptr):
    """Copies data[start[i]:stop[i]] to out[indptr[i]:indptr[i + 1]] for every i."""
    for i in range(start.shape[0]):
        copy_bytes(data, start[i], out, indptr[i], stop[i] - start[i])


@kernel
def equal(data, offsets, left, right, out):
    """Writes to out[i] (bool) whether texts left[i] and right[i] are equal; `data` reaches eight bytes further."""
    for i in range(left.shape[0]):
        a, b = offsets[left[i]], offsets[right[i]]
        size = offsets[left[i] + 1] - a
        out[i] = offsets[right[i] + 1] - b == size and same_bytes(data, a, data, b, size)


@kernel
def hash_texts(data, offsets, seed, out):
    """Writes a 64-bit hash of data[offsets[i]:offsets[i + 1]] to out[i] (uint64) for every i; `seed` is a uint64."""
    first, odd = start_value(seed), multiplier(seed)
    for i in range(out.shape[0]):
        out[i] = hash_bytes(data, offsets[i], offsets[i + 1], first, odd)


@kernel
def repeats(hashes, slots):
    """How many hashes (uint64) are equal to one before them, and the position of the first of those, or -1.

    `slots`, for open addressing with linear probing, is -1 before, longer than `hashes`, its length a power of two.
    """
    mask = uint64(slots.shape[0] - 1)
    count, first = 0, -1
    for i in range(hashes.shape[0]):
        at = hashes[i] & mask
        while slots[at] >= 0 and hashes[slots[at]] != hashes[i]:
            at = (at + uint64(1)) & mask
        if slots[at] < 0:
            slots[at] = i
        else:
            count += 1
            first = i if first < 0 else first
    return count, first
