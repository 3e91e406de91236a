"""The pairs that one config takes for duplicates and another does not, the most surprising first.

Which pairs a config claims, how improbable the models of its stages make what they said, and the pairs as they are
shown: texts, difference, what every stage of both configs said. Nothing is printed or written here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cascade.api import Result
from cascade.config import Config
from cascade.evaluate.difference import Difference, difference
from cascade.evaluate.explanation import StageVerdict
from cascade.evaluate.fate import raw_texts
from cascade.evaluate.judge import Pair, verdicts
from cascade.evaluate.metrics import Predicted, pair_keys
from cascade.evaluate.predict import Said, said
from cascade.evaluate.truth import Truth
from cascade.pairs import Rows, Scores
from cascade.plan import Plan
from cascade.result import Outcome
from cascade.stage import Stage
from cascade.view import CorpusView

MOST_JUDGED = 100_000
"""Disagreeing pairs whose surprise is computed; of more, so many drawn at random."""


@dataclass(frozen=True)
class Disagreement:
    """A pair of documents that one of two configs, A and B, takes for duplicates and the other does not."""

    rows: tuple[int, int]
    ids: tuple[Any, Any]
    accepted_by: str
    """Name of the config that takes them for duplicates."""
    refused_by: str
    surprise: float
    """Bits: -log2 of the probability that the stages of both said what they said, by their models, each at the pair's
    exact Jaccard similarity under its own shingles. Stages that test exactly, or have no model, or are the same in
    both configs, count as certain."""
    clearness: float | None
    """How far the Jaccard similarity is from the threshold that the refusing config confirms; None if it has none."""
    duplicate: bool | None
    """What the truth says; None where it says nothing."""
    jaccard: tuple[float | None, float | None]
    """Under the shingles of A and of B; None where no stage sees any."""
    texts: tuple[str, str]
    """As they came."""
    verdicts: tuple[tuple[StageVerdict, ...], tuple[StageVerdict, ...]]
    """What each stage of A and of B says of the pair by itself, refused ones with their score as well."""

    @cached_property
    def difference(self) -> Difference:
        """Where the texts differ, as they came."""
        return difference(*self.texts)


@dataclass(frozen=True)
class Claims:
    """What two configs say of pairs. Equal texts count once; an equal text is a pair with the first of its kind."""

    both: int
    """Pairs of A that B claims too."""
    only_a: tuple[Rows, Rows]
    only_b: tuple[Rows, Rows]


def claims(a: Outcome, b: Outcome) -> Claims:
    """Which pairs both of two outcomes of runs with `pairs: all` over one corpus claim, and which only one of them."""
    mine, theirs = claimed(a), claimed(b)
    known = np.asarray(_whole(b).has(*mine), bool)
    lacking = ~np.asarray(_whole(a).has(*theirs), bool)
    return Claims(
        both=int(known.sum()),
        only_a=(mine[0][~known], mine[1][~known]),
        only_b=(theirs[0][lacking], theirs[1][lacking]),
    )


def claimed(outcome: Outcome) -> tuple[Rows, Rows]:
    """The pairs (left < right, sorted) that an outcome claims, between the first rows of each text, and of each later
    row of a text with its first."""
    rows = np.arange(len(outcome.stands_for), dtype=np.int64)
    first = rows.copy()
    np.minimum.at(first, outcome.stands_for, rows)
    twins = rows[first[outcome.stands_for] != rows]
    left = np.concatenate((first[outcome.pairs.left], first[outcome.stands_for[twins]]))
    right = np.concatenate((first[outcome.pairs.right], twins))
    keys = np.unique(pair_keys(left, right, max(len(rows), 1)))
    lower, upper = np.divmod(keys, max(len(rows), 1))
    return lower, upper


def _whole(outcome: Outcome) -> Predicted:
    """What an outcome says of any two rows."""
    none = np.empty(0, np.int64)
    rows = len(outcome.stands_for)
    every = Truth("none", rows, np.arange(rows, dtype=np.int64), none, none)
    return Predicted(every, outcome.pairs, outcome.stands_for)


@dataclass(frozen=True)
class Contender:
    """A config that was run with `pairs: all`."""

    name: str
    plan: Plan
    result: Result


def disagreements(
    a: Contender, b: Contender, found: Claims, truth: Truth | None, *, shown: int, seed: int
) -> tuple[Disagreement, ...]:
    """The `shown` most surprising pairs that only one of two configs claims; ties: the clearest first, then by row.

    Of more than 100,000 such pairs, so many drawn at random (`seed`) are looked at.
    """
    left, right = (np.concatenate(ends) for ends in zip(found.only_a, found.only_b, strict=True))
    by_a = np.arange(len(left)) < len(found.only_a[0])
    if len(left) > MOST_JUDGED:
        chosen = np.sort(np.random.default_rng(seed).choice(len(left), MOST_JUDGED, replace=False))
        left, right, by_a = left[chosen], right[chosen], by_a[chosen]
    if not len(left) or shown < 1:
        return ()
    told = said(a.plan, a.result, left, right), said(b.plan, b.result, left, right)
    surprise = np.zeros(len(left))
    for bits in (*_improbable(a, b, told[0]), *_improbable(b, a, told[1])):
        surprise += bits
    similar = [_jaccard(c.plan.config, said_by) for c, said_by in zip((a, b), told, strict=True)]
    clear = np.where(by_a, _clearness(b, similar[1]), _clearness(a, similar[0]))
    order = np.lexsort((right, left, -np.nan_to_num(clear), -surprise))[:shown]
    rows = left[order], right[order]
    texts = raw_texts(a.result, np.unique(np.concatenate(rows)))
    known = duplicates(truth, *rows)
    return tuple(
        Disagreement(
            rows=(int(one), int(other)),
            ids=(a.result.id_of(int(one)), a.result.id_of(int(other))),
            accepted_by=(a if by_a[at] else b).name,
            refused_by=(b if by_a[at] else a).name,
            surprise=float(surprise[at]),
            clearness=None if np.isnan(clear[at]) else float(clear[at]),
            duplicate=known[i],
            jaccard=(_at(similar[0], at), _at(similar[1], at)),
            texts=(texts[int(one)], texts[int(other)]),
            verdicts=(_verdicts(a, int(one), int(other)), _verdicts(b, int(one), int(other))),
        )
        for i, (at, one, other) in enumerate(zip(order.tolist(), *rows, strict=True))
    )


def _improbable(contender: Contender, other: Contender, told: Sequence[Said]) -> Iterator[Scores]:
    """Bits of each pair, for each stage of a config that the other has not got as well."""
    config, shared = contender.plan.config, [_meaning(other.plan.config, stage) for stage in other.plan.config.stages]
    for each, stage in zip(told, config.stages, strict=True):
        if _meaning(config, stage) not in shared:
            yield each.improbability


def _meaning(config: Config, stage: Stage) -> tuple[Any, ...]:
    """Two stages of which this is equal say the same of every pair."""
    options = stage.model_dump(exclude={"name", "shingle"})
    return options, stage.shingle or config.shingle, config.normalize, config.seed


def _jaccard(config: Config, told: Sequence[Said]) -> Scores | None:
    """The similarity under the config's own shingles, or those of the first stage that sees any."""
    seen = [(stage, s.jaccard) for stage, s in zip(config.stages, told, strict=True) if s.jaccard is not None]
    own = [jaccard for stage, jaccard in seen if stage.shingle is None]
    return next(iter(own), None) if own else next((jaccard for _, jaccard in seen), None)


