"""tune: bands, rows and a Hamming distance of the least cost that find enough of a corpus' own pairs.

What a choice finds and costs by the models stands at costs; what tuning has found, and the config as text, at tuned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from cascade.api import Result, dedupe
from cascade.config import Config, load_config
from cascade.config.advice import percent
from cascade.errors import ConfigError, InputError
from cascade.evaluate.compare import kept_for_long, with_every_pair
from cascade.evaluate.costs import Choice, Profile, choices, rounded
from cascade.evaluate.intervals import Share
from cascade.evaluate.measure import turns
from cascade.evaluate.metrics import clusters, pair_figures
from cascade.evaluate.predict import plan_of, recall_expected, similarities
from cascade.evaluate.sample import drawn
from cascade.evaluate.truth import Truth, exact_truth
from cascade.evaluate.tuned import TuneCandidate, TuneResult
from cascade.pairs import Rows
from cascade.parallel import available_workers
from cascade.progress import Progress, Silent
from cascade.view import CorpusView

FEW = 30
"""Pairs below which a corpus' own similarities say too little: then all pairs are taken to be just at the threshold."""
TRIED = 4
"""Choices that are run, beside the exact join."""
WORK, MOST_PAIRS = 2e9, 4_000_000
"""Shingles, and pairs, that may be compared to see how alike random pairs are."""
NOISE = 0.05
"""Times that differ by less are the same."""

Mask = npt.NDArray[np.bool_]


def tune(
    data: Any,
    *,
    min_jaccard: float = 0.8,
    recall: float = 0.995,
    config: str | Path | Mapping[str, Any] | Config = "default",
    sample: int = 20_000,
    rounds: int = 3,
    seed: int = 0,
    set: str | Sequence[str] = (),
    workers: int | None = None,
    progress: Progress | None = None,
) -> TuneResult:
    """The cheapest simhash, minhash, jaccard cascade that finds the share `recall` of the pairs of `data` with a
    Jaccard similarity of `min_jaccard` or more; or the exact join, where that is as cheap or nothing else reaches it.

    `config`: everything but its stages is kept. At most `sample` different texts are looked at, drawn by `seed`. All
    their pairs are found exactly; then their clusters are dealt out to tuning and held-out documents, whole, so that no
    pair crosses. On the tuning half every number of rows and every distance gets the fewest bands with which the
    expected recall of its own pairs leaves out half of what may be missed: draws of permutations scatter. The cheapest
    few by the predicted cost for the whole corpus (see cascade.evaluate.costs) are run: those that reach `recall` on
    the tuning half are timed on the sample, `rounds` times, and the fastest is taken (0: the cheapest by prediction).
    Last, its recall is measured on the held-out half, which nothing has looked at.

    Raises ConfigError, InputError, StageError.
    """
    for name, value in (("min_jaccard", min_jaccard), ("recall", recall)):
        if not 0 < value <= 1:
            raise ConfigError(f"{name} is {value}; give a number above 0, up to 1")
    if sample < 2:
        raise ConfigError(f"sample is {sample}; give how many texts to look at, 2 or more")
    progress = progress or Silent()
    base = load_config(config, [set] if isinstance(set, str) else set)
    every = dedupe(
        kept_for_long(data), base.model_copy(update={"stages": (), "exact": True}), workers=workers, progress=progress
    )
    distinct = np.flatnonzero(every.outcome.stands_for == np.arange(len(every.corpus)))
    if len(distinct) < 2:
        raise InputError(f"there are {len(distinct)} different texts; two at least are needed")
    rows = distinct[drawn(sample, seed, len(distinct))]
    some = _part(every, rows)
    known = exact_truth(some, base, min_jaccard=min_jaccard, workers=workers).truth
    half = _dealt(known, seed)
    tuning, held = _within(known, half), _within(known, ~half)
    documents = _part(every, rows[half])
    notes = [] if len(rows) == len(distinct) else [f"Looked at {len(rows):,} texts drawn at random."]
    if len(tuning.left) < FEW:
        notes.append(
            f"Only {len(tuning.left)} such pairs to tune on: all were taken to be just at {min_jaccard:g}, to be sure."
        )
    profile = _profile(every, rows[half], tuning, len(distinct), min_jaccard, seed, workers)
    best = []
    if recall < 1:
        best = sorted(choices(profile, 1 - (1 - recall) / 2), key=lambda c: (profile.seconds(c), c.bands))
    if not best:
        notes.append(f"No bands and rows are sure to find {percent(recall)} of such pairs: only an exact join is.")
    tried = [_candidate(profile, choice) for choice in _few(best)]
    weighed = [
        replace(each, recall=_found(_run(_config(base, each, min_jaccard), documents, tuning, workers), tuning))
        for each in tried
    ]
    reached = [each for each in weighed if _reaches(each, recall)]
    if tried and not reached:
        notes.append(f"No choice found {percent(recall)} of the pairs that it was tuned on: this is an exact join.")
    weighed.append(TuneCandidate(None, None, None, 1.0, None, None, None, None))
    if rounds:
        configs = [_config(base, each, min_jaccard) for each in weighed]
        seconds = _timed(configs, some, len(distinct) / len(rows), rounds, workers, progress)
        weighed = [replace(each, seconds=whole) for each, whole in zip(weighed, seconds, strict=True)]
    chosen = _cheapest([each for each in weighed if _reaches(each, recall)])
    if chosen.bands is None and reached:
        notes.append("Here the exact join is faster than any cascade that finds enough, and it finds every pair.")
    tuned = _config(base, chosen, min_jaccard)
    held_run = _run(tuned, _part(every, rows[~half]), held, workers)
    return TuneResult(
        config=tuned,
        chosen=chosen,
        candidates=tuple(weighed),
        min_jaccard=min_jaccard,
        goal=recall,
        documents=len(distinct),
        tuning_documents=int(half.sum()),
        held_out_documents=int((~half).sum()),
        tuning_pairs=len(tuning.left),
        held_out_pairs=len(held.left),
        predicted_recall=_expected(held_run, held, workers),
        held_out=_found(held_run, held),
        rounds=rounds,
        notes=tuple(notes),
    )


