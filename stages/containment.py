"""containment: how much of the smaller shingle set lies in the larger one. For excerpts and quoted text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from cascade.pairs import Accepted, Pairs
from cascade.stage import TOLERANCE, Batch, Columns, Corpus, Facts, Predicate, Shingler, Stage


class Containment(Stage):
    """Accepts a pair when |A and B| / min(|A|, |B|) >= min_containment, counted exactly on shingle hashes."""

    use: Literal["containment"] = "containment"
    min_containment: float = Field(0.8, ge=0, le=1, description="least share of the smaller set found in the larger")

    @property
    def early(self) -> bool:
        return True

    def bind(self, facts: Facts) -> Predicate:
        return ContainmentPredicate(self.min_containment, self.shingle)


@dataclass(frozen=True)
class ContainmentPredicate(Predicate):
    """Exact containment (overlap coefficient) at a threshold. Score: the containment."""

    min_containment: float
    shingler: Shingler | None
    cost: float = 1500.0
    bytes_per_document: int = 8

    def columns(self, batch: Batch) -> Columns:
        return {"length": batch.shingles(self.shingler).lengths}

    def filter(self, pairs: Pairs, columns: Columns, corpus: Corpus) -> Accepted:
        length = columns["length"]
        near = np.flatnonzero((length[pairs.left] > 0) & (length[pairs.right] > 0))
        left, right = pairs.left[near], pairs.right[near]
        smaller = np.minimum(length[left], length[right])
        least = np.maximum(np.ceil(smaller * (self.min_containment - TOLERANCE) - TOLERANCE).astype(np.int64) - 1, 0)
        common = corpus.overlaps(left, right, least, self.shingler)
        score = common / smaller
        met = np.flatnonzero((common >= 0) & (score >= self.min_containment - TOLERANCE))
        return Accepted(near[met], score[met])

    def predicted_recall(self, jaccard: float) -> float | None:
        # Containment is never below Jaccard, but may be above it: known only on this side.
        return 1.0 if jaccard >= self.min_containment - TOLERANCE else None

    def describe(self) -> str:
        return f"exact containment >= {self.min_containment:g}"
