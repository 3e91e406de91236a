"""The evidence of a run as rows to be written: what was removed for what, clusters, confirmed pairs. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from cascade.config.model import Config
from cascade.corpus import Corpus
from cascade.io.jsontext import RawJson
from cascade.memory import Memory
from cascade.pairs import Rows
from cascade.result import Outcome

ROWS_AT_ONCE = 16 * 1024


def raw_ids(corpus: Corpus, rows: Rows) -> list[RawJson]:
    """The ids of some rows as the JSON text they came in."""
    ids = corpus.ids.take(rows)
    data = ids.data[ids.offsets[0] : ids.offsets[-1]].tobytes()
    return [RawJson(data[a:b]) for a, b in pairwise((ids.offsets - ids.offsets[0]).tolist())]


def scores_at(outcome: Outcome, pairs: Rows) -> list[dict[str, float]]:
    """What each stage said of some confirmed pairs, by their positions; nothing for -1."""
    names = list(outcome.pairs.scores)
    columns = [outcome.pairs.scores[name][pairs].tolist() for name in names] if len(outcome.pairs) else []
    found = zip(*columns, strict=True) if columns else ((),) * len(pairs)
    return [
        dict(zip(names, row, strict=True)) if pair >= 0 else {} for pair, row in zip(pairs.tolist(), found, strict=True)
    ]


def partners(outcome: Outcome, rows: Rows) -> Rows:
    """Who the confirmed pair behind each near-removed row joins it to; a twin stands in for its equal text."""
    pair = outcome.via[rows]
    left, right = outcome.pairs.left[pair], outcome.pairs.right[pair]
    return np.where(left == outcome.stands_for[rows], right, left)


def removed_rows(corpus: Corpus, outcome: Outcome, config: Config, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """One row for each removed document, in input order."""
    components = config.resolve.clusters == "components"
    for rows in _parts(np.flatnonzero(outcome.keeper >= 0)):
        keeper = outcome.keeper[rows]
        near = ~outcome.exact[rows]
        via = np.full(len(rows), -1, np.int64)
        if components:
            via[near] = partners(outcome, rows[near])
        for id_, kept_id, exact, scores, source, line, kept_source, kept_line, partner, partner_id in zip(
            raw_ids(corpus, rows),
            raw_ids(corpus, keeper),
            outcome.exact[rows].tolist(),
            scores_at(outcome, outcome.via[rows]),
            corpus.source[rows].tolist(),
            corpus.line[rows].tolist(),
            corpus.source[keeper].tolist(),
            corpus.line[keeper].tolist(),
            via.tolist(),
            raw_ids(corpus, np.maximum(via, 0)),
            strict=True,
        ):
            removed = {
                "id": id_,
                "kept_id": kept_id,
                "reason": "exact" if exact else "near",
                "scores": scores,
                "source": names[source],
                "line": line,
                "kept_source": names[kept_source],
                "kept_line": kept_line,
            }
            yield removed if partner < 0 else {**removed, "via": [partner_id, id_]}


def cluster_rows(corpus: Corpus, outcome: Outcome, memory: Memory | None = None) -> Iterator[dict[str, Any]]:
    """The members of each cluster of two documents or more, the kept one first; clusters in input order of that one."""
    from cascade.kernels.collapse import cluster_members

    memory = memory or Memory()
    documents = len(outcome.keeper)
    removed = int((outcome.keeper >= 0).sum())
    rows = memory.empty(min(2 * removed, documents), np.int64)
    members = cluster_members(outcome.keeper, memory.zeros(documents + 1, np.int64), rows)
    clusters = 0
    for part in _parts(rows[:members]):
        numbers = np.cumsum(outcome.keeper[part] < 0) + (clusters - 1)
        clusters = int(numbers[-1]) + 1
        for number, id_ in zip(numbers.tolist(), raw_ids(corpus, part), strict=True):
            yield {"cluster": number, "id": id_}


def pair_rows(corpus: Corpus, outcome: Outcome) -> Iterator[dict[str, Any]]:
    """All confirmed pairs of different texts, in input order."""
    pairs = outcome.pairs
    for part in _parts(np.lexsort((pairs.right, pairs.left))):
        ids = raw_ids(corpus, pairs.left[part]), raw_ids(corpus, pairs.right[part])
        for a, b, scores in zip(*ids, scores_at(outcome, part), strict=True):
            yield {"a": a, "b": b, "scores": scores}


def _parts(rows: Rows) -> Iterator[Rows]:
    for start in range(0, len(rows), ROWS_AT_ONCE):
        yield rows[start : start + ROWS_AT_ONCE]
