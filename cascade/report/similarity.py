"""Which score of a config says how alike two texts are, and how far it is from the threshold. No text is compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cascade.config import Config
from cascade.pairs import Scores

NEAR = 0.02
"""Similarities within this of the threshold are close calls."""
THRESHOLDS = {
    "min_jaccard": "Jaccard similarity",
    "min_containment": "containment",
    "min_similarity": "edit similarity",
}


@dataclass(frozen=True)
class Measure:
    """The score by which a page tells how close a decision was."""

    stage: str
    label: str
    threshold: float
    similarity: bool
    """Whether scores go from 0 to 1, more being more alike; else they count bits that differ or bands shared."""
    less_is_closer: bool = False

    @property
    def near(self) -> float:
        """Scores within this of the threshold are close calls."""
        return NEAR + 1e-9 if self.similarity else 1.0

    def margin(self, scores: Scores) -> Scores:
        """How far scores are from the threshold, on its good side."""
        return self.threshold - scores if self.less_is_closer else scores - self.threshold

    def told(self, score: float) -> str:
        """A score in words."""
        return f"{self.label} {score:.3f}" if self.similarity else f"{self.label}: {score:.0f}"


def measure_of(config: Config) -> Measure | None:
    """The exact test with the last word on how alike two texts are: Jaccard if there is one, else the last that
    confirms by a similarity; without any, the bits of a fingerprint that differ, or the bands that a pair shares."""
    found = [
        Measure(stage.name, label, float(getattr(stage, option)), True)
        for option, label in THRESHOLDS.items()
        for stage in config.stages
        if stage.confirms and isinstance(getattr(stage, option, None), float | int)
    ]
    jaccard = [measure for measure in found if measure.label == THRESHOLDS["min_jaccard"]]
    if found:
        return max(jaccard, key=lambda measure: measure.threshold) if jaccard else found[-1]
    for stage in config.stages:
        if isinstance(bits := getattr(stage, "max_hamming", None), int):
            return Measure(stage.name, "bits that differ", float(bits), False, less_is_closer=True)
    for stage in config.stages:
        if hasattr(stage, "rows_per_band"):
            return Measure(stage.name, "bands shared", 1.0, False)
    return None


def steps(measure: Measure, scores: Scores) -> list[tuple[float, float, int]]:
    """A histogram of scores: (from, to, how many), in steps of 0.01 or by whole numbers, from the least on."""
    scores = scores[~np.isnan(scores)]
    if not len(scores):
        return []
    if measure.similarity:
        # A hair above, so that 0.57 is not counted as 0.56 for the sake of its last bit; 1 belongs to the last step.
        cells = np.minimum(np.floor(scores * 100 + 1e-6).astype(np.int64), 99)
        scale = 0.01
    else:
        cells, scale = np.round(scores).astype(np.int64), 1.0
    low = int(cells.min())
    counts = np.bincount(cells - low).tolist()
    return [((low + i) * scale, (low + i + 1) * scale, count) for i, count in enumerate(counts)]
