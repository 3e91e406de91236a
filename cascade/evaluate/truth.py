"""Truth: which documents of a corpus are duplicates of each other, found exactly by the stages themselves.

Truth from files of labels is in labelled.py; the figures that hold a result against a truth are in metrics.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cascade.api import Result, dedupe
from cascade.config import Config, load_config
from cascade.corpus import Corpus
from cascade.errors import ConfigError
from cascade.evaluate.sample import Sample, drawn
from cascade.evidence import raw_ids
from cascade.pairs import Rows, Scores
from cascade.progress import Progress

ROWS_AT_ONCE = 16 * 1024


@dataclass(frozen=True, eq=False)
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

    @property
    def rows(self) -> Rows:
        """The rows that stand for themselves, ascending: one of each text."""
        return np.flatnonzero(self.twin_of == np.arange(self.documents))

    @property
    def pairs_in_all(self) -> float:
        """Duplicate pairs of the whole corpus: counted, or of a sample estimated without bias, by the mean number of
        pairs of a sampled document, times all of them, halved since each pair has two ends."""
        if self.sampled is None:
            return float(len(self.left))
        inside = np.zeros(self.documents, bool)
        inside[self.sampled] = True
        ends = int(inside[self.left].sum()) + int(inside[self.right].sum())
        return ends * len(self.rows) / (2 * len(self.sampled)) if len(self.sampled) else 0.0


@dataclass(frozen=True)
class TruthResult:
    """A truth that was computed, with what it was computed from: corpus, ids, config, warnings, rejected rows."""

    truth: Truth
    result: Result

    def __repr__(self) -> str:
        truth = self.truth
        sampled = "" if truth.sampled is None else f", sampled={len(truth.sampled)}"
        return f"TruthResult({truth.source}, documents={truth.documents}, pairs={len(truth.left)}{sampled})"

    @property
    def pairs(self) -> list[tuple[Any, Any, float]]:
        """The ids of each pair and its similarity, in input order."""
        id_of, truth = self.result.id_of, self.truth
        assert truth.similarity is not None
        columns = (truth.left.tolist(), truth.right.tolist(), truth.similarity.tolist())
        return [(id_of(a), id_of(b), similarity) for a, b, similarity in zip(*columns, strict=True)]

    @property
    def twins(self) -> list[list[Any]]:
        """The ids of each group of equal texts, in input order."""
        return [[self.result.id_of(row) for row in group.tolist()] for group in twin_groups(self.truth)]

    def rows(self) -> Iterator[dict[str, Any]]:
        """What `cascade truth` writes: see truth_rows."""
        return truth_rows(self.truth, self.result.corpus)


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
    """All pairs of documents with a Jaccard similarity of `min_jaccard` or more, or an edit similarity (Levenshtein, by
    code points) of `min_similarity` or more; just one of the two is given, above 0 and at most 1.

    `data`, `config` and `set` as for `cascade.dedupe`. Of the config only `normalize`, `shingle`, `input`, `seed` and
    `memory` matter. Jaccard: a lone jaccard stage, an exact join of any number of documents; nothing is hashed but the
    shingles, to 64 bits. Edit similarity: every pair, up to 20,000 different texts. Equal normalised texts are groups
    of twins, and one of each is compared.

    `sample`: only pairs with an end among so many different texts, drawn at random (`seed`); each of these is compared
    with all, exactly. Work on candidate pairs falls in proportion; reading and shingling stay. Edit similarity then
    goes up to 200,000 texts. A sample of all there are is none.

    Raises ConfigError, InputError, StageError.
    """
    source, stages = _stages(min_jaccard, min_similarity, sample, seed)
    loaded = load_config(config, [set] if isinstance(set, str) else set)
    joined = Config(
        normalize=loaded.normalize,
        shingle=loaded.shingle,
        exact=True,
        stages=stages,
        resolve={"clusters": "star", "keep": "first", "pairs": "all"},
        input=loaded.input,
        seed=loaded.seed,
        memory=loaded.memory,
    )
    result = dedupe(data, joined, workers=workers, progress=progress)
    outcome = result.outcome
    pairs = outcome.pairs
    order = np.lexsort((pairs.right, pairs.left))
    distinct = np.flatnonzero(outcome.stands_for == np.arange(len(outcome.stands_for)))
    sampled = None
    if sample is not None and sample < len(distinct):
        # The stages see one of each text, in input order.
        sampled = distinct[drawn(sample, seed, len(distinct))]
    truth = Truth(
        source=source,
        documents=len(outcome.stands_for),
        twin_of=outcome.stands_for,
        left=pairs.left[order],
        right=pairs.right[order],
        similarity=pairs.scores[SCORE][order] if len(order) else np.empty(0),
        sampled=sampled,
    )
    return TruthResult(truth, result)


SCORE = "similarity"
"""Name of the stage that confirms."""


def _stages(
    min_jaccard: float | None, min_similarity: float | None, sample: int | None, seed: int
) -> tuple[str, list[Any]]:
    """The source as it is called in a Truth, and the stages that find its pairs. Raises ConfigError."""
    given = {"min_jaccard": min_jaccard, "min_similarity": min_similarity}
    asked = {name: value for name, value in given.items() if value is not None}
    if len(asked) != 1:
        found = "both are given" if asked else "neither is given"
        raise ConfigError(f"give min_jaccard or min_similarity, one of the two: {found}")
    ((name, least),) = asked.items()
    if not 0 < least <= 1:
        why = ": every two documents would be a pair" if least == 0 else ""
        raise ConfigError(f"{name} is {least:g}{why}; give a number above 0, up to 1")
    if sample is not None and sample < 1:
        raise ConfigError(f"sample is {sample}; give how many documents to draw, 1 or more")
    if seed < 0:
        raise ConfigError(f"seed is {seed}; give a whole number, 0 or more")
    jaccard = name == "min_jaccard"
    use = "jaccard" if jaccard else "edit_distance"
    stages = load_config({"stages": [{"use": use, "name": SCORE, name: least}]}).stages
    chosen = [Sample(size=sample, seed=seed, scans=not jaccard)] if sample is not None or not jaccard else []
    return f"{'exact' if jaccard else SCORE}:{least:g}", [*chosen, *stages]


truth = exact_truth
"""The name it has in the library: `cascade.truth`."""


def twin_groups(truth: Truth) -> list[Rows]:
    """The rows of each group of twins, the one that stands for them first; groups in input order."""
    twins = np.flatnonzero(truth.twin_of != np.arange(truth.documents))
    twins = twins[np.argsort(truth.twin_of[twins], kind="stable")]
    firsts, starts = np.unique(truth.twin_of[twins], return_index=True)
    groups = np.split(twins, starts)[1:]
    return [np.concatenate(([first], group)) for first, group in zip(firsts, groups, strict=True)]


def truth_rows(truth: Truth, corpus: Corpus) -> Iterator[dict[str, Any]]:
    """A truth that was computed as rows to be written, which labelled_truth reads back: if it is a sample, first
    {"sampled": [id, …]}; then {"twins": [id, …]} for each group of equal texts, in input order; then {"a", "b",
    "jaccard"} (or "similarity", of edits) for each pair. Ids are JSON text (RawJson)."""
    if truth.sampled is not None:
        yield {"sampled": raw_ids(corpus, truth.sampled)}
    for group in twin_groups(truth):
        yield {"twins": raw_ids(corpus, group)}
    score = "jaccard" if truth.source.startswith("exact:") else SCORE
    for begin in range(0, len(truth.left), ROWS_AT_ONCE):
        part = slice(begin, begin + ROWS_AT_ONCE)
        ids = raw_ids(corpus, truth.left[part]), raw_ids(corpus, truth.right[part])
        values = [None] * len(ids[0]) if truth.similarity is None else truth.similarity[part].tolist()
        for a, b, value in zip(*ids, values, strict=True):
            yield {"a": a, "b": b} if value is None else {"a": a, "b": b, score: value}
