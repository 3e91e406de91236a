"""Truth: which documents of a corpus are duplicates of each other. Exact, by the stages themselves, or labelled.

Files are read in cascade.io.labels; figures that hold a result against a truth are in cascade.evaluate.metrics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cascade.api import Result
from cascade.config import Config
from cascade.corpus import Corpus
from cascade.pairs import Rows, Scores
from cascade.progress import Progress


@dataclass(frozen=True)
class Truth:
    """Which documents of a corpus are duplicates of each other, as far as is known.

    Rows are those of the corpus: usable documents in input order, as `Result.outcome` has them.
    """

    source: str
    """exact:0.8 (Jaccard), similarity:0.9 (edit distance), or the name of the file it came from."""
    documents: int
    twin_of: Rows
    """int64[documents]: the row that stands for the text, the first in input order; itself if there is none before."""
    left: Rows
    """int64[n], with `right`: the duplicate pairs among rows that stand for themselves, left < right, sorted by
    (left, right), no pair twice."""
    right: Rows
    similarity: Scores | None = None
    """float64[n]: the exact score of each pair, where it is known."""
    refuted: tuple[Rows, Rows] | None = None
    """(left, right), ordered as the pairs are: pairs known to be no duplicates, all others being unknown. None: every
    pair that is not listed is no duplicate."""
    sampled: Rows | None = None
    """int64[k], ascending: rows standing for themselves all of whose pairs are known, when those of others are not.
    None: the pairs of all rows are known."""


@dataclass(frozen=True)
class TruthResult:
    """A truth that was computed, with the result it came from: corpus, ids, config, warnings, rejected rows."""

    truth: Truth
    result: Result


def exact_truth(
    data: Any,
    config: str | Path | Mapping[str, Any] | Config = "default",
    *,
    min_jaccard: float | None = None,
    min_similarity: float | None = None,
    sample: int | None = None,
    seed: int = 0,
    set: str | Sequence[str] = (),
    workers: int | None = None,
    progress: Progress | None = None,
) -> TruthResult:
    """All pairs of documents that are as alike as asked, found without hashing loss."""
    raise NotImplementedError


def labelled_truth(path: str | Path, corpus: Corpus) -> Truth:
    """The truth in a file of labelled pairs (a, b[, label]) or of clusters (id, cluster), JSON lines or CSV."""
    raise NotImplementedError
