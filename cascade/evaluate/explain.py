"""explain: all that can be said of one pair of documents under a config, in a corpus or by itself.

What the stages say comes from judge, shingles as text from shingling, words from reasons. No file is opened here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cascade import sketch
from cascade.api import Result, dedupe
from cascade.config import Config, load_config
from cascade.config.advice import ASSUMED_DOCUMENTS
from cascade.corpus import Corpus
from cascade.errors import InputError, StageError
from cascade.evaluate.explanation import Candidate, Explanation, Side
from cascade.evaluate.fate import fate_of, raw_texts
from cascade.evaluate.judge import Pair, candidate, verdicts
from cascade.evaluate.locate import By, locate
from cascade.evaluate.reasons import sentence
from cascade.evaluate.shingling import compare_shingles
from cascade.first_pass import learnt_plan
from cascade.keep import collapse, keep_order
from cascade.memory import Memory, memory_for
from cascade.pairs import Rows
from cascade.parallel import available_workers
from cascade.plan import SCAN_LIMIT, Plan, make_plan
from cascade.progress import Progress, Silent
from cascade.view import CorpusView


def explain(
    config: str | Path | Mapping[str, Any] | Config,
    data: Any,
    id_a: Any = None,
    id_b: Any = None,
    *,
    by: By = "id",
    set: str | Sequence[str] = (),
    workers: int | None = None,
    progress: Progress | None = None,
) -> Explanation:
    """Why two documents of `data` were, or were not, taken for duplicates under `config`.

    `data` is whatever `dedupe` takes, `id_a` and `id_b` the ids of two of its documents; or two texts alone, without
    ids. `by="row"`: they are positions, as in `Result.kept_rows`; `by="typed"`: ids as people type them, JSON text or
    plain (3 is the number 3, else the text), or FILE:LINE.

    The whole corpus is deduplicated, and every stage is bound with its facts: `auto` options with its number of
    documents, weights such as idf with a first pass over it; then it is asked about the pair alone. Of two texts alone
    nothing of the kind is known: `auto` is settled as `cascade plan` does, and weights go by these two texts.
    Raises ConfigError, InputError (no such id, or one that several rows have), StageError.
    """
    loaded = load_config(config, [set] if isinstance(set, str) else set)
    progress = progress or Silent()
    memory = memory_for(loaded.memory)
    workers = memory.threads(workers or available_workers())
    alone = id_a is None and id_b is None
    if alone:
        data = _two_texts(data)
    elif id_a is None or id_b is None:
        raise InputError("give the ids of two documents, or two texts and no id")
    result = dedupe(data, loaded, workers=workers, progress=progress)
    if alone:
        a, b = 0, 1
    else:
        a, b = locate(result, id_a, by), locate(result, id_b, by)
        if a == b:
            raise InputError(f"both ids mean the same document, {result.corpus.ids[a]}; give two")
    return _explain(result, a, b, alone, workers, progress, memory)


def _two_texts(data: Any) -> list[str]:
    texts = [] if isinstance(data, str | bytes) else list(data)
    if len(texts) != 2 or not all(isinstance(text, str) for text in texts):
        raise InputError("without ids, give two texts: explain(config, [text, text])")
    return texts


def _explain(
    result: Result, a: int, b: int, alone: bool, workers: int, progress: Progress, memory: Memory
) -> Explanation:
    config, corpus, outcome = result.config, result.corpus, result.outcome
    order, _ = keep_order(corpus, config.resolve.keep, memory)
    distinct = order[outcome.stands_for[order] == order]
    seen = int(outcome.stands_for[a]), int(outcome.stands_for[b])
    equal = seen[0] == seen[1]
    # Stages never see two texts that were collapsed; asked all the same, they must know that the texts may be equal.
    asked = config.model_copy(update={"exact": False}) if equal else config
    plan = _plan(asked, corpus, order, len(distinct), alone, workers, progress, memory)
    ranks = [int(np.flatnonzero(distinct == row)[0]) for row in seen]
    flipped = ranks[1] < ranks[0]
    rows = np.array([b, a] if flipped else [a, b], np.int64)
    pair = Pair.of(CorpusView(corpus.texts, rows, config.shingle, config.seed, 1, memory))
    stages = verdicts(plan, pair)
    if equal:
        met = Candidate(True, None, "equal normalised texts are collapsed before any stage")
    else:
        whole = None if alone else CorpusView(corpus.texts, distinct, config.shingle, config.seed, workers, memory)
        met, stages = candidate(plan, pair, stages, whole, min(ranks))
    sets = pair.sets()[::-1] if flipped else pair.sets()
    sides = [_side(result, row, shingles, alone) for row, shingles in zip((a, b), sets, strict=True)]
    texts = sides[0].normalized, sides[1].normalized
    return Explanation(
        a=sides[0],
        b=sides[1],
        sentence=sentence(sides[0], sides[1], equal, met, stages, config.resolve.clusters == "components"),
        jaccard=sketch.jaccard(*sets),
        containment=sketch.containment(*sets),
        edit_similarity=sketch.edit_similarity(*texts) if pair.short_enough else None,
        hamming=sketch.hamming(sides[0].fingerprint, sides[1].fingerprint),
        common=len(np.intersect1d(*sets)),
        shingles=compare_shingles(*texts, config.shingle, config.seed),
        candidate=met,
        stages=stages,
        confirmed=equal or (met.met and all(verdict.accepted for verdict in stages)),
        notes=tuple(_notes(plan, alone)),
    )


def _plan(
    config: Config,
    corpus: Corpus,
    order: Rows,
    documents: int,
    alone: bool,
    workers: int,
    progress: Progress,
    memory: Memory,
) -> Plan:
    """The plan of the run, bound with what stages learn of the whole corpus; of two texts alone, with these."""
    if alone:
        documents = ASSUMED_DOCUMENTS
        try:
            make_plan(config, documents)
        except StageError:
            documents = SCAN_LIMIT  # as many as all pairs are tried of
    distinct = collapse(corpus, order, memory, workers)[0]
    one_of_each = CorpusView(corpus.texts, distinct, config.shingle, config.seed, workers, memory)
    return learnt_plan(config, documents, one_of_each, workers, progress, memory)


def _side(result: Result, row: int, shingles: npt.NDArray[np.uint64], alone: bool) -> Side:
    return Side(
        id=None if alone else result.id_of(row),
        row=int(result.given.position[row]),
        text=raw_texts(result, np.array([row]))[row],
        normalized=result.corpus.texts[row],
        shingles=len(shingles),
        fingerprint=sketch.fingerprint(shingles),
        fate=None if alone else fate_of(result, row),
    )


def _notes(plan: Plan, alone: bool) -> Iterator[str]:
    """What the figures do not tell by themselves."""
    if not alone:
        return
    for planned in plan.stages:
        settled = getattr(planned.predicate, "options", planned.stage)
        for option, value in planned.stage.model_dump(mode="json").items():
            chosen = getattr(settled, option, value)
            if value == "auto" and chosen != "auto":
                yield (
                    f"{planned.stage.name}: {option}: auto is {chosen} for {plan.documents:,} documents; "
                    "in your corpus it may be another"
                )
        if planned.facts.summary is not None and getattr(planned.stage, "prune", None) is None:
            yield f"{planned.stage.name} goes by a first pass over the corpus, here over these two texts alone"
