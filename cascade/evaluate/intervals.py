"""How sure a figure is: Wilson intervals of shares, also of pairs that come by sampled documents; McNemar's test.

Plain numbers in and out. What is counted, and which figures there are, is told in cascade.evaluate.metrics.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, erfc, sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
FEW = 25
"""Disagreements below which McNemar's test counts exactly."""


@dataclass(frozen=True)
class Share:
    """A share hits / total and the interval [low, high] around it; all three None where total is 0.

    Of pairs that were sampled by document, hits and total count a pair with two sampled ends twice.
    """

    hits: float
    total: float
    value: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        return "unknown" if self.value is None else f"{self.value:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True)
class McNemar:
    """McNemar's test: of cases on which A and B disagree, so many are A's and so many are B's."""

    only_a: int
    only_b: int
    p_value: float
    """Probability of a split at least this uneven if either way were as likely."""
    test: str
    """exact or chi-square"""


def wilson(value: float, number: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The score interval of a share `value` seen in `number` independent draws (> 0, not necessarily whole).

    Wilson, Probable Inference, the Law of Succession, and Statistical Inference, JASA 22 (1927). Unlike value ± z
    standard errors it stays within 0 and 1, and has a width where value is 0 or 1.
    """
    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    middle = value + z2 / (2 * number)
    half = sqrt(z2 * (value * (1 - value) + z2 / (4 * number)) / number)
    low = max((middle - half) / (1 + z2 / number), 0.0) if value > 0 else 0.0
    high = min((middle + half) / (1 + z2 / number), 1.0) if value < 1 else 1.0
    return low, high


def share(hits: float, total: float, confidence: float = CONFIDENCE) -> Share:
    """A share of `total` cases, with the Wilson interval for cases that are independent draws."""
    if not total:
        return Share(hits, total, None, None, None)
    return Share(hits, total, hits / total, *wilson(hits / total, total, confidence))


def share_by_document(
    hits: npt.NDArray[np.float64], total: npt.NDArray[np.float64], confidence: float = CONFIDENCE
) -> Share:
    """sum(hits) / sum(total) over documents drawn at random (float64[n], one entry a drawn document, zeros included).

    Pairs of one document are no independent draws: one odd text may lose all of its pairs at once. So the interval is
    Wilson's for sum(total)² / sum(total²) draws, the number that would be as sure if all pairs of a document shared one
    fate (Kish, Survey Sampling, 1965, 11.7). It assumes that documents are drawn independently of each other, and errs
    on the wide side: where the pairs of a document are found or lost one by one, and where the sample is a large part
    of the corpus. (The linearised variance of the ratio, the textbook's choice, is far too small where the sample holds
    none of the few documents that lose their pairs: in simulations its 95 % intervals held the truth 33 to 98 % of the
    time, these 93 to 100 %.)
    """
    found, every = float(hits.sum()), float(total.sum())
    if not every:
        return Share(found, every, None, None, None)
    draws = every**2 / float((total**2).sum())
    return Share(found, every, found / every, *wilson(found / every, draws, confidence))


def f1_of(overlap: Share) -> Share:
    """F1 from the share J that two sets of pairs have in common of their union: 2 J / (1 + J), ends as well.

    F1 is no share of draws, but rises with J, which is; so the ends of J's interval are those of F1's.
    """

    def f1(j: float | None) -> float | None:
        return None if j is None else 2 * j / (1 + j)

    hits, total = 2 * overlap.hits, overlap.hits + overlap.total
    return Share(hits, total, f1(overlap.value), f1(overlap.low), f1(overlap.high))


def mcnemar(only_a: int, only_b: int) -> McNemar:
    """Whether A and B differ by more than chance would have it, from the cases that only one of them has.

    McNemar, Note on the Sampling Error of the Difference between Correlated Proportions, Psychometrika 12 (1947).
    Of fewer than 25 such cases the two-sided binomial probability is counted exactly; of more it is read off the
    chi-square distribution with one degree of freedom at (|only_a - only_b| - 1)² / (only_a + only_b), Edwards's
    continuity correction (1948). Of none it is 1.
    """
    both = only_a + only_b
    if both < FEW:
        tail = sum(comb(both, i) for i in range(min(only_a, only_b) + 1))
        return McNemar(only_a, only_b, min(2 * tail / 2**both, 1.0), "exact")
    statistic = max(abs(only_a - only_b) - 1, 0) ** 2 / both
    return McNemar(only_a, only_b, erfc(sqrt(statistic / 2)), "chi-square")
