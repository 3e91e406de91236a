"""What a plan's models say of pairs: exact Jaccard similarities, what each stage says, and how likely that was.

Everything is asked by the stage contract, so any stage of anybody will do. What follows from it is not told here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from cascade.api import Result
from cascade.columns import asking
from cascade.first_pass import learnt_plan
from cascade.memory import memory_for
from cascade.pairs import Pairs, Rows, Scores
from cascade.parallel import available_workers
from cascade.plan import Plan, PlannedStage
from cascade.progress import Silent
from cascade.stage import Shingler
from cascade.view import CorpusView

Mask = npt.NDArray[np.bool_]

DIGITS = 6
"""Decimals of a similarity up to which the models are asked anew."""
PAIRS_AT_ONCE = 1 << 20
LEAST = 2.0**-64
"""Where a model says that something cannot be, it is taken for this improbable: models are models."""


@dataclass(frozen=True)
class Said:
    """What one stage says of some pairs, and what its model expects."""

    name: str
    accepted: Mask
    jaccard: Scores | None
    """float64[n]: of the shingles that this stage sees, 0 where a document has none; None if it sees none."""
    expected: Scores | None
    """float64[n]: the probability that a pair of that similarity is accepted; None if no model tells."""

    @property
    def improbability(self) -> Scores:
        """float64[n], in bits: -log2 of the probability of what the stage said; 0 where no model tells."""
        if self.expected is None:
            return np.zeros(len(self.accepted))
        likely = np.where(self.accepted, self.expected, 1 - self.expected)
        return np.abs(np.log2(np.maximum(likely, LEAST)))


def plan_of(result: Result, workers: int | None = None) -> Plan:
    """The plan of a run that is over, its stages bound with all that they learnt from the corpus in a first pass."""
    config, outcome = result.config, result.outcome
    distinct = np.flatnonzero(outcome.stands_for == np.arange(len(outcome.stands_for)))
    seen = distinct if config.exact else np.arange(len(result.corpus), dtype=np.int64)
    workers = workers or available_workers()
    memory = memory_for(config.memory)
    view = CorpusView(result.corpus.texts, distinct, config.shingle, config.seed, workers, memory)
    return learnt_plan(config, len(seen), view, workers, Silent(), memory)


def similarities(view: CorpusView, left: Rows, right: Rows, shingler: Shingler | None = None) -> Scores:
    """Exact Jaccard similarity of pairs of documents of a view; 0 where one has no shingle."""
    rows, at = np.unique(np.concatenate((left, right)), return_inverse=True)
    sizes = np.zeros(len(rows), np.int64)
    for batch in view.batches(rows):
        sizes[np.searchsorted(rows, batch.rows)] = batch.shingles(shingler).lengths
    one, other = sizes[at[: len(left)]], sizes[at[len(left) :]]
    found = np.zeros(len(left))
    whole = np.flatnonzero((one > 0) & (other > 0))
    common = view.overlaps(left[whole], right[whole], np.zeros(len(whole), np.int64), shingler)
    found[whole] = common / (one[whole] + other[whole] - common)
    return found


def expected(planned: PlannedStage, jaccard: Scores) -> Scores | None:
    """The probability that a stage accepts pairs of these similarities, under its own shingles; None: not known."""
    if planned.predicate.predicted_recall(1.0) is None:
        return None
    values, at = np.unique(np.round(jaccard, DIGITS), return_inverse=True)
    known = [planned.predicate.predicted_recall(value) or 0.0 for value in values.tolist()]
    return np.array(known, np.float64)[at] if known else np.zeros(0)


def curve(stages: Iterable[PlannedStage], points: int = 101) -> tuple[tuple[float, float], ...]:
    """The S-curve of stages: (Jaccard similarity, probability that each one with a model accepts), 0 to 1."""
    asked = [planned.predicate.predicted_recall for planned in stages]
    found = []
    for jaccard in np.linspace(0, 1, points).tolist():
        found.append((round(jaccard, DIGITS), prod(p for recall in asked if (p := recall(jaccard)) is not None)))
    return tuple(found)


def unmodelled(plan: Plan) -> tuple[str, ...]:
    """The stages that cannot tell how likely they accept a pair of some Jaccard similarity."""
    return tuple(s.stage.name for s in plan.stages if s.predicate.predicted_recall(1.0) is None)


def recall_expected(plan: Plan, result: Result, left: Rows, right: Rows) -> Scores:
    """float64[n]: the probability that a plan finds each pair of rows, by the models of its stages at the pair's own
    similarity; stages without a model count as accepting."""
    found = np.ones(len(left))
    for _, likely in _models(plan, *_view(result, left, right)).values():
        if likely is not None:
            found *= likely
    return found


def said(plan: Plan, result: Result, left: Rows, right: Rows) -> tuple[Said, ...]:
    """What every stage of a plan says of some pairs of rows of a corpus, by itself, in the order of the config.

    A pair that one stage refuses is put to the others all the same. Raises StageError if a stage fails.
    """
    view, pairs = _view(result, left, right)
    told = {
        planned.stage.name: Said(planned.stage.name, _ask(planned, view, pairs), *models)
        for planned, models in zip(plan.stages, _models(plan, view, pairs).values(), strict=True)
    }
    return tuple(told[stage.name] for stage in plan.config.stages)


def _view(result: Result, left: Rows, right: Rows) -> tuple[CorpusView, Pairs]:
    """The documents of some pairs as a view of their own, and the pairs in it."""
    config = result.config
    rows, at = np.unique(np.concatenate((left, right)), return_inverse=True)
    view = CorpusView(result.corpus.texts, rows, config.shingle, config.seed, available_workers())
    return view, Pairs(at[: len(left)].astype(np.int64), at[len(left) :].astype(np.int64))


def _models(plan: Plan, view: CorpusView, pairs: Pairs) -> dict[str, tuple[Scores | None, Scores | None]]:
    """For each stage, by name: the similarity of each pair under its shingles, and how likely it accepts that."""
    known: dict[Shingler, Scores] = {}
    found: dict[str, tuple[Scores | None, Scores | None]] = {}
    for planned in plan.stages:
        if not planned.stage.uses_shingles:
            found[planned.stage.name] = None, None
            continue
        shingler = planned.stage.shingle or view.shingler
        if shingler not in known:
            known[shingler] = similarities(view, pairs.left, pairs.right, shingler)
        found[planned.stage.name] = known[shingler], expected(planned, known[shingler])
    return found


def _ask(planned: PlannedStage, view: CorpusView, pairs: Pairs) -> Mask:
    """bool[n]: which pairs one stage accepts."""
    columns: dict[str, npt.NDArray[np.generic]] = {}
    with asking(planned.stage, "columns"):
        for batch in view.batches():
            for name, values in planned.predicate.columns(batch).items():
                if name not in columns:
                    columns[name] = np.zeros((len(view), *values.shape[1:]), values.dtype)
                columns[name][batch.rows] = values
    accepted = np.zeros(len(pairs), bool)
    for part in _parts(len(pairs)):
        some = Pairs(pairs.left[part], pairs.right[part])
        with asking(planned.stage, "filter"):
            answer = planned.predicate.filter(some, columns, view)
            answer.check(len(some))
        accepted[part.start + answer.index] = True
    return accepted


def _parts(count: int) -> Iterator[slice]:
    for start in range(0, count, PAIRS_AT_ONCE):
        yield slice(start, min(start + PAIRS_AT_ONCE, count))
