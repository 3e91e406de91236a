"""The passes over all documents: what stages observe of the corpus, and the columns that they keep of each document.

Columns are computed batch by batch, in threads, for all documents; those of an expensive filter only for the documents
that come to it in a pair. Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from cascade.config.model import Config
from cascade.errors import CascadeError, StageError
from cascade.memory import Memory
from cascade.pairs import Rows
from cascade.parallel import ordered_map
from cascade.plan import Plan, PlannedStage
from cascade.progress import Progress
from cascade.stage import Columns, Stage, Summary
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


def observe(view: CorpusView, config: Config, workers: int, progress: Progress) -> dict[str, Summary]:
    """A first pass, for stages that must know something of the whole corpus; their summaries by stage name."""
    stages = [s for s in config.stages if s.observes]
    progress.start("observe", len(view))

    def look(batch: DocumentBatch) -> tuple[int, list[Summary | None]]:
        seen = []
        for stage in stages:
            with asking(stage, "observe"):
                seen.append(stage.observe(batch))
        return len(batch.rows), seen

    summaries: dict[str, Summary] = {}
    for documents, parts in ordered_map(look, view.batches(), workers):
        for stage, part in zip(stages, parts, strict=True):
            if part is not None:
                seen = summaries.get(stage.name)
                summaries[stage.name] = part if seen is None else seen.merge(part)
        progress.advance("observe", documents)
    progress.finish("observe")
    return summaries


@dataclass
class Census:
    """What the pass saw of shingles: `without` counts documents that some shingler in use finds none in.

    `single` counts those in which the config's own shingler finds one.
    """

    documents: int = 0
    without: int = 0
    single: int = 0

    def add(self, batch: DocumentBatch) -> None:
        """Counts the documents of a batch."""
        empty = np.zeros(len(batch.rows), bool)
        for shingler, shingles in batch.used().items():
            empty |= shingles.lengths == 0
            if shingler == batch.shingler:
                self.single += int((shingles.lengths == 1).sum())
        self.documents += len(batch.rows)
        self.without += int(empty.sum())


class ColumnStore:
    """The columns of every stage of a plan over the documents of a view, and the seconds that they took.

    An enumerator's columns lie one key after the other, since documents are grouped key by key.
    Seconds are summed over threads. What stages share, the shingles, counts for the one that asks for them first.
    """

    def __init__(self, view: CorpusView, plan: Plan, workers: int, memory: Memory | None = None) -> None:
        self.view = view
        self.memory = memory or Memory()
        self.workers = workers
        self.eager = [s for s in plan.stages if s.enumerates or not s.predicate.late]
        self.seconds = {s.stage.name: 0.0 for s in plan.stages}
        self.census = Census()
        self._columns: dict[str, dict[str, npt.NDArray[Any]]] = {s.stage.name: {} for s in plan.stages}
        self._done = {s.stage.name: np.zeros(len(view), bool) for s in plan.stages if s not in self.eager}

    def compute(self, progress: Progress) -> None:
        """Computes the columns of all stages but late filters."""
        progress.start("columns", len(self.view))
        for batch in self._fill(self.eager, self.view.batches()):
            self.census.add(batch)
            progress.advance("columns", len(batch.rows))
        progress.finish("columns")

    def of(self, planned: PlannedStage, rows: Rows | None = None) -> Columns:
        """The columns of a stage; of a late filter they are valid for `rows` at least."""
        done = self._done.get(planned.stage.name)
        if done is not None and rows is not None:
            missing = np.unique(rows[~done[rows]])
            for batch in self._fill([planned], self.view.batches(missing)):
                done[batch.rows] = True
        return self._columns[planned.stage.name]

    @property
    def alive(self) -> npt.NDArray[np.bool_]:
        """bool[documents]: which may have a partner at all, as far as any stage knows."""
        mask = np.ones(len(self.view), bool)
        for planned in self.eager:
            mask &= self._columns[planned.stage.name].get("alive", mask)
        return mask

    def _fill(self, stages: list[PlannedStage], batches: Iterator[DocumentBatch]) -> Iterator[DocumentBatch]:
        def compute(batch: DocumentBatch) -> tuple[DocumentBatch, list[tuple[Columns, float]]]:
            parts = []
            for planned in stages:
                start = perf_counter()
                with asking(planned.stage, "columns"):
                    parts.append((planned.predicate.columns(batch), perf_counter() - start))
            return batch, parts

        for batch, parts in ordered_map(compute, batches, self.workers):
            for planned, (part, took) in zip(stages, parts, strict=True):
                self.seconds[planned.stage.name] += took
                whole = self._columns[planned.stage.name]
                for name, values in part.items():
                    with asking(planned.stage, f"column {name!r}"):
                        if name not in whole:
                            order = "F" if planned.enumerates else "C"
                            whole[name] = self.memory.zeros((len(self.view), *values.shape[1:]), values.dtype, order)
                        whole[name][batch.rows] = values
            yield batch
