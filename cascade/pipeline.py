"""Runs a plan over a corpus: keep order, exact collapse, columns, candidates, filters, decisions. Opens no file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from cascade.blocking import Candidates, ScanCandidates, all_pairs, bucket_candidates
from cascade.config.model import Config
from cascade.corpus import Corpus
from cascade.errors import StageError
from cascade.keep import collapse, keep_order
from cascade.pairs import Pairs, Rows
from cascade.parallel import available_workers, ordered_map
from cascade.plan import Plan, PlannedStage, make_plan
from cascade.progress import Progress, Silent
from cascade.resolve import Resolution, resolve
from cascade.result import Outcome, StageReport
from cascade.stage import Columns, Keys, Summary
from cascade.view import CorpusView, DocumentBatch

SCAN_PAIRS_AT_ONCE = 1 << 26
"""Pairs that a cheap test may look at before its survivors are handed on."""


def deduplicate(
    corpus: Corpus, config: Config, *, workers: int | None = None, progress: Progress | None = None
) -> Outcome:
    """Decides about every document of a corpus. The answer does not depend on `workers`."""
    workers = workers or available_workers()
    progress = progress or Silent()
    clock = Clock()
    warnings: list[str] = []
    with clock("collapse"):
        order, unusable = keep_order(corpus, config.resolve.keep)
        twin_of = np.arange(len(corpus), dtype=np.int64)
        if config.exact:
            order, twin_of = collapse(corpus, order)
    if unusable:
        warnings.append(
            f"{unusable:,} documents have no usable value for keep: {config.resolve.keep}; they rank behind all others"
        )
    view = CorpusView(corpus.texts, order, config.shingle, config.seed, workers)
    with clock("observe"):
        summaries = observe(view, config, workers, progress)
    plan = make_plan(config, len(view), summaries=summaries, workers=workers)
    with clock("columns"):
        columns, census = compute_columns(view, plan, workers, progress)
    warnings += census.warnings(config)
    cascade = Cascade(plan, columns, view, progress)
    with clock("candidates"):
        candidates = enumerate_with(plan, columns, len(view))
    with clock("pairs"):
        progress.start("pairs", None)
        resolution = resolve(
            len(view),
            candidates,
            cascade.confirm,
            clusters=config.resolve.clusters,
            every_pair=config.resolve.pairs == "all",
        )
        progress.finish("pairs")
    return outcome(corpus, config, order, twin_of, resolution, cascade, clock, warnings)


@dataclass
class Clock:
    """Seconds by step."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        start = perf_counter()
        yield
        self.seconds[step] = self.seconds.get(step, 0.0) + perf_counter() - start


@dataclass
class Census:
    """What the columns pass saw of the shingles of the config's own shingler."""

    documents: int = 0
    without: int = 0
    single: int = 0

    def add(self, lengths: Rows) -> None:
        self.documents += len(lengths)
        self.without += int((lengths == 0).sum())
        self.single += int((lengths == 1).sum())

    def warnings(self, config: Config) -> list[str]:
        """Documents that the stages can say little about."""
        out = []
        if self.without:
            out.append(f"{self.without:,} documents have no shingle (no token at all); they are kept")
        short = config.shingle.ngram
        if short and short > 1 and self.single > 0.2 * self.documents:
            share = self.single / self.documents
            out.append(
                f"{self.single:,} documents ({share:.0%}) have a single shingle: {short} tokens or fewer; "
                "near-duplicates among them are not found; a smaller shingle.n would see them"
            )
        return out


def observe(view: CorpusView, config: Config, workers: int, progress: Progress) -> dict[str, Summary]:
    """The first pass, for stages that must know something of the whole corpus; their summaries by stage name."""
    stages = [s for s in config.stages if s.observes]
    if not stages:
        return {}
    progress.start("observe", len(view))

    def look(batch: DocumentBatch) -> tuple[int, list[Summary | None]]:
        return len(batch.rows), [s.observe(batch) for s in stages]

    summaries: dict[str, Summary] = {}
    for documents, parts in ordered_map(look, view.batches(), workers):
        for stage, part in zip(stages, parts, strict=True):
            if part is not None:
                seen = summaries.get(stage.name)
                summaries[stage.name] = part if seen is None else seen.merge(part)
        progress.advance("observe", documents)
    progress.finish("observe")
    return summaries


def compute_columns(
    view: CorpusView, plan: Plan, workers: int, progress: Progress
) -> tuple[dict[str, Columns], Census]:
    """The columns of every stage, by stage name: arrays over all documents that the stages see."""
    progress.start("columns", len(view))

    def compute(batch: DocumentBatch) -> tuple[DocumentBatch, list[Columns]]:
        return batch, [planned.predicate.columns(batch) for planned in plan.stages]

    columns: dict[str, dict[str, npt.NDArray[Any]]] = {planned.stage.name: {} for planned in plan.stages}
    census = Census()
    for batch, parts in ordered_map(compute, view.batches(), workers):
        for planned, part in zip(plan.stages, parts, strict=True):
            for name, values in part.items():
                whole = columns[planned.stage.name]
                if name not in whole:
                    whole[name] = np.zeros((len(view), *values.shape[1:]), values.dtype)
                whole[name][batch.rows] = values
        if batch.shingled():
            census.add(batch.shingles().lengths)
        progress.advance("columns", len(batch.rows))
    progress.finish("columns")
    return dict(columns), census


