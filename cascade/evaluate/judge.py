"""What the stages of a plan say of one pair, asked by the stage contract alone: any stage of anybody will do.

The plan is bound with the facts of the whole corpus; the pair is a corpus of two documents. What follows is not told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cascade.columns import asking
from cascade.config.expect import option_schemas
from cascade.evaluate.explanation import Candidate, SharedKeys, StageVerdict
from cascade.pairs import Pairs
from cascade.plan import Plan, PlannedStage
from cascade.stage import Columns, Keys, Predicate, Shingler, Stage
from cascade.view import CorpusView, DocumentBatch

MOST_EDITS = 1 << 36
"""Characters of one text times characters of the other that an exact edit distance may take: some ten seconds."""
BOTH = np.arange(2, dtype=np.int64)


@dataclass(frozen=True)
class Pair:
    """Two documents as a corpus of their own, the one that keep order puts first at 0."""

    view: CorpusView
    batch: DocumentBatch

    @staticmethod
    def of(view: CorpusView) -> Pair:
        """The two documents of a view."""
        return Pair(view, DocumentBatch(BOTH, view.texts(BOTH), view.shingler, view.seed))

    def sets(self, shingler: Shingler | None = None) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """Distinct shingles of each."""
        shingles = self.batch.shingles(shingler)
        return shingles.row(0), shingles.row(1)

    def jaccard(self, shingler: Shingler | None = None) -> float:
        """Of their shingles; 1 if neither has any."""
        from cascade.sketch import jaccard

        return jaccard(*self.sets(shingler))

    @property
    def short_enough(self) -> bool:
        """Whether comparing the texts letter by letter is a matter of seconds."""
        one, other = np.diff(self.batch.texts.offsets).tolist()
        return bool(one * other <= MOST_EDITS)


def verdicts(plan: Plan, pair: Pair) -> tuple[StageVerdict, ...]:
    """What each stage says, in the order of the config. Raises StageError if a stage fails."""
    by_name = {planned.stage.name: verdict(planned, pair) for planned in plan.stages}
    return tuple(by_name[stage.name] for stage in plan.config.stages)


def verdict(planned: PlannedStage, pair: Pair) -> StageVerdict:
    """What one stage says of the pair."""
    stage, predicate = planned.stage, planned.predicate
    columns = columns_of(stage, predicate, pair.batch)
    accepted, score = _ask(stage, predicate, columns, pair)
    if not accepted:
        score = _score_of_refused(planned, pair)
    jaccard = pair.jaccard(stage.shingle) if stage.uses_shingles else None
    fingerprint = columns.get("fingerprint")
    has_fingerprint = fingerprint is not None and fingerprint.dtype == np.uint64 and fingerprint.ndim == 1
    return StageVerdict(
        name=stage.name,
        use=stage.use,
        role=planned.role,
        does=predicate.describe(),
        accepted=accepted,
        score=score,
        thresholds=thresholds(stage, predicate),
        jaccard=jaccard,
        predicted_recall=None if jaccard is None else predicate.predicted_recall(jaccard),
        fingerprints=tuple(fingerprint.tolist()) if has_fingerprint and fingerprint is not None else None,
        keys=_shared(planned, keys_of(stage, predicate, columns, pair.batch)),
    )


def columns_of(stage: Stage, predicate: Predicate, batch: DocumentBatch) -> Columns:
    """The columns of a batch."""
    with asking(stage, "columns"):
        return predicate.columns(batch)


def keys_of(stage: Stage, predicate: Predicate, columns: Columns, batch: DocumentBatch) -> Keys | None:
    """The blocking keys of a batch, fixed or ragged; None if the stage offers none."""
    if predicate.keys_per_document is None:
        return None
    with asking(stage, "keys"):
        ragged = predicate.batch_keys(batch)
        return predicate.keys(columns) if ragged is None else ragged


def _ask(stage: Stage, predicate: Predicate, columns: Columns, pair: Pair) -> tuple[bool, float | None]:
    with asking(stage, "filter"):
        accepted = predicate.filter(Pairs(BOTH[:1], BOTH[1:]), columns, pair.view)
        accepted.check(1)
        return (True, float(accepted.score[0])) if len(accepted.index) else (False, None)


def _score_of_refused(planned: PlannedStage, pair: Pair) -> float | None:
    """The score of a pair that the stage refuses: that of the same stage with its options min_… and max_… wide open."""
    stage = planned.stage
    if not stage.uses_shingles and not pair.short_enough:
        return None
    schemas = option_schemas(type(stage))
    wide: dict[str, float] = {}
    for name in thresholds(stage, planned.predicate):
        bound = _bound(schemas[name], "minimum" if name.startswith("min_") else "maximum")
        if bound is not None:
            wide[name] = bound
    if not wide:
        return None
    opened = stage.model_copy(update=wide)
    with asking(stage, "binding with open thresholds"):
        predicate = opened.bind(planned.facts)
    return _ask(opened, predicate, columns_of(opened, predicate, pair.batch), pair)[1]


def _bound(schema: Mapping[str, Any], which: str) -> float | None:
    """The least or the greatest number that an option takes, by its JSON Schema."""
    if which in schema:
        return schema[which]  # type: ignore[no-any-return]
    found = (_bound(option, which) for option in schema.get("anyOf", ()))
    return next((bound for bound in found if bound is not None), None)


def thresholds(stage: Stage, predicate: Predicate) -> dict[str, float]:
    """The options of a stage that carry a direction, as far as they are numbers, every `auto` settled."""
    settled = getattr(predicate, "options", stage)
    if not isinstance(settled, type(stage)):
        settled = stage
    found = {name: getattr(settled, name) for name in type(stage).model_fields if name.startswith(("min_", "max_"))}
    return {k: v for k, v in found.items() if isinstance(v, int | float) and not isinstance(v, bool)}


def _shared(planned: PlannedStage, keys: Keys | None) -> SharedKeys | None:
    if keys is None or (keys.indptr is not None and not planned.enumerates):
        return None
    alive = bool(keys.alive.all())
    if keys.indptr is None:
        tables = np.flatnonzero(keys.values[0] == keys.values[1]) if alive else BOTH[:0]
        number = keys.values.shape[1]
        unit = "band" if getattr(planned.predicate, "bands", None) == number else "key"
        return SharedKeys(tuple(tables.tolist()), number, unit)
    core = np.ones(len(keys.values), bool) if keys.core is None else keys.core
    one, other = (slice(int(keys.indptr[i]), int(keys.indptr[i + 1])) for i in (0, 1))
    shared = set(keys.values[one].tolist()) & set(keys.values[other].tolist())
    shared &= set(keys.values[one][core[one]].tolist()) | set(keys.values[other][core[other]].tolist())
    return SharedKeys(tuple(sorted(shared)) if alive else (), None)


def candidate(
    plan: Plan, pair: Pair, found: tuple[StageVerdict, ...], whole: CorpusView | None, first: int
) -> tuple[Candidate, tuple[StageVerdict, ...]]:
    """Whether the two meet, and the verdicts with the sizes of the buckets that they share.

    `whole`: all documents that the stages see, in keep order, where there is a corpus; `first`: the earlier of the two.
    """
    for planned in plan.stages:
        columns = columns_of(planned.stage, planned.predicate, pair.batch)
        alive = columns.get("alive")
        if alive is not None and not alive.all() and (planned.enumerates or not planned.predicate.late):
            how = f"{planned.stage.name} finds that a document can have no partner"
            return Candidate(False, planned.stage.name, how), found
    enumerator = next((planned for planned in plan.stages if planned.enumerates), None)
    if enumerator is None:
        return Candidate(True, None, "all pairs are tried"), found
    name = enumerator.stage.name
    mine = next(v for v in found if v.name == name)
    keys = mine.keys or SharedKeys((), None)
    if not keys.shared:
        return Candidate(False, name, f"{name}: {told(keys)}"), found
    if whole is None:
        return Candidate(True, name, f"{name}: {told(keys)}"), found
    members = list(_members(plan, enumerator, keys, pair, whole))
    keys = replace(keys, buckets=tuple(len(rows) for rows in members))
    found = tuple(replace(v, keys=keys) if v is mine else v for v in found)
    most = plan.config.resolve.max_bucket
    if most is not None and not any(int(np.searchsorted(rows, first)) < most for rows in members):
        how = f"{name}: {told(keys)}, but neither is among the first {most:,} of its bucket (resolve.max_bucket)"
        return Candidate(False, name, how), found
    return Candidate(True, name, f"{name}: {told(keys)}"), found


def told(keys: SharedKeys) -> str:
    """Shared keys in words."""
    number = len(keys.shared)
    of = "" if keys.tables is None else f" of {keys.tables:,}"
    size = f", in buckets of up to {max(keys.buckets):,} documents" if keys.buckets else ""
    if not number:
        return f"no shared {keys.unit}{of}"
    return f"{number:,}{of} {keys.unit}s shared{size}" if of or number > 1 else f"1 {keys.unit} shared{size}"


def _members(
    plan: Plan, enumerator: PlannedStage, keys: SharedKeys, pair: Pair, whole: CorpusView
) -> Iterator[npt.NDArray[np.int64]]:
    """The documents in each bucket that the two share, ascending."""
    eager = [s for s in plan.stages if s is not enumerator and not s.predicate.late]
    found: list[list[npt.NDArray[np.int64]]] = [[] for _ in keys.shared]
    own = _keys(enumerator, pair.batch)
    for batch in whole.batches():
        alive = np.ones(len(batch.rows), bool)
        for planned in eager:
            alive &= columns_of(planned.stage, planned.predicate, batch).get("alive", True)
        theirs = _keys(enumerator, batch)
        alive &= theirs.alive
        for rows, key in zip(found, keys.shared, strict=True):
            if theirs.indptr is None:
                hit = theirs.values[:, key] == own.values[0, key]
            else:
                hit = np.zeros(len(batch.rows), bool)
                hit[np.repeat(np.arange(len(hit)), np.diff(theirs.indptr))[theirs.values == np.uint64(key)]] = True
            rows.append(batch.rows[hit & alive])
    yield from map(np.concatenate, found)


def _keys(planned: PlannedStage, batch: DocumentBatch) -> Keys:
    columns = columns_of(planned.stage, planned.predicate, batch)
    keys = keys_of(planned.stage, planned.predicate, columns, batch)
    assert keys is not None
    return keys
