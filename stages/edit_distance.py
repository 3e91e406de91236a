"""edit_distance: similarity of whole texts by the edits between them, counted by rapidfuzz. The stage that reads text.

Nothing here depends on shingles. What the four metrics mean stands at EditDistance, the bounds at the predicate.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, field_validator

from cascade.pairs import Accepted, Pairs, Rows, Scores
from cascade.stage import TOLERANCE, Batch, Columns, Corpus, Facts, Predicate, Shingler, Stage
from cascade.text.buffer import TextBuffer

CUTOFF_SLACK = 1e-6
"""How far below a threshold bounds and cut-offs stay. rapidfuzz rounds score_cutoff to single precision, 3e-8 up at
most, and would lose a pair whose similarity is the threshold; the similarity itself then decides."""

SLICE = 1 << 24
"""Characters or words of the pairs compared at a time. A slice decodes its documents once; that costs less than
comparing them, and keeps the decoded texts within some hundred megabytes however many pairs there are."""

Metric = Literal["levenshtein", "indel", "damerau_levenshtein", "jaro_winkler"]


class EditDistance(Stage):
    """Accepts a pair when the edit similarity of the normalised texts is >= min_similarity; neither may be empty.

    With lengths a and b in code points (`unit: char`) or words (`unit: word`) and d the least number of edits:

    - levenshtein: (max(a, b) - d) / max(a, b); d counts insertions, deletions, substitutions.
    - indel: (a + b - d) / (a + b); d counts insertions and deletions.
    - damerau_levenshtein: (max(a, b) - d) / max(a, b); d counts swaps of neighbours too, and a swapped pair may be
      edited further (the unrestricted distance). Takes time proportional to a * b for every pair that comes near.
    - jaro_winkler: j + p (1 - j) / 10 if j > 0.7, else j, with p <= 4 the length of the common prefix and
      j = (m / a + m / b + (m - t) / m) / 3 for m matching characters, t transpositions (Winkler 1990).

    Words are those of the `word` rule, compared by their 64-bit hashes as shingles are.
    """

    use: Literal["edit_distance"] = "edit_distance"
    metric: Metric = Field("levenshtein", description="which edits count, and over what they are divided")
    unit: Literal["char", "word"] = Field("char", description="what is edited: code points or words")
    min_similarity: float = Field(0.9, ge=0, le=1, description="least edit similarity of the two normalised texts")

    uses_shingles: ClassVar[bool] = False

    @field_validator("shingle")
    @classmethod
    def _no_shingle(cls, value: Shingler | None) -> None:
        if value is not None:
            raise ValueError("edit_distance compares whole texts and takes no shingle; its option is unit: char | word")

    @property
    def early(self) -> bool:
        return True

    def bind(self, facts: Facts) -> Predicate:
        return EditPredicate(self.metric, self.unit, self.min_similarity, facts.workers, facts.seed)


@dataclass(frozen=True)
class EditPredicate(Predicate):
    """Edit similarity at a threshold. Score: the similarity, as the formulas of EditDistance give it in float64."""

    metric: Metric
    unit: Literal["char", "word"]
    min_similarity: float
    workers: int = 1
    seed: int = 0
    cost: float = 20_000.0
    bytes_per_document: int = 9

    def columns(self, batch: Batch) -> Columns:
        """`characters` (int64): code points of each text, or its words with `unit: word`; `alive`: has any."""
        texts = batch.texts
        characters = code_points(texts) if self.unit == "char" else np.diff(self._words(texts)[1])
        return {"characters": characters, "alive": characters > 0}

    def filter(self, pairs: Pairs, columns: Columns, corpus: Corpus) -> Accepted:
        """Lengths first, so that a hopeless pair never fetches its texts; then the texts, a slice at a time."""
        length = columns["characters"]
        alive = np.flatnonzero((length[pairs.left] > 0) & (length[pairs.right] > 0))
        possible = self._ceiling(length[pairs.left[alive]], length[pairs.right[alive]]) >= self._reach
        near = alive[possible]
        left, right = pairs.left[near], pairs.right[near]
        score = np.zeros(len(near))
        for start, stop in _slices(length[left] + length[right]):
            score[start:stop] = self._similarities(left[start:stop], right[start:stop], length, corpus)
        met = np.flatnonzero(score >= self.min_similarity - TOLERANCE)
        return Accepted(near[met], score[met])

    def describe(self) -> str:
        return f"{self.metric} similarity in {self.unit}s >= {self.min_similarity:g}, length bound first"

    @property
    def _reach(self) -> float:
        """What bounds and cut-offs ask for: a little less than the threshold, so that no rounding loses a pair."""
        return max(self.min_similarity - CUTOFF_SLACK, 0.0)

    def _ceiling(self, a: Rows, b: Rows) -> Scores:
        """The greatest similarity that texts of these lengths can have: the shorter one lies within the longer."""
        shorter, longer = np.minimum(a, b), np.maximum(a, b)
        if self.metric == "indel":
            return np.asarray(2 * shorter / (a + b))
        if self.metric == "jaro_winkler":
            jaro = (2 + shorter / longer) / 3  # all of the shorter matches, nothing is transposed
            return np.asarray(jaro + 0.4 * (1 - jaro))
        return np.asarray(shorter / longer)

    def _similarities(self, left: Rows, right: Rows, length: Rows, corpus: Corpus) -> Scores:
        """Similarity of each pair; 0 for pairs that a cut-off has shown to be below the threshold."""
        from rapidfuzz.distance import DamerauLevenshtein, Indel, JaroWinkler, Levenshtein

        rows, position = np.unique(np.concatenate((left, right)), return_inverse=True)
        sequences = self._sequences(corpus.texts(rows))
        a = [sequences[i] for i in position[: len(left)]]
        b = [sequences[i] for i in position[len(left) :]]
        if self.metric == "jaro_winkler":
            return self._compare(JaroWinkler.similarity, a, b, self._reach)
        if self.metric == "indel":
            found = self._compare(Indel.normalized_similarity, a, b, self._reach)
            return _exact(found, length[left] + length[right])
        whole = np.maximum(length[left], length[right])
        if self.metric == "levenshtein":
            return _exact(self._compare(Levenshtein.normalized_similarity, a, b, self._reach), whole)
        # A swap is two substitutions, so Levenshtein <= 2 Damerau: a banded test that spares hopeless pairs the table.
        found = np.zeros(len(left))
        hopeful = np.arange(len(left))
        if (least := 2 * self._reach - 1) > 0:
            hopeful = np.flatnonzero(self._compare(Levenshtein.normalized_similarity, a, b, least))
        a, b = [a[i] for i in hopeful], [b[i] for i in hopeful]
        found[hopeful] = self._compare(DamerauLevenshtein.normalized_similarity, a, b, self._reach)
        return _exact(found, whole)

    def _compare(self, scorer: Any, a: Sequence[Any], b: Sequence[Any], least: float) -> Scores:
        """rapidfuzz on pairs a[i], b[i]; a similarity below `least` comes back as 0."""
        from rapidfuzz.process import cpdist

        if not a:
            return np.zeros(0)
        found: Scores = cpdist(a, b, scorer=scorer, score_cutoff=least, dtype=np.float64, workers=self.workers)
        return found

    def _sequences(self, texts: TextBuffer) -> list[str] | list[array[int]]:
        """What rapidfuzz compares: strings, or arrays of word hashes."""
        if self.unit == "char":
            return texts.to_list()
        hashes, ends = self._words(texts)
        return [array("Q", hashes[ends[i] : ends[i + 1]].tobytes()) for i in range(len(texts))]

    def _words(self, texts: TextBuffer) -> tuple[npt.NDArray[np.uint64], Rows]:
        """Word hashes of all texts, one behind the other, with offsets."""
        from cascade.text.shingle import Word

        words = Word(n=1).shingle(texts, self.seed)
        return words.hashes, words.indptr


def code_points(texts: TextBuffer) -> Rows:
    """Characters of each text (int64): its bytes that do not continue a UTF-8 sequence (10xxxxxx, below -64 signed)."""
    first = texts.offsets[0]
    leads = texts.data[first : texts.offsets[-1]].view(np.int8) >= -64
    ends = (texts.offsets - first).tolist()
    counts = (np.count_nonzero(leads[ends[i] : ends[i + 1]]) for i in range(len(texts)))
    return np.fromiter(counts, np.int64, len(texts))


def _exact(similarity: Scores, whole: Rows) -> Scores:
    """(whole - d) / whole in one rounding, for the whole number d that rapidfuzz's 1 - d / whole came from."""
    return np.asarray((whole - np.rint((1 - similarity) * whole)) / whole)


def _slices(work: Rows) -> Iterator[tuple[int, int]]:
    """Cuts pairs into runs of about SLICE characters; a pair larger than that is a run of its own."""
    done = np.cumsum(work) - work
    borders = np.flatnonzero(np.diff(done // SLICE)) + 1
    edges = [0, *borders.tolist(), len(work)]
    yield from pairwise(edges)
