"""Columns that are computed while documents arrive, where a plan needs to know nothing of the corpus beforehand.

Texts are then looked at once, on their way in, and need not be held. What becomes of columns is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cascade.columns import ColumnStore, Computed, asking, census_flags, compute_columns
from cascade.config.model import Config
from cascade.memory import Growing, Memory
from cascade.pairs import Rows
from cascade.plan import Plan, PlannedStage, make_plan
from cascade.text.buffer import TextBuffer, batches
from cascade.view import DocumentBatch

SEEN = 1 << 20
"""Slots that remember which texts have been seen."""


@dataclass(frozen=True)
class Part:
    """What was computed of some documents that arrived together; `fresh` (bool) tells of which."""

    fresh: npt.NDArray[np.bool_]
    flags: npt.NDArray[np.uint8]
    computed: Sequence[Computed]


class EarlyColumns:
    """Columns of the documents of a corpus in the order of their arrival.

    Of equal texts one at least is looked at: `place` tells where its columns are, and is -1 of the others.
    """

    def __init__(self, plan: Plan, memory: Memory) -> None:
        self.stages = plan.eager
        self.seconds = {planned.stage.name: 0.0 for planned in self.stages}
        self._config = plan.config
        self._memory = memory
        self._seen = np.zeros(SEEN, np.uint64)
        self._place = Growing(memory, np.int64)
        self._flags = Growing(memory, np.uint8)
        self._columns: dict[str, dict[str, tuple[Growing, tuple[int, ...]]]] = {s.stage.name: {} for s in self.stages}

    def compute(self, texts: TextBuffer, digest: npt.NDArray[np.uint64]) -> Part:
        """The columns of documents with these texts and digests; for any thread."""
        fresh = self._unseen(texts, digest)
        flags, computed = [], []
        rows = np.flatnonzero(fresh)
        for some in batches(rows, texts.sizes(rows)):
            batch = DocumentBatch(some, texts.take(some), self._config.shingle, self._config.seed)
            computed += [compute_columns(planned, batch)[0] for planned in self.stages]
            flags.append(census_flags(batch))
        return Part(fresh, np.concatenate([np.zeros(0, np.uint8), *flags]), computed)

    def _unseen(self, texts: TextBuffer, digest: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Which texts are looked at. What is in a slot was, or is being, looked at; a later text takes its place.

        So of equal texts one is, whatever threads do at the same time. If a digest misleads, its text is looked at
        when all are known.
        """
        if not self._config.exact:
            return np.ones(len(texts), bool)
        at, half = digest[:, 0] & np.uint64(SEEN - 1), digest[:, 1]
        fresh = np.zeros(len(texts), bool)
        fresh[np.unique(half, return_index=True)[1]] = True
        fresh &= self._seen[at] != half
        self._seen[at] = half
        return np.asarray(fresh | (texts.sizes() == 0))

    def add(self, part: Part) -> None:
        """Takes in what was computed of the documents that arrived next."""
        place = np.full(len(part.fresh), -1, np.int64)
        place[part.fresh] = np.arange(len(part.flags)) + len(self._flags)
        self._place.append(place)
        self._flags.append(part.flags)
        for number, computed in enumerate(part.computed):
            planned = self.stages[number % len(self.stages)]
            self.seconds[planned.stage.name] += computed.seconds
            self._take(planned, computed)

    def _take(self, planned: PlannedStage, computed: Computed) -> None:
        whole = self._columns[planned.stage.name]
        for name, values in computed.columns.items():
            with asking(planned.stage, f"column {name!r}"):
                if len(values) != len(computed.rows):
                    raise ValueError(f"{len(values)} entries for {len(computed.rows)} documents")
                if name not in whole:
                    whole[name] = Growing(self._memory, values.dtype), values.shape[1:]
                whole[name][0].append(values.reshape(-1))

    def adopt(self, store: ColumnStore, twin_of: Rows) -> Rows:
        """Puts what was computed into the store of a view's documents, once; returns those of which nothing was.

        twin_of[row] (int64[documents of the corpus]) is the row that stands for the text of `row`.
        """
        place = self._place.finish()
        seen = np.flatnonzero(place >= 0)
        place[twin_of[seen]] = place[seen]
        place = place[store.view.order]
        flags = self._flags.finish()
        for planned in self.stages:
            for name, (column, shape) in self._columns.pop(planned.stage.name).items():
                store.put(planned, name, column.finish().reshape(-1, *shape), place)
            store.seconds[planned.stage.name] += self.seconds[planned.stage.name]
        store.census.count(flags[place[place >= 0]])
        return np.flatnonzero(place < 0)


def early_columns(config: Config, memory: Memory) -> EarlyColumns | None:
    """Columns for a corpus that is about to arrive; None where a stage must know of the corpus before it computes any.

    Raises StageError where a stage cannot be bound.
    """
    plan = make_plan(config, 1)
    for planned in plan.eager:
        facts = replace(planned.facts, enumerates=planned.enumerates)
        if not planned.stage.early or planned.predicate.prunes or planned.stage.observe(facts) is not None:
            return None
    return EarlyColumns(plan, memory) if plan.eager else None