def enumerate_with(plan: Plan, columns: dict[str, Columns], documents: int) -> Candidates:
    """The candidate pairs of a plan: by the keys of its enumerator, or all pairs."""
    first = plan.stages[0] if plan.stages else None
    if documents == 0 or first is None:
        no_keys = Keys(np.zeros((documents, 0), np.uint64), np.zeros(documents, bool))
        return bucket_candidates(no_keys)
    if first.enumerates:
        keys = first.predicate.keys(columns[first.stage.name])
        if keys is None:
            raise StageError(f"stage {first.stage.name} announced blocking keys and gave none")
        return bucket_candidates(keys)
    for planned in plan.stages:
        if planned.predicate.bounded_hamming:
            scan = partial(planned.predicate.scan, columns[planned.stage.name])
            return ScanCandidates(documents, scan, SCAN_PAIRS_AT_ONCE)
    return ScanCandidates(documents, all_pairs)


@dataclass
class Tally:
    """Pairs that a stage has seen and accepted, and the seconds it took."""

    pairs_in: int = 0
    pairs_out: int = 0
    seconds: float = 0.0


class Cascade:
    """The stages of a plan as one filter on candidate pairs, with the funnel counted."""

    def __init__(self, plan: Plan, columns: dict[str, Columns], view: CorpusView, progress: Progress) -> None:
        self.plan = plan
        self.columns = columns
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
                tally = self.tallies[planned.stage.name]
                tally.pairs_in += len(pairs)
                tally.pairs_out += len(pairs)
            else:
                pairs = self._ask(planned, pairs)
        if last is not None:
            before = len(pairs)
            tally = self.tallies[last.stage.name]
            seen = (tally.pairs_in, tally.pairs_out)
            pairs = self._ask(last, pairs)
            tally.pairs_in, tally.pairs_out = seen
            if len(pairs) != before:
                raise StageError(
                    f"stage {last.stage.name} says that its keys decide, and refused a pair that shares one"
                )
        self.progress.advance("pairs", len(left))
        return pairs

    def _ask(self, planned: PlannedStage, pairs: Pairs) -> Pairs:
        name = planned.stage.name
        tally = self.tallies[name]
        start = perf_counter()
        if len(pairs):
            accepted = planned.predicate.filter(pairs, self.columns[name], self.view)
            tally.pairs_in += len(pairs)
            tally.pairs_out += len(accepted.index)
            pairs = pairs.take(accepted.index).with_scores(name, accepted.score)
        tally.seconds += perf_counter() - start
        return pairs

    def reports(self) -> tuple[StageReport, ...]:
        """The funnel, in the order in which the stages ran."""
        return tuple(
            StageReport(
                planned.stage.name,
                planned.stage.use,
                planned.role,
                self.tallies[planned.stage.name].pairs_in,
                self.tallies[planned.stage.name].pairs_out,
                self.tallies[planned.stage.name].seconds,
                self.plan.predicted_recall(planned),
            )
            for planned in self.plan.stages
        )


def outcome(
    corpus: Corpus,
    config: Config,
    order: Rows,
    twin_of: Rows,
    resolution: Resolution,
    cascade: Cascade,
    clock: Clock,
    warnings: list[str],
) -> Outcome:
    """From the numbers that the stages use (keep order, one of each text) back to rows; twins share one fate."""
    keeper = np.full(len(corpus), -1, np.int64)
    via = np.full(len(corpus), -1, np.int64)
    removed = resolution.keeper >= 0
    keeper[order[removed]] = order[resolution.keeper[removed]]
    via[order] = resolution.via
    rows = np.arange(len(corpus), dtype=np.int64)
    twin = twin_of != rows
    # A twin of a kept text was removed for that text; a twin of a removed one, for what that one was removed for.
    exact = twin & (keeper[twin_of] < 0)
    keeper[twin] = np.where(exact, twin_of, keeper[twin_of])[twin]
    via[twin] = via[twin_of[twin]]
    pairs = resolution.pairs
    left, right = order[pairs.left], order[pairs.right]
    return Outcome(
        keeper=keeper,
        exact=exact,
        via=via,
        stands_for=twin_of,
        pairs=Pairs(np.minimum(left, right), np.maximum(left, right), pairs.scores),
        stages=cascade.reports(),
        seconds=dict(clock.seconds),
        warnings=tuple(warnings),
        plan=tuple(cascade.plan.lines()),
    )