def _clearness(contender: Contender, similar: Scores | None) -> npt.NDArray[np.float64] | float:
    threshold = contender.plan.config.confirm_jaccard
    return float("nan") if similar is None or threshold is None else np.abs(similar - threshold)


def _at(similar: Scores | None, at: int) -> float | None:
    return None if similar is None else float(similar[at])


def _verdicts(contender: Contender, left: int, right: int) -> tuple[StageVerdict, ...]:
    config, rows = contender.plan.config, np.array([left, right], np.int64)
    view = CorpusView(contender.result.corpus.texts, rows, config.shingle, config.seed, 1)
    return verdicts(contender.plan, Pair.of(view))


def duplicates(truth: Truth | None, left: Rows, right: Rows) -> list[bool | None]:
    """What a truth says of pairs of rows; None where it says nothing."""
    if truth is None:
        return [None] * len(left)
    one, other = truth.twin_of[left], truth.twin_of[right]
    keys = pair_keys(one, other, truth.documents)
    yes = (one == other) | np.isin(keys, pair_keys(truth.left, truth.right, truth.documents))
    if truth.refuted is not None:
        no = np.isin(keys, pair_keys(*truth.refuted, truth.documents))
    elif truth.sampled is not None:
        no = ~yes & (np.isin(one, truth.sampled) | np.isin(other, truth.sampled))
    else:
        no = ~yes
    return [True if y else False if n else None for y, n in zip(yes.tolist(), no.tolist(), strict=True)]
