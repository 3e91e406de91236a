"""The stages of a plan as one filter on candidate pairs, with the funnel counted. Enumerates nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from cascade.columns import ColumnStore, asking
from cascade.errors import StageError
from cascade.pairs import Pairs, Rows
from cascade.plan import Plan, PlannedStage
from cascade.progress import Progress
from cascade.result import StageReport
from cascade.view import CorpusView


@dataclass
class Tally:
    """Pairs that a stage has seen and accepted, the seconds that its filter took, and what else it has counted."""

    pairs_in: int = 0
    pairs_out: int = 0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)


class Funnel:
    """Puts candidate pairs to every stage in turn."""

    def __init__(self, plan: Plan, store: ColumnStore, view: CorpusView, progress: Progress) -> None:
        self.plan = plan
        self.store = store
        self.view = view
        self.progress = progress
        self.tallies = {planned.stage.name: Tally() for planned in plan.stages}

    def confirm(self, left: Rows, right: Rows) -> Pairs:
        """The pairs that every stage accepts, with all scores.

        A stage whose keys decide has accepted what it enumerated; it is asked for its scores last, when few are left.
        """
        pairs = Pairs(left, right)
        last: PlannedStage | None = None
        for planned in self.plan.stages:
            if planned.enumerates and planned.predicate.keys_decide:
                last = planned
                self._count(planned, len(pairs), len(pairs))
            else:
                asked = len(pairs)
                pairs = self._ask(planned, pairs)
                self._count(planned, asked, len(pairs))
        if last is not None:
            asked = len(pairs)
            pairs = self._ask(last, pairs)
            if len(pairs) != asked:
                raise StageError(f"stage {last.stage.name} says its keys decide, and refused a pair that shares one")
        self.progress.advance("pairs", len(left))
        return pairs

    def _ask(self, planned: PlannedStage, pairs: Pairs) -> Pairs:
        name = planned.stage.name
        if not len(pairs):
            return pairs.with_scores(name, np.empty(0))
        columns = self.store.of(planned, np.concatenate((pairs.left, pairs.right)))
        start = perf_counter()
        with asking(planned.stage, "filter"):
            accepted = planned.predicate.filter(pairs, columns, self.view)
            accepted.check(len(pairs))
            self.tallies[name].counts.update(accepted.counts)
        self.tallies[name].seconds += perf_counter() - start
        return pairs.take(accepted.index).with_scores(name, accepted.score)

    def _count(self, planned: PlannedStage, asked: int, accepted: int) -> None:
        self.tallies[planned.stage.name].pairs_in += asked
        self.tallies[planned.stage.name].pairs_out += accepted

    def reports(self) -> tuple[StageReport, ...]:
        """The funnel, in the order in which the stages ran; seconds are those of columns and filter."""
        return tuple(
            StageReport(
                name=planned.stage.name,
                use=planned.stage.use,
                role=planned.role,
                pairs_in=self.tallies[planned.stage.name].pairs_in,
                pairs_out=self.tallies[planned.stage.name].pairs_out,
                seconds=self.store.seconds[planned.stage.name] + self.tallies[planned.stage.name].seconds,
                predicted_recall=self.plan.predicted_recall(planned),
                counts={**self.store.pruned(planned), **self.tallies[planned.stage.name].counts},
            )
            for planned in self.plan.stages
        )
