"""Probabilities that plans are made of: binomial tails and the S-curve of banding. Plain arithmetic, nothing compiled.

What a stage does with them (which bands, which distance) is decided in the stage.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt


def binomial(n: int, p: float) -> npt.NDArray[np.float64]:
    """P(X = k) for k = 0 … n of a binomial variable of n trials with success probability `p` (float64[n + 1])."""
    if p <= 0.0 or p >= 1.0:
        mass = np.zeros(n + 1)
        mass[0 if p <= 0.0 else n] = 1.0
        return mass
    log = _log_factorials(1 << n.bit_length())[: n + 1]
    k = np.arange(n + 1)
    return np.asarray(np.exp(log[n] - log - log[::-1] + k * math.log(p) + (n - k) * math.log1p(-p)), np.float64)


@cache
def _log_factorials(count: int) -> npt.NDArray[np.float64]:
    return np.array([math.lgamma(i + 1) for i in range(count)])


def at_most(k: int, n: int, p: float) -> float:
    """P(X <= k) of a binomial variable of n trials with success probability `p`."""
    return min(1.0, math.fsum(binomial(n, p)[: max(0, k + 1)]))


@lru_cache(maxsize=8192)
def at_least(k: int, n: int, p: float) -> float:
    """P(X >= k) of a binomial variable of n trials with success probability `p`."""
    return min(1.0, math.fsum(binomial(n, p)[max(0, k) :]))


def shared_band(jaccard: float, bands: int, rows_per_band: int) -> float:
    """Probability that signatures of two sets agree on a whole band: 1 - (1 - J^r)^b.

    Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, section 3.4.2.
    """
    return float(1.0 - (1.0 - jaccard**rows_per_band) ** bands)


@lru_cache(maxsize=8192)
def shared_band_and_estimate(jaccard: float, bands: int, rows_per_band: int, num_perm: int, matches: int) -> float:
    """Probability that two signatures agree on a whole band and on at least `matches` of all `num_perm` places.

    The places agree independently with probability `jaccard`. P(at least `matches`) less the part of it where no band
    is shared. There, the number of agreeing places is a sum of `bands` truncated binomials and one for the places
    outside the bands, which the Fourier transform adds up in O(num_perm log num_perm), true to about 1e-12.
    """
    total = at_least(matches, num_perm, jaccard)
    size = 1 << num_perm.bit_length()
    broken = np.fft.rfft(binomial(rows_per_band, jaccard)[:-1], size)
    outside = np.fft.rfft(binomial(num_perm - bands * rows_per_band, jaccard), size)
    apart = np.fft.irfft(broken**bands * outside, size)[max(0, matches) : num_perm + 1]
    return min(total, max(0.0, total - math.fsum(apart)))
