"""The first pass over all documents: what stages observe of the corpus, and the plan in which they know it.

Nothing is kept of single documents here.
"""

from __future__ import annotations

from dataclasses import replace

from cascade.columns import asking
from cascade.config.model import Config
from cascade.memory import Memory
from cascade.pairs import Rows
from cascade.parallel import fold
from cascade.plan import Plan, make_plan
from cascade.progress import Progress
from cascade.stage import Summary
from cascade.view import CorpusView, DocumentBatch

Summaries = dict[str, Summary]
"""What stages have observed, by their names."""
MOST_SUMMARIES = 8
"""Threads of a first pass at most: each holds a summary of its own, and these can be large."""


def observe(
    view: CorpusView,
    plan: Plan,
    workers: int,
    progress: Progress,
    memory: Memory | None = None,
    rows: Rows | None = None,
    candidates: int | None = None,
) -> Summaries:
    """A first pass over one of each text, for stages that must know something of the whole corpus.

    The second time over `rows` only, the documents in buckets, for stages that want it in view of the candidates.
    """
    asked = [planned for planned in plan.stages if planned.facts.summary is None]
    stages = {planned.stage.name: planned.stage for planned in asked}
    text_bytes = view.text_bytes(rows) if asked else None
    facts = {
        planned.stage.name: replace(
            planned.facts,
            enumerates=planned.enumerates,
            text_bytes=text_bytes,
            candidates=candidates,
            memory=None if memory is None else memory.working // 2,
        )
        for planned in asked
    }

    def start() -> Summaries:
        given = {}
        for name, stage in stages.items():
            with asking(stage, "first pass"):
                given[name] = stage.observe(facts[name])
        return {name: summary for name, summary in given.items() if summary is not None}

    def add(summaries: Summaries, batch: DocumentBatch) -> None:
        for name, summary in summaries.items():
            with asking(stages[name], "first pass"):
                summary.add(batch)

    def merge(some: Summaries, more: Summaries) -> Summaries:
        merged = {}
        for name, summary in some.items():
            with asking(stages[name], "first pass"):
                merged[name] = summary.merge(more[name])
        return merged

    empty = start()
    if not empty:
        return {}
    size = sum(getattr(summary, "nbytes", 0) for summary in empty.values())
    room = MOST_SUMMARIES if memory is None else memory.working // max(size, 1)
    workers = max(1, min(workers, MOST_SUMMARIES, room))
    del empty
    progress.start("observe", len(view) if rows is None else len(rows))
    summaries = fold(
        start, add, merge, view.batches(rows), workers, lambda batch: progress.advance("observe", len(batch.rows))
    )
    progress.finish("observe")
    return summaries


def learnt_plan(
    config: Config, documents: int, one_of_each: CorpusView, workers: int, progress: Progress, memory: Memory
) -> Plan:
    """The plan for so many documents, its stages bound with what they learn in a first pass over one of each text."""
    plan = make_plan(config, documents, workers=workers)
    summaries = observe(one_of_each, plan, workers, progress, memory)
    return make_plan(config, documents, summaries=summaries, workers=workers) if summaries else plan
