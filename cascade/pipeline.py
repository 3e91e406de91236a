"""Runs a plan over a corpus: keep order, exact collapse, columns, candidates, filters, decisions. Opens no file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter

import numpy as np

from cascade.blocking import Candidates, ScanCandidates, all_pairs, bucket_candidates
from cascade.columns import Census, ColumnStore, asking, observe
from cascade.config.model import Config
from cascade.corpus import Corpus
from cascade.errors import StageError
from cascade.funnel import Funnel
from cascade.keep import collapse, keep_order
from cascade.pairs import Pairs, Rows
from cascade.parallel import available_workers
from cascade.plan import Plan, make_plan
from cascade.progress import Progress, Silent
from cascade.resolve import Resolution, resolve
from cascade.result import Outcome
from cascade.stage import Keys
from cascade.view import CorpusView

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
        field = config.resolve.keep_field
        warnings.append(
            f"{counted(unusable)} no usable value in the field {field!r} of the keep policy, and rank behind all others"
        )
    view = CorpusView(corpus.texts, order, config.shingle, config.seed, workers)
    with clock("observe"):
        summaries = {}
        if any(stage.observes for stage in config.stages):
            # What is learnt of the corpus must not depend on `exact`, or collapsing would change answers.
            distinct = order if config.exact else collapse(corpus, order)[0]
            one_of_each = CorpusView(corpus.texts, distinct, config.shingle, config.seed, workers)
            summaries = observe(one_of_each, config, workers, progress)
    plan = make_plan(config, len(view), summaries=summaries, workers=workers)
    store = ColumnStore(view, plan, workers)
    with clock("columns"):
        store.compute(progress)
    warnings += census_warnings(store.census, config)
    funnel = Funnel(plan, store, view, progress)
    with clock("candidates"):
        candidates = enumerate_with(plan, store, len(view))
    with clock("pairs"):
        progress.start("pairs", None)
        resolution = resolve(
            len(view),
            candidates,
            funnel.confirm,
            clusters=config.resolve.clusters,
            every_pair=config.resolve.pairs == "all",
        )
        progress.finish("pairs")
    return outcome(corpus, config, order, twin_of, resolution, funnel, clock, warnings)


def counted(documents: int) -> str:
    """The subject of a warning: "1 document has", "2 documents have"."""
    return "1 document has" if documents == 1 else f"{documents:,} documents have"


@dataclass
class Clock:
    """Seconds by step."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        start = perf_counter()
        yield
        self.seconds[step] = self.seconds.get(step, 0.0) + perf_counter() - start


def census_warnings(census: Census, config: Config) -> list[str]:
    """What to say of documents that the stages can tell little about."""
    out = []
    if census.without:
        out.append(f"{counted(census.without)} no shingle (no token at all); of such, only equal texts are duplicates")
    short = config.shingle.ngram
    if short and short > 1 and census.single > 0.2 * census.documents:
        share = census.single / census.documents
        out.append(
            f"{counted(census.single)} a single shingle ({share:.0%} of all): {short} tokens or fewer; "
            "of such texts only those with equal tokens are alike; a smaller shingle.n sees more"
        )
    return out


def enumerate_with(plan: Plan, store: ColumnStore, documents: int) -> Candidates:
    """The candidate pairs of a plan: by the keys of its enumerator, or all pairs."""
    first = plan.stages[0] if plan.stages else None
    if documents == 0 or first is None:
        no_keys = Keys(np.zeros((documents, 0), np.uint64), np.zeros(documents, bool))
        return bucket_candidates(no_keys)
    if first.enumerates:
        with asking(first.stage, "keys"):
            keys = first.predicate.keys(store.of(first))
        if keys is None:
            raise StageError(f"stage {first.stage.name} announced blocking keys and gave none")
        return bucket_candidates(replace(keys, alive=keys.alive & store.alive))
    for planned in plan.stages:
        if planned.predicate.bounded_hamming:
            scan = partial(planned.predicate.scan, store.of(planned))
            return ScanCandidates(documents, store.alive, scan, SCAN_PAIRS_AT_ONCE)
    return ScanCandidates(documents, store.alive, all_pairs)


def outcome(
    corpus: Corpus,
    config: Config,
    order: Rows,
    twin_of: Rows,
    resolution: Resolution,
    funnel: Funnel,
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
    scores = {s.name: pairs.scores[s.name] for s in config.stages if s.name in pairs.scores}
    return Outcome(
        keeper=keeper,
        exact=exact,
        via=via,
        stands_for=twin_of,
        pairs=Pairs(np.minimum(left, right), np.maximum(left, right), scores),
        stages=funnel.reports(),
        seconds=dict(clock.seconds),
        warnings=tuple(warnings),
        plan=tuple(funnel.plan.lines()),
        without_shingles=funnel.store.census.without,
    )
