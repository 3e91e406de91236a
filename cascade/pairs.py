"""Pairs: document pairs as arrays, and the verdict of a stage on them. No algorithm lives here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Pairs:
    """Pairs of documents: left[i] < right[i], no pair twice, with a score for each stage that has accepted them.

    Rows are positions in the corpus that the stages see (documents in keep order).
    """

    left: Rows
    right: Rows
    scores: Mapping[str, Scores] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.left)

    def take(self, index: Rows) -> Pairs:
        """The pairs at the positions `index`, scores included."""
        return Pairs(self.left[index], self.right[index], {name: s[index] for name, s in self.scores.items()})

    def with_scores(self, name: str, scores: Scores) -> Pairs:
        """The same pairs with the scores of stage `name` added."""
        return Pairs(self.left, self.right, {**self.scores, name: scores})

    @staticmethod
    def empty() -> Pairs:
        """No pairs at all."""
        return Pairs(np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True)
class Accepted:
    """What a stage answers: the positions of the pairs it accepts (ascending, int64) and their scores (float64)."""

    index: Rows
    score: Scores
    asked: int | None = None
    """How many pairs the stage has judged, where it knows."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """What else the report should count, by name: pairs that a bound has refused, say."""

    @staticmethod
    def where(mask: npt.NDArray[np.bool_], score: Scores) -> Accepted:
        """The pairs where `mask` holds; `mask` and `score` have one entry for each pair that was asked about."""
        if len(mask) != len(score):
            raise ValueError(f"the mask has {len(mask)} entries and the scores have {len(score)}")
        index = np.flatnonzero(mask).astype(np.int64, copy=False)
        return Accepted(index, score[index], len(mask))

    def check(self, pairs: int) -> None:
        """Raises ValueError unless this can be an answer about so many pairs."""
        if self.asked is not None and self.asked != pairs:
            raise ValueError(f"it answered for {self.asked} pairs and was asked about {pairs}")
        if len(self.index) != len(self.score):
            raise ValueError(f"it accepted {len(self.index)} pairs and gave {len(self.score)} scores")
        if len(self.index) and not (
            self.index[0] >= 0 and self.index[-1] < pairs and bool((np.diff(self.index) > 0).all())
        ):
            raise ValueError(f"the positions of accepted pairs must ascend within 0 … {pairs - 1}")
