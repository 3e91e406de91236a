"""A result held against a truth: figures of pairs and of clusters. Where the truth comes from is told in truth.py.

A group of equal texts, as the truth has them, counts as one document in every figure: equal texts are the easy part,
and one text repeated a thousand times would drown all others. Documents of a truth without twins count each by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from cascade.evaluate.intervals import Share, f1_of, share, share_by_document
from cascade.evaluate.truth import Truth
from cascade.pairs import Pairs, Rows, Scores
from cascade.result import Outcome

BANDS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
"""Edges of the bands of similarity."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class PairFigures:
    """How well predicted pairs agree with the truth. Of a sampled truth only pairs with a sampled end count, and one
    with two sampled ends twice: once for each of the documents that were drawn."""

    true: int
    """Duplicate pairs that were predicted."""
    missed: int
    """Duplicate pairs that were not."""
    wrong: int
    """Predicted pairs that are no duplicates: of a labelled truth those that are labelled so, else all others."""
    precision: Share
    recall: Share
    f1: Share


@dataclass(frozen=True)
class Band:
    """Recall of the duplicate pairs with low <= similarity < high; the last band includes its high."""

    low: float
    high: float
    recall: Share


@dataclass(frozen=True)
class ClusterFigures:
    """How well predicted clusters agree with those of the truth: documents linked by duplicate pairs, chains included.

    B-cubed: Amigó et al., A Comparison of Extrinsic Clustering Evaluation Metrics Based on Formal Constraints (2009),
    section 4.4. Adjusted Rand index: Hubert and Arabie, Comparing Partitions (1985), formula 5. Pair figures: of all
    pairs that are in one cluster; None where there are none.
    """

    bcubed_precision: float
    """Mean over documents: the share of its predicted cluster that is in its true one."""
    bcubed_recall: float
    """Mean over documents: the share of its true cluster that is in its predicted one."""
    bcubed_f1: float
    """Their harmonic mean."""
    adjusted_rand: float
    """1: the same clusters; 0: what chance would give; 1 too where both have one cluster, or singles only."""
    pair_precision: float | None
    pair_recall: float | None
    pair_f1: float | None


def pair_figures(truth: Truth, pairs: Pairs, stands_for: Rows) -> PairFigures:
    """Figures of confirmed pairs; `pairs` and `stands_for` as the Outcome of a run with `pairs: all` has them.

    Two documents are predicted to be duplicates if the run took them for equal texts, or a confirmed pair joins the
    texts that stand for them. Intervals are Wilson's: of a sampled truth by document (see share_by_document); else as
    if pairs were independent draws, which says how far the figures would carry to a corpus of the same kind; of this
    corpus the figures of a complete truth are exact.
    """
    predicted = Predicted(truth, pairs, stands_for)
    found = predicted.has(truth.left, truth.right)
    if truth.sampled is None:
        every, hits = len(found), int(found.sum())
        wrong = predicted.count() - hits if truth.refuted is None else int(predicted.has(*truth.refuted).sum())
        claimed = hits + wrong
        overlap = share(hits, every + wrong)
        return PairFigures(
            hits, every - hits, wrong, share(hits, claimed), share(hits, every), f1_of(overlap)
        )  # fmt: skip
    true = degrees(truth, np.ones(len(found), bool))
    hit = degrees(truth, found)
    claim = predicted.degrees(truth.sampled)
    return PairFigures(
        true=int(hit.sum()),
        missed=int((true - hit).sum()),
        wrong=int((claim - hit).sum()),
        precision=share_by_document(hit, claim),
        recall=share_by_document(hit, true),
        f1=f1_of(share_by_document(hit, true + claim - hit)),
    )


def recall_by_band(truth: Truth, pairs: Pairs, stands_for: Rows, edges: Sequence[float] = BANDS) -> tuple[Band, ...]:
    """Recall by the exact similarity of the duplicate pairs; () where the truth does not know similarities.

    A band without a pair has the recall None. Pairs that are below the first edge or above the last are in no band.
    """
    if truth.similarity is None:
        return ()
    found = Predicted(truth, pairs, stands_for).has(truth.left, truth.right)
    bands = []
    for low, high in pairwise(edges):
        inside = within(truth.similarity, low, high, last=high == edges[-1])
        if truth.sampled is None:
            recall = share(int((inside & found).sum()), int(inside.sum()))
        else:
            recall = share_by_document(degrees(truth, inside & found), degrees(truth, inside))
        bands.append(Band(low, high, recall))
    return tuple(bands)


def within(similarity: Scores, low: float, high: float, *, last: bool) -> Mask:
    """Which similarities a band holds."""
    return np.asarray((similarity >= low) & ((similarity <= high) if last else (similarity < high)))


