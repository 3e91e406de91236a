"""What is known of a pair of documents, as plain values: similarities, what each stage says, what became of both.

Nothing is computed here; see explain (which fills this), judge (the stages) and reasons (the sentence).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cascade.evaluate.difference import Difference, difference


@dataclass(frozen=True)
class Fate:
    """What a run decided about one document."""

    kept: bool
    kept_id: Any = None
    """The document that it was removed for; None if it was kept."""
    kept_row: int = -1
    reason: str | None = None
    """exact, near, or None if it was kept"""
    scores: Mapping[str, float] = field(default_factory=dict)
    """What the stages said of the confirmed pair behind a near removal."""
    path: tuple[Any, ...] = ()
    """Ids from this document to the kept one, each confirmed with the next (or equal in text)."""
    twin_of: Any = None
    """The document of equal text that the stages saw in its place, if they did not see this one."""


@dataclass(frozen=True)
class Side:
    """One of the two documents."""

    id: Any
    """None if only a text was given."""
    row: int
    """Its position in what was given, from 0 (for paths: among the usable rows)."""
    text: str
    """The text as it came."""
    normalized: str
    shingles: int
    """Distinct shingles, by the config's shingler."""
    fingerprint: int
    """64-bit SimHash of those, each weighing the same."""
    fate: Fate | None
    """None if only a text was given."""


@dataclass(frozen=True)
class SharedKeys:
    """Blocking keys of a stage that both documents have."""

    shared: tuple[int, ...]
    """The tables (of minhash: bands, from 0) in which their keys agree; of a stage with ragged keys, the keys."""
    tables: int | None
    """How many tables there are; None for ragged keys."""
    unit: str = "key"
    """What a table is called: band, or key."""
    buckets: tuple[int, ...] = ()
    """Documents in each of those buckets; nothing where there is no corpus, or the stage does not enumerate."""


@dataclass(frozen=True)
class StageVerdict:
    """What one stage says of the pair."""

    name: str
    use: str
    role: str
    """enumerates or filters"""
    does: str
    """What the stage does here, every `auto` settled."""
    accepted: bool
    score: float | None
    """Its score. Of a pair that it refuses, the one that it gives with its thresholds off; None if it gives none."""
    thresholds: Mapping[str, float]
    """Its options min_… and max_…, every `auto` settled."""
    jaccard: float | None
    """With the shingles that this stage sees; None if it sees none."""
    predicted_recall: float | None
    """The probability that it accepts a pair of that Jaccard similarity; None where it is not known."""
    fingerprints: tuple[int, int] | None
    """Its own, if it has any."""
    keys: SharedKeys | None
    """None if it offers no keys, or ragged ones that propose nothing here."""


@dataclass(frozen=True)
class Candidate:
    """Whether the two documents met at all."""

    met: bool
    by: str | None
    """The stage whose keys propose pairs; None where all pairs are tried, or where equal texts were collapsed."""
    how: str
    """In words: through which key, or why not."""


@dataclass(frozen=True)
class Shingling:
    """The shingles of both documents as text, in order of first occurrence, as the config's shingler has them."""

    common: tuple[str, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """Why a pair of documents was, or was not, taken for duplicates. All similarities are exact."""

    a: Side
    b: Side
    sentence: str
    """Why one of them was removed, or why neither was."""
    jaccard: float
    """|A and B| / |A or B| of the distinct shingles (config's shingler); of two documents without any 1."""
    containment: float
    """|A and B| / min(|A|, |B|)"""
    edit_similarity: float | None
    """(longer - Levenshtein) / longer, code points of the normalised texts; None where they are too long."""
    hamming: int
    """Bits in which the two fingerprints differ."""
    common: int
    """Shingles that both have."""
    shingles: Shingling | None
    """None if the shingler cannot tell its shingles as text (it lacks `shingle_texts`)."""
    candidate: Candidate
    stages: tuple[StageVerdict, ...]
    """In the order of the config."""
    confirmed: bool
    """The pair was proposed and every stage accepts it (or the texts are equal, and were collapsed)."""
    notes: tuple[str, ...]

    @cached_property
    def difference(self) -> Difference:
        """Where the normalised texts differ."""
        return difference(self.a.normalized, self.b.normalized)
