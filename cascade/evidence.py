"""The evidence of a run as rows to be written: what was removed for what, clusters, confirmed pairs. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from math import isfinite, isnan
from typing import Any

import numpy as np

from cascade.config.model import Config
from cascade.corpus import Corpus
from cascade.io.jsontext import RawJson, dumps
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
        stands_for = outcome.stands_for[rows]
        twins = np.where(near & (stands_for != rows), stands_for, -1)
        via = np.full(len(rows), -1, np.int64)
        if components:
            via[near] = partners(outcome, rows[near])
        for id_, kept_id, exact, scores, source, line, kept_source, kept_line, partner, partner_id, twin in zip(
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
            twins.tolist(),
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
            if partner >= 0:
                removed["via"] = [partner_id, id_]
            if twin >= 0:
                removed |= {"twin_source": names[corpus.source[twin]], "twin_line": int(corpus.line[twin])}
            yield removed


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
    """All confirmed pairs of different texts, in input order, with what a keep policy goes by.

    So decisions under a higher threshold can be made from these rows alone (cascade.evaluate.rethreshold).
    """
    pairs = outcome.pairs
    compared = next(iter(corpus.fields.values()), None)  # the values of the field that the keep policy compares
    for part in _parts(np.lexsort((pairs.right, pairs.left))):
        sides = [
            _side(corpus, name, rows, compared) for name, rows in (("a", pairs.left[part]), ("b", pairs.right[part]))
        ]
        for a, b, scores in zip(*sides, scores_at(outcome, part), strict=True):
            yield {"a": a.pop("a"), "b": b.pop("b"), "scores": scores, **a, **b}


def _side(corpus: Corpus, name: str, rows: Rows, compared: Sequence[object] | None) -> list[dict[str, Any]]:
    """What is told of one side of each pair."""
    columns: dict[str, Sequence[Any]] = {
        name: raw_ids(corpus, rows),
        f"{name}_input": corpus.source[rows].tolist(),
        f"{name}_line": corpus.line[rows].tolist(),
        f"{name}_characters": corpus.characters[rows].tolist(),
    }
    if compared is not None:
        columns[f"{name}_keep"] = [keep_text(compared[row]) for row in rows.tolist()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def keep_text(value: object) -> RawJson:
    """The value of a field as JSON text from which the same rank follows: exact, infinite where it is, else null."""
    if isinstance(value, float) and not isfinite(value):
        return RawJson(b"null" if isnan(value) else b"1e999" if value > 0 else b"-1e999")
    try:
        return RawJson(dumps(value))
    except ValueError:  # more digits than Python writes
        return RawJson(str(Decimal(value)).encode("ascii"))  # type: ignore[arg-type]


def _parts(rows: Rows) -> Iterator[Rows]:
    for start in range(0, len(rows), ROWS_AT_ONCE):
        yield rows[start : start + ROWS_AT_ONCE]
