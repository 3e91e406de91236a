"""A stage that lets only pairs through that have an end in a random sample: N documents against all, exactly.

It is put beside the stage that confirms. What is made of its pairs is told in cascade.evaluate.truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from cascade.blocking import PAIRS_AT_ONCE, all_pairs
from cascade.errors import StageError
from cascade.pairs import Accepted, Pairs, Rows
from cascade.plan import CHEAP_SCAN_LIMIT, SCAN_LIMIT
from cascade.stage import Batch, Columns, Corpus, Facts, Predicate, Stage


def drawn(size: int, seed: int, documents: int) -> Rows:
    """Which of 0 … documents - 1 are in a sample: `size` of them, or all, each set as likely; ascending (int64)."""
    if size >= documents:
        return np.arange(documents, dtype=np.int64)
    found = np.random.default_rng(seed).choice(documents, size, replace=False, shuffle=False)
    return np.sort(found.astype(np.int64))


class Sample(Stage):
    """Accepts a pair if one of its documents at least is in a sample of those that the stages see.

    No lawful stage, since it refuses equal texts too; those are collapsed before. It names the sample as core: whoever
    enumerates, documents outside of it do not meet each other. Where nobody offers keys it scans sample times corpus.
    """

    size: int | None = Field(None, ge=1, description="documents to draw (default: all)")
    seed: int = Field(0, ge=0, description="which ones are drawn")
    scans: bool = Field(False, description="whether no other stage offers keys")

    def bind(self, facts: Facts) -> Predicate:
        """The predicate, its documents drawn. Raises StageError where there are too many for a scan."""
        limit = SCAN_LIMIT if self.size is None else CHEAP_SCAN_LIMIT
        if self.scans and facts.documents > limit:
            whole, larger = f"possible up to {limit:,} texts", f", or a sample, up to {CHEAP_SCAN_LIMIT:,} texts"
            if self.size is not None:
                whole, larger = f"possible with a sample up to {limit:,} texts", ""
            raise StageError(
                f"an edit similarity is looked for in all pairs, {whole}; there are {facts.documents:,}. "
                f"Take min_jaccard, which has no limit{larger}"
            )
        size = facts.documents if self.size is None else self.size
        inside = np.zeros(facts.documents, bool)
        inside[drawn(size, self.seed, facts.documents)] = True
        return SamplePredicate(inside)


@dataclass(frozen=True, eq=False)
class SamplePredicate(Predicate):
    """Pairs with an end where `inside` (bool[documents]) holds. Column: `core`, the same. Score: ends inside."""

    inside: np.ndarray[tuple[int], np.dtype[np.bool_]]
    cost: float = 1.0
    bytes_per_document: int = 1
    bounded_hamming: bool = True

    def columns(self, batch: Batch) -> Columns:
        """Which documents are in the sample."""
        return {"core": self.inside[batch.rows]}

    def filter(self, pairs: Pairs, columns: Columns, corpus: Corpus) -> Accepted:
        """Pairs with an end in the sample."""
        ends = self.inside[pairs.left].astype(np.float64) + self.inside[pairs.right]
        return Accepted.where(ends > 0, ends)

    def scan(self, columns: Columns, lefts: Rows, rights: Rows) -> Iterator[tuple[Rows, Rows]]:
        """Sampled rows of `lefts` with all of `rights`, the others with the sampled ones of `rights`."""
        sampled, others = lefts[self.inside[lefts]], lefts[~self.inside[lefts]]
        for some, of in ((sampled, rights), (others, rights[self.inside[rights]])):
            step = max(PAIRS_AT_ONCE // max(len(some), 1), 1)
            for begin in range(0, len(of) if len(some) else 0, step):
                yield from all_pairs(some, of[begin : begin + step])

    def describe(self) -> str:
        """How many documents were drawn."""
        return f"one end among {int(self.inside.sum()):,} documents drawn at random"