def cluster_figures(truth: Truth, keeper: Rows) -> ClusterFigures | None:
    """Figures of the clusters that `keeper` (as in Outcome) makes.

    None where the truth does not say of every pair what it is, or there is no document.
    """
    if truth.refuted is not None or truth.sampled is not None or not truth.documents:
        return None
    rows = truth.rows
    mine, real = np.where(keeper < 0, np.arange(len(keeper)), keeper)[rows], clusters(truth)[rows]
    n = len(rows)
    # Documents in both of a true and a predicted cluster, for those that have any in common.
    both, first, counts = np.unique(real * truth.documents + mine, return_index=True, return_counts=True)
    del both
    real_size, mine_size = np.bincount(real)[real[first]], np.bincount(mine)[mine[first]]
    precision, recall = float((counts**2 / mine_size).sum() / n), float((counts**2 / real_size).sum() / n)
    together, claimed, true = pairs_within(counts), pairs_within(np.bincount(mine)), pairs_within(np.bincount(real))
    by_chance = claimed * true / max(n * (n - 1) // 2, 1)
    most = (claimed + true) / 2
    return ClusterFigures(
        bcubed_precision=precision,
        bcubed_recall=recall,
        bcubed_f1=2 * precision * recall / (precision + recall),
        adjusted_rand=(together - by_chance) / (most - by_chance) if most != by_chance else 1.0,
        pair_precision=together / claimed if claimed else None,
        pair_recall=together / true if true else None,
        pair_f1=2 * together / (claimed + true) if claimed + true else None,
    )


def clusters(truth: Truth) -> Rows:
    """int64[documents]: a number for each document, equal for those that duplicate pairs and equal texts link."""
    from cascade.kernels.components import roots, unite

    parent = truth.twin_of.copy()
    unite(parent, truth.left, truth.right)
    found: Rows = roots(parent)
    return found


def largest_cluster(keeper: Rows) -> int:
    """Documents in the largest cluster that `keeper` (as in Outcome) makes, equal texts counted each."""
    return int(np.bincount(np.where(keeper < 0, np.arange(len(keeper)), keeper)).max(initial=0))


def chained(outcome: Outcome) -> Rows:
    """Rows removed as near-duplicates though no confirmed pair joins their text to its keeper, ascending.

    They went through a chain of look-alikes. Meant for the outcome of a run with `pairs: all`; where pairs were judged
    only as needed, a pair that was not looked at counts as none.
    """
    rows = np.flatnonzero((outcome.keeper >= 0) & ~outcome.exact)
    keys = pair_keys(outcome.pairs.left, outcome.pairs.right, len(outcome.keeper))
    own = pair_keys(outcome.stands_for[rows], outcome.keeper[rows], len(outcome.keeper))
    return rows[~np.isin(own, keys)]


class Predicted:
    """What a run says about the documents that stand for themselves in a truth, never written out pair by pair.

    The run may have taken other texts for equal than the truth does (it normalises otherwise, or does not collapse):
    `group` is the row that stands for each document in the run, and a confirmed pair joins all of one group to all of
    another.
    """

    def __init__(self, truth: Truth, pairs: Pairs, stands_for: Rows) -> None:
        if len(stands_for) != truth.documents:
            raise ValueError(
                f"the run has {len(stands_for)} documents and the truth {truth.documents}; take both of one corpus"
            )
        self.group, self.documents = stands_for, truth.documents
        self.size = np.bincount(stands_for[truth.rows], minlength=truth.documents)
        left, right = stands_for[pairs.left], stands_for[pairs.right]
        self.keys = np.unique(pair_keys(left, right, truth.documents)[left != right])

    def has(self, left: Rows, right: Rows) -> Mask:
        """bool[n]: which pairs of documents are predicted."""
        a, b = self.group[left], self.group[right]
        key = pair_keys(a, b, self.documents)
        at = np.minimum(np.searchsorted(self.keys, key), max(len(self.keys) - 1, 0))
        return np.asarray((a == b) | (self.keys[at] == key if len(self.keys) else False))

    def count(self) -> int:
        """How many pairs of documents are predicted in all."""
        left, right = np.divmod(self.keys, self.documents)
        return pairs_within(self.size) + int((self.size[left] * self.size[right]).sum())

    def degrees(self, rows: Rows) -> npt.NDArray[np.float64]:
        """float64[k]: in how many predicted pairs each of `rows` (standing for themselves in the truth) is."""
        left, right = np.divmod(self.keys, self.documents)
        joined = np.bincount(left, self.size[right], self.documents)
        joined += np.bincount(right, self.size[left], self.documents)
        group = self.group[rows]
        return np.asarray(self.size[group] - 1 + joined[group])


def degrees(truth: Truth, counted: Mask) -> npt.NDArray[np.float64]:
    """float64[k]: in how many of the duplicate pairs where `counted` (bool[n]) holds each sampled document is."""
    left, right = truth.left[counted], truth.right[counted]
    each = np.bincount(left, minlength=truth.documents) + np.bincount(right, minlength=truth.documents)
    return each[truth.sampled].astype(np.float64)


def pair_keys(a: Rows, b: Rows, documents: int) -> Rows:
    """One number for each pair of rows, whichever way round (int64; up to 3 · 10⁹ documents)."""
    return np.minimum(a, b) * documents + np.maximum(a, b)


def pairs_within(sizes: npt.NDArray[Any]) -> int:
    """Pairs of two members of the same, over groups of these sizes."""
    return int((sizes * (sizes - 1) // 2).sum())
