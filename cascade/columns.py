"""The columns that stages keep of each document. What they observe of the whole corpus is told in first_pass.

Columns are computed batch by batch, in threads, for all documents; those of an expensive filter only for the documents
that come to it in a pair. Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from cascade.errors import CascadeError, StageError
from cascade.memory import Growing, Memory
from cascade.pairs import Rows
from cascade.parallel import ordered_map
from cascade.plan import Plan, PlannedStage
from cascade.progress import Progress
from cascade.stage import Columns, Keys, Stage
from cascade.view import CorpusView, DocumentBatch


@contextmanager
def asking(stage: Stage, what: str) -> Iterator[None]:
    """What goes wrong inside a stage becomes a StageError that names it: stages may be anybody's."""
    try:
        yield
    except (CascadeError, MemoryError):
        raise
    except Exception as error:
        raise StageError(f"stage {stage.name}: its {what} failed: {type(error).__name__}: {error}") from error


ROWS_AT_ONCE = 1 << 12


@dataclass
class Census:
    """What the pass saw of shingles: `without` counts documents that some shingler in use finds none in.

    `single` counts those in which the config's own shingler finds one. A document that the shingles of one stage have
    ruled out is cut by no other shingler.
    """

    documents: int = 0
    without: int = 0
    single: int = 0

    def count(self, flags: npt.NDArray[np.uint8]) -> None:
        """Counts documents by their flags."""
        self.documents += len(flags)
        self.without += int(np.count_nonzero(flags & WITHOUT))
        self.single += int(np.count_nonzero(flags & SINGLE))


WITHOUT, SINGLE = 1, 2


def census_flags(batch: DocumentBatch) -> npt.NDArray[np.uint8]:
    """What the census is to know of each document of a batch whose columns have been computed."""
    flags = np.zeros(len(batch.rows), np.uint8)
    for shingler, shingles in batch.used().items():
        flags[shingles.lengths == 0] |= WITHOUT
        if shingler == batch.shingler:
            flags[shingles.lengths == 1] |= SINGLE
    return flags


@dataclass(frozen=True)
class Computed:
    """What one stage has computed of some documents."""

    rows: Rows
    columns: Columns
    keys: tuple[Rows, Keys] | None
    """Of the stage that enumerates: blocking keys of the documents that are left."""
    seconds: float