def _part(every: Result, rows: Rows) -> Any:
    """Some documents as they were given."""
    wanted = np.zeros(len(every.corpus), bool)
    wanted[rows] = True
    return every.given.select(wanted)


def _dealt(truth: Truth, seed: int) -> Mask:
    """Which documents are for tuning: clusters are dealt out in turn, the largest first, those of a size by chance."""
    _, cluster, sizes = np.unique(clusters(truth), return_inverse=True, return_counts=True)
    order = np.lexsort((np.random.default_rng(seed).permutation(len(sizes)), -sizes))
    tuning = np.zeros(len(sizes), bool)
    tuning[order[::2]] = True
    return np.asarray(tuning[cluster])


def _within(truth: Truth, mask: Mask) -> Truth:
    """The truth of some documents alone, numbered anew. No pair of theirs may lead outside."""
    number = np.cumsum(mask) - 1
    inside = np.flatnonzero(mask[truth.left])
    assert truth.similarity is not None
    return Truth(
        source=truth.source,
        documents=int(mask.sum()),
        twin_of=np.arange(int(mask.sum()), dtype=np.int64),
        left=number[truth.left[inside]],
        right=number[truth.right[inside]],
        similarity=truth.similarity[inside],
    )


def _profile(
    every: Result, rows: Rows, known: Truth, documents: int, min_jaccard: float, seed: int, workers: int | None
) -> Profile:
    """What decides about recall and cost, from the tuning documents `rows`."""
    config = every.config
    view = CorpusView(every.corpus.texts, rows, config.shingle, config.seed, workers or available_workers())
    n = len(rows)
    random = np.random.default_rng(seed)
    few = np.sort(random.permutation(n)[:200])
    shingles = sum(int(batch.shingles().lengths.sum()) for batch in view.batches(few)) / max(len(few), 1)
    m = min(n, max(20, min(MOST_PAIRS // n, round(WORK / max(2 * shingles * n, 1)))))
    chosen = np.sort(random.permutation(n)[:m])
    left, right = np.repeat(chosen, n), np.tile(np.arange(n, dtype=np.int64), m)
    similar = similarities(view, left[left != right], right[left != right])
    # Each random pair stands for so many of the corpus' own.
    weight = documents * (documents - 1) / 2 / max(m * (n - 1), 1)
    pairs = np.full(1, min_jaccard) if len(known.left) < FEW or known.similarity is None else known.similarity
    return Profile(documents, shingles, rounded(pairs, 1 / len(pairs)), rounded(similar, weight))


def _few(best: Sequence[Choice]) -> list[Choice]:
    """The cheapest, no two with as many rows and a distance both."""
    found: dict[tuple[int, bool], Choice] = {}
    for choice in best:
        found.setdefault((choice.rows_per_band, choice.max_hamming is None), choice)
    return list(found.values())[:TRIED]


def _candidate(profile: Profile, choice: Choice) -> TuneCandidate:
    return TuneCandidate(
        bands=choice.bands,
        rows_per_band=choice.rows_per_band,
        max_hamming=choice.max_hamming,
        predicted_recall=profile.recall(choice),
        predicted_candidates=profile.candidates(choice)[0],
        predicted_seconds=profile.seconds(choice),
        recall=None,
        seconds=None,
    )


def _config(base: Config, each: TuneCandidate, min_jaccard: float) -> Config:
    """The base config with the stages of a candidate."""
    stages: list[dict[str, Any]] = [{"use": "jaccard", "min_jaccard": min_jaccard}]
    if each.bands is not None:
        stages.insert(0, {"use": "minhash", "bands": each.bands, "rows_per_band": each.rows_per_band})
    if each.max_hamming is not None:
        stages.insert(0, {"use": "simhash", "max_hamming": each.max_hamming})
    return base.model_copy(update={"stages": load_config({"stages": stages}).stages})


def _run(config: Config, documents: Any, known: Truth, workers: int | None) -> Result | None:
    """A run of some documents with `pairs: all`; None where there is no pair to be found."""
    return dedupe(documents, with_every_pair(config), workers=workers) if len(known.left) else None


def _found(run: Result | None, known: Truth) -> Share:
    """The recall of a run."""
    if run is None:
        return Share(0, 0, None, None, None)
    return pair_figures(known, run.outcome.pairs, run.outcome.stands_for).recall


def _expected(run: Result | None, known: Truth, workers: int | None) -> float | None:
    """The same by the models of the stages."""
    if run is None:
        return None
    return float(recall_expected(plan_of(run, workers), run, known.left, known.right).mean())


def _reaches(each: TuneCandidate, recall: float) -> bool:
    """Whether a run has found enough; where there was nothing to be found, the prediction has to do."""
    return each.recall is None or each.recall.value is None or each.recall.value >= recall


def _timed(
    configs: Sequence[Config], some: Any, times: float, rounds: int, workers: int | None, progress: Progress
) -> list[float]:
    """Seconds of each config from the documents to the decisions, made to so many times the documents.

    Medians over rounds in which all take turns, in this process, after one round that does not count. Pairs grow with
    the square of the documents, everything else with their number.
    """
    seconds: list[list[float]] = [[] for _ in configs]
    progress.start("time", (rounds + 1) * len(configs))
    for at, counts in turns(len(configs), rounds):
        steps = dict(dedupe(some, configs[at], workers=workers).outcome.seconds)
        pairs = steps.pop("pairs", 0.0)
        if counts:
            seconds[at].append(sum(steps.values()) * times + pairs * times**2)
        progress.advance("time", 1)
    progress.finish("time")
    return [median(each) for each in seconds]


def _cheapest(weighed: Sequence[TuneCandidate]) -> TuneCandidate:
    """The one of the least predicted cost among those that are as fast as the fastest, as far as noise lets tell.

    For the exact join there is no prediction: it is taken where it is the fastest of all, or alone.
    """
    timed = [each.seconds for each in weighed if each.seconds is not None]
    fastest = min(timed, default=0.0)
    near = [each for each in weighed if each.seconds is None or each.seconds <= fastest * (1 + NOISE)]
    return min(near, key=lambda each: (each.predicted_seconds is None, each.predicted_seconds or 0.0))
