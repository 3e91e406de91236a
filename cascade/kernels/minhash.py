"""MinHash signatures and band keys of many documents at once: three schemes, one signature layout.

Documents come in CSR form (hashes uint64, indptr int64). Signatures are [documents, width] with at least `num_perm`
columns; a document without shingles has the greatest value everywhere, and it is the caller's business that it meets
nobody. Which bands to take, and what an estimate means, is decided elsewhere.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, uint32, uint64

from cascade.kernels.hashing import GOLDEN, MIX_A, MIX_B, chain, mix64, multiplier, multiply_high, start_value

EMPTY32 = np.uint32(0xFFFFFFFF)
EMPTY64 = np.uint64(0xFFFFFFFFFFFFFFFF)
LANES = 8
"""Signatures are padded to a multiple of this many columns, so that vector code has no remainder."""
_STREAM = 0x6D696E68617368  # tells these parameters apart from everything else that a seed makes


def signatures(
    hashes: npt.NDArray[np.uint64], indptr: npt.NDArray[np.int64], num_perm: int, scheme: str, seed: int
) -> npt.NDArray[Any]:
    """Signatures of many documents: uint32 (affine64: uint64) [documents, at least num_perm columns].

    `scheme` is affine32, affine64 or oph; `seed` any integer. Columns from num_perm on are padding.
    """
    if scheme == "oph":
        return densified(bins(hashes, indptr, num_perm, seed), seed)
    a, b = parameters(num_perm, seed, 64 if scheme == "affine64" else 32)
    out = np.empty((len(indptr) - 1, len(a)), a.dtype)
    (affine64 if scheme == "affine64" else affine32)(hashes, indptr, a, b, out)
    return out


def bins(
    hashes: npt.NDArray[np.uint64], indptr: npt.NDArray[np.int64], num_perm: int, seed: int
) -> npt.NDArray[np.uint32]:
    """Least values of one-permutation hashing, empty bins EMPTY32: uint32[documents, num_perm]."""
    out = np.empty((len(indptr) - 1, num_perm), np.uint32)
    one_permutation(hashes, indptr, np.uint64(seed % 2**64), num_perm, out)
    return out


def densified(raw: npt.NDArray[np.uint32], seed: int) -> npt.NDArray[np.uint32]:
    """What `bins` gave, with the empty bins filled: a signature, whose places agree with probability J."""
    out = np.empty_like(raw)
    densify(raw, *_donors(raw.shape[1], seed), out)
    return out


@lru_cache(maxsize=8)
def _donors(num_perm: int, seed: int) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint16]]:
    order, rank = donors(num_perm, np.uint64(seed % 2**64))
    return order, rank


@lru_cache(maxsize=8)
def parameters(num_perm: int, seed: int, bits: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Multipliers (odd) and addends of the permutations x → a·x + b mod 2^bits, `bits` 32 or 64.

    Two arrays, uint32 or uint64, of num_perm rounded up to a multiple of LANES. Permutation i depends on `seed` and i
    alone (splitmix64, Steele et al. 2014), so a longer signature begins with the shorter one.
    """
    width = -(-num_perm // LANES) * LANES
    words = splitmix(seed ^ _STREAM, 2 * width)
    if bits == 32:
        words = words >> np.uint64(32)
        return (words[0::2].astype(np.uint32) | np.uint32(1)), words[1::2].astype(np.uint32)
    return words[0::2] | np.uint64(1), words[1::2].copy()


def splitmix(seed: int, count: int) -> npt.NDArray[np.uint64]:
    """The first `count` words of the splitmix64 generator started from `seed` (any integer, taken mod 2^64)."""
    x = np.uint64(seed % 2**64) + np.arange(1, count + 1, dtype=np.uint64) * GOLDEN
    x = (x ^ (x >> np.uint64(30))) * MIX_A
    x = (x ^ (x >> np.uint64(27))) * MIX_B
    return np.asarray(x ^ (x >> np.uint64(31)), np.uint64)


@njit(nogil=True, cache=True)
def affine32(hashes, indptr, a, b, out):  # type: ignore[no-untyped-def]
    """Minima of uint32(a·x + b) over the low 32 bits x of each document's hashes; `out` is uint32[documents, len(a)].

    Eight shingles at a time against all permutations, which are the vector lanes: short documents cost little and no
    lane has to be reduced. The last step repeats the last shingle, which changes no minimum.
    """
    for d in range(indptr.shape[0] - 1):
        row = out[d]
        row[:] = uint32(EMPTY32)
        last = indptr[d + 1] - 1
        for i in range(indptr[d], indptr[d + 1], 8):
            x0 = uint32(hashes[i])
            x1 = uint32(hashes[min(i + 1, last)])
            x2 = uint32(hashes[min(i + 2, last)])
            x3 = uint32(hashes[min(i + 3, last)])
            x4 = uint32(hashes[min(i + 4, last)])
            x5 = uint32(hashes[min(i + 5, last)])
            x6 = uint32(hashes[min(i + 6, last)])
            x7 = uint32(hashes[min(i + 7, last)])
            for k in range(a.shape[0]):
                m = a[k]
                c = b[k]
                low = min(uint32(m * x0 + c), uint32(m * x1 + c), uint32(m * x2 + c), uint32(m * x3 + c))
                high = min(uint32(m * x4 + c), uint32(m * x5 + c), uint32(m * x6 + c), uint32(m * x7 + c))
                row[k] = min(row[k], low, high)


@njit(nogil=True, cache=True)
def affine64(hashes, indptr, a, b, out):  # type: ignore[no-untyped-def]
    """Minima of a·h + b mod 2^64 over each document's hashes h; `out` is uint64[documents, len(a)].

    The lowest bits of such a product depend on few bits of h, so values must be compared whole.
    """
    for d in range(indptr.shape[0] - 1):
        row = out[d]
        row[:] = uint64(EMPTY64)
        last = indptr[d + 1] - 1
        for i in range(indptr[d], indptr[d + 1], 4):
            x0 = hashes[i]
            x1 = hashes[min(i + 1, last)]
            x2 = hashes[min(i + 2, last)]
            x3 = hashes[min(i + 3, last)]
            for k in range(a.shape[0]):
                m = a[k]
                c = b[k]
                row[k] = min(row[k], m * x0 + c, m * x1 + c, m * x2 + c, m * x3 + c)


@njit(nogil=True, cache=True)
def one_permutation(hashes, indptr, seed, num_perm, out):  # type: ignore[no-untyped-def]
    """One-permutation hashing: each hash, mixed with `seed` (uint64), falls into one of `num_perm` bins.

    The high bits choose the bin, the low 32 bits are the value, each bin keeps its least. An empty bin stays EMPTY32,
    which no value is. `out` is uint32[documents, >= num_perm]. Li, Owen, Zhang, One Permutation Hashing, NIPS 2012.
    """
    start = start_value(seed)
    greatest = uint32(EMPTY32 - uint32(1))
    for d in range(indptr.shape[0] - 1):
        row = out[d]
        row[:] = uint32(EMPTY32)
        for i in range(indptr[d], indptr[d + 1]):
            h = mix64(hashes[i] ^ start)
            k = multiply_high(h, num_perm)
            row[k] = min(row[k], uint32(h), greatest)


@njit(nogil=True, cache=True)
def donors(num_perm, seed):  # type: ignore[no-untyped-def]
    """For each bin the order in which it asks others for a value, and its inverse: two uint16[num_perm, num_perm].

    order[k] is a random permutation of the bins chosen by `seed` (uint64), rank[k, order[k, t]] = t.
    """
    order = np.empty((num_perm, num_perm), np.uint16)
    rank = np.empty((num_perm, num_perm), np.uint16)
    state = start_value(seed)
    for k in range(num_perm):
        for t in range(num_perm):
            state += uint64(GOLDEN)
            j = np.int64(multiply_high(mix64(state), t + 1))
            order[k, t] = order[k, j]
            order[k, j] = t
        for t in range(num_perm):
            rank[k, order[k, t]] = t
    return order, rank


@njit(nogil=True, cache=True)
def densify(raw, order, rank, out):  # type: ignore[no-untyped-def]
    """Fills empty bins: each takes the value of the first filled bin in its own random order of all bins.

    Optimal densification (Shrivastava, Optimal Densification for Fast and Accurate Minwise Hashing, ICML 2017) with a
    permutation in place of repeated draws. Few filled bins are compared by rank, many are found by probing, with the
    same result: at most about sqrt(num_perm) steps a bin. `raw` and `out` are uint32[documents, >= num_perm]; a document
    with no filled bin stays empty.
    """
    num_perm = order.shape[0]
    filled = np.empty(num_perm, np.int64)
    for d in range(raw.shape[0]):
        count = 0
        for k in range(num_perm):
            out[d, k] = raw[d, k]
            if raw[d, k] != uint32(EMPTY32):
                filled[count] = k
                count += 1
        if count in (0, num_perm):
            continue
        for k in range(num_perm):
            if raw[d, k] != uint32(EMPTY32):
                continue
            if count * count < num_perm:
                best = filled[0]
                for i in range(1, count):
                    if rank[k, filled[i]] < rank[k, best]:
                        best = filled[i]
                out[d, k] = raw[d, best]
            else:
                t = 0
                while raw[d, order[k, t]] == uint32(EMPTY32):
                    t += 1
                out[d, k] = raw[d, order[k, t]]


@njit(nogil=True, cache=True)
def band_keys(signatures, bands, rows_per_band, seed, out):  # type: ignore[no-untyped-def]
    """Hash of each band of each signature, number and `seed` (uint64) inside it; `out` is uint64[documents, bands].

    Band j is the columns j·rows_per_band … (j + 1)·rows_per_band - 1 of `signatures` (uint32 or uint64).
    """
    first = start_value(seed)
    odd = multiplier(seed)
    for d in range(signatures.shape[0]):
        for j in range(bands):
            h = chain(first, uint64(j), odd)
            for k in range(j * rows_per_band, (j + 1) * rows_per_band):
                h = chain(h, uint64(signatures[d, k]), odd)
            out[d, j] = h


@njit(nogil=True, cache=True)
def agreements(table, alive, left, right, out):  # type: ignore[no-untyped-def]
    """Columns in which the rows left[i] and right[i] of `table` agree, to out[i] (int64); 0 if one is not alive."""
    for i in range(left.shape[0]):
        a = left[i]
        b = right[i]
        count = 0
        if alive[a] and alive[b]:
            for k in range(table.shape[1]):
                count += table[a, k] == table[b, k]
        out[i] = count