class ColumnStore:
    """The columns of every stage of a plan over the documents of a view, and the seconds that they took.

    Stages that prune come first; the others compute theirs for the documents that are left, and zeros stand for those
    that are not. An enumerator's columns lie one key after the other, since documents are grouped key by key.
    Seconds are summed over threads. What stages share, the shingles, counts for the one that asks for them first.
    """

    def __init__(self, view: CorpusView, plan: Plan, workers: int, memory: Memory | None = None) -> None:
        self.view = view
        self.memory = memory or Memory()
        self.workers = workers
        self.eager = sorted(plan.eager, key=lambda s: not s.predicate.prunes)
        self.seconds = {s.stage.name: 0.0 for s in plan.stages}
        self.census = Census()
        self._columns: dict[str, dict[str, npt.NDArray[Any]]] = {s.stage.name: {} for s in plan.stages}
        self._done = {s.stage.name: np.zeros(len(view), bool) for s in plan.stages if s not in self.eager}
        self._ragged: RaggedKeys | None = None

    def compute(self, progress: Progress, rows: Rows | None = None) -> None:
        """Computes the columns of all stages but late filters: for all documents, or for `rows`, the rest being put."""
        progress.start("columns", len(self.view))
        if rows is not None:
            progress.advance("columns", len(self.view) - len(rows))
        for batch in self._fill(self.eager, self.view.batches(rows)):
            self.census.count(census_flags(batch))
            progress.advance("columns", len(batch.rows))
        progress.finish("columns")

    def put(self, planned: PlannedStage, name: str, values: npt.NDArray[Any], place: Rows) -> None:
        """A column that has been computed before: values[place[row]] is that of document `row`; -1: not there."""
        whole = self._column(planned, name, values)
        for start in range(0, len(place), ROWS_AT_ONCE):
            some = slice(start, start + ROWS_AT_ONCE)
            whole[some] = values[place[some]]

    def renew(self, plan: Plan, names: Collection[str], rows: Rows) -> None:
        """Computes the columns of some stages anew, which have learnt more, for documents `rows`."""
        renewed = [planned for planned in plan.stages if planned.stage.name in names]
        self.eager = [next((r for r in renewed if r.stage == old.stage), old) for old in self.eager]
        for _ in self._fill([planned for planned in renewed if planned in self.eager], self.view.batches(rows)):
            pass

    def of(self, planned: PlannedStage, rows: Rows | None = None) -> Columns:
        """The columns of a stage; of a late filter they are valid for `rows` at least."""
        done = self._done.get(planned.stage.name)
        if done is not None and rows is not None:
            missing = np.unique(rows[~done[rows]])
            for batch in self._fill([planned], self.view.batches(missing)):
                done[batch.rows] = True
        return self._columns[planned.stage.name]

    def keys(self, planned: PlannedStage) -> Keys | None:
        """The blocking keys of the stage that enumerates; hands over those that came batch by batch."""
        ragged, self._ragged = self._ragged, None
        return planned.predicate.keys(self.of(planned)) if ragged is None else ragged.finish()

    @property
    def alive(self) -> npt.NDArray[np.bool_]:
        """bool[documents]: which may have a partner at all, as far as any stage knows."""
        mask = np.ones(len(self.view), bool)
        for planned in self.eager:
            mask &= self._columns[planned.stage.name].get("alive", mask)
        return mask

    @property
    def core(self) -> npt.NDArray[np.bool_]:
        """bool[documents]: one document at least of every pair that is accepted, as the stage knows that names fewest.

        What two stages know does not combine: a pair may have one document that is core to each.
        """
        cores = [own["core"] for planned in self.eager if "core" in (own := self._columns[planned.stage.name])]
        return min([np.ones(len(self.view), bool), *cores], key=np.count_nonzero)

    def pruned(self, planned: PlannedStage) -> dict[str, int]:
        """How many documents a stage that prunes has left alive, as a count for the report."""
        alive = self._columns[planned.stage.name].get("alive") if planned.predicate.prunes else None
        return {} if alive is None else {"documents_alive": int(alive.sum())}

    def _fill(self, stages: list[PlannedStage], batches: Iterator[DocumentBatch]) -> Iterator[DocumentBatch]:
        def compute(batch: DocumentBatch) -> tuple[DocumentBatch, list[Computed]]:
            parts = []
            left = batch
            for planned in stages:
                if len(left.rows):
                    part, left = compute_columns(planned, left)
                    parts.append(part)
            return batch, parts

        for batch, parts in ordered_map(compute, batches, self.workers):
            for planned, part in zip(stages, parts, strict=False):
                self.seconds[planned.stage.name] += part.seconds
                self._store(planned, part)
            yield batch

    def _store(self, planned: PlannedStage, part: Computed) -> None:
        for name, values in part.columns.items():
            with asking(planned.stage, f"column {name!r}"):
                self._column(planned, name, values)[part.rows] = values
        if part.keys is not None:
            if self._ragged is None:
                self._ragged = RaggedKeys(len(self.view), self.memory)
            self._ragged.add(*part.keys)

    def _column(self, planned: PlannedStage, name: str, like: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The column `name` of a stage, for all documents; entries are such as `like` has."""
        mine = self._columns[planned.stage.name]
        if name not in mine:
            order = "F" if planned.enumerates else "C"
            mine[name] = self.memory.zeros((len(self.view), *like.shape[1:]), like.dtype, order)
        return mine[name]


def compute_columns(planned: PlannedStage, batch: DocumentBatch) -> tuple[Computed, DocumentBatch]:
    """What a stage computes of a batch, and the part of the batch that it leaves to the stages behind it."""
    start, left = perf_counter(), batch
    with asking(planned.stage, "columns"):
        columns = planned.predicate.columns(batch)
        if planned.predicate.prunes:
            left = batch.where(columns["alive"])
    keys = None
    if planned.enumerates:
        with asking(planned.stage, "keys"):
            keys = planned.predicate.batch_keys(left)
    found = None if keys is None else (left.rows, keys)
    return Computed(batch.rows, columns, found, perf_counter() - start), left


class RaggedKeys:
    """Ragged keys on their way to one Keys: those of some documents at a time, rows ascending."""

    def __init__(self, documents: int, memory: Memory) -> None:
        self.indptr = memory.zeros(documents + 1, np.int64)
        self.alive = memory.zeros(documents, np.bool_)
        self.values = Growing(memory, np.uint64)
        self.core = Growing(memory, np.bool_)

    def add(self, rows: Rows, keys: Keys) -> None:
        """Takes in the keys of `rows`."""
        if keys.indptr is None or len(keys.indptr) != len(rows) + 1:
            raise StageError("the keys of a batch are not ragged: indptr needs one place more than documents")
        self.indptr[rows + 1] = np.diff(keys.indptr)
        self.alive[rows] = keys.alive
        self.values.append(keys.values)
        self.core.append(np.ones(len(keys.values), bool) if keys.core is None else keys.core)

    def finish(self) -> Keys:
        """All of them; nothing can be added any more."""
        np.cumsum(self.indptr, out=self.indptr)
        return Keys(self.values.finish(), self.alive, self.indptr, self.core.finish())
