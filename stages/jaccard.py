"""jaccard: exact Jaccard similarity of shingle sets. The stage that confirms, and alone an exact join.

Options, what they make of a corpus, and why no bound loses a pair. The loops are in cascade.kernels.jaccard and prefix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field

from cascade.pairs import Accepted, Pairs
from cascade.stage import TOLERANCE, Batch, Columns, Corpus, Facts, Keys, Predicate, Shingler, Stage

LEAST_SLOTS, MOST_SLOTS = 1 << 12, 1 << 32
SEVERAL = 2
"""Documents that must hold a shingle so that two of them can share it."""


class Jaccard(Stage):
    """Accepts a pair when |A and B| / |A or B| >= min_jaccard, counted exactly on the sets of 64-bit shingle hashes.

    With `prune` a first pass counts in how many documents each shingle occurs. Then documents that can have no partner
    are left out of everything, most pairs are refused before a set is touched, and where this stage is the first that
    offers keys it finds all pairs by itself: an exact join. None of this changes a decision.
    """

    use: Literal["jaccard"] = "jaccard"
    min_jaccard: float = Field(0.8, ge=0, le=1, description="least Jaccard similarity of the two shingle sets")
    prune: bool | Literal["auto"] = Field(
        "auto",
        description="count shingles in a first pass, so as to leave out documents and pairs; auto: where it pays",
    )

    @property
    def early(self) -> bool:
        return True

    @property
    def confirm_jaccard(self) -> float | None:
        return self.min_jaccard

    @property
    def share(self) -> float:
        """What scores and bounds must reach. At 0, documents that share nothing are a pair too: nothing to prune."""
        return max(self.min_jaccard - TOLERANCE, 0.0)

    def observe(self, facts: Facts) -> Holders | None:
        """A table for the first pass, if there is to be one."""
        if self.share <= 0 or not (self.prune is True or (self.prune == "auto" and (facts.enumerates or pays(facts)))):
            return None
        return Holders(np.zeros(slots(facts), np.uint8), self.shingle)

    def bind(self, facts: Facts) -> Predicate:
        return JaccardPredicate(self, facts)


def pays(facts: Facts) -> bool:
    """Whether a first pass saves more than it costs where another stage enumerates: with a candidate for every ten
    bytes of text. Measured: the pass takes about 7 ns a byte, a candidate that goes through all stages 100 to 1000 ns.
    """
    return facts.candidates is not None and facts.candidates > (facts.text_bytes or 0) // 10


def slots(facts: Facts) -> int:
    """Slots of the table: a power of two, at least one for every four bytes of text, within what memory allows."""
    most = MOST_SLOTS if facts.memory is None else max(facts.memory, LEAST_SLOTS)
    wanted = 1 << max((facts.text_bytes or 0) // 4, 1).bit_length()
    return min(max(wanted, LEAST_SLOTS), MOST_SLOTS, 1 << most.bit_length() - 1)


@dataclass
class Holders:
    """How many documents hold a shingle of each slot, saturating at 255: a Summary. See cascade.kernels.prefix."""

    table: npt.NDArray[np.uint8]
    shingler: Shingler | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the table."""
        return self.table.nbytes

    def add(self, batch: Batch) -> None:
        """Counts the documents of a batch, each once for each of its distinct shingles."""
        from cascade.kernels.prefix import count

        count(batch.shingles(self.shingler).hashes, self.table)

    def merge(self, other: Self) -> Self:
        """Counts of both together."""
        self.table += np.minimum(other.table, 255 - self.table)
        return self


