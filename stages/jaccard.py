"""jaccard: exact Jaccard similarity of shingle sets. The stage that confirms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from cascade.pairs import Accepted, Pairs
from cascade.stage import TOLERANCE, Batch, Columns, Corpus, Facts, Predicate, Shingler, Stage


class Jaccard(Stage):
    """Accepts a pair when |A and B| / |A or B| >= min_jaccard, counted exactly on the sets of 64-bit shingle hashes."""

    use: Literal["jaccard"] = "jaccard"
    min_jaccard: float = Field(0.8, ge=0, le=1, description="least Jaccard similarity of the two shingle sets")

    @property
    def confirm_jaccard(self) -> float | None:
        return self.min_jaccard

    def bind(self, facts: Facts) -> Predicate:
        return JaccardPredicate(self.min_jaccard, self.shingle)


@dataclass(frozen=True)
class JaccardPredicate(Predicate):
    """Exact Jaccard at a threshold. Score: the similarity."""

    min_jaccard: float
    shingler: Shingler | None
    cost: float = 1000.0
    bytes_per_document: int = 8

    def columns(self, batch: Batch) -> Columns:
        return {"length": batch.shingles(self.shingler).lengths}

    def filter(self, pairs: Pairs, columns: Columns, corpus: Corpus) -> Accepted:
        """Length bound, then a merge that stops when the threshold is out of reach.

        J = c / (|A| + |B| - c) >= t holds iff c >= t (|A| + |B|) / (1 + t); with c <= min(|A|, |B|) it implies
        min(|A|, |B|) >= t max(|A|, |B|) (Bayardo et al. 2007, 3.3). Both use t - 1e-9.
        """
        from cascade.kernels.jaccard import long_enough

        share = max(self.min_jaccard - TOLERANCE, 0.0)
        length = columns["length"]
        near = np.flatnonzero(long_enough(length, pairs.left, pairs.right, share))
        left, right = pairs.left[near], pairs.right[near]
        both = (length[left] + length[right]).astype(np.float64)
        # One less than the bound where rounding might have lifted it: the score itself decides below.
        least = np.maximum(np.ceil(both * (share / (1 + share)) - TOLERANCE).astype(np.int64) - 1, 0)
        common = corpus.overlaps(left, right, least, self.shingler)
        score = common / (both - common)
        met = np.flatnonzero((common >= 0) & (score >= self.min_jaccard - TOLERANCE))
        return Accepted(near[met], score[met])

    def predicted_recall(self, jaccard: float) -> float | None:
        return 1.0 if jaccard >= self.min_jaccard - TOLERANCE else 0.0

    def describe(self) -> str:
        return f"exact Jaccard >= {self.min_jaccard:g}, length bound first"
