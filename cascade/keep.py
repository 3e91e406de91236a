"""Which document stays: the keep order of a policy, and the collapse of equal texts that follows it."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import numpy as np

from cascade.config.model import KeepPreferred
from cascade.corpus import Corpus
from cascade.pairs import Rows


def keep_order(corpus: Corpus, policy: str | KeepPreferred) -> tuple[Rows, int]:
    """Rows of the corpus, the one to keep first; and how many had no usable value for the policy. Ties: input order."""
    rows = np.arange(len(corpus), dtype=np.int64)
    if isinstance(policy, KeepPreferred):
        return _preferred(corpus.fields.get(policy.prefer.field, ()), policy.prefer.order)
    kind, _, name = policy.partition(":")
    if kind == "last":
        return rows[::-1].copy(), 0
    if kind == "longest":
        return np.argsort(-corpus.characters, kind="stable"), 0
    if kind == "shortest":
        return np.argsort(corpus.characters, kind="stable"), 0
    if kind in ("max", "min"):
        return _ranked(corpus.fields.get(name, ()), descending=kind == "max")
    return rows, 0


def _ranked(values: Sequence[object], descending: bool) -> tuple[Rows, int]:
    """Numbers by value, then texts by code point, then everything else."""
    numbers: list[tuple[int | float, int]] = []
    texts: list[tuple[str, int]] = []
    rest: list[int] = []
    for row, value in enumerate(values):
        if isinstance(value, str):
            texts.append((value, row))
        elif isinstance(value, int | float) and _is_number(value):
            numbers.append((value, row))
        else:
            rest.append(row)
    # A reversed sort is stable too: ties stay in input order. Python compares int with float exactly.
    numbers.sort(key=lambda pair: pair[0], reverse=descending)
    texts.sort(key=lambda pair: pair[0], reverse=descending)
    order = [row for _, row in numbers] + [row for _, row in texts] + rest
    return np.array(order, np.int64), len(rest)


def _is_number(value: int | float) -> bool:
    return not isnan(value) if isinstance(value, float) else not isinstance(value, bool)


def _preferred(values: Sequence[object], order: Sequence[object]) -> tuple[Rows, int]:
    """By the place of the value in `order`; what does not stand there comes last."""
    places = {(type(v) is bool, v): i for i, v in enumerate(order)}
    rank = np.full(len(values), len(order), np.int64)
    for row, value in enumerate(values):
        if isinstance(value, str | int | float):
            rank[row] = places.get((type(value) is bool, value), len(order))
    return np.argsort(rank, kind="stable"), int((rank == len(order)).sum())


def collapse(corpus: Corpus, order: Rows) -> tuple[Rows, Rows]:
    """Equal non-empty normalised texts: (order without all but the first of each, twin_of int64[documents]).

    twin_of[row] is the row that stands for the text, the first in keep order; a row that stands for itself has its own
    number. Texts whose digests match are compared byte for byte.
    """
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    twin_of = np.arange(len(order), dtype=np.int64)
    sizes = np.diff(corpus.texts.offsets)
    by_digest = np.lexsort((rank, corpus.digest[:, 1], corpus.digest[:, 0]))
    by_digest = by_digest[sizes[by_digest] > 0]
    sorted_digest = corpus.digest[by_digest]
    same = (sorted_digest[1:] == sorted_digest[:-1]).all(axis=1)
    start = 0
    for at in np.flatnonzero(same).tolist():
        if at < start:
            continue
        stop = at + 1
        while stop < len(same) and same[stop]:
            stop += 1
        _match(corpus, by_digest[at : stop + 1].tolist(), twin_of)
        start = stop + 1
    return order[twin_of[order] == order], twin_of


def _match(corpus: Corpus, rows: list[int], twin_of: Rows) -> None:
    """Marks the twins among rows of one digest, which come in keep order."""
    data, ends = memoryview(corpus.texts.data.data), corpus.texts.offsets
    text = {row: data[ends[row] : ends[row + 1]] for row in rows}
    stands: list[int] = []
    for row in rows:
        for first in stands:
            if text[first] == text[row]:
                twin_of[row] = first
                break
        else:
            stands.append(row)
