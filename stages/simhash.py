"""The simhash stage: documents whose 64-bit SimHash fingerprints differ in few bits.

Its options, how a distance and blocks are chosen, and the document frequencies behind `idf`. Fingerprints, distances
and keys themselves are computed in cascade.kernels.simhash.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Annotated, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field

from cascade.errors import StageError
from cascade.kernels import chance
from cascade.pairs import Accepted, Pairs, Rows
from cascade.stage import Batch, Columns, Corpus, Facts, Keys, Predicate, Shingler, Stage, resolved

Words = npt.NDArray[np.uint64]

MOST_KEYED = 7
"""The greatest distance for which blocking keys are offered."""
MOST_TABLES, KEY_NS, CANDIDATE_NS = 1024, 60.0, 10.0
SLOT_BITS = 22
"""Document frequencies are counted in 2^22 slots, whatever the corpus."""
CAPACITY = 1 << 20


class SimHash(Stage):
    """Accepts two documents iff their 64-bit fingerprints (Charikar, Similarity Estimation Techniques from Rounding
    Algorithms, STOC 2002) differ in at most `max_hamming` bits. The score is the distance.

    A fingerprint bit is 1 iff the shingles whose hash has that bit weigh more than the others; a tie is 0. `set`: each
    distinct shingle weighs 1. `count`: as often as it occurs. `idf`: 2^16 · log2((N + 1) / (n + 1)), rounded to an
    integer of at least 1, for a distinct shingle that n of the corpus' N distinct texts hold; n is counted in 2^22
    slots, so it can be too great in a large corpus, never too small. Documents without shingles are never accepted.

    Model for `set`: a bit is the sign of a sum of random signs over A, so for two sets the sums are correlated by
    rho = |A ∩ B| / sqrt(|A|·|B|) and, nearly normal, differ in sign with probability p = arccos(rho) / pi. From Jaccard
    J, rho = J/(1 + J) · (|A| + |B|) / sqrt(|A|·|B|), least for equal sizes: rho >= 2J / (1 + J). So a pair of Jaccard J
    is accepted with probability P(Binomial(64, p) <= max_hamming) or more: at J = 0.8, 0.987 for 16 and 0.9997 for 20.
    `auto` is the least distance for which that reaches `recall`. For `count` and `idf` no such model holds.
    """

    confirms = False
    use: Literal["simhash"] = "simhash"
    max_hamming: Annotated[int, Field(ge=0, le=64)] | Literal["auto"] = Field(
        20, description="bits that may differ, 0 to 64; or auto"
    )
    weights: Literal["set", "count", "idf"] = Field(
        "set", description="what a distinct shingle weighs: 1, its occurrences, or its rarity in this corpus"
    )
    recall: float = Field(0.999, gt=0, lt=1, description="what auto has to reach at at_jaccard")
    at_jaccard: float | None = Field(
        None, gt=0, le=1, description="Jaccard similarity that auto is for (default: the confirming stage's threshold)"
    )

    @property
    def early(self) -> bool:
        return True

    def observe(self, facts: Facts) -> Frequencies | None:
        """Document frequencies, if the weights go by them."""
        return Frequencies(self.shingle) if self.weights == "idf" else None

    def bind(self, facts: Facts) -> Predicate:
        """The predicate with its distance known. Raises StageError where `auto` has nothing to go by."""
        distance = _choose(self, facts) if self.max_hamming == "auto" else self.max_hamming
        return NearFingerprint(self, distance, facts)


@dataclass
class Frequencies:
    """In how many documents the shingles of each of 2^22 slots occur, saturating at 2^32 - 1: a Summary.

    A document counts twice if two of its shingles share the slot.
    """

    shingler: Shingler | None = None
    table: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros(1 << SLOT_BITS, np.uint32))
    documents: int = 0

    def add(self, batch: Batch) -> None:
        """Counts the documents of a batch."""
        from cascade.kernels.simhash import count_slots

        count_slots(slots(batch.shingles(self.shingler).hashes), self.table)
        self.documents += len(batch.rows)

    def merge(self, other: Self) -> Self:
        """Counts of both together."""
        both = np.minimum(self.table.astype(np.uint64) + other.table, np.uint64(0xFFFFFFFF))
        return type(self)(self.shingler, np.asarray(both, np.uint32), self.documents + other.documents)


def slots(hashes: Words) -> npt.NDArray[np.uint32]:
    """The slot of each hash: its high bits."""
    return (hashes >> np.uint64(64 - SLOT_BITS)).astype(np.uint32)


class NearFingerprint(Predicate):
    """Documents whose fingerprints are near. Columns: `fingerprint` (uint64) and `alive` (bool; has a shingle)."""

    cost = 2.0
    bounded_hamming = True
    bytes_per_document = 9

    def __init__(self, options: SimHash, max_hamming: int, facts: Facts) -> None:
        self.options = resolved(options, max_hamming=max_hamming)
        self.max_hamming, self.weights, self.shingle = max_hamming, options.weights, options.shingle
        self.masks = block_masks(max_hamming, facts.documents) if max_hamming <= MOST_KEYED else None
        self.keys_per_document = None if self.masks is None else len(self.masks)
        self.keys_decide = max_hamming == 0
        self._slot_weights: npt.NDArray[np.uint32] | None = None
        if self.weights == "idf" and facts.summary is not None:
            from cascade.kernels.simhash import slot_weights

            self._slot_weights = slot_weights(facts.summary.table, facts.summary.documents)

    def columns(self, batch: Batch) -> Columns:
        """Fingerprints of a batch."""
        from cascade.kernels.simhash import fingerprints, weighted_fingerprints

        shingles = batch.shingles(self.shingle)
        out = np.empty(len(shingles), np.uint64)
        if self.weights == "set":
            fingerprints(shingles.hashes, shingles.indptr, out)
        else:
            weights = shingles.counts if self.weights == "count" else self._rarity(shingles.hashes)
            if weights is None:
                raise TypeError("weights: count needs distinct shingles with counts; the batch gave none")
            weighted_fingerprints(shingles.hashes, weights, shingles.indptr, out)
        return {"fingerprint": out, "alive": shingles.lengths > 0}

    def _rarity(self, hashes: Words) -> npt.NDArray[np.uint32]:
        if self._slot_weights is None:
            raise StageError("simhash: weights: idf needs the document frequencies that observe gives")
        weights: npt.NDArray[np.uint32] = self._slot_weights[slots(hashes)]
        return weights

    def keys(self, columns: Columns) -> Keys | None:
        """Block keys (pigeonhole), up to distance 7: of B blocks, fingerprints within d differ in at most d, so they
        agree on some B - d. One table for each choice of B - d blocks; see `block_masks` for B."""
        if self.masks is None:
            return None
        from cascade.kernels.simhash import block_keys

        out = np.empty((len(columns["fingerprint"]), len(self.masks)), np.uint64)
        block_keys(columns["fingerprint"], self.masks, out)
        return Keys(out, columns["alive"])

    def filter(self, pairs: Pairs, columns: Columns, corpus: Corpus) -> Accepted:
        """Pairs within the distance; score: the distance."""
        from cascade.kernels.simhash import distances

        distance = np.empty(len(pairs), np.int64)
        distances(columns["fingerprint"], columns["alive"], pairs.left, pairs.right, distance)
        return Accepted.where(distance <= self.max_hamming, distance.astype(np.float64))

    def scan(self, columns: Columns, lefts: Rows, rights: Rows) -> Iterator[tuple[Rows, Rows]]:
        """Accepted pairs of a row of `lefts` with a later row of `rights` (both ascending)."""
        from cascade.kernels.simhash import near_words

        words, alive = columns["fingerprint"], columns["alive"]
        lefts, rights = lefts[alive[lefts]], rights[alive[rights]]
        ends = np.searchsorted(lefts, rights)
        before, behind = words[lefts], words[rights]
        cursor = np.zeros(4, np.int64)
        while not cursor[0]:
            left, right = np.empty(CAPACITY, np.int64), np.empty(CAPACITY, np.int64)
            n = near_words(before, lefts, behind, rights, ends, self.max_hamming, cursor, left, right)
            yield left[:n], right[:n]

    def predicted_recall(self, jaccard: float) -> float | None:
        """P(Binomial(64, arccos(2J / (1 + J)) / pi) <= max_hamming), the least over all sizes; None but for `set`."""
        return within(self.max_hamming, jaccard) if self.weights == "set" else None

    def describe(self) -> str:
        """The distance, the weights, the tables."""
        text = f"at most {self.max_hamming} of 64 fingerprint bits differ (weights: {self.weights})"
        return text if self.masks is None else f"{text}, {len(self.masks)} tables of block keys"


def within(max_hamming: int, jaccard: float) -> float:
    """Probability that two sets of equal size and this Jaccard similarity have fingerprints within the distance."""
    return chance.at_most(max_hamming, 64, math.acos(2 * jaccard / (1 + jaccard)) / math.pi)


def block_masks(max_hamming: int, documents: int) -> Words:
    """Bits that each table of block keys looks at: uint64[tables], tables = C(blocks, max_hamming).

    The number of blocks is that of least cost in nanoseconds: documents · tables · 60 for making and sorting keys, and
    documents²/2 · (sum of 2^-bits over the tables) · 10 for the candidates of random fingerprints.
    """
    best: tuple[float, list[int]] | None = None
    for blocks in range(max_hamming + 1, 65):
        borders = [64 * b // blocks for b in range(blocks + 1)]
        parts = [(1 << stop) - (1 << start) for start, stop in pairwise(borders)]
        if math.comb(blocks, max_hamming) > MOST_TABLES:
            break
        masks = [sum(chosen) for chosen in combinations(parts, blocks - max_hamming)]
        candidates = documents * (documents - 1) / 2 * math.fsum(2.0 ** -mask.bit_count() for mask in masks)
        cost = documents * len(masks) * KEY_NS + candidates * CANDIDATE_NS
        if best is None or cost < best[0]:
            best = (cost, masks)
    assert best is not None
    return np.array(best[1], np.uint64)


def _choose(options: SimHash, facts: Facts) -> int:
    label = options.name or options.use
    if options.weights != "set":
        raise StageError(
            f"{label}: max_hamming: auto has a model for weights: set only, not {options.weights}; give a number"
        )
    target = options.at_jaccard or facts.confirm_jaccard
    if not target:
        raise StageError(
            f"{label}: max_hamming: auto needs the Jaccard similarity at which recall counts, and no stage confirms "
            f"one; state at_jaccard, or give a number"
        )
    return next(d for d in range(65) if d == 64 or within(d, target) >= options.recall)
