"""Runs a plan over a corpus: keep order, exact collapse, columns, candidates, filters, decisions. Opens no file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter

import numpy as np

from cascade.blocking import Candidates, ScanCandidates, all_pairs
from cascade.buckets import bucket_candidates
from cascade.columns import Census, ColumnStore, asking
from cascade.config.model import Config
from cascade.corpus import Corpus
from cascade.early import EarlyColumns
from cascade.errors import StageError
from cascade.first_pass import learnt_plan, observe
from cascade.funnel import Funnel
from cascade.keep import collapse, keep_order
from cascade.memory import Memory
from cascade.pairs import Pairs, Rows
from cascade.parallel import available_workers
from cascade.plan import Plan, rebind
from cascade.progress import Progress, Silent
from cascade.resolve import Resolution, resolve
from cascade.result import Outcome
from cascade.stage import Keys
from cascade.view import CorpusView

SCAN_PAIRS_AT_ONCE = 1 << 26
"""Pairs that a cheap test may look at before its survivors are handed on."""


def deduplicate(
    corpus: Corpus,
    config: Config,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    memory: Memory | None = None,
    early: EarlyColumns | None = None,
) -> Outcome:
    """Decides about every document of a corpus. The answer does not depend on `workers` and `memory`.

    `early`: what was computed of it while it arrived, which is used up.
    """
    memory = memory or Memory()
    workers = workers or available_workers()
    progress = progress or Silent()
    clock = Clock()
    warnings: list[str] = []
    with clock("collapse"):
        order, unusable = keep_order(corpus, config.resolve.keep, memory)
        if config.exact:
            order, twin_of = collapse(corpus, order, memory, workers)
        else:
            twin_of = memory.arange(len(corpus))
    if unusable:
        field = config.resolve.keep_field
        warnings.append(
            f"{counted(unusable)} no usable value in the field {field!r} of the keep policy, and rank behind all others"
        )
    view = CorpusView(corpus.texts, order, config.shingle, config.seed, workers, memory)
    with clock("observe"):
        # What is learnt of the corpus must not depend on `exact`, or collapsing would change answers.
        distinct = order if config.exact else collapse(corpus, order, memory, workers)[0]
        one_of_each = CorpusView(corpus.texts, distinct, config.shingle, config.seed, workers, memory)
        plan = learnt_plan(config, len(view), one_of_each, workers, progress, memory)
    store = ColumnStore(view, plan, workers, memory)
    with clock("columns"):
        store.compute(progress, early.adopt(store, twin_of) if early else None)
    warnings += census_warnings(store.census, config)
    with clock("candidates"):
        keys = blocking_keys(plan, store, len(view))
        candidates = enumerate_with(plan, keys, store, workers, memory)
        docs, proposed = candidates.documents(), candidates.proposed()
    with clock("observe"):
        learnt = observe(view, plan, workers, progress, memory, docs, proposed)
    if learnt:
        plan = rebind(plan, learnt)
        with clock("columns"):
            store.renew(plan, learnt, docs)
        with clock("candidates"):
            candidates = enumerate_with(plan, keys, store, workers, memory)
    del keys, docs
    funnel = Funnel(plan, store, view, progress)
    with clock("pairs"):
        progress.start("pairs", None)
        resolution = resolve(
            len(view),
            candidates,
            funnel.confirm,
            clusters=config.resolve.clusters,
            every_pair=config.resolve.pairs == "all",
            memory=memory,
        )
        progress.finish("pairs")
    warnings += limit_warnings(candidates, config)
    return outcome(config, order, twin_of, resolution, funnel, candidates.large, clock, warnings, memory)


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


def limit_warnings(candidates: Candidates, config: Config) -> list[str]:
    """What to say where `max_bucket` has acted."""
    if not candidates.large:
        return []
    return [
        f"resolve.max_bucket has acted: {candidates.large:,} buckets hold more than {config.resolve.max_bucket:,} "
        f"documents, up to {candidates.largest:,}; in these all were compared with the first ones only"
    ]


def blocking_keys(plan: Plan, store: ColumnStore, documents: int) -> Keys | None:
    """The keys of a plan's enumerator; None where all pairs are tried."""
    first = plan.stages[0] if plan.stages else None
    if first is None or not store.alive.any():
        return Keys(np.zeros((documents, 0), np.uint64), np.zeros(documents, bool))
    if not first.enumerates:
        return None
    with asking(first.stage, "keys"):
        keys = store.keys(first)
    if keys is None:
        raise StageError(f"stage {first.stage.name} announced blocking keys and gave none")
    return keys


def enumerate_with(plan: Plan, keys: Keys | None, store: ColumnStore, workers: int, memory: Memory) -> Candidates:
    """The candidate pairs of documents that are alive: those that share a key, or all pairs."""
    alive = store.alive
    if keys is not None:
        alive &= keys.alive
        keys = replace(keys, alive=alive)
        return bucket_candidates(keys, memory, workers, plan.config.resolve.max_bucket, store.core)
    for planned in plan.stages:
        if planned.predicate.bounded_hamming:
            scan = partial(planned.predicate.scan, store.of(planned))
            return ScanCandidates(len(alive), alive, scan, SCAN_PAIRS_AT_ONCE)
    return ScanCandidates(len(alive), alive, all_pairs)


def outcome(
    config: Config,
    order: Rows,
    twin_of: Rows,
    resolution: Resolution,
    funnel: Funnel,
    large: int,
    clock: Clock,
    warnings: list[str],
    memory: Memory,
) -> Outcome:
    """From the numbers that the stages use (keep order, one of each text) back to rows; twins share one fate."""
    from cascade.kernels.collapse import fates

    keeper, via = memory.empty(len(twin_of), np.int64), memory.empty(len(twin_of), np.int64)
    exact = memory.empty(len(twin_of), np.bool_)
    fates(order, twin_of, resolution.keeper, resolution.via, keeper, via, exact)
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
        large_buckets=large,
        without_shingles=funnel.store.census.without,
    )