class JaccardPredicate(Predicate):
    """Exact Jaccard at a threshold t. Score: the similarity.

    Columns: `length` (uint32; distinct shingles) and, with a first pass, `shared` (uint32; those that another document
    may hold), `alive` and `core` (bool). Write |A| and u(A) for the first two, c for |A and B|, so that J = c / (|A| +
    |B| - c).

    The bounds (Bayardo et al. 2007, 3; Xiao et al. 2008, 2 and 3; Mann et al. 2016, 2). A shingle that A and B share is
    counted at least twice, so c <= u(A) and c <= |A|, and likewise for B.
    - |A or B| >= |A|, so J >= t needs c / |A| >= t and with it u(A) / |A| >= t: else A is not alive.
    - J grows with c, so J >= t needs c >= o, the least number with o / (|A| + |B| - o) >= t. A pair where o exceeds
      |A|, |B|, u(A) or u(B) is refused.
    - If |A| <= |B|, then |A| + |B| >= 2 |A|, so J >= t needs u(A) >= the least o with o / (2 |A| - o) >= t: then A is
      core. The smaller one of every accepted pair is core: documents that are not need not meet, whoever enumerates.
    - Keys. Put the u(A) shingles of A that another document may hold in a global order, rarest first. At least
      o(A) = the least number with o / |A| >= t of them are shared, so among the first u(A) - o(A) + 1 of A there is a
      shared one, hence the first shared one of all; it is among those of B for the same reason. If |A| <= |B|, o
      as in the line above tells how many fewer of A's suffice: these are its core keys.
    No rounding loses a pair: t stands for min_jaccard - 1e-9, and every bound is the quotient of two integers compared
    with that very number, as the score is. Division rounds monotonously: a greater fraction never gives a lesser one.

    The order is by count, then by hash; a key is the count and the upper 56 bits of the hash. Where two shingles of a
    document have the same key, their order is open, and a prefix that ends between them still holds their key.
    If the documents include equal texts, whose shingles are counted once, every shingle is one that another document
    may hold.
    """

    cost = 1000.0

    def __init__(self, options: Jaccard, facts: Facts) -> None:
        self.options, self.share, self.shingler = options, options.share, options.shingle
        self.several = 1 if facts.twins else SEVERAL
        self.prunes = facts.summary is not None
        # A table that knows nothing says of every shingle that many documents hold it.
        self.table = facts.summary.table if self.prunes else np.full(2, 255, np.uint8)
        self.bytes_per_document = 10 if self.prunes else 4
        if options.prune is not False and self.share > 0:
            self.keys_per_document = f"the rarest {1 - self.share:.0%} of a document's shingles as keys, or fewer"

    def columns(self, batch: Batch) -> Columns:
        """Lengths, and what the table tells."""
        shingles = batch.shingles(self.shingler)
        columns: dict[str, npt.NDArray[Any]] = {"length": shingles.lengths.astype(np.uint32)}
        if self.prunes:
            from cascade.kernels.prefix import shared

            columns["shared"] = np.empty(len(shingles), np.uint32)
            columns["alive"] = np.empty(len(shingles), bool)
            columns["core"] = np.empty(len(shingles), bool)
            shared(
                shingles.hashes, shingles.indptr, self.table, self.several, self.share,
                columns["shared"], columns["alive"], columns["core"],
            )  # fmt: skip
        return columns

    def batch_keys(self, batch: Batch) -> Keys | None:
        """The rarest shingles of each document."""
        if self.keys_per_document is None:
            return None
        from cascade.kernels.prefix import prefixes

        shingles = batch.shingles(self.shingler)
        keys, core = np.empty(len(shingles.hashes), np.uint64), np.empty(len(shingles.hashes), bool)
        ends = np.zeros(len(shingles) + 1, np.int64)
        prefixes(shingles.hashes, shingles.indptr, self.table, self.several, self.share, keys, core, ends)
        used = int(ends[-1])
        return Keys(keys[:used].copy(), np.diff(ends) > 0, ends, core[:used].copy())

    def filter(self, pairs: Pairs, columns: Columns, corpus: Corpus) -> Accepted:
        """The bounds, then a merge that stops when the threshold is out of reach."""
        from cascade.kernels.jaccard import bounds

        length = columns["length"]
        refused = np.zeros(2, np.int64)
        least = bounds(length, columns.get("shared", length), pairs.left, pairs.right, self.share, refused)
        near = np.flatnonzero(least >= 0)
        left, right = pairs.left[near], pairs.right[near]
        common = corpus.overlaps(left, right, least[near], self.shingler)
        met = np.flatnonzero(common >= 0)
        both = length[left[met]].astype(np.int64) + length[right[met]]
        score = common[met] / (both - common[met])
        by_length, by_shared = refused.tolist()
        counts = {"refused_by_length": by_length, "refused_by_shared": by_shared, "compared": len(near)}
        return Accepted(near[met], score, counts=counts)

    def predicted_recall(self, jaccard: float) -> float | None:
        return 1.0 if jaccard >= self.options.min_jaccard - TOLERANCE else 0.0

    def describe(self) -> str:
        bound = "bounds on lengths and on shared shingles" if self.prunes else "length bound"
        return f"exact Jaccard >= {self.options.min_jaccard:g}, {bound} first"
