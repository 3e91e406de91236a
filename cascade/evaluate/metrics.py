"""A result held against a truth: figures of pairs and of clusters. Every group of twins counts as one document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cascade.evaluate.intervals import Share
from cascade.evaluate.truth import Truth
from cascade.pairs import Pairs, Rows
from cascade.result import Outcome

BANDS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)


@dataclass(frozen=True)
class PairFigures:
    """How well predicted pairs agree with the truth."""

    true: int
    """duplicate pairs that were predicted"""
    missed: int
    """duplicate pairs that were not"""
    wrong: int
    """pairs that were predicted and are known to be no duplicates"""
    precision: Share
    recall: Share
    f1: Share


@dataclass(frozen=True)
class Band:
    """Recall of the duplicate pairs whose similarity is in [low, high) (the last band: [low, high])."""

    low: float
    high: float
    recall: Share


@dataclass(frozen=True)
class ClusterFigures:
    """How well predicted clusters agree with those of the truth."""

    bcubed_precision: float
    bcubed_recall: float
    bcubed_f1: float
    adjusted_rand: float
    pair_precision: float | None
    pair_recall: float | None
    pair_f1: float | None


def pair_figures(truth: Truth, pairs: Pairs, stands_for: Rows) -> PairFigures:
    """Figures of confirmed pairs: `pairs` and `stands_for` as an Outcome of a run with `pairs: all` has them."""
    raise NotImplementedError


def recall_by_band(truth: Truth, pairs: Pairs, stands_for: Rows, edges: Sequence[float] = BANDS) -> tuple[Band, ...]:
    """Recall by the exact similarity of the duplicate pairs; () where the truth knows no similarities."""
    raise NotImplementedError


def cluster_figures(truth: Truth, keeper: Rows) -> ClusterFigures | None:
    """Figures of the clusters that `keeper` (as in Outcome) makes; None where the truth does not know all pairs."""
    raise NotImplementedError


def largest_cluster(keeper: Rows) -> int:
    """Documents in the largest cluster, twins included."""
    raise NotImplementedError


def chained(outcome: Outcome) -> Rows:
    """Rows removed as near-duplicates without a direct confirmed pair to their keeper (of a run with `pairs: all`)."""
    raise NotImplementedError
