"""The evidence of a run as rows to be written: what was removed for what, clusters, confirmed pairs. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cascade.config.model import Config
from cascade.corpus import Corpus
from cascade.io.jsontext import RawJson
from cascade.result import Outcome


def raw_id(corpus: Corpus, row: int) -> RawJson:
    """The id of a row as the JSON text it came in."""
    ids = corpus.ids
    return RawJson(ids.data[ids.offsets[row] : ids.offsets[row + 1]].tobytes())


def scores_at(outcome: Outcome, pair: int) -> dict[str, float]:
    """What each stage said of a confirmed pair; nothing for -1."""
    return {name: float(values[pair]) for name, values in outcome.pairs.scores.items()} if pair >= 0 else {}


def via_rows(outcome: Outcome, row: int) -> tuple[int, int]:
    """The confirmed pair that joins a near-removed row, its partner first; a twin stands in for its equal text."""
    pair = int(outcome.via[row])
    left, right = int(outcome.pairs.left[pair]), int(outcome.pairs.right[pair])
    return (right, row) if left == outcome.stands_for[row] else (left, row)


def removed_rows(corpus: Corpus, outcome: Outcome, config: Config, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """One row for each removed document, in input order."""
    components = config.resolve.clusters == "components"
    for row in np.flatnonzero(outcome.keeper >= 0).tolist():
        keeper = int(outcome.keeper[row])
        exact = bool(outcome.exact[row])
        line: dict[str, Any] = {
            "id": raw_id(corpus, row),
            "kept_id": raw_id(corpus, keeper),
            "reason": "exact" if exact else "near",
            "scores": scores_at(outcome, int(outcome.via[row])),
            "source": names[int(corpus.source[row])],
            "line": int(corpus.line[row]),
            "kept_source": names[int(corpus.source[keeper])],
            "kept_line": int(corpus.line[keeper]),
        }
        if components and not exact:
            line["via"] = [raw_id(corpus, r) for r in via_rows(outcome, row)]
        yield line


def cluster_rows(corpus: Corpus, outcome: Outcome) -> Iterator[dict[str, Any]]:
    """The members of each cluster of two documents or more, the kept one first; clusters in input order of that one."""
    members = np.flatnonzero(outcome.keeper >= 0)
    order = np.argsort(outcome.keeper[members], kind="stable")
    number, before = -1, -1
    for row in members[order].tolist():
        keeper = int(outcome.keeper[row])
        if keeper != before:
            number, before = number + 1, keeper
            yield {"cluster": number, "id": raw_id(corpus, keeper)}
        yield {"cluster": number, "id": raw_id(corpus, row)}


def pair_rows(corpus: Corpus, outcome: Outcome) -> Iterator[dict[str, Any]]:
    """All confirmed pairs of different texts, in input order."""
    pairs = outcome.pairs
    for i in np.lexsort((pairs.right, pairs.left)).tolist():
        left, right = int(pairs.left[i]), int(pairs.right[i])
        yield {"a": raw_id(corpus, left), "b": raw_id(corpus, right), "scores": scores_at(outcome, i)}
