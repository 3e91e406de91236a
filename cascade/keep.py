"""Which document stays: the keep order of a policy, and the collapse of equal texts that follows it."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import numpy as np

from cascade.config.model import KeepPreferred
from cascade.corpus import Corpus, Texts
from cascade.memory import Memory
from cascade.pairs import Rows
from cascade.parallel import ordered_map
from cascade.text.buffer import BATCH_BYTES, batches

TWIN_BYTES = 1 << 25
"""Texts that are compared with equal ones at a time."""
TWIN = 64
"""Bytes that a comparison takes beside the text, about."""


def keep_order(corpus: Corpus, policy: str | KeepPreferred, memory: Memory | None = None) -> tuple[Rows, int]:
    """Rows of the corpus, the one to keep first; and how many had no usable value for the policy. Ties: input order."""
    rows = (memory or Memory()).arange(len(corpus))
    if isinstance(policy, KeepPreferred):
        return _preferred(corpus.fields.get(policy.prefer.field, ()), policy.prefer.order)
    kind, _, name = policy.partition(":")
    if kind == "last":
        rows[:] = rows[::-1]
        return rows, 0
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


def collapse(corpus: Corpus, order: Rows, memory: Memory | None = None, workers: int = 1) -> tuple[Rows, Rows]:
    """Equal non-empty normalised texts: (order without all but the first of each, twin_of int64[documents]).

    twin_of[row] is the row that stands for the text, the first in keep order; a row that stands for itself has its own
    number. Texts whose digests match are compared byte for byte.
    """
    from cascade.kernels.collapse import first_of_each

    memory = memory or Memory()
    twin_of = memory.arange(len(order))
    left = memory.empty(len(order), np.int64)
    filled = corpus.texts.sizes() > 0
    n = first_of_each(order, filled, corpus.digest, memory.slots(len(order)), twin_of, left)
    if n < len(order):
        unlike = _unlike(corpus.texts, twin_of, workers, min(TWIN_BYTES, memory.working // 16 // workers))
        if len(unlike):
            _part(corpus.texts, order, twin_of, np.unique(twin_of[unlike]))
            return order[twin_of[order] == order], twin_of
    return left[:n], twin_of


def _unlike(texts: Texts, twin_of: Rows, workers: int, most: int) -> Rows:
    """Rows whose text is not that of the row that stands for them: equal digests are no proof.

    Texts may have to be read again from anywhere in the input, so many are compared at a time, about `most` bytes.
    """
    twins = np.flatnonzero(twin_of != np.arange(len(twin_of)))
    twins = twins[np.argsort(twin_of[twins], kind="stable")]  # a text is read once for all of its twins, or nearly

    def compare(rows: Rows) -> Rows:
        return rows[~texts.same(rows, twin_of[rows])]

    lots = batches(twins, texts.sizes(twins) + TWIN, max(most, BATCH_BYTES))
    return np.concatenate(list(ordered_map(compare, lots, workers)))


def _part(texts: Texts, order: Rows, twin_of: Rows, firsts: Rows) -> None:
    """Sets `twin_of` anew for the rows whose digest is that of one of `firsts`, by the texts themselves."""
    first: dict[bytes, int] = {}
    for row in order[np.isin(twin_of[order], firsts)].tolist():
        text = texts.take(np.array([row]))
        twin_of[row] = first.setdefault(text.data[text.offsets[0] : text.offsets[1]].tobytes(), row)
