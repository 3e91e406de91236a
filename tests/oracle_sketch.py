"""Slow plain-Python references for signatures, band keys and fingerprints: integers and loops, no numpy, no numba."""

from __future__ import annotations

import math

import numpy as np

from cascade.text.buffer import Shingles

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(x: int) -> int:
    """splitmix64's finaliser."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def fold(a: int, b: int) -> int:
    return ((a * b) & MASK) ^ ((a * b) >> 64)


def start_value(seed: int) -> int:
    return mix((seed + GOLDEN) & MASK)


def multiplier(seed: int) -> int:
    return mix((seed + 2 * GOLDEN) & MASK) | 1


def parameters(num_perm: int, seed: int, bits: int) -> list[tuple[int, int]]:
    state = (seed ^ 0x6D696E68617368) & MASK
    words = [mix((state + (i + 1) * GOLDEN) & MASK) >> (64 - bits) for i in range(2 * num_perm)]
    return [(words[2 * i] | 1, words[2 * i + 1]) for i in range(num_perm)]


def affine(shingles: list[int], num_perm: int, seed: int, bits: int) -> list[int]:
    top = (1 << bits) - 1
    return [min([(a * h + b) & top for h in shingles], default=top) for a, b in parameters(num_perm, seed, bits)]


def bins(shingles: list[int], num_perm: int, seed: int) -> list[int | None]:
    out: list[int | None] = [None] * num_perm
    for shingle in shingles:
        h = mix(shingle ^ start_value(seed))
        k, value = (h * num_perm) >> 64, min(h & 0xFFFFFFFF, 0xFFFFFFFE)
        out[k] = value if out[k] is None else min(out[k], value)
    return out


def orders(num_perm: int, seed: int) -> list[list[int]]:
    """The bins in the order in which bin k asks them, itself first."""
    state = start_value(seed)
    out = []
    for k in range(num_perm):
        others: list[int] = []
        for t in range(1, num_perm):
            state = (state + GOLDEN) & MASK
            place = (mix(state) * t) >> 64
            others.append(t - 1 if t <= k else t)
            others[place], others[-1] = others[-1], others[place]
        out.append([k, *others])
    return out


def densified(raw: list[int | None], seed: int) -> list[int]:
    if all(value is None for value in raw):
        return [0xFFFFFFFF] * len(raw)
    return [next(raw[j] for j in order if raw[j] is not None) for order in orders(len(raw), seed)]


def signature(shingles: list[int], num_perm: int, scheme: str, seed: int) -> list[int]:
    if scheme == "oph":
        return densified(bins(shingles, num_perm, seed), seed)
    return affine(shingles, num_perm, seed, 64 if scheme == "affine64" else 32)


def band_keys(values: list[int], bands: int, rows: int, seed: int) -> list[int]:
    keys = []
    for j in range(bands):
        h = (start_value(seed) + j * GOLDEN) & MASK
        for value in values[j * rows : (j + 1) * rows]:
            h = (fold(h ^ value, multiplier(seed)) + GOLDEN) & MASK
        keys.append(h)
    return keys


def fingerprint(shingles: list[int], weights: list[int] | None = None) -> int:
    weights = [1] * len(shingles) if weights is None else weights
    word = 0
    for bit in range(64):
        with_bit = sum(w for h, w in zip(shingles, weights, strict=True) if h >> bit & 1)
        word |= (with_bit > sum(weights) - with_bit) << bit
    return word


def near_pairs(words: list[int], alive: list[bool], start: int, stop: int, max_hamming: int) -> set[tuple[int, int]]:
    return {
        (j, i)
        for i in range(start, stop)
        for j in range(i)
        if alive[i] and alive[j] and bin(words[i] ^ words[j]).count("1") <= max_hamming
    }


def rarity(documents: int, holding: int) -> float:
    return 2**16 * math.log2((documents + 1) / (holding + 1))


def csr(rows: list[list[int]], counts: list[list[int]] | None = None) -> Shingles:
    """Rows of hashes as the kernels take them."""
    indptr = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    hashes = np.array([h for row in rows for h in row], np.uint64)
    weights = [1] * len(hashes) if counts is None else [c for row in counts for c in row]
    return Shingles(hashes, indptr, np.array(weights, np.uint32))


def overlapping(rng: np.random.Generator, size: int, common: int) -> tuple[list[int], list[int]]:
    """Two random sets of `size` hashes each that share `common`."""
    pool = [int(h) for h in rng.integers(0, 2**64, 2 * size - common, dtype=np.uint64)]
    return pool[:size], pool[size - common :]


class FakeBatch:
    """A batch of documents that are given as shingles."""

    def __init__(self, shingles: Shingles) -> None:
        self._shingles = shingles

    @property
    def rows(self) -> np.ndarray:
        return np.arange(len(self._shingles), dtype=np.int64)

    def shingles(self, shingler: object = None) -> Shingles:
        return self._shingles
