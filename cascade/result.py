"""What a run has found: decisions, the funnel, counts. Plain values; nothing is computed or written here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cascade.pairs import Pairs, Rows


@dataclass(frozen=True)
class StageReport:
    """One line of the funnel."""

    name: str
    use: str
    role: str
    """enumerates or filters"""
    pairs_in: int
    """Pairs that came in; for the stage that enumerates, the candidate pairs that its keys gave."""
    pairs_out: int
    seconds: float
    predicted_recall: float | None
    """Probability that the stage accepts a pair at the confirm threshold; None where that cannot be known."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """What else the stage has counted: documents that it left alive, pairs that each of its bounds refused."""


@dataclass(frozen=True)
class Outcome:
    """What the cascade decided about the documents of a corpus, numbered in input order.

    `keeper` int64[documents]: the kept row that a row was removed for, -1 for kept rows. `exact` bool[documents]:
    removed because its normalised text equals the keeper's. `via` int64[documents]: position in `pairs` of the
    confirmed pair behind a near removal, or -1. `stands_for` int64[documents]: the row with the same normalised text
    that the stages saw in its place, itself if it has no twin before it.
    """

    keeper: Rows
    exact: npt.NDArray[np.bool_]
    via: Rows
    stands_for: Rows
    pairs: Pairs
    stages: tuple[StageReport, ...]
    seconds: Mapping[str, float]
    warnings: tuple[str, ...]
    plan: tuple[str, ...]
    large_buckets: int
    """Buckets in which `resolve.max_bucket` has acted."""
    without_shingles: int
    """Distinct texts in which some shingler in use finds nothing, so that its stage accepts no pair of theirs."""

    @property
    def kept(self) -> npt.NDArray[np.bool_]:
        return self.keeper < 0

    def counts(self, rejected: int) -> dict[str, int]:
        """Rows, `rejected` of which could not be used: read = kept + removed_exact + removed_near + rejected."""
        return {
            "read": len(self.keeper) + rejected,
            "kept": int((self.keeper < 0).sum()),
            "removed_exact": int(self.exact.sum()),
            "removed_near": int(((self.keeper >= 0) & ~self.exact).sum()),
            "rejected": rejected,
        }


@dataclass(frozen=True)
class Decision:
    """Why a document was removed. `kept_id` is the id of a kept document."""

    id: Any
    kept_id: Any
    reason: str
    """exact: the normalised texts are equal; near: every stage accepted a pair"""
    scores: Mapping[str, float]
    """What each stage said of the confirmed pair, by the stage's name; empty for exact."""
    via: tuple[Any, Any] | None = None
    """With components: the ids of the confirmed pair, which need not hold the kept document."""
    row: int = -1
    kept_row: int = -1


@dataclass(frozen=True)
class RunReport:
    """What `cascade run` did with files."""

    out: Path
    counts: Mapping[str, int]
    """rows read = kept + removed_exact + removed_near + rejected"""
    stages: Sequence[StageReport]
    seconds: float
    warnings: Sequence[str] = field(default_factory=tuple)
    work: Path | None = None
    """Where the work files are, if there were any and they were to stay."""
