"""What bands, rows and a Hamming distance find of a corpus' own pairs, and what they would cost. A model; runs nothing.

Both go by Jaccard similarities: those of the duplicate pairs, and those of random pairs, most of which are unlike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from cascade.config import load_config
from cascade.pairs import Scores
from cascade.stage import Facts

PERMUTATION_NS, FINGERPRINT_NS, KEY_NS = 0.1, 1.7, 60.0
"""Nanoseconds for a shingle under one permutation, for a shingle in a fingerprint, for a key made and sorted."""
CANDIDATE_NS, HAMMING_NS, COMPARE_NS, MERGE_NS = 50.0, 10.0, 100.0, 1.0
"""Nanoseconds for a pair in buckets, for the distance of its fingerprints, for its exact comparison, and for each
shingle of a text in that."""
ROWS = range(1, 25)
DISTANCES = (None, *range(8, 33))
MOST_PERMUTATIONS = 4096
STEPS = 1000
"""Similarities are rounded to so many parts of one."""


@dataclass(frozen=True)
class Choice:
    """What may be picked."""

    bands: int
    rows_per_band: int
    max_hamming: int | None
    """None: no simhash stage."""


@dataclass(frozen=True)
class Profile:
    """What of a corpus decides about recall and cost. Similarities come rounded, each with how many pairs have it."""

    documents: int
    """Different texts of the whole corpus."""
    shingles: float
    """Distinct shingles of a text, on average."""
    pairs: tuple[Scores, Scores]
    """(similarity, weight) of the duplicate pairs; the weights add up to 1."""
    background: tuple[Scores, Scores]
    """(similarity, number) of all pairs of the corpus, estimated from random ones."""
    _within: dict[tuple[str, int], Scores] = field(default_factory=dict)

    def recall(self, choice: Choice) -> float:
        """The share of the duplicate pairs that is expected to be found."""
        similar, weight = self.pairs
        return float((shared(similar, choice) * self.within("pairs", choice.max_hamming) * weight).sum())

    def candidates(self, choice: Choice) -> tuple[float, float]:
        """Pairs of the whole corpus that share a band, and those of them that the distance lets through."""
        similar, number = self.background
        proposed = shared(similar, choice) * number
        return float(proposed.sum()), float((proposed * self.within("background", choice.max_hamming)).sum())

    def seconds(self, choice: Choice) -> float:
        """Processor seconds from the texts to the decisions, reading and shingling left out, which are always the same:
        documents · (shingles · bands · rows · 0.1 ns + bands · 60 ns), with simhash shingles · 1.7 ns more; candidate
        pairs · 50 ns, with simhash 10 ns more; pairs that are compared · (100 ns + shingles · 1 ns). Star clusters
        compare fewer."""
        proposed, compared = self.candidates(choice)
        permutations = choice.bands * choice.rows_per_band
        each = self.shingles * permutations * PERMUTATION_NS + choice.bands * KEY_NS
        pair = CANDIDATE_NS
        if choice.max_hamming is not None:
            each += self.shingles * FINGERPRINT_NS
            pair += HAMMING_NS
        return (self.documents * each + proposed * pair + compared * (COMPARE_NS + self.shingles * MERGE_NS)) / 1e9

    def within(self, which: str, max_hamming: int | None) -> Scores:
        """For each similarity, the probability that fingerprints are within the distance: the model of simhash."""
        similar = (self.pairs if which == "pairs" else self.background)[0]
        if max_hamming is None:
            return np.ones(len(similar))
        if (which, max_hamming) not in self._within:
            (stage,) = load_config({"stages": [{"use": "simhash", "max_hamming": max_hamming}]}).stages
            model = stage.bind(Facts(self.documents)).predicted_recall
            self._within[which, max_hamming] = np.array([model(j) or 0.0 for j in similar.tolist()], np.float64)
        return self._within[which, max_hamming]


def shared(similar: Scores, choice: Choice) -> Scores:
    """1 - (1 - J^rows)^bands"""
    return np.asarray(1 - (1 - similar**choice.rows_per_band) ** choice.bands)


def rounded(similar: Scores, weight: float) -> tuple[Scores, Scores]:
    """Similarities as (value, weight of all that round to it), each counting `weight`."""
    steps, counts = np.unique(np.round(similar * STEPS), return_counts=True)
    return np.asarray(steps / STEPS, np.float64), np.asarray(counts * weight, np.float64)


def choices(profile: Profile, goal: float) -> Iterator[Choice]:
    """For each number of rows and each distance, the fewest bands with which the expected recall reaches `goal`."""
    for max_hamming in DISTANCES:
        for rows in ROWS:
            most = MOST_PERMUTATIONS // rows
            if profile.recall(Choice(most, rows, max_hamming)) < goal:
                continue
            low, high = 1, most
            while low < high:
                middle = (low + high) // 2
                if profile.recall(Choice(middle, rows, max_hamming)) >= goal:
                    high = middle
                else:
                    low = middle + 1
            yield Choice(low, rows, max_hamming)
