"""From confirmed pairs to decisions: star clusters or connected components, evaluating no more pairs than needed.

Documents are numbered in keep order. `confirm` turns candidate pairs into confirmed ones; nothing here knows how.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cascade.blocking import Candidates
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


def resolve(documents: int, candidates: Candidates, confirm: Confirm, *, clusters: str, every_pair: bool) -> Resolution:
    """Decides about documents 0 … documents - 1. `clusters`: "star" or "components"; `every_pair`: judge them all."""
    if every_pair:
        pairs = join([confirm(*found) for found in candidates.among(np.arange(documents, dtype=np.int64))])
        if clusters == "components":
            return components(documents, pairs)
        keeper = np.full(documents, -1, np.int64)
        _greedy(pairs, keeper)
    else:
        keeper, pairs = star(documents, candidates, confirm)
        if clusters == "components":
            return components(documents, _join_stars(keeper, pairs, candidates, confirm))
    return Resolution(keeper, _pair_of_keeper(keeper, pairs), pairs)


def star(documents: int, candidates: Candidates, confirm: Confirm) -> tuple[Rows, Pairs]:
    """Star clustering: in keep order, a document is removed iff a confirmed pair joins it to one already kept.

    Halves the documents until the pairs among them are few. The left half is decided first; the right half then meets
    only what the left half has kept, and what is left of it is halved on. So a text repeated n times costs about n
    comparisons, and the answer is that of the plain loop over all confirmed pairs: a document meets the kept
    documents before it from the earliest part on, and its keeper is the first of those that it is confirmed with.
    """
    keeper = np.full(documents, -1, np.int64)
    found: list[Pairs] = []

    def decide(docs: Rows) -> None:
        if len(docs) < 2 or candidates.few_among(docs):
            pairs = join([confirm(*arrays) for arrays in candidates.among(docs)])
            found.append(pairs)
            _greedy(pairs, keeper)
            candidates.keep(docs[keeper[docs] < 0])
            return
        middle = len(docs) // 2
        decide(docs[:middle])
        rest = docs[middle:]
        pairs = join([confirm(*arrays) for arrays in candidates.with_kept(rest, int(docs[0]))])
        found.append(pairs)
        _greedy(pairs, keeper)
        decide(rest[keeper[rest] < 0])

    decide(np.arange(documents, dtype=np.int64))
    return keeper, join(found)


def components(documents: int, pairs: Pairs) -> Resolution:
    """Connected components of confirmed pairs; the first document of each in keep order is kept."""
    from cascade.kernels.components import roots, spanning_forest, unite

    parent = np.arange(documents, dtype=np.int64)
    unite(parent, pairs.left, pairs.right)
    root = roots(parent)
    keeper = np.where(root == np.arange(documents), -1, root)
    return Resolution(keeper, spanning_forest(documents, pairs.left, pairs.right), pairs)


def _join_stars(keeper: Rows, pairs: Pairs, candidates: Candidates, confirm: Confirm) -> Pairs:
    """Adds the confirmed pairs that join one star to another; pairs already joined are skipped.

    Two documents that `star` has kept have been compared by it already, so only pairs with a removed one are looked at.
    """
    from cascade.kernels.components import roots, unite

    parent = np.arange(len(keeper), dtype=np.int64)
    unite(parent, pairs.left, pairs.right)
    found = [pairs]
    for left, right in candidates.across(lambda: roots(parent), keeper < 0):
        more = confirm(left, right)
        unite(parent, more.left, more.right)
        found.append(more)
    return join(found)


def _greedy(pairs: Pairs, keeper: Rows) -> None:
    from cascade.kernels.components import greedy

    order = np.lexsort((pairs.left, pairs.right))
    greedy(pairs.left[order], pairs.right[order], keeper)


def _pair_of_keeper(keeper: Rows, pairs: Pairs) -> Rows:
    via = np.full(len(keeper), -1, np.int64)
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
