"""From confirmed pairs to decisions: star clusters or connected components, evaluating no more pairs than needed.

Documents are numbered in keep order. `confirm` turns candidate pairs into confirmed ones; nothing here knows how.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cascade.blocking import Candidates
from cascade.memory import Growing, Memory
from cascade.pairs import Pairs, Rows

Confirm = Callable[[Rows, Rows], Pairs]


@dataclass(frozen=True)
class Resolution:
    """What became of the documents the stages saw.

    `keeper` int64[documents]: the kept document it was removed for, -1 if it is kept itself. `via` int64[documents]:
    the position in `pairs` of the confirmed pair that joins it to the keeper (star) or towards it (components), or -1.
    """

    keeper: Rows
    via: Rows
    pairs: Pairs


def resolve(
    documents: int,
    candidates: Candidates,
    confirm: Confirm,
    *,
    clusters: str,
    every_pair: bool,
    memory: Memory | None = None,
) -> Resolution:
    """Decides about documents 0 … documents - 1. `clusters`: "star" or "components"; `every_pair`: judge them all."""
    memory = memory or Memory()
    found = PairStore(memory)
    if every_pair:
        for arrays in candidates.among(candidates.documents()):
            found.add(confirm(*arrays))
        return resolve_all(documents, found.finish(), clusters=clusters, memory=memory)
    keeper = star(documents, candidates, confirm, found, memory)
    if clusters == "components":
        _join_stars(keeper, found, candidates, confirm)
        return components(documents, found.finish())
    pairs = found.finish()
    return Resolution(keeper, _pair_of_keeper(keeper, pairs, memory), pairs)


def resolve_all(documents: int, pairs: Pairs, *, clusters: str, memory: Memory | None = None) -> Resolution:
    """The same where every confirmed pair is known."""
    if clusters == "components":
        return components(documents, pairs)
    memory = memory or Memory()
    keeper = memory.full(documents, -1, np.int64)
    _greedy(pairs, keeper)
    return Resolution(keeper, _pair_of_keeper(keeper, pairs, memory), pairs)


class PairStore:
    """Confirmed pairs, added some at a time."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._rows = Growing(memory, np.int64), Growing(memory, np.int64)
        self._scores: dict[str, Growing] | None = None

    def add(self, pairs: Pairs) -> None:
        """Appends pairs, all with scores of the same stages."""
        if not len(pairs):
            return
        if self._scores is None:
            self._scores = {name: Growing(self._memory, np.float64) for name in pairs.scores}
        for store, rows in zip(self._rows, (pairs.left, pairs.right), strict=True):
            store.append(rows)
        for name, scores in self._scores.items():
            scores.append(pairs.scores[name])

    def rows(self) -> tuple[Rows, Rows]:
        """left and right of what was added so far; to be let go before more is added."""
        left, right = (store.so_far for store in self._rows)
        return left, right

    def finish(self) -> Pairs:
        """All that was added."""
        left, right = (store.finish() for store in self._rows)
        return Pairs(left, right, {name: scores.finish() for name, scores in (self._scores or {}).items()})


def star(documents: int, candidates: Candidates, confirm: Confirm, found: PairStore, memory: Memory) -> Rows:
    """Star clustering: in keep order, a document is removed iff a confirmed pair joins it to one already kept.

    Halves the documents until the pairs among them are few. The left half is decided first; the right half then meets
    only what the left half has kept, and what is left of it is halved on. So a text repeated n times costs about n
    comparisons, and the answer is that of the plain loop over all confirmed pairs: a document meets the kept
    documents before it from the earliest part on, and its keeper is the first of those that it is confirmed with.
    Confirmed pairs go to `found`. Returns the keeper of each document (int64), -1 if it is kept.
    """
    keeper = memory.full(documents, -1, np.int64)

    def judge(parts: Iterator[tuple[Rows, Rows]]) -> None:
        pairs = join([confirm(*arrays) for arrays in parts])
        found.add(pairs)
        _greedy(pairs, keeper)

    def decide(docs: Rows) -> None:
        if len(docs) < 2 or candidates.few_among(docs):
            judge(candidates.among(docs))
            candidates.keep(docs[keeper[docs] < 0])
            return
        middle = len(docs) // 2
        decide(docs[:middle])
        rest = docs[middle:]
        judge(candidates.with_kept(rest, int(docs[0])))
        decide(rest[keeper[rest] < 0])

    decide(candidates.documents())
    return keeper


def components(documents: int, pairs: Pairs) -> Resolution:
    """Connected components of confirmed pairs; the first document of each in keep order is kept."""
    from cascade.kernels.components import roots, spanning_forest, unite

    parent = np.arange(documents, dtype=np.int64)
    unite(parent, pairs.left, pairs.right)
    root = roots(parent)
    keeper = np.where(root == np.arange(documents), -1, root)
    return Resolution(keeper, spanning_forest(documents, pairs.left, pairs.right), pairs)


def _join_stars(keeper: Rows, found: PairStore, candidates: Candidates, confirm: Confirm) -> None:
    """Adds the confirmed pairs that join one star to another; pairs already joined are skipped.

    Two documents that `star` has kept have been compared by it already, so only pairs with a removed one are looked at.
    """
    from cascade.kernels.components import roots, unite

    parent = np.arange(len(keeper), dtype=np.int64)
    unite(parent, *found.rows())
    for left, right in candidates.across(lambda: roots(parent), keeper < 0):
        more = confirm(left, right)
        unite(parent, more.left, more.right)
        found.add(more)


def _greedy(pairs: Pairs, keeper: Rows) -> None:
    from cascade.kernels.components import greedy

    order = np.lexsort((pairs.left, pairs.right))
    greedy(pairs.left[order], pairs.right[order], keeper)


def _pair_of_keeper(keeper: Rows, pairs: Pairs, memory: Memory) -> Rows:
    via = memory.full(len(keeper), -1, np.int64)
    chosen = np.flatnonzero(keeper[pairs.right] == pairs.left)
    via[pairs.right[chosen]] = chosen
    return via


def join(parts: Sequence[Pairs]) -> Pairs:
    """Several disjoint Pairs as one."""
    parts = [p for p in parts if len(p)]
    if not parts:
        return Pairs.empty()
    return Pairs(
        np.concatenate([p.left for p in parts]),
        np.concatenate([p.right for p in parts]),
        {name: np.concatenate([p.scores[name] for p in parts]) for name in parts[0].scores},
    )
