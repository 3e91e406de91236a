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
from numba import int64, uint32, uint64

from cascade.kernels.compile import kernel
from cascade.kernels.hashing import GOLDEN, MIX_A, MIX_B, chain, mix64, multiplier, multiply_high, start_value

EMPTY32 = np.uint32(0xFFFFFFFF)
EMPTY64 = np.uint64(0xFFFFFFFFFFFFFFFF)
LANES = 8
"""Signatures are padded to a multiple of this many columns, so that vector code has no remainder."""
MOST_BINS = 4096
"""Bins of one-permutation hashing: its tables grow with the square."""
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
def _donors(num_perm: int, seed: int) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint32]]:
    order, claims = donors(num_perm, np.uint64(seed % 2**64))
    return order, claims


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


@kernel
def affine32(hashes, indptr, a, b, out):
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


@kernel
def affine64(hashes, indptr, a, b, out):
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


@kernel
def one_permutation(hashes, indptr, seed, num_perm, out):
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


@kernel
def donors(num_perm, seed):
    """The order in which each bin asks the others for a value: a random permutation of the bins that `seed` chooses.

    Two forms of it. order (uint16[num_perm, num_perm]): bin k asks order[k, 0] = k, order[k, 1], … claims (uint32, same
    shape): claims[j, k] is the place of j in that order, times 2^16, plus j, so that the least claim wins bin k.
    """
    order = np.empty((num_perm, num_perm), np.uint16)
    claims = np.empty((num_perm, num_perm), np.uint32)
    state = start_value(seed)
    for k in range(num_perm):
        order[k, 0] = k
        for t in range(1, num_perm):  # Fisher and Yates, inside out, places 1 … for the bins other than k
            state += uint64(GOLDEN)
            place = int64(multiply_high(mix64(state), t)) + 1
            order[k, t] = order[k, place]
            order[k, place] = t - 1 if t <= k else t
        for t in range(num_perm):
            claims[order[k, t], k] = (t << 16) | order[k, t]
    return order, claims


@kernel
def densify(raw, order, claims, out):
    """Fills empty bins: each takes the value of the first filled bin in its own random order of all bins.

    Optimal densification (Shrivastava, Optimal Densification for Fast and Accurate Minwise Hashing, ICML 2017) with a
    permutation in place of repeated draws. Many filled bins are found by probing; where they are few they claim the
    bins one after the other, with the same result. `raw` and `out` are uint32[documents, num_perm]; a row of `raw`
    with no filled bin stays empty.
    """
    num_perm = order.shape[0]
    filled = np.empty(num_perm, np.int64)
    best = np.empty(num_perm, np.uint32)
    for d in range(raw.shape[0]):
        row = raw[d]
        count = 0
        for k in range(num_perm):
            out[d, k] = row[k]
            if row[k] != uint32(EMPTY32):
                filled[count] = k
                count += 1
        if count in (0, num_perm):
            continue
        if count * count < 32 * num_perm:  # where eight vector lanes of claims beat num_perm / count probes
            best[:] = uint32(EMPTY32)
            for i in range(count):
                claim = claims[filled[i]]
                for k in range(num_perm):
                    best[k] = min(best[k], claim[k])
            for k in range(num_perm):
                out[d, k] = row[best[k] & uint32(0xFFFF)]
        else:
            for k in range(num_perm):
                t = 0
                while row[order[k, t]] == uint32(EMPTY32):
                    t += 1
                out[d, k] = row[order[k, t]]


@kernel
def band_keys(signatures, bands, rows_per_band, seed, out):
    """Hash of each band of each signature, number and `seed` (uint64) inside it; `out` is uint64[documents, bands].

    Band j is the columns j·rows_per_band … (j + 1)·rows_per_band - 1 of `signatures` (uint32 or uint64).
    """
    first = start_value(seed)
    odd = multiplier(seed)
    for d in range(signatures.shape[0]):
        for j in range(bands):
            h = first + uint64(j) * uint64(GOLDEN)
            for k in range(j * rows_per_band, (j + 1) * rows_per_band):
                h = chain(h, uint64(signatures[d, k]), odd)
            out[d, j] = h


@kernel
def agreements(table, alive, left, right, out):
    """Columns in which the rows left[i] and right[i] of `table` agree, to out[i] (int64); 0 if one is not alive."""
    for i in range(left.shape[0]):
        a = left[i]
        b = right[i]
        count = 0
        if alive[a] and alive[b]:
            x = table[a]
            y = table[b]
            for k in range(x.shape[0]):
                count += x[k] == y[k]
        out[i] = count
